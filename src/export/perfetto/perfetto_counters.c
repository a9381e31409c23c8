/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters: the numbers that collectors print, the bytes that calls and disks move in each tenth of a second, and sums
 * of changes, which have a value at most in each millisecond.
 */
#include <stdio.h>
#include <string.h>

#include "export/perfetto/perfetto.h"
#include "export/text.h"

#define BIN_NS (100 * NSEC_PER_MSEC)

/* Columns of tools that name what a row measures (a CPU, a device), and columns that are neither name nor measure. */
static const char *const names[] = { "CGROUP", "CPU", "DEV",     "Device", "GPU", "IFACE",
				     "INTR",   "Idx", "command", "gpu",    "pid", NULL };
static const char *const others[] = { "CLOCK", "Date", "LEVEL", "TIME", "TIMESTAMP", "Time", "type", NULL };

static bool is_in(const char *const *list, const char *name)
{
	while (*list && strcmp(*list, name) != 0)
		list++;
	return *list;
}

#define NAME_MAX_BYTES 512

/* Puts into NAME the file and what the row measures, such as "gpu 0 1000". Returns its length. */
static size_t name_row(const struct export_file *file, const struct reader_row *row, char *name)
{
	char *p = stpcpy(name, file->table->name);

	for (unsigned int i = 0; i < file->table->n; i++) {
		const struct reader_field v = export_field(file, row, i);

		if (!is_in(names, file->table->column[i].name) || export_is_none(v) ||
		    v.len + 64 > (size_t)(name + NAME_MAX_BYTES - p))
			continue;
		*p++ = ' ';
		p = mempcpy(p, v.p, v.len);
	}
	return (size_t)(p - name);
}

void perfetto_numbers(struct export *export, const struct export_file *file, struct plan *plan,
		      const struct reader_row *row, uint64_t ns)
{
	const struct perfetto *perfetto = export->state;
	char name[NAME_MAX_BYTES + 1];
	const size_t len = name_row(file, row, name);

	for (unsigned int i = 0; i < file->table->n; i++) {
		const char *column = file->table->column[i].name;
		const struct reader_field v = export_field(file, row, i);
		const size_t column_len = MIN(strlen(column), NAME_MAX_BYTES - len - 1);
		char number[64];
		uint32_t track;

		if (is_in(names, column) || is_in(others, column) || v.len >= sizeof(number) || !text_is_number(v))
			continue;
		name[len] = ' ';
		memcpy(name + len + 1, column, column_len);
		track = perfetto_track(export, perfetto_key(perfetto, 'n', name, len + 1 + column_len), TRACK_COUNTER,
				       perfetto->host_track, (struct reader_field){ name, len + 1 + column_len });
		memcpy(number, v.p, v.len);
		number[v.len] = '\0';
		if (track != TRACKS_NONE)
			perfetto_counter(export, track, ns, strtod(number, NULL));
	}
}

static void end_bin(struct export *export, uint32_t i)
{
	const struct perfetto *perfetto = export->state;
	struct track *t = tracks_at(&perfetto->tracks, i);
	const uint64_t bin = t->bin;

	t->open = false;
	if (t->level) {
		perfetto_counter(export, i, t->changed_ns, MAX(t->sum, 0.0));
		return;
	}
	perfetto_counter(export, i, bin * BIN_NS, t->sum * (double)NSEC_PER_SEC / (double)BIN_NS);
	perfetto_counter(export, i, (bin + 1) * BIN_NS, 0);
}

void perfetto_rate(struct export *export, struct reader_field a, const char *b, uint64_t ns, double v)
{
	const struct perfetto *perfetto = export->state;
	char name[128];
	const int len = snprintf(name, sizeof(name), "%.*s%s", (int)MIN(a.len, (size_t)64), a.p, b);
	const uint32_t i = perfetto_track(export, perfetto_key(perfetto, 'r', name, (size_t)len), TRACK_COUNTER,
					  perfetto->host_track, (struct reader_field){ name, (size_t)len });
	struct track *track;

	if (i == TRACKS_NONE)
		return;
	track = tracks_at(&perfetto->tracks, i);
	track->unit = "B/s";
	if (track->open && ns / BIN_NS > track->bin) {
		end_bin(export, i);
		track = tracks_at(&perfetto->tracks, i);
		track->sum = 0;
	}
	if (!track->open)
		track->bin = ns / BIN_NS;
	track->open = true;
	track->sum += v;
}

void perfetto_change(struct export *export, uint32_t track, uint64_t ns, int64_t v)
{
	const struct perfetto *perfetto = export->state;
	struct track *t = tracks_at(&perfetto->tracks, track);
	const uint64_t bin = ns / NSEC_PER_MSEC;

	t->level = true;
	if (t->open && bin > t->bin) {
		end_bin(export, track);
		t = tracks_at(&perfetto->tracks, track);
	}
	t->bin = bin;
	t->open = true;
	t->changed_ns = ns;
	t->sum += (double)v;
}

void perfetto_end_sums(struct export *x)
{
	const struct perfetto *s = x->state;

	for (uint32_t i = 0; i < s->tracks.by_key.n; i++)
		if (tracks_at(&s->tracks, i)->open)
			end_bin(x, i);
}
