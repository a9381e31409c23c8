/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When the session looks which threads of the job wait for long, and who can end that: it is in no event. Control
 * plane; costs a look at the kernel's slots each second, and one into /proc where a thread has begun to wait for LONG.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/util.h"
#include "host/stall/hold_reader.h"
#include "probes/sched/sched.h"
#include "session/state.h"
#include "trace/config.h"
#include "trace/probe.h"

#define LONG_NS (2 * NSEC_PER_SEC)
#define AGAIN_NS (10 * NSEC_PER_SEC) /* who can end a wait may have changed */
#define LEAST_NS (2 * NSEC_PER_SEC) /* between two looks, */
#define COST 100 /* and so many times as long as one took */
#define END_NS (3 * NSEC_PER_SEC) /* for the looks at the end */

static void add_waiting(void *ctx, const struct dlt_waits *wait)
{
	struct hung_now *waiting = ctx;

	if (wait->by != DLT_BY_END || wait->hdr.lat_ns < LONG_NS || waiting->n == HUNG_THREADS_MAX)
		return;
	waiting->v[waiting->n++] =
		(struct hung_thread){ .tid = wait->hdr.tid, .since_ns = wait->hdr.ts_ns - wait->hdr.lat_ns };
	waiting->newest_ns = MAX(waiting->newest_ns, wait->hdr.ts_ns - wait->hdr.lat_ns);
}

/* Returns who waits now; NULL: nobody, or it cannot be known. */
static struct hung_now *waiting_now(struct session *session)
{
	autofree struct hung_now *waiting = calloc(1, sizeof(*waiting));

	if (!waiting)
		return NULL;
	waiting->now_ns = clock_now_ns(CLOCK_MONOTONIC);
	if (sched_waiting(&session->tracer.objects[DLT_sched], waiting->now_ns, add_waiting, waiting) < 0)
		return NULL;
	return TAKE_PTR(waiting);
}

struct pids {
	pid_t v[HOLD_READER_PIDS_MAX];
	size_t n;
};

static void add_pid(void *ctx, pid_t pid)
{
	struct pids *pids = ctx;

	if (pids->n < HOLD_READER_PIDS_MAX)
		pids->v[pids->n++] = pid;
}

static int look(struct session *session)
{
	struct pids pids = { .n = 0 };
	int res;

	tracer_each_live(&session->tracer, add_pid, &pids);
	res = hold_reader_query(pids.v, pids.n);
	if (res == 0)
		session->hung.looked_ns = clock_now_ns(CLOCK_MONOTONIC);
	return res;
}

/* Takes the answer to the last look, if it comes within WAIT_MS. */
static void answer(struct session *session, int wait_ms)
{
	struct hung *hung = &session->hung;
	const struct open_waits *found;
	autofree struct hung_now *waiting = NULL;

	if (hold_reader_answer(wait_ms, &found) < 0)
		return;
	waiting = waiting_now(session);
	if (!waiting)
		return;
	hung->next_ns = waiting->now_ns + MAX(LEAST_NS, COST * MIN(waiting->now_ns - hung->looked_ns, NSEC_PER_SEC));
	hung_take(hung, found, waiting);
}

static bool can_look(struct session *session)
{
	if (session->cfg->all || !(session->tracer.probes >> DLT_waits & 1))
		return false;
	if (!session->hung.kept)
		session->hung.kept = calloc(1, sizeof(*session->hung.kept));
	return session->hung.kept;
}

void session_hung_tick(struct session *session)
{
	struct hung *hung = &session->hung;
	autofree struct hung_now *waiting = can_look(session) ? waiting_now(session) : NULL;
	bool due;

	if (!waiting)
		return;
	hung_settle(hung, waiting);
	answer(session, 0);
	due = waiting->newest_ns + LONG_NS > hung->looked_ns || waiting->now_ns - hung->looked_ns >= AGAIN_NS;
	if (waiting->n && due && waiting->now_ns >= hung->next_ns)
		(void)look(session);
}

static int ms_until(uint64_t then_ns)
{
	const uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);

	return now_ns < then_ns ? (int)((then_ns - now_ns) / NSEC_PER_MSEC) : 0;
}

void session_hung_end(struct session *session)
{
	autofree struct hung_now *waiting = can_look(session) ? waiting_now(session) : NULL;

	if (!waiting)
		return;
	hung_settle(&session->hung, waiting);
	if (!waiting->n)
		return;
	answer(session, ms_until(waiting->now_ns + END_NS));
	if (look(session) == 0)
		answer(session, ms_until(waiting->now_ns + END_NS));
}

int session_hung_answer(struct session *session, const struct control_request *rq, FILE *out)
{
	autofree struct hung_now *waiting = can_look(session) ? waiting_now(session) : NULL;
	autofree struct open_waits *open = waiting ? calloc(1, sizeof(*open)) : NULL;
	autofree char *text = NULL;
	struct json json = { .flat = true };

	if (!open) {
		fputs("who waits for whom is not known\n", out);
		return -EAGAIN;
	}
	hung_open(&session->hung, waiting, open);
	json_object(&json, NULL);
	open_waits_put(&json, open);
	json_end(&json);
	text = json_text(&json);
	fputs(text ?: "", out);
	return text ? 0 : -ENOMEM;
}
