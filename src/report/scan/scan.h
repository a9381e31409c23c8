/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one engine that reads a trace's files. Each file is opened once, however many readers walk its rows. Rows come in
 * batches with their numbers parsed. Missing or damaged parts of a file are noted here. Does not know what a row means.
 */
#ifndef REPORT_SCAN_SCAN_H
#define REPORT_SCAN_SCAN_H

#include <string.h>

#include "report/scan/clip.h"
#include "report/scan/model.h"
#include "trace/reader.h"
#include "trace/window.h"

/* columns.def: first SCAN_NUMBERS columns of numbers, then the others, which are numbered on. */
enum column {
#define COLUMN(name, head) COL_##name,
#define FIRST_TEXT SCAN_NUMBERS, SCAN_LAST_NUMBER = SCAN_NUMBERS - 1,
#include "report/scan/columns.def"
#undef FIRST_TEXT
#undef COLUMN
	COLUMNS,
};

/* Rows of a batch: the memory that they will need is prefetched for all of them. */
#define SCAN_AHEAD 32

_Static_assert(SCAN_AHEAD <= READER_ROWS_MAX, "the numbers of a column are read at once");

/* The files of a trace folder; a file stays open from its first use to the end. */
#define SCAN_FILES_MAX 48
struct scan_folder {
	int dirfd; /* the caller's */
	struct window window; /* of whose rows are read; all zero: all */
	struct window part; /* of the trace, which is looked at, or which the folder is a cut of; likewise */
	unsigned int n;
	struct scan_file {
		char name[16];
		struct reader reader;
		struct window part; /* to which its rows are clipped; all zero: they are not */
		int error; /* -errno when it could not be opened or read to its end, else 0 */
		uint64_t bad_rows; /* among the rows that the report itself has taken */
		bool begun;
	} file[SCAN_FILES_MAX];
};

struct scan_folder *scan_folder_new(int dirfd); /* NULL: no memory */
void scan_folder_free(struct scan_folder *f);
/* Returns NAME.out, which it opens at first; ERROR is set when that fails. For SCAN_FILES_MAX names at most. */
struct scan_file *scan_file(struct scan_folder *folder, const char *name);

/* A walk through one file. */
struct scan {
	struct report *report; /* takes the rows; NULL: none does */
	struct scan_file *file;
	enum report_kind kind; /* set when there is a report */
	struct report_op *op; /* of this kind */
	struct report_func *func[2]; /* of the row before; for vfs_rw, of the last row of this side */
	struct reader_row ahead[SCAN_AHEAD];
	unsigned int n, row; /* rows in ahead[]; index of the current one */
	uint32_t is_number[SCAN_NUMBERS]; /* a bit for each row of ahead[] */
	uint64_t number[SCAN_NUMBERS][SCAN_AHEAD]; /* 0 where there is none */
	struct scan_clip clip[SCAN_AHEAD]; /* of a file whose rows are clipped */
	uint32_t timed; /* bit I: PID, TID and LAT_NS of ahead[I] are numbers, as in nearly all rows of calls */
	uint32_t plain; /* bit I: the same holds, and all other fields of vfs_rw that may lack a number have one */
	uint8_t at[COLUMNS]; /* index of its field; 0: the file has no such column */
	uint64_t time_ns; /* TIMESTAMP of this row */
	/* TIMESTAMP and TID of the row before: rows of one call share them */
	uint64_t last_ns, last_tid;
	bool last_write;
	uint64_t bad_rows; /* rows with a damaged number */
	/* The rows of ahead[] that were taken: times of the first and last, and which is the earliest. */
	struct scan_taken {
		bool any;
		uint64_t first_ns, last_ns, earliest_ns, latest_ns;
		unsigned int earliest;
	} taken;
	/* files.out: FSTYPE of the row before, and its medium */
	char fstype[32];
	enum report_medium medium;
	/* rollup.out: whether the segment that the row before sums up still exists */
	char segment_of[SEGMENT_BASE_MAX];
	uint64_t segment;
	bool segment_there;
};

