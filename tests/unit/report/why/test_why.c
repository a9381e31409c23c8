/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Verdicts and rules, each in a made-up trace: process 100 trains, 101 and 102 load for it, in steps of a second. One
 * function of a dozen rows has what each does in a step.
 */
#include "report/why/why.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/json.h"
#include "report/report.h"
#include "report/rules/rules.h"
#include "report/scan/model.h"
#include "report/show/show.h"
#include "report/why/account.h"
#include "report/why/overlap.h"
#include "tree.h"

#define S 1000000000ULL
#define MS 1000000ULL
#define BEGIN (1000 * S)
#define STEPS 20
#define ROWS_MAX 40000
#define MiB (1024 * 1024)

/* --- making one ------------------------------------------------------------------------------------- */

enum file {
	PIDS,
	FILES,
	OPEN,
	CLOSE,
	MMAP,
	RW,
	SYNC,
	FAULT,
	SWITCH,
	SCHED,
	GPU,
	GPU_DEV,
	CPU,
	MARKS,
	REGIONS,
	RECLAIM,
	N_FILES
};

static const struct {
	const char *name, *columns;
} kinds[N_FILES] = {
	[PIDS] = { "pids", "PID\tTID\tPPID\tCOMM\tEVENT\tSTATUS\tNSPID\tUID\tCGROUP\tRANK\tARGS" },
	[FILES] = { "files", "FID\tDEV\tINO\tTYPE\tFSTYPE\tSIZE\tSTATE\tREALPATH" },
	[OPEN] = { "open", "PID\tTID\tCOMM\tFUNC\tLAT_NS\tVFS_LAT_NS\tRET\tFLAGS\tMODE\tFID\tFILE\tPATH\tREALPATH" },
	[CLOSE] = { "close", "PID\tTID\tCOMM\tFUNC\tLAT_NS\tRET\tFD\tLAST\tFID\tFILE" },
	[MMAP] = { "mmap",
		   "PID\tTID\tCOMM\tFUNC\tLAT_NS\tRET\tADDR\tLEN\tPROT\tFLAGS\tFD\tOFFSET\tOLD_ADDR\tOLD_LEN\tFID\tFILE" },
	[RW] = { "vfs_rw",
		 "PID\tTID\tCOMM\tRW\tFUNC\tLAT_NS\tREQUESTED\tRETURNED\tOFFSET\tDISK_BYTES\tFD\tFLAGS\tFID\tFILE" },
	[SYNC] = { "sync", "PID\tTID\tCOMM\tFUNC\tLAT_NS\tRET\tFD\tOFFSET\tLEN\tFID\tFILE" },
	[FAULT] = { "fault", "PID\tTID\tCOMM\tFUNC\tKIND\tLAT_NS\tADDR\tIP\tOFFSET\tDISK_BYTES\tFID\tFILE" },
	[SWITCH] = { "sched_switch",
		     "CPU\tPREV_PID\tPREV_TID\tPREV_COMM\tPREV_STATE\tNEXT_PID\tNEXT_TID\tNEXT_COMM\tRUN_NS\tWAIT_NS" },
	[SCHED] = { "sched",
		    "PID\tTID\tCOMM\tKIND\tCPU\tCALL\tSPAN_NS\tCOUNT\tPREEMPTED\tRUN_NS\tRUNQ_NS\tDISK_NS\tBLOCKED_NS\tSLEEP_NS\tMAX_NS" },
	[GPU] = { "gpu", "gpu\tpid\ttype\tsm\tmem\tcommand" },
	[GPU_DEV] = { "gpu_dev", "gpu\tpwr\tsm" },
	[CPU] = { "cpu", "CLOCK\tCPU\t%usr\t%idle" },
	[MARKS] = { "marks", "PID\tTEXT" },
	[RECLAIM] = { "reclaim", "PID\tTID\tCOMM\tKIND\tLAT_NS\tPAGES" },
	[REGIONS] = { "regions", "PID\tTID\tCOMM\tCAT\tNAME\tLAT_NS\tRET\tEPOCH\tSTEP\tBYTES\tLANE\tSOURCE\tARGS" },
};

struct row {
	enum file file;
	uint64_t end_ns;
	unsigned int nr;
	char *text;
};

static struct row rows[ROWS_MAX];
static unsigned int n_rows;

static void __attribute__((format(printf, 3, 4))) put(enum file file, uint64_t end_ns, const char *fmt, ...)
{
	va_list ap;

	assert_true(n_rows < ROWS_MAX);
	va_start(ap, fmt);
	rows[n_rows] = (struct row){ .file = file, .end_ns = end_ns, .nr = n_rows };
	assert_true(vasprintf(&rows[n_rows].text, fmt, ap) > 0);
	va_end(ap);
	n_rows++;
}

static int by_time(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->end_ns != y->end_ns ? (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns) : (int)x->nr - (int)y->nr;
}

/* Writes the rows that were put, and reads them. */
static struct report *loaded_with(bool timed)
{
	struct report *r = NULL;

	qsort(rows, n_rows, sizeof(*rows), by_time);
	for (enum file f = 0; f < N_FILES; f++) {
		autofree char *name = util_fmt("%s.out", kinds[f].name), *path = tree_path(name);
		bool any = f == FILES || f == PIDS;
		FILE *out;

		unlink(path);
		for (unsigned int i = 0; i < n_rows; i++)
			any |= rows[i].file == f;
		if (!any)
			continue;
		out = fopen(path, "w");
		assert_non_null(out);
		fprintf(out, "# dltraced %s 1\nTIMESTAMP\tTIME\t%s\n", kinds[f].name, kinds[f].columns);
		for (unsigned int i = 0; i < n_rows; i++)
			if (rows[i].file == f)
				fprintf(out, "%llu\t2026-11-21T01:02:03.000000000Z\t%s\n",
					(unsigned long long)rows[i].end_ns, rows[i].text);
		fclose(out);
	}
	for (unsigned int i = 0; i < n_rows; i++)
		free(rows[i].text);
	n_rows = 0;
	assert_int_equal(report_load(&r, tree, &(struct report_options){ .timed = timed }), 0);
	assert_non_null(r->why);
	assert_non_null(r->why->rules);
	return r;
}

static struct report *loaded(void)
{
	return loaded_with(false);
}

#define N(v) ((unsigned long long)(v))

static void put_file(unsigned int fid, const char *type, const char *fstype, uint64_t size, const char *path)
{
	put(FILES, BEGIN, "%u\t259:2\t%u\t%s\t%s\t%llu\tok\t%s", fid, fid, type, fstype, N(size), path);
}

/* A call on a file that ended at END; DISK: the bytes that it fetched. */
static void put_rw(unsigned int pid, uint64_t end, uint64_t lat, char rw, uint64_t bytes, uint64_t offset,
		   uint64_t disk, unsigned int fid)
{
	put(RW, end, "%u\t%u\tx\t%c\t%s\t%llu\t%llu\t%llu\t%llu\t%llu\t5\t-\t%u\tf", pid, pid, rw,
	    rw == 'R' ? "read" : "write", N(lat), N(bytes), N(bytes), N(offset), N(disk), fid);
}

static void put_pipe(unsigned int pid, uint64_t end, uint64_t lat, char rw)
{
	put(RW, end, "%u\t%u\tx\t%c\t%s\t%llu\t8\t8\t-\t0\t9\t-\t%u\tpipe:[1]", pid, pid, rw,
	    rw == 'R' ? "read" : "write", N(lat), 1);
}

static void put_open(unsigned int pid, uint64_t end, uint64_t lat, unsigned int fid)
{
	put(OPEN, end, "%u\t%u\tx\topenat\t%llu\t-\t5\tRDONLY|CLOEXEC\t-\t%u\tf\tf\t/data/f", pid, pid, N(lat), fid);
}

/* USER_NS: the CPU time of each loader at its end; TRAINER_NS: the trainer's, 0: it has not ended. */
static void put_job_of(uint64_t user_ns, uint64_t trainer_ns)
{
	const uint64_t end = BEGIN + STEPS * S;

	put(PIDS, BEGIN, "100\t100\t1\tpython\texec\t-\t100\t0\t/\t-\tpython\\000train.py");
	for (unsigned int pid = 101; pid <= 102; pid++) {
		put(PIDS, BEGIN + 1, "%u\t%u\t100\tpython\tfork\t-\t%u\t0\t/\t-\t-", pid, pid, pid);
		put(PIDS, BEGIN + 2, "%u\t%u\t100\tpt_data_worker\trename\t-\t%u\t0\t/\t-\tpython", pid, pid, pid);
		put(PIDS, end, "%u\t%u\t100\tpt_data_worker\texit\t0\t%u\t0\t/\t-\tutime=%llu\\040stime=0\\040maxrss=1",
		    pid, pid, pid, N(user_ns));
	}
	if (trainer_ns)
		put(PIDS, end, "100\t100\t1\tpython\texit\t0\t100\t0\t/\t-\tutime=%llu\\040stime=0\\040maxrss=1",
		    N(trainer_ns));
	put_file(1, "fifo", "pipefs", 0, "pipe:[1]");
	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	put_file(3, "reg", "ext4", 64 * MiB, "/out/ckpt.pt");
}

/* The job of a trainer that computes. */
static void put_job(uint64_t user_ns)
{
	put_job_of(user_ns, 19900 * MS);
}

/* One process named COMM that uses USER of CPU time, without other rows. */
static void put_alone(const char *comm, uint64_t user)
{
	put(PIDS, BEGIN, "100\t100\t1\t%s\texec\t-\t100\t0\t/\t-\t%s", comm, comm);
	put(PIDS, BEGIN + STEPS * S, "100\t100\t1\t%s\texit\t0\t100\t0\t/\t-\tutime=%llu\\040stime=0", comm, N(user));
	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	put_file(3, "reg", "ext4", 64 * MiB, "/copy/shard.tar");
	put_file(4, "reg", "ext4", 64 * MiB, "/home/x/main.c");
	put_file(5, "dir", "ext4", 64 * MiB, "/data");
}

static uint64_t step(unsigned int i)
{
	return BEGIN + i * S;
}

/* The trainer waits for WAIT at the begin of each second. */
static void put_waits(uint64_t wait)
{
	for (unsigned int i = 0; i < STEPS; i++)
		put_pipe(100, step(i) + wait, wait, 'R');
}

/* The loader gets work without waiting, and hands over at AT of the step. */
static void put_work(unsigned int pid, unsigned int i, uint64_t at)
{
	put_pipe(pid, step(i) + 10, 5, 'R');
	put_pipe(pid, step(i) + at, 5, 'W');
	put_pipe(pid, step(i) + S - 10, S - 10 - at, 'R');
}

/* SWITCH rows: the thread comes and leaves at these times, after a wait of WAIT. */
static void put_run(unsigned int pid, uint64_t comes, uint64_t leaves, uint64_t wait)
{
	put(SWITCH, comes, "0\t0\t0\tidle\tR\t%u\t%u\tx\t-\t%llu", pid, pid, N(wait));
	put(SWITCH, leaves, "0\t%u\t%u\tx\tS\t0\t0\tidle\t%llu\t-", pid, pid, N(leaves - comes));
}

/* PID's main thread in step I: RUN on a CPU, RUNQ waiting for one. */
static void put_ran(unsigned int pid, unsigned int i, uint64_t run, uint64_t runq)
{
	put(SCHED, step(i) + S, "%u\t%u\tx\ttarget\t0\t-\t%llu\t9\t0\t%llu\t%llu\t-\t-\t-\t-", pid, pid, N(S), N(run),
	    N(runq));
}

/* PID's thread TID, in CALL: waits for a disk, and other waits. */
static void put_slept(unsigned int pid, unsigned int tid, unsigned int i, const char *call, uint64_t disk,
		      uint64_t sleep)
{
	put(SCHED, step(i) + S, "%u\t%u\tx\ttarget\t-\t%s\t%llu\t9\t-\t-\t-\t%llu\t0\t%llu\t%llu", pid, tid, call, N(S),
	    N(disk), N(sleep), N(S));
}

/* Returns the finding, a problem or a fact: most jobs here last long, with few calls. */
static const struct finding *found(const struct report *r, const char *code)
{
	for (unsigned int i = 0; i < r->why->rules->n + r->why->rules->n_facts; i++)
		if (strcmp(r->why->rules->found[i].rule->code, code) == 0)
			return &r->why->rules->found[i];
	return NULL;
}

static const struct finding *is_bottleneck(const struct report *r, const char *code)
{
	const struct finding *b = &r->why->rules->bottleneck;

	assert_string_equal(b->rule->code, code);
	assert_null(found(r, code));
	assert_true(b->n > 0);
	return b;
}

static char *sentence_of(const struct report *r)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	why_sentence(r, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void *why_find(const struct report *r, unsigned int pid)
{
	return table_find(&r->why->loaders, pid);
}

static const struct why_trainer *why_trainer_of(const struct report *r, unsigned int pid)
{
	for (uint32_t i = 0; i < r->why->n_trainers; i++)
		if (r->why->trainer[i].pid == pid)
			return &r->why->trainer[i];
	fail_msg("%u does not train", pid);
	return NULL;
}

static void expect_near(double got, double want)
{
	if (!(fabs(got - want) <= 0.001))
		fail_msg("%.6f and not %.6f", got, want);
}

/* Returns PART of each step relative to the time since the first read, FROM after the trace's begin. */
static double since(uint64_t from, double part)
{
	return part * STEPS * S / (double)(STEPS * S - from);
}

/* --- verdicts ------------------------------------------------------------------------------------------ */

static void reads_from_storage(void **state)
{
	const struct finding *b;
	struct report *r;

	put_job(0);
	put_waits(800 * MS);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_rw(pid, step(i) + 700 * MS, 690 * MS, 'R', MiB, i * MiB, MiB, 2);
			put_work(pid, i, 800 * MS);
		}
	r = loaded();
	b = is_bottleneck(r, "storage-read");
	assert_int_equal(r->why->n_trainers, 1);
	assert_int_equal(r->why->loaders.n, 2);
	assert_int_equal(r->why->basis, WHY_BY_CALLS);
	expect_near(r->why->waited_ns / r->why->window_ns, 0.8);
	/* 690 of 800 ms of the waits */
	expect_near(b->measure, 0.69);
	assert_non_null(strstr(b->evidence[4], "/data/shard.tar"));
	report_free(r);
}

/* Thread TID of PID frees 32 pages. */
static void put_reclaim(unsigned int pid, unsigned int tid, uint64_t end, uint64_t lat, const char *kind)
{
	put(RECLAIM, end, "%u\t%u\tx\t%s\t%llu\t32", pid, tid, kind, N(lat));
}

static bool shows(const struct finding *f, const char *text)
{
	for (unsigned int i = 0; i < f->n; i++)
		if (strstr(f->evidence[i], text))
			return true;
	return false;
}

/* Both loaders read for 690 ms of each step; of these, each frees memory for LAT, with two threads at the same time. */
static struct report *loaders_that_reclaim(uint64_t lat)
{
	put_job(0);
	put_waits(800 * MS);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_rw(pid, step(i) + 700 * MS, 690 * MS, 'R', MiB, i * MiB, MiB, 2);
			put_work(pid, i, 800 * MS);
			put_reclaim(pid, pid, step(i) + 600 * MS, lat, "cgroup");
			put_reclaim(pid, 10 * pid, step(i) + 600 * MS, lat, "cgroup");
		}
	put_reclaim(100, 100, step(1) + 900 * MS, 10 * MS, "machine");
	put_reclaim(7, 7, step(2), S / 2, "machine"); /* another process of the job */
	return loaded();
}

static void loaders_that_free_memory_are_short_of_it(void **state)
{
	struct report *r = loaders_that_reclaim(200 * MS);
	const struct finding *f = found(r, "reclaim");

	assert_non_null(f);
	expect_near(f->measure, 0.2);
	/* the trainer's own 10 ms, and a fifth of the waits for the loaders */
	expect_near(f->size.share, 0.01 / STEPS + 0.2 * 0.8);
	assert_true(
		shows(f, "main processes freed memory themselves in 0.1 % of their time, loaders in 20.0 % of theirs"));
	assert_true(shows(
		f,
		"at a cgroup's limit of memory (KIND cgroup): 80 times, 200 ms each, 16.0 s in all, 2560 pages freed"));
	assert_true(shows(f, "as the machine had too little free memory (KIND machine): 2 times"));
	assert_true(shows(is_bottleneck(r, "storage-read"),
			  "memory was short: the main processes freed some in 0.1 % of their time, "
			  "loaders in 20.0 % of theirs"));
	report_free(r);
}

static void loaders_that_free_little_are_not_short_of_it(void **state)
{
	struct report *r = loaders_that_reclaim(40 * MS);

	assert_null(found(r, "reclaim"));
	assert_false(shows(is_bottleneck(r, "storage-read"), "memory was short"));
	report_free(r);
}

static void time_in_no_call_is_the_cpu_by_the_time_used(void **state)
{
	struct report *r;

	put_job(STEPS * 700 * MS);
	put_waits(800 * MS);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_rw(pid, step(i) + 100 * MS, 90 * MS, 'R', MiB, i * MiB, 0, 2);
			put_work(pid, i, 800 * MS);
		}
	r = loaded();
	/* all of the 800 ms but some ns: 90 from the page cache, 710 in no call, with 700 of CPU time */
	expect_near(is_bottleneck(r, "decode-cpu")->measure, 0.09 + 0.71 * 700 / 710);
	report_free(r);
}

static void opens_take_longest(void **state)
{
	struct report *r;

	put_job(0);
	put_waits(500 * MS);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_open(pid, step(i) + 400 * MS, 390 * MS, 2);
			put_work(pid, i, 500 * MS);
		}
	r = loaded();
	expect_near(is_bottleneck(r, "open-metadata")->measure, 0.39);
	report_free(r);
}

static void the_trainer_writes_a_checkpoint(void **state)
{
	struct report *r;

	put_job(0);
	put_waits(20 * MS);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_rw(100, step(i) + 300 * MS, 250 * MS, 'W', MiB, i * MiB, 0, 3);
		put(SYNC, step(i) + 600 * MS, "100\t100\tx\tfsync\t%llu\t0\t5\t-\t-\t3\tckpt.pt", N(300 * MS));
		put_work(101, i, 20 * MS);
		put_work(102, i, 20 * MS);
	}
	r = loaded();
	expect_near(is_bottleneck(r, "checkpoint-write")->measure, 0.55);
	expect_near(found(r, "checkpoint-blocks")->measure, 0.55);
	assert_non_null(found(r, "sync-often"));
	report_free(r);
}

