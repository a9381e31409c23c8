/* SPDX-License-Identifier: BSD-2-Clause */
/* What a wait in a call means for the path, by the call's name as in CALL of waits.out and sched.out. Pure. */
#ifndef REPORT_PATH_WAITS_CALLS_H
#define REPORT_PATH_WAITS_CALLS_H

#include "report/path/sums/leaf.h"
#include "trace/reader.h"

struct path_call {
	const char *name;
	enum path_kind storage; /* what a wait for storage in it is */
	bool sleeps; /* its time is all that it waits for */
	bool polls; /* programs call it again at once when its timeout has found nothing */
	bool children; /* what a process waits in for its children */
	bool signals; /* what it waits in for signals */
	bool queues; /* threads of one process wait for each other in it */
	bool locks; /* the thread that ends a wait in it has held a lock on a file */
	bool opens; /* opens a file, of which the row does not show the kind */
	bool accepts; /* a server waits in it for clients */
	bool sends; /* to a socket */
	bool stops; /* no call: the thread was stopped */
};

/* [0] has the facts of all calls that are not listed. */
extern const struct path_call path_calls[];

/* Returns the index of CALL's facts. */
uint8_t path_call_of(struct reader_field call);

#endif
