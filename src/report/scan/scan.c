/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/scan.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/fmt.h"
#include "base/util.h"

static const char *const column_names[COLUMNS] = {
#define COLUMN(name, head) [COL_##name] = (head),
#define FIRST_TEXT
#include "report/scan/columns.def"
#undef FIRST_TEXT
#undef COLUMN
};

void report_copy(char *dst, size_t size, struct reader_field f)
{
	size_t n = MIN(f.len, size - 1);

	memcpy(dst, f.p, n);
	dst[n] = '\0';
}

bool scan_address(const struct scan *s, enum column c, uint64_t *ret)
{
	const struct reader_field f = scan_field(s, c);
	uint64_t v = 0;

	if (reader_is(f, "0")) {
		*ret = 0;
		return true;
	}
	if (f.len < 3 || f.len > 18 || f.p[0] != '0' || f.p[1] != 'x')
		return false;
	for (size_t i = 2; i < f.len; i++) {
		const char c16 = f.p[i];
		int digit;

		if (c16 >= '0' && c16 <= '9')
			digit = c16 - '0';
		else if (c16 >= 'a' && c16 <= 'f')
			digit = c16 - 'a' + 10;
		else
			return false;

		v = v << 4 | (uint64_t)digit;
	}
	*ret = v;
	return true;
}

bool scan_double(const struct scan *s, enum column c, double *ret)
{
	char text[32], *end;

	report_copy(text, sizeof(text), scan_field(s, c));
	*ret = strtod(text, &end);
	return !*end && end > text && isfinite(*ret) && scan_field(s, c).len < sizeof(text);
}

/* --- files ------------------------------------------------------------------------------------------- */

struct scan_folder *scan_folder_new(int dirfd)
{
	struct scan_folder *f = calloc(1, sizeof(*f));

	if (f)
		f->dirfd = dirfd;
	return f;
}

void scan_folder_free(struct scan_folder *f)
{
	for (unsigned int i = 0; f && i < f->n; i++)
		reader_close(&f->file[i].reader);
	free(f);
}

/* Whether rows of NAME.out are sums of the SPAN_NS before their TIMESTAMP. */
static bool is_spread(const char *name)
{
	return strcmp(name, "sched") == 0 || strcmp(name, "vfs_rw_sums") == 0;
}

struct scan_file *scan_file(struct scan_folder *folder, const char *name)
{
	autofree char *file = util_fmt("%s.out", name);
	struct scan_file *x = &folder->file[folder->n];

	for (unsigned int i = 0; i < folder->n; i++)
		if (strcmp(folder->file[i].name, name) == 0)
			return &folder->file[i];
	assert(folder->n < SCAN_FILES_MAX && strlen(name) < sizeof(x->name));
	folder->n++;
	strcpy(x->name, name);
	x->error = file ? reader_open(&x->reader, folder->dirfd, file) : -ENOMEM;
	if (x->error)
		return x;
	window_read(&folder->window, &x->reader);
	if (is_spread(name)) {
		x->part = folder->part;
		x->reader.end_ns = x->reader.end_ns ? UINT64_MAX : 0; /* a later row may have a piece in the part */
	}
	return x;
}

/* --- rows -------------------------------------------------------------------------------------------- */

/* Sets S to NAME.out, before its first row. Returns 0 or the error of opening it. */
static int open_file(struct scan *s, struct scan_folder *f, const char *name)
{
	s->file = scan_file(f, name);
	if (!s->file->reader.n_columns)
		return s->file->error;
	for (unsigned int c = 0; c < COLUMNS; c++)
		s->at[c] = (uint8_t)reader_column(&s->file->reader, column_names[c]);
	s->n = s->row = 0;
	return 0;
}

int scan_begin(struct scan *s, struct scan_folder *f, const char *name)
{
	int res = open_file(s, f, name);

	if (res == 0 && s->file->begun)
		res = reader_rewind(&s->file->reader);
	s->file->begun = true;
	return res;
}

/*
 * Columns whose numbers a kernel cannot get to 2^62, 146 years of ns: a row of which one is larger is damaged or made
 * up. So sums of two never overflow. What a program asks for (REQUESTED, LEN, OFFSET) may be any number.
 */
#define MOST_BITS 62
static const bool is_bounded[SCAN_NUMBERS] = {
	[COL_BLOCKED_NS] = true, [COL_BYTES] = true,    [COL_DISK_BYTES] = true, [COL_DISK_NS] = true,
	[COL_LAT_NS] = true,     [COL_QLAT_NS] = true,  [COL_RETURNED] = true,   [COL_RUNQ_NS] = true,
	[COL_RUN_NS] = true,     [COL_SLEEP_NS] = true, [COL_SPAN_NS] = true,    [COL_TIMESTAMP] = true,
};

/* Returns the bits of those of N numbers that are too large. */
static uint32_t too_large(const uint64_t *number, unsigned int n)
{
	uint64_t all = 0;
	uint32_t bits = 0;

	for (unsigned int i = 0; i < n; i++)
		all |= number[i];
	for (unsigned int i = 0; all >> MOST_BITS && i < n; i++)
		bits |= (uint32_t)(number[i] >> MOST_BITS != 0) << i;
	return bits;
}