/* A call of LAT that gives a loader's file of shared memory its size. */
static void put_sized(unsigned int pid, uint64_t end, const char *func, uint64_t lat)
{
	put(SYNC, end, "%u\t%u\tx\t%s\t%llu\t0\t11\t0\t%u\t8\ttorch_101_1_0", pid, pid, func, N(lat), MiB);
}

/* As loaders of PyTorch 2 do: 300 ms of each second to make room for a batch, which the trainer waits for. */
static struct report *batches_in_shared_memory(bool scheduled)
{
	put_job(0);
	put_file(8, "shm", "tmpfs", 0, "/dev/shm/torch_101_1_0");
	put_waits(500 * MS);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put(OPEN, step(i) + 100 * MS,
			    "%u\t%u\tx\topenat\t1000\t-\t11\tRDWR|CREAT|EXCL\t-\t8\tf\tf\t/dev/shm/f", pid, pid);
			put_sized(pid, step(i) + 101 * MS, "ftruncate", 1000);
			put_sized(pid, step(i) + 420 * MS, "fallocate", 300 * MS);
			put(CLOSE, step(i) + 450 * MS, "%u\t%u\tx\tclose\t1000\t0\t11\t1\t8\tf", pid, pid);
			put_work(pid, i, 500 * MS);
			if (scheduled)
				put_ran(pid, i, 200 * MS, 290 * MS);
		}
	for (unsigned int i = 0; scheduled && i < STEPS; i++) {
		put_ran(100, i, 490 * MS, 0);
		put_slept(100, 100, i, "read", 0, 500 * MS);
	}
	return loaded_with(true);
}

static void batches_in_shared_memory_are_no_syncs(void **state)
{
	struct report *r = batches_in_shared_memory(false);
	const struct finding *f = found(r, "batch-copies");
	uint64_t syncs = 0;

	assert_null(found(r, "sync-often"));
	assert_null(found(r, "metadata-time")); /* nor are its opens those of samples */
	assert_int_equal(r->why->sums.syncs, 0);
	assert_int_equal(r->why->sums.opens, 0);
	expect_near(r->why->blame_ns[WHY_WRITE], 0);
	for (unsigned int i = 0; i < TIMELINE_BINS; i++)
		syncs += r->timeline->sum[TIMELINE_SYNCS][i];
	assert_int_equal(syncs, 0);
	assert_non_null(f);
	expect_near(f->measure, 0.3);
	assert_true(shows(
		f,
		"40 files in /dev/shm with 40.0 MiB in all; making, sizing and closing them took loaders 12.0 s, 30.0 % of their time"));
	/* both loaders spent 300 of the 490 ms in which the trainer waited for them */
	expect_near(f->size.share, 0.3);
	report_free(r);
}

/* A call lasts while its thread waits for a CPU: the scheduler knows how much of it was work. */
static void sizing_shared_memory_is_work_and_waits_for_a_cpu(void **state)
{
	struct report *r = batches_in_shared_memory(true);

	assert_true(r->why->blame_ns[WHY_RUNQ] > r->why->blame_ns[WHY_CPU]);
	expect_near(r->why->blame_ns[WHY_WRITE], 0);
	assert_non_null(found(r, "batch-copies"));
	report_free(r);
}

/* Setting a file's size waits for no disk; the sync after it does. */
static void truncations_are_no_syncs(void **state)
{
	struct report *r;

	put_alone("python3", S);
	for (unsigned int i = 0; i < STEPS; i++) {
		put(SYNC, step(i) + 200 * MS, "100\t100\tx\tftruncate\t%llu\t0\t5\t-\t0\t3\tckpt.pt", N(100 * MS));
		put(SYNC, step(i) + 400 * MS, "100\t100\tx\tio_uring:fallocate\t%llu\t0\t5\t-\t0\t3\tckpt.pt",
		    N(100 * MS));
		put(SYNC, step(i) + 500 * MS, "100\t100\tx\tio_uring:fsync\t%llu\t0\t5\t-\t-\t3\tckpt.pt", N(MS));
	}
	r = loaded();
	assert_int_equal(r->why->sums.syncs, STEPS);
	assert_int_equal(r->why->sums.sync_ns, STEPS * MS);
	assert_int_equal(r->why->sums.meta_ns, STEPS * 200 * MS);
	assert_null(found(r, "sync-often"));
	report_free(r);
}

static void one_loader_is_late_and_the_other_waits(void **state)
{
	struct report *r;

	put_job(0);
	put_waits(900 * MS);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_rw(101, step(i) + 890 * MS, 880 * MS, 'R', MiB, i * MiB, MiB, 2);
		put_work(101, i, 900 * MS);
		put_work(102, i, 50 * MS);
	}
	r = loaded();
	/* busy for 900 and 50 of 900 ms */
	expect_near(is_bottleneck(r, "straggler-worker")->measure, 0.85);
	assert_int_equal(r->why->straggler->pid, 101);
	report_free(r);
}

/* --- several loaders: when none of them has work ---------------------------------------------------------------------
 */

/* The loader reads from FROM to TO of the step, and hands over. It waits before and after that. */
static void put_read(unsigned int pid, unsigned int i, uint64_t from, uint64_t to)
{
	put_pipe(pid, step(i) + from - 10, from - 20, 'R');
	put_rw(pid, step(i) + to, to - from, 'R', MiB, i * MiB, MiB, 2);
	put_pipe(pid, step(i) + to + 10, 5, 'W');
	put_pipe(pid, step(i) + S - 10, S - 30 - to, 'R');
}

/* Both loaders read in each step, each from its FROM to its TO. */
static void put_both_read(uint64_t from1, uint64_t to1, uint64_t from2, uint64_t to2)
{
	for (unsigned int i = 0; i < STEPS; i++) {
		put_read(101, i, from1, to1);
		put_read(102, i, from2, to2);
	}
}

/* In a step of 1000 ms the loaders read in turn, for 450 ms each, and sleep for the rest of it. */
static void put_reads_in_turn(unsigned int i)
{
	for (unsigned int k = 0; k < 2; k++) {
		put_rw(101 + k, step(i) + (k + 1) * 450 * MS, 450 * MS, 'R', MiB, i * MiB, MiB, 2);
		put_slept(101 + k, 101 + k, i, "futex", 0, 550 * MS);
	}
}

/* The loader is a child of the trainer PARENT, from BORN to ENDS. */
static void put_loader(unsigned int pid, unsigned int parent, uint64_t born, uint64_t ends)
{
	put(PIDS, born, "%u\t%u\t%u\tpt_data_worker\tfork\t-\t%u\t0\t/\t-\t-", pid, pid, parent, pid);
	put(PIDS, ends, "%u\t%u\t%u\tpt_data_worker\texit\t0\t%u\t0\t/\t-\tutime=0\\040stime=0", pid, pid, parent, pid);
}

static double share_ready(const struct report *r)
{
	return r->why->blame_ns[WHY_QUEUE] / r->why->window_ns;
}

/* Expects STORAGE of the time for storage, READY for loaders that are ready, and nothing for a late one. */
static void expect_waits(const struct report *r, double storage, double ready)
{
	expect_near(r->why->blame_ns[WHY_DISK] / r->why->window_ns, storage);
	expect_near(share_ready(r), ready);
	expect_near(r->why->straggler_ns, 0);
}

/*
 * The trainer takes batches in order, and waits for 900 ms of each second: now for one loader, now for the other, while
 * the batch of the other one is ready. Each is busy for half of the waits, but one of them is at any time.
 */
static void loaders_that_are_late_in_turn_are_never_ready(void **state)
{
	struct report *r;

	put_job(0);
	put_waits(900 * MS);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_read(101 + i % 2, i, MS, 900 * MS);
		put_work(102 - i % 2, i, 30);
	}
	r = loaded();
	is_bottleneck(r, "storage-read");
	expect_waits(r, 0.899, 0.001);
	report_free(r);
}

/* One reads from 1 to 400 ms, and the other from 300 to 700: in the last 200 of 900 ms neither does. */
static void loaders_are_ready_when_none_is_busy(void **state)
{
	struct report *r;

	put_job(0);
	put_waits(900 * MS);
	put_both_read(MS, 400 * MS, 300 * MS, 700 * MS);
	r = loaded();
	is_bottleneck(r, "storage-read");
	expect_waits(r, 0.699, 0.201);
	report_free(r);
}

/* Both read at one time: for 200 of 900 ms. */
static void loaders_that_read_at_one_time_are_ready_at_one_time(void **state)
{
	const struct finding *b;
	struct report *r;

	put_job(0);
	put_waits(900 * MS);
	put_both_read(300 * MS, 500 * MS, 300 * MS, 500 * MS);
	r = loaded();
	b = is_bottleneck(r, "trainer-bound");
	expect_waits(r, 0.2, 0.7);
	expect_near(b->share, 0.8);
	report_free(r);
}

/* What a loader reads while nobody waits does not count: they read in the last 100 of the 400 ms, and go on. */
static void loaders_that_read_ahead_are_ready(void **state)
{
	struct report *r;

	put_job(0);
	put_waits(400 * MS);
	put_both_read(300 * MS, 900 * MS, 450 * MS, 900 * MS);
	r = loaded();
	expect_near(share_ready(r), 0.3);
	report_free(r);
}

/*
 * They wait in futex(2), which has no row: sched.out has how long they slept, but not when. They did not while they
 * read. In the other 100 of 1000 ms nobody did.
 */
static void loaders_that_read_in_turn_do_not_sleep_at_one_time(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_slept(100, 100, i, "poll", 0, S);
		put_reads_in_turn(i);
	}
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_SUMS);
	is_bottleneck(r, "storage-read");
	expect_waits(r, 0.9, 0.1);
	report_free(r);
}

/* By switches: they compute in turn, for 350 ms each of the 710 in which the trainer waits. */
static void loaders_that_compute_in_turn_are_never_ready(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_run(100, step(i) + 700 * MS, step(i) + 990 * MS, 0);
		for (unsigned int pid = 101; pid <= 102; pid++) {
			const uint64_t from = pid == 101 ? 2 * MS : 350 * MS, to = from + 348 * MS;

			put_pipe(pid, step(i) + from - MS, from - MS - 10, 'R');
			put_run(pid, step(i) + from, step(i) + to, 0);
			put_pipe(pid, step(i) + S - 10, S - 10 - to, 'R');
		}
	}
	for (unsigned int pid = 101; pid <= 102; pid++)
		put_rw(pid, step(0) + 100, 10, 'R', MiB, 0, 0, 2);
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_SWITCHES);
	is_bottleneck(r, "decode-cpu");
	expect_near(share_ready(r), 0.71 - 2 * 0.348);
	report_free(r);
}

/* Each epoch has loaders of its own: what is known of one says nothing about the other. */
static void each_generation_is_ready_by_itself(void **state)
{
	const uint64_t half = BEGIN + STEPS / 2 * S;
	struct report *r;

	put(PIDS, BEGIN, "100\t100\t1\tpython\texec\t-\t100\t0\t/\t-\tpython\\000train.py");
	for (unsigned int pid = 101; pid <= 104; pid++)
		put_loader(pid, 100, (pid < 103 ? BEGIN : half) + 1, pid < 103 ? half : BEGIN + STEPS * S);
	put(PIDS, BEGIN + STEPS * S, "100\t100\t1\tpython\texit\t0\t100\t0\t/\t-\tutime=0\\040stime=0");
	put_file(1, "fifo", "pipefs", 0, "pipe:[1]");
	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	put_waits(900 * MS);
	for (unsigned int i = 0; i < STEPS; i++) {
		const unsigned int first = i < STEPS / 2 ? 101 : 103;

		/* the first two read in turn for all of the wait, the next two together for a third of it */
		if (first == 101) {
			put_read(101 + i % 2, i, MS, 900 * MS);
			put_work(102 - i % 2, i, 30);
		} else {
			put_read(103, i, MS, 300 * MS);
			put_read(104, i, MS, 300 * MS);
		}
	}
	r = loaded();
	assert_int_equal(r->why->loaders.n, 4);
	expect_waits(r, (0.899 + 0.299) / 2, (0.001 + 0.601) / 2);
	report_free(r);
}

/*
 * Of the waits by sched.out half are for the trainer's own threads: in these, as far as is known, a loader that reads
 * does so ahead. The busiest loader slept for 550 ms of a second, and all together for 100.
 */
static void waits_for_own_threads_are_for_no_loader(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_slept(100, 100, i, "poll", 0, 500 * MS);
		put_slept(100, 100, i, "futex", 0, 500 * MS);
		put(SCHED, step(i) + S, "100\t110\tx\ttarget\t0\t-\t%llu\t9\t0\t%llu\t0\t-\t-\t-\t-", N(S),
		    N(500 * MS));
		put_reads_in_turn(i);
	}
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_SUMS);
	expect_near(share_ready(r), (0.55 + 0.1) / 2);
	report_free(r);
}

/* A GPU that is idle without any wait of its process: loaders that work ahead, in turn, are ready as long as each one
 * is. */
static void a_gpu_may_be_idle_while_loaders_work_ahead(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i <= STEPS; i++)
		put(GPU, step(i), "0\t100\tC\t25\t10\tpython");
	put_both_read(MS, 400 * MS, 400 * MS, 800 * MS);
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_GPU);
	expect_near(share_ready(r), 0.75 * 0.6);
	is_bottleneck(r, "trainer-bound");
	report_free(r);
}

/*
 * With 64 trainers there is room for 2048 stretches of each one's loaders, and here are 3000: of 2 ms, in turn, with 1
 * ms between them. As the gaps that are closed are known, a third of the waits is still for nobody.
 */
static void loaders_with_too_many_stretches(void **state)
{
	struct report *r;

	for (unsigned int pid = 100; pid < 100 + 3 * WHY_TRAINERS_MAX; pid += 3) {
		put(PIDS, BEGIN, "%u\t%u\t1\tpython\texec\t-\t%u\t0\t/\t-\tpython\\000train.py", pid, pid, pid);
		for (unsigned int child = pid + 1; child <= pid + 2; child++) {
			put_loader(child, pid, BEGIN + 1, BEGIN + STEPS * S);
			put_pipe(child, BEGIN + 10, 5, 'R');
		}
	}
	put_file(1, "fifo", "pipefs", 0, "pipe:[1]");
	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	put_waits(450 * MS);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int k = 0; k < 150; k++) {
			const uint64_t begin = step(i) + k * 3 * MS;

			put_rw(101 + k % 2, begin + 2 * MS, 2 * MS - 100, 'R', 4096, k * 4096, 4096, 2);
			put_pipe(101 + k % 2, begin + 6 * MS, 4 * MS, 'R');
		}
	r = loaded();
	assert_int_equal(r->why->n_trainers, WHY_TRAINERS_MAX);
	assert_true(r->why->trainer[0].at_work.glued_ns > 0);
	expect_near(r->why->blame_ns[WHY_QUEUE] / r->why->waited_ns, 1 / 3.0);
	report_free(r);
}

static void nobody_waits(void **state)
{
	struct report *r;

	put_job(0);
	put_waits(30 * MS);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_rw(pid, step(i) + 100 * MS, 90 * MS, 'R', MiB, i * MiB, MiB, 2);
			put_work(pid, i, 200 * MS);
		}
	r = loaded();
	expect_near(is_bottleneck(r, "trainer-bound")->share, 0.97);
	report_free(r);
}

static bool lacks(const struct report *r, const char *what)
{
	for (unsigned int i = 0; i < r->why->rules->n_missing; i++)
		if (strncmp(r->why->rules->missing[i], what, strlen(what)) == 0)
			return true;
	return false;
}

/* The trainer polls, which has no row, and then reads the data: its calls show WAIT of each second. */
static struct report *polling(uint64_t trainer_ns, uint64_t wait)
{
	put_job_of(18 * S, trainer_ns);
	put_waits(wait);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_rw(pid, step(i) + 10 * MS, 5 * MS, 'R', MiB, i * MiB, 0, 2);
			put_work(pid, i, 950 * MS);
		}
	return loaded();
}

static void computing_less_than_possible_is_waiting_in_calls_without_rows(void **state)
{
	struct report *r = polling(3 * S, 73 * MS);
	autofree char *sentence = NULL;

	assert_int_equal(r->why->basis, WHY_BY_CPU_TIME);
	expect_near(r->why->waited_ns / r->why->window_ns, 0.85);
	expect_near(r->why->unseen_ns, 0);
	is_bottleneck(r, "decode-cpu");
	report_free(r);
	/* its calls show most of its possible waits, and when */
	r = polling(3 * S, 800 * MS);
	assert_int_equal(r->why->basis, WHY_BY_CALLS);
	expect_near(r->why->unseen_ns / r->why->window_ns, 0.05);
	is_bottleneck(r, "decode-cpu");
	sentence = sentence_of(r);
	assert_non_null(strstr(sentence, " % of the time)"));
	report_free(r);
}

static void a_running_process_may_wait_in_calls_without_rows(void **state)
{
	struct report *r = polling(0, 73 * MS);
	const struct finding *b = is_bottleneck(r, "unknown");
	autofree char *sentence = sentence_of(r);

	expect_near(b->share, 0.073);
	assert_string_equal(sentence, rule_unknown.title); /* the share refers to all waits, not to a part of an unknown
							    * one */
	expect_near(r->why->unseen_ns / r->why->window_ns, 1 - 0.073);
	assert_true(lacks(r, "trainer-bound: needs all waits of the trainers"));
	assert_non_null(strstr(b->evidence[2], "for another 92.7 % of the time it is not known whether they waited"));
	report_free(r);
	/* more than half of the time, it waits for something known */
	r = polling(0, 800 * MS);
	is_bottleneck(r, "decode-cpu");
	assert_true(lacks(r, "trainer-bound: "));
	report_free(r);
}

