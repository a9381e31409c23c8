/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What only /proc has of a process: its cgroup's path, its rank, and of one that joins the target its arguments. Kept
 * per process and inherited at fork. The drain never waits for a process: what its memory has, the reader reads
 * (process_reader.h). Drain thread.
 */
#ifndef DRAIN_ROWS_PROCESS_FACTS_H
#define DRAIN_ROWS_PROCESS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlt/pids.h"
#include "host/process_look.h"

struct process_fact {
	uint32_t pid; /* 0: free */
	uint64_t start_ns;
	int64_t rank; /* DLT_NONE: none */
	char cgroup[256];
};

#define PROCESS_FACTS 4096 /* a cache: evicted entries are read again */

struct process_facts {
	struct process_fact v[PROCESS_FACTS];
	bool looking; /* the reader has been asked, for this: */
	struct process_look look;
	struct process_fact found;
	char args[DLT_ARGS_MAX]; /* of the last look */
	size_t args_len;
	uint64_t others; /* processes that were others by the time that /proc was read; relaxed */
};

/* The rank that the strings of an environment, or of a part of one, give: DLT_NONE where they give none. */
int64_t process_rank(const char *env, size_t len);

/*
 * Finds the facts of REC's process; with ARGS, f->args are its arguments. Returns 0 with the facts, which live until
 * another process has their place; -EAGAIN: the reader has not answered within WAIT_MS, -1: its deadline, and the next
 * call must be for the same REC.
 */
int process_facts_get(struct process_facts *facts, const struct dlt_pids *rec, bool args, int wait_ms,
		      struct process_fact **ret);

#endif
