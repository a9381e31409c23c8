/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/rows/rollup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "base/util.h"
#include "dlt/rollup.h"
#include "trace/clock.h"
#include "trace/probe.h"
#include "trace/record.h"
#include "trace/sink.h"

#define NSEC_PER_MINUTE (60 * NSEC_PER_SEC)

/* A key, from its highest bits: the order in which sums are written. PIDs end at 2^22. */
#define KEY_PID_BITS 23
#define KEY_RW_BITS 3
#define KEY_FILE_BITS 5
#define NO_PID ((1U << KEY_PID_BITS) - 1)

static const char rw_letters[] = "-RWDFZO";

struct sum {
	char comm[DLT_COMM_LEN];
	uint64_t rows, failed, bytes, lat_ns, max_lat_ns;
};

/* The contribution of a row to a sum, from a record or a file. */
struct item {
	uint64_t minute, ts_ns, pid, lat_ns, bytes;
	unsigned int file;
	char rw;
	bool failed;
};

void rollup_init(struct rollup *r)
{
	*r = (struct rollup){ 0 };
	table_init(&r->sums, sizeof(struct sum), ROLLUP_SUMS_MAX);
}

void rollup_free(struct rollup *r)
{
	table_free(&r->sums);
}

/* Returns the number of a file's name; names past the last that fits share one. */
static unsigned int file_number(struct rollup *rollup, const char *name)
{
	unsigned int i;

	for (i = 0; i < rollup->n_files; i++)
		if (!strncmp(rollup->files[i], name, sizeof(rollup->files[i]) - 1))
			return i;
	if (i == ROLLUP_FILES_MAX)
		return i - 1;
	snprintf(rollup->files[i], sizeof(rollup->files[i]), "%s", name);
	return rollup->n_files++;
}

static struct sum *add(struct rollup *rollup, const struct item *it)
{
	const char *letter = it->rw ? strchr(rw_letters, it->rw) : NULL;
	uint64_t key = it->minute, rw = letter ? (uint64_t)(letter - rw_letters) : 0;
	struct sum *sum;

	key = key << KEY_FILE_BITS | it->file;
	key = key << KEY_PID_BITS | MIN(it->pid, NO_PID);
	key = key << KEY_RW_BITS | rw;
	sum = table_get(&rollup->sums, key);
	if (!sum)
		return NULL;
	sum->rows++;
	sum->failed += it->failed;
	sum->bytes += it->bytes;
	sum->lat_ns += it->lat_ns;
	sum->max_lat_ns = MAX(sum->max_lat_ns, it->lat_ns);
	return sum;
}

/* --- from records --------------------------------------------------------------------------------- */

static const struct field *field_of(const struct probe *p, const char *column)
{
	for (unsigned int i = 0; i < p->n_fields; i++)
		if (!strcmp(p->fields[i].name, column))
			return &p->fields[i];
	return NULL;
}

bool rollup_takes(const struct probe *p)
{
	return p->flags & PROBE_SELECTABLE && field_of(p, "LAT_NS");
}

/* A number by its field; DLT_NONE where there is no such field. */
static int64_t number(const struct field *field, const void *rec)
{
	const char *at = field ? (const char *)rec + field->offset : NULL;

	if (!field)
		return DLT_NONE;
	if (field->kind == FIELD_S64 || field->kind == FIELD_ADDR || field->kind == FIELD_U64)
		return *(const int64_t *)at;
	if (field->kind == FIELD_S32 || field->kind == FIELD_U32 || field->kind == FIELD_NAME)
		return field->kind == FIELD_S32 ? (int64_t) * (const int32_t *)at : (int64_t) * (const uint32_t *)at;
	return DLT_NONE;
}

static char letter_of(const struct field *f, const void *rec)
{
	int64_t v = number(f, rec);

	for (const struct field_name *n = f ? f->names : NULL; n && n->name; n++)
		if ((int64_t)n->value == v)
			return n->name[0];
	return '-';
}

/* Columns by name, looked up once per probe. */
struct plan {
	bool made;
	const struct field *result, *bytes, *rw;
};

static const struct plan *plan_of(const struct probe *p, unsigned int probe)
{
	static _Thread_local struct plan plans[DLT_PROBES];
	struct plan *plan = &plans[probe];

	if (plan->made)
		return plan;
	plan->made = true;
	plan->bytes = field_of(p, "BYTES") ?: field_of(p, "RETURNED");
	plan->result = field_of(p, "STATUS") ?: field_of(p, "RETURNED") ?: field_of(p, "RET");
	plan->rw = field_of(p, "RW") ?: field_of(p, "T");
	return plan;
}

