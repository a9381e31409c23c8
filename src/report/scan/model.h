/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums of one trace folder: report.h fills a struct report, and the renderers (text, JSON, the page) only read it.
 * Memory is bounded by the caps below.
 */
#ifndef REPORT_SCAN_MODEL_H
#define REPORT_SCAN_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/notes.h"
#include "report/phases/phases.h"
#include "report/scan/first_data.h"
#include "report/scan/gaps.h"
#include "report/scan/missing.h"
#include "stats/disk_limit.h"
#include "stats/hist.h"
#include "stats/table.h"
#include "stats/timeline.h"
#include "trace/manifest_read.h"
#include "trace/reader.h"

#define REPORT_FILES_MAX (2U << 20) /* ImageNet-1k has 1.3 million; 120 MiB when full */
#define REPORT_PROCS_MAX (1U << 18)
#define REPORT_DISKS_MAX 1024
#define REPORT_SUMS_MAX 32
#define REPORT_TOP 10
#define REPORT_TOP_PROCS 20
#define REPORT_NOTES_MAX 64

/* The files that are read, in the order of reading: names and parentage before what uses them. */
enum report_kind {
	REPORT_FILES,
	REPORT_PIDS,
	REPORT_TIME_ALIGN,
	REPORT_ROLLUP,
	REPORT_BIO,
	REPORT_CLOSE,
	REPORT_CREATE_DEL,
	REPORT_MMAP,
	REPORT_OPEN,
	REPORT_SYNC,
	REPORT_VFS_RW,
	REPORT_KINDS,
};

/* TYPE of files.out. */
enum report_type {
	REPORT_UNKNOWN, /* no FID, or one that files.out lacks */
	REPORT_ANON,
	REPORT_BLK,
	REPORT_CHR,
	REPORT_DIR,
	REPORT_FIFO,
	REPORT_MEMFD,
	REPORT_REG,
	REPORT_SHM,
	REPORT_SOCK,
	REPORT_TYPES,
};

/* Files of these types hold data; on the other types programs wait for each other. */
static inline bool report_is_file(enum report_type type)
{
	return type != REPORT_ANON && type != REPORT_CHR && type != REPORT_FIFO && type != REPORT_SOCK;
}

/* What is behind a regular file. */
enum report_medium { REPORT_DISK, REPORT_NETWORK, REPORT_MEMORY };

/* Where reads of regular files were served from. */
enum report_source {
	REPORT_BUFFERED, /* through the page cache, a disk behind it */
	REPORT_DIRECT, /* O_DIRECT */
	REPORT_REMOTE, /* network file systems */
	REPORT_NO_DISK, /* tmpfs, proc and the like */
	REPORT_NO_TYPE, /* files that files.out does not know */
	REPORT_SOURCES,
};

enum report_t { REPORT_R, REPORT_W, REPORT_D, REPORT_F, REPORT_Z, REPORT_O, REPORT_TS };

/* Rows of one probe, or of one side of it. */
struct report_op {
	uint64_t rows, failed, running, bytes;
	struct hist lat; /* of calls that ended, in ns; its sum is the total time */
	struct hist size; /* bytes: of what was moved, of requests, of mappings of files */
};

void report_op_add(struct report_op *to, const struct report_op *op);

/* Rows of a function, see funcs.h. */
struct report_func {
	char name[32]; /* escaped as in the file */
	size_t len;
	enum report_kind kind;
	bool rw, write; /* of vfs_rw: a side */
	struct report_op op;
};

/* The sums of one .out file in rollup.out: of rows that were dropped or never written. */
struct report_sum {
	char name[32];
	uint64_t rows, failed, bytes, lat_ns, max_lat_ns;
};

struct report_file {
	uint64_t row; /* 1 + offset of its last row in files.out; 0: none */
	uint64_t read_bytes, write_bytes;
	uint64_t calls, time_ns;
	uint64_t size; /* the largest in files.out */
	uint32_t opens, users; /* users: processes that did more than close it */
	uint8_t type, medium;
	uint8_t stream; /* 1 + its class in streams, 0: a file with data */
	bool log, inside; /* a log, by its name; inside --path */
	bool unlisted; /* outside of the folders that the program has named as those of its data */
	bool data; /* by its name neither a program, nor source code, nor a file of the system */
	bool software; /* by its name one of these; set for folders, too */
	bool written_back; /* by a request of bio.out */
};

