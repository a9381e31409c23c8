/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/memory/alloc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "dlt/pids.h"
#include "drain/memory/access.h"
#include "drain/memory/alloc_blocks.h"
#include "drain/memory/alloc_code.h"
#include "drain/memory/alloc_counts.h"
#include "drain/memory/alloc_map.h"
#include "drain/memory/alloc_processes.h"
#include "drain/memory/alloc_sites.h"
#include "drain/memory/alloc_threads.h"
#include "drain/memory/ticks.h"
#include "drain/rows/decode.h"
#include "drain/rows/stage.h"

/*
 * Events wait as long as another thread may have earlier ones in its page, or a record that has not been taken from a
 * ring yet. What has not been sent for QUIET_NS is read from the page; sooner, where a storm of events fills memory.
 */
#define QUIET_NS (500 * NSEC_PER_MSEC)
#define QUIET_STORM_NS (20 * NSEC_PER_MSEC)
#define PULL_MS 100
#define PULL_LAST_MS 2000
#define WAITING_MAX (2U << 20) /* events, of 32 bytes each; twice as many do not wait for order */
#define STORM_NS (50 * NSEC_PER_MSEC)
#define BLOCKS_MAX (8U << 20) /* of 40 bytes each, in tables that are half empty at worst */

/* What has happened to a process: the moment is in order with the events. */
enum change_kind { CHANGE_LOADED, CHANGE_FORK, CHANGE_EXEC, CHANGE_EXIT };
struct change {
	struct dlt_hdr hdr;
	enum change_kind kind;
	uint32_t parent;
};

struct alloc {
	struct ticks ticks;
	struct alloc_threads threads;
	struct alloc_sites sites;
	struct alloc_processes processes;
	struct alloc_code code;
	struct change *changes; /* to come, in order */
	size_t n_changes, changes_room;
	uint64_t min_bytes; /* of blocks that have rows */
	uint64_t called_small_calls, called_small_bytes; /* smaller ones that the library has not counted, relaxed */
	uint64_t called_siteless; /* larger ones whose stack the kernel has not given, relaxed */
	uint64_t storm_ns; /* CLOCK_MONOTONIC: the last turn because of one */
	uint64_t python, unread_python; /* processes with an interpreter whose lines are read, or are not, relaxed */
	uint64_t unread_version; /* of the latest of these, as PY_VERSION_HEX, relaxed */
	uint64_t uncovered, unkept, live_blocks, live_bytes; /* relaxed */
};

/* --- rows ----------------------------------------------------------------------------------------------- */

static int64_t or_none(uint64_t value, bool known)
{
	return known ? (int64_t)value : DLT_NONE;
}

static struct alloc_row row_of(const struct alloc_thread *t, unsigned int op, uint64_t ts_ns)
{
	struct alloc_row row = {
		.hdr = { .ts_ns = ts_ns, .tgid = t->tgid, .tid = t->tid, .probe = DLT_alloc, .size = sizeof(row) },
		.op = op,
		.addr = DLT_NONE,
		.size = DLT_NONE,
		.old_addr = DLT_NONE,
		.old_size = DLT_NONE,
		.life_ns = DLT_NONE,
		.alloc_tid = DLT_NONE,
		.site = DLT_NONE,
		.old_site = DLT_NONE,
	};

	memcpy(row.hdr.comm, t->comm, sizeof(row.hdr.comm));
	return row;
}

static void block_live(struct alloc *a, const struct alloc_block *b, int sign)
{
	__atomic_fetch_add(&a->live_blocks, (uint64_t)sign, __ATOMIC_RELAXED);
	__atomic_fetch_add(&a->live_bytes, sign > 0 ? b->size : -b->size, __ATOMIC_RELAXED);
}

static struct alloc *alloc_of(const struct decode *d)
{
	return d->state[DLT_alloc];
}

struct turn {
	struct alloc *alloc;
	struct decode *d;
};

