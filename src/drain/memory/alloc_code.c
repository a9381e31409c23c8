/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/memory/alloc_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "drain/memory/alloc_map.h"
#include "host/stall/async_call.h"

#define READER_MAX 64 /* processes that are read together */
#define AGAIN_NS (500 * NSEC_PER_MSEC)
#define STUCK_NS (10 * NSEC_PER_SEC)
#define STUCK_MAX 8

/* It reads N processes; what it has while it does belongs to its thread, and so do their last maps. */
struct alloc_code_reader {
	struct async_call call;
	unsigned int n;
	unsigned int at; /* the one that is being read; relaxed */
	uint64_t begun_ns;
	struct job {
		uint32_t tgid;
		const struct alloc_map *before;
		struct alloc_map *map;
	} v[READER_MAX];
};

static struct alloc_code_process *process_find(struct alloc_code *c, uint32_t tgid)
{
	for (unsigned int i = 0; i < ALLOC_CODE_PROCESSES; i++)
		if (c->processes[i].tgid == tgid)
			return &c->processes[i];
	return NULL;
}

static void read_maps(void *ctx)
{
	struct alloc_code_reader *r = ctx;

	for (unsigned int i = 0; i < r->n; i++) {
		__atomic_store_n(&r->at, i, __ATOMIC_RELAXED);
		r->v[i].map = alloc_map_read((pid_t)r->v[i].tgid, r->v[i].before);
	}
}

/* --- what has been read ----------------------------------------------------------------------------------------- */

/* Files keep the numbers that they had. */
static void numbers_keep(struct alloc_map *map, const struct alloc_map *before)
{
	uint32_t k = 0;

	for (uint32_t i = 0; before && i < map->n_modules; i++) { /* both are in the order of addresses */
		struct alloc_module *m = &map->modules[i];

		while (k < before->n_modules && before->modules[k].begin < m->begin)
			k++;
		if (k < before->n_modules && before->modules[k].begin == m->begin && !strcmp(before->modules[k].path, m->path))
			m->number = before->modules[k].number;
	}
}

/* A process that cannot be read any more keeps what it had. */
static void job_take(struct alloc_code *c, struct job *j, uint64_t begun_ns)
{
	struct alloc_code_process *p = process_find(c, j->tgid);

	if (!p || p->map != j->before) { /* it has ended, or there is another of this number: see alloc_code_forget() */
		alloc_map_free(j->map);
		alloc_map_free((struct alloc_map *)j->before);
		return;
	}
	p->read_ns = begun_ns;
	if (!j->map)
		return;
	numbers_keep(j->map, p->map);
	alloc_map_free(p->map);
	p->map = j->map;
}

/* The reader is left alone with all that it uses; whatever it waits for is not read again. */
static void give_up(struct alloc_code *c)
{
	const struct alloc_code_reader *r = c->reader;
	const uint32_t stuck_tgid = r->v[__atomic_load_n(&r->at, __ATOMIC_RELAXED)].tgid;

	for (unsigned int i = 0; i < r->n; i++) {
		struct alloc_code_process *p = process_find(c, r->v[i].tgid);

		if (!p || p->map != r->v[i].before)
			continue;
		p->map = NULL;
		p->unreadable |= p->tgid == stuck_tgid;
	}
	c->stuck++;
	c->reader = NULL;
}