/* The spreads that a process has of its calls on files. */
enum report_spread {
	REPORT_READ_NS,
	REPORT_READ_BYTES,
	REPORT_WRITE_NS,
	REPORT_WRITE_BYTES,
	REPORT_OPEN_NS,
	REPORT_OTHER_NS,
	REPORT_SPREADS,
};

struct report_proc {
	/* The fields that each call updates come first. */
	uint64_t pid, calls;
	uint64_t reads, writes, read_bytes, write_bytes;
	uint64_t file_ns, wait_ns; /* in calls on files; on pipes, sockets, terminals, devices */
	struct timeline_lane *lane; /* in the timeline; NULL until it is looked up */
	uint64_t data_read, data_written, data_maps; /* bytes of files that are data; how often it mapped such files */
	struct first_data first_data; /* when it began to read data */
	uint64_t stored_read; /* bytes of data read from disks and networks; 0 without WHY */
	uint64_t software_ns, software_calls; /* in opens, reads and closes of programs and packages; likewise */
	struct spread *spread[REPORT_SPREADS]; /* NULL: no such call */
	bool has_spreads; /* as one of REPORT_SPREADS_MAX */
	bool named; /* COMM is from pids.out */
	bool on_gpu; /* gpu.out has it */
	bool forked, execs; /* it began by a fork; it executed a program */
	bool shell, spawned; /* by its arguments: it runs a shell; it is a worker spawned with an exec of the program */
	uint8_t containers; /* how many containers its cgroup is in, one in the other */
	bool aside; /* it runs containers, or is outside of those that were to be traced: the answer is not about it */
	bool interpreter; /* it runs an interpreter, which reads the packages that a program imports */
	uint32_t lives; /* by pids.out; more than one: the PID was reused */
	uint64_t received; /* reads of pipes and sockets that returned data; since copies_from_ns, if it has copies */
	/*
	 * COPIES: children that run its program; BELOW: these and their copies. *_CPU_NS, *_DATA: the largest value of
	 * one.
	 */
	uint64_t copies, copies_from_ns, copies_cpu_ns, below, below_cpu_ns, below_data;
	struct spans *waits; /* takes its main thread's calls on pipes and the like; NULL: not wanted */
	uint64_t ppid;
	uint64_t begin_ns, end_ns; /* of its life, where pids.out has it */
	uint64_t args; /* a hash of them; 0: not known */
	uint64_t user_ns, sys_ns; /* of CPU time, when it ended */
	uint64_t rlimits[DLT_RLIMITS]; /* its limits then, */
	uint8_t rlimits_known; /* which of them it has */
	uint64_t busy_ns; /* by sched.out: its threads ran, could have run, or waited for I/O; 0: not known */
	char comm[64], rank[16];
};

struct report_disk {
	char name[64];
	bool stacked; /* its rows are bios, which go on to the disks below */
	bool memory; /* by its name */
	struct disk_limit limit; /* of its reads and writes */
	uint64_t failed, self_requests, self_bytes;
	struct report_disk_op {
		uint64_t requests, bytes, queue_ns;
		struct hist *lat; /* NULL: no such request */
	} op[REPORT_TS];
};

/* A call (or request) that gets a line of its own; texts are escaped as in the file. */
struct report_call {
	uint64_t lat_ns, offset;
	enum report_kind kind;
	uint64_t pid, tid;
	char time[40], comm[64], func[32];
	char *target; /* path of the file, or the disk */
};

struct report_calls {
	struct report_call call[REPORT_TOP]; /* longest first */
	unsigned int n;
	uint64_t seen; /* how many calls these are the longest of */
};

struct report_top_file {
	uint64_t fid;
	struct report_file sum;
	char *path, fstype[32];
};

