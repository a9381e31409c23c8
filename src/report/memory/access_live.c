/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/memory/access_live.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/memory/allocs.h"
#include "stats/table.h"

#define ENDED_MAX (1U << 18) /* in an interval */

struct access_live {
	struct table blocks; /* struct access_block, by process and address; SIZE 0: none is in use there */
	uint32_t in_use; /* of these */
	struct access_block *ended; /* a queue, from FIRST on */
	size_t first, n;
	uint64_t left_out;
};

struct access_live *access_live_new(uint32_t max)
{
	struct access_live *l = calloc(1, sizeof(*l));

	if (l)
		table_init(&l->blocks, sizeof(struct access_block), max);
	return l;
}

void access_live_free(struct access_live *l)
{
	if (!l)
		return;
	table_free(&l->blocks);
	free(l->ended);
	free(l);
}

static uint64_t key_of(uint64_t pid, uint64_t addr)
{
	const uint64_t key[2] = { pid, addr };

	return table_key((const char *)key, sizeof(key));
}

/* Keeps the blocks that are in use, without the places of others. */
static void compact(struct access_live *live)
{
	struct table old = live->blocks;

	table_init(&live->blocks, sizeof(struct access_block), old.max);
	for (uint32_t i = 0; i < old.n; i++) {
		const struct access_block *b = table_at(&old, i);
		struct access_block *at = b->size ? table_get(&live->blocks, table_key_at(&old, i)) : NULL;

		if (at)
			*at = *b;
		live->left_out += b->size && !at;
	}
	live->in_use = live->blocks.n;
	table_free(&old);
}

/* Returns the place of KEY, where a block begins; NULL: too many are in use, or memory is out. */
static struct access_block *place_for(struct access_live *l, uint64_t key)
{
	struct access_block *at = table_get(&l->blocks, key);

	/* it reads the whole table, so it is done only where that empties half of it */
	if (at || l->blocks.n < l->blocks.max || l->in_use > l->blocks.max / 2)
		return at;
	compact(l);
	return table_get(&l->blocks, key);
}

static void begin(struct access_live *live, const struct scan *scan, uint64_t pid)
{
	struct access_block b = { .pid = pid, .begin_ns = scan->time_ns, .site = scan_number(scan, COL_SITE) }, *at;

	if (!scan_u64(scan, COL_SIZE, &b.size) || !scan_address(scan, COL_ADDR, &b.addr) || !b.addr)
		return;
	at = place_for(live, key_of(pid, b.addr));
	if (!at) {
		live->left_out++;
		return;
	}
	live->in_use -= at->size != 0;
	live->in_use += b.size != 0;
	*at = b;
}

/* A row ends the block at ADDR, whose size and stack are in SIZE and SITE. */
static void end(struct access_live *live, const struct scan *scan, uint64_t pid, enum column addr, enum column size,
		enum column site)
{
	struct access_block b = { .pid = pid, .end_ns = scan->time_ns, .site = scan_number(scan, site) }, *at;
	const uint64_t life_ns = scan_number(scan, COL_LIFE_NS);

	if (!scan_u64(scan, size, &b.size) || !b.size || !scan_address(scan, addr, &b.addr))
		return;
	at = table_find(&live->blocks, key_of(pid, b.addr));
	if (at && at->size) {
		at->size = 0;
		live->in_use--;
	}
	b.begin_ns = scan->time_ns - MIN(life_ns, scan->time_ns);
	if (live->n - live->first < ENDED_MAX && util_room(&live->ended, live->n, sizeof(b)) == 0)
		live->ended[live->n++] = b;
	else
		live->left_out++;
}

void access_live_take(struct access_live *live, const struct scan *scan)
{
	const struct reader_field func = scan_field(scan, COL_FUNC);
	const uint64_t pid = scan_number(scan, COL_PID);

	if (report_alloc_is_unpaired(func))
		return;
	if (reader_is(func, "end") || report_alloc_frees(func)) {
		end(live, scan, pid, COL_ADDR, COL_SIZE, COL_SITE);
		return;
	}
	if (!reader_is(scan_field(scan, COL_LIFE_NS), "-"))
		end(live, scan, pid, COL_OLD_ADDR, COL_OLD_SIZE, COL_OLD_SITE);
	begin(live, scan, pid);
}

void access_live_until(struct access_live *l, uint64_t ns, access_block_fn give, void *own)
{
	while (l->first < l->n && l->ended[l->first].end_ns < ns)
		give(own, &l->ended[l->first++]);
	if (!l->first || l->first < l->n / 2)
		return;
	l->n -= l->first;
	memmove(l->ended, l->ended + l->first, l->n * sizeof(*l->ended));
	l->first = 0;
}

uint64_t access_live_left_out(const struct access_live *l)
{
	return l->left_out;
}

void access_live_end(struct access_live *l, uint64_t ns, access_block_fn give, void *own)
{
	access_live_until(l, UINT64_MAX, give, own);
	for (uint32_t i = 0; i < l->blocks.n; i++) {
		struct access_block *b = table_at(&l->blocks, i);

		b->end_ns = ns;
		if (b->size)
			give(own, b);
	}
}
