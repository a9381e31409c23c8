/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the parts of rows: rows.c has calls, request_rows.c requests. */
#ifndef REPORT_ROWS_IMPL_H
#define REPORT_ROWS_IMPL_H

#include "report/rows.h"
#include "stats/top.h"

/* Adds the first N rows of bio.out in ahead[]: requests to disks. */
void report_request_rows(struct scan *scan, unsigned int n);

/* --- for most rows of a trace: inline for that reason --------------------------------------------------- */

/* Keeps the current row in TOP when it is one of the longest. */
static inline void rows_keep_longest(struct report_calls *top, const struct scan *s, uint64_t lat_ns)
{
	struct report_call *at = TOP_PLACE(top->call, top->n, REPORT_TOP, e, e->lat_ns, lat_ns);

	top->seen++;
	if (at)
		*at = (struct report_call){ .lat_ns = lat_ns, .offset = s->ahead[s->row].offset, .kind = s->kind };
}

/* Adds a call or request to OP; TIMED: with its latency, if it has ended. */
static inline void rows_add_to_op(struct report_op *op, const struct report_call_facts *c, bool timed)
{
	op->rows++;
	if (c->failed)
		op->failed++;
	if (c->running)
		op->running++;
	else if (timed)
		hist_add(&op->lat, c->lat_ns);
}

#endif
