/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who did what: which processes train and which load data for them; when the GPUs, or, where that is not known, the
 * trainers, were idle; and what their main threads did, by epoch and in all. What the job waited for is not known by
 * that: report/path has it.
 *
 * There are two passes. The first goes with the rest of the report: it collects the waits of trainers (why_wait()),
 * sums up files and epochs, and keeps what is needed of each call (rows.h). When trainers and loaders are known, the
 * second pass walks the kept calls, merged by time (walk.c). Memory: 32 bytes a wait, WHY_WAITS_MAX of them over all
 * trainers; 4 KiB a loader; 112 bytes a file. All instants are CLOCK_MONOTONIC, all times ns.
 */
#ifndef REPORT_WHY_WHY_H
#define REPORT_WHY_WHY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/gpu/gpus.h"
#include "report/phases/phases.h"
#include "report/why/sleeps.h"
#include "stats/cover.h"
#include "stats/spans.h"
#include "stats/table.h"

#define WHY_TRAINERS_MAX 64
#define WHY_LOADERS_MAX 4096
#define WHY_WAITS_MAX (2U << 20)
#define WHY_EPOCHS_MAX 512
#define WHY_WORK_MAX (1U << 16) /* loaders, once for each epoch */
#define WHY_NOTES_MAX 16
#define WHY_SLOW_FILES 5

/* The state of a process at a time; of several threads, the one whose call ended first counts. */
enum why_state {
	WHY_DISK, /* reads from storage */
	WHY_CACHE, /* reads from the page cache, or from memory */
	WHY_META, /* opens, closes, makes, renames, removes, sizes files */
	WHY_WRITE, /* writes files, waits until they are on the disk */
	WHY_CPU, /* computes: decodes, mostly */
	WHY_RUNQ, /* ready to run, waits for a CPU */
	WHY_QUEUE, /* waits for other processes, mostly to take what it has loaded */
	WHY_OTHER, /* in no call that is traced, and not known to compute */
	WHY_STATES,
};

/* Kinds of calls on files that a job may wait for. */
enum why_kind {
	WHY_READS,
	WHY_WRITES, /* and syncs */
	WHY_OPENS, /* closes, making, renaming, removing, sizing */
	WHY_KINDS,
};

/* All calls of a kind: their time added up, and the time in which any process was in one. */
struct why_kind_sum {
	uint64_t ns, busy_ns;
	struct cover cover;
};

/* The source of a trainer's waits; better ones first. */
enum why_basis {
	WHY_BY_GPU, /* gpu.out: its GPUs were idle */
	WHY_BY_REGIONS, /* regions.out: it fetched its next batch */
	WHY_BY_SUMS, /* sched.out: its main thread did not run */
	WHY_BY_CALLS, /* its main thread's calls on pipes and the like */
	WHY_BY_NOTHING, /* it uses a GPU without numbers, and there is no sched.out */
	WHY_BY_SEVERAL, /* for all trainers together: their sources differ */
	WHY_BASES,
};

extern const char *const why_basis_names[WHY_BASES];

struct why_trainer {
	uint64_t pid;
	uint64_t begin_ns, end_ns; /* of its window, which is the part of the trace that is analyzed */
	enum why_basis basis;
	struct spans calls; /* of its main thread on pipes and the like */
	struct spans waits; /* by scheduling */
	struct step_trainer *steps; /* by regions; NULL: it has no steps with fetches */
	struct spans io; /* with STEPS: calls on files and waits for pages, its own and its loaders' */
	uint64_t own_ns[WHY_STATES]; /* its main thread's calls on files */
	uint64_t outside_ns; /* those outside of its waits that count as such */
	struct spans saves; /* WHY_BY_REGIONS: checkpoints, in its window */
	uint64_t in_saves_ns[WHY_STATES]; /* its main thread's calls in these */
	uint64_t waited_ns; /* by its basis, with calls on files and checkpoints outside of that */
	double fault_ns; /* by fault.out: its main thread, in its window */
	struct sleeps main, threads; /* by sched.out, in its window: its main thread; its other threads together */
	struct sleeps before; /* of its main thread before the window, which begins with its data */

	uint32_t loaders;
	uint32_t n_gpus; /* how many GPUs with numbers it used, and their indexes in GPUS; set with the bases */
	uint8_t gpu[GPUS_MAX];
};