static void a_process_that_runs_all_the_time_waits_for_nothing(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++)
		put(SCHED, step(i) + S, "100\t100\tx\ttarget\t0\t-\t%llu\t9\t0\t%llu\t%llu\t-\t-\t-\t-", N(S),
		    N(980 * MS), N(0));
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_SUMS);
	/* a thread that runs does not wait, whatever is not traced */
	expect_near(is_bottleneck(r, "cpu-bound")->measure, 0.98);
	assert_true(lacks(r, "trainer-bound: needs vfs_rw.out"));
	report_free(r);
}

/* The trainer waits for WAIT of a second, and its loaders read for the first READ of it. */
static double training_share(uint64_t wait, uint64_t read)
{
	struct report *r;
	double share;

	put_job(0);
	put_waits(wait);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_rw(pid, step(i) + 10 + read, read, 'R', MiB, i * MiB, MiB, 2);
			put_work(pid, i, 10 + read + 10);
		}
	r = loaded();
	share = is_bottleneck(r, "trainer-bound")->share;
	report_free(r);
	return share;
}

/* A tenth of waits, a little less or a little more gives equal text. */
static void the_share_of_training_is_all_but_what_is_waited_for(void **state)
{
	expect_near(training_share(98 * MS, 10 * MS), 0.99);
	expect_near(training_share(102 * MS, 10 * MS), 0.99);
	expect_near(training_share(600 * MS, 10 * MS), 0.99);
	expect_near(training_share(600 * MS, 290 * MS), 0.71);
}

/* Its loaders poll, which has no rows: they wait from sending until receiving. */
static void between_sending_and_receiving_a_loader_waits(void **state)
{
	const struct why_loader *l;
	struct report *r;

	put_job(0);
	put_waits(900 * MS);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_pipe(pid, step(i) + 10, 5, 'R');
			put_pipe(pid, step(i) + 100 * MS, 5, 'W');
		}
	r = loaded();
	l = *(struct why_loader **)table_at(&r->why->loaders, 0);
	expect_near(l->idle_ns[WHY_QUEUE] / l->alive_idle_ns, (800. * (STEPS - 1) / STEPS) / 900);
	is_bottleneck(r, "trainer-bound");
	report_free(r);
}

static void a_gpu_is_idle_for_what_it_is_not_used(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i <= STEPS; i++) {
		put(GPU, step(i), "0\t100\tC\t25\t10\tpython");
		put(GPU, step(i) + 1000, "1\t999\tC\t99\t10\tother");
	}
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_rw(pid, step(i) + 700 * MS, 600 * MS, 'R', MiB, i * MiB, MiB, 2);
			put_work(pid, i, 990 * MS);
		}
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_GPU);
	assert_int_equal(r->why->gpu_sample_ns, S);
	expect_near(r->why->waited_ns / r->why->window_ns, 0.75);
	/* the loaders read for 600 ms of a second, wait for 10, and spend the rest in no call */
	expect_near(is_bottleneck(r, "storage-read")->measure, 0.75 * 0.6);
	report_free(r);
}

/* The trainer works meanwhile. */
static void a_gpu_that_is_busy_does_not_wait_for_its_processs_cpu(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i <= STEPS; i++) {
		put(GPU, step(i), "0\t100\tC\t96\t10\tpython");
		put(SCHED, step(i) + S, "100\t100\tx\ttarget\t0\t-\t%llu\t9\t0\t%llu\t%llu\t-\t-\t-\t-", N(S),
		    N(500 * MS), N(300 * MS));
	}
	put_rw(101, step(1), MS, 'R', MiB, 0, 0, 2);
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_GPU);
	expect_near(is_bottleneck(r, "trainer-bound")->share, 0.96);
	report_free(r);
}

static void a_gpu_without_values_by_process(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i <= STEPS; i++) {
		put(GPU, step(i), "0\t100\tC\t-\t-\tpython");
		put(GPU_DEV, step(i), "0\t100\t60");
		put(GPU_DEV, step(i), "1\t100\t0");
	}
	put_rw(101, step(1), MS, 'R', MiB, 0, 0, 2);
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_GPU);
	expect_near(r->why->waited_ns / r->why->window_ns, 0.4);
	assert_non_null(strstr(r->why->notes[0], "gpu_dev.out"));
	report_free(r);
}

/* A second rank, whose GPU has no numbers; WAIT: in each second, by sched.out. */
static struct report *two_ranks(uint64_t wait)
{
	put_job(0);
	put(PIDS, BEGIN, "200\t200\t1\tpython\texec\t-\t200\t0\t/\t-\tpython\\000train.py");
	put(PIDS, BEGIN + STEPS * S, "200\t200\t1\tpython\texit\t0\t200\t0\t/\t-\tutime=1000000000\\040stime=0");
	for (unsigned int i = 0; i <= STEPS; i++) {
		put(GPU, step(i), "0\t100\tC\t25\t10\tpython");
		put(GPU, step(i) + 1000, "1\t200\tC\t-\t-\tpython");
	}
	for (unsigned int i = 0; i < STEPS; i++) {
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_rw(pid, step(i) + 700 * MS, 600 * MS, 'R', MiB, i * MiB, MiB, 2);
			put_work(pid, i, 990 * MS);
		}
		for (unsigned int pid = 100; wait && pid <= 200; pid += 100)
			put(SCHED, step(i) + S, "%u\t%u\tx\ttarget\t-\tpoll\t%llu\t9\t-\t-\t-\t0\t0\t%llu\t%llu", pid,
			    pid, N(S), N(wait), N(S));
	}
	return loaded();
}

static bool has_evidence(const struct finding *f, const char *text)
{
	for (unsigned int i = 0; i < f->n; i++)
		if (strstr(f->evidence[i], text))
			return true;
	return false;
}

/* The numbers of one are neither discarded nor made coarser because of the other. */
static void a_process_without_a_source_is_left_out(void **state)
{
	struct report *r = two_ranks(0);
	const struct finding *b;

	assert_int_equal(r->why->n_trainers, 2);
	assert_int_equal(r->why->basis, WHY_BY_GPU);
	expect_near(r->why->waited_ns / r->why->window_ns, 0.75);
	assert_int_equal(why_trainer_of(r, 200)->basis, WHY_BY_NOTHING);
	b = is_bottleneck(r, "storage-read");
	expect_near(b->measure, 0.75 * 0.6);
	assert_true(has_evidence(b, "sampled every 1.00 s"));
	assert_true(has_evidence(b, "1 of them (process 200) left out"));
	expect_near((double)r->why->epoch[0].waited_ns / (double)r->why->epoch[0].waitable_ns, 0.75);
	report_free(r);
}

static void each_trainer_is_judged_by_the_best_that_is_known_of_it(void **state)
{
	struct report *r = two_ranks(500 * MS);
	const struct finding *b = &r->why->rules->bottleneck;

	assert_int_equal(r->why->basis, WHY_BY_SEVERAL);
	assert_int_equal(why_trainer_of(r, 100)->basis, WHY_BY_GPU);
	assert_int_equal(why_trainer_of(r, 200)->basis, WHY_BY_SUMS);
	expect_near((double)why_trainer_of(r, 100)->waited_ns / (STEPS * S), 0.75);
	expect_near((double)why_trainer_of(r, 200)->waited_ns / (STEPS * S), 0.5);
	expect_near(r->why->waited_ns / r->why->window_ns, 0.625);
	assert_true(has_evidence(b, "(process 100) 75.0 %, by gpu.out"));
	assert_true(has_evidence(b, "(process 200) 50.0 %, by sched.out"));
	report_free(r);
}

static void switches_show_waits_for_a_cpu(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_run(100, step(i) + 800 * MS, step(i) + 990 * MS, 100 * MS);
		for (unsigned int pid = 101; pid <= 102; pid++)
			put_run(pid, step(i) + 500 * MS, step(i) + 700 * MS, 500 * MS);
	}
	for (unsigned int pid = 101; pid <= 102; pid++)
		put_rw(pid, step(0) + 100, 10, 'R', MiB, 0, 0, 2);
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_SWITCHES);
	/* it cannot run for 700 ms, nor in the last 10, of each second */
	expect_near(r->why->waited_ns / r->why->window_ns, 0.71);
	expect_near(is_bottleneck(r, "cpu-contention")->measure, 0.5); /* the trainer's own 0.1 is too little */
	expect_near(found(r, "decode-cpu")->measure, 0.2);
	report_free(r);
}

static void put_map(unsigned int pid, uint64_t end)
{
	put(MMAP, end, "%u\t%u\tx\tmmap\t1000\t0x7f0000000000\t0x0\t1048576\tREAD\tSHARED\t5\t0\t-\t-\t2\tshard.tar",
	    pid, pid);
}

/* SWITCH rows: an uninterruptible wait from BEGIN to END. */
static void put_fault(unsigned int pid, uint64_t begin, uint64_t end)
{
	put(SWITCH, begin, "0\t%u\t%u\tx\tD\t0\t0\tidle\t1000\t-", pid, pid);
	put(SWITCH, end, "0\t0\t0\tidle\tR\t%u\t%u\tx\t-\t0", pid, pid);
	put(SWITCH, end + MS, "0\t%u\t%u\tx\tS\t0\t0\tidle\t1000\t-", pid, pid);
}

/* Switches do not show calls: an uninterruptible wait is a page fault if no call around it ends. */
static void switches_show_page_faults(void **state)
{
	const struct why_loader *l;
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_run(100, step(i) + 800 * MS, step(i) + 990 * MS, 0);
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_fault(pid, step(i) + 10 * MS, step(i) + 410 * MS);
			put_map(pid, step(i) + 430 * MS);
			put_rw(pid, step(i) + 430 * MS, 1000, 'R', MiB, 0, 0, 2);
			put_fault(pid, step(i) + 510 * MS, step(i) + 590 * MS);
			put(SYNC, step(i) + 600 * MS, "%u\t%u\tx\tfsync\t%llu\t0\t5\t-\t-\t3\tckpt.pt", pid, pid,
			    N(100 * MS));
			put_run(pid, step(i) + 600 * MS, step(i) + 610 * MS, 0);
		}
	}
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_SWITCHES);
	expect_near(is_bottleneck(r, "storage-read")->measure, 0.4);
	l = why_find(r, 101) ? *(struct why_loader **)why_find(r, 101) : NULL;
	assert_non_null(l);
	expect_near(l->ns[WHY_WRITE] / S, STEPS * 0.099); /* it had a CPU for the rest */
	report_free(r);
}

static void sums_show_page_faults(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put(SCHED, step(i) + S, "100\t100\tx\ttarget\t-\tpoll\t%llu\t9\t-\t-\t-\t0\t0\t%llu\t%llu", N(S),
		    N(800 * MS), N(S));
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_rw(pid, step(i) + 430 * MS, 1000, 'R', MiB, 0, 0, 2);
			put(SCHED, step(i) + S, "%u\t%u\tx\ttarget\t-\tfault\t%llu\t9\t-\t-\t-\t%llu\t0\t0\t%llu", pid,
			    pid, N(S), N(600 * MS), N(S));
		}
	}
	r = loaded();
	expect_near(is_bottleneck(r, "storage-read")->measure, 0.8 * 0.6);
	report_free(r);
}

/* Without mapped files these waits are something else. */
static void a_process_that_maps_no_data_does_not_fault_for_them(void **state)
{
	struct report *r;

	put_job(0);
	put(MMAP, BEGIN + S, "100\t100\tx\tmmap\t1000\t0x7f0000000000\t0x0\t4096\tREAD\tPRIVATE\t-\t0\t-\t-\t-\t-");
	for (unsigned int i = 0; i < STEPS; i++) {
		put_run(100, step(i) + 800 * MS, step(i) + 990 * MS, 0);
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_fault(pid, step(i) + 10 * MS, step(i) + 410 * MS);
			put_rw(pid, step(i) + 500 * MS, 1000, 'R', MiB, 0, 0, 2);
		}
	}
	r = loaded();
	is_bottleneck(r, "unknown");
	assert_null(found(r, "storage-read"));
	report_free(r);
}

/* A trainer that loads by itself from mapped data waits in its own faults, by switches and by sums. */
static void faults_of_a_trainer_without_loaders_are_its_own(void **state)
{
	struct report *r;

	put_alone("python", 8 * S);
	put_rw(100, step(0) + 2000, 1000, 'R', 2 * MiB, 0, 0, 2);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_map(100, step(i) + 1000);
		put_fault(100, step(i) + 200 * MS, step(i) + 800 * MS);
	}
	r = loaded();
	expect_near(is_bottleneck(r, "storage-read")->measure, 0.6);
	report_free(r);
	put_alone("python", 8 * S);
	put_rw(100, step(0) + 2000, 1000, 'R', 2 * MiB, 0, 0, 2);
	for (unsigned int i = 0; i < STEPS; i++)
		put(SCHED, step(i) + S, "100\t100\tx\ttarget\t-\tfault\t%llu\t9\t-\t-\t-\t%llu\t0\t0\t%llu", N(S),
		    N(600 * MS), N(S));
	r = loaded();
	expect_near(is_bottleneck(r, "storage-read")->measure, 0.6);
	report_free(r);
}

static void sums_show_it_by_the_second(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put(SCHED, step(i) + S, "100\t100\tx\ttarget\t-\tpoll\t%llu\t9\t-\t-\t-\t0\t0\t%llu\t%llu", N(S),
		    N(600 * MS), N(S));
		put(SCHED, step(i) + S, "100\t100\tx\ttarget\t-\tclock_nanosleep\t%llu\t9\t-\t-\t-\t0\t0\t%llu\t%llu",
		    N(S), N(200 * MS), N(S));
		put_rw(101, step(i) + 900 * MS, 100 * MS, 'R', MiB, i * MiB, 0, 2);
		put_rw(102, step(i) + 900 * MS, 100 * MS, 'R', MiB, i * MiB, 0, 2);
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put(SCHED, step(i) + S, "%u\t%u\tx\ttarget\t0\t-\t%llu\t9\t0\t%llu\t%llu\t-\t-\t-\t-", pid, pid,
			    N(S), N(500 * MS), N(100 * MS));
			put(SCHED, step(i) + S, "%u\t%u\tx\ttarget\t-\tpoll\t%llu\t9\t-\t-\t-\t0\t0\t%llu\t%llu", pid,
			    pid, N(S), N(300 * MS), N(S));
		}
	}
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_SUMS);
	expect_near(r->why->waited_ns / r->why->window_ns, 0.6);
	/* on a CPU for half of the time, with the cached reads in it */
	expect_near(is_bottleneck(r, "decode-cpu")->measure, 0.6 * 0.5);
	expect_near(found(r, "cpu-contention")->measure, 0.6 * 0.1);
	expect_near(found(r, "trainer-bound")->measure, 0.6 * 0.3);
	report_free(r);
}

/* A job of one second in a longer trace, whose sums have rows LATE. Returns how much it waited. */
static double waited_of_a_second(uint64_t late)
{
	const uint64_t begin = BEGIN + 700 * MS, end = begin + S;
	struct report *r;
	double waited;

	put(PIDS, BEGIN, "99\t99\t1\tsh\texec\t-\t99\t0\t/\t-\tsh");
	put(PIDS, begin, "100\t100\t99\tpython\texec\t-\t100\t0\t/\t-\tpython\\000train.py");
	put(PIDS, begin + 1, "101\t101\t100\tpython\tfork\t-\t101\t0\t/\t-\t-");
	put(PIDS, begin + 2, "101\t101\t100\tpt_data_worker\trename\t-\t101\t0\t/\t-\tpython");
	put(PIDS, end - 1, "101\t101\t100\tpt_data_worker\texit\t0\t101\t0\t/\t-\tutime=0\\040stime=0");
	put(PIDS, end, "100\t100\t99\tpython\texit\t0\t100\t0\t/\t-\tutime=0\\040stime=0");
	put(PIDS, end + late, "99\t99\t1\tsh\texit\t0\t99\t0\t/\t-\tutime=0\\040stime=0");
	put(SCHED, end + late, "100\t100\tx\ttarget\t-\tpoll\t%llu\t9\t-\t-\t-\t0\t0\t%llu\t%llu", N(S + late),
	    N(900 * MS), N(S));
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_SUMS);
	waited = r->why->waited_ns / r->why->window_ns;
	report_free(r);
	return waited;
}

/* The sums of a row count for the life of its process, and not before or after it. */
static void sums_of_a_job_that_is_there_for_a_part_of_the_time(void **state)
{
	for (uint64_t late = 0; late < S; late += 300 * MS) {
		double waited = waited_of_a_second(late);

		if (!(waited > 0.88 && waited < 0.901))
			fail_msg("%llu ns late: %g and not 0.9", N(late), waited);
	}
}

/* The row of the last second, when the wait is over, has all of it. */
static void a_wait_of_many_seconds_is_whole(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 5; i <= STEPS; i += 5)
		put(SCHED, step(i), "100\t100\tx\ttarget\t-\tpoll\t%llu\t1\t-\t-\t-\t0\t0\t%llu\t%llu", N(S), N(4 * S),
		    N(4 * S));
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_SUMS);
	expect_near(r->why->waited_ns / r->why->window_ns, 0.8);
	report_free(r);
}

static void a_job_without_loaders_reads_for_itself(void **state)
{
	struct report *r;

	put(PIDS, BEGIN, "100\t100\t1\tpython\texec\t-\t100\t0\t/\t-\tpython\\000train.py");
	put(PIDS, BEGIN + STEPS * S, "100\t100\t1\tpython\texit\t0\t100\t0\t/\t-\tutime=1000000000\\040stime=0");
	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	for (unsigned int i = 0; i < STEPS; i++)
		put_rw(100, step(i) + 700 * MS, 600 * MS, 'R', MiB, i * MiB, MiB, 2);
	r = loaded();
	assert_int_equal(r->why->n_trainers, 1);
	expect_near(is_bottleneck(r, "storage-read")->measure, since(100 * MS, 0.6));
	report_free(r);
}

static void is_no_training(struct report *r)
{
	const struct finding *b = is_bottleneck(r, "unknown");

	assert_true(isnan(b->share));
	assert_non_null(strstr(b->rule->title, "it has no CPU scheduling"));
	assert_int_equal(r->why->seen, WHY_SEEN_NOT);
	for (unsigned int i = 0; i < r->why->rules->n; i++)
		assert_false(r->why->rules->found[i].rule->waits);
	report_free(r);
}