/* Of alloc.out, in all: report/memory/allocs.h has the parts. Of several hosts their sums, also of the peaks. */
struct report_alloc {
	bool present;
	struct report_alloc_counts {
		uint64_t peak_bytes, peak_blocks; /* the most that was in use at a time */
		uint64_t blocks, bytes; /* allocated; a realloc is one more block */
		uint64_t short_blocks, short_bytes; /* freed within ALLOCS_SHORT_NS */
		uint64_t left_blocks, left_bytes; /* never freed: in use when their process, or the trace, ended */
		uint64_t frees, cross_frees; /* by another thread than the one that had allocated */
		uint64_t unknown_frees; /* of blocks whose allocation is not in the trace; not in FREES */
		uint64_t failed;
		uint64_t small_calls, small_bytes; /* below the threshold: counted, without rows */
	} n;
	uint64_t min_bytes; /* the threshold */
	uint64_t peak_ns; /* when; 0: not known */
	char peak_time[40], peak_phase[PHASE_LABEL_MAX]; /* UTC; "": in none */
};

struct report_cpu;
struct scan;
struct scan_folder;

struct report {
	char *dir;
	struct manifest_facts manifest;
	bool has_manifest;
	bool present[REPORT_KINDS];
	struct scan_folder *folder; /* its files, while it is loaded; else NULL */
	uint64_t trace_bytes;
	uint64_t rows_missing; /* rows of calls and requests that were lost, or that the manifest counts and no file has
				*/
	struct report_missing missing;
	bool uses_uring; /* files.out has an io_uring */
	bool uses_fuse; /* likewise, files of file systems that processes serve */
	uint64_t first_ns, last_ns; /* TIMESTAMP; 0: no row */
	char first_time[40];

	struct report_sum sums[REPORT_SUMS_MAX];
	unsigned int n_sums;
	struct report_op op[REPORT_KINDS], rw[2]; /* R and W of vfs_rw; calls are added up from FUNCS at the end */
	struct report_func **funcs, other_func[2];
	unsigned int n_funcs;
	uint64_t func_left_out; /* rows without a place in FUNCS */
	struct hist side_lat; /* of calls that read and write (sendfile): the second side's, of the same time */
	struct report_op bio[2]; /* completed R and W of the lowest disks */
	uint64_t no_result, no_result_bytes; /* io_submit: outcome not known; REQUESTED */
	uint64_t map_calls, map_bytes; /* mmap of files */
	uint64_t clock_error_ns, clock_steps, asleep_ns;

	struct timeline *timeline; /* NULL: not asked for */
	const struct report_ends *ends; /* of threads, while the timeline is filled; else NULL */
	struct gpus *gpus; /* of the target; NULL: not asked for */
	struct why *why; /* NULL: not asked for */
	/* Uses of files by processes; pipes, sockets and the like. */
	struct report_uses *uses;
	struct report_streams *streams;
	struct report_peers *peers; /* of sockets */
	struct report_every *every; /* files; NULL: without */
	struct report_datasets *datasets; /* likewise */
	struct report_causes *causes; /* of the disks' work */
	struct report_faults *faults; /* that waited for a disk */
	struct report_cache *cache; /* the page cache by file */
	struct report_meta *meta; /* calls about metadata */
	struct report_syscalls *syscalls; /* all calls, where they were traced */
	struct report_cgroups *cgroups; /* of the job, by samples */
	struct report_failed *failed; /* calls and processes that failed */
	struct report_hang *hang; /* the waits at the end */
	struct report_allocs *allocs; /* memory that programs allocated */
	struct report_accesses *accesses; /* and what they touched of it, and of files */
	struct memory_map *memory; /* both as a picture; NULL: not asked for, or there is nothing to show */
	struct report_alloc alloc;
	struct {
		uint32_t n; /* processes that have spreads */
		uint64_t left_out; /* calls of processes that found no room */
	} spreads;
	struct report_only {
		char *path; /* escaped as in files.out, no slash at its end; NULL: all files */
		uint64_t rows, left_out; /* calls; those on files outside of PATH */
	} only;
	struct phases *phases; /* of the job, known before rows are read; NULL: not asked for */
	struct phase_saves *saves; /* writes that may be of checkpoints; NULL: not asked for */
	struct gaps gaps;
	struct report_path *path; /* where the time went; NULL: not asked for */
	struct report_whatif *whatif; /* what an epoch would take with changes; NULL: not asked for */
	void (*also_fault)(struct report *r, const struct scan *s); /* takes the rows of fault.out, too; NULL: nobody */
	struct report_cpu *cpu; /* NULL: not asked for, or no CPU scheduling in the trace */
	struct table files, procs, disks;
	struct report_file other_file; /* past REPORT_FILES_MAX */
	struct report_proc other_proc;
	struct report_disk other_disk;
	uint64_t unknown_files; /* FIDs that files.out lacks */
	struct report_type_sum {
		uint64_t rows, bytes, time_ns;
	} by_type[REPORT_TYPES][2]; /* of vfs_rw, R and W */
	struct report_brief {
		uint64_t calls, bytes;
	} brief[2]; /* of these, R and W that have no rows: see brief.h */
	struct report_source_sum {
		uint64_t calls, bytes, disk_bytes;
		uint64_t disk_calls; /* calls that made the kernel read from the disk */
		uint64_t unaccounted; /* DISK_BYTES is `-` */
	} source[REPORT_SOURCES];
	/* Reads from files by size: [0] end of file, [i] 2^(i-1) to 2^i - 1 bytes. */
	struct {
		uint64_t calls, bytes;
	} read_size[65];

