/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of what failed, on the traces of ../path/trace.h. */
#ifndef REPORT_FAILED_TEST_H
#define REPORT_FAILED_TEST_H

#include <errno.h>

#include "../path/trace.h"
#include "report/failed/failures.h"
#include "report/failed/sentence.h"

#define JOB 10
#define LIFE (2000 * MS)
#define MiB (1024ULL * 1024)

/* A job of one process with the file 1, which lives for LIFE. */
static inline void put_job(void)
{
	put_root(JOB, "python", LIFE);
	put_workload(JOB, LIFE);
	put_file(1, "/data/out/a.pt");
	put_file(2, "/data/out/b.pt");
}

/* A write by PID that ended at AT with RETURNED, of 4096 bytes. */
static inline void put_written(uint64_t at, unsigned int pid, const char *func, long long returned, unsigned int fid)
{
	put(RW, at, "%u\t%u\tx\tW\t%s\t1000\t4096\t%lld\t0\t0\t5\t-\t%u\tf", pid, pid, func, returned, fid);
}

/* An open of PATH that failed with ERROR. */
static inline void put_no_open(uint64_t at, unsigned int pid, int error, const char *flags, const char *path)
{
	put(OPEN, at, "%u\t%u\tx\topenat\t1000\t-\t-%d\t%s\t-\t-\t-\t%s\t-", pid, pid, error, flags, path);
}

/* The end of PID, a child of PPID that has executed COMM, with waitpid's STATUS; BY: what ARGS have of the sender. */
static inline void put_ended(uint64_t at, unsigned int pid, unsigned int ppid, const char *comm, int status,
			     const char *by)
{
	put_event(at - MS, "fork", pid, pid, ppid, comm, NULL);
	put_event(at - MS / 2, "exec", pid, pid, ppid, comm, NULL);
	put(PIDS, at, "%u\t%u\t%u\t%s\texit\t%d\t%u\t0\t/\t-\tutime=0\\040minflt=1%s", pid, pid, ppid, comm, status,
	    pid, by);
}

static inline struct report *failed_loaded(void)
{
	struct report *r = NULL;

	assert_int_equal(report_load(&r, tree, &(struct report_options){ .timed = false }), 0);
	assert_non_null(r->failed);
	return r;
}

/* Expects that nothing failed, and frees R. */
static inline void expect_nothing(struct report *r)
{
	if (r->failed->n)
		fail_msg("%s: %s %d failed", r->failed->v[0].comm, r->failed->v[0].call, r->failed->v[0].code);
	report_free(r);
}

/* Expects that one thing failed, N times, and frees R; SENTENCE is what is said of it. */
static inline void expect_one(struct report *r, uint64_t n, const char *sentence)
{
	assert_int_equal(r->failed->n, 1);
	assert_int_equal(r->failed->v[0].n, n);
	assert_true(failure_advice(&r->failed->v[0])[0]);
	assert_string_equal(r->failed->v[0].text, sentence);
	report_free(r);
}

#endif