/* Sleeping, copying, compiling, listing: without CPU scheduling the cause of their waits is not known. */
static void what_does_not_train_is_bound_by_nothing(void **state)
{
	put_alone("sleep", MS);
	put_rw(100, step(1), MS, 'R', 832, 0, 0, 4);
	is_no_training(loaded());
	put_alone("cp", MS);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_rw(100, step(i) + 700 * MS, 600 * MS, 'R', MiB, i * MiB, MiB, 2);
		put_rw(100, step(i) + 900 * MS, 100 * MS, 'W', MiB, i * MiB, 0, 3);
	}
	is_no_training(loaded());
	put_alone("cc1", 19 * S);
	for (unsigned int i = 0; i < STEPS; i++)
		put_rw(100, step(i) + 700 * MS, 200 * MS, 'R', MiB, i * MiB, MiB, 4);
	is_no_training(loaded());
	put_alone("ls", 19 * S);
	for (unsigned int i = 0; i < STEPS; i++)
		put_open(100, step(i) + 700 * MS, 400 * MS, 5);
	is_no_training(loaded());
}

/* A process that reads data and shows no training has waited for its reads, and nothing proves that it trains. */
static void a_job_that_only_reads_is_not_bound_by_training(void **state)
{
	const struct finding *b;
	struct report *r;

	put_alone("python", 19 * S);
	for (unsigned int i = 0; i < STEPS; i++)
		put_rw(100, step(i) + 700 * MS, 50 * MS, 'R', MiB, i * MiB, MiB, 2);
	r = loaded();
	b = is_bottleneck(r, "unknown");
	assert_non_null(strstr(b->rule->title, "it has no CPU scheduling"));
	assert_true(has_evidence(b, "of 19.4 s: 95.0 % on CPUs, all threads together, 5.2 % in calls on files;"));
	expect_near(b->share, since(650 * MS, 0.05));
	expect_near(found(r, "storage-read")->measure, since(650 * MS, 0.05));
	report_free(r);
}

/* --- other jobs, by CPU scheduling ---------------------------------------------------------------------- */

static const struct account *account_of(const struct report *r, unsigned int pid)
{
	for (uint32_t i = 0; i < r->why->n_accounts; i++)
		if (r->why->accounts[i].pid == pid)
			return &r->why->accounts[i];
	fail_msg("%u has no account", pid);
	return NULL;
}

static void adds_up(const struct account *a)
{
	double sum = 0;

	for (unsigned int i = 0; i < ACCOUNT_TERMS; i++)
		sum += a->ns[i];
	expect_near(sum / a->wall_ns, 1);
}

static double term(const struct account *a, enum account_term t)
{
	return a->ns[t] / a->wall_ns;
}

static void a_job_that_computes_is_bound_by_the_cpu(void **state)
{
	const struct account *a;
	struct report *r;

	put_alone("python", 19 * S);
	for (unsigned int i = 0; i < STEPS; i++) {
		/* 8 of 10 ms on a CPU, within the call */
		put_rw(100, step(i) + 10 * MS, 10 * MS, 'R', MiB, i * MiB, 0, 2);
		put_ran(100, i, 908 * MS, 30 * MS);
		put_slept(100, 100, i, "read", 2 * MS, 0);
		put_slept(100, 100, i, "clock_nanosleep", 0, 20 * MS);
		put_slept(100, 100, i, "fault", 40 * MS, 0);
		put_slept(100, 101, i, "poll", 0, S);
	}
	r = loaded();
	expect_near(is_bottleneck(r, "cpu-bound")->share, 0.9);
	a = account_of(r, 100);
	adds_up(a);
	expect_near(term(a, ACCOUNT_CPU), 0.9);
	expect_near(term(a, ACCOUNT_CACHE), 0.01);
	expect_near(term(a, ACCOUNT_RUNQ), 0.03);
	expect_near(term(a, ACCOUNT_FAULT), 0.04);
	expect_near(term(a, ACCOUNT_SLEEP), 0.02);
	report_free(r);
}

/* With a row for each switch in addition, the result is equal. */
static void a_job_that_computes_is_bound_by_the_cpu_by_switches_too(void **state)
{
	struct report *r;

	put_alone("python", 18 * S);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_run(100, step(i) + 10 * MS, step(i) + 950 * MS, 0);
		put_ran(100, i, 940 * MS, 0);
		put_slept(100, 100, i, "clock_nanosleep", 0, 60 * MS);
		put_rw(100, step(i) + 10 * MS, 1000, 'R', MiB, i * MiB, 0, 2);
	}
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_SWITCHES);
	assert_in_range((unsigned int)(1000 * is_bottleneck(r, "cpu-bound")->share), 930, 950);
	report_free(r);
}

/* Time that sched.out has lost is not time without work. */
static void a_process_without_rows_of_sched_out_does_not_compute(void **state)
{
	struct report *r;

	put_alone("python", 2 * S);
	put_rw(100, step(0) + 1000, 500, 'R', MiB, 0, 0, 2);
	put_slept(77, 77, 0, "poll", 0, S);
	r = loaded();
	assert_false(r->why->has_sums);
	is_bottleneck(r, "unknown");
	report_free(r);
	/* only the first of twenty seconds */
	put_alone("python", 2 * S);
	put_rw(100, step(0) + 1000, 500, 'R', MiB, 0, 0, 2);
	put_ran(100, 0, S, 0);
	r = loaded();
	assert_true(r->why->has_sums);
	is_bottleneck(r, "unknown");
	report_free(r);
}

/* Waits of the workload's process before its exec, by which name dltraced was called. */
static void what_waits_before_exec_is_not_the_job(void **state)
{
	const struct account *a;
	struct report *r;

	put_alone("python", 19 * S);
	for (unsigned int i = 0; i < STEPS; i++)
		put_ran(100, i, S, 0);
	put(SCHED, step(0) + S, "100\t100\tdltraced\ttarget\t-\tpoll\t%llu\t1\t-\t-\t-\t0\t0\t%llu\t%llu", N(S),
	    N(500 * MS), N(500 * MS));
	put(SCHED, step(0) + S, "100\t100\tdlt\ttarget\t-\tpoll\t%llu\t1\t-\t-\t-\t0\t0\t%llu\t%llu", N(S), N(500 * MS),
	    N(500 * MS));
	put_rw(100, step(0) + 1000, 500, 'R', MiB, 0, 0, 2);
	tree_put("manifest.json", "{\"tool\":\"dltraced\",\"schema\":1,\"cmdline\":[\"/opt/bin/dlt\",\"start\"],"
				  "\"workload\":{\"pid\":100},\"complete\":true}");
	r = loaded_with(true);
	a = account_of(r, 100);
	adds_up(a);
	assert_true(term(a, ACCOUNT_OTHERS) == 0);
	for (unsigned int i = 0; i < TIMELINE_BINS; i++)
		assert_int_equal(r->timeline->sum[TIMELINE_SLEEP][i], 0);
	expect_near(is_bottleneck(r, "cpu-bound")->share, 1);
	report_free(r);
}

/* Puts a job of LIFE with a manifest that has its wait(2) STATUS, and loads it. It reads from storage all of the time.
 */
static struct report *ended_job(const char *status, uint64_t life)
{
	autofree char *manifest =
		util_fmt("{\"tool\":\"dltraced\",\"schema\":1,\"workload\":{\"pid\":100,\"status\":%s,"
			 "\"rusage\":{\"wall_ns\":%llu}},\"complete\":true}",
			 status, N(life));

	put(PIDS, BEGIN, "100\t100\t1\tcat\texec\t-\t100\t0\t/\t-\tcat");
	put(PIDS, BEGIN + life, "100\t100\t1\tcat\texit\t0\t100\t0\t/\t-\tutime=1\040stime=0");
	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	put_rw(100, BEGIN + life - MS, life - 2 * MS, 'R', 64 * MiB, 0, 64 * MiB, 2);
	put(SCHED, BEGIN + life, "100\t100\tcat\ttarget\t-\tread\t%llu\t1\t-\t-\t-\t%llu\t0\t0\t1", N(life),
	    N(life - 2 * MS));
	tree_put("manifest.json", manifest);
	return loaded();
}

/* Only the code and what the report begins with: no cause, no advice, no other finding. */
static void expect_no_answer(const char *status, uint64_t life, const char *code, const char *title,
			     const char *evidence)
{
	struct report *r = ended_job(status, life);
	const struct finding *b = is_bottleneck(r, code);
	autofree char *sentence = sentence_of(r), *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	report_screen(r, 80, out);
	assert_int_equal(fclose(out), 0);
	assert_null(strstr(text, "=>"));
	assert_non_null(strstr(sentence, title));
	assert_null(strchr(sentence, '%'));
	assert_null(b->rule->advice);
	assert_true(shows(b, evidence));
	assert_int_equal(r->why->rules->n + r->why->rules->n_facts + r->why->rules->n_missing, 0);
	report_free(r);
}

static void a_job_that_is_too_short_or_failed_has_no_answer(void **state)
{
	struct report *r;

	expect_no_answer("0", 499 * MS, "too-short", "too short to say", "it ended with status 0 after 499 ms");
	expect_no_answer("256", 499 * MS, "failed", "The job failed within 0.5 s",
			 "it ended with status 1 after 499 ms");
	expect_no_answer("11", 499 * MS, "failed", "The job failed within 0.5 s", "after 499 ms");
	expect_no_answer("32512", 20 * S, "failed", "was not found", "it ended with status 127 after 20.0 s");
	expect_no_answer("32256", 20 * S, "failed", "could not be executed", "it ended with status 126 after 20.0 s");
	/* a little longer, or an error after it has worked: what it waited for is known */
	r = ended_job("0", 501 * MS);
	is_bottleneck(r, "storage-read");
	report_free(r);
	r = ended_job("256", 20 * S);
	is_bottleneck(r, "storage-read");
	report_free(r);
}

#define CONTAINER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/*
 * podman's processes, of which one forks a copy of itself as a trainer does, and the job in the container, which
 * computes less than they live. A helper outside of the container computes most.
 */
static struct report *contained_job(const char *outside, const char *target)
{
	autofree char *manifest = util_fmt(
		"{\"tool\":\"dltraced\",\"schema\":1,\"target\":{\"containers\":[%s]},\"workload\":{\"pid\":50},"
		"\"complete\":true}",
		target);
	const uint64_t end = BEGIN + STEPS * S;

	put(PIDS, BEGIN, "50\t50\t1\tsh\texec\t-\t50\t0\t%s\t-\tsh", outside);
	put(PIDS, BEGIN, "51\t51\t50\tpodman\texec\t-\t51\t0\t%s\t-\tpodman", outside);
	put(PIDS, BEGIN, "52\t52\t51\tconmon\texec\t-\t52\t0\t%s/libpod-conmon-" CONTAINER ".scope\t-\tconmon",
	    outside);
	put(PIDS, BEGIN + 1, "53\t53\t52\tconmon\tfork\t-\t53\t0\t%s/libpod-conmon-" CONTAINER ".scope\t-\t-", outside);
	put(PIDS, BEGIN, "54\t54\t50\tburn\texec\t-\t54\t0\t%s\t-\tburn", outside);
	put(PIDS, BEGIN + 2,
	    "100\t100\t53\tpython3\texec\t-\t1\t0\t%s/libpod-" CONTAINER ".scope/container\t-\tpython3", outside);
	for (unsigned int pid = 50; pid <= 54; pid++)
		put(PIDS, end, "%u\t%u\t1\tx\texit\t0\t%u\t0\t/\t-\tutime=%llu\040stime=0", pid, pid, pid,
		    N(pid == 54 ? 15 * S : MS));
	put(PIDS, end, "100\t100\t53\tpython3\texit\t0\t1\t0\t/\t-\tutime=2000000000\040stime=0");
	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	for (unsigned int i = 0; i < STEPS; i++) {
		put_rw(100, step(i) + 900 * MS, 800 * MS, 'R', MiB, i * MiB, MiB, 2);
		put_ran(100, i, 100 * MS, 0);
		put_slept(100, 100, i, "read", 800 * MS, 0);
		put_ran(54, i, 950 * MS, 0);
	}
	tree_put("manifest.json", manifest);
	return loaded();
}

static void the_answer_is_that_of_the_container(void **state)
{
	/* in the second case, dltraced is in a container itself */
	static const char *const outside[] = { "/user.slice", "/docker/" CONTAINER };

	for (size_t i = 0; i < ARRAY_SIZE(outside); i++) {
		struct report *r = contained_job(outside[i], "\"new\"");

		assert_int_equal(r->why->n_trainers, 1);
		assert_int_equal(r->why->trainer[0].pid, 100);
		is_bottleneck(r, "storage-read");
		report_free(r);
	}
}

/* Without a container among the targets, others may be the job; but not what runs the container. */
static void what_runs_containers_is_not_the_job(void **state)
{
	struct report *r = contained_job("/user.slice", "");

	assert_int_equal(r->why->n_trainers, 1);
	assert_int_equal(r->why->trainer[0].pid, 54);
	report_free(r);
}

static void a_trace_without_processes_has_no_answer(void **state)
{
	struct report *r;

	tree_put("manifest.json",
		 "{\"tool\":\"dltraced\",\"schema\":1,\"target\":{\"containers\":[\"train\"]},\"complete\":true}");
	r = loaded();
	assert_true(shows(is_bottleneck(r, "untraced"), "(train) never appeared"));
	report_free(r);
}

static void a_job_that_sleeps_is_idle(void **state)
{
	struct report *r;

	put_alone("sleep", MS);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_ran(100, i, 10 * MS, 0);
		put_slept(100, 100, i, "clock_nanosleep", 0, 990 * MS);
	}
	r = loaded();
	expect_near(is_bottleneck(r, "idle")->share, 0.99);
	adds_up(account_of(r, 100));
	report_free(r);
}

/*
 * It reads mapped tokens: no read has a row, but it waits for nothing else. Faults on pages that are already being read
 * have no rows either: where few faults have rows, the sums count.
 */
static void a_job_that_faults_in_mapped_files_waits_for_storage(void **state)
{
	const unsigned int with_rows[] = { 0, 1, STEPS };
	struct report *r;

	for (unsigned int n = 0; n < ARRAY_SIZE(with_rows); n++) {
		put_alone("python", 2 * S);
		put_rw(100, step(0) + 1000, 500, 'R', MiB, 0, 0, 2);
		put_map(100, step(0) + 1000);
		for (unsigned int i = 0; i < STEPS; i++) {
			put_ran(100, i, 100 * MS, 0);
			put_slept(100, 100, i, "fault", 900 * MS, 0);
			if (i < with_rows[n])
				put(FAULT, step(i) + 950 * MS,
				    "100\t100\tx\tuser\tfile\t%llu\t0x1000\t0x2000\t0\t4096\t1\tdata", N(900 * MS));
		}
		r = loaded();
		expect_near(is_bottleneck(r, "storage-read")->share, 0.9);
		expect_near(term(account_of(r, 100), ACCOUNT_FAULT), 0.9);
		report_free(r);
	}
}

static void a_job_that_waits_for_a_server_waits_for_the_outside(void **state)
{
	const struct finding *b;
	struct report *r;

	put_alone("python", 2 * S);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_ran(100, i, 100 * MS, 0);
		put_slept(100, 100, i, "recvfrom", 0, 900 * MS);
	}
	r = loaded();
	b = is_bottleneck(r, "outside-wait");
	expect_near(b->share, 0.9);
	assert_true(has_evidence(b, "waiting in recvfrom"));
	assert_string_equal(account_of(r, 100)->awaited, "the network, or a process outside the job");
	report_free(r);
}

/* The job waits for what its other processes do: one computes and reads. */
static void a_job_that_waits_for_its_children_waits_for_their_calls(void **state)
{
	struct report *r;

	put_alone("make", 9 * S);
	put_rw(100, step(0) + 1000, 500, 'R', MiB, 0, 0, 2);
	put(PIDS, BEGIN + 1, "300\t300\t100\tcat\texec\t-\t300\t0\t/\t-\tcat");
	put(PIDS, step(STEPS), "300\t300\t100\tcat\texit\t0\t300\t0\t/\t-\tutime=1000000000\\040stime=0");
	for (unsigned int i = 0; i < STEPS; i++) {
		put_ran(100, i, 450 * MS, 0);
		put_slept(100, 100, i, "wait4", 0, 550 * MS);
		put_ran(300, i, 100 * MS, 0);
		put_slept(300, 300, i, "read", 300 * MS, 0);
		put_slept(300, 300, i, "poll", 0, 600 * MS);
	}
	r = loaded();
	expect_near(is_bottleneck(r, "storage-read")->share, 0.3);
	expect_near(r->why->computed_ns / r->why->window_ns, 0.45 + 0.1);
	assert_string_equal(account_of(r, 100)->awaited, "process 300 (cat)");
	report_free(r);
}

/* As a shell does. With a child that waits for the network beside it, that is the cause of a half. */
static void a_job_that_waits_for_a_child_that_sleeps_is_idle(void **state)
{
	struct report *r;

	for (unsigned int network = 0; network < 2; network++) {
		put_alone("sh", 20 * MS);
		put(PIDS, BEGIN + 1, "300\t300\t100\tsleep\texec\t-\t300\t0\t/\t-\tsleep");
		put(PIDS, step(STEPS), "300\t300\t100\tsleep\texit\t0\t300\t0\t/\t-\tutime=0\\040stime=0");
		for (unsigned int i = 0; i < STEPS; i++) {
			put_ran(100, i, MS, 0);
			put_slept(100, 100, i, "wait4", 0, 999 * MS);
			put_slept(300, 300, i, "clock_nanosleep", 0, 1000 * MS);
			if (network)
				put_slept(301, 301, i, "recvfrom", 0, 1000 * MS);
		}
		r = loaded();
		expect_near(is_bottleneck(r, network ? "outside-wait" : "idle")->share, network ? 0.4995 : 0.999);
		adds_up(account_of(r, 100));
		report_free(r);
	}
}

