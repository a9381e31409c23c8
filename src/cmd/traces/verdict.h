/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a trace's job waited for, as a sentence and within a bounded time: for a user who waits for a prompt, or looks
 * at several traces. The report's own engine reads the trace, in a child process that is killed when its time is over.
 * So neither a large trace, nor a file system that does not answer, nor a damaged file delays the caller.
 */
#ifndef CMD_TRACES_VERDICT_H
#define CMD_TRACES_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#define VERDICT_CPU_S 2 /* CPU time that the reader may use */
#define VERDICT_MS 5000 /* how long to wait for it; on a busy machine 2 s of CPU time take longer */

struct verdict {
	bool large; /* so large that reading it would take too long */
	bool late; /* the time was over: the trace is large, or its file system does not answer */
	char *text; /* the answer with its share; NULL: there is none */
	char *brief; /* the answer in a few words */
	char *missing; /* the gravest gap of the trace, as a few words or a sentence; NULL: nothing is missing */
};

/* Reads the folder DIRFD, which is DIR; with DIRFD -1 the reader opens DIR. */
void verdict_read(struct verdict *verdict, const char *dir, int dirfd);
/* Returns the bytes of the files in the folder DIRFD; 0: not known. */
uint64_t verdict_trace_bytes(int dirfd);
void verdict_free(struct verdict *v);

#endif
