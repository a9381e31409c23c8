/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a running job's last seconds went, found by a child process again and again: reading files takes time, and the
 * disk that holds them may not answer; neither delays the caller.
 */
#ifndef CMD_STATUS_RECENT_READER_H
#define CMD_STATUS_RECENT_READER_H

#include <sys/types.h>

#include "control/client.h"

struct recent_reader {
	pid_t pid; /* 0: none */
	int fd; /* of its lines; -1: none */
	struct answer came; /* text that was received and is no whole line yet */
	char *line; /* the last whole one: a JSON object, or null where it is not known: owned; NULL: none yet */
};

/* Starts it for TRACE. A reader that cannot be started has no lines, and a descriptor of -1. */
void recent_reader_start(struct recent_reader *reader, const struct trace *trace);
void recent_reader_stop(struct recent_reader *reader);
/* Takes the lines that have come, without waiting for any. */
void recent_reader_take(struct recent_reader *reader);

#endif