static inline struct reader_field scan_field(const struct scan *s, enum column c)
{
	return reader_field(&s->ahead[s->row], s->at[c]);
}

/* Whether the current row has a number in column C, which is below SCAN_NUMBERS. */
static inline bool scan_has_number(const struct scan *s, enum column c)
{
	return s->is_number[c] >> s->row & 1;
}

/* Returns the number in column C in *RET; false, with *RET untouched, when there is none. */
static inline bool scan_u64(const struct scan *s, enum column c, uint64_t *ret)
{
	if (c >= SCAN_NUMBERS)
		return reader_u64(scan_field(s, c), ret);
	if (!scan_has_number(s, c))
		return false;
	*ret = s->number[c][s->row];
	return true;
}

/* Returns the number in column C, 0 when there is none. */
static inline uint64_t scan_number(const struct scan *s, enum column c)
{
	uint64_t v;

	if (c < SCAN_NUMBERS)
		return s->number[c][s->row];
	return reader_u64(scan_field(s, c), &v) ? v : 0;
}

/* Whether some of the current row's time is not in the part that is looked at: its numbers are of the rest. */
bool scan_is_clipped(const struct scan *s);
/* Returns the share of NUMBER that is in the part: of all the current row has, in a column that is no SCAN_NUMBER. */
uint64_t scan_clipped(const struct scan *s, uint64_t number);

/* Returns the address in column C, in hex or 0, in *RET; false, with *RET untouched, for other text. */
bool scan_address(const struct scan *s, enum column c, uint64_t *ret);
/* Returns the number in column C, which may have a fraction, in *RET; false for `-' and other text. */
bool scan_double(const struct scan *s, enum column c, double *ret);

static inline bool scan_is(const struct scan *s, enum column c, const char *value)
{
	return reader_is(scan_field(s, c), value);
}

/*
 * The facts that report/rows.c has parsed from the current row, which is of a call. A function that is not inlined gets
 * a copy: so the compiler knows that writing a sum changes no fact, and need not load them again.
 */
struct report_call_facts {
	uint64_t pid, tid, fid, lat_ns;
	uint64_t bytes; /* moved, or mapped from a file */
	uint64_t disk_bytes;
	struct report_proc *proc;
	struct report_file *file; /* NULL: the row has no FID */
	enum report_type type;
	bool on_file; /* by its type */
	bool running, failed;
	bool rw; /* of vfs_rw: a constant in inlined code, unlike scan.kind. The next two lines are for vfs_rw only */
	bool plain; /* the row's bit of scan.plain, for the same reason */
	bool write, done,
		accounted; /* done: it returned a number of bytes; accounted: the bytes from disks are known */
	/* A further row of the call before (sendfile, io_submit), whose time is counted already; again_side: */
	bool again, again_side; /* for this side (R or W), too */
};

/* Whether the row is a close(2) of a number that no file is open by, as of a program that closes all there may be: that
 * is no work on a file. */
static inline bool scan_is_stray_close(const struct scan *s, const struct report_call_facts *c)
{
	return s->kind == REPORT_CLOSE && c->failed && !c->file;
}

/* Returns the key of a process and a file for tables of pairs; 0 when the numbers are out of range. */
static inline uint64_t report_pair_key(uint64_t pid, uint64_t fid)
{
	return pid >> 24 | fid >> 40 ? 0 : pid << 40 | fid;
}

static inline uint64_t report_pair_pid(uint64_t key)
{
	return key >> 40;
}

static inline uint64_t report_pair_fid(uint64_t key)
{
	return key & ((1ULL << 40) - 1);
}

/* Adds the current row; false when it lacks a number that it must have. */
typedef bool (*report_row_fn)(struct scan *s);
/* Adds the first N rows of ahead[] and updates TAKEN and BAD_ROWS of S. */
typedef void (*report_rows_fn)(struct scan *s, unsigned int n);

