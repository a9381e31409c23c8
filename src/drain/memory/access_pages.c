/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/memory/access_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "drain/memory/access_areas.h"
#include "drain/memory/access_runs.h"
#include "drain/memory/access_counts.h"
#include "host/machine/numa.h"
#include "host/stall/async_call.h"
#include "kernel/access/page_tables.h"
#include "kernel/object.h"
#include "kernel/tracer.h"
#include "trace/config.h"

#define STOP_MS 2000
#define FIRST_NS NSEC_PER_SEC
#define RUNS_MAX (1U << 18) /* of one look; of 128 bytes each. More are lost. */
/*
 * The node is asked for of a page in so many, and of each huge page. Its call costs as much as looking at some pages. A
 * prime: of memory that is interleaved over the nodes each has its share.
 */
#define NODE_PAGES 61
#define NODE_HUGE_BYTES (2ULL << 20)
#define SHARED_BYTES (DLT_ACCESS_RUNS * sizeof(struct dlt_access_run))

/* A process as of a look. */
struct process {
	struct dlt_memory_of of;
	struct access_areas areas;
	uint64_t clear_ns; /* since then its bits show all accesses; 0: not known */
	bool refused; /* they could not be cleared, and that is counted */
	bool same; /* it had the same page tables after the look */
};

struct processes {
	struct process *v; /* by process number */
	unsigned int n;
};

enum fd {
	GO, /* readable: the thread may begin */
	READY, /* readable: it has looked once */
	STOP, /* readable: it must end */
	SEND, /* program that sends runs */
	AREA, /* program that lists the mappings of a process; -1: this kernel has no such program */
	FDS,
};

struct access_pages {
	struct page_tables *tables;
	struct dlt_access_run *shared; /* with the kernel side */
	const struct tracer *tracer;
	uint64_t interval_ns;
	unsigned int budget; /* percent */
	bool has_nodes; /* of NUMA: more than one */
	struct async_call call;
	int fds[FDS];
	bool begun; /* by the drain; atomic */
	bool writes; /* written pages are looked for, else accessed ones */

	/* the thread's */
	struct processes now, before;
	uint64_t before_ns; /* when these were listed */
	struct access_runs runs;
	struct process *process; /* whose runs they are */
	int64_t node; /* of its pages up to NODE_END */
	uint64_t node_end;
	struct dlt_access_run *found;
	unsigned int n_found;
	uint64_t n_lost;
	/* relaxed */
	uint64_t n_looks, cpu_ns, longest_ns, n_refused;
};

/* --- one look ----------------------------------------------------------------------------------------- */

static void listed(void *ctx, const void *memory_of)
{
	const struct dlt_memory_of *of = memory_of;
	struct access_pages *a = ctx;

	if (!tracer_target_has(a->tracer, (pid_t)of->tgid) || util_room(&a->now.v, a->now.n, sizeof(a->now.v[0])) < 0)
		return;
	a->now.v[a->now.n++] = (struct process){ .of = *of };
}

static void processes_clear(struct processes *p)
{
	for (unsigned int i = 0; i < p->n; i++)
		access_areas_free(&p->v[i].areas);
	p->n = 0;
}

static int compare(const void *x, const void *y)
{
	const struct process *a = x, *b = y;

	return a->of.tgid < b->of.tgid ? -1 : a->of.tgid > b->of.tgid;
}

/* By process number; a process that is listed for each of its threads is kept once. */
static void sort(struct processes *p)
{
	unsigned int n = 0;

	if (p->n)
		qsort(p->v, p->n, sizeof(p->v[0]), compare);
	for (unsigned int i = 0; i < p->n; i++)
		if (!n || compare(&p->v[n - 1], &p->v[i]))
			p->v[n++] = p->v[i];
	p->n = n;
}

static struct process *find(const struct processes *p, uint32_t tgid)
{
	const struct process key = { .of.tgid = tgid };

	return p->n ? bsearch(&key, p->v, p->n, sizeof(p->v[0]), compare) : NULL;
}

/* Nobody may look at a process that is about to execute its program: so a refusal counts only if that program has it,
 * too. */