struct why_loader {
	uint64_t pid, begin_ns, end_ns;
	uint32_t trainer, generation; /* generation: loaders that live at the same time */
	uint32_t number; /* in its generation, from 0 */
	/* the last event, for the time between two of them */
	bool last_sent;
	uint64_t last_ns;
	uint64_t samples, bytes;
	double ns[WHY_STATES];
	double fault_ns; /* by fault.out, as for its trainer */
	double shared_ns; /* in calls that make and size files of shared memory */
	struct sleeps main; /* by sched.out */
	struct cover cover;
};

/* Reads and writes of regular files in an epoch, or in all of the trace. */
struct why_epoch {
	char name[PHASE_LABEL_MAX];
	uint32_t phase; /* index among the epochs, PHASES_NONE: all of the trace */
	uint64_t begin_ns, end_ns;
	uint64_t own_ns[WHY_TRAINERS_MAX]; /* each trainer's calls on files outside of its waits */
	uint64_t waited_ns, waitable_ns; /* waits of trainers with known times; the time that these could have waited */
	uint64_t reads, read_bytes, disk_bytes, disk_reads, unaccounted;
	uint64_t samples; /* regular files opened to be read */
	uint64_t size[65]; /* reads that returned: [0] end of file, [i] 2^(i-1) to 2^i - 1 bytes */
	uint64_t sequential, placed; /* reads that began where the last one ended; reads that could have */
	uint64_t again_bytes; /* read a second time */
	uint64_t writes, write_bytes;
	uint64_t rewritten_bytes; /* written a second time */
	struct why_slow_file {
		uint64_t fid, time_ns, bytes, calls;
		char *path;
	} slow[WHY_SLOW_FILES]; /* by time, longest first */
	unsigned int n_slow;
	uint32_t workers;
	uint64_t slow_worker; /* PID */
	uint32_t slow_among; /* the workers that ran at the same time, including it: the median is theirs */
	uint64_t slow_samples; /* that it loaded */
	bool slow_stands_out; /* it loaded samples, and no other worker is nearly as slow */
	double slow_worker_ns, median_worker_ns; /* in calls for a sample */
};

/* A loader's work in an epoch. */
struct why_work {
	uint64_t pid, ns, samples; /* in calls on files */
	uint32_t epoch;
};

/* The sign that the job trains; surer ones last. */
enum why_sight {
	WHY_SEEN_NOT,
	WHY_SEEN_READING, /* it only reads data, as a trainer without loaders does, but other programs too */
	WHY_SEEN_PHASES, /* its log or marks name epochs or training */
	WHY_SEEN_LOADERS, /* children that it forked or spawned read data */
	WHY_SEEN_REGIONS, /* it marks the steps of its training */
	WHY_SEEN_GPU, /* gpu.out has it */
	WHY_SIGHTS,
};

extern const char *const why_sight_names[WHY_SIGHTS]; /* NULL for WHY_SEEN_NOT */

/* Where the last read of a file by one descriptor of a process ended, and where the first began. */
#define WHY_PLACES_BITS 16
struct why_place {
	uint64_t key, next, first, unused;
};
_Static_assert(sizeof(struct why_place) == 32, "two are a cache line");

/* Sums that rules look at, of all of the target. */
struct why_sums {
	uint64_t reads, read_bytes, writes, write_bytes; /* of regular files; without ends of files */
	uint64_t read_files_ns, write_files_ns, open_ns, sync_ns, meta_ns;
	/* Time in the calls that rules count. */
	uint64_t disk_reads_ns, tiny_reads_ns, small_disk_reads_ns, small_writes_ns, jumps_ns, write_jumps_ns,
		sequential_disk_ns;
	uint64_t misaligned_ns, small_shared_ns, opens_failed_ns,
		all_small_writes; /* SMALL_WRITES: not of whole files */
	uint64_t disk_reads, disk_bytes, again_disk_bytes, again_bytes;
	uint64_t tiny_reads, small_disk_reads, small_writes;
	uint64_t placed, sequential, sequential_disk, sequential_small; /* see why_epoch; that fetched */
	uint64_t placed_writes, sequential_writes, rewritten_bytes; /* of writes; bytes written again within an epoch */
	uint64_t shared,
		small_shared; /* reads and writes of files that several processes use in an epoch; the small ones */
	uint64_t misaligned, with_offset, direct, direct_misaligned;
	uint64_t opens, opens_failed, opens_read, syncs;
	uint64_t shared_files[2], shared_bytes[2]; /* of shared memory, sized by ftruncate(2); by fallocate(2) */
	uint64_t stdout_writes, stdout_bytes, stdout_ns, written_bytes; /* FD 1 and 2; of all types */
	uint64_t opens_second, opens_second_ns, opens_peak, opens_peak_ns; /* the busiest second */
};

