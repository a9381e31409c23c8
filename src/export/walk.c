/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pass over the files of all hosts: reads each once, in the order that the format wants, and gives its rows to the
 * format. Logs what is damaged, and goes on with the rest.
 */
#include "export/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "base/log.h"
#include "export/export.h"

#define STATUS_NS (200 * NSEC_PER_MSEC)

/* --- one file ----------------------------------------------------------------------------------------------- */

/* Finds the columns of table T in F. If F is the first file of its name, T gets its columns first. Returns 0 or -ENOMEM. */
static int find_columns(struct export_file *f, struct export_table *t, const char *name)
{
	int res = t->n ? 0 : export_table_init(t, name, &f->in.reader);

	f->table = t;
	for (unsigned int i = 0; i < t->n; i++)
		f->at[i] = (uint8_t)reader_column(&f->in.reader, t->column[i].name);
	return res;
}

/* Opens the host's file of table I. Returns 1; 0 when there is none that can be read; or -ENOMEM. */
static int open_file(struct walk *w, struct export_file *f, unsigned int i)
{
	const char *name = w->names[i];
	autofree char *file = util_fmt("%s.out", name);
	int res;

	*f = (struct export_file){ .index = i };
	snprintf(f->in.name, sizeof(f->in.name), "%s", name);
	f->in.error = file ? reader_open(&f->in.reader, w->x->host->dirfd, file) : -ENOMEM;
	if (f->in.error < 0)
		return f->in.error == -ENOMEM ? -ENOMEM : 0;
	if (!probe_find(name) && !reader_column(&f->in.reader, "TIMESTAMP"))
		return 0; /* of a collector that has ended without a sample, and so without a header */
	res = find_columns(f, &w->x->tables[i], name);
	return res < 0 ? res : 1;
}

static uint64_t rows_counted(const struct export_host *h, const char *name)
{
	for (unsigned int i = 0; i < h->n_counted; i++)
		if (!strcmp(h->counted[i].name, name))
			return h->counted[i].rows;
	return 0;
}

#define NOTES_MAX 8

/* Logs the damage of F, which has been read, and closes it. */
static void close_file(struct walk *w, struct export_file *f)
{
	const uint64_t counted = rows_counted(w->x->host, f->in.name);
	char *texts[NOTES_MAX];
	unsigned int n = 0;
	const struct notes notes = { texts, &n, NOTES_MAX };

	scan_note_error(&f->in, &notes);
	if (f->in.error == -EBADMSG && probe_find(f->in.name))
		notes_add(&notes, "%s.out: its header is damaged, or it is not a file of dltraced", f->in.name);
	if (!f->in.error)
		scan_note_header(&f->in, w->bad_rows[f->index], &notes);
	if (f->in.reader.damaged || f->in.reader.bad || f->in.reader.missing)
		notes_add(&notes, "%s.out: %s damaged or missing", f->in.name,
			  FMT_N(f->in.reader.damaged + f->in.reader.bad + f->in.reader.missing, "of its segments is", "of its segments are"));
	if (counted > f->in.reader.rows)
		notes_add(&notes, "%s.out: %s of %s that the manifest counts %s not in the file", f->in.name,
			  FMT_COUNT(counted - f->in.reader.rows), FMT_N(counted, "row", "rows"),
			  counted - f->in.reader.rows == 1 ? "is" : "are");
	for (unsigned int i = 0; i < n; i++) {
		log_err("%s/%s; the rest is exported", w->x->host->dir, texts[i]);
		free(texts[i]);
	}
	w->x->damaged |= n > 0;
	w->bad_rows[f->index] = 0;
	reader_close(&f->in.reader);
}

static void show_status(struct export *x)
{
	char line[128];

	if (clock_now_ns(CLOCK_MONOTONIC) < x->next_status_ns)
		return;
	x->next_status_ns = clock_now_ns(CLOCK_MONOTONIC) + STATUS_NS;
	if (x->rows_counted >= x->rows_read)
		snprintf(line, sizeof(line), "export: %" PRIu64 " %%, %s rows", x->rows_read * 100 / MAX(x->rows_counted, (uint64_t)1),
			 FMT_COUNT(x->rows_read));
	else
		snprintf(line, sizeof(line), "export: %s rows", FMT_COUNT(x->rows_read));
	log_status(line);
}

/* Keeps the rows that have a TIMESTAMP, which goes into NS. Returns how many. */
static unsigned int keep_timed(struct walk *w, const struct export_file *f, struct reader_row *rows, unsigned int n, uint64_t *ns)
{
	const uint32_t are = reader_column_u64(rows, n, f->at[0], ns), all = (uint32_t)((1ULL << n) - 1);
	unsigned int kept = 0;

	if (are == all)
		return n;
	for (unsigned int i = 0; i < n; i++)
		if (are >> i & 1) {
			ns[kept] = ns[i];
			rows[kept++] = rows[i];
		}
	w->bad_rows[f->index] += n - kept;
	return kept;
}

