/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one engine that reads a trace's files: each is opened once, whoever looks at its rows and however often. Rows come
 * some at a time, with their numbers. What is missing or odd about a file is noted here; what a row means is not known.
 */
#ifndef REPORT_SCAN_SCAN_H
#define REPORT_SCAN_SCAN_H

#include "report/scan/model.h"
#include "trace/reader.h"

/*
 * Every column that the report looks at, in whichever file. First those that are
 * numbers in each row of a call or request, or in half of the rows of sched.out.
 */
enum column {
	COL_BLOCKED_NS,
	COL_BYTES,
	COL_DISK_BYTES,
	COL_DISK_NS,
	COL_FD,
	COL_FID,
	COL_LAT_NS,
	COL_LEN,
	COL_OFFSET,
	COL_PID,
	COL_QLAT_NS,
	COL_REQUESTED,
	COL_RETURNED,
	COL_RUNQ_NS,
	COL_RUN_NS,
	COL_SLEEP_NS,
	COL_SPAN_NS,
	COL_TID,
	COL_TIMESTAMP,
	SCAN_NUMBERS,
	COL_ARGS = SCAN_NUMBERS, COL_BOOTTIME_NS, COL_CALL, COL_COMM, COL_COUNT, COL_CPU, COL_DISK, COL_ERROR_NS,
	COL_EVENT, COL_FAILED, COL_FILE, COL_FLAGS, COL_FSTYPE, COL_FUNC, COL_KIND, COL_MAX_LAT_NS, COL_MAX_NS,
	COL_NEXT_COMM, COL_NEXT_PID, COL_NEXT_TID, COL_PATH, COL_PPID, COL_PREEMPTED, COL_PREV_COMM, COL_PREV_PID,
	COL_PREV_STATE, COL_PREV_TID, COL_PROBE, COL_RANK, COL_REALPATH, COL_REALTIME_NS, COL_RET, COL_ROWS, COL_RW,
	COL_SEGMENT, COL_SIZE, COL_STATUS, COL_T, COL_TIME, COL_TYPE, COL_WAIT_NS,
	/* of the collectors' files: */
	COL_PERCENT_GNICE, COL_PERCENT_GUEST, COL_PERCENT_IDLE, COL_PERCENT_IOWAIT, COL_PERCENT_IRQ,
	COL_PERCENT_NICE, COL_PERCENT_SOFT, COL_PERCENT_STEAL, COL_PERCENT_SYS, COL_PERCENT_USR,
	COL_PERCENT_UTIL, COL_AQU_SZ, COL_DEVICE, COL_GPU, COL_GPU_FB, COL_GPU_MEM, COL_GPU_PID, COL_GPU_SM,
	COLUMNS,
};

/* Rows that are taken from the reader at once, so that what they will ask memory for is on its way meanwhile. */
#define SCAN_AHEAD 32

_Static_assert(SCAN_AHEAD <= READER_ROWS_MAX, "the numbers of a column are read at once");

/* The files of a trace folder: open from when they were first asked for to the end. */
#define SCAN_FILES_MAX 24
struct scan_folder {
	int dirfd; /* the caller's */
	unsigned int n;
	struct scan_file {
		char name[16];
		struct reader reader;
		int error; /* why it could not be opened, or not be read to its end: -errno; 0: it could */
		uint64_t bad_rows; /* of those that the report itself has taken */
		bool begun;
	} file[SCAN_FILES_MAX];
};

struct scan_folder *scan_folder_new(int dirfd); /* NULL: no memory */
void scan_folder_free(struct scan_folder *f);
/* NAME.out, opened if it has not been: ERROR says whether it could. Made for no more than SCAN_FILES_MAX names. */
struct scan_file *scan_file(struct scan_folder *f, const char *name);

/* A walk through one file. */
struct scan {
	struct report *report; /* that the rows are added to; NULL: to none */
	struct scan_file *file;
	enum report_kind kind; /* where there is a report */
	struct report_op *op; /* of this kind */
	struct report_func *func[2]; /* of the row before; of vfs_rw: of the last one of this side */
	struct reader_row ahead[SCAN_AHEAD];
	unsigned int n, row; /* how many there are in ahead[]; the present one of these */
	uint32_t is_number[SCAN_NUMBERS]; /* a bit for each of them */
	uint64_t number[SCAN_NUMBERS][SCAN_AHEAD]; /* 0 where there is none */
	uint32_t timed; /* bit I: PID, TID and LAT_NS of ahead[I] are numbers, as in nearly all rows of calls */
	uint32_t plain; /* and so is all else that may be none in a row of vfs_rw */
	uint8_t at[COLUMNS]; /* index of its field; 0: the file has no such column */
	uint64_t time_ns;    /* TIMESTAMP of this row */
	/* TIMESTAMP and TID of the row before: rows of one call share them */
	uint64_t last_ns, last_tid;
	bool last_write;
	uint64_t bad_rows; /* whose numbers are none */
	/* Of the rows of ahead[], those that were taken: when the first and the last were, and which is the earliest. */
	struct scan_taken {
		bool any;
		uint64_t first_ns, last_ns, earliest_ns, latest_ns;
		unsigned int earliest;
	} taken;
	/* files.out: FSTYPE of the row before, and what that is */
	char fstype[32];
	enum report_medium medium;
	/* rollup.out: whether the segment that the row before was made of is there all the same */
	char segment_of[SEGMENT_BASE_MAX];
	uint64_t segment;
	bool segment_there;
};

static inline struct reader_field scan_field(const struct scan *s, enum column c)
{
	return reader_field(&s->ahead[s->row], s->at[c]);
}

/* Whether the present row has a number in column C, one of SCAN_NUMBERS. */
static inline bool scan_has_number(const struct scan *s, enum column c)
{
	return s->is_number[c] >> s->row & 1;
}