/* Its main thread waits for its other threads, which read. */
static void a_job_that_reads_by_threads_waits_for_their_reads(void **state)
{
	const struct account *a;
	struct report *r;

	put_alone("python", 2 * S);
	put_rw(100, step(0) + 1000, 500, 'R', MiB, 0, 0, 2);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_ran(100, i, 300 * MS, 0);
		put_slept(100, 100, i, "futex", 0, 700 * MS);
		put_slept(100, 101, i, "fault", 350 * MS, 0);
		put_slept(100, 102, i, "fault", 350 * MS, 0);
	}
	r = loaded();
	expect_near(is_bottleneck(r, "storage-read")->share, 0.7);
	a = account_of(r, 100);
	adds_up(a);
	expect_near(term(a, ACCOUNT_THREADS), 0.7);
	expect_near(term(a, ACCOUNT_OTHERS), 0);
	report_free(r);
}

/* No name shows which process works: of a pipe's two ends it is the one that does not wait for the other. */
static void of_a_pipe_the_answer_names_the_end_that_works(void **state)
{
	struct report *r;

	put(PIDS, BEGIN, "90\t90\t1\tsh\texec\t-\t90\t0\t/\t-\tsh\\000-c\\000tar");
	put_alone("tar", S);
	put(PIDS, BEGIN + 1, "200\t200\t90\tgzip\texec\t-\t200\t0\t/\t-\tgzip");
	put(PIDS, step(STEPS), "200\t200\t90\tgzip\texit\t0\t200\t0\t/\t-\tutime=4000000000\\040stime=0");
	for (unsigned int i = 0; i < STEPS; i++) {
		put_slept(90, 90, i, "wait4", 0, S);
		put_ran(100, i, 50 * MS, 0);
		put_rw(100, step(i) + 900 * MS, 900 * MS, 'R', MiB, i * MiB, MiB, 2);
		put_slept(100, 100, i, "read", 900 * MS, 0);
		put_ran(200, i, 200 * MS, 0);
		put_slept(200, 200, i, "read", 0, 800 * MS);
	}
	r = loaded();
	assert_int_equal(r->why->n_trainers, 1);
	assert_int_equal(r->why->trainer[0].pid, 100);
	expect_near(is_bottleneck(r, "storage-read")->share, 0.9);
	report_free(r);
}

/* It writes its data set, reads it for the rest of the time, and saves once; another process writes as much, at 15 s.
 */
static void what_a_job_writes_before_it_reads_is_no_checkpoint(void **state)
{
	struct report *r;

	put_alone("python", 10 * S);
	put(PIDS, BEGIN, "300\t300\t1\ttar\texec\t-\t300\t0\t/\t-\ttar");
	put(PIDS, BEGIN + STEPS * S, "300\t300\t1\ttar\texit\t0\t300\t0\t/\t-\tutime=1000\\040stime=0");
	for (unsigned int i = 0; i < 32; i++) {
		put_rw(100, step(1) + i * MS, MS, 'W', MiB, i * MiB, 0, 2);
		put_rw(100, step(10) + i * MS, MS, 'W', MiB, i * MiB, 0, 3);
		put_rw(300, step(15) + i * MS, MS, 'W', MiB, i * MiB, 0, 3);
	}
	for (unsigned int i = 0; i < 1600; i++)
		put_rw(100, step(4) + i * 10 * MS, MS, 'R', 65536, i * 65536, 0, 2);
	r = loaded_with(true);
	assert_int_equal(phases_count(r->phases, PHASE_CHECKPOINT), 1);
	assert_in_range(phases_get(r->phases, PHASE_CHECKPOINT, 0)->begin_ns, step(10) - 10 * MS, step(10) + 10 * MS);
	report_free(r);
}

static void put_copy(unsigned int pid, unsigned int parent, const char *args, uint64_t end)
{
	put(PIDS, BEGIN + 1, "%u\t%u\t%u\tpython\tfork\t-\t%u\t0\t/\t-\t-", pid, pid, parent, pid);
	if (args)
		put(PIDS, BEGIN + 2, "%u\t%u\t%u\tpython\texec\t-\t%u\t0\t/\t-\t%s", pid, pid, parent, pid, args);
	put(PIDS, end, "%u\t%u\t%u\tpython\texit\t0\t%u\t0\t/\t-\tutime=1000\\040stime=0", pid, pid, parent, pid);
}

/* A script runs programs, also some with its own name, and forks only to write a log: it has no loaders. */
static void helpers_of_a_script_are_no_loaders(void **state)
{
	struct report *r;

	put_alone("python", 19 * S);
	put_file(6, "reg", "ext4", 100, "/home/x/run.log");
	put_file(7, "reg", "ext4", 10000, "/opt/conda/lib/python3.11/json/__init__.pyc");
	put_rw(100, step(1), MS, 'R', MiB, 0, MiB, 2);
	for (unsigned int pid = 101; pid < 116; pid++) {
		put_copy(pid, 100, pid % 3 == 0 ? "python\\000-c\\000import\\040json" : NULL, step(5));
		if (pid % 3 == 0)
			put_rw(pid, step(2), MS, 'R', MiB, 0, MiB, 2);
		put_rw(pid, step(3), MS, 'R', 10000, 0, 0, 7);
		put_rw(pid, step(4), MS, 'W', 100, 0, 0, 6);
	}
	r = loaded();
	assert_int_equal(r->why->loaders.n, 0);
	is_bottleneck(r, "unknown");
	report_free(r);
}

/* The process that starts the training has forked, too, for a moment; another one used the CPU. */
static void a_launcher_is_no_trainer_for_a_moments_fork(void **state)
{
	struct report *r;

	put_alone("python", MS);
	put_copy(101, 100, NULL, step(0) + 10 * MS);
	put(PIDS, BEGIN + 1, "200\t200\t100\tpython\tfork\t-\t200\t0\t/\t-\t-");
	put(PIDS, BEGIN + 2, "200\t200\t100\tpython\texec\t-\t200\t0\t/\t-\tpython\\000train.py");
	put(PIDS, step(STEPS), "200\t200\t100\tpython\texit\t0\t200\t0\t/\t-\tutime=8000000000\\040stime=0");
	for (unsigned int i = 0; i < STEPS; i++)
		put_rw(200, step(i) + 700 * MS, 600 * MS, 'R', MiB, i * MiB, MiB, 2);
	r = loaded();
	assert_int_equal(r->why->n_trainers, 1);
	assert_int_equal(r->why->trainer[0].pid, 200);
	expect_near(is_bottleneck(r, "storage-read")->measure, since(100 * MS, 0.6));
	report_free(r);
}

/* The shells of pyenv run before the python that they choose, and together they are busier. */
static void shells_that_choose_the_python_do_not_train(void **state)
{
	struct report *r;

	put(PIDS, BEGIN, "100\t100\t1\tpython3\texec\t-\t100\t0\t/\t-\tpython3\\000train.py");
	put_ran(100, 1, 300 * MS, 0);
	for (unsigned int pid = 101; pid < 121; pid++) {
		put(PIDS, BEGIN + 1, "%u\t%u\t100\tbash\tfork\t-\t%u\t0\t/\t-\t-", pid, pid, pid);
		put_ran(pid, 0, 40 * MS, 0);
		put(PIDS, BEGIN + 50 * MS, "%u\t%u\t100\tbash\texit\t0\t%u\t0\t/\t-\tutime=1000\\040stime=0", pid, pid,
		    pid);
	}
	put(PIDS, BEGIN + STEPS * S, "100\t100\t1\tpython3\texit\t0\t100\t0\t/\t-\tutime=1000\\040stime=0");
	r = loaded();
	assert_int_equal(r->why->n_trainers, 1);
	assert_int_equal(r->why->trainer[0].pid, 100);
	report_free(r);
}

/* Subshells of a script fork, and read data; nothing is loaded. */
static void a_shell_script_has_no_loaders(void **state)
{
	struct report *r;

	put(PIDS, BEGIN, "100\t100\t1\trun.sh\texec\t-\t100\t0\t/\t-\t/bin/sh\\000./run.sh");
	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	for (unsigned int pid = 101; pid < 104; pid++) {
		put(PIDS, BEGIN + 1, "%u\t%u\t100\trun.sh\tfork\t-\t%u\t0\t/\t-\t-", pid, pid, pid);
		put_rw(pid, step(3), MS, 'R', MiB, 0, 0, 2);
	}
	put(PIDS, BEGIN + STEPS * S, "100\t100\t1\trun.sh\texit\t0\t100\t0\t/\t-\tutime=1000\\040stime=0");
	r = loaded();
	assert_int_equal(r->why->loaders.n, 0);
	is_bottleneck(r, "unknown");
	report_free(r);
}

/* Workers without a name: forked; spawned; forked by a spawned server; started before the trace began. */
/* A script sleeps most of the time; its short commands wait for a CPU. */
static void a_script_is_not_its_short_commands(void **state)
{
	struct report *r;

	put_alone("sh", 20 * MS);
	for (unsigned int i = 0; i < STEPS; i++) {
		put(PIDS, step(i) + 1, "%u\t%u\t100\tcat\texec\t-\t300\t0\t/\t-\tcat", 300 + i, 300 + i);
		put(PIDS, step(i) + 90 * MS, "%u\t%u\t100\tcat\texit\t0\t300\t0\t/\t-\tutime=9000\\040stime=0", 300 + i,
		    300 + i);
		put_ran(300 + i, i, 30 * MS, 60 * MS);
		put_ran(100, i, MS, 0);
		put_slept(100, 100, i, "wait4", 0, 90 * MS);
		put_slept(100, 100, i, "clock_nanosleep", 0, 909 * MS);
	}
	tree_put("manifest.json", "{\"tool\":\"dltraced\",\"schema\":1,\"workload\":{\"pid\":100},\"complete\":true}");
	r = loaded();
	assert_int_equal(r->why->n_trainers, 1);
	assert_int_equal(r->why->trainer[0].pid, 100);
	expect_near(is_bottleneck(r, "idle")->share, 0.909);
	report_free(r);
}

static void loaders_are_known_by_how_they_began_and_what_they_read(void **state)
{
	static const char server[] = "python\\000-c\\000from\\040multiprocessing.forkserver\\040import\\040main";
	static const char spawned[] = "python\\000-c\\000from\\040multiprocessing.spawn\\040import\\040spawn_main";
	static const char tracker[] = "python\\000-c\\000from\\040multiprocessing.resource_tracker\\040import\\040main";
	struct report *r;

	put_alone("python", 19 * S);
	put_copy(101, 100, NULL, step(STEPS));
	put_copy(102, 100, spawned, step(STEPS));
	put_copy(103, 100, server, step(STEPS));
	put_copy(104, 103, NULL, step(STEPS));
	put(PIDS, BEGIN + 1, "105\t105\t100\tpython\tsnapshot\t-\t105\t0\t/\t-\tpython");
	put_copy(106, 100, tracker, step(STEPS));
	for (unsigned int pid = 101; pid <= 106; pid++)
		if (pid != 103)
			put_rw(pid, step(3), MS, 'R', MiB, 0, 0, 2);
	r = loaded();
	assert_int_equal(r->why->n_trainers, 1);
	assert_int_equal(r->why->trainer[0].pid, 100);
	assert_int_equal(r->why->loaders.n, 4);
	assert_int_equal(r->why->seen, WHY_SEEN_LOADERS);
	assert_null(why_find(r, 103));
	assert_null(why_find(r, 106));
	report_free(r);
}

static void put_fork(unsigned int pid, unsigned int parent, uint64_t user)
{
	put(PIDS, BEGIN + 1, "%u\t%u\t%u\tpython\tfork\t-\t%u\t0\t/\t-\t-", pid, pid, parent, pid);
	put(PIDS, step(STEPS), "%u\t%u\t%u\tpython\texit\t0\t%u\t0\t/\t-\tutime=%llu\\040stime=0", pid, pid, parent,
	    pid, N(user));
}

/*
 * mp.spawn without GPU, loaders and epochs: the process that started them only waits, and looks like a trainer with
 * loaders.
 */
static void a_process_that_only_waits_for_its_copies_does_not_train(void **state)
{
	struct report *r;

	put_alone("python", 3 * S);
	for (unsigned int pid = 101; pid <= 104; pid++) {
		put_fork(pid, 100, 18 * S);
		for (unsigned int i = 0; i < STEPS; i++)
			put_rw(pid, step(i) + 700 * MS, 300 * MS, 'R', MiB, i * MiB, MiB, 2);
	}
	put_fork(105, 100, 10 * MS); /* it only cleans up */
	put_pipe(100, step(STEPS) - 10, 5, 'R');
	r = loaded();
	assert_int_equal(r->why->n_trainers, 4);
	assert_int_equal(r->why->loaders.n, 0);
	for (unsigned int pid = 101; pid <= 104; pid++)
		assert_non_null(why_trainer_of(r, pid));
	expect_near(is_bottleneck(r, "storage-read")->measure, since(400 * MS, 0.3));
	assert_non_null(strstr(r->why->notes[0], "process 100 (python) only waited for 5"));
	report_free(r);
}

/* Its server forks them, and outlives it. */
static void so_is_one_whose_server_forks_them(void **state)
{
	static const char server[] = "python\\000-c\\000from\\040multiprocessing.forkserver\\040import\\040main";
	struct report *r;

	put_alone("python", 3 * S);
	put(PIDS, BEGIN + 1, "103\t103\t100\tpython\tfork\t-\t103\t0\t/\t-\t-");
	put(PIDS, BEGIN + 2, "103\t103\t100\tpython\texec\t-\t103\t0\t/\t-\t%s", server);
	for (unsigned int pid = 104; pid <= 105; pid++) {
		put_fork(pid, 103, 18 * S);
		for (unsigned int i = 0; i < STEPS; i++)
			put_rw(pid, step(i) + 700 * MS, 300 * MS, 'R', MiB, i * MiB, MiB, 2);
	}
	r = loaded();
	assert_int_equal(r->why->n_trainers, 2);
	assert_int_equal(r->why->loaders.n, 0);
	assert_non_null(why_trainer_of(r, 104));
	report_free(r);
}

/* As above, but they send what they read to it: they load, and it has little to do because it waits for them. */
static void a_process_that_gets_its_data_from_its_copies_trains(void **state)
{
	struct report *r;

	put_alone("python", 3 * S);
	put_file(1, "fifo", "pipefs", 0, "pipe:[1]");
	put_waits(800 * MS);
	for (unsigned int pid = 101; pid <= 102; pid++) {
		put_fork(pid, 100, 18 * S);
		for (unsigned int i = 0; i < STEPS; i++) {
			put_rw(pid, step(i) + 700 * MS, 690 * MS, 'R', MiB, i * MiB, 0, 2);
			put_work(pid, i, 800 * MS);
		}
	}
	r = loaded();
	assert_int_equal(r->why->n_trainers, 1);
	assert_int_equal(r->why->loaders.n, 2);
	expect_near(r->why->waited_ns / r->why->window_ns, 0.8);
	is_bottleneck(r, "decode-cpu");
	report_free(r);
}

/* A launcher, two ranks that wait for their loaders, and the loaders, all with one name. */
static void ranks_of_a_launcher_may_have_loaders(void **state)
{
	struct report *r;

	put_alone("python", 1 * S);
	put_file(1, "fifo", "pipefs", 0, "pipe:[1]");
	for (unsigned int rank = 101; rank <= 102; rank++) {
		put_fork(rank, 100, 4 * S);
		for (unsigned int i = 0; i < STEPS; i++)
			put_pipe(rank, step(i) + 800 * MS, 800 * MS, 'R');
		for (unsigned int pid = 10 * rank; pid < 10 * rank + 2; pid++) {
			put_fork(pid, rank, 18 * S);
			for (unsigned int i = 0; i < STEPS; i++) {
				put_rw(pid, step(i) + 700 * MS, 690 * MS, 'R', MiB, i * MiB, MiB, 2);
				put_work(pid, i, 800 * MS);
			}
		}
	}
	r = loaded();
	assert_int_equal(r->why->n_trainers, 2);
	assert_int_equal(why_trainer_of(r, 101)->loaders, 2);
	assert_int_equal(why_trainer_of(r, 102)->loaders, 2);
	expect_near(is_bottleneck(r, "storage-read")->measure, 0.69);
	report_free(r);
}

/* Two that load by themselves from the same files: one fetches, and the other waits for the same pages. */
static void two_that_read_the_same_wait_for_the_same(void **state)
{
	struct report *r;

	for (unsigned int pid = 100; pid <= 200; pid += 100) {
		put(PIDS, BEGIN, "%u\t%u\t1\tpython\texec\t-\t%u\t0\t/\t-\tpython\\000train.py", pid, pid, pid);
		put(PIDS, BEGIN + STEPS * S, "%u\t%u\t1\tpython\texit\t0\t%u\t0\t/\t-\tutime=7000000000\\040stime=0",
		    pid, pid, pid);
	}
	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	for (unsigned int i = 0; i < STEPS; i++) {
		const unsigned int first = 100, second = 200;

		/* ended before the other, which shows only then that it fetched */
		put_rw(first, step(i) + 690 * MS, 300 * MS, 'R', MiB, i * 2 * MiB, 0, 2);
		put_rw(second, step(i) + 700 * MS, 600 * MS, 'R', 2 * MiB, i * 2 * MiB, 2 * MiB, 2);
		/* and the pages that it had fetched in advance */
		put_rw(first, step(i) + 990 * MS, 300 * MS, 'R', MiB, (i * 2 + 1) * MiB, 0, 2);
	}
	r = loaded();
	assert_int_equal(r->why->n_trainers, 2);
	expect_near(is_bottleneck(r, "storage-read")->measure, since((100 + 390) * MS / 2, 0.6));
	report_free(r);
}

/* A read that nobody fetches for is slow by itself. */
static void a_slow_read_of_what_is_in_memory_is_no_disk(void **state)
{
	struct report *r;

	put_job(0);
	put_waits(800 * MS);
	put_file(4, "reg", "ext4", 64 * MiB, "/data/cold.tar");
	for (unsigned int i = 0; i < STEPS; i++) {
		put_rw(101, step(i) + 700 * MS, 690 * MS, 'R', MiB, i * MiB, 0, 2);
		put_rw(102, step(i) + 710 * MS, 700 * MS, 'R', MiB, i * MiB, MiB, 4);
		put_work(101, i, 800 * MS);
		put_work(102, i, 800 * MS);
	}
	r = loaded();
	expect_near(found(r, "decode-cpu")->measure, 0.69 / 2);
	expect_near(is_bottleneck(r, "storage-read")->measure, 0.7 / 2);
	report_free(r);
}