/* Parses the numbers of the N rows in ahead[], and finds which rows have them all. */
static void read_numbers(struct scan *scan, unsigned int n)
{
	for (unsigned int c = 0; c < SCAN_NUMBERS; c++) {
		if (!scan->at[c])
			continue;
		scan->is_number[c] = reader_column_u64(scan->ahead, n, scan->at[c], scan->number[c]);
		if (is_bounded[c])
			scan->is_number[c] &= ~too_large(scan->number[c], n);
		for (uint32_t none = ~scan->is_number[c] & (uint32_t)((1ULL << n) - 1); none; none &= none - 1)
			scan->number[c][__builtin_ctz(none)] = 0;
	}
	scan->timed = scan->is_number[COL_PID] & scan->is_number[COL_TID] & scan->is_number[COL_LAT_NS];
	scan->plain = scan->timed & scan->is_number[COL_DISK_BYTES] & scan->is_number[COL_FID] &
		      scan->is_number[COL_OFFSET] & scan->is_number[COL_RETURNED];
}

/* --- pieces of rows ---------------------------------------------------------------------------------- */

static const enum column times[] = { COL_RUN_NS, COL_RUNQ_NS, COL_DISK_NS, COL_BLOCKED_NS, COL_SLEEP_NS };

/* Returns the piece of row ROW. A wait gets its row when it is over, and may have begun long before the interval. */
static struct scan_clip piece_of(const struct scan *s, unsigned int row)
{
	const uint64_t waits_ns =
		s->number[COL_DISK_NS][row] + s->number[COL_BLOCKED_NS][row] + s->number[COL_SLEEP_NS][row];

	return clip_of(&s->file->part, MAX(s->number[COL_SPAN_NS][row], waits_ns), s->number[COL_TIMESTAMP][row]);
}

/* Whether the row has something in the part: time of its sums; of one without a length, its moment. */
static bool has_piece(const struct scan *s, unsigned int row, const struct scan_clip *clip)
{
	const struct window *part = &s->file->part;
	const uint64_t end_ns = s->number[COL_TIMESTAMP][row];
	uint64_t known_ns = 0, ns = 0;

	if (!clip->all_ns)
		return end_ns >= part->begin_ns && end_ns < part->end_ns;
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		known_ns += s->number[times[i]][row];
		ns += clip_share(clip, s->number[times[i]][row]);
	}
	return clip->to_ns > clip->from_ns && (ns || !known_ns);
}

static void clip_numbers(struct scan *s, unsigned int row, const struct scan_clip *clip)
{
	if (clip_is_all(clip))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		s->number[times[i]][row] = clip_share(clip, s->number[times[i]][row]);
	s->number[COL_TIMESTAMP][row] -= clip->all_ns - clip->to_ns;
	s->number[COL_SPAN_NS][row] = MIN(s->number[COL_SPAN_NS][row], clip->to_ns - clip->from_ns);
}

static void move(struct scan *s, unsigned int to, unsigned int from)
{
	s->ahead[to] = s->ahead[from];
	for (unsigned int c = 0; c < SCAN_NUMBERS; c++) {
		const uint32_t is = s->is_number[c] >> from & 1;

		s->number[c][to] = s->number[c][from];
		s->is_number[c] = (s->is_number[c] & ~(1U << to)) | is << to;
	}
}

/* Clips the N rows of ahead[] to the part of their file. Returns how many have a piece in it. */
static unsigned int clip_rows(struct scan *s, unsigned int n)
{
	unsigned int kept = 0;

	for (unsigned int row = 0; row < n; row++) {
		const struct scan_clip clip = piece_of(s, row);

		if (!has_piece(s, row, &clip))
			continue;
		if (row != kept)
			move(s, kept, row);
		s->clip[kept] = clip;
		clip_numbers(s, kept++, &clip);
	}
	return kept;
}

bool scan_is_clipped(const struct scan *s)
{
	return s->file->part.end_ns && !clip_is_all(&s->clip[s->row]);
}

uint64_t scan_clipped(const struct scan *s, uint64_t number)
{
	return scan_is_clipped(s) ? clip_share(&s->clip[s->row], number) : number;
}

/* --- batches ----------------------------------------------------------------------------------------- */

int scan_rows(struct scan *s)
{
	int n;

	do {
		n = reader_next_rows(&s->file->reader, s->ahead, SCAN_AHEAD);
		s->n = n > 0 ? (unsigned int)n : 0;
		if (n > 0)
			read_numbers(s, s->n);
		if (n > 0 && s->file->part.end_ns)
			s->n = clip_rows(s, s->n);
	} while (n > 0 && !s->n);
	return n > 0 ? (int)s->n : n;
}

