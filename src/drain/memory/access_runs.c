/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/memory/access_runs.h"

#include <stdbool.h>

#include "base/util.h"

/* A single event is shown by its own address, thread and instruction. */
static void row_end(struct access_runs *runs)
{
	struct access_row row = runs->row;

	runs->row.bytes = 0;
	if (!row.bytes)
		return;
	if (row.count != 1)
		row.tid = row.ip = DLT_NONE;
	else
		row.bytes = runs->page_bytes;
	runs->emit(runs->ctx, &row);
}

static int64_t sum(int64_t a, int64_t b)
{
	return a == DLT_NONE || b == DLT_NONE ? DLT_NONE : a + b;
}

static int64_t times(int64_t v, uint64_t n)
{
	return v == DLT_NONE ? DLT_NONE : v * (int64_t)n;
}

/* Whether block B continues the row. */
static bool continues(const struct access_runs *r, const struct access_touch *b)
{
	const struct access_row *row = &r->row;
	const uint64_t n = row->bytes / r->block_bytes;

	return n && (row->addr & ~(r->block_bytes - 1)) + row->bytes == b->addr && row->kind == b->kind &&
	       row->node == b->node && r->area == b->area && row->touched == (int64_t)(b->bytes * n) &&
	       row->written == times(b->written, n) && row->huge == times(b->huge, n);
}

static void block_end(struct access_runs *runs)
{
	const struct access_touch b = runs->block;
	struct access_row *row = &runs->row;

	runs->block.bytes = 0;
	if (!b.bytes)
		return;
	if (continues(runs, &b)) {
		row->addr &= ~(runs->block_bytes - 1);
		row->bytes += runs->block_bytes;
		row->touched += (int64_t)b.bytes;
		row->written = sum(row->written, b.written);
		row->count = sum(row->count, b.count);
		row->huge = sum(row->huge, b.huge);
		return;
	}
	row_end(runs);
	row->addr = b.count == 1 ? b.at : b.addr;
	row->bytes = runs->block_bytes;
	row->kind = b.kind;
	runs->area = b.area;
	row->touched = (int64_t)b.bytes;
	row->written = b.written;
	row->count = b.count;
	row->huge = b.huge;
	row->node = b.node;
	row->tid = b.tid;
	row->ip = b.ip;
}

/* TOUCH is within one block. */
static void add(struct access_runs *runs, const struct access_touch *touch)
{
	const uint64_t block = touch->addr & ~(runs->block_bytes - 1);
	struct access_touch *access_touch = &runs->block;

	if (access_touch->bytes && access_touch->addr == block && access_touch->kind == touch->kind &&
	    access_touch->area == touch->area) {
		access_touch->bytes += touch->bytes;
		access_touch->written = sum(access_touch->written, touch->written);
		access_touch->count = sum(access_touch->count, touch->count);
		access_touch->huge = sum(access_touch->huge, touch->huge);
		return;
	}
	block_end(runs);
	*access_touch = *touch;
	access_touch->addr = block;
}

void access_runs_add(struct access_runs *runs, const struct access_touch *touch)
{
	const uint64_t end = touch->addr + touch->bytes;
	struct access_touch part = *touch;

	while (part.addr < end) {
		part.bytes = MIN((part.addr | (runs->block_bytes - 1)) + 1, end) - part.addr;
		part.written = touch->written > 0 ? (int64_t)part.bytes : touch->written;
		part.huge = touch->huge > 0 ? (int64_t)part.bytes : touch->huge;
		add(runs, &part);
		part.addr += part.bytes;
	}
}

void access_runs_end(struct access_runs *r)
{
	block_end(r);
	row_end(r);
}
