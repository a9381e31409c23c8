/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .pfw: lines of JSON as DFTracer writes and DFAnalyzer reads them, in three dialects. Dialect 1 has brackets around
 * all lines, and hashes are numbers. In dialect 2 a hash is 16 hex digits. Dialect 3 has no brackets, and kinds of
 * lines are numbers. Only system calls have the category `POSIX', as readers count the bytes of that category. A line
 * names each file and host before its first use.
 */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "export/export.h"
#include "export/exporter.h"
#include "export/md5.h"
#include "export/text.h"

#define FIDS_MAX (1U << 22) /* 32 MiB of hashes; files with larger FIDs get no name */

/* The columns that become arguments, with the argument's name, and whether it is text. */
static const struct argument {
	const char *column, *name;
	bool text;
} arguments[] = {
	{ "RETURNED", "ret" },
	{ "RET", "ret" },
	{ "FD", "fd" },
	{ "OFFSET", "offset" },
	{ "REQUESTED", "count" },
	{ "LEN", "length" },
	{ "DISK_BYTES", "disk_bytes" },
	{ "EPOCH", "epoch" },
	{ "STEP", "step" },
	{ "BYTES", "size" },
	{ "SECTOR", "sector" },
	{ "STATUS", "status" },
	{ "CPU", "cpu" },
	{ "DISK", "disk", true },
	{ "TEXT", "text", true },
	{ "QLAT_NS", "qlat_ns" },
};

/* Calls that have another name in libc, by which readers know them. */
static const struct {
	const char *call, *libc;
} libc_names[] = {
	{ "fadvise64", "posix_fadvise" }, { "ftruncate64", "ftruncate" }, { "openat2", "openat" },
	{ "pread64", "pread" },           { "preadv2", "preadv" },        { "pwrite64", "pwrite" },
	{ "pwritev2", "pwritev" },        { "renameat2", "renameat" },    { "sendfile64", "sendfile" },
};

struct pfw_plan {
	bool made, none, counter;
	uint8_t pid, tid, lat, name, category, fid, path;
	struct {
		uint8_t column;
		const struct argument *as;
	} argument[ARRAY_SIZE(arguments)];
	unsigned int n_arguments;
};

#define NO_COLUMN 0xff
#define HASH_MAX 24 /* with quotes */

struct pfw {
	unsigned int dialect;
	uint64_t id;
	int64_t utc_ns; /* of the host: CLOCK_REALTIME - CLOCK_MONOTONIC */
	char host_hash[HASH_MAX];
	uint64_t *hashes; /* of the names of the host's files, by FID; 0: no name */
	uint64_t n_hashes;
	struct pfw_plan plan[64];
	/* of the last row, to recognize the second row of a call, which must not count as a call again */
	uint64_t last_ns, last_tid;
};

/* --- hashes --------------------------------------------------------------------------------------------------- */

/* Returns every other byte of the text's MD5, and never 0. Equal names have equal hashes on all hosts. */
static uint64_t hash_of(const char *text, size_t len)
{
	uint8_t digest[16];
	uint64_t hash = 0;

	md5(text, len, digest);
	for (unsigned int i = 0; i < sizeof(digest); i += 2)
		hash = hash << 8 | digest[i];
	return hash ? hash : 1;
}

/* A hash that is written as a number must fit into an int64. */
static char *put_hash(const struct pfw *s, char *p, uint64_t hash)
{
	if (s->dialect == 1)
		return text_put_u64(p, hash >> 1);
	*p++ = '"';
	for (int shift = 60; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[hash >> shift & 15];
	*p++ = '"';
	return p;
}

/* Puts the LEN bytes of TEXT, but not brackets, quotes and invalid UTF-8, at which readers fail. */
static char *put_name(char *p, const char *text, size_t len)
{
	while (len) {
		unsigned int n = text_shown_len(text, len);

		if (n == 1 && strchr("()\\\"'|", *text))
			n = 0;
		if (n)
			p = mempcpy(p, text, n);
		else
			*p++ = (unsigned char)*text >= 0x80 ? '#' : ' ';
		text += n ? n : 1;
		len -= n ? n : 1;
	}
	return p;
}

/* --- lines ---------------------------------------------------------------------------------------------------- */

/* Puts the begin of a line, {"id":1,"name":". In the newest dialect, metadata has no id. */
static char *begin_line(struct pfw *s, char *p, bool with_id)
{
	p = stpcpy(p, "{");
	if (with_id || s->dialect < 3) {
		p = text_put_u64(stpcpy(p, "\"id\":"), s->id++);
		*p++ = ',';
	}
	return stpcpy(p, "\"name\":\"");
}

static int put_metadata(struct export *export, const char *kind, const char *text, size_t len, uint64_t hash)
{
	struct pfw *pfw = export->state;
	char *p = out_room(&export->out, TEXT_JSON_MAX(len) + 256);

	if (!p)
		return -ENOMEM;
	p = stpcpy(begin_line(pfw, p, false), kind);
	p = stpcpy(p, pfw->dialect == 3 ?
			      "\",\"cat\":\"dftracer\",\"type\":1,\"pid\":0,\"tid\":0,\"ph\":4,\"args\":{\"hhash\":" :
			      "\",\"cat\":\"dftracer\",\"pid\":0,\"tid\":0,\"ph\":\"M\",\"args\":{\"hhash\":");
	p = stpcpy(stpcpy(p, pfw->host_hash), ",\"name\":\"");
	p = stpcpy(put_name(p, text, len), "\",\"value\":");
	out_put(&export->out, stpcpy(put_hash(pfw, p, hash), "}}\n"));
	return out_record(&export->out);
}

static int add_file(struct export *export, uint64_t fid, struct reader_field path)
{
	struct pfw *pfw = export->state;
	const size_t len = text_unescape(export->scratch, path.p, path.len);
	const uint64_t hash = hash_of(export->scratch, len);

	if (fid >= FIDS_MAX)
		return 0;
	if (fid >= pfw->n_hashes) {
		const uint64_t n = MAX(2 * pfw->n_hashes, MAX(fid + 1, (uint64_t)1024));
		uint64_t *v = realloc(pfw->hashes, n * sizeof(*v));

		if (!v)
			return -ENOMEM;
		memset(v + pfw->n_hashes, 0, (n - pfw->n_hashes) * sizeof(*v));
		pfw->hashes = v;
		pfw->n_hashes = n;
	}
	if (pfw->hashes[fid] == hash)
		return 0;
	pfw->hashes[fid] = hash;
	return put_metadata(export, "FH", export->scratch, len, hash);
}

/* --- rows ----------------------------------------------------------------------------------------------------- */

static uint8_t column(const struct export_table *t, const char *name, const char * or)
{
	const unsigned int i = export_table_column(t, name), k = or ? export_table_column(t, or) : 0;

	if (i)
		return (uint8_t)(i - 1);
	return k ? (uint8_t)(k - 1) : NO_COLUMN;
}

static void make_plan(struct pfw_plan *plan, const struct export_table *table)
{
	plan->made = true;
	plan->pid = column(table, "PID", "PREV_PID");
	plan->tid = column(table, "TID", "PREV_TID");
	plan->lat = column(table, "LAT_NS", "RUN_NS");
	plan->name = column(table, "NAME", "FUNC");
	if (plan->name == NO_COLUMN)
		plan->name = column(table, "T", "PREV_COMM");
	plan->category = column(table, "CAT", NULL);
	plan->fid = column(table, "FID", NULL);
	plan->path = column(table, "REALPATH", NULL);
	plan->counter = export_table_is_numbers(table);
	plan->none = !plan->counter && !(plan->fid != NO_COLUMN && !strcmp(table->name, "files")) &&
		     column(table, "TEXT", NULL) == NO_COLUMN &&
		     (plan->lat == NO_COLUMN || plan->tid == NO_COLUMN || column(table, "SPAN_NS", NULL) != NO_COLUMN);
	for (unsigned int i = 0; i < ARRAY_SIZE(arguments); i++) {
		const uint8_t c = column(table, arguments[i].column, NULL);

		if (c == NO_COLUMN)
			continue;
		plan->argument[plan->n_arguments].column = c;
		plan->argument[plan->n_arguments++].as = &arguments[i];
	}
}

struct pfw_row {
	const struct export_file *f;
	const struct reader_row *row;
	const struct pfw_plan *plan;
};

static inline struct reader_field of(const struct pfw_row *r, uint8_t c)
{
	return c == NO_COLUMN ? reader_absent() : export_field(r->f, r->row, c);
}

static inline uint64_t number(const struct pfw_row *r, uint8_t c)
{
	uint64_t v = 0;

	reader_u64(of(r, c), &v);
	return v;
}

static inline bool is_call(const struct export_table *t, struct reader_field name)
{
	for (unsigned int i = 0; t->probe && i < t->probe->n_calls; i++)
		if (t->probe->calls[i].nr != -1 && reader_is(name, t->probe->calls[i].name))
			return true;
	return false;
}

static struct reader_field libc_name(struct reader_field name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(libc_names); i++)
		if (reader_is(name, libc_names[i].call))
			return (struct reader_field){ libc_names[i].libc, strlen(libc_names[i].libc) };
	return name;
}

static char *put_field(struct export *x, char *p, struct reader_field v)
{
	return put_name(p, x->scratch, text_unescape(x->scratch, v.p, v.len));
}

/* Puts NAME","cat":"CATEGORY". FIRST: this is not the second row of a call. *POSIX: it is a system call. */
static char *put_names(struct export *export, char *p, const struct pfw_row *row, bool first, bool *posix)
{
	const struct reader_field name = of(row, row->plan->name), category = of(row, row->plan->category);
	const char *colon = memchr(name.p, ':', name.len);

	*posix = first && row->plan->category == NO_COLUMN && is_call(row->f->table, name);
	if (row->plan->name == NO_COLUMN)
		p = stpcpy(p, row->f->table->name);
	else if (*posix)
		p = put_field(export, p, libc_name(name));
	else
		p = put_field(export, p, name);
	p = stpcpy(p, "\",\"cat\":\"");
	if (*posix)
		p = stpcpy(p, "POSIX");
	else if (row->plan->category != NO_COLUMN)
		p = put_field(export, p, category);
	else if (colon && row->f->table->probe)
		p = put_field(export, p, (struct reader_field){ name.p, (size_t)(colon - name.p) });
	else
		p = stpcpy(p, row->f->table->name);
	*p++ = '"';
	return p;
}

static char *put_arguments(struct export *export, char *p, const struct pfw_row *row)
{
	const struct pfw *pfw = export->state;
	const uint64_t fid = number(row, row->plan->fid);

	p = stpcpy(stpcpy(p, "\"args\":{\"hhash\":"), pfw->host_hash);
	if (fid && fid < pfw->n_hashes && pfw->hashes[fid])
		p = put_hash(pfw, stpcpy(p, ",\"fhash\":"), pfw->hashes[fid]);
	for (unsigned int i = 0; i < row->plan->n_arguments; i++) {
		const struct argument *argument = row->plan->argument[i].as;
		const struct reader_field v = of(row, row->plan->argument[i].column);

		if (export_is_none(v) || export_is_unknown(v) || (!argument->text && !text_is_int(v)))
			continue;
		p = stpcpy(stpcpy(stpcpy(p, ",\""), argument->name), "\":");
		if (argument->text) {
			*p++ = '"';
			p = put_field(export, p, v);
			*p++ = '"';
		} else {
			p = mempcpy(p, v.p, v.len);
		}
	}
	return stpcpy(p, "}}\n");
}

/* Times are whole microseconds. Begin and end are rounded down each, so that events that do not overlap still do not.
 */
static char *put_event(struct export *export, char *p, const struct pfw_row *row)
{
	struct pfw *pfw = export->state;
	const uint64_t end_ns = number(row, 0), lat_ns = number(row, row->plan->lat), tid = number(row, row->plan->tid);
	const uint64_t begin_us = (end_ns - MIN(lat_ns, end_ns) + (uint64_t)pfw->utc_ns) / 1000;
	const uint64_t end_us = (end_ns + (uint64_t)pfw->utc_ns) / 1000;
	bool posix;

	p = put_names(export, begin_line(pfw, p, true), row, end_ns != pfw->last_ns || tid != pfw->last_tid, &posix);
	pfw->last_ns = end_ns;
	pfw->last_tid = tid;
	if (pfw->dialect == 3)
		p = stpcpy(p, posix ? ",\"type\":3" : ",\"type\":0");
	p = text_put_u64(stpcpy(p, ",\"pid\":"), number(row, row->plan->pid));
	p = text_put_u64(stpcpy(p, ",\"tid\":"), tid);
	p = text_put_u64(stpcpy(p, ",\"ts\":"), begin_us);
	p = text_put_u64(stpcpy(p, ",\"dur\":"), end_us - begin_us);
	p = stpcpy(p, pfw->dialect == 3 ? ",\"ph\":1," : ",\"ph\":\"X\",");
	return put_arguments(export, p, row);
}

/* Puts a sample of the machine. The first dialect has none. */
static char *put_counter(struct export *export, char *p, const struct pfw_row *row)
{
	struct pfw *pfw = export->state;
	const struct export_table *table = row->f->table;

	p = stpcpy(stpcpy(begin_line(pfw, p, pfw->dialect < 3), table->name), "\",\"cat\":\"");
	p = stpcpy(p, strncmp(table->name, "gpu", 3) ? "sys" : "gpu");
	p = stpcpy(p,
		   pfw->dialect == 3 ? "\",\"type\":0,\"pid\":0,\"tid\":0,\"ts\":" : "\",\"pid\":0,\"tid\":0,\"ts\":");
	p = text_put_u64(p, (number(row, 0) + (uint64_t)pfw->utc_ns) / 1000);
	p = stpcpy(p, pfw->dialect == 3 ? ",\"ph\":2,\"args\":{\"hhash\":" : ",\"ph\":\"C\",\"args\":{\"hhash\":");
	p = stpcpy(p, pfw->host_hash);
	for (unsigned int i = 2; i < table->n; i++) {
		const struct reader_field v = of(row, (uint8_t)i);

		if (export_is_none(v))
			continue;
		p = stpcpy(put_name(stpcpy(p, ",\""), table->column[i].name, strlen(table->column[i].name)), "\":");
		if (text_is_number(v)) {
			p = mempcpy(p, v.p, v.len);
		} else {
			*p++ = '"';
			p = put_field(export, p, v);
			*p++ = '"';
		}
	}
	return stpcpy(p, "}}\n");
}

static int put_rows(struct export *export, const struct export_file *file, const struct reader_row *rows,
		    unsigned int n)
{
	struct pfw *pfw = export->state;
	struct pfw_plan *plan = &pfw->plan[file->index];
	size_t names = 0;
	int res = 0;

	if (!plan->made)
		make_plan(plan, file->table);
	if (plan->none || (plan->counter && pfw->dialect == 1))
		return 0;
	for (unsigned int i = 0; i < file->table->n; i++)
		names += strlen(file->table->column[i].name) + 8;
	for (unsigned int i = 0; i < n && res == 0; i++) {
		const struct pfw_row r = { file, &rows[i], plan };
		const size_t len = rows[i].stop[file->in.reader.n_columns] - rows[i].stop[0];
		char *p;

		if (!strcmp(file->table->name, "files")) {
			res = export_is_none(of(&r, plan->path)) ?
				      0 :
				      add_file(export, number(&r, plan->fid), of(&r, plan->path));
			continue;
		}
		p = out_room(&export->out, 1024 + names + 2 * TEXT_JSON_MAX(len));
		if (!p)
			return -ENOMEM;
		out_put(&export->out, plan->counter ? put_counter(export, p, &r) : put_event(export, p, &r));
		res = out_record(&export->out);
	}
	return res;
}

/* --- the file ------------------------------------------------------------------------------------------------- */

static int begin(struct export *x)
{
	struct pfw *s = x->state;

	s->dialect = x->o->dialect ? x->o->dialect : 2;
	if (s->dialect < 3)
		out_text(&x->out, "[\n");
	return x->out.error;
}

static void read_clock(struct pfw *pfw, int dirfd)
{
	struct reader_row row;
	struct reader rd;
	uint64_t mono_ns, real_ns;

	pfw->utc_ns = 0;
	if (reader_open(&rd, dirfd, "time_align.out") < 0)
		return;
	if (reader_next(&rd, &row) > 0 && reader_u64(reader_field(&row, reader_column(&rd, "TIMESTAMP")), &mono_ns) &&
	    reader_u64(reader_field(&row, reader_column(&rd, "REALTIME_NS")), &real_ns))
		pfw->utc_ns = (int64_t)(real_ns - mono_ns);
	reader_close(&rd);
}

static int host(struct export *export)
{
	struct pfw *s = export->state;
	const uint64_t hash = hash_of(export->host->name, strlen(export->host->name));

	free(s->hashes);
	s->hashes = NULL;
	s->n_hashes = 0;
	s->last_ns = 0;
	read_clock(s, export->host->dirfd);
	*put_hash(s, s->host_hash, hash) = '\0';
	return put_metadata(export, "HH", export->host->name, strlen(export->host->name), hash);
}

static int end(struct export *x)
{
	const struct pfw *s = x->state;

	if (s->dialect < 3)
		out_text(&x->out, "]\n");
	return x->out.error;
}

static void close_all(struct export *x)
{
	struct pfw *s = x->state;

	free(s->hashes);
}

const struct exporter export_pfw = {
	.name = "pfw",
	.help = "for DFAnalyzer and dftracer-utils (.pfw.gz); --dialect 1, 2 or 3",
	.order = EXPORT_BY_HOST,
	.state_size = sizeof(struct pfw),
	.begin = begin,
	.host = host,
	.rows = put_rows,
	.end = end,
	.close = close_all,
};