static bool block_take(struct turn *u, struct alloc_process *p, uint64_t addr, uint64_t end_ns, struct alloc_block *ret)
{
	if (!alloc_blocks_take(&p->blocks, addr, ret))
		return false;
	block_live(u->alloc, ret, -1);
	access_block_ends(u->d, p->tgid, addr, end_ns);
	return true;
}

static void block_put(struct turn *turn, struct alloc_process *process, const struct alloc_block *block)
{
	struct alloc *a = turn->alloc;
	struct alloc_block before;

	block_take(turn, process, block->addr, block->begin_ns, &before); /* its free was lost */
	if (a->live_blocks < BLOCKS_MAX && alloc_blocks_put(&process->blocks, block))
		block_live(a, block, 1);
	else
		util_count(&a->unkept, 1);
	if (alloc_sites_watched(&a->sites, block->site))
		access_block_begins(turn->d, process->tgid, block);
}

/* What is known of a block's allocation when it goes. */
static void row_block(struct alloc_row *row, const struct alloc_block *b)
{
	row->life_ns = row->hdr.ts_ns > b->begin_ns ? (int64_t)(row->hdr.ts_ns - b->begin_ns) : 0;
	row->alloc_tid = b->tid;
}

/* How a call that a uprobe sees allocates or frees. */
enum called { CALLED_NOT, CALLED_STORES, CALLED_RETURNS, CALLED_PASSES, CALLED_FREES };

static enum called called_how(unsigned int op)
{
	static const enum called how[DLT_ALLOC_FUNCS] = {
#define HOW(id, func, symbol, modules, how, arg) [DLT_ALLOC_IN_##id] = CALLED_##how,
		DLT_ALLOC_FUNCTIONS(HOW)
#undef HOW
	};

	return op < DLT_ALLOC_FUNCS ? how[op] : CALLED_NOT;
}

/* The site of a block that is only counted, and whose free has no row either. */
#define SITE_COUNTED UINT32_MAX

/* Returns the process whose code P has: a child that ended before it was read has its parent's. */
static uint32_t code_of(struct alloc *a, const struct alloc_process *p)
{
	const struct alloc_process *q = p;

	while (q && !alloc_code_known(&a->code, q->tgid))
		q = q->parent && !q->parent->gone ? q->parent : NULL;
	return (q ?: p)->tgid;
}

/* Returns the site of the call EVENT, whose frames are addresses in its process PROCESS; 0: not known. */
static uint32_t called_site(struct turn *turn, const struct alloc_process *process, const struct dlt_alloc_event *event,
			    const struct dlt_hdr *hdr)
{
	struct alloc *alloc = turn->alloc;
	const uint32_t tgid = code_of(alloc, process);
	struct alloc_frame v[DLT_ALLOC_FRAMES];
	uint64_t addr[DLT_ALLOC_FRAMES];
	const size_t n = MIN(MIN(event->site, (uint32_t)DLT_ALLOC_FRAMES), event->n * 4);
	size_t k = 0;

	memcpy(addr, event + 1, n * sizeof(*addr));
	for (struct alloc_module *m; k < n && alloc_code_find(&alloc->code, tgid, addr[k], &m); k++) {
		if (m && !m->number)
			m->number = alloc_sites_module(&alloc->sites, turn->d, hdr, m->path, m->id, m->id_len);
		v[k].module = m ? m->number : 0;
		v[k].at = v[k].module ? addr[k] - m->bias : addr[k];
	}
	if (event->n && !k)
		util_count(&alloc->called_siteless, 1);
	return k ? alloc_sites_stack(&alloc->sites, turn->d, hdr, v, k) : 0;
}