/* Keeps the rows in the selected times. Returns how many. */
static unsigned int keep_in_time(const struct walk *w, const struct export_file *f, struct reader_row *rows, unsigned int n, uint64_t *ns)
{
	unsigned int kept = 0;

	if (!times_cut(&w->x->times, f->in.name))
		return n;
	for (unsigned int i = 0; i < n; i++)
		if (times_have(&w->x->times, export_host_index(w->x), ns[i])) {
			ns[kept] = ns[i];
			rows[kept++] = rows[i];
		}
	return kept;
}

/* Reads rows, with their times in NS. Returns how many are to be exported; 0: there are no more, or reading failed. */
static unsigned int read_rows(struct walk *w, struct export_file *f, struct reader_row rows[EXPORT_ROWS], uint64_t ns[EXPORT_ROWS])
{
	int n;

	do {
		n = reader_next_rows(&f->in.reader, rows, EXPORT_ROWS);
		if (n <= 0) {
			f->in.error = n;
			return 0;
		}
		w->x->rows_read += (unsigned int)n;
		if (w->x->rows_read / 16384 != (w->x->rows_read - (unsigned int)n) / 16384)
			show_status(w->x);
		n = (int)cut_rows(&w->cut, f, rows, (unsigned int)n);
		n = (int)keep_timed(w, f, rows, (unsigned int)n, ns);
		n = (int)keep_in_time(w, f, rows, (unsigned int)n, ns);
	} while (!n);
	return (unsigned int)n;
}

static int give(struct walk *w, struct export_file *f, const struct reader_row *rows, unsigned int n)
{
	w->x->rows += n;
	f->rows += n;
	return w->x->format->rows(w->x, f, rows, n);
}

static int walk_file(struct walk *w, unsigned int i)
{
	struct reader_row rows[EXPORT_ROWS];
	uint64_t ns[EXPORT_ROWS];
	struct export_file f;
	unsigned int n;
	int res = open_file(w, &f, i);

	if (res > 0) {
		res = 0;
		while (res == 0 && (n = read_rows(w, &f, rows, ns)))
			res = give(w, &f, rows, n);
	}
	close_file(w, &f);
	return res;
}

/* --- file by file, host by host ----------------------------------------------------------------------------- */

static int hook(struct export *x, int (*fn)(struct export *x))
{
	return fn ? fn(x) : 0;
}

static int begin_host(struct walk *w, unsigned int h)
{
	struct export *x = w->x;
	int res;

	x->host = &x->hosts[h];
	res = cut_host(&w->cut, x->host->dirfd);
	return res < 0 ? res : hook(x, x->format->host);
}

/* Gives table I the columns of the first host that has the file, and begins it. Returns 1; 0: no host has it; or -errno. */
static int open_table(struct walk *w, unsigned int i)
{
	const struct exporter *e = w->x->format;
	struct export_file f;
	int res = 0;

	for (unsigned int h = 0; h < w->x->n_hosts && res == 0; h++) {
		w->x->host = &w->x->hosts[h];
		res = open_file(w, &f, i);
		reader_close(&f.in.reader);
	}
	if (res <= 0 || !e->table)
		return res;
	res = e->table(w->x, &w->x->tables[i]);
	return res < 0 ? res : 1;
}

static int walk_table(struct walk *w, unsigned int i)
{
	struct export *x = w->x;
	const int is = open_table(w, i);
	int res = is < 0 ? is : 0;

	for (unsigned int h = 0; h < x->n_hosts && res == 0; h++) {
		res = begin_host(w, h);
		if (res == 0)
			res = walk_file(w, i);
		if (res == 0)
			res = hook(x, x->format->host_end);
	}
	if (res == 0 && is && x->format->table_end)
		res = x->format->table_end(x, &x->tables[i]);
	return res;
}

static int by_file(struct walk *w)
{
	int res = 0;

	for (unsigned int i = 0; i < w->n && res == 0; i++)
		res = walk_table(w, i);
	return res;
}

static int by_host(struct walk *w)
{
	int res = 0;

	for (unsigned int h = 0; h < w->x->n_hosts && res == 0; h++) {
		res = begin_host(w, h);
		for (unsigned int i = 0; i < w->n && res == 0; i++)
			res = walk_file(w, i);
		if (res == 0)
			res = hook(w->x, w->x->format->host_end);
	}
	return res;
}

/* --- all files of a host by time ---------------------------------------------------------------------------- */

struct ahead {
	struct export_file f;
	struct reader_row rows[EXPORT_ROWS];
	uint64_t ns[EXPORT_ROWS];
	unsigned int n, at;
};

/* Returns the file with the earliest row, and in *NEXT_NS the time of the next row of the others; NULL: all have ended. */
static struct ahead *earliest(struct ahead *const *v, unsigned int n, uint64_t *next_ns)
{
	struct ahead *first = NULL;

