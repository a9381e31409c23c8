/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .pfw: lines of JSON as DFTracer writes and DFAnalyzer reads them, in three dialects. Dialect 1 has brackets around all
 * lines, and hashes are numbers. In dialect 2 a hash is 16 hex digits. Dialect 3 has no brackets, and kinds of lines are
 * numbers. Only system calls have the category `POSIX', as readers count the bytes of that category. A line names each file
 * and host before its first use.
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
	{ "RETURNED", "ret" }, { "RET", "ret" }, { "FD", "fd" }, { "OFFSET", "offset" }, { "REQUESTED", "count" },
	{ "LEN", "length" }, { "DISK_BYTES", "disk_bytes" }, { "EPOCH", "epoch" }, { "STEP", "step" }, { "BYTES", "size" },
	{ "SECTOR", "sector" }, { "STATUS", "status" }, { "CPU", "cpu" }, { "DISK", "disk", true }, { "TEXT", "text", true },
	{ "QLAT_NS", "qlat_ns" },
};

/* Calls that have another name in libc, by which readers know them. */
static const struct { const char *call, *libc; } libc_names[] = {
	{ "fadvise64", "posix_fadvise" }, { "ftruncate64", "ftruncate" }, { "openat2", "openat" }, { "pread64", "pread" },
	{ "preadv2", "preadv" }, { "pwrite64", "pwrite" }, { "pwritev2", "pwritev" }, { "renameat2", "renameat" },
	{ "sendfile64", "sendfile" },
};

struct pfw_plan {
	bool made, none, counter;
	uint8_t pid, tid, lat, name, category, fid, path;
	struct { uint8_t column; const struct argument *as; } argument[ARRAY_SIZE(arguments)];
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

static int put_metadata(struct export *x, const char *kind, const char *text, size_t len, uint64_t hash)
{
	struct pfw *s = x->state;
	char *p = out_room(&x->out, TEXT_JSON_MAX(len) + 256);

	if (!p)
		return -ENOMEM;
	p = stpcpy(begin_line(s, p, false), kind);
	p = stpcpy(p, s->dialect == 3 ? "\",\"cat\":\"dftracer\",\"type\":1,\"pid\":0,\"tid\":0,\"ph\":4,\"args\":{\"hhash\":" :
					"\",\"cat\":\"dftracer\",\"pid\":0,\"tid\":0,\"ph\":\"M\",\"args\":{\"hhash\":");
	p = stpcpy(stpcpy(p, s->host_hash), ",\"name\":\"");
	p = stpcpy(put_name(p, text, len), "\",\"value\":");
	out_put(&x->out, stpcpy(put_hash(s, p, hash), "}}\n"));
	return out_record(&x->out);
}

static int add_file(struct export *x, uint64_t fid, struct reader_field path)
{
	struct pfw *s = x->state;
	const size_t len = text_unescape(x->scratch, path.p, path.len);
	const uint64_t hash = hash_of(x->scratch, len);

	if (fid >= FIDS_MAX)
		return 0;
	if (fid >= s->n_hashes) {
		const uint64_t n = MAX(2 * s->n_hashes, MAX(fid + 1, (uint64_t)1024));
		uint64_t *v = realloc(s->hashes, n * sizeof(*v));

		if (!v)
			return -ENOMEM;
		memset(v + s->n_hashes, 0, (n - s->n_hashes) * sizeof(*v));
		s->hashes = v;
		s->n_hashes = n;
	}
	if (s->hashes[fid] == hash)
		return 0;
	s->hashes[fid] = hash;
	return put_metadata(x, "FH", x->scratch, len, hash);
}

/* --- rows ----------------------------------------------------------------------------------------------------- */

static uint8_t column(const struct export_table *t, const char *name, const char *or)
{
	const unsigned int i = export_table_column(t, name), k = or ? export_table_column(t, or) : 0;

	return i ? (uint8_t)(i - 1) : k ? (uint8_t)(k - 1) : NO_COLUMN;
}

static void make_plan(struct pfw_plan *p, const struct export_table *t)
{
	p->made = true;
	p->pid = column(t, "PID", "PREV_PID");
	p->tid = column(t, "TID", "PREV_TID");
	p->lat = column(t, "LAT_NS", "RUN_NS");
	p->name = column(t, "NAME", "FUNC");
	if (p->name == NO_COLUMN)
		p->name = column(t, "T", "PREV_COMM");
	p->category = column(t, "CAT", NULL);
	p->fid = column(t, "FID", NULL);
	p->path = column(t, "REALPATH", NULL);
	p->counter = export_table_is_numbers(t);
	p->none = !p->counter && !(p->fid != NO_COLUMN && !strcmp(t->name, "files")) && column(t, "TEXT", NULL) == NO_COLUMN &&
		  (p->lat == NO_COLUMN || p->tid == NO_COLUMN || column(t, "SPAN_NS", NULL) != NO_COLUMN);
	for (unsigned int i = 0; i < ARRAY_SIZE(arguments); i++) {
		const uint8_t c = column(t, arguments[i].column, NULL);

		if (c == NO_COLUMN)
			continue;
		p->argument[p->n_arguments].column = c;
		p->argument[p->n_arguments++].as = &arguments[i];
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
static char *put_names(struct export *x, char *p, const struct pfw_row *r, bool first, bool *posix)
{
	const struct reader_field name = of(r, r->plan->name), category = of(r, r->plan->category);
	const char *colon = memchr(name.p, ':', name.len);

	*posix = first && r->plan->category == NO_COLUMN && is_call(r->f->table, name);
	if (r->plan->name == NO_COLUMN)
		p = stpcpy(p, r->f->table->name);
	else if (*posix)
		p = put_field(x, p, libc_name(name));
	else
		p = put_field(x, p, name);
	p = stpcpy(p, "\",\"cat\":\"");
	if (*posix)
		p = stpcpy(p, "POSIX");
	else if (r->plan->category != NO_COLUMN)
		p = put_field(x, p, category);
	else if (colon && r->f->table->probe)
		p = put_field(x, p, (struct reader_field){ name.p, (size_t)(colon - name.p) });
	else
		p = stpcpy(p, r->f->table->name);
	*p++ = '"';
	return p;
}

static char *put_arguments(struct export *x, char *p, const struct pfw_row *r)
{
	const struct pfw *s = x->state;
	const uint64_t fid = number(r, r->plan->fid);

	p = stpcpy(stpcpy(p, "\"args\":{\"hhash\":"), s->host_hash);
	if (fid && fid < s->n_hashes && s->hashes[fid])
		p = put_hash(s, stpcpy(p, ",\"fhash\":"), s->hashes[fid]);
	for (unsigned int i = 0; i < r->plan->n_arguments; i++) {
		const struct argument *a = r->plan->argument[i].as;
		const struct reader_field v = of(r, r->plan->argument[i].column);

		if (export_is_none(v) || export_is_unknown(v) || (!a->text && !text_is_int(v)))
			continue;
		p = stpcpy(stpcpy(stpcpy(p, ",\""), a->name), "\":");
		if (a->text) {
			*p++ = '"';
			p = put_field(x, p, v);
			*p++ = '"';
		} else {
			p = mempcpy(p, v.p, v.len);
		}
	}
	return stpcpy(p, "}}\n");
}

/* Times are whole microseconds. Begin and end are rounded down each, so that events that do not overlap still do not. */
static char *put_event(struct export *x, char *p, const struct pfw_row *r)
{
	struct pfw *s = x->state;
	const uint64_t end_ns = number(r, 0), lat_ns = number(r, r->plan->lat), tid = number(r, r->plan->tid);
	const uint64_t begin_us = (end_ns - MIN(lat_ns, end_ns) + (uint64_t)s->utc_ns) / 1000;
	const uint64_t end_us = (end_ns + (uint64_t)s->utc_ns) / 1000;
	bool posix;

	p = put_names(x, begin_line(s, p, true), r, end_ns != s->last_ns || tid != s->last_tid, &posix);
	s->last_ns = end_ns;
	s->last_tid = tid;
	if (s->dialect == 3)
		p = stpcpy(p, posix ? ",\"type\":3" : ",\"type\":0");
	p = text_put_u64(stpcpy(p, ",\"pid\":"), number(r, r->plan->pid));
	p = text_put_u64(stpcpy(p, ",\"tid\":"), tid);
	p = text_put_u64(stpcpy(p, ",\"ts\":"), begin_us);
	p = text_put_u64(stpcpy(p, ",\"dur\":"), end_us - begin_us);
	p = stpcpy(p, s->dialect == 3 ? ",\"ph\":1," : ",\"ph\":\"X\",");
	return put_arguments(x, p, r);
}

/* Puts a sample of the machine. The first dialect has none. */
static char *put_counter(struct export *x, char *p, const struct pfw_row *r)
{
	struct pfw *s = x->state;
	const struct export_table *t = r->f->table;

	p = stpcpy(stpcpy(begin_line(s, p, s->dialect < 3), t->name), "\",\"cat\":\"");
	p = stpcpy(p, strncmp(t->name, "gpu", 3) ? "sys" : "gpu");
	p = stpcpy(p, s->dialect == 3 ? "\",\"type\":0,\"pid\":0,\"tid\":0,\"ts\":" : "\",\"pid\":0,\"tid\":0,\"ts\":");
	p = text_put_u64(p, (number(r, 0) + (uint64_t)s->utc_ns) / 1000);
	p = stpcpy(p, s->dialect == 3 ? ",\"ph\":2,\"args\":{\"hhash\":" : ",\"ph\":\"C\",\"args\":{\"hhash\":");
	p = stpcpy(p, s->host_hash);
	for (unsigned int i = 2; i < t->n; i++) {
		const struct reader_field v = of(r, (uint8_t)i);

		if (export_is_none(v))
			continue;
		p = stpcpy(put_name(stpcpy(p, ",\""), t->column[i].name, strlen(t->column[i].name)), "\":");
		if (text_is_number(v)) {
			p = mempcpy(p, v.p, v.len);
		} else {
			*p++ = '"';
			p = put_field(x, p, v);
			*p++ = '"';
		}
	}
	return stpcpy(p, "}}\n");
}

static int put_rows(struct export *x, const struct export_file *f, const struct reader_row *rows, unsigned int n)
{
	struct pfw *s = x->state;
	struct pfw_plan *plan = &s->plan[f->index];
	size_t names = 0;
	int res = 0;

	if (!plan->made)
		make_plan(plan, f->table);
	if (plan->none || (plan->counter && s->dialect == 1))
		return 0;
	for (unsigned int i = 0; i < f->table->n; i++)
		names += strlen(f->table->column[i].name) + 8;
	for (unsigned int i = 0; i < n && res == 0; i++) {
		const struct pfw_row r = { f, &rows[i], plan };
		const size_t len = rows[i].stop[f->in.reader.n_columns] - rows[i].stop[0];
		char *p;

		if (!strcmp(f->table->name, "files")) {
			res = export_is_none(of(&r, plan->path)) ? 0 : add_file(x, number(&r, plan->fid), of(&r, plan->path));
			continue;
		}
		p = out_room(&x->out, 1024 + names + 2 * TEXT_JSON_MAX(len));
		if (!p)
			return -ENOMEM;
		out_put(&x->out, plan->counter ? put_counter(x, p, &r) : put_event(x, p, &r));
		res = out_record(&x->out);
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

static void read_clock(struct pfw *s, int dirfd)
{
	struct reader_row row;
	struct reader rd;
	uint64_t mono_ns, real_ns;

	s->utc_ns = 0;
	if (reader_open(&rd, dirfd, "time_align.out") < 0)
		return;
	if (reader_next(&rd, &row) > 0 && reader_u64(reader_field(&row, reader_column(&rd, "TIMESTAMP")), &mono_ns) &&
	    reader_u64(reader_field(&row, reader_column(&rd, "REALTIME_NS")), &real_ns))
		s->utc_ns = (int64_t)(real_ns - mono_ns);
	reader_close(&rd);
}

static int host(struct export *x)
{
	struct pfw *s = x->state;
	const uint64_t hash = hash_of(x->host->name, strlen(x->host->name));

	free(s->hashes);
	s->hashes = NULL;
	s->n_hashes = 0;
	s->last_ns = 0;
	read_clock(s, x->host->dirfd);
	*put_hash(s, s->host_hash, hash) = '\0';
	return put_metadata(x, "HH", x->host->name, strlen(x->host->name), hash);
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