/* A call that a uprobe saw: the block is known later if its free is seen, too. */
static void called(struct turn *turn, struct alloc_process *process, const struct alloc_thread *thread,
		   const struct dlt_alloc_event *event, struct alloc_row *row)
{
	const uint64_t size = event->op_size & DLT_ALLOC_SIZE_MAX;
	const bool small = size < turn->alloc->min_bytes;
	const uint32_t site = small ? SITE_COUNTED : called_site(turn, process, event, &row->hdr);
	const struct alloc_block b = { event->addr, size, row->hdr.ts_ns, thread->tid, site };

	row->addr = (int64_t)event->addr;
	row->size = (int64_t)size;
	row->site = or_none(site, site);
	if (event->addr && called_how(row->op) == CALLED_PASSES)
		block_put(turn, process, &b);
	if (!small) {
		decode_row(turn->d, DLT_alloc, &row->hdr);
		return;
	}
	util_count(&turn->alloc->called_small_calls, 1);
	util_count(&turn->alloc->called_small_bytes, size);
}

static void allocated(struct turn *turn, struct alloc_process *process, struct alloc_thread *thread,
		      const struct dlt_alloc_event *event, struct alloc_row *row)
{
	const uint64_t size = event->op_size & DLT_ALLOC_SIZE_MAX;
	const uint32_t site = alloc_sites_number(&process->names, event->site);
	const struct alloc_block b = { event->addr, size, row->hdr.ts_ns, thread->tid, site };

	row->addr = (int64_t)event->addr;
	row->size = or_none(size, !event->n);
	row->site = or_none(site, site && !event->n);
	if (row->op == DLT_ALLOC_REALLOC || row->op == DLT_ALLOC_REALLOCARRAY) {
		row->old_addr = or_none(thread->old_addr, thread->old_addr);
		row->old_size = or_none(thread->old.size, thread->old.addr);
		row->old_site = or_none(thread->old.site, thread->old.addr && thread->old.site);
		if (thread->old.addr && !event->addr && size) /* it has failed: the old block is as it was */
			block_put(turn, process, &thread->old);
		else if (thread->old.addr)
			row_block(row, &thread->old);
		thread->old.addr = thread->old_addr = 0;
	}
	if (event->addr && !event->n)
		block_put(turn, process, &b);
	decode_row(turn->d, DLT_alloc, &row->hdr);
}

static void freed(struct turn *turn, struct alloc_process *process, const struct dlt_alloc_event *event,
		  struct alloc_row *row)
{
	struct alloc_block b;

	row->addr = (int64_t)event->addr;
	if (block_take(turn, process, event->addr, row->hdr.ts_ns, &b)) {
		if (b.site == SITE_COUNTED)
			return;
		row_block(row, &b);
		row->size = (int64_t)b.size;
		row->site = or_none(b.site, b.site);
	}
	decode_row(turn->d, DLT_alloc, &row->hdr);
}

/* It says so once, and once more if the interpreter turns out not to be what its version has. */
static void found_python(struct alloc *a, struct alloc_process *p, const struct dlt_alloc_event *e)
{
	if (e->site && !p->python && !p->unread_python) {
		p->python = true;
		util_count(&a->python, 1);
	} else if (!e->site && !p->unread_python) {
		p->unread_python = true;
		util_count(&a->unread_python, 1);
		__atomic_store_n(&a->unread_version, e->addr, __ATOMIC_RELAXED);
	}
}

static void on_event(void *ctx, struct alloc_thread *thread, const struct dlt_alloc_event *event)
{
	struct turn *turn = ctx;
	unsigned int op = (unsigned int)(event->op_size >> DLT_ALLOC_OP_SHIFT);
	struct alloc_row row = row_of(thread, op, ticks_to_ns(&turn->alloc->ticks, event->ticks));
	struct alloc_process *process = alloc_process_get(&turn->alloc->processes, thread->tgid);

	if (!process) {
		turn->alloc->threads.dropped++;
		return;
	}
	process->covered = true;
	memcpy(process->comm, thread->comm, sizeof(process->comm));
	switch (op) {
	case DLT_ALLOC_SITE:
	case DLT_ALLOC_MODULE:
	case DLT_ALLOC_LINES:
	case DLT_ALLOC_CODE:
		alloc_sites_define(&turn->alloc->sites, turn->d, &process->names, &row.hdr, event);
		break;
	case DLT_ALLOC_PYTHON:
		found_python(turn->alloc, process, event);
		break;
	case DLT_ALLOC_OLD:
		thread->old_addr = event->addr;
		if (!block_take(turn, process, event->addr, row.hdr.ts_ns, &thread->old))
			thread->old.addr = 0;
		break;
	case DLT_ALLOC_FREE:
		freed(turn, process, event, &row);
		break;
	default:
		if (called_how(op) == CALLED_FREES)
			freed(turn, process, event, &row);
		else if (called_how(op))
			called(turn, process, thread, event, &row);
		else
			allocated(turn, process, thread, event, &row);
	}
}

