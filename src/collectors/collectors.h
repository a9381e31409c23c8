/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers that sample the machine beside the trace (mpstat, iostat, nvidia-smi), one row of a
 * table each. The control plane forks, restarts (once) and stops them; the drain thread reads
 * their pipes and writes their files, so that it alone writes rows.
 */
#ifndef COLLECTORS_COLLECTORS_H
#define COLLECTORS_COLLECTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "collectors/collector.h"

struct clock_map;
struct loop;
struct sink_split;
struct workload_user;

#define COLLECTORS_MAX 8

struct collectors {
	struct collector c[COLLECTORS_MAX];
	unsigned int n;
	/* set before the start */
	const struct sink_split *split; /* NULL: their files are not split */
	const struct workload_user *user; /* who the tools run as; NULL: as we do */
};

/*
 * Start those that LIST names ("cpu,gpu", "none", NULL: all), each with its file in DIRFD. A
 * missing tool is one line and an entry with its state, not a failure. Call it on the main
 * thread: the tools end with the thread that started them. 0 or -EINVAL (unknown name; nothing
 * was started) or -errno.
 */
int collectors_start(struct collectors *cs, const char *list, uint64_t interval_ns, int dirfd);

/* Control plane: watch the children's pidfds in LOOP. */
int collectors_watch(struct collectors *cs, struct loop *loop);

/*
 * Drain thread: one read of what is there; rows are stamped with its arrival. True at the end:
 * at EOF, when the pipe is empty after collectors_stop(), or when a tool only makes noise: it would
 * fill the disk with comments.
 */
bool collector_read(struct collector *c, const struct clock_map *clock);

/*
 * Control plane: each one's stop signal, a deadline, SIGKILL; reaps, then closes the write ends so
 * that the readers see the end. collectors_free() after the drain has ended closes the files.
 */
void collectors_stop(struct collectors *cs, struct loop *loop);
void collectors_free(struct collectors *cs);

#endif
