/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See cut.h. The files to which rows of others refer stay whole (PROBE_WHOLE). The manifest's start and end are those
 * of the selected times; its losses stay, as nobody knows when they happened.
 */
#include "folder/cut.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "base/util.h"
#include "folder/copy.h"
#include "trace/probe.h"

struct cut {
	const char *from;
	const struct cut_options *o;
	struct export_times times;
	struct manifest_facts *part; /* its start and end are those of the selected times */
	const struct manifest_facts *m;
	unsigned int timestamp, pid, of, rows; /* columns of the file */
	uint64_t dropped[DLT_PROBES]; /* rows of each file, by the sums of rollup.out that are copied */
	bool timed; /* its rows are selected by time */
};

static void begin_file(void *ctx, const struct copy_file *f)
{
	struct cut *c = ctx;
	const bool whole = f->probe && f->probe->flags & PROBE_WHOLE;

	c->timed = times_cut(&c->times, f->name);
	c->timestamp = reader_column(&f->reader, "TIMESTAMP");
	c->of = strcmp(f->name, "rollup") ? 0 : reader_column(&f->reader, "PROBE");
	c->rows = reader_column(&f->reader, "ROWS");
	c->pid = whole || !c->o->pids.n ? 0 : reader_column(&f->reader, "PID");
}

/* Adds the sum ROW of rollup.out, which is copied. */
static void add_dropped(struct cut *cut, const struct reader_row *row)
{
	const struct reader_field of = reader_field(row, cut->of);
	char name[SEGMENT_BASE_MAX];
	uint64_t rows;

	if (of.len >= sizeof(name) || !reader_u64(reader_field(row, cut->rows), &rows))
		return;
	memcpy(name, of.p, of.len);
	name[of.len] = '\0';
	cut->dropped[probe_find(name)] += rows; /* of collectors together, by the number of no probe */
}

static uint64_t dropped(void *ctx, const char *name)
{
	const struct cut *c = ctx;
	const unsigned int probe = probe_find(name);

	return probe ? c->dropped[probe] : 0;
}

static bool has(void *ctx, const struct copy_file *file, const struct reader_row *row)
{
	struct cut *c = ctx;
	uint64_t ns, pid;

	if (c->timed && !(reader_u64(reader_field(row, c->timestamp), &ns) && times_have(&c->times, 0, ns)))
		return false;
	if (c->pid && !(reader_u64(reader_field(row, c->pid), &pid) && pids_have(&c->o->pids, pid)))
		return false;
	if (c->of)
		add_dropped(c, row);
	return true;
}

static char *value(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
	const struct manifest_facts *part = ((const struct cut *)ctx)->part;

	if (!strcmp(path, "start.monotonic_ns"))
		return util_fmt("%" PRIu64, part->start_ns);
	if (!strcmp(path, "end.monotonic_ns") && part->end_ns)
		return util_fmt("%" PRIu64, part->end_ns);
	if (!strcmp(path, "start.utc") && part->start_utc[0])
		return util_fmt("\"%s\"", part->start_utc);
	return !strcmp(path, "end.utc") && part->end_ns && part->end_utc[0] ? util_fmt("\"%s\"", part->end_utc) : NULL;
}

static void describe(void *ctx, struct json *json, uint64_t rows, uint64_t left_out)
{
	const struct cut *cut = ctx;
	uint64_t dropped = 0;

	for (unsigned int i = 0; i < cut->m->n_probes; i++)
		dropped += cut->m->probes[i].dropped;
	json_str(json, "from", cut->from);
	json_u64(json, "from_start_ns", cut->m->start_ns);
	json_u64_known(json, "from_end_ns", cut->m->end_ns, cut->m->end_ns);
	json_u64(json, "begin_ns", cut->part->start_ns);
	json_str(json, "phase", cut->o->times.phase);
	json_array(json, "times");
	for (unsigned int i = 0; cut->times.host && i < cut->times.host[0].n; i++) {
		json_row(json, NULL);
		json_u64(json, NULL, cut->times.host[0].v[i].begin_ns);
		json_u64(json, NULL, cut->times.host[0].v[i].end_ns);
		json_end(json);
	}
	json_end(json);
	json_row(json, "pids");
	for (unsigned int i = 0; i < cut->o->pids.n; i++)
		json_u64(json, NULL, cut->o->pids.v[i]);
	json_end(json);
	json_u64(json, "rows", rows);
	json_u64(json, "rows_left_out", left_out);
	json_u64(json, "rows_dropped_before", dropped);
}

/* Narrows the manifest of the part to the selected times. */
static int narrow(struct cut *c)
{
	const struct host_times *t = c->times.host;
	int res = t ? manifest_narrow(c->part, &(struct window){ t->v[0].begin_ns, t->v[t->n - 1].end_ns }) : 0;

	if (res == -ERANGE)
		times_log_none((char *const *)&c->from, 1);
	return res;
}

int cut_folder(const char *from, const char *to, const struct cut_options *options)
{
	static const struct copy_kind kind = {
		.key = "cut",
		.fewer = true,
		.file = begin_file,
		.has = has,
		.value = value,
		.dropped = dropped,
		.describe = describe,
	};
	autofree struct manifest_facts *facts = calloc(1, sizeof(*facts)), *part = malloc(sizeof(*part));
	char *dirs[] = { (char *)from };
	struct cut c = { .from = from, .o = options, .part = part, .m = facts };
	int res = facts && part ? copy_open(from, facts) : -ENOMEM;

	if (res < 0)
		return res;
	close(res);
	*part = *facts;
	res = times_init(&c.times, &options->times, dirs, 1);
	if (res == 0)
		res = narrow(&c);
	if (res == 0)
		res = copy_folder(from, to, facts, &kind, &c);
	times_free(&c.times);
	return res;
}