bool rollup_record(struct rollup *r, const struct probe *p, const struct dlt_hdr *rec, uint64_t realtime_ns)
{
	const struct plan *plan = plan_of(p, rec->probe);
	int64_t result = number(plan->result, rec), bytes = number(plan->bytes, rec);
	struct item it = {
		.minute = realtime_ns / NSEC_PER_MINUTE,
		.ts_ns = rec->ts_ns,
		.pid = rec->tgid,
		.lat_ns = rec->lat_ns,
		.rw = letter_of(plan->rw, rec),
		.failed = result < 0 && result != DLT_NONE && result != DLT_UNKNOWN,
	};
	struct sum *s;

	if (!r->number[rec->probe])
		r->number[rec->probe] = (uint8_t)(file_number(r, p->name) + 1);
	it.file = r->number[rec->probe] - 1U;
	if (!it.failed && result != DLT_UNKNOWN && bytes > 0)
		it.bytes = (uint64_t)bytes;
	s = add(r, &it);
	if (!s)
		return false;
	memcpy(s->comm, rec->comm, sizeof(s->comm));
	if (rec->ts_ns >= r->last_ns) {
		r->last_ns = rec->ts_ns;
		r->offset_ns = (int64_t)(realtime_ns - rec->ts_ns);
	}
	return true;
}

/* --- from rows ------------------------------------------------------------------------------------ */

struct rows {
	struct rollup *r;
	const struct reader *rd;
	unsigned int file;
	unsigned int at_ts, at_time, at_pid, at_comm, at_lat, at_result, at_bytes, at_rw;
	char minute_text[16]; /* what MINUTE is that of */
	uint64_t minute;
	char last_time[TEXT_UTC_LEN]; /* TIME of the row that r->last_ns is of */
	bool has_last;
};

static unsigned int column(const struct reader *rd, const char *a, const char *b, const char *c)
{
	unsigned int i = reader_column(rd, a);

	if (!i && b)
		i = reader_column(rd, b);
	return i || !c ? i : reader_column(rd, c);
}

/* Columns by name; the meaning of another tool's columns is unknown, so only rows are counted there. */
static void rows_init(struct rows *rows, struct rollup *rollup, const struct reader *rd)
{
	*rows = (struct rows){
		.r = rollup,
		.rd = rd,
		.file = file_number(rollup, rd->name),
		.at_ts = reader_column(rd, "TIMESTAMP"),
		.at_time = reader_column(rd, "TIME"),
		.at_lat = reader_column(rd, "LAT_NS"),
		.at_pid = reader_column(rd, "PID"),
		.at_comm = reader_column(rd, "COMM"),
	};
	if (!rows->at_lat)
		return;
	rows->at_result = column(rd, "STATUS", "RETURNED", "RET");
	rows->at_bytes = column(rd, "BYTES", "RETURNED", NULL);
	rows->at_rw = column(rd, "RW", "T", NULL);
}

static bool minute_of(struct rows *rows, struct reader_field time, uint64_t *ret)
{
	uint64_t ns;

	if (time.len == TEXT_UTC_LEN && !memcmp(time.p, rows->minute_text, sizeof(rows->minute_text))) {
		*ret = rows->minute;
		return true;
	}
	if (!text_get_utc(time.p, time.len, &ns, &(struct text_utc_cache){ 0 }))
		return false;
	memcpy(rows->minute_text, time.p, sizeof(rows->minute_text));
	*ret = rows->minute = ns / NSEC_PER_MINUTE;
	return true;
}

/* Returns false for a row that cannot be summed up. *FULL: no room. */
static bool add_row(struct rows *rows, const struct reader_row *row, bool *full)
{
	struct reader_field result = reader_field(row, rows->at_result), comm = reader_field(row, rows->at_comm);
	struct item it = { .file = rows->file, .pid = NO_PID, .rw = reader_field(row, rows->at_rw).p[0] };
	char name[TEXT_UTC_LEN];
	struct sum *sum;

	*full = false;
	if (!reader_u64(reader_field(row, rows->at_ts), &it.ts_ns) ||
	    !minute_of(rows, reader_field(row, rows->at_time), &it.minute))
		return false;
	reader_u64(reader_field(row, rows->at_pid), &it.pid);
	reader_u64(reader_field(row, rows->at_lat), &it.lat_ns);
	it.failed = rows->at_result && result.len > 1 && result.p[0] == '-';
	if (!it.failed && !reader_is(result, "?"))
		reader_u64(reader_field(row, rows->at_bytes), &it.bytes);
	sum = add(rows->r, &it);
	if (!sum) {
		*full = true;
		return false;
	}
	if (comm.len <= sizeof(name)) {
		memset(sum->comm, 0, sizeof(sum->comm));
		memcpy(sum->comm, name, MIN(text_unescape(name, comm.p, comm.len), sizeof(sum->comm)));
	}
	if (it.ts_ns >= rows->r->last_ns && reader_field(row, rows->at_time).len == sizeof(rows->last_time)) {
		rows->r->last_ns = it.ts_ns;
		memcpy(rows->last_time, reader_field(row, rows->at_time).p, sizeof(rows->last_time));
		rows->has_last = true;
	}
	return true;
}

