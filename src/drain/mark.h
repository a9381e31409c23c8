/* SPDX-License-Identifier: BSD-2-Clause */
/* Marks on their way from the control plane, which is asked, to the drain, which writes rows. */
#ifndef DRAIN_MARK_H
#define DRAIN_MARK_H

#include <stddef.h>
#include <stdint.h>

struct decode;

struct mark_queue {
	int fds[2]; /* the drain's end, the control plane's; -1: none */
};

/* 0 or -errno. */
int mark_open(struct mark_queue *q);
void mark_close(struct mark_queue *q);

/* Control plane: a mark of process PID, now. 0; -EAGAIN where too many are waiting. */
int mark_put(const struct mark_queue *q, uint32_t pid, const char *text, size_t len);
/* Drain: a row for each that waits. */
void mark_rows(const struct mark_queue *q, struct decode *d);

#endif