static void refused_set(struct access_pages *a, struct process *p, bool refused)
{
	if (p->refused != refused)
		util_count(&a->n_refused, refused ? 1 : -1ULL);
	p->refused = refused;
}

/*
 * Takes over what is known of PROCESS from the last look. A child's bits are clear when it begins, and those of a new
 * program; but what its parent has written is shown by a child's bits, too.
 */
static void take_over(struct access_pages *pages, struct process *process)
{
	struct process *before = find(&pages->before, process->of.tgid);
	const bool same = before && before->of.start_ns == process->of.start_ns && before->of.pgd == process->of.pgd;

	if (same) {
		process->clear_ns = before->clear_ns;
		process->refused = before->refused;
		process->areas = before->areas;
		before->areas = (struct access_areas){ 0 };
	} else if (before && before->of.start_ns == process->of.start_ns) {
		process->clear_ns = pages->before_ns;
		refused_set(pages, before, false);
	} else if (pages->before_ns && process->of.start_ns > pages->before_ns &&
		   !(pages->writes && process->of.forked)) {
		process->clear_ns = process->of.start_ns;
	}
}

static void emit(void *ctx, struct access_row *row)
{
	struct access_pages *pages = ctx;
	const struct dlt_access_area *area;
	struct dlt_access_run *run;

	if (pages->n_found == RUNS_MAX || util_room(&pages->found, pages->n_found, sizeof(pages->found[0])) < 0) {
		pages->n_lost++;
		return;
	}
	run = &pages->found[pages->n_found++];
	*run = (struct dlt_access_run){
		.hdr.tgid = pages->process->of.tgid,
		.addr = row->addr,
		.bytes = row->bytes,
		.touched = row->touched,
		.huge = row->huge,
		.offset = DLT_NONE,
		.kind = (uint16_t)row->kind,
		.source = pages->writes ? DLT_ACCESS_WRITES : DLT_ACCESS_PAGES,
		.node = row->node == DLT_NONE ? -1 : (int32_t)row->node,
	};
	if (!pages->runs.area)
		return;
	area = &pages->process->areas.v[pages->runs.area - 1];
	run->id = area->id;
	run->offset =
		(int64_t)(area->offset + (MAX(row->addr, area->begin) - area->begin)); /* a block may begin before it */
}

/* Sets TOUCH's node, and cuts TOUCH where the node of another page has to be asked for. The area that it is in ends at
 * AREA_END. */
static void set_node(struct access_pages *pages, struct access_touch *touch, bool huge, uint64_t area_end)
{
	const uint64_t step = huge ? NODE_HUGE_BYTES : NODE_PAGES * pages->runs.page_bytes;
	int node;

	touch->node = DLT_NONE;
	if (!pages->has_nodes)
		return;
	if (touch->addr >= pages->node_end) {
		node = numa_node_of((pid_t)pages->process->of.tid, touch->addr);
		pages->node = node < 0 ? DLT_NONE : node;
		pages->node_end = MIN(area_end, (touch->addr / step + 1) * step);
	}
	touch->bytes = MIN(touch->bytes, pages->node_end - touch->addr);
	touch->node = pages->node;
}

static void found(void *ctx, uint64_t addr, uint64_t bytes, bool huge)
{
	struct access_pages *pages = ctx;
	const struct access_areas *areas = &pages->process->areas;
	struct access_touch t = { .written = DLT_NONE, .count = DLT_NONE, .tid = DLT_NONE, .ip = DLT_NONE };
	const uint64_t end = addr + bytes;

	while (addr < end) {
		uint64_t area_end;
		int i = access_areas_find(areas, addr, &area_end);

		area_end += -area_end % pages->runs.page_bytes;
		t.kind = i < 0 ? DLT_ACCESS_UNKNOWN : areas->v[i].kind;
		t.area = t.kind == DLT_ACCESS_FILE ? (uint32_t)i + 1 : 0;
		t.addr = addr;
		t.bytes = MIN(area_end, end) - addr;
		set_node(pages, &t, huge, area_end);
		t.huge = huge ? (int64_t)t.bytes : 0;
		if (i < 0 || !areas->v[i].kept)
			access_runs_add(&pages->runs, &t);
		addr += t.bytes;
	}
}