/* --- lives of processes ---------------------------------------------------------------------------------- */

struct live {
	struct turn *turn;
	const struct dlt_hdr *hdr;
	bool gone; /* with its process; else the trace ends before */
};

static void put_live(void *ctx, const struct alloc_block *block)
{
	const struct live *live = ctx;
	struct alloc_row row = {
		.hdr = *live->hdr,
		.op = DLT_ALLOC_END,
		.addr = (int64_t)block->addr,
		.size = (int64_t)block->size,
		.old_addr = DLT_NONE,
		.old_size = DLT_NONE,
		.site = or_none(block->site, block->site),
		.old_site = DLT_NONE,
	};

	row.hdr.probe = DLT_alloc;
	row.hdr.size = sizeof(row);
	row_block(&row, block);
	if (block->site != SITE_COUNTED)
		decode_row(live->turn->d, DLT_alloc, &row.hdr);
	if (!live->gone)
		return;
	block_live(live->turn->alloc, block, -1);
	access_block_ends(live->turn->d, live->hdr->tgid, block->addr, live->hdr->ts_ns);
}

static void put_change(struct turn *turn, const struct change *change)
{
	struct alloc *alloc = turn->alloc;
	struct alloc_process *process = change->kind == CHANGE_LOADED ?
						alloc_process_get(&alloc->processes, change->hdr.tgid) :
						alloc_process_find(&alloc->processes, change->hdr.tgid);

	if (change->kind == CHANGE_LOADED && process)
		process->covered = true;
	if (change->kind == CHANGE_FORK)
		alloc_process_forked(&alloc->processes, change->hdr.tgid, change->parent);
	if (change->kind != CHANGE_EXEC && change->kind != CHANGE_EXIT)
		return;
	if (change->kind == CHANGE_EXIT && !(process && process->covered))
		util_count(&alloc->uncovered, 1);
	alloc_threads_end(&alloc->threads, change->hdr.tgid, change->hdr.ts_ns, change->kind == CHANGE_EXIT);
	if (change->kind == CHANGE_EXIT)
		alloc_code_forget(&alloc->code, change->hdr.tgid);
	if (!process)
		return;
	alloc_blocks_end(&process->blocks, put_live, &(struct live){ turn, &change->hdr, true });
	alloc_process_gone(&alloc->processes, process);
}

static void change_add(struct alloc *alloc, const struct change *change)
{
	if (alloc && alloc->n_changes == alloc->changes_room) {
		size_t room = MAX(2 * alloc->changes_room, 64UL);
		struct change *larger = reallocarray(alloc->changes, room, sizeof(*larger));

		if (!larger)
			return;
		alloc->changes = larger;
		alloc->changes_room = room;
	}
	if (alloc)
		alloc->changes[alloc->n_changes++] = *change;
}

static void life(struct decode *d, const struct dlt_pids *rec)
{
	struct alloc *a = alloc_of(d);

	if (rec->event == DLT_PIDS_FORK)
		change_add(a, &(struct change){ rec->hdr, CHANGE_FORK, rec->ppid });
	else if (rec->event == DLT_PIDS_EXEC)
		change_add(a, &(struct change){ rec->hdr, CHANGE_EXEC, 0 });
	else if (rec->event == DLT_PIDS_EXIT && rec->status != DLT_NONE)
		change_add(a, &(struct change){ rec->hdr, CHANGE_EXIT, 0 });
}

