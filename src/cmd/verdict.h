/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a trace says of its job, in a sentence and within a bounded time: where somebody waits for a prompt, or looks at
 * several traces. The report's own engine reads the trace in a process of its own, which ends when its time is over:
 * neither a large trace, nor a file system that does not answer, nor a damaged file holds up whoever asks.
 */
#ifndef CMD_VERDICT_H
#define CMD_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#define VERDICT_CPU_S 2 /* that the reader may compute, and how long anybody waits for it on a machine with much to do */
#define VERDICT_MS 5000

struct verdict {
	bool large;    /* so much that it would take too long */
	bool late;     /* the time was over: so it is, or its file system does not answer */
	char *text;    /* with its share; NULL: it could not be had */
	char *brief;   /* the same in some words */
	char *missing; /* the gravest of what is missing, some words or a sentence; NULL: nothing is */
};

/* Of the folder DIRFD, called DIR in what it says; -1: of DIR, which is opened by who may be ended. */
void verdict_read(struct verdict *v, const char *dir, int dirfd);
/* Bytes of the files of the folder DIRFD; 0: not known. */
uint64_t verdict_trace_bytes(int dirfd);
void verdict_free(struct verdict *v);

#endif
