/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What threads did in the windows of an epoch: in each batch, step, checkpoint, fetch of a batch from a worker. Calls
 * come with the rest of the report's rows; waits, page faults and sums of scheduling are read afterwards. A long wait,
 * a read that waited for storage and an open count as they are; what is left of a window is divided in the proportion
 * of the thread's sums.
 */
#ifndef REPORT_WHATIF_GATHER_H
#define REPORT_WHATIF_GATHER_H

#include "report/scan/scan.h"
#include "report/whatif/epoch.h"
#include "stats/table.h"

#define WHATIF_READS_MAX 20000U

enum whatif_window_kind { WHATIF_BATCH, WHATIF_STEP, WHATIF_SAVE, WHATIF_FETCH };

struct whatif_window {
	struct whatif_span span;
	enum whatif_window_kind kind;
	uint32_t index; /* of the batch, or the step; a fetch has that of its batch */
	uint32_t reads, requests;
	double disk_ns, disk_bytes, remote_ns, net_ns, sleep_ns, runq_ns;
	double sync_ns, written_bytes; /* of steps and checkpoints */
	/* once all rows are there: what is left of it, on a CPU, ready to run, and in short waits */
	double cpu_ns, short_ns;
};

struct whatif_thread {
	uint64_t pid, tid;
	struct whatif_window *windows; /* disjoint, in order */
	uint32_t n;
	double run_ns, runq_ns; /* by sched.out, within the epoch */
};

/* A read that waited for a local disk. */
struct whatif_read {
	struct whatif_span span;
	uint64_t bytes;
	uint32_t reader;
};

struct whatif_gather {
	const struct whatif_epoch *epoch;
	struct whatif_thread *threads; /* the trainer first */
	uint32_t n;
	struct table by_tid, by_pid; /* uint32_t: 1 + index in THREADS */
	struct whatif_read *reads;
	uint32_t n_reads;
	uint64_t reads_left_out;
	double aside_ns; /* that other threads of the workers waited for storage */
	double job_run_ns, trainer_run_ns, others_run_ns, throttled_ns; /* by sched.out, within the epoch */
	bool has_sched, has_waits;
	bool failed; /* memory is out */
};

/* Returns 0 or -ENOMEM; whatif_gather_free() frees it in any case. */
int whatif_gather_begin(struct whatif_gather *gather, const struct whatif_epoch *epoch);
/* Takes the row of a call. */
void whatif_gather_call(struct whatif_gather *gather, const struct scan *scan, const struct report_call_facts *facts);
/* Reads the files that hold no calls, and divides what is left of the windows. */
void whatif_gather_end(struct whatif_gather *gather, struct report *r);
void whatif_gather_free(struct whatif_gather *gather);

#endif