static void look_at(struct access_pages *pages, struct process *process)
{
	const unsigned int first = pages->n_found;
	const uint64_t since_ns = process->clear_ns;
	uint64_t at_ns;
	int r = 0;

	pages->process = process;
	pages->node_end = 0;
	if (since_ns)
		access_areas_update(&process->areas, pages->fds[AREA], &process->of);
	if (since_ns)
		r = page_tables_find(pages->tables, &process->of, found, pages);
	access_runs_end(&pages->runs);
	at_ns = clock_now_ns(CLOCK_MONOTONIC);
	if (r < 0)
		pages->n_found = first; /* junk: its memory is gone */
	for (unsigned int i = first; i < pages->n_found; i++) {
		pages->found[i].at_ns = at_ns;
		pages->found[i].span_ns = at_ns - since_ns;
	}
	r = page_tables_clear(pages->tables, (pid_t)process->of.tid);
	process->clear_ns = r < 0 ? 0 : at_ns;
	if (r != -ENOENT && r != -ESRCH)
		refused_set(pages, process, r < 0);
}

static void listed_again(void *ctx, const void *memory_of)
{
	const struct dlt_memory_of *of = memory_of;
	const struct access_pages *a = ctx;
	struct process *p = find(&a->now, of->tgid);

	if (p && p->of.pgd == of->pgd && p->of.start_ns == of->start_ns)
		p->same = true;
}

static void send(struct access_pages *a, unsigned int n)
{
	const uint64_t args[] = { n, a->n_lost };

	if (!n && !a->n_lost)
		return;
	if (object_run_fd(a->fds[SEND], args, ARRAY_SIZE(args)) < 0)
		a->n_lost += n; /* counted with the next ones */
	else
		a->n_lost = 0;
}

/* What was read of a process that has executed another program meanwhile, or ended, may have been another's. */
static void send_all(struct access_pages *pages)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < pages->n_found; i++) {
		const struct process *p = find(&pages->now, pages->found[i].hdr.tgid);

		if (!p || !p->same)
			continue;
		pages->shared[n++] = pages->found[i];
		if (n == DLT_ACCESS_RUNS) {
			send(pages, n);
			n = 0;
		}
	}
	send(pages, n);
	pages->n_found = 0;
}

static void look(struct access_pages *pages)
{
	const uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	struct processes last;

	processes_clear(&pages->now);
	if (page_tables_list(pages->tables, listed, pages) < 0)
		return;
	sort(&pages->now);
	for (unsigned int i = 0; i < pages->now.n; i++) {
		take_over(pages, &pages->now.v[i]);
		look_at(pages, &pages->now.v[i]);
	}
	if (page_tables_list(pages->tables, listed_again, pages) < 0) {
		pages->n_lost += pages->n_found;
		pages->n_found = 0;
	}
	send_all(pages);
	pages->before_ns = now_ns;
	last = pages->before;
	pages->before = pages->now;
	pages->now = last;
}

/* --- the thread ------------------------------------------------------------------------------------------ */

/* Waits for NS, or for FD, if that comes first. */
static bool wait_for(int fd, uint64_t ns)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return TEMP_FAILURE_RETRY(
		       poll(&p, 1, ns == UINT64_MAX ? -1 : (int)MIN(ns / NSEC_PER_MSEC, (uint64_t)INT32_MAX))) > 0;
}

