/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/memory/access_runs.h"

#include <stdbool.h>

#include "base/util.h"

/* A single event is shown by its own address, thread and instruction. */
static void row_end(struct access_runs *r)
{
	struct access_row row = r->row;

	r->row.bytes = 0;
	if (!row.bytes)
		return;
	if (row.count != 1)
		row.tid = row.ip = DLT_NONE;
	else
		row.bytes = r->page_bytes;
	r->emit(r->ctx, &row);
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

	return n && (row->addr & ~(r->block_bytes - 1)) + row->bytes == b->addr && row->kind == b->kind && row->node == b->node &&
	       r->area == b->area && row->touched == (int64_t)(b->bytes * n) && row->written == times(b->written, n) && row->huge == times(b->huge, n);
}

static void block_end(struct access_runs *r)
{
	const struct access_touch b = r->block;
	struct access_row *row = &r->row;

	r->block.bytes = 0;
	if (!b.bytes)
		return;
	if (continues(r, &b)) {
		row->addr &= ~(r->block_bytes - 1);
		row->bytes += r->block_bytes;
		row->touched += (int64_t)b.bytes;
		row->written = sum(row->written, b.written);
		row->count = sum(row->count, b.count);
		row->huge = sum(row->huge, b.huge);
		return;
	}
	row_end(r);
	row->addr = b.count == 1 ? b.at : b.addr;
	row->bytes = r->block_bytes;
	row->kind = b.kind;
	r->area = b.area;
	row->touched = (int64_t)b.bytes;
	row->written = b.written;
	row->count = b.count;
	row->huge = b.huge;
	row->node = b.node;
	row->tid = b.tid;
	row->ip = b.ip;
}

/* T is within one block. */
static void add(struct access_runs *r, const struct access_touch *t)
{
	const uint64_t block = t->addr & ~(r->block_bytes - 1);
	struct access_touch *b = &r->block;

	if (b->bytes && b->addr == block && b->kind == t->kind && b->area == t->area) {
		b->bytes += t->bytes;
		b->written = sum(b->written, t->written);
		b->count = sum(b->count, t->count);
		b->huge = sum(b->huge, t->huge);
		return;
	}
	block_end(r);
	*b = *t;
	b->addr = block;
}

void access_runs_add(struct access_runs *r, const struct access_touch *t)
{
	const uint64_t end = t->addr + t->bytes;
	struct access_touch part = *t;

	while (part.addr < end) {
		part.bytes = MIN((part.addr | (r->block_bytes - 1)) + 1, end) - part.addr;
		part.written = t->written > 0 ? (int64_t)part.bytes : t->written;
		part.huge = t->huge > 0 ? (int64_t)part.bytes : t->huge;
		add(r, &part);
		part.addr += part.bytes;
	}
}

void access_runs_end(struct access_runs *r)
{
	block_end(r);
	row_end(r);
}