/* O_DIRECT: whatever requests to the disk are known. */
static void a_read_past_the_cache_is_the_disk(void **state)
{
	struct report *r;

	put_job(0);
	put_waits(800 * MS);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put(RW, step(i) + 700 * MS, "%u\t%u\tx\tR\tread\t%llu\t%u\t%u\t%u\t0\t5\tDIRECT\t2\tf", pid,
			    pid, N(690 * MS), MiB, MiB, i * MiB);
			put_work(pid, i, 800 * MS);
		}
	r = loaded();
	expect_near(is_bottleneck(r, "storage-read")->measure, 0.69);
	report_free(r);
}

static void without_anybody_nothing_is_known(void **state)
{
	struct report *r;

	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	put_rw(100, step(1), MS, 'R', MiB, 0, MiB, 2);
	r = loaded();
	is_bottleneck(r, "unknown");
	assert_true(isnan(r->why->rules->bottleneck.measure));
	assert_true(r->why->rules->n_missing > 0);
	report_free(r);
}

/* --- rules --------------------------------------------------------------------------------------------- */

/* N reads of BYTES by each loader, at multiples of MULTIPLE. */
static void put_reads(unsigned int n, uint64_t bytes, uint64_t multiple, uint64_t disk, unsigned int fid)
{
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int pid = 101; pid <= 102; pid++)
			put_rw(pid, BEGIN + (i + 1) * MS, 1000, 'R', bytes, i * multiple, disk, fid);
}

static void sizes_and_order_of_reads(void **state)
{
	struct report *r;

	put_job(0);
	put_reads(1000, 512, 100000, 4096, 2);
	r = loaded();
	expect_near(found(r, "tiny-reads")->measure, 1);
	expect_near(found(r, "small-reads")->measure, 1);
	expect_near(found(r, "random-reads")->measure, 1);
	assert_non_null(found(r, "misaligned"));
	assert_null(found(r, "no-readahead"));
	expect_near(r->why->epoch[0].sequential, 0);
	report_free(r);
}

/* Whole files, again in each epoch, in two reads: none jumps, though half of them could. */
static void reading_a_file_again_is_no_jump(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 1200; i++) {
		put_rw(101, BEGIN + (i + 1) * MS, 10, 'R', 65536, 0, 0, 2);
		put_rw(101, BEGIN + (i + 1) * MS + 100, 10, 'R', 4096, 65536, 0, 2);
	}
	r = loaded();
	assert_null(found(r, "random-reads"));
	assert_int_equal(r->why->sums.placed, 1200);
	assert_int_equal(r->why->sums.sequential, 1200);
	report_free(r);
}

static void fewer_than_many_do_not_matter(void **state)
{
	struct report *r;

	put_job(0);
	put_reads(400, 512, 100000, 4096, 2);
	r = loaded();
	assert_null(found(r, "tiny-reads"));
	assert_null(found(r, "small-reads"));
	assert_null(found(r, "random-reads"));
	report_free(r);
}

/* Small reads that find everything in the page cache do not count for the disk: of 800 that fetch, 200 are small. */
static void small_reads_count_where_they_fetch(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 800; i++) {
		put_rw(101, BEGIN + (i + 1) * MS, 10, 'R', 512, i * MiB, 0, 2);
		put_rw(102, BEGIN + (i + 1) * MS, 10, 'R', i % 4 ? 65536 : 61440, i * MiB, i % 4 ? 65536 : 61440, 2);
	}
	r = loaded();
	assert_int_equal(r->why->sums.disk_reads, 800);
	assert_int_equal(r->why->sums.small_disk_reads, 200);
	assert_null(found(r, "small-reads"));
	report_free(r);
}

/*
 * As large as the buffer, known by files.out, and shorter than it; in two reads, of which the first fetches everything;
 * in many.
 */
static void small_files_read_whole_are_no_small_reads(void **state)
{
	struct report *r;

	put_job(0);
	put_file(4, "reg", "ext4", 1000, "/data/a.jpg");
	for (unsigned int i = 0; i < 1500; i++) {
		put_rw(101, BEGIN + (i + 1) * MS, 10, 'R', 1000, 0, 4096, 4);
		put(RW, BEGIN + (i + 1) * MS, "102\t102\tx\tR\tread\t10\t1001\t1000\t0\t4096\t5\t-\t2\tf");
	}
	r = loaded();
	assert_int_equal(r->why->sums.disk_reads, 3000);
	assert_null(found(r, "small-reads"));
	assert_null(found(r, "tiny-reads"));
	report_free(r);
	put_job(0);
	put_file(4, "reg", "ext4", 1000, "/data/a.jpg");
	for (unsigned int i = 0; i < 1500; i++) {
		put_rw(101, BEGIN + (i + 1) * MS, 10, 'R', 500, 0, 4096, 4);
		put_rw(101, BEGIN + (i + 1) * MS + 10, 10, 'R', 500, 500, 0, 4);
	}
	r = loaded();
	assert_null(found(r, "small-reads"));
	expect_near(found(r, "tiny-reads")->measure, 1);
	report_free(r);
	put_job(0);
	for (unsigned int i = 0; i < 1500; i++)
		put_rw(101, BEGIN + (i + 1) * MS, 10, 'R', 500, 9000ULL * i, 4096, 2);
	r = loaded();
	expect_near(found(r, "small-reads")->measure, 1);
	report_free(r);
}

/* Of reads of 8 KiB in order one in 16 fetches 128 KiB: the disk gets no small requests, and no read is wasted. */
static void read_ahead_makes_reads_large(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 20000; i++)
		put_rw(101, BEGIN + (i + 1) * MS / 10, 10, 'R', 8192, i * 8192ULL, i % 16 ? 0 : 131072, 2);
	r = loaded();
	assert_int_equal(r->why->sums.disk_reads, 1250);
	assert_null(found(r, "small-reads"));
	assert_null(found(r, "no-readahead"));
	report_free(r);
	/* of reads of 64 KiB every second one fetches */
	put_job(0);
	for (unsigned int i = 0; i < 2000; i++)
		put_rw(101, BEGIN + (i + 1) * MS, 10, 'R', 65536, i * 65536ULL, i % 2 ? 0 : 131072, 2);
	r = loaded();
	assert_null(found(r, "no-readahead"));
	report_free(r);
}

/* Two threads, each with its own descriptor and half; and a header that each epoch skips. */
static void reads_in_order_by_each_descriptor_do_not_jump(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 1500; i++)
		for (unsigned int fd = 7; fd <= 8; fd++)
			put(RW, BEGIN + (i + 1) * MS + fd, "101\t%u\tx\tR\tread\t10\t4096\t4096\t%llu\t0\t%u\t-\t2\tf",
			    101 + fd, (fd - 7) * 32ULL * MiB + i * 4096ULL, fd);
	r = loaded();
	assert_int_equal(r->why->sums.placed, 2998);
	assert_null(found(r, "random-reads"));
	report_free(r);
	put_job(0);
	for (unsigned int i = 0; i < 1500; i++) {
		put_rw(101, BEGIN + (i + 1) * MS, 10, 'R', 65536, 512, 0, 2);
		put_rw(101, BEGIN + (i + 1) * MS + 100, 10, 'R', 4096, 65536 + 512, 0, 2);
	}
	r = loaded();
	assert_int_equal(r->why->sums.placed, 1500);
	assert_null(found(r, "random-reads"));
	report_free(r);
}

/* A problem takes half a second of 20 s, 2 ms are none; a description of the job never is. */
static void what_costs_little_is_a_fact(void **state)
{
	for (unsigned int costly = 0; costly < 2; costly++) {
		struct report *r;

		put_alone("cp", MS);
		put_file(2, "reg", "ext4", 256 * MiB, "/data/shard.tar");
		for (unsigned int i = 0; i < 2000; i++)
			put_rw(100, BEGIN + (i + 1) * MS, costly ? 250000 : 1000, 'R', 8192, (2000 - i) * 65536ULL, 0,
			       2);
		r = loaded();
		expect_near(found(r, "random-reads")->measure, 1);
		assert_int_equal(found(r, "random-reads")->is_fact, !costly);
		assert_true(found(r, "read-often")->is_fact);
		expect_near(found(r, "random-reads")->size.ns, (costly ? 250000. : 1000.) * 1999);
		assert_int_equal(r->why->rules->n, costly);
		report_free(r);
	}
}

static void read_ahead_that_gains_nothing(void **state)
{
	struct report *r;

	put_job(0);
	put_reads(600, 32768, 32768, 32768, 2);
	r = loaded();
	expect_near(found(r, "no-readahead")->measure, 1);
	assert_null(found(r, "random-reads"));
	assert_null(found(r, "tiny-reads"));
	assert_null(found(r, "misaligned"));
	report_free(r);
}

static void what_came_from_disk_again(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int again = 0; again < 2; again++)
		for (unsigned int i = 0; i < 64; i++)
			put_rw(101, BEGIN + (again * 64 + i + 1) * MS, 1000, 'R', MiB, i * MiB, MiB, 2);
	r = loaded();
	expect_near(found(r, "cache-too-small")->measure, 0.5);
	assert_int_equal(r->why->sums.again_bytes, 64 * MiB);
	assert_null(found(r, "redundant-reads")); /* no epochs are known */
	assert_non_null(found(r, "read-intensive"));
	report_free(r);
}

/*
 * All of a file twice in an epoch, and a file for each epoch that is overwritten; from one epoch to the next it does
 * not count.
 */
static void what_is_read_and_written_again_in_an_epoch(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int epoch = 0; epoch < 2; epoch++) {
		put(MARKS, step(10 * epoch), "100\tepoch_start");
		put(MARKS, step(10 * epoch + 9), "100\tepoch_stop");
		for (unsigned int i = 0; i < 64; i++) {
			const uint64_t at = step(10 * epoch) + (i + 1) * MS;

			put_rw(101, at, 1000, 'R', MiB, i % 32 * MiB, 0, 2);
			put_rw(100, at + 10, 1000, 'W', MiB, i % 48 * MiB, 0, 3);
		}
	}
	r = loaded_with(true);
	assert_int_equal(r->why->n_epochs, 2);
	expect_near(found(r, "redundant-reads")->measure, 0.5);
	expect_near(found(r, "redundant-writes")->measure, 0.25);
	report_free(r);
}

/* A mebibyte in the middle of each of N steps, always the same. */
static void put_same_reads(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		put_rw(101, step(i) + 500 * MS, 1000, 'R', MiB, 0, 0, 2);
}

/* Before the first epoch, between two, after the last one: this counts in the sums of everything, and in no epoch's. */
static void what_is_read_in_no_epoch(void **state)
{
	struct report *r;

	put_job(0);
	put_same_reads(15);
	for (unsigned int epoch = 0; epoch < 2; epoch++) {
		put(MARKS, step(3 + 5 * epoch), "100\tepoch_start");
		put(MARKS, step(6 + 5 * epoch), "100\tepoch_stop");
	}
	r = loaded_with(true);
	assert_true(r->why->by_epoch);
	assert_int_equal(r->why->n_epochs, 2);
	for (unsigned int epoch = 0; epoch < 2; epoch++) {
		assert_int_equal(r->why->epoch[epoch].reads, 3);
		assert_int_equal(r->why->epoch[epoch].read_bytes, 3 * MiB);
		assert_int_equal(r->why->epoch[epoch].again_bytes, 2 * MiB);
	}
	assert_int_equal(r->why->sums.reads, 15);
	assert_int_equal(r->why->sums.read_bytes, 15 * MiB);
	assert_int_equal(r->why->sums.again_bytes, 14 * MiB);
	report_free(r);
}

/* A log of another day: its epochs are known before the rows, and are not the trace's. */
static void epochs_that_are_all_behind_the_trace(void **state)
{
	struct report *r;

	put_job(0);
	put_same_reads(15);
	put_rw(100, step(2), 1000, 'W', MiB, 0, 0, 3);
	put_rw(100, step(3), 1000, 'W', MiB, 0, 0, 3);
	put(MARKS, step(1000), "100\tepoch_start");
	put(MARKS, step(1001), "100\tepoch_stop");
	r = loaded_with(true);
	assert_false(r->why->by_epoch);
	assert_int_equal(r->why->n_epochs, 1);
	assert_string_equal(r->why->epoch[0].name, "all of the trace");
	assert_int_equal(r->why->epoch[0].reads, 15);
	assert_int_equal(r->why->epoch[0].again_bytes, 14 * MiB);
	assert_int_equal(r->why->sums.reads, 15);
	assert_int_equal(r->why->sums.rewritten_bytes, MiB);
	report_free(r);
}

/* Loaders that read one file, one of them much more; in small pieces. */
static void what_several_share(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 1000; i++) {
		put_rw(101, BEGIN + (i + 1) * MS, 10, 'R', 32768, i * 32768, 0, 2);
		if (i % 4 == 0)
			put_rw(102, BEGIN + (i + 1) * MS + 100, 10, 'R', 65536, i * 32768, 0, 2);
	}
	r = loaded();
	expect_near(found(r, "file-imbalance")->measure, 0.5);
	assert_true(has_evidence(found(r, "file-imbalance"),
				 "/data/shard.tar: process 101 read and wrote 31.2 MiB of it, process 102"));
	expect_near(found(r, "small-shared")->measure, 0.8);
	expect_near(found(r, "read-often")->measure, 1);
	report_free(r);
	/* each has its own file */
	put_job(0);
	put_file(4, "reg", "ext4", 64 * MiB, "/data/cold.tar");
	for (unsigned int i = 0; i < 1000; i++) {
		put_rw(101, BEGIN + (i + 1) * MS, 10, 'R', 32768, i * 32768, 0, 2);
		put_rw(102, BEGIN + (i + 1) * MS, 10, 'R', 16384, i * 32768, 0, 4);
	}
	r = loaded();
	assert_null(found(r, "file-imbalance"));
	assert_null(found(r, "small-shared"));
	report_free(r);
}

/* The workers of one epoch are not those of the next. */
static void a_worker_of_the_next_epoch_shares_nothing(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 1200; i++) {
		put_rw(101, step(1) + (i + 1) * 100, 10, 'R', 32768, i * 32768, 0, 2);
		put_rw(102, step(5) + (i + 1) * 100, 10, 'R', 32768, i * 32768, 0, 2);
	}
	put(MARKS, step(0), "100\tepoch_start");
	put(MARKS, step(3), "100\tepoch_stop");
	put(MARKS, step(4), "100\tepoch_start");
	put(MARKS, step(7), "100\tepoch_stop");
	r = loaded_with(true);
	assert_int_equal(r->why->n_epochs, 2);
	assert_int_equal(r->why->sums.reads, 2400);
	assert_int_equal(r->why->sums.shared, 0);
	assert_null(found(r, "small-shared"));
	report_free(r);
}

/* A thousand small reads of packages are not small reads of data; another rule covers that they take half of a life. */
static void software_is_no_data(void **state)
{
	struct report *r;

	for (unsigned int slow = 0; slow < 2; slow++) {
		put_alone("python3.12", S);
		put_file(6, "reg", "ext4", 4000, "/env/lib/python3.12/site-packages/torch/nn.py");
		put_file(7, "dir", "ext4", 4000, "/env/lib/python3.12/site-packages/torch");
		for (unsigned int i = 0; i < 2000; i++) {
			put_open(100, BEGIN + (i + 1) * 5 * MS, slow ? 4 * MS : 10, 6);
			put_rw(100, BEGIN + (i + 1) * 5 * MS + 10, 10, 'R', 100, (i * 7919) % 4000, 4096, 6);
			put(OPEN, BEGIN + (i + 1) * 5 * MS + 20,
			    "100\t100\tx\topenat\t5\t5\t-2\tRDONLY\t-\t-\t-\t/env/x%u.py\t-", i);
			put(OPEN, BEGIN + (i + 1) * 5 * MS + 30,
			    "100\t100\tx\topenat\t5\t5\t4\tRDONLY|DIRECTORY\t-\t7\tf\tf\t-");
		}
		r = loaded();
		assert_int_equal(r->why->sums.reads, 0);
		assert_int_equal(r->why->sums.opens_read, 0);
		assert_int_equal(r->why->sums.open_ns, 0);
		assert_int_equal(r->why->epoch[0].n_slow, 0);
		assert_null(found(r, "small-reads"));
		assert_null(found(r, "random-reads"));
		assert_null(found(r, "metadata-time"));
		assert_int_equal(found(r, "slow-imports") != NULL, slow);
		if (slow) {
			expect_near(found(r, "slow-imports")->measure, 0.4);
			assert_true(
				has_evidence(found(r, "slow-imports"),
					     "the slowest folder: /env/lib/python3.12/site-packages/torch, 8.00 s in"));
		}
		report_free(r);
	}
	/* a process that reads sources and is no interpreter works on them */
	put_alone("tar", S);
	for (unsigned int i = 0; i < 2000; i++)
		put_open(100, BEGIN + (i + 1) * 5 * MS, 4 * MS, 4);
	r = loaded();
	assert_null(found(r, "slow-imports"));
	report_free(r);
}

/* A file of settings is read, and then packages are imported for seconds: the examined time begins after that. */
static void settings_are_not_where_the_data_begins(void **state)
{
	struct report *r;

	put_alone("python3.12", 15 * S);
	put_file(6, "reg", "ext4", 4000, "/job/config.json");
	put_rw(100, step(0) + 10 * MS, 1000, 'R', 4000, 0, 0, 6);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_ran(100, i, 800 * MS, 0);
		if (i >= 5)
			put_rw(100, step(i) + 10 * MS, 1000, 'R', MiB, i * MiB, 0, 2);
	}
	r = loaded();
	assert_int_equal(why_trainer_of(r, 100)->begin_ns, step(5) + 10 * MS - 1000);
	report_free(r);
	/* it reads only a little now and then */
	put_alone("python3.12", 15 * S);
	for (unsigned int i = 0; i < STEPS; i += 2)
		put_rw(100, step(i) + 10 * MS, 1000, 'R', 4000, i * 4000, 0, 2);
	for (unsigned int i = 0; i < STEPS; i++)
		put_ran(100, i, 800 * MS, 0);
	r = loaded();
	assert_int_equal(why_trainer_of(r, 100)->begin_ns, step(0) + 10 * MS - 1000);
	report_free(r);
}

