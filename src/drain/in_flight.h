/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that were still running when the trace ended: a row each, with LAT_NS so far and "?". */
#ifndef DRAIN_IN_FLIGHT_H
#define DRAIN_IN_FLIGHT_H

#include <stdint.h>

struct decode;
struct dlt_call;
struct dlt_hdr;

/* Write the row of CALL as of NOW_NS. */
void in_flight_row(struct decode *d, const struct dlt_call *call, uint64_t now_ns);

#endif
