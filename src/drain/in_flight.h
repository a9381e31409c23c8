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

/*
 * What file CALL is about: the address of the path that it was given in its process's memory, else 0; its
 * descriptor, with a path that of the folder which this is relative to (AT_FDCWD), else DLT_NONE.
 */
void in_flight_about(const struct dlt_call *call, int64_t *fd_ret, uint64_t *addr_ret);

#endif