/* Libraries are mapped: their cost is in page faults, and in stat(2) of possible places, before there is data. */
static void imports_wait_in_faults_and_stat_before_the_data(void **state)
{
	const struct finding *f;
	struct report *r;

	put_alone("python3.12", S);
	put_open(100, BEGIN + 5 * MS, MS, 6);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_slept(100, 100, i, "fault", 500 * MS, 0);
		put_slept(100, 100, i, "newfstatat", 0, 100 * MS);
		if (i >= STEPS / 2)
			put_rw(100, step(i) + 10 * MS, 1000, 'R', MiB, i * MiB, 0, 2);
	}
	r = loaded();
	f = found(r, "slow-imports");
	assert_non_null(f);
	assert_in_range((unsigned int)(1000 * f->measure), 290, 310); /* 0.6 of half of its life */
	assert_true(has_evidence(f, "page faults and for"));
	report_free(r);
}

static void writes_that_jump(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 2001; i++)
		put_rw(100, BEGIN + (i + 1) * MS, 10, 'W', 8192, i % 2 ? (i - 1) * 8192 + 8192 : i * 16384, 0, 3);
	r = loaded();
	assert_non_null(found(r, "random-writes"));
	expect_near(found(r, "write-often")->measure, 1);
	report_free(r);
	put_job(0);
	for (unsigned int i = 0; i < 2001; i++) {
		put_rw(100, BEGIN + (i + 1) * MS, 10, 'W', 8192, i * 8192, 0, 3);
		put_rw(100, BEGIN + (i + 1) * MS + 100, 10, 'R', 8192, (2001 - i) * 8192, 0, 3);
	}
	r = loaded();
	assert_null(found(r, "random-writes")); /* reads in between do not count */
	assert_null(found(r, "write-often"));
	expect_near(found(r, "random-reads")->measure, 1);
	report_free(r);
}

/* Two processes in turn, neither of which continues where it ended; and with O_APPEND, whatever the offset is. */
static void appending_is_no_jump(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 3000; i++)
		put_rw(100 + i % 2, BEGIN + (i + 1) * MS, 10, 'W', 100, i * 100, 0, 3);
	r = loaded();
	assert_int_equal(r->why->sums.placed_writes, 2998);
	assert_null(found(r, "random-writes"));
	report_free(r);
	put_job(0);
	for (unsigned int i = 0; i < 3000; i++)
		put(RW, BEGIN + (i + 1) * MS, "100\t100\tx\tW\twrite\t10\t100\t100\t%u\t0\t5\tAPPEND\t3\tf",
		    7 * (i % 100));
	r = loaded();
	assert_null(found(r, "random-writes"));
	report_free(r);
}

static void a_storm_of_opens(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 3000; i++) {
		put_open(101, BEGIN + (i + 1) * MS / 2, 1000, 2);
		put_rw(101, BEGIN + (i + 1) * MS / 2 + 10, 10, 'R', 4096, 0, 0, 2);
	}
	r = loaded();
	assert_true(found(r, "open-storm")->measure >= 1900);
	assert_int_equal(r->why->epoch[0].samples, 3000);
	report_free(r);
}

static void opens_that_fail(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 2000; i++)
		put(OPEN, BEGIN + (i + 1) * MS, "101\t101\tx\topenat\t1000\t-\t%d\tRDONLY\t-\t-\t-\tf\t-",
		    i % 4 ? -2 : 5);
	r = loaded();
	expect_near(found(r, "failed-opens")->measure, 0.75);
	report_free(r);
}

/* A loader of three threads: no part exceeds the whole. */
static void no_share_is_more_than_all(void **state)
{
	struct report *r;

	put_job(3 * STEPS * S);
	put_same_reads(15);
	r = loaded();
	expect_near(found(r, "loader-cpu-bound")->share, 1);
	assert_true(
		has_evidence(found(r, "loader-cpu-bound"), "loaders used 60.0 s of CPU time in 20.0 s of their lives"));
	for (unsigned int i = 0; i < r->why->rules->n; i++)
		assert_false(r->why->rules->found[i].share > 1);
	report_free(r);
}

static void writes_and_standard_output(void **state)
{
	struct report *r;

	put_job(0);
	put_file(4, "chr", "devpts", 0, "/dev/pts/1");
	for (unsigned int i = 0; i < 2000; i++) {
		put_rw(100, BEGIN + (i + 1) * MS, 10, 'W', 8192, i * 8192, 0, 3);
		put(RW, BEGIN + (i + 1) * MS + 1, "100\t100\tx\tW\twrite\t10\t4096\t4096\t-\t0\t1\t-\t4\t1");
	}
	r = loaded();
	expect_near(found(r, "small-writes")->measure, 1);
	expect_near(found(r, "stdout-heavy")->measure, 1. / 3);
	assert_null(found(r, "write-intensive")); /* 16 MiB are little */
	report_free(r);
}

/* tar | gzip > x: blocks through a pipe into a file, and lines for another process of the job. */
static void data_is_no_output(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 2000; i++) {
		put(RW, BEGIN + (i + 1) * MS, "100\t100\tx\tW\twrite\t10\t10240\t10240\t-\t0\t1\t-\t1\tpipe:[1]");
		put(RW, BEGIN + (i + 1) * MS + 1, "101\t101\tx\tR\tread\t10\t10240\t4096\t-\t0\t0\t-\t1\tpipe:[1]");
		put(RW, BEGIN + (i + 1) * MS + 2, "100\t100\tx\tW\twrite\t10\t4096\t4096\t-\t0\t1\t-\t1\tpipe:[1]");
		put_rw(101, BEGIN + (i + 1) * MS + 3, 10, 'W', 32768, i * 32768ULL, 0, 3);
		put(RW, BEGIN + (i + 1) * MS + 4, "101\t101\tx\tW\twrite\t10\t4096\t4096\t%u\t0\t1\t-\t3\tf", i * 4096);
	}
	r = loaded();
	assert_null(found(r, "stdout-heavy"));
	assert_int_equal(r->why->sums.stdout_writes, 0);
	report_free(r);
}

static void loaders_that_differ(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 20; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_open(pid, step(i) + 10 * MS, 10, 2);
			put_rw(pid, step(i) + 500 * MS, pid == 101 ? 400 * MS : 100 * MS, 'R',
			       pid == 101 ? 3 * MiB : MiB, i * MiB, 0, 2);
		}
	r = loaded();
	expect_near(found(r, "straggler-data")->measure, 3);
	assert_true(found(r, "slow-worker")->measure > 3.9);
	assert_int_equal(r->why->epoch[0].slow_worker, 101);
	assert_int_equal(r->why->epoch[0].workers, 2);
	assert_string_equal(r->why->epoch[0].slow[0].path, "/data/shard.tar");
	report_free(r);
}

/* The workers of the second epoch find everything in the page cache; those of the first did nothing wrong. */
static void workers_are_compared_with_those_of_their_time(void **state)
{
	struct report *r;

	put(PIDS, BEGIN, "100\t100\t1\tpython\texec\t-\t100\t0\t/\t-\tpython\\000train.py");
	for (unsigned int pid = 101; pid <= 104; pid++) {
		uint64_t begin = pid <= 102 ? BEGIN + 1 : step(10);

		put(PIDS, begin, "%u\t%u\t100\tpython\tfork\t-\t%u\t0\t/\t-\t-", pid, pid, pid);
		put(PIDS, begin + 1, "%u\t%u\t100\tpt_data_worker\trename\t-\t%u\t0\t/\t-\tpython", pid, pid, pid);
		put(PIDS, pid <= 102 ? step(9) + 900 * MS : BEGIN + STEPS * S,
		    "%u\t%u\t100\tpt_data_worker\texit\t0\t%u\t0\t/\t-\tutime=0\\040stime=0\\040maxrss=1", pid, pid,
		    pid);
	}
	put(PIDS, BEGIN + STEPS * S, "100\t100\t1\tpython\texit\t0\t100\t0\t/\t-\tutime=1\\040stime=0\\040maxrss=1");
	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	for (unsigned int i = 0; i < 18; i++)
		for (unsigned int k = 0; k < 2; k++) {
			unsigned int pid = (i < 9 ? 101 : 103) + k;

			put_open(pid, step(i < 9 ? i : i + 2) + 10 * MS, 10, 2);
			put_rw(pid, step(i < 9 ? i : i + 2) + 500 * MS, (i < 9 ? 400 : 20) * MS + k * MS, 'R', MiB,
			       i * MiB, 0, 2);
		}
	r = loaded();
	assert_int_equal(r->why->n_epochs, 1);
	assert_int_equal(r->why->epoch[0].workers, 4);
	assert_int_equal(r->why->epoch[0].slow_among, 2);
	assert_null(found(r, "slow-worker"));
	report_free(r);
}

static void loaders_short_of_cpu_while_others_are_idle(void **state)
{
	struct report *r;

	put_job(STEPS * 950 * MS);
	put_waits(500 * MS);
	for (unsigned int i = 0; i < STEPS; i++) {
		put(CPU, step(i) + S, "1\tall\t25.00\t75.00");
		for (unsigned int pid = 101; pid <= 102; pid++)
			put_work(pid, i, 990 * MS);
	}
	r = loaded();
	is_bottleneck(r, "decode-cpu");
	expect_near(found(r, "loader-cpu-bound")->measure, 0.95);
	expect_near(found(r, "too-few-workers")->measure, 0.75);
	report_free(r);
}

static void missing_files_are_noted(void **state)
{
	struct report *r;

	put_job(0);
	put_reads(10, MiB, MiB, 0, 2);
	r = loaded();
	assert_true(lacks(r, "cpu-contention: needs CPU scheduling"));
	assert_true(lacks(r, "too-few-workers: needs cpu.out"));
	report_free(r);
}

/* Returns the JSON of R's epochs, and everything after them. */
static char *epoch_json(const struct report *r)
{
	struct json j = { 0 };
	char *json = NULL, *epoch;
	size_t len = 0;
	FILE *out = open_memstream(&json, &len);

	report_json(r, &j);
	assert_int_equal(json_write(&j, out), 0);
	fclose(out);
	epoch = strdup(strstr(json, "\"epochs\""));
	free(json);
	return epoch;
}

static void what_is_not_known_of_epochs_is_null(void **state)
{
	static const char *const of_rw[] = { "reads",       "read_bytes", "disk_bytes",
					     "cache_bytes", "disk_reads", "again_bytes" };
	autofree char *none = NULL, *unaccounted = NULL;
	struct report *r;

	put_job(0);
	put_open(101, step(1), MS, 2);
	r = loaded();
	none = epoch_json(r);
	report_free(r);
	assert_non_null(strstr(none, "\"samples\": 1,"));
	for (size_t i = 0; i < ARRAY_SIZE(of_rw); i++) {
		autofree char *key = util_fmt("\"%s\": null,", of_rw[i]);

		assert_non_null(strstr(none, key));
	}
	put_job(0);
	put(RW, step(1), "101\t101\tx\tR\tread\t1000\t4096\t4096\t0\t-\t5\t-\t2\tf");
	r = loaded();
	unaccounted = epoch_json(r);
	report_free(r);
	assert_non_null(strstr(unaccounted, "\"samples\": null,"));
	assert_non_null(strstr(unaccounted, "\"read_bytes\": 4096,"));
	assert_non_null(strstr(unaccounted, "\"disk_bytes\": null,"));
	assert_non_null(strstr(unaccounted, "\"cache_bytes\": null,"));
}

/* Finds in LIST, the output of report --rules, the row of RULE, with its number and threshold. */
static void listed(const struct rule *rule, const char *list)
{
	autofree char *row = util_fmt("\n| `%s` | %s | %g |", rule->code, rule->number, rule->threshold);
	autofree char *answer = util_fmt("\n| `%s` |", rule->code);

	assert_non_null(rule->number);
	if (!strstr(list, rule->threshold > 0 ? row : answer))
		fail_msg("report --rules lacks %s", rule->code);
}

static void each_rule_is_listed(void **state)
{
	autofree char *list = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&list, &len);

	report_rules_markdown(out);
	fclose(out);
	for (const struct rule *const *table = rules_tables; *table; table++)
		for (const struct rule *rule = *table; rule->code; rule++)
			listed(rule, list);
	for (const struct rule *const *answer = rules_answers; *answer; answer++)
		listed(*answer, list);
}

/* --- by regions ------------------------------------------------------------------------------------------ */

/* Step I of PID, in epoch I / 10: a region CAT.NAME in it, from FROM to TO. */
static void put_region(unsigned int pid, unsigned int i, const char *cat, const char *name, uint64_t from, uint64_t to)
{
	put(REGIONS, step(i) + to, "%u\t%u\tx\t%s\t%s\t%llu\t0\t%u\t%u\t-\t-\ttorch\t-", pid, pid, cat, name,
	    N(to - from), i / 10, i);
}

/* A step that fetches until FETCHED, and computes in the last 400 ms of its second. */
static void put_step(unsigned int pid, unsigned int i, uint64_t fetched)
{
	put_region(pid, i, "dataloader", "fetch", 0, fetched);
	put_region(pid, i, "compute", "backward", 600 * MS, 900 * MS);
	put_region(pid, i, "compute", "step", 900 * MS, S);
}

/* Neither poll(2) nor futex(2), in which it waits, has a row here: its regions show that it waited, and when. */
static void regions_show_when_it_waits(void **state)
{
	const struct finding *b;
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_step(100, i, 500 * MS);
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_rw(pid, step(i) + 450 * MS, 400 * MS, 'R', MiB, i * MiB, MiB, 2);
			put_rw(pid, step(i) + 900 * MS, 300 * MS, 'R', MiB, i * MiB, MiB, 2); /* ahead: nobody waits */
			put_work(pid, i, 500 * MS);
		}
	}
	r = loaded_with(true);
	b = is_bottleneck(r, "storage-read");
	assert_int_equal(r->why->basis, WHY_BY_REGIONS);
	assert_int_equal(r->why->seen, WHY_SEEN_REGIONS);
	assert_true(r->why->window_ns == STEPS * S);
	assert_true(r->why->waited_ns == STEPS * 500.0 * MS); /* to the nanosecond */
	assert_true(r->why->unseen_ns == 0);
	expect_near(b->share, 0.4);
	/* two loaders, for 400 ms each: their reads after the fetch do not count */
	assert_int_equal(r->phases->steps.n_slowest, STEPS_SLOWEST);
	for (unsigned int i = 0; i < STEPS_SLOWEST; i++) {
		assert_true(r->phases->steps.slowest[i].io_ns[STEP_IO_DISK] == 2 * 400 * MS);
		assert_true(r->phases->steps.slowest[i].io_ns[STEP_IO_CACHE] == 0);
	}
	assert_true(has_evidence(b, "by regions.out"));
	report_free(r);
}

/* What it reads and decodes within its fetches is their time; its reads elsewhere are no wait for data. */
static void a_trainer_that_fetches_for_itself(void **state)
{
	struct report *r;

	put_alone("python", 19 * S);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_step(100, i, 500 * MS);
		put_rw(100, step(i) + 110 * MS, 100 * MS, 'R', MiB, i * MiB, MiB, 2);
		put_rw(100, step(i) + 580 * MS, 20 * MS, 'R', MiB, i * MiB, MiB, 3);
		put_ran(100, i, 800 * MS, 0);
		put_slept(100, 100, i, "read", 120 * MS, 0);
		put_slept(100, 100, i, "epoll_wait", 0, 80 * MS);
	}
	r = loaded_with(true);
	assert_int_equal(r->why->basis, WHY_BY_REGIONS);
	assert_true(r->why->waited_ns == STEPS * 500.0 * MS);
	/* 100 ms of reads; the rest is divided like the whole second without its reads: 800 to 80 */
	expect_near(r->why->blame_ns[WHY_DISK] / r->why->waited_ns, 0.2);
	expect_near(r->why->blame_ns[WHY_CPU] / r->why->waited_ns, 0.8 * 800 / 880);
	expect_near(r->why->blame_ns[WHY_OTHER] / r->why->waited_ns, 0.8 * 80 / 880);
	is_bottleneck(r, "decode-cpu");
	report_free(r);
}

/* Without sched.out, its CPU time shows it. */
static void a_trainer_that_fetches_for_itself_without_scheduling(void **state)
{
	struct report *r;

	put_alone("python", 15 * S);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_step(100, i, 500 * MS);
		put_rw(100, step(i) + 110 * MS, 100 * MS, 'R', MiB, i * MiB, MiB, 2);
	}
	r = loaded_with(true);
	assert_int_equal(r->why->basis, WHY_BY_REGIONS);
	expect_near(r->why->blame_ns[WHY_CPU] / r->why->waited_ns, 0.8 * 15 / 20);
	is_bottleneck(r, "decode-cpu");
	report_free(r);
}

/* By sched_switch.out alone: it slept for 300 of the 500 ms, 100 of them in a read. */
static void a_trainer_that_fetches_for_itself_by_switches(void **state)
{
	struct report *r;

	put_alone("python", 14 * S);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_step(100, i, 500 * MS);
		put_rw(100, step(i) + 110 * MS, 100 * MS, 'R', MiB, i * MiB, MiB, 2);
		put_run(100, step(i) + 300 * MS, step(i) + S, 0);
	}
	r = loaded_with(true);
	assert_int_equal(r->why->basis, WHY_BY_REGIONS);
	assert_true(r->why->has_switches && !r->why->has_sums);
	expect_near(r->why->blame_ns[WHY_DISK] / r->why->waited_ns, 0.2);
	expect_near(r->why->blame_ns[WHY_CPU] / r->why->waited_ns, 0.4);
	expect_near(r->why->blame_ns[WHY_OTHER] / r->why->waited_ns, 0.4);
	report_free(r);
}

