/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers that sample the machine beside the trace (mpstat, iostat, nvidia-smi), one row of a
 * table each. The control plane forks, restarts (once) and stops them; the drain thread reads
 * their pipes and writes their files, so that it alone writes rows.
 */
#ifndef COLLECTORS_H
#define COLLECTORS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "clock.h"
#include "sink.h"

struct loop;

#define COLLECTORS_MAX 8
#define COLLECTOR_LINE_MAX 4096

struct collector_kind;

struct collector {
	const struct collector_kind *kind;
	/* control plane */
	pid_t pid;
	int pidfd;
	int write_fd;	 /* the pipe's write end, kept for a restart; -1 closed */
	int restarts;
	int status;	 /* raw wait status of the last end */
	char state[128]; /* for the manifest: "running", "not found", "exited 1, restarted" ... */
	/* drain thread */
	int read_fd; /* non-blocking; -1 closed */
	struct sink sink;
	bool header_done;
	char line[COLLECTOR_LINE_MAX];
	uint32_t line_len;
	bool line_skip; /* the rest of an overlong line */
};

struct collectors {
	struct collector c[COLLECTORS_MAX];
	unsigned int n;
};

/* Name, file and help of kind I, NULL past the end: for --help, check and the docs. */
const char *collectors_name(unsigned int i);
const char *collectors_file(unsigned int i);

/*
 * Start those that LIST names ("cpu,gpu", "none", NULL: all), each with its file in DIRFD. A
 * missing tool is one line and an entry with its state, not a failure. 0 or -EINVAL (unknown
 * name) or -errno.
 */
int collectors_start(struct collectors *cs, const char *list, uint64_t interval_ns, int dirfd);

/* Control plane: watch the children's pidfds in LOOP. */
int collectors_watch(struct collectors *cs, struct loop *loop);

/* Drain thread: read what is there and write rows stamped with their arrival. True at EOF. */
bool collector_read(struct collector *c, const struct clock_map *clock);

/*
 * Control plane: each one's stop signal, a deadline, SIGKILL; reaps, then closes the write ends so
 * that the readers see EOF. collectors_free() after the drain has ended closes the files.
 */
void collectors_stop(struct collectors *cs, struct loop *loop);
void collectors_free(struct collectors *cs);

#endif
