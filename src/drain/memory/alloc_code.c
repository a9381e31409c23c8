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
		if (k < before->n_modules && before->modules[k].begin == m->begin &&
		    !strcmp(before->modules[k].path, m->path))
			m->number = before->modules[k].number;
	}
}

/* A process that cannot be read any more keeps what it had. */
static void job_take(struct alloc_code *code, struct job *job, uint64_t begun_ns)
{
	struct alloc_code_process *process = process_find(code, job->tgid);

	if (!process ||
	    process->map !=
		    job->before) { /* it has ended, or there is another of this number: see alloc_code_forget() */
		alloc_map_free(job->map);
		alloc_map_free((struct alloc_map *)job->before);
		return;
	}
	process->read_ns = begun_ns;
	if (!job->map)
		return;
	numbers_keep(job->map, process->map);
	alloc_map_free(process->map);
	process->map = job->map;
}

/* The reader is left alone with all that it uses; whatever it waits for is not read again. */
static void give_up(struct alloc_code *code)
{
	const struct alloc_code_reader *reader = code->reader;
	const uint32_t stuck_tgid = reader->v[__atomic_load_n(&reader->at, __ATOMIC_RELAXED)].tgid;

	for (unsigned int i = 0; i < reader->n; i++) {
		struct alloc_code_process *p = process_find(code, reader->v[i].tgid);

		if (!p || p->map != reader->v[i].before)
			continue;
		p->map = NULL;
		p->unreadable |= p->tgid == stuck_tgid;
	}
	code->stuck++;
	code->reader = NULL;
}

/* Takes what the reader has read, after up to WAIT_MS. Returns false while it reads. */
static bool reader_end(struct alloc_code *code, int wait_ms)
{
	struct alloc_code_reader *reader = code->reader;

	if (!async_call_wait(&reader->call, wait_ms)) {
		if (async_call_busy_ns(&reader->call) > STUCK_NS)
			give_up(code);
		return false;
	}
	for (unsigned int i = 0; i < reader->n; i++)
		job_take(code, &reader->v[i], reader->begun_ns);
	reader->n = 0;
	return true;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static bool is_due(const struct alloc_code_process *p, uint64_t now_ns)
{
	return p->tgid && !p->unreadable && p->heard_ns > p->read_ns &&
	       (!p->read_ns || now_ns >= p->read_ns + AGAIN_NS);
}

static struct alloc_code_reader *reader_new(void)
{
	struct alloc_code_reader *r = calloc(1, sizeof(*r));

	if (r)
		r->call = (struct async_call)ASYNC_CALL_NONE;
	return r;
}

/* Returns whether there is something to read, which is being read now. */
static bool reader_begin(struct alloc_code *code)
{
	const uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	struct alloc_code_reader *reader = code->reader;

	reader->n = 0;
	reader->at = 0;
	reader->begun_ns = now_ns;
	for (unsigned int i = 0; i < ALLOC_CODE_PROCESSES && reader->n < READER_MAX; i++)
		if (is_due(&code->processes[i], now_ns))
			reader->v[reader->n++] = (struct job){ code->processes[i].tgid, code->processes[i].map, NULL };
	if (reader->n && async_call_begin(&reader->call, read_maps, reader) < 0)
		reader->n = 0;
	return reader->n;
}

static bool reader_ready(struct alloc_code *c, int wait_ms)
{
	if (!c->reader && c->stuck < STUCK_MAX)
		c->reader = reader_new();
	return c->reader && reader_end(c, wait_ms);
}

void alloc_code_heard(struct alloc_code *code, uint32_t tgid, uint64_t ns)
{
	struct alloc_code_process *process = process_find(code, tgid);
	const bool is_new = !process;

	if (!process)
		process = process_find(code, 0);
	if (!process || !tgid)
		return;
	process->tgid = tgid;
	process->heard_ns = ns;
	if (is_new && reader_ready(code, 0))
		reader_begin(code);
}

void alloc_code_update(struct alloc_code *c, int wait_ms)
{
	const uint64_t give_up_ns = clock_now_ns(CLOCK_MONOTONIC) + (uint64_t)wait_ms * NSEC_PER_MSEC;

	while (reader_ready(c, wait_ms) && reader_begin(c) && clock_now_ns(CLOCK_MONOTONIC) < give_up_ns)
		;
}

/* --- life ----------------------------------------------------------------------------------------------------------
 */

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