	/* SLOW, RUNNING: on files. WAITS, RUNNING_WAITS: waiting for others, on pipes, sockets, terminals, devices. */
	struct report_calls slow, waits, running, running_waits;
	struct report_top_file top_bytes[REPORT_TOP], top_time[REPORT_TOP];
	unsigned int n_top_bytes, n_top_time;
	struct report_proc top_procs[REPORT_TOP_PROCS]; /* by time in calls on files */
	unsigned int n_top_procs, n_procs; /* processes with calls */

	char *notes[REPORT_NOTES_MAX]; /* what is missing or odd, a sentence each */
	unsigned int n_notes;

	/*
	 * How often report_fit() has halved the lists of JSON and page so that the page is not too large. A list then
	 * has its first entries, and the number of those left out.
	 */
	unsigned int thin;
};

#define REPORT_THIN_MAX 8

/* Returns how many entries a list may have: MOST, halved as often as the page needs, but at least LEAST. */
static inline uint32_t report_at_most(const struct report *r, uint32_t most, uint32_t least)
{
	return most >> r->thin > least ? most >> r->thin : least;
}

extern const char *const report_kind_names[REPORT_KINDS];
extern const char *const report_type_names[REPORT_TYPES];
extern const char *const report_source_names[REPORT_SOURCES];
extern const char report_t_names[REPORT_TS];

/*
 * Whether M is a probe whose rows this report does not read: its counts are the manifest's. For sched see
 * report/cpu/cpu.h.
 */
bool report_is_by_manifest(const struct manifest_probe *m);
/*
 * Returns how many of N rows of the file NAME, of which only sums remain (--keep), are of the part that
 * is looked at, after rollup.out has been read: a sum, of a minute at most, counts by its last row. Without rollup.out,
 * all N.
 */
uint64_t report_summed_rows(const struct report *r, const char *name, uint64_t n);
/* Whether all of the life of P is in the part that is looked at, so that what it used in its life is of this part. */
bool report_is_of_part(const struct report *r, const struct report_proc *p);
/* Returns the workload's command line, else dltraced's; "" when it is not known. */
const char *report_command(const struct report *r);
/* Returns the UTC time of the start, else of the first row. */
const char *report_started(const struct report *r);
/* Returns the time from start to end, else from the first row to the last. */
uint64_t report_duration_ns(const struct report *r);

static inline struct notes report_notes(struct report *r)
{
	return (struct notes){ r->notes, &r->n_notes, REPORT_NOTES_MAX };
}

/* Add a sentence to the report's notes. */
void report_note(struct report *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds a note about N of WHAT, unless N is 0: ONE or OTHERS, then TEXT. */
void report_note_count(struct report *r, const char *what, uint64_t n, const char *one, const char *others,
		       const char *text);

#endif