/* Takes what the reader has read, after up to WAIT_MS. Returns false while it reads. */
static bool reader_end(struct alloc_code *c, int wait_ms)
{
	struct alloc_code_reader *r = c->reader;

	if (!async_call_wait(&r->call, wait_ms)) {
		if (async_call_busy_ns(&r->call) > STUCK_NS)
			give_up(c);
		return false;
	}
	for (unsigned int i = 0; i < r->n; i++)
		job_take(c, &r->v[i], r->begun_ns);
	r->n = 0;
	return true;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static bool is_due(const struct alloc_code_process *p, uint64_t now_ns)
{
	return p->tgid && !p->unreadable && p->heard_ns > p->read_ns && (!p->read_ns || now_ns >= p->read_ns + AGAIN_NS);
}

static struct alloc_code_reader *reader_new(void)
{
	struct alloc_code_reader *r = calloc(1, sizeof(*r));

	if (r)
		r->call = (struct async_call)ASYNC_CALL_NONE;
	return r;
}

/* Returns whether there is something to read, which is being read now. */
static bool reader_begin(struct alloc_code *c)
{
	const uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	struct alloc_code_reader *r = c->reader;

	r->n = 0;
	r->at = 0;
	r->begun_ns = now_ns;
	for (unsigned int i = 0; i < ALLOC_CODE_PROCESSES && r->n < READER_MAX; i++)
		if (is_due(&c->processes[i], now_ns))
			r->v[r->n++] = (struct job){ c->processes[i].tgid, c->processes[i].map, NULL };
	if (r->n && async_call_begin(&r->call, read_maps, r) < 0)
		r->n = 0;
	return r->n;
}

static bool reader_ready(struct alloc_code *c, int wait_ms)
{
	if (!c->reader && c->stuck < STUCK_MAX)
		c->reader = reader_new();
	return c->reader && reader_end(c, wait_ms);
}

void alloc_code_heard(struct alloc_code *c, uint32_t tgid, uint64_t ns)
{
	struct alloc_code_process *p = process_find(c, tgid);
	const bool is_new = !p;

	if (!p)
		p = process_find(c, 0);
	if (!p || !tgid)
		return;
	p->tgid = tgid;
	p->heard_ns = ns;
	if (is_new && reader_ready(c, 0))
		reader_begin(c);
}

void alloc_code_update(struct alloc_code *c, int wait_ms)
{
	const uint64_t give_up_ns = clock_now_ns(CLOCK_MONOTONIC) + (uint64_t)wait_ms * NSEC_PER_MSEC;

	while (reader_ready(c, wait_ms) && reader_begin(c) && clock_now_ns(CLOCK_MONOTONIC) < give_up_ns)
		;
}

/* --- life ---------------------------------------------------------------------------------------------------------- */

static bool is_being_read(const struct alloc_code *c, uint32_t tgid)
{
	for (unsigned int i = 0; c->reader && i < c->reader->n; i++)
		if (c->reader->v[i].tgid == tgid)
			return true;
	return false;
}

/* What a reader still uses, job_take() frees. */
void alloc_code_forget(struct alloc_code *c, uint32_t tgid)
{
	struct alloc_code_process *p = tgid ? process_find(c, tgid) : NULL;

	if (!p)
		return;
	if (!is_being_read(c, tgid))
		alloc_map_free(p->map);
	*p = (struct alloc_code_process){ .tgid = 0 };
}

void alloc_code_free(struct alloc_code *c)
{
	if (c->reader && !reader_end(c, 0))
		return;
	for (unsigned int i = 0; i < ALLOC_CODE_PROCESSES; i++)
		alloc_map_free(c->processes[i].map);
	if (c->reader)
		async_call_free(&c->reader->call);
	free(c->reader);
}

bool alloc_code_known(struct alloc_code *c, uint32_t tgid)
{
	const struct alloc_code_process *p = tgid ? process_find(c, tgid) : NULL;

	return p && p->map;
}

bool alloc_code_find(struct alloc_code *c, uint32_t tgid, uint64_t addr, struct alloc_module **module_ret)
{
	const struct alloc_code_process *p = tgid ? process_find(c, tgid) : NULL;
	const struct alloc_area *a;

	*module_ret = NULL;
	if (!p || !p->map)
		return true;
	a = alloc_map_find(p->map, addr - 1);
	if (a && a->module)
		*module_ret = &p->map->modules[a->module - 1];
	return a;
}
