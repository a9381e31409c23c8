/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/memory/access_blocks.h"

#include "drain/memory/access_pages.h"
#include "drain/memory/alloc_blocks.h"
#include "kernel/access/cpu_events.h"

#define WATCHED_BYTES 8

bool access_blocks_put(struct access_blocks *b, uint32_t tgid, const struct alloc_block *block)
{
	if (!block->addr || block->addr % WATCHED_BYTES)
		return false;
	for (unsigned int i = 0; i < DLT_WATCHES; i++) {
		if (b->v[i].addr)
			continue;
		b->v[i] = (struct access_block){ block->addr, block->begin_ns, tgid, block->site };
		return true;
	}
	return false;
}

bool access_blocks_take(struct access_blocks *b, uint32_t tgid, uint64_t addr, struct access_block *ret)
{
	for (unsigned int i = 0; i < DLT_WATCHES; i++) {
		if (b->v[i].addr != addr || b->v[i].tgid != tgid || !addr)
			continue;
		*ret = b->v[i];
		b->v[i].addr = 0;
		return true;
	}
	return false;
}

/* The I-th breakpoint watches ADDR from here on; 0: nothing. At the end they are closed. 0 or -errno. */
static int move(struct access_source *source, unsigned int i, uint64_t addr)
{
	struct cpu_event event = source->event[i];
	int r = 0;

	event.attr.bp_addr = addr;
	event.attr.disabled = !addr;
	pthread_mutex_lock(&source->lock);
	if (source->events[i])
		r = cpu_events_change(source->events[i], &event);
	pthread_mutex_unlock(&source->lock);
	return r;
}

unsigned int access_blocks_move(struct access_blocks *blocks, struct access_source *source)
{
	unsigned int failed = 0;

	for (unsigned int i = 0; i < DLT_WATCHES; i++) {
		const uint64_t addr = blocks->v[i].addr;

		if (blocks->at[i] != addr && move(source, i, addr) < 0 && addr)
			failed++;
		blocks->at[i] = addr;
	}
	return failed;
}
