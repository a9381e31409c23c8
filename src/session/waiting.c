/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers which threads of the job wait at this moment: `status --watch' reads the rest from the trace's files, where a
 * wait has no row until it ends. Control plane; costs a copy of the kernel's slots, and nothing unless somebody asks.
 *
 *	"NOW_NS FLUSHED_NS LOST", then the two header lines and the rows of waits.out
 *
 * NOW is when these threads waited, FLUSHED until when the files have all rows, LOST how many rows they lack.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "probes/sched/sched.h"
#include "session/state.h"
#include "trace/clock.h"
#include "trace/probe.h"
#include "trace/record.h"
#include "trace/sink.h"

struct putting {
	struct record_ctx ctx;
	char *row; /* SINK_ROW_MAX bytes */
	FILE *out;
};

static void put(void *ctx, const struct dlt_waits *wait)
{
	struct putting *p = ctx;

	fwrite(p->row, 1, (size_t)(record_put_row(p->row, probes[DLT_waits], wait, &p->ctx) - p->row), p->out);
}

static uint64_t lost_of(const struct session *s)
{
	return s->status.counts.probes[DLT_waits].lost + s->status.counts.probes[DLT_sched].lost +
	       s->status.counts.probes[DLT_pids].lost;
}

/* Puts the rows, as of NOW_NS. */
static int put_rows(struct session *session, const struct clock_reading *now, FILE *out)
{
	struct text_utc_cache utc = { 0 };
	autofree char *row = malloc(SINK_ROW_MAX);
	struct clock_map clock;
	struct putting p = { .ctx = { .clock = &clock, .utc = &utc }, .row = row, .out = out };

	if (!row)
		return -ENOMEM;
	clock_map_init(&clock, now);
	fwrite(row, 1, (size_t)(record_put_header(row, probes[DLT_waits]) - row), out);
	return sched_waiting(&session->tracer.objects[DLT_sched], now->mono_ns, put, &p);
}

int session_waiting_answer(struct session *session, const struct control_request *rq, FILE *out)
{
	struct clock_reading now;
	int res;

	if (!session->traced || session_has_ended(session) || !(session->tracer.probes >> DLT_waits & 1)) {
		fputs("it does not trace waits\n", out);
		return -EAGAIN;
	}
	clock_read(&now, 1);
	status_update(&session->status, &session->tracer, &session->drain);
	fprintf(out, "%llu %llu %llu\n", (unsigned long long)now.mono_ns,
		(unsigned long long)__atomic_load_n(&session->drain.flushed_ns, __ATOMIC_RELAXED),
		(unsigned long long)lost_of(session));
	res = put_rows(session, &now, out);
	if (res < 0)
		fputs("its waits cannot be read\n", out);
	return res;
}
