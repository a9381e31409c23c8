/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the pages of threads out of their processes' memory. Such a page may be on a file system, or have an owner,
 * that lets a reader wait (FUSE, userfaultfd): so a thread of its own reads, and the drain never waits for long. Drain
 * thread.
 */
#ifndef DRAIN_MEMORY_ALLOC_PULL_H
#define DRAIN_MEMORY_ALLOC_PULL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "dlt/alloc.h"
#include "host/stall/async_call.h"

#define ALLOC_PULL_MAX 64

struct alloc_pull_page {
	uint32_t tgid, tid;
	uint64_t page;
	ssize_t n; /* bytes read, all of GOT or fewer; or -errno */
	struct {
		struct dlt_alloc_page page;
		struct dlt_alloc_head after; /* the head once more */
	} got;
};

/* Up to ALLOC_PULL_MAX pages that are read together. */
struct alloc_pull {
	struct async_call call;
	uint64_t begun_ns;
	unsigned int n;
	unsigned int at; /* the one that is being read; relaxed */
	struct alloc_pull_page v[ALLOC_PULL_MAX];
};

/* NULL: no memory. */
struct alloc_pull *alloc_pull_new(void);
/* Begin to read P's pages. 0 or -errno. */
int alloc_pull_begin(struct alloc_pull *p);
/* A reader that has not come back keeps its memory. NULL is fine. */
void alloc_pull_free(struct alloc_pull *p);

#endif
