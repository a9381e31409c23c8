/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that allocate: their blocks, and the numbers that they give to stacks, which forked children have, too.
 * Drain thread.
 */
#ifndef DRAIN_MEMORY_ALLOC_PROCESSES_H
#define DRAIN_MEMORY_ALLOC_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "drain/memory/alloc_blocks.h"
#include "drain/memory/alloc_sites.h"

#define ALLOC_PROCESS_SLOTS 1024U

struct alloc_process {
	uint32_t tgid;
	char comm[DLT_COMM_LEN]; /* of the thread of its last event */
	bool covered; /* it has the library */
	bool python, unread_python; /* it has an interpreter whose lines are read, or are not */
	bool gone; /* it stays for its children's sake */
	unsigned int children; /* that have its names */
	unsigned int depth; /* of its parents */
	struct alloc_blocks blocks;
	struct alloc_names names;
	struct alloc_process *parent; /* NAMES.PARENT is of it */
	struct alloc_process *next; /* in its slot */
};

/* All zero: none. */
struct alloc_processes {
	struct alloc_process *slots[ALLOC_PROCESS_SLOTS];
};

/* Returns process TGID, one that is not gone, or NULL. */
struct alloc_process *alloc_process_find(const struct alloc_processes *all, uint32_t tgid);
/* Returns process TGID, a new one if there is none. NULL: no memory. */
struct alloc_process *alloc_process_get(struct alloc_processes *all, uint32_t tgid);
/*
 * TGID has been forked by PARENT, and has its names from here on: not behind ALLOC_DEPTH_MAX others, as each of these
 * is kept as long as a child of it lives.
 */
#define ALLOC_DEPTH_MAX 32U
void alloc_process_forked(struct alloc_processes *all, uint32_t tgid, uint32_t parent);
/* PROCESS has ended, or executed another program. It may be freed. */
void alloc_process_gone(struct alloc_processes *all, struct alloc_process *process);
void alloc_processes_free(struct alloc_processes *all);

#endif