/* Calls TAKE for each row; inlined with TAKE for files with many rows. */
static inline __attribute__((always_inline)) void report_each_row(struct scan *scan, unsigned int n, report_row_fn take)
{
	struct scan_taken taken = { .any = false };

	for (scan->row = 0; scan->row < n; scan->row++) {
		const uint64_t time_ns = scan_number(scan, COL_TIMESTAMP);

		scan->time_ns = time_ns;
		if (!time_ns || !take(scan)) {
			scan->bad_rows++;
			continue;
		}
		taken.first_ns = taken.any ? taken.first_ns : time_ns;
		taken.last_ns = time_ns;
		taken.latest_ns = taken.latest_ns > time_ns ? taken.latest_ns : time_ns;
		if (!taken.any || time_ns < taken.earliest_ns) {
			taken.earliest_ns = time_ns;
			taken.earliest = scan->row;
		}
		taken.any = true;
	}
	scan->taken = taken;
}

/* --- walking -------------------------------------------------------------------------------------------- */

/* Sets S to the first row of NAME.out, also after an earlier walk. Returns 0, an error of reader_open(), or -errno. */
int scan_begin(struct scan *s, struct scan_folder *f, const char *name);
/* Reads the next rows and their numbers into ahead[]. Returns how many, 0 at the end, or -errno. */
int scan_rows(struct scan *s);
/* Goes on to the next row. Returns 1, 0 at the end, or -errno. A walk begins with scan_begin(). */
static inline int scan_next(struct scan *scan)
{
	int n = 1;

	if (++scan->row >= scan->n) {
		n = scan_rows(scan);
		scan->row = 0;
	}
	if (n > 0)
		scan->time_ns = scan->number[COL_TIMESTAMP][scan->row];
	return n > 0 ? 1 : n;
}
/* Makes the row at OFFSET of NAME.out, a row that was read before, the current one. Returns 0 or -errno. */
int scan_seek(struct scan *scan, struct scan_folder *folder, const char *name, uint64_t offset);

/* A further reader of a file's rows, one by one, beside the report's sums or in place of them. */
struct scan_taker {
	/* Takes the current row, which has a TIMESTAMP; false when it lacks a number that it must have. */
	bool (*take)(struct scan *s, void *own);
	void *own;
	uint64_t bad_rows;
};

/* Gives the rows of ahead[] to T, which may be NULL. */
void scan_give(struct scan *s, struct scan_taker *t);
/* Gives all rows of NAME.out to TAKER. Returns the file; its ERROR is set when it could not be opened or read to its
 * end. */
struct scan_file *scan_walk(struct scan_folder *folder, const char *name, struct scan_taker *taker);
/* The same of a file that others read and count, too: its rows do not count twice. */
void scan_walk_again(struct scan_folder *folder, const char *name, struct scan_taker *taker);

/* --- what is odd ------------------------------------------------------------------------------------------- */

/* The position of reading among the segments of a file: a batch of rows is of one segment. */
struct scan_place {
	uint64_t ns; /* of the row before */
	uint32_t nr; /* of its segment */
	size_t left_out; /* segments that could not be read, or not to their ends */
};
/* Updates PLACE with the rows just taken, and adds a gap when a segment is missing before them. */
void report_scan_place(const struct scan *scan, struct scan_place *place);
/* Adds a note for each defect of FILE's header and rows; BAD_ROWS of them could not be taken. */
void scan_note_header(const struct scan_file *file, uint64_t bad_rows, const struct notes *to);
/* Adds a note on why F, which the trace should have, could not be read. */
void scan_note_error(const struct scan_file *f, const struct notes *to);

/* Copy a field, cut to fit, into a string. */
void report_copy(char *dst, size_t size, struct reader_field f);
/* Whether FSTYPE is FUSE's: fuse, fuse.sshfs, fuseblk. */
static inline bool report_is_fuse(struct reader_field fstype)
{
	return fstype.len >= 4 && memcmp(fstype.p, "fuse", 4) == 0;
}

#endif