/* The context in which the rows from W are written. */
static void write_rows(struct rows *w, struct sink *out, uint32_t segment)
{
	struct reader_field last = { w->last_time, sizeof(w->last_time) };
	uint64_t utc;

	if (w->has_last && text_get_utc(last.p, last.len, &utc, &(struct text_utc_cache){ 0 }))
		w->r->offset_ns = (int64_t)(utc - w->r->last_ns);
	rollup_write(w->r, out, segment, ROLLUP_ALL);
}

int64_t rollup_rows(struct rollup *rollup, struct reader *rd, struct sink *out, uint32_t segment)
{
	struct reader_row row;
	int64_t rows = 0;
	struct rows w;
	int got;

	rows_init(&w, rollup, rd);
	while ((got = reader_next(rd, &row)) > 0) {
		bool full;

		if (!add_row(&w, &row, &full) && full) {
			write_rows(&w, out, segment);
			add_row(&w, &row, &full);
		}
		rows++;
	}
	write_rows(&w, out, segment);
	return got < 0 ? got : rows;
}

/* --- writing -------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b, void *ctx)
{
	const uint64_t *keys = ctx;
	uint64_t x = keys[*(const uint32_t *)a], y = keys[*(const uint32_t *)b];

	return x < y ? -1 : x > y;
}

static void fill(struct dlt_rollup *rec, const struct rollup *rollup, uint64_t key, const struct sum *sum)
{
	struct text_utc_cache cache = { 0 };
	char utc[TEXT_UTC_LEN];
	uint64_t pid;

	rec->rw[0] = rw_letters[key & ((1 << KEY_RW_BITS) - 1)];
	if (rec->rw[0] == '-') /* an empty field, not a text */
		rec->rw[0] = '\0';
	key >>= KEY_RW_BITS;
	pid = key & ((1 << KEY_PID_BITS) - 1);
	rec->pid = pid == NO_PID ? DLT_NONE : (int64_t)pid;
	key >>= KEY_PID_BITS;
	memcpy(rec->file, rollup->files[key & ((1 << KEY_FILE_BITS) - 1)], sizeof(rec->file));
	text_put_utc(utc, (key >> KEY_FILE_BITS) * NSEC_PER_MINUTE, &cache);
	snprintf(rec->minute, sizeof(rec->minute), "%.19sZ", utc);
	memcpy(rec->hdr.comm, sum->comm, sizeof(rec->hdr.comm));
	rec->rows = sum->rows;
	rec->failed = sum->failed;
	rec->bytes = sum->bytes;
	rec->lat_ns = sum->lat_ns;
	rec->max_lat_ns = sum->max_lat_ns;
}

static uint64_t minute_of_key(uint64_t key)
{
	return key >> (KEY_FILE_BITS + KEY_PID_BITS + KEY_RW_BITS);
}

static void write_one(const struct rollup *r, uint32_t at, struct sink *out, uint32_t segment, struct record_ctx *ctx)
{
	struct dlt_rollup rec = {
		.hdr = { .ts_ns = r->last_ns, .probe = DLT_rollup, .size = sizeof(rec) },
		.segment = segment ? (int64_t)segment : DLT_NONE,
	};

	fill(&rec, r, r->sums.keys[at], table_at(&r->sums, at));
	sink_commit(out, record_put_row(sink_begin(out), probes[DLT_rollup], &rec, ctx), rec.hdr.ts_ns);
}

void rollup_write(struct rollup *rollup, struct sink *out, uint32_t segment, uint64_t minute)
{
	struct clock_map clock = { .now = { .offset_ns = rollup->offset_ns } };
	struct text_utc_cache utc = { 0 };
	struct record_ctx ctx = { .clock = &clock, .utc = &utc };
	autofree uint32_t *order = calloc(rollup->sums.n + 1, sizeof(*order));
	struct table left;

	table_init(&left, sizeof(struct sum), ROLLUP_SUMS_MAX);
	for (uint32_t i = 0; order && i < rollup->sums.n; i++)
		order[i] = i;
	if (order)
		qsort_r(order, rollup->sums.n, sizeof(*order), compare, rollup->sums.keys);
	for (uint32_t i = 0; i < rollup->sums.n; i++) {
		uint32_t at = order ? order[i] : i;
		uint64_t key = rollup->sums.keys[at];
		struct sum *stays = minute_of_key(key) >= minute ? table_get(&left, key) : NULL;

		if (stays)
			*stays = *(const struct sum *)table_at(&rollup->sums, at);
		else
			write_one(rollup, at, out, segment, &ctx);
	}
	table_free(&rollup->sums);
	rollup->sums = left;
}