/* --- turns ---------------------------------------------------------------------------------------------- */

/* Rows of all until NS; UINT64_MAX: of all there is. */
static void put_until(struct decode *decode, uint64_t ns)
{
	struct alloc *alloc = alloc_of(decode);
	struct turn u = { alloc, decode };
	size_t done = 0;

	while (done < alloc->n_changes && alloc->changes[done].hdr.ts_ns <= ns) {
		alloc_threads_until(&alloc->threads, ticks_of_ns(&alloc->ticks, alloc->changes[done].hdr.ts_ns),
				    on_event, &u);
		put_change(&u, &alloc->changes[done++]);
	}
	alloc->n_changes -= done;
	if (done)
		memmove(alloc->changes, alloc->changes + done, alloc->n_changes * sizeof(*alloc->changes));
	alloc_threads_until(&alloc->threads, ns == UINT64_MAX ? ns : ticks_of_ns(&alloc->ticks, ns), on_event, &u);
}

/* Without memory for an event there is no row. */
static void count_dropped(struct decode *d)
{
	struct alloc *a = alloc_of(d);

	util_count(&d->sinks[DLT_alloc].lost, a->threads.dropped);
	a->threads.dropped = 0;
}

/* READ_NS: all records until then have been taken. */
static void turn(struct decode *decode, uint64_t quiet_ns, uint64_t read_ns)
{
	struct alloc *alloc = alloc_of(decode);
	uint64_t now_ns, until_ns;

	ticks_measure(&alloc->ticks);
	if (alloc->ticks.tsc && alloc->ticks.n < 2)
		return;
	alloc_code_update(&alloc->code, PULL_MS);
	now_ns = clock_now_ns(CLOCK_MONOTONIC);
	until_ns = alloc_threads_pull(&alloc->threads, &alloc->ticks, MIN(now_ns - quiet_ns, read_ns), PULL_MS);
	put_until(decode, until_ns);
	count_dropped(decode);
	access_blocks_known(decode, until_ns);
}

/* Too many events wait. Not at each further page: a turn looks at all threads. */
static void storm(struct decode *d, uint64_t reached_ns)
{
	struct alloc *a = alloc_of(d);

	if (reached_ns < a->storm_ns + STORM_NS && a->threads.waiting < 2 * WAITING_MAX)
		return;
	a->storm_ns = reached_ns;
	turn(d, QUIET_STORM_NS, reached_ns); /* records are handed out in order */
	if (a->threads.waiting >= 2 * WAITING_MAX)
		put_until(d, reached_ns);
}

void alloc_take(struct decode *decode, const struct dlt_alloc *rec)
{
	struct alloc *alloc = alloc_of(decode);
	uint64_t now_ticks;

	if (!alloc)
		return;
	if (!alloc->threads.magic) { /* the settings of the library are the same in all programs */
		if (rec->copy != DLT_ALLOC_CALLED)
			alloc->threads.magic = rec->at.head.magic;
		else if (ticks_are_tsc())
			alloc->threads.magic = DLT_ALLOC_TSC;
		else
			alloc->threads.magic = DLT_ALLOC_NS;
		alloc->ticks.tsc = alloc->threads.magic == DLT_ALLOC_TSC;
	}
	if (alloc->ticks.n < 2)
		ticks_measure(&alloc->ticks);
	now_ticks = alloc->ticks.tsc && alloc->ticks.n < 2 ? UINT64_MAX : ticks_of_ns(&alloc->ticks, rec->hdr.ts_ns);
	alloc_threads_take(&alloc->threads, rec, now_ticks);
	if (rec->copy == DLT_ALLOC_CALLED && rec->hdr.size >= DLT_ALLOC_BYTES(1) && rec->at.v[0].n)
		alloc_code_heard(&alloc->code, rec->hdr.tgid, rec->hdr.ts_ns);
	if (rec->copy == DLT_ALLOC_BEGUN)
		change_add(alloc, &(struct change){ rec->hdr, CHANGE_LOADED, 0 });
	if (alloc->threads.waiting > WAITING_MAX)
		storm(decode, rec->hdr.ts_ns);
}

