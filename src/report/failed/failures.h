/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What failed in the job: calls with errors that no program expects, and processes that ended as none should, added up
 * by process, call or end, error and place. Bounded; a call that does not fail costs nothing.
 */
#ifndef REPORT_FAILED_FAILURES_H
#define REPORT_FAILED_FAILURES_H

#include "report/failed/errors.h"
#include "report/failed/signals.h"
#include "report/scan/scan.h"
#include "stats/table.h"

struct report_part;

#define FAILURES_MAX 4096 /* kinds of failures; 3 MiB when full */
#define FAILED_ENDS_MAX 4096
#define FAILED_CALLS_MAX (1U << 18) /* whose sleeps behind them are looked for: 4 MiB when full */

enum failure_kind { FAILURE_CALL, FAILURE_SIGNAL, FAILURE_STATUS, FAILURE_KINDS };

extern const char *const failure_kinds[FAILURE_KINDS]; /* in JSON */

/* All that failed in one way. Texts are escaped as in the .out files. */
struct failure {
	uint64_t n, first_ns, last_ns;
	enum failure_kind kind;
	int code; /* errno, signal, or exit status; 0: a short write */
	uint64_t pid; /* of the first one */
	char comm[64]; /* name of the process */
	char call[32]; /* of a call */
	const struct failed_error *error; /* likewise */
	uint64_t fid; /* the first one's file, whose name is not known yet; 0: none */
	char *folder; /* where it failed, of a socket the peer; NULL: the place is not known, or does not matter */
	char file[256]; /* the first one's name in it; "": none */
	uint64_t limit_n; /* its limit's number */
	bool has_limit_n;
	enum failed_sender sender; /* of a signal */
	uint64_t sender_pid;
	char sender_comm[64];
	uint64_t limit_bytes; /* of the cgroup whose memory was used up; 0: not known */
	uint64_t slept_ns; /* right behind such calls, until a time; of failed_no_answer, in them */
	char *text; /* a sentence with all this; NULL: memory is out */
};

/* A call that failed: when, and in what way. */
struct failed_call {
	uint64_t at_ns;
	uint32_t tid, group;
};

/* A process that did not end with status 0. */
struct failed_end {
	uint64_t pid, at_ns;
	int status; /* waitpid's */
	enum failed_sender sender;
	bool requested; /* to end, by the sender's signal; STATUS is its own */
	uint64_t sender_pid, limit_bytes;
	char comm[64], sender_comm[64];
};

struct report_failed {
	struct table groups; /* struct failure */
	uint64_t left_out; /* failures without a place there */
	struct failed_call *calls;
	uint32_t n_calls;
	struct failed_end *ends;
	uint32_t n_ends;
	struct failure *v; /* at the end: processes first, then calls, those with the most first */
	uint32_t n;
};

extern const struct report_part report_failed_part;

/*
 * Adds what failed at AT_NS in the way of LIKE, whose PLACE (a folder, or a FID as text) tells it apart. TID: the
 * thread, whose sleep right behind it counts; 0: it does not.
 */
void failures_add(struct report_failed *failed, const struct failure *like, const char *place, size_t len,
		  uint64_t at_ns, uint32_t tid);

/* Returns the error of a call with the result RET, "-28"; 0: none, or it is no single call's. */
int failed_errno(struct reader_field ret);

/* --- rows: each is NULL-safe in FAILED --------------------------------------------------------------------- */

/* Takes a call that has failed, or a write that was short (calls.c). */
void report_failed_call(const struct scan *scan, const struct report_call_facts *call);
void report_failed_short(const struct scan *scan, const struct report_call_facts *call);
/* Takes the row of pids.out of process PID, whose thread TID was to make a process or a thread, and could not
 * (calls.c). */
void report_failed_process(const struct scan *scan, uint64_t pid, uint64_t tid);
/* Takes the row of pids.out with a process's end (ends.c). */
void report_failed_end(const struct scan *scan, const struct report_proc *proc);

/* --- at the end -------------------------------------------------------------------------------------------- */

/* Makes V of the groups: one for each folder, in order. Returns 0 or -ENOMEM. The folder of the trace is still open. */
int failures_settle(struct report *report, struct report_failed *failed);
void failures_free(struct report_failed *failed);
/* Adds the ends that nobody expects (ends.c). */
void failed_ends_add(const struct report *report, struct report_failed *failed);
/* Adds the calls on sockets that failed (connects.c). */
void failed_connects_read(struct report *report, struct report_failed *failed);
/* Finds how long threads slept right behind calls that failed, in waits.out (sleeps.c). */
void failed_sleeps_read(struct report *report, struct report_failed *failed);

#endif
