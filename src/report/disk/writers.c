/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/disk/writers.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define CHUNK_BYTES (1ULL << WRITERS_CHUNK_BITS)
#define CHUNK_NUMBER_BITS 28 /* files of 256 TiB */

/* The bytes from BEGIN to END of a chunk, and their writer. */
struct stretch {
	uint32_t begin, end, pid;
};

/* Stretches in order; they do not overlap, and neighbors that touch have different writers. */
struct writers_chunk {
	struct stretch *v;
	uint32_t n, room;
};

void writers_init(struct writers *w)
{
	*w = (struct writers){ .bytes = 0 };
	table_init(&w->chunks, sizeof(struct writers_chunk), WRITERS_CHUNKS_MAX);
}

void writers_free(struct writers *w)
{
	for (uint32_t i = 0; i < w->chunks.n; i++)
		free(((struct writers_chunk *)table_at(&w->chunks, i))->v);
	table_free(&w->chunks);
}

/* Returns 0 where a file is longer, or has a larger FID, than keys have bits for. */
static uint64_t key_of(uint64_t fid, uint64_t off)
{
	const uint64_t number = off >> WRITERS_CHUNK_BITS;

	return number >> CHUNK_NUMBER_BITS | fid >> (64 - CHUNK_NUMBER_BITS) ? 0 : fid << CHUNK_NUMBER_BITS | number;
}

/* Returns the first stretch that ends behind AT. Most writes go on where the last one ended. */
static uint32_t first_behind(const struct writers_chunk *chunk, uint32_t at)
{
	uint32_t low = 0, high = chunk->n;

	if (chunk->n && chunk->v[chunk->n - 1].end <= at)
		return chunk->n;
	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;

		if (chunk->v[mid].end <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool grow(struct writers *writers, struct writers_chunk *chunk, uint32_t n)
{
	const uint32_t room = MAX(2 * chunk->room, MAX(n, 4U));
	struct stretch *stretch;

	if (n <= chunk->room)
		return true;
	if (writers->bytes + (room - chunk->room) * sizeof(*stretch) > WRITERS_BYTES_MAX)
		return false;
	stretch = reallocarray(chunk->v, room, sizeof(*stretch));
	if (!stretch)
		return false;
	writers->bytes += (room - chunk->room) * sizeof(*stretch);
	chunk->v = stretch;
	chunk->room = room;
	return true;
}

/* Puts the N stretches of NEW in the place of those from FROM to TO. */
static bool replace(struct writers *writers, struct writers_chunk *chunk, uint32_t from, uint32_t to,
		    const struct stretch *new, uint32_t n)
{
	const uint32_t left = chunk->n - (to - from) + n;

	if (!grow(writers, chunk, left))
		return false;
	if (!left) {
		writers->bytes -= chunk->room * sizeof(*chunk->v);
		free(chunk->v);
		*chunk = (struct writers_chunk){ .n = 0 };
		return true;
	}
	memmove(chunk->v + from + n, chunk->v + to, (chunk->n - to) * sizeof(*chunk->v));
	memcpy(chunk->v + from, new, n * sizeof(*new));
	chunk->n = left;
	return true;
}

static bool write_chunk(struct writers *writers, struct writers_chunk *chunk, struct stretch s)
{
	uint32_t from = first_behind(chunk, s.begin), to = from, n = 0;
	struct stretch new[3];

	/* joins a stretch of the same writer that ends where this one begins */
	if (from && chunk->v[from - 1].end == s.begin && chunk->v[from - 1].pid == s.pid)
		s.begin = chunk->v[--from].begin;
	while (to < chunk->n && chunk->v[to].begin < s.end)
		to++;
	if (to < chunk->n && chunk->v[to].begin == s.end && chunk->v[to].pid == s.pid)
		to++;
	if (from < to && chunk->v[from].begin < s.begin) {
		if (chunk->v[from].pid == s.pid)
			s.begin = chunk->v[from].begin;
		else
			new[n++] = (struct stretch){ chunk->v[from].begin, s.begin, chunk->v[from].pid };
	}
	new[n++] = s;
	if (from < to && chunk->v[to - 1].end > s.end) {
		if (chunk->v[to - 1].pid == s.pid)
			new[n - 1].end = chunk->v[to - 1].end;
		else
			new[n++] = (struct stretch){ s.end, chunk->v[to - 1].end, chunk->v[to - 1].pid };
	}
	return replace(writers, chunk, from, to, new, n);
}

static void take_chunk(struct writers *writers, struct writers_chunk *chunk, uint32_t begin, uint32_t end,
		       writers_fn take, void *ctx)
{
	const uint32_t from = first_behind(chunk, begin);
	uint32_t to = from, at = begin, n = 0;
	struct stretch rest[2] = { 0 };

	for (; to < chunk->n && chunk->v[to].begin < end; to++) {
		const struct stretch *s = &chunk->v[to];

		if (s->begin > at)
			take(ctx, s->begin - at, 0);
		take(ctx, MIN(s->end, end) - MAX(s->begin, begin), s->pid);
		at = MIN(s->end, end);
		if (s->begin < begin)
			rest[n++] = (struct stretch){ s->begin, begin, s->pid };
		if (s->end > end)
			rest[n++] = (struct stretch){ end, s->end, s->pid };
	}
	if (at < end)
		take(ctx, end - at, 0);
	if (from == to || replace(writers, chunk, from, to, rest, n))
		return;
	/* no room for the second of two rests: the bytes after END lose their writer */
	writers->left_out += rest[1].end - rest[1].begin;
	chunk->v[from] = rest[0];
}

static void forget(void *ctx, uint64_t len, uint32_t pid)
{
	(void)ctx, (void)len, (void)pid;
}

void writers_write(struct writers *writers, uint64_t fid, uint64_t off, uint64_t len, uint32_t pid)
{
	writers->left_out += len - MIN(len, WRITERS_CALL_MAX);
	len = MIN(len, WRITERS_CALL_MAX);
	while (len) {
		const uint32_t begin = (uint32_t)(off % CHUNK_BYTES);
		const uint64_t part = MIN(len, CHUNK_BYTES - begin), key = key_of(fid, off);
		struct writers_chunk *c = key ? table_get(&writers->chunks, key) : NULL;

		if (!c || !write_chunk(writers, c, (struct stretch){ begin, begin + (uint32_t)part, pid })) {
			writers->left_out += part;
			if (c) /* who wrote there before is no longer the last */
				take_chunk(writers, c, begin, begin + (uint32_t)part, forget, NULL);
		}
		off += part;
		len -= part;
	}
}

void writers_take(struct writers *writers, uint64_t fid, uint64_t off, uint64_t len, writers_fn take, void *ctx)
{
	const uint64_t more = len - MIN(len, WRITERS_BIO_MAX);

	len -= more;
	while (len) {
		const uint32_t begin = (uint32_t)(off % CHUNK_BYTES);
		const uint64_t part = MIN(len, CHUNK_BYTES - begin), key = key_of(fid, off);
		struct writers_chunk *c = key ? table_find(&writers->chunks, key) : NULL;

		if (c)
			take_chunk(writers, c, begin, begin + (uint32_t)part, take, ctx);
		else
			take(ctx, part, 0);
		off += part;
		len -= part;
	}
	if (more)
		take(ctx, more, 0);
}
