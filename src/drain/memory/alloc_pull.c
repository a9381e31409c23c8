/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/memory/alloc_pull.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "base/util.h"

static void read_pages(void *ctx)
{
	struct alloc_pull *pull = ctx;

	for (unsigned int i = 0; i < pull->n; i++) {
		struct alloc_pull_page *page = &pull->v[i];
		void *at = (void *)(uintptr_t)page->page;
		struct iovec remote[] = { { at, sizeof(page->got.page) }, { at, sizeof(page->got.after) } };
		struct iovec local = { &page->got, sizeof(page->got) };

		__atomic_store_n(&pull->at, i, __ATOMIC_RELAXED);
		page->n = process_vm_readv((pid_t)page->tgid, &local, 1, remote, ARRAY_SIZE(remote), 0);
		if (page->n < 0)
			page->n = -errno;
	}
}

struct alloc_pull *alloc_pull_new(void)
{
	struct alloc_pull *p = calloc(1, sizeof(*p));

	if (p)
		p->call = (struct async_call)ASYNC_CALL_NONE;
	return p;
}

int alloc_pull_begin(struct alloc_pull *p)
{
	p->begun_ns = clock_now_ns(CLOCK_MONOTONIC);
	p->at = 0;
	return async_call_begin(&p->call, read_pages, p);
}

void alloc_pull_free(struct alloc_pull *p)
{
	if (!p || !async_call_wait(&p->call, 0))
		return;
	async_call_free(&p->call);
	free(p);
}