/* The number in column C, where it is one; else false and *RET untouched. */
static inline bool scan_u64(const struct scan *s, enum column c, uint64_t *ret)
{
	if (c >= SCAN_NUMBERS)
		return reader_u64(scan_field(s, c), ret);
	if (!scan_has_number(s, c))
		return false;
	*ret = s->number[c][s->row];
	return true;
}

/* The number in column C, 0 where there is none. */
static inline uint64_t scan_number(const struct scan *s, enum column c)
{
	uint64_t v;

	if (c < SCAN_NUMBERS)
		return s->number[c][s->row];
	return reader_u64(scan_field(s, c), &v) ? v : 0;
}

/* The number in column C, which may have a fraction; false for `-' and all else. */
bool scan_double(const struct scan *s, enum column c, double *ret);

static inline bool scan_is(const struct scan *s, enum column c, const char *value)
{
	return reader_is(scan_field(s, c), value);
}

/*
 * What report/rows.c has found out about the present row, which is of a call. Who calls a function that is not compiled
 * into it gives a copy: what nobody else can change need not be read again after each sum that is written.
 */
struct report_call_facts {
	uint64_t pid, tid, fid, lat_ns;
	uint64_t bytes; /* moved, or mapped of a file */
	uint64_t disk_bytes;
	struct report_proc *proc;
	struct report_file *file; /* NULL: the row has no FID */
	enum report_type type;
	bool on_file; /* by its type */
	bool running, failed;
	bool rw; /* of vfs_rw: not asked of scan.kind, so that it is a constant where the row is taken; and of these: */
	bool plain; /* as scan.plain has it, and a constant likewise */
	bool write, done, accounted; /* it has returned a number of bytes; it is known what it fetched from disks */
	/* A further row of the call before (sendfile, io_submit): its time is counted already, */
	bool again, again_side; /* and for this side (R or W) too */
};

/* A key for tables of what one process does with one file; 0 where the numbers are none that can be. */
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

/* Add the present row; false when a number that it must have is none. */
typedef bool (*report_row_fn)(struct scan *s);
/* Add the first N rows of ahead[]; what became of them is in TAKEN, BAD_ROWS and TIMELESS of S. */
typedef void (*report_rows_fn)(struct scan *s, unsigned int n);

/* TAKE each of them, into which this is to be compiled where they are many. */
static inline __attribute__((always_inline)) void report_each_row(struct scan *s, unsigned int n, report_row_fn take)
{
	struct scan_taken taken = { .any = false };

	for (s->row = 0; s->row < n; s->row++) {
		const uint64_t time_ns = scan_number(s, COL_TIMESTAMP);

		s->time_ns = time_ns;
		if (!time_ns || !take(s)) {
			s->bad_rows++;
			continue;
		}
		taken.first_ns = taken.any ? taken.first_ns : time_ns;
		taken.last_ns = time_ns;
		taken.latest_ns = taken.latest_ns > time_ns ? taken.latest_ns : time_ns;
		if (!taken.any || time_ns < taken.earliest_ns) {
			taken.earliest_ns = time_ns;
			taken.earliest = s->row;
		}
		taken.any = true;
	}
	s->taken = taken;
}

/* --- walking -------------------------------------------------------------------------------------------- */

/* S is at the first row of NAME.out, also where it has been walked before. 0; else as reader_open(), or -errno. */
int scan_begin(struct scan *s, struct scan_folder *f, const char *name);
/* The next rows, at least one, and their numbers, into ahead[]: how many; 0 at the end, -errno. */
int scan_rows(struct scan *s);
/* The row after the present one is the present one: 1, 0 at the end, -errno. One walk begins with scan_begin(). */
static inline int scan_next(struct scan *s)
{
	int n = 1;

	if (++s->row >= s->n) {
		n = scan_rows(s);
		s->row = 0;
	}
	if (n > 0)
		s->time_ns = s->number[COL_TIMESTAMP][s->row];
	return n > 0 ? 1 : n;
}
/* The row at OFFSET of NAME.out, where one was read before, is the present one. 0 or -errno. */
int scan_seek(struct scan *s, struct scan_folder *f, const char *name, uint64_t offset);

/* Who takes rows one by one that the report does not add to its sums, or others do besides. */
struct scan_taker {
	/* The present row, which has a TIMESTAMP; false: a number that it must have is none. */
	bool (*take)(struct scan *s, void *own);
	void *own;
	uint64_t bad_rows;
};

/* The rows in ahead[]. T may be NULL. */
void scan_give(struct scan *s, struct scan_taker *t);
/* All rows of NAME.out, where it could be opened; its ERROR says whether it could be read to its end. */
struct scan_file *scan_walk(struct scan_folder *f, const char *name, struct scan_taker *t);

/* --- what is odd ------------------------------------------------------------------------------------------- */

/* Where reading stands among the segments: rows that are read at once are of one. */
struct scan_place {
	uint64_t ns;	  /* of the row before */
	uint32_t nr;	  /* of its segment */
	size_t left_out; /* segments that could not be read, or not to their ends */
};
/* When the rows that were taken were, and whether some are missing between them and PLACE, where those before were. */
void report_scan_place(const struct scan *s, struct scan_place *place);
/* What F's header and its rows say of it, a sentence each; BAD_ROWS that were read could not be taken. */
void scan_note_header(const struct scan_file *f, uint64_t bad_rows, const struct notes *to);
/* Why F could not be read, where it should have been and is one of a trace. */
void scan_note_error(const struct scan_file *f, const struct notes *to);

/* Copy a field, cut to fit, into a string. */
void report_copy(char *dst, size_t size, struct reader_field f);

#endif
