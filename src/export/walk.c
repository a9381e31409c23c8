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

/* Finds the columns of table T in F. If F is the first file of its name, T gets its columns first. Returns 0 or
 * -ENOMEM. */
static int find_columns(struct export_file *f, struct export_table *t, const char *name)
{
	int res = t->n ? 0 : export_table_init(t, name, &f->in.reader);

	f->table = t;
	for (unsigned int i = 0; i < t->n; i++)
		f->at[i] = (uint8_t)reader_column(&f->in.reader, t->column[i].name);
	return res;
}

/* Opens the host's file of table I. Returns 1; 0 when there is none that can be read; or -ENOMEM. */
static int open_file(struct walk *walk, struct export_file *export_file, unsigned int i)
{
	const char *name = walk->names[i];
	autofree char *file = util_fmt("%s.out", name);
	int res;

	*export_file = (struct export_file){ .index = i };
	snprintf(export_file->in.name, sizeof(export_file->in.name), "%s", name);
	export_file->in.error = file ? reader_open(&export_file->in.reader, walk->x->host->dirfd, file) : -ENOMEM;
	if (export_file->in.error < 0)
		return export_file->in.error == -ENOMEM ? -ENOMEM : 0;
	if (!probe_find(name) && !reader_column(&export_file->in.reader, "TIMESTAMP"))
		return 0; /* of a collector that has ended without a sample, and so without a header */
	res = find_columns(export_file, &walk->x->tables[i], name);
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

/* Logs the damage of FILE, which has been read to its end, and closes it. */
static void close_file(struct walk *walk, struct export_file *file)
{
	const uint64_t counted = rows_counted(walk->x->host, file->in.name);
	char *texts[NOTES_MAX];
	unsigned int n = 0;
	const struct notes notes = { texts, &n, NOTES_MAX };

	scan_note_error(&file->in, &notes);
	if (file->in.error == -EBADMSG && probe_find(file->in.name))
		notes_add(&notes, "%s.out: its header is damaged, or it is not a file of dltraced", file->in.name);
	if (!file->in.error)
		scan_note_header(&file->in, walk->bad_rows[file->index], &notes);
	if (file->in.reader.damaged || file->in.reader.bad || file->in.reader.missing)
		notes_add(&notes, "%s.out: %s damaged or missing", file->in.name,
			  FMT_N(file->in.reader.damaged + file->in.reader.bad + file->in.reader.missing,
				"of its segments is", "of its segments are"));
	if (counted > file->in.reader.rows)
		notes_add(&notes, "%s.out: %s of %s that the manifest counts %s not in the file", file->in.name,
			  FMT_COUNT(counted - file->in.reader.rows), FMT_N(counted, "row", "rows"),
			  counted - file->in.reader.rows == 1 ? "is" : "are");
	for (unsigned int i = 0; i < n; i++) {
		log_err("%s/%s; the rest is exported", walk->x->host->dir, texts[i]);
		free(texts[i]);
	}
	walk->x->damaged |= n > 0;
	walk->bad_rows[file->index] = 0;
	reader_close(&file->in.reader);
}

/* Closes FILE. RES < 0: the export has failed, and rows that it has not come to are no damage. */
static void end_file(struct walk *walk, struct export_file *file, int res)
{
	if (res < 0)
		reader_close(&file->in.reader);
	else
		close_file(walk, file);
}

static void show_status(struct export *export)
{
	char line[128];

	if (clock_now_ns(CLOCK_MONOTONIC) < export->next_status_ns)
		return;
	export->next_status_ns = clock_now_ns(CLOCK_MONOTONIC) + STATUS_NS;
	if (export->rows_counted >= export->rows_read)
		snprintf(line, sizeof(line), "export: %" PRIu64 " %%, %s rows",
			 export->rows_read * 100 / MAX(export->rows_counted, (uint64_t)1),
			 FMT_COUNT(export->rows_read));
	else
		snprintf(line, sizeof(line), "export: %s rows", FMT_COUNT(export->rows_read));
	log_status(line);
}

/* Keeps the rows that have a TIMESTAMP, which goes into NS. Returns how many. */
static unsigned int keep_timed(struct walk *walk, const struct export_file *file, struct reader_row *rows,
			       unsigned int n, uint64_t *ns)
{
	const uint32_t are = reader_column_u64(rows, n, file->at[0], ns), all = (uint32_t)((1ULL << n) - 1);
	unsigned int kept = 0;

	if (are == all)
		return n;
	for (unsigned int i = 0; i < n; i++)
		if (are >> i & 1) {
			ns[kept] = ns[i];
			rows[kept++] = rows[i];
		}
	walk->bad_rows[file->index] += n - kept;
	return kept;
}

/* Keeps the rows in the selected times. Returns how many. */
static unsigned int keep_in_time(const struct walk *walk, const struct export_file *file, struct reader_row *rows,
				 unsigned int n, uint64_t *ns)
{
	unsigned int kept = 0;

	if (!times_cut(&walk->x->times, file->in.name))
		return n;
	for (unsigned int i = 0; i < n; i++)
		if (times_have(&walk->x->times, export_host_index(walk->x), ns[i])) {
			ns[kept] = ns[i];
			rows[kept++] = rows[i];
		}
	return kept;
}

/* Reads rows, with their times in NS. Returns how many are to be exported; 0: there are no more, or reading failed. */
static unsigned int read_rows(struct walk *walk, struct export_file *file, struct reader_row rows[EXPORT_ROWS],
			      uint64_t ns[EXPORT_ROWS])
{
	int n;

	do {
		n = reader_next_rows(&file->in.reader, rows, EXPORT_ROWS);
		if (n <= 0) {
			file->in.error = n;
			return 0;
		}
		walk->x->rows_read += (unsigned int)n;
		if (walk->x->rows_read / 16384 != (walk->x->rows_read - (unsigned int)n) / 16384)
			show_status(walk->x);
		n = (int)cut_rows(&walk->cut, file, rows, (unsigned int)n);
		n = (int)keep_timed(walk, file, rows, (unsigned int)n, ns);
		n = (int)keep_in_time(walk, file, rows, (unsigned int)n, ns);
	} while (!n);
	return (unsigned int)n;
}

static int give(struct walk *w, struct export_file *f, const struct reader_row *rows, unsigned int n)
{
	w->x->rows += n;
	f->rows += n;
	return w->x->format->rows(w->x, f, rows, n);
}

static int walk_file(struct walk *walk, unsigned int i)
{
	struct reader_row rows[EXPORT_ROWS];
	uint64_t ns[EXPORT_ROWS];
	struct export_file f;
	unsigned int n;
	int res = open_file(walk, &f, i);

	if (res > 0) {
		res = 0;
		while (res == 0 && (n = read_rows(walk, &f, rows, ns)))
			res = give(walk, &f, rows, n);
	}
	end_file(walk, &f, res);
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

/* Gives table I the columns of the first host that has the file, and begins it. Returns 1; 0: no host has it; or
 * -errno. */
static int open_table(struct walk *walk, unsigned int i)
{
	const struct exporter *exporter = walk->x->format;
	struct export_file f;
	int res = 0;

	for (unsigned int h = 0; h < walk->x->n_hosts && res == 0; h++) {
		walk->x->host = &walk->x->hosts[h];
		res = open_file(walk, &f, i);
		reader_close(&f.in.reader);
	}
	if (res <= 0 || !exporter->table)
		return res;
	res = exporter->table(walk->x, &walk->x->tables[i]);
	return res < 0 ? res : 1;
}

static int walk_table(struct walk *walk, unsigned int i)
{
	struct export *export = walk->x;
	const int is = open_table(walk, i);
	int res = is < 0 ? is : 0;

	for (unsigned int h = 0; h < export->n_hosts && res == 0; h++) {
		res = begin_host(walk, h);
		if (res == 0)
			res = walk_file(walk, i);
		if (res == 0)
			res = hook(export, export->format->host_end);
	}
	if (res == 0 && is && export->format->table_end)
		res = export->format->table_end(export, &export->tables[i]);
	return res;
}

static int by_file(struct walk *w)
{
	int res = 0;

	for (unsigned int i = 0; i < w->n && res == 0; i++)
		res = walk_table(w, i);
	return res;
}

static int by_host(struct walk *walk)
{
	int res = 0;

	for (unsigned int h = 0; h < walk->x->n_hosts && res == 0; h++) {
		res = begin_host(walk, h);
		for (unsigned int i = 0; i < walk->n && res == 0; i++)
			res = walk_file(walk, i);
		if (res == 0)
			res = hook(walk->x, walk->x->format->host_end);
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

/* Returns the file with the earliest row, and in *NEXT_NS the time of the next row of the others; NULL: all have ended.
 */
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

/* Gives the rows of AHEAD up to NEXT_NS, at least one, to the format. */
static int give_run(struct walk *walk, struct ahead *ahead, uint64_t next_ns)
{
	const unsigned int begin = ahead->at;
	int res;

	do
		ahead->at++;
	while (ahead->at < ahead->n && ahead->ns[ahead->at] <= next_ns);
	res = give(walk, &ahead->f, &ahead->rows[begin], ahead->at - begin);
	if (ahead->at == ahead->n) {
		ahead->n = read_rows(walk, &ahead->f, ahead->rows, ahead->ns);
		ahead->at = 0;
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

static int walk_host(struct walk *walk)
{
	struct ahead **v = calloc(walk->n + 1, sizeof(struct ahead *));
	unsigned int n = 0;
	int res = v ? 0 : -ENOMEM;

	for (unsigned int i = 0; i < walk->n && res == 0; i++) {
		v[n] = calloc(1, sizeof(struct ahead));
		res = v[n] ? open_file(walk, &v[n]->f, i) : -ENOMEM;
		if (res > 0) {
			v[n]->n = read_rows(walk, &v[n]->f, v[n]->rows, v[n]->ns);
			n++;
			res = 0;
		} else if (v[n]) {
			close_file(walk, &v[n]->f);
			free(v[n]);
		}
	}
	if (res == 0)
		res = merge(walk, v, n);
	for (unsigned int i = 0; i < n; i++) {
		end_file(walk, &v[i]->f, res);
		free(v[i]);
	}
	free(v);
	return res;
}

static int by_time(struct walk *walk)
{
	int res = 0;

	for (unsigned int h = 0; h < walk->x->n_hosts && res == 0; h++) {
		res = begin_host(walk, h);
		if (res == 0)
			res = walk_host(walk);
		if (res == 0)
			res = hook(walk->x, walk->x->format->host_end);
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

/* Lists the names of files: first files and pids, to which other rows refer; then other probes; then what else there
 * is. */
static int list_names(struct walk *walk)
{
	unsigned int n_probes;
	int res = 0;

	add_name(walk, "files");
	add_name(walk, "pids");
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		add_name(walk, probes[i]->name);
	n_probes = walk->n;
	for (unsigned int h = 0; h < walk->x->n_hosts && res >= 0; h++)
		res = segment_each_entry(walk->x->hosts[h].dirfd, add_entry, walk);
	qsort(walk->names + n_probes, walk->n - n_probes, sizeof(walk->names[0]), by_name);
	return res < 0 ? res : 0;
}

int export_walk(struct export *export)
{
	static int (*const orders[])(struct walk * walk) = {
		[EXPORT_BY_FILE] = by_file,
		[EXPORT_BY_HOST] = by_host,
		[EXPORT_BY_TIME] = by_time,
	};
	struct walk *w = calloc(1, sizeof(*w));
	int res = w ? cut_init(&w->cut, &export->o->pids, export->o->path) : -ENOMEM;

	if (res == 0) {
		w->x = export;
		res = list_names(w);
	}
	if (res == 0) {
		export->tables = calloc(w->n + 1, sizeof(*export->tables));
		export->n_tables = export->tables ? w->n : 0;
		res = export->tables ? orders[export->format->order](w) : -ENOMEM;
	}
	log_status(NULL);
	for (unsigned int i = 0; i < export->n_tables; i++)
		export_table_free(&export->tables[i]);
	free(export->tables);
	if (w)
		cut_free(&w->cut);
	free(w);
	return res;
}
