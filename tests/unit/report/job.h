/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Made-up traces for tests of verdicts and rules: process 100 trains, 101 and 102 load for it, in steps of a second.
 * One function of a dozen rows has what each does in a step.
 */
#ifndef REPORT_JOB_H
#define REPORT_JOB_H

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "report/report.h"
#include "report/rules/rules.h"
#include "report/scan/model.h"
#include "report/show/show.h"
#include "report/why/account.h"
#include "report/why/why.h"
#include "tree.h"

#define S 1000000000ULL
#define MS 1000000ULL
#define BEGIN (1000 * S)
#define STEPS 20
#define ROWS_MAX 40000
#define MiB (1024 * 1024)

enum file {
	PIDS,
	FILES,
	OPEN,
	CLOSE,
	MMAP,
	RW,
	SYNC,
	FAULT,
	SCHED,
	GPU,
	GPU_DEV,
	CPU,
	MARKS,
	REGIONS,
	RECLAIM,
	NET,
	SOCKETS,
	WAITS,
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
	[SCHED] = { "sched",
		    "PID\tTID\tCOMM\tKIND\tCPU\tCALL\tSPAN_NS\tCOUNT\tPREEMPTED\tRUN_NS\tRUNQ_NS\tDISK_NS\tBLOCKED_NS\tSLEEP_NS\tMAX_NS" },
	[GPU] = { "gpu", "gpu\tpid\ttype\tsm\tmem\tcommand" },
	[GPU_DEV] = { "gpu_dev", "gpu\tpwr\tsm" },
	[CPU] = { "cpu", "CLOCK\tCPU\t%usr\t%idle" },
	[MARKS] = { "marks", "PID\tTEXT" },
	[RECLAIM] = { "reclaim", "PID\tTID\tCOMM\tKIND\tLAT_NS\tPAGES" },
	[NET] = { "net", "PID\tTID\tCOMM\tCALL\tRW\tSPAN_NS\tCOUNT\tBYTES\tAGAIN\tFAILED\tTIME_NS\tMAX_NS\tRET\tFID" },
	[SOCKETS] = { "sockets",
		      "PID\tTID\tCOMM\tFID\tSTATE\tFAMILY\tTYPE\tPROTO\tLOCAL\tPEER\tPATH\tPEER_PID\tSPAN_NS\tRECEIVED\tSENT\t"
		      "CONNECT_NS\tFIRST_NS\tRESENT" },
	[WAITS] = { "waits",
		    "PID\tTID\tCOMM\tCALL\tSTATE\tLAT_NS\tRUNQ_NS\tBY\tBY_PID\tBY_TID\tBY_COMM\tPEER\tFID\tFILE\tTHROTTLED_NS" },
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

static inline void __attribute__((format(printf, 3, 4))) put(enum file file, uint64_t end_ns, const char *fmt, ...)
{
	va_list ap;

	assert_true(n_rows < ROWS_MAX);
	va_start(ap, fmt);
	rows[n_rows] = (struct row){ .file = file, .end_ns = end_ns, .nr = n_rows };
	assert_true(vasprintf(&rows[n_rows].text, fmt, ap) > 0);
	va_end(ap);
	n_rows++;
}

static inline int by_time(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->end_ns != y->end_ns ? (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns) : (int)x->nr - (int)y->nr;
}

/* Writes the rows that were put. */
static inline void write_rows(void)
{
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
}

/* Writes the rows that were put, and reads them. */
static inline struct report *loaded_with(bool timed)
{
	struct report *r = NULL;

	write_rows();
	assert_int_equal(report_load(&r, tree, &(struct report_options){ .timed = timed }), 0);
	assert_non_null(r->why);
	assert_non_null(r->why->rules);
	return r;
}

static inline struct report *loaded(void)
{
	return loaded_with(false);
}

#define N(v) ((unsigned long long)(v))

static inline void put_file(unsigned int fid, const char *type, const char *fstype, uint64_t size, const char *path)
{
	put(FILES, BEGIN, "%u\t259:2\t%u\t%s\t%s\t%llu\tok\t%s", fid, fid, type, fstype, N(size), path);
}

/* A call on a file that ended at END; DISK: the bytes that it fetched. */
static inline void put_rw(unsigned int pid, uint64_t end, uint64_t lat, char rw, uint64_t bytes, uint64_t offset,
			  uint64_t disk, unsigned int fid)
{
	put(RW, end, "%u\t%u\tx\t%c\t%s\t%llu\t%llu\t%llu\t%llu\t%llu\t5\t-\t%u\tf", pid, pid, rw,
	    rw == 'R' ? "read" : "write", N(lat), N(bytes), N(bytes), N(offset), N(disk), fid);
}

static inline void put_pipe(unsigned int pid, uint64_t end, uint64_t lat, char rw)
{
	put(RW, end, "%u\t%u\tx\t%c\t%s\t%llu\t8\t8\t-\t0\t9\t-\t%u\tpipe:[1]", pid, pid, rw,
	    rw == 'R' ? "read" : "write", N(lat), 1);
}

static inline void put_open(unsigned int pid, uint64_t end, uint64_t lat, unsigned int fid)
{
	put(OPEN, end, "%u\t%u\tx\topenat\t%llu\t-\t5\tRDONLY|CLOEXEC\t-\t%u\tf\tf\t/data/f", pid, pid, N(lat), fid);
}

/* USER_NS: the CPU time of each loader at its end; TRAINER_NS: the trainer's, 0: it has not ended. */
static inline void put_job_of(uint64_t user_ns, uint64_t trainer_ns)
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
static inline void put_job(uint64_t user_ns)
{
	put_job_of(user_ns, 19900 * MS);
}

/* One process named COMM that uses USER of CPU time, without other rows. */
static inline void put_alone(const char *comm, uint64_t user)
{
	put(PIDS, BEGIN, "100\t100\t1\t%s\texec\t-\t100\t0\t/\t-\t%s", comm, comm);
	put(PIDS, BEGIN + STEPS * S, "100\t100\t1\t%s\texit\t0\t100\t0\t/\t-\tutime=%llu\\040stime=0", comm, N(user));
	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	put_file(3, "reg", "ext4", 64 * MiB, "/copy/shard.tar");
	put_file(4, "reg", "ext4", 64 * MiB, "/home/x/main.c");
	put_file(5, "dir", "ext4", 64 * MiB, "/data");
}

static inline uint64_t step(unsigned int i)
{
	return BEGIN + i * S;
}

/* The trainer waits for WAIT at the begin of each second. */
static inline void put_waits(uint64_t wait)
{
	for (unsigned int i = 0; i < STEPS; i++)
		put_pipe(100, step(i) + wait, wait, 'R');
}

/* The loader gets work without waiting, and hands over at AT of the step. */
static inline void put_work(unsigned int pid, unsigned int i, uint64_t at)
{
	put_pipe(pid, step(i) + 10, 5, 'R');
	put_pipe(pid, step(i) + at, 5, 'W');
	put_pipe(pid, step(i) + S - 10, S - 10 - at, 'R');
}

/* PID's main thread in step I: RUN on a CPU, RUNQ waiting for one. */
static inline void put_ran(unsigned int pid, unsigned int i, uint64_t run, uint64_t runq)
{
	put(SCHED, step(i) + S, "%u\t%u\tx\ttarget\t0\t-\t%llu\t9\t0\t%llu\t%llu\t-\t-\t-\t-", pid, pid, N(S), N(run),
	    N(runq));
}

/* PID's thread TID, in CALL: waits for a disk, and other waits. */
static inline void put_slept(unsigned int pid, unsigned int tid, unsigned int i, const char *call, uint64_t disk,
			     uint64_t sleep)
{
	put(SCHED, step(i) + S, "%u\t%u\tx\ttarget\t-\t%s\t%llu\t9\t-\t-\t-\t%llu\t0\t%llu\t%llu", pid, tid, call, N(S),
	    N(disk), N(sleep), N(S));
}

/* Returns the finding, a problem or a fact: most jobs here last long, with few calls. */
static inline const struct finding *found(const struct report *r, const char *code)
{
	for (unsigned int i = 0; i < r->why->rules->n + r->why->rules->n_facts; i++)
		if (strcmp(r->why->rules->found[i].rule->code, code) == 0)
			return &r->why->rules->found[i];
	return NULL;
}

static inline const struct finding *is_bottleneck(const struct report *r, const char *code)
{
	const struct finding *b = &r->why->rules->bottleneck;

	assert_string_equal(b->rule->code, code);
	assert_null(found(r, code));
	assert_true(b->n > 0);
	return b;
}

static inline char *sentence_of(const struct report *r)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	why_sentence(r, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static inline void *why_find(const struct report *r, unsigned int pid)
{
	return table_find(&r->why->loaders, pid);
}

static inline const struct why_trainer *why_trainer_of(const struct report *r, unsigned int pid)
{
	for (uint32_t i = 0; i < r->why->n_trainers; i++)
		if (r->why->trainer[i].pid == pid)
			return &r->why->trainer[i];
	fail_msg("%u does not train", pid);
	return NULL;
}

static inline void expect_near(double got, double want)
{
	if (!(fabs(got - want) <= 0.001))
		fail_msg("%.6f and not %.6f", got, want);
}

/* Returns PART of each step relative to the time since the first read, FROM after the trace's begin. */
static inline double since(uint64_t from, double part)
{
	return part * STEPS * S / (double)(STEPS * S - from);
}

static inline bool lacks(const struct report *r, const char *what)
{
	for (unsigned int i = 0; i < r->why->rules->n_missing; i++)
		if (strncmp(r->why->rules->missing[i], what, strlen(what)) == 0)
			return true;
	return false;
}

static inline bool shows(const struct finding *f, const char *text)
{
	for (unsigned int i = 0; i < f->n; i++)
		if (strstr(f->evidence[i], text))
			return true;
	return false;
}

static inline void put_map(unsigned int pid, uint64_t end)
{
	put(MMAP, end, "%u\t%u\tx\tmmap\t1000\t0x7f0000000000\t0x0\t1048576\tREAD\tSHARED\t5\t0\t-\t-\t2\tshard.tar",
	    pid, pid);
}

static inline const struct account *account_of(const struct report *r, unsigned int pid)
{
	for (uint32_t i = 0; i < r->why->n_accounts; i++)
		if (r->why->accounts[i].pid == pid)
			return &r->why->accounts[i];
	fail_msg("%u has no account", pid);
	return NULL;
}

static inline void adds_up(const struct account *a)
{
	double sum = 0;

	for (unsigned int i = 0; i < ACCOUNT_TERMS; i++)
		sum += a->ns[i];
	expect_near(sum / a->wall_ns, 1);
}

static inline double term(const struct account *a, enum account_term t)
{
	return a->ns[t] / a->wall_ns;
}

static inline void put_copy(unsigned int pid, unsigned int parent, const char *args, uint64_t end)
{
	put(PIDS, BEGIN + 1, "%u\t%u\t%u\tpython\tfork\t-\t%u\t0\t/\t-\t-", pid, pid, parent, pid);
	if (args)
		put(PIDS, BEGIN + 2, "%u\t%u\t%u\tpython\texec\t-\t%u\t0\t/\t-\t%s", pid, pid, parent, pid, args);
	put(PIDS, end, "%u\t%u\t%u\tpython\texit\t0\t%u\t0\t/\t-\tutime=1000\\040stime=0", pid, pid, parent, pid);
}

static inline void put_fork(unsigned int pid, unsigned int parent, uint64_t user)
{
	put(PIDS, BEGIN + 1, "%u\t%u\t%u\tpython\tfork\t-\t%u\t0\t/\t-\t-", pid, pid, parent, pid);
	put(PIDS, step(STEPS), "%u\t%u\t%u\tpython\texit\t0\t%u\t0\t/\t-\tutime=%llu\\040stime=0", pid, pid, parent,
	    pid, N(user));
}

/* N reads of BYTES by each loader, at multiples of MULTIPLE. */
static inline void put_reads(unsigned int n, uint64_t bytes, uint64_t multiple, uint64_t disk, unsigned int fid)
{
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int pid = 101; pid <= 102; pid++)
			put_rw(pid, BEGIN + (i + 1) * MS, 1000, 'R', bytes, i * multiple, disk, fid);
}

/* A mebibyte in the middle of each of N steps, always the same. */
static inline void put_same_reads(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		put_rw(101, step(i) + 500 * MS, 1000, 'R', MiB, 0, 0, 2);
}

/* Step I of PID, in epoch I / 10: a region CAT.NAME in it, from FROM to TO. */
static inline void put_region(unsigned int pid, unsigned int i, const char *cat, const char *name, uint64_t from,
			      uint64_t to)
{
	put(REGIONS, step(i) + to, "%u\t%u\tx\t%s\t%s\t%llu\t0\t%u\t%u\t-\t-\ttorch\t-", pid, pid, cat, name,
	    N(to - from), i / 10, i);
}

/* A step that fetches until FETCHED, and computes in the last 400 ms of its second. */
static inline void put_step(unsigned int pid, unsigned int i, uint64_t fetched)
{
	put_region(pid, i, "dataloader", "fetch", 0, fetched);
	put_region(pid, i, "compute", "backward", 600 * MS, 900 * MS);
	put_region(pid, i, "compute", "step", 900 * MS, S);
}

/* What a rule finds in a job. */
struct expected {
	const char *code;
	double measure; /* NAN: any */
	const char *evidence; /* a part of a line of it, or NULL */
	bool absent; /* it finds nothing */
	bool answer; /* it is the bottleneck */
};

#define FOUND(...)          \
	{                   \
		__VA_ARGS__ \
	}
#define ANSWER(code, measure)                 \
	{                                     \
		code, measure, .answer = true \
	}
#define ABSENT(code)                 \
	{                            \
		code, .absent = true \
	}

/* A test as a row: a job, and what rules find in it. */
struct rule_case {
	void (*put)(void);
	bool timed;
	struct expected wants[6];
};

static inline void expect_rule(const struct report *r, const struct expected *want)
{
	const struct finding *f = want->answer ? is_bottleneck(r, want->code) : found(r, want->code);

	if (!f != want->absent)
		fail_msg("%s is%s found", want->code, f ? "" : " not");
	if (!f)
		return;
	if (!isnan(want->measure))
		expect_near(f->measure, want->measure);
	if (want->evidence && !shows(f, want->evidence))
		fail_msg("%s does not show: %s", want->code, want->evidence);
}

static inline void expect_rules(void **state)
{
	const struct rule_case *c = *state;
	struct report *r;

	c->put();
	r = loaded_with(c->timed);
	for (const struct expected *want = c->wants; want->code; want++)
		expect_rule(r, want);
	report_free(r);
}

#define RULE_CASE(job, by_time, ...)                                            \
	{                                                                       \
#job, expect_rules, tree_make, tree_remove, &(struct rule_case) \
		{                                                               \
			job, by_time,                                           \
			{                                                       \
				__VA_ARGS__                                     \
			}                                                       \
		}                                                               \
	}
#define RULES(job, ...) RULE_CASE(job, false, __VA_ARGS__)
#define RULES_TIMED(job, ...) RULE_CASE(job, true, __VA_ARGS__) /* with epochs and steps */

#endif