/* An idle GPU, and loaders that are ready. TID saves for 600 ms of each second, and writes for 60 of these. */
static struct report *saving(unsigned int tid)
{
	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put(GPU, step(i), "0\t100\tC\t0\t0\tpython");
		put(REGIONS, step(i) + 800 * MS, "100\t%u\tx\tcheckpoint\tsave\t%llu\t0\t-\t-\t-\t-\ttorch\t-", tid,
		    N(600 * MS));
		put(RW, step(i) + 300 * MS, "100\t%u\tx\tW\twrite\t%llu\t4096\t4096\t%llu\t0\t5\t-\t3\tf", tid,
		    N(60 * MS), N(i * MiB));
		put_work(101, i, 5 * MS);
		put_work(102, i, 5 * MS);
	}
	put(GPU, step(STEPS), "0\t100\tC\t0\t0\tpython");
	put_rw(101, step(STEPS), 10, 'R', MiB, 0, 0, 2); /* the trace's end */
	return loaded_with(true);
}

/* It makes the bytes of its checkpoint on the CPU, which is neither the loaders' work nor any other. */
static void a_gpu_waits_for_all_of_a_checkpoint(void **state)
{
	struct report *r = saving(100);
	const struct finding *b = is_bottleneck(r, "checkpoint-write");

	assert_int_equal(r->why->basis, WHY_BY_GPU);
	expect_near(r->why->waited_ns / r->why->window_ns, 1);
	expect_near(b->measure, 0.6);
	assert_true(has_evidence(b, "saved checkpoints for 12.0 s, 1.20 s of it in writes and syncs"));
	report_free(r);
}

static void a_checkpoint_of_another_thread_stops_nothing(void **state)
{
	struct report *r = saving(177);

	is_bottleneck(r, "trainer-bound");
	expect_near(r->why->blame_ns[WHY_WRITE] / r->why->window_ns, 0.06);
	assert_true(r->why->saves_ns == 0);
	report_free(r);
}

/* While it saves, it does not train: a wait without a fetch. 500 ms of each step are a checkpoint, 50 of these a write.
 */
static void a_trainer_that_saves(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_region(100, i, "dataloader", "fetch", 0, 20 * MS);
		put_region(100, i, "checkpoint", "save", 100 * MS, 600 * MS);
		put_region(100, i, "compute", "step", 900 * MS, S);
		put_rw(100, step(i) + 200 * MS, 50 * MS, 'W', MiB, i * MiB, 0, 3);
		put_work(101, i, 20 * MS);
		put_work(102, i, 20 * MS);
	}
	put_rw(101, step(STEPS), 10, 'R', MiB, 0, 0, 2); /* the trace's end */
	r = loaded_with(true);
	assert_int_equal(r->why->basis, WHY_BY_REGIONS);
	expect_near(r->why->waited_ns / r->why->window_ns, 0.52);
	expect_near(is_bottleneck(r, "checkpoint-write")->measure, 0.5);
	expect_near(found(r, "checkpoint-stall")->measure, 0.5);
	/* writes count with their own time, without the making of their bytes */
	expect_near(found(r, "checkpoint-blocks")->measure, 0.05);
	expect_near((double)r->why->epoch[0].waited_ns / (double)r->why->epoch[0].waitable_ns, 0.52);
	report_free(r);
}

/* It hardly fetches: the time goes to training, which its regions distinguish from decoding. */
static void a_trainer_that_computes(void **state)
{
	struct report *r;

	put_alone("python", 19 * S);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_step(100, i, 20 * MS);
		put_rw(100, step(i) + 10 * MS, MS, 'R', MiB, i * MiB, 0, 2);
		put_ran(100, i, 950 * MS, 0);
	}
	r = loaded_with(true);
	expect_near(is_bottleneck(r, "trainer-bound")->share, 0.98);
	report_free(r);
}

/* Loaders and trainer wait for a CPU: the trainer's waits in its fetches, half of its time, are a part of these. */
static void waits_for_a_cpu_in_fetches_count_once(void **state)
{
	const struct finding *b;
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_step(100, i, 500 * MS);
		put_ran(100, i, 200 * MS, 600 * MS);
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_rw(pid, step(i) + 900 * MS, 1000, 'R', MiB, i * MiB, 0, 2);
			put_ran(pid, i, 100 * MS, 900 * MS);
		}
	}
	r = loaded_with(true);
	b = is_bottleneck(r, "cpu-contention");
	/* 500 ms, in which the loaders could not run in 9 of 10, and half of 600 */
	expect_near(b->share, 0.45 + 0.3);
	assert_true(has_evidence(b, "had no CPU for 60.0 % of the time"));
	report_free(r);
}

/* Two loaders and the trainer read; overlaps count once, and each nanosecond is in one of four sums. */
static void io_and_computing_overlap(void **state)
{
	const struct overlap *o;
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_step(100, i, 100 * MS);
		put_rw(101, step(i) + 300 * MS, 200 * MS, 'R', MiB, i * MiB, MiB, 2);
		put_rw(102, step(i) + 400 * MS, 200 * MS, 'R', MiB, i * MiB, MiB, 2); /* 100 to 400 in all */
		put_rw(101, step(i) + 700 * MS, 150 * MS, 'R', MiB, i * MiB, MiB, 2); /* 50 of it before it computes */
		put_rw(100, step(i) + 920 * MS, 20 * MS, 'W', 10, i * MiB, 0, 3);
		put_pipe(102, step(i) + 990 * MS, 400 * MS, 'R'); /* not I/O */
	}
	r = loaded_with(true);
	assert_int_equal(r->why->n_overlaps, 2);
	for (unsigned int i = 0; i < 2; i++) {
		o = &r->why->overlaps[i];
		assert_int_equal(o->pid, 100);
		assert_int_equal(o->epoch, i);
		assert_int_equal(o->wall_ns, 10 * S);
		assert_int_equal(o->compute_ns, 10 * 400 * MS);
		assert_int_equal(o->io_ns, 10 * (300 + 150 + 20) * MS);
		assert_int_equal(o->both_ns, 10 * (100 + 20) * MS);
		assert_int_equal(o->compute_alone_ns, 10 * 280 * MS);
		assert_int_equal(o->io_alone_ns, 10 * 350 * MS);
		assert_int_equal(o->neither_ns, 10 * 250 * MS);
	}
	report_free(r);
}

/* The program marks its steps, but not its fetches: the other sources know more. */
static void steps_alone_show_no_waits(void **state)
{
	struct report *r;

	put_job(0);
	put_waits(500 * MS);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_region(100, i, "compute", "step", 900 * MS, S);
		put_work(101, i, 500 * MS);
		put_rw(101, step(i) + 450 * MS, 400 * MS, 'R', MiB, i * MiB, MiB, 2);
	}
	r = loaded_with(true);
	assert_int_equal(r->why->basis, WHY_BY_CALLS);
	report_free(r);
}

static void an_epochs_first_batch_is_late(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++)
		put_step(100, i, i % 10 ? 50 * MS : 590 * MS);
	r = loaded_with(true);
	expect_near(found(r, "first-batch")->measure, 2 * 0.54 / STEPS);
	assert_null(found(r, "checkpoint-stall"));
	assert_null(found(r, "step-jitter"));
	assert_null(found(r, "rank-skew"));
	report_free(r);
}

/* Each batch is late: the first one does not differ. */
static void each_batch_is_late(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++)
		put_step(100, i, 590 * MS);
	r = loaded_with(true);
	assert_null(found(r, "first-batch"));
	report_free(r);
}

/* One in EVERY of 300 short steps is slow; if SAVE, because of a checkpoint. */
static struct report *with_slow_steps(unsigned int every, bool save)
{
	uint64_t at = 0;

	put_job(0);
	for (unsigned int i = 0; i < 300; i++) {
		bool slow = i && i % every == 0;
		uint64_t fetched = at + (slow && !save ? 30 * MS : 5 * MS);

		put_region(100, 0, "dataloader", "fetch", at, fetched);
		if (slow && save)
			put_region(100, 0, "checkpoint", "save", fetched, fetched + 25 * MS);
		fetched += slow && save ? 25 * MS : 0;
		put_region(100, 0, "compute", "step", fetched, fetched + 5 * MS);
		at = fetched + 5 * MS;
	}
	return loaded_with(true);
}

static void some_steps_are_slow(void **state)
{
	struct report *r = with_slow_steps(50, false);

	assert_in_range((unsigned int)(1000 * found(r, "step-jitter")->measure), 3465,
			3535); /* 35 ms to 10, of buckets of 1 % */
	assert_true(has_evidence(found(r, "step-jitter"), "fetching"));
	report_free(r);
}

static void some_steps_save(void **state)
{
	struct report *r = with_slow_steps(50, true);

	assert_null(found(r, "step-jitter"));
	assert_null(found(r, "checkpoint-stall")); /* 5 of 300 steps: 4 % of the time */
	report_free(r);
}

/* Two trainers, which PPIDs and RANKs make ranks, or not; the second one fetches for longer. */
static struct report *with_two(const char *rank, const char *other, uint64_t fetched, uint64_t others)
{
	const uint64_t end = BEGIN + STEPS * S;
	const char *ranks[2] = { rank, other };

	put(PIDS, BEGIN, "99\t99\t1\ttorchrun\texec\t-\t99\t0\t/\t-\tpython\\000torchrun");
	for (unsigned int i = 0; i < 2; i++) {
		unsigned int pid = 100 * (i + 1);

		put(PIDS, BEGIN + 1, "%u\t%u\t99\tpython\tfork\t-\t%u\t0\t/\t%s\t-", pid, pid, pid, ranks[i]);
		put(PIDS, BEGIN + 2, "%u\t%u\t99\tpython\texec\t-\t%u\t0\t/\t%s\tpython\\000train.py", pid, pid, pid,
		    ranks[i]);
		put(PIDS, end, "%u\t%u\t99\tpython\texit\t0\t%u\t0\t/\t%s\tutime=1000\\040stime=0", pid, pid, pid,
		    ranks[i]);
	}
	for (unsigned int i = 0; i < STEPS; i++) {
		put_region(100, i, "dataloader", "fetch", 0, fetched);
		put_region(100, i, "compute", "backward", fetched, 900 * MS);
		put_region(100, i, "compute", "step", 900 * MS, S);
		put_region(200, i, "dataloader", "fetch", 0, others);
		put_region(200, i, "compute", "backward", others, 900 * MS);
		put_region(200, i, "compute", "step", 900 * MS, S);
	}
	return loaded_with(true);
}

static void one_rank_is_the_slowest(void **state)
{
	struct report *r = with_two("0", "1", 100 * MS, 500 * MS);
	const struct finding *f = found(r, "rank-skew");

	assert_non_null(f);
	expect_near(f->measure, 600.0 / 400);
	expect_near(f->size.share, 0.2);
	assert_true(has_evidence(f, "process 200, rank 1 was the slowest in 100 % of these steps"));
	report_free(r);
	r = with_two("-", "-", 100 * MS, 500 * MS); /* of one parent */
	assert_non_null(found(r, "rank-skew"));
	report_free(r);
}

static void ranks_are_alike(void **state)
{
	struct report *r = with_two("0", "1", 400 * MS, 500 * MS);

	assert_null(found(r, "rank-skew"));
	report_free(r);
}

/* Each is rank 0 of its own job. */
static void trainings_beside_each_other_are_no_ranks(void **state)
{
	struct report *r = with_two("0", "0", 100 * MS, 500 * MS);

	assert_int_equal(r->why->n_trainers, 2);
	assert_null(found(r, "rank-skew"));
	report_free(r);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, tree_make, tree_remove)
	const struct CMUnitTest tests[] = {
		TEST(reads_from_storage),
		TEST(loaders_that_free_memory_are_short_of_it),
		TEST(loaders_that_free_little_are_not_short_of_it),
		TEST(time_in_no_call_is_the_cpu_by_the_time_used),
		TEST(opens_take_longest),
		TEST(the_trainer_writes_a_checkpoint),
		TEST(batches_in_shared_memory_are_no_syncs),
		TEST(sizing_shared_memory_is_work_and_waits_for_a_cpu),
		TEST(truncations_are_no_syncs),
		TEST(one_loader_is_late_and_the_other_waits),
		TEST(loaders_that_are_late_in_turn_are_never_ready),
		TEST(loaders_are_ready_when_none_is_busy),
		TEST(loaders_that_read_at_one_time_are_ready_at_one_time),
		TEST(loaders_that_read_ahead_are_ready),
		TEST(loaders_that_read_in_turn_do_not_sleep_at_one_time),
		TEST(loaders_that_compute_in_turn_are_never_ready),
		TEST(each_generation_is_ready_by_itself),
		TEST(waits_for_own_threads_are_for_no_loader),
		TEST(a_gpu_may_be_idle_while_loaders_work_ahead),
		TEST(loaders_with_too_many_stretches),
		TEST(nobody_waits),
		TEST(computing_less_than_possible_is_waiting_in_calls_without_rows),
		TEST(a_running_process_may_wait_in_calls_without_rows),
		TEST(a_process_that_runs_all_the_time_waits_for_nothing),
		TEST(the_share_of_training_is_all_but_what_is_waited_for),
		TEST(between_sending_and_receiving_a_loader_waits),
		TEST(a_gpu_is_idle_for_what_it_is_not_used),
		TEST(a_gpu_that_is_busy_does_not_wait_for_its_processs_cpu),
		TEST(a_gpu_without_values_by_process),
		TEST(a_process_without_a_source_is_left_out),
		TEST(each_trainer_is_judged_by_the_best_that_is_known_of_it),
		TEST(switches_show_waits_for_a_cpu),
		TEST(switches_show_page_faults),
		TEST(sums_show_page_faults),
		TEST(a_process_that_maps_no_data_does_not_fault_for_them),
		TEST(faults_of_a_trainer_without_loaders_are_its_own),
		TEST(sums_show_it_by_the_second),
		TEST(sums_of_a_job_that_is_there_for_a_part_of_the_time),
		TEST(a_wait_of_many_seconds_is_whole),
		TEST(a_job_without_loaders_reads_for_itself),
		TEST(what_does_not_train_is_bound_by_nothing),
		TEST(a_job_that_only_reads_is_not_bound_by_training),
		TEST(a_job_that_computes_is_bound_by_the_cpu),
		TEST(a_job_that_computes_is_bound_by_the_cpu_by_switches_too),
		TEST(a_process_without_rows_of_sched_out_does_not_compute),
		TEST(what_waits_before_exec_is_not_the_job),
		TEST(a_job_that_is_too_short_or_failed_has_no_answer),
		TEST(the_answer_is_that_of_the_container),
		TEST(what_runs_containers_is_not_the_job),
		TEST(a_trace_without_processes_has_no_answer),
		TEST(a_job_that_sleeps_is_idle),
		TEST(a_job_that_faults_in_mapped_files_waits_for_storage),
		TEST(a_job_that_waits_for_a_server_waits_for_the_outside),
		TEST(a_job_that_waits_for_its_children_waits_for_their_calls),
		TEST(a_job_that_waits_for_a_child_that_sleeps_is_idle),
		TEST(a_job_that_reads_by_threads_waits_for_their_reads),
		TEST(of_a_pipe_the_answer_names_the_end_that_works),
		TEST(what_a_job_writes_before_it_reads_is_no_checkpoint),
		TEST(helpers_of_a_script_are_no_loaders),
		TEST(a_launcher_is_no_trainer_for_a_moments_fork),
		TEST(a_shell_script_has_no_loaders),
		TEST(shells_that_choose_the_python_do_not_train),
		TEST(a_script_is_not_its_short_commands),
		TEST(loaders_are_known_by_how_they_began_and_what_they_read),
		TEST(a_process_that_only_waits_for_its_copies_does_not_train),
		TEST(so_is_one_whose_server_forks_them),
		TEST(a_process_that_gets_its_data_from_its_copies_trains),
		TEST(ranks_of_a_launcher_may_have_loaders),
		TEST(two_that_read_the_same_wait_for_the_same),
		TEST(a_slow_read_of_what_is_in_memory_is_no_disk),
		TEST(a_read_past_the_cache_is_the_disk),
		TEST(without_anybody_nothing_is_known),
		TEST(sizes_and_order_of_reads),
		TEST(reading_a_file_again_is_no_jump),
		TEST(fewer_than_many_do_not_matter),
		TEST(read_ahead_makes_reads_large),
		TEST(what_costs_little_is_a_fact),
		TEST(reads_in_order_by_each_descriptor_do_not_jump),
		TEST(small_reads_count_where_they_fetch),
		TEST(small_files_read_whole_are_no_small_reads),
		TEST(read_ahead_that_gains_nothing),
		TEST(what_came_from_disk_again),
		TEST(epochs_that_are_all_behind_the_trace),
		TEST(what_is_read_and_written_again_in_an_epoch),
		TEST(what_is_read_in_no_epoch),
		TEST(what_several_share),
		TEST(a_worker_of_the_next_epoch_shares_nothing),
		TEST(software_is_no_data),
		TEST(settings_are_not_where_the_data_begins),
		TEST(imports_wait_in_faults_and_stat_before_the_data),
		TEST(writes_that_jump),
		TEST(appending_is_no_jump),
		TEST(a_storm_of_opens),
		TEST(opens_that_fail),
		TEST(no_share_is_more_than_all),
		TEST(writes_and_standard_output),
		TEST(data_is_no_output),
		TEST(loaders_that_differ),
		TEST(workers_are_compared_with_those_of_their_time),
		TEST(loaders_short_of_cpu_while_others_are_idle),
		TEST(missing_files_are_noted),
		TEST(what_is_not_known_of_epochs_is_null),
		cmocka_unit_test(each_rule_is_listed),
		TEST(regions_show_when_it_waits),
		TEST(a_trainer_that_fetches_for_itself),
		TEST(a_trainer_that_fetches_for_itself_without_scheduling),
		TEST(a_trainer_that_fetches_for_itself_by_switches),
		TEST(a_gpu_waits_for_all_of_a_checkpoint),
		TEST(a_checkpoint_of_another_thread_stops_nothing),
		TEST(a_trainer_that_computes),
		TEST(a_trainer_that_saves),
		TEST(waits_for_a_cpu_in_fetches_count_once),
		TEST(io_and_computing_overlap),
		TEST(steps_alone_show_no_waits),
		TEST(an_epochs_first_batch_is_late),
		TEST(each_batch_is_late),
		TEST(some_steps_are_slow),
		TEST(some_steps_save),
		TEST(one_rank_is_the_slowest),
		TEST(ranks_are_alike),
		TEST(trainings_beside_each_other_are_no_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