static void thread_main(void *ctx)
{
	struct access_pages *pages = ctx;
	uint64_t rest_ns, begin_ns, took_ns, cpu_ns;

	wait_for(pages->fds[GO], UINT64_MAX);
	for (bool last = false; !page_tables_stopped(pages->tables); last = wait_for(pages->fds[STOP], rest_ns)) {
		begin_ns = clock_now_ns(CLOCK_MONOTONIC);
		cpu_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
		look(pages);
		cpu_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
		util_count(&pages->n_looks, 1);
		eventfd_write(pages->fds[READY], 1);
		util_count(&pages->cpu_ns, cpu_ns);
		took_ns = clock_now_ns(CLOCK_MONOTONIC) - begin_ns;
		__atomic_store_n(&pages->longest_ns, MAX(pages->longest_ns, took_ns), __ATOMIC_RELAXED);
		rest_ns = MAX(pages->interval_ns, cpu_ns * 100 / pages->budget);
		rest_ns -= MIN(rest_ns, took_ns);
		if (last)
			return;
	}
}

struct access_pages *access_pages_new(struct page_tables *tables)
{
	struct access_pages *pages = calloc(1, sizeof(*pages));

	if (!pages) {
		page_tables_close(tables);
		return NULL;
	}
	pages->call = (struct async_call)ASYNC_CALL_NONE;
	pages->tables = tables;
	for (unsigned int i = 0; i < FDS; i++)
		pages->fds[i] = i <= STOP ? eventfd(0, EFD_CLOEXEC) : -1;
	return pages;
}

void access_pages_free(struct access_pages *pages)
{
	if (!pages)
		return;
	page_tables_stop(pages->tables);
	eventfd_write(pages->fds[STOP], 1);
	eventfd_write(pages->fds[GO], 1);
	if (!async_call_wait(&pages->call, STOP_MS))
		return;
	async_call_free(&pages->call);
	page_tables_close(pages->tables);
	if (pages->shared && pages->shared != MAP_FAILED)
		munmap(pages->shared, SHARED_BYTES);
	for (unsigned int i = 0; i < FDS; i++)
		util_close(&pages->fds[i]);
	processes_clear(&pages->now);
	processes_clear(&pages->before);
	free(pages->now.v);
	free(pages->before.v);
	free(pages->found);
	free(pages);
}

int access_pages_begin(struct access_pages *pages, const struct config *cfg, const struct tracer *tracer)
{
	int r;

	if (pages->fds[GO] < 0 || pages->fds[READY] < 0 || pages->fds[STOP] < 0)
		return -EMFILE;
	pages->tracer = tracer;
	pages->interval_ns = cfg->access_interval_ns;
	pages->budget = cfg->access_budget;
	pages->has_nodes = numa_has_nodes();
	pages->writes = cfg->access == ACCESS_WRITES;
	pages->runs = (struct access_runs){
		.block_bytes = cfg->access_block_bytes,
		.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
		.emit = emit,
		.ctx = pages,
	};
	r = async_call_begin(&pages->call, thread_main, pages);
	__atomic_store_n(&pages->begun, r == 0, __ATOMIC_RELEASE);
	return r;
}

/* Nobody who is about to run has touched anything by then. */
int access_pages_go(struct access_pages *a, int runs_fd, int send_fd, int area_fd)
{
	/* copies: the thread may outlive the programs' owner, if it hangs */
	a->fds[SEND] = fcntl(send_fd, F_DUPFD_CLOEXEC, 0);
	a->fds[AREA] = area_fd < 0 ? -1 : fcntl(area_fd, F_DUPFD_CLOEXEC, 0);
	a->shared = mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, runs_fd, 0);
	if (a->fds[SEND] < 0 || a->shared == MAP_FAILED || eventfd_write(a->fds[GO], 1) < 0)
		return -errno;
	wait_for(a->fds[READY], FIRST_NS);
	return 0;
}

void access_pages_stop(struct access_pages *a)
{
	eventfd_write(a->fds[STOP], 1);
	if (__atomic_load_n(&a->begun, __ATOMIC_ACQUIRE) && !async_call_wait(&a->call, STOP_MS))
		page_tables_stop(a->tables);
}

void access_pages_count(const struct access_pages *a, struct access_counts *ret)
{
	ret->pages = true;
	ret->flushes = page_tables_flushes(a->tables);
	ret->looks = util_counted(&a->n_looks);
	ret->cpu_ns = util_counted(&a->cpu_ns);
	ret->longest_ns = util_counted(&a->longest_ns);
	ret->refused = util_counted(&a->n_refused);
}