	*next_ns = UINT64_MAX;
	for (unsigned int i = 0; i < n; i++) {
		const uint64_t ns = v[i]->ns[v[i]->at];

		if (v[i]->at >= v[i]->n)
			continue;
		if (!first || ns < first->ns[first->at]) {
			*next_ns = first ? first->ns[first->at] : UINT64_MAX;
			first = v[i];
		} else {
			*next_ns = MIN(*next_ns, ns);
		}
	}
	return first;
}

/* Gives the rows of A up to NEXT_NS, at least one, to the format. */
static int give_run(struct walk *w, struct ahead *a, uint64_t next_ns)
{
	const unsigned int begin = a->at;
	int res;

	do
		a->at++;
	while (a->at < a->n && a->ns[a->at] <= next_ns);
	res = give(w, &a->f, &a->rows[begin], a->at - begin);
	if (a->at == a->n) {
		a->n = read_rows(w, &a->f, a->rows, a->ns);
		a->at = 0;
	}
	return res;
}

static int merge(struct walk *w, struct ahead **v, unsigned int n)
{
	struct ahead *a;
	uint64_t next_ns;
	int res = 0;

	while (res == 0 && (a = earliest(v, n, &next_ns)))
		res = give_run(w, a, next_ns);
	return res;
}

static int walk_host(struct walk *w)
{
	struct ahead **v = calloc(w->n + 1, sizeof(struct ahead *));
	unsigned int n = 0;
	int res = v ? 0 : -ENOMEM;

	for (unsigned int i = 0; i < w->n && res == 0; i++) {
		v[n] = calloc(1, sizeof(struct ahead));
		res = v[n] ? open_file(w, &v[n]->f, i) : -ENOMEM;
		if (res > 0) {
			v[n]->n = read_rows(w, &v[n]->f, v[n]->rows, v[n]->ns);
			n++;
			res = 0;
		} else if (v[n]) {
			close_file(w, &v[n]->f);
			free(v[n]);
		}
	}
	if (res == 0)
		res = merge(w, v, n);
	for (unsigned int i = 0; i < n; i++) {
		close_file(w, &v[i]->f);
		free(v[i]);
	}
	free(v);
	return res;
}

static int by_time(struct walk *w)
{
	int res = 0;

	for (unsigned int h = 0; h < w->x->n_hosts && res == 0; h++) {
		res = begin_host(w, h);
		if (res == 0)
			res = walk_host(w);
		if (res == 0)
			res = hook(w->x, w->x->format->host_end);
	}
	return res;
}

/* --- what there is ------------------------------------------------------------------------------------------- */

static int add_name(struct walk *w, const char *name)
{
	for (unsigned int i = 0; i < w->n; i++)
		if (!strcmp(w->names[i], name))
			return 0;
	if (w->n == WALK_FILES_MAX || strlen(name) >= sizeof(w->names[0]) || !cut_names(w->x->o->probes, name))
		return 0;
	strcpy(w->names[w->n++], name);
	return 0;
}

static int add_entry(void *ctx, const char *entry)
{
	struct segment_name s;

	return segment_parse(entry, &s) && !probe_find(s.base) ? add_name(ctx, s.base) : 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Lists the names of files: first files and pids, to which other rows refer; then other probes; then what else there is. */
static int list_names(struct walk *w)
{
	unsigned int n_probes;
	int res = 0;

	add_name(w, "files");
	add_name(w, "pids");
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		add_name(w, probes[i]->name);
	n_probes = w->n;
	for (unsigned int h = 0; h < w->x->n_hosts && res >= 0; h++)
		res = segment_each_entry(w->x->hosts[h].dirfd, add_entry, w);
	qsort(w->names + n_probes, w->n - n_probes, sizeof(w->names[0]), by_name);
	return res < 0 ? res : 0;
}

int export_walk(struct export *x)
{
	static int (*const orders[])(struct walk *w) = {
		[EXPORT_BY_FILE] = by_file, [EXPORT_BY_HOST] = by_host, [EXPORT_BY_TIME] = by_time,
	};
	struct walk *w = calloc(1, sizeof(*w));
	int res = w ? cut_init(&w->cut, &x->o->pids, x->o->path) : -ENOMEM;

	if (res == 0) {
		w->x = x;
		res = list_names(w);
	}
	if (res == 0) {
		x->tables = calloc(w->n + 1, sizeof(*x->tables));
		x->n_tables = x->tables ? w->n : 0;
		res = x->tables ? orders[x->format->order](w) : -ENOMEM;
	}
	log_status(NULL);
	for (unsigned int i = 0; i < x->n_tables; i++)
		export_table_free(&x->tables[i]);
	free(x->tables);
	if (w)
		cut_free(&w->cut);
	free(w);
	return res;
}