int scan_seek(struct scan *scan, struct scan_folder *folder, const char *name, uint64_t offset)
{
	int res = open_file(scan, folder, name), n;
	struct reader *reader = &scan->file->reader;
	uint64_t rows, outside;

	if (res == 0)
		res = reader_seek(reader, offset);
	if (res < 0)
		return res;
	scan->file->begun = true;
	rows = reader->rows;
	outside = reader->outside;
	n = reader_next(reader, scan->ahead);
	reader->rows = rows; /* it was counted when it was read in turn */
	reader->outside = outside;
	if (n > 0)
		read_numbers(scan, 1);
	if (n > 0)
		return 0;
	return n < 0 ? n : -ENODATA;
}

void scan_give(struct scan *s, struct scan_taker *t)
{
	for (s->row = 0; t && s->row < s->n; s->row++) {
		s->time_ns = scan_number(s, COL_TIMESTAMP);
		t->bad_rows += !scan_has_number(s, COL_TIMESTAMP) || !t->take(s, t->own);
	}
}

struct scan_file *scan_walk(struct scan_folder *folder, const char *name, struct scan_taker *taker)
{
	struct scan s = { .file = scan_file(folder, name) };

	if (s.file->error)
		return s.file;
	s.file->error = scan_begin(&s, folder, name);
	while (!s.file->error && (s.file->error = scan_rows(&s)) > 0) {
		scan_give(&s, taker);
		s.file->error = 0;
	}
	return s.file;
}

void scan_walk_again(struct scan_folder *folder, const char *name, struct scan_taker *taker)
{
	struct reader *reader = &scan_file(folder, name)->reader;
	const uint64_t rows = reader->rows, outside = reader->outside, bad_rows = reader->bad_rows;

	scan_walk(folder, name, taker);
	reader->rows = rows;
	reader->outside = outside;
	reader->bad_rows = bad_rows;
}

/* --- gaps -------------------------------------------------------------------------------------------- */

/* Rows are missing when a segment between the row before and the rows just taken is missing. */
static void find_gap(const struct scan *scan, struct scan_place *before)
{
	const struct reader *rd = &scan->file->reader;
	const struct scan_place now = {
		.ns = scan->taken.last_ns,
		.nr = rd->segments[MIN(rd->at, rd->n_segments - 1)].file.nr,
		.left_out = rd->gone + rd->bad + rd->damaged,
	};

	if (before->ns && (now.left_out != before->left_out || (now.nr != SEGMENT_LAST && now.nr > before->nr + 1)))
		gaps_add(&scan->report->gaps, GAP_LOST, report_kind_names[scan->kind], before->ns, scan->taken.first_ns,
			 "%s: rows are missing", report_kind_names[scan->kind]);
	*before = now;
}

/* Adds a gap from the trace's begin to the first row if --keep has removed the file's first segments. */
static void find_dropped(const struct scan *s)
{
	const struct report *r = s->report;
	const char *name = report_kind_names[s->kind];
	const struct manifest_probe *p = manifest_probe(&r->manifest, name);

	if (p && report_summed_rows(r, name, p->dropped) && r->manifest.start_ns &&
	    s->taken.first_ns > r->manifest.start_ns)
		gaps_add(&s->report->gaps, GAP_LOST, name, r->manifest.start_ns, s->taken.first_ns,
			 "%s: rows were dropped by --keep", name);
}

void report_scan_place(const struct scan *scan, struct scan_place *place)
{
	const struct scan_taken *taken = &scan->taken;
	struct report *report = scan->report;

	if (!taken->any)
		return;
	if (scan->kind >= REPORT_BIO) {
		if (!place->ns)
			find_dropped(scan);
		find_gap(scan, place);
	}
	if (report->manifest.cut_begin_ns && scan->kind < REPORT_ROLLUP)
		return; /* the rows of the whole trace */
	if (report->first_ns == 0 || taken->earliest_ns < report->first_ns) {
		report->first_ns = taken->earliest_ns;
		report_copy(report->first_time, sizeof(report->first_time),
			    reader_field(&scan->ahead[taken->earliest], scan->at[COL_TIME]));
	}
	report->last_ns = MAX(report->last_ns, taken->latest_ns);
}

/* --- what is odd ------------------------------------------------------------------------------------- */

void scan_note_header(const struct scan_file *file, uint64_t bad_rows, const struct notes *to)
{
	const struct reader *rd = &file->reader;

	if (strcmp(rd->name, file->name) != 0)
		notes_add(to, "%s.out: its header names another file", file->name);
	if (rd->bad_rows + bad_rows)
		notes_add(to, "%s.out: %s left out", file->name,
			  FMT_N(rd->bad_rows + bad_rows, "row could not be read and is",
				"rows could not be read and are"));
	if (rd->cut)
		notes_add(to, "%s.out: the last row is cut off and is left out", file->name);
}

void scan_note_error(const struct scan_file *f, const struct notes *to)
{
	if (f->error == -ENOTSUP)
		notes_add(to,
			  "%s.out is compressed in a format that this dltraced was built without; unpack it first "
			  "(zstd -d --rm, gzip -d)",
			  f->name);
	else if (f->error < 0 && f->error != -ENOENT && f->error != -ENODATA && f->error != -EBADMSG)
		notes_add(to, "%s.out could not be read: %s", f->name, strerror(-f->error));
}