/* --- the stage ------------------------------------------------------------------------------------------ */

static int alloc_open(struct decode *d)
{
	struct alloc *a = d->state[DLT_alloc] = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->min_bytes = d->cfg->alloc_min_bytes;
	a->sites.watch = d->cfg->access_site;
	ticks_measure(&a->ticks);
	return 0;
}

static void alloc_free(void *state)
{
	struct alloc *a = state;

	if (!a)
		return;
	alloc_processes_free(&a->processes);
	alloc_threads_free(&a->threads);
	alloc_sites_free(&a->sites);
	alloc_code_free(&a->code);
	free(a->changes);
	free(a);
}

/* A turn of the drain is too short for a look at all threads. */
static void tick(struct decode *d, uint64_t now_ns, uint64_t reached_ns)
{
	turn(d, QUIET_NS, reached_ns);
}

static void end(struct decode *decode, uint64_t end_ns)
{
	struct alloc *alloc = alloc_of(decode);
	struct turn u = { alloc, decode };
	uint64_t now_ns;

	ticks_measure(&alloc->ticks);
	if (alloc->ticks.n < 2)
		ticks_measure(&alloc->ticks);
	alloc_code_update(&alloc->code, PULL_LAST_MS);
	now_ns = clock_now_ns(CLOCK_MONOTONIC);
	alloc_threads_pull(&alloc->threads, &alloc->ticks, now_ns, PULL_LAST_MS);
	put_until(decode, UINT64_MAX);
	count_dropped(decode);
	for (unsigned int i = 0; i < ALLOC_PROCESS_SLOTS; i++)
		for (struct alloc_process *p = alloc->processes.slots[i]; p; p = p->next) {
			struct dlt_hdr hdr = { .ts_ns = now_ns, .tgid = p->tgid, .tid = p->tgid };

			memcpy(hdr.comm, p->comm, sizeof(hdr.comm));
			alloc_blocks_end(&p->blocks, put_live, &(struct live){ &u, &hdr, false });
		}
}

static void count(const struct decode *d, const struct tracer *t, struct counts *counts)
{
	const struct alloc *alloc = alloc_of(d);
	struct alloc_counts *ret = counts_of(counts, DLT_alloc);

	if (!alloc)
		return;
	*ret = (struct alloc_counts){
		.small_calls = util_counted(&alloc->threads.small_calls) + util_counted(&alloc->called_small_calls),
		.small_bytes = util_counted(&alloc->threads.small_bytes) + util_counted(&alloc->called_small_bytes),
		.threads = util_counted(&alloc->threads.begun),
		.unread = util_counted(&alloc->threads.unread),
		.uncovered = util_counted(&alloc->uncovered),
		.unkept = util_counted(&alloc->unkept),
		.refused = util_counted(&alloc->threads.refused),
		.skipped = util_counted(&alloc->threads.skipped),
		.siteless = util_counted(&alloc->threads.siteless) + util_counted(&alloc->called_siteless),
		.python = util_counted(&alloc->python),
		.unread_python = util_counted(&alloc->unread_python),
		.unread_version = util_counted(&alloc->unread_version),
		.live_blocks = util_counted(&alloc->live_blocks),
		.live_bytes = util_counted(&alloc->live_bytes),
	};
}

const struct drain_stage alloc_stage = {
	.probe = DLT_alloc,
	.open = alloc_open,
	.tick = tick,
	.life = life,
	.end = end,
	.free = alloc_free,
	.count = count,
	.manifest = alloc_manifest,
};