/* Output for people: no process of the job reads it. */
struct why_output {
	uint64_t fid, writes, bytes, ns;
};
#define WHY_OUTPUTS_MAX 4096

struct why_calls;

/* Time in which threads freed memory themselves: reclaims.h. */
struct why_reclaim_sum {
	uint64_t n, ns, pages;
};

struct why_reclaims {
	bool present; /* reclaim.out is there */
	struct why_reclaim_sum machine, cgroup; /* of all threads of the target */
	uint64_t busy_ns; /* time in which any of them was in one */
	double trainers_ns, loaders_ns; /* in their windows, the processes added up */
	double trainers_life_ns, loaders_life_ns;
};

struct why {
	struct why_trainer trainer[WHY_TRAINERS_MAX];
	uint32_t n_trainers;
	enum why_sight seen; /* less than WHY_SEEN_PHASES: the trainers may not train at all */
	bool has_sums, by_epoch; /* by_epoch: the phases have epochs */
	bool has_faults; /* fault.out has page faults with times, and most of them: none need be inferred */
	bool by_copies, more_trainers; /* trainers are processes with copies; there are more than WHY_TRAINERS_MAX */
	struct gpus *gpus; /* the report's */
	struct why_calls *calls; /* kept for why_walk(), freed after it */
	struct table loaders; /* struct why_loader *, by PID */
	struct why_file *files; /* the first N_FILES of the report's table of files */
	struct why_file_rest *files_rest;
	uint32_t n_files;
	struct why_place *places; /* 2 MiB */
	struct table output; /* struct why_output, by 1 + FID: what was written to FD 1 and 2 */
	int error; /* of the sums by file; 0 or -errno */
	struct table work; /* struct why_work, by epoch and PID */
	struct why_epoch *epoch;
	uint32_t n_epochs, at_epoch;
	struct why_epoch *outside; /* rows in none of them */
	struct why_sums sums;
	struct why_kind_sum kind[WHY_KINDS];
	uint64_t begin_ns, end_ns; /* of the trace */

	struct why_reclaims reclaims;
	struct sleeps others; /* all threads of the job's processes that neither train nor load */

	/* the results, of all trainers together */
	enum why_basis basis; /* of the trainers that have one; WHY_BY_SEVERAL if these differ */
	double window_ns; /* the sum of their windows */
	double waited_ns;
	struct account *accounts; /* of each trainer, then of all loaders; n_accounts of them */
	uint32_t n_accounts;
	struct overlap *overlaps; /* of the trainers' epochs, by their steps; n_overlaps of them */
	uint32_t n_overlaps;
	struct rules *rules;
	char *notes[WHY_NOTES_MAX]; /* what could not be analyzed, a sentence each */
	unsigned int n_notes;
};

/* Whether bytes fetched from disks are known for reads in E; true without any read. */
static inline bool why_knows_disk(const struct why_epoch *e)
{
	return !e->reads || e->unaccounted < e->reads;
}

/* Whether it is known how much T waited. Sums over trainers are of these alone. */
static inline bool why_knows_waits(const struct why_trainer *t)
{
	return t->basis < WHY_BY_NOTHING;
}

/* Whether any trainer's waits are known by BASIS. */
static inline bool why_any_by(const struct why *w, enum why_basis basis)
{
	for (uint32_t i = 0; i < w->n_trainers; i++)
		if (w->trainer[i].basis == basis)
			return true;
	return false;
}

struct account;
struct report;
struct report_file;
struct report_proc;
struct reader_field;

/* --- for pages ------------------------------------------------------------------------------------ */

/* Returns the role of PROC, which may be NULL: trainer, loader, or other; where no trainer was found, by names. */
const char *why_role_name(const struct report *report, const struct report_proc *proc);

#endif
