/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/util.h"
#include "dlt/snapshot.h"
#include "host/process.h"
#include "host/stall/async_call.h"
#include "host/stall/unanswered.h"
#include "kernel/object.h"
#include "kernel/skel.h"
#include "kernel/tracer.h"
#include "snapshot.skel.h"

struct snapshot {
	struct tracer *tracer;
	struct snapshot_bpf *skel;
	bool whole; /* this kernel's iterators cannot be told a process */
	uint32_t pids[DLT_NEWCOMERS];
	unsigned int n;
	unsigned int held; /* processes whose memory map is locked */
};

static int configure(struct snapshot_bpf *skel, const struct tracer *tracer)
{
	unsigned long page = (unsigned long)sysconf(_SC_PAGESIZE);
	bool files = tracer->probes >> DLT_open & 1, mappings = tracer->probes >> DLT_mmap & 1;

	skel->rodata->dlt_cfg = tracer->cfg;
	skel->rodata->page_shift = (uint32_t)__builtin_ctzl(page);
	bpf_program__set_autoload(skel->progs.snapshot_file, files);
	/* iter/task_vma came in 5.12 */
	mappings = mappings && kernel_btf_func(&tracer->kernel, "bpf_iter_", "task_vma") > 0;
	bpf_program__set_autoload(skel->progs.snapshot_vma, mappings);
	/* a buffer of its own, one for all CPUs: see bpf/process/snapshot.bpf.c */
	return bpf_map__set_type(skel->maps.dlt_scratch, BPF_MAP_TYPE_ARRAY);
}

int snapshot_open(struct snapshot **ret, struct tracer *tracer)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->tracer = tracer;
	s->skel = SKEL_OPEN_ONLY(snapshot, &tracer->kernel);
	r = s->skel ? configure(s->skel, tracer) : -errno;
	if (!r)
		r = tracer_share_maps(tracer, s->skel->obj, 1U << TRACER_SCRATCH);
	if (!r)
		r = object_load(s->skel->skeleton, &tracer->kernel, NULL, NULL);
	if (r < 0) {
		snapshot_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

void snapshot_close(struct snapshot *s)
{
	if (!s)
		return;
	snapshot_bpf__destroy(s->skel);
	free(s);
}

static int newcomer_add(const struct snapshot *s, uint32_t pid)
{
	struct dlt_newcomer new = { .since_ns = clock_now_ns(CLOCK_MONOTONIC) };

	return bpf_map_update_elem(bpf_map__fd(s->skel->maps.dlt_newcomers), &pid, &new, BPF_ANY) < 0 ? -errno : 0;
}

static void newcomer_delete(const struct snapshot *s, uint32_t pid)
{
	bpf_map_delete_elem(bpf_map__fd(s->skel->maps.dlt_newcomers), &pid);
}

int snapshot_want(struct snapshot *s, pid_t pid)
{
	int r = s->n == DLT_NEWCOMERS ? snapshot_take(s) : 0;

	if (!r)
		r = newcomer_add(s, (uint32_t)pid);
	if (!r)
		s->pids[s->n++] = (uint32_t)pid;
	return r;
}

/* --- mappings ---------------------------------------------------------------------------------------- */

#define LIMIT_MS                                                                                                 \
	1000 /* for the mappings of a process, while its memory map is locked; halved by each process that takes \
		longer, */
#define HELD_MAX 5 /* so many times */
#define THREADS_MAX 64 /* of those that wait for such a lock */

/*
 * To walk a process's mappings the kernel takes the lock of its memory map, which the process can keep for as long as
 * it likes. So a thread of its own walks, and is left to itself where it waits too long; it ends with us: only this
 * wait can be ended by a signal. PROG is its own.
 */
struct walk {
	struct async_call call;
	int prog;
	uint32_t pid; /* 0: all processes */
	int r;
};

static void walk_main(void *ctx)
{
	struct walk *w = ctx;

	w->r = object_iterate_fd(w->prog, w->pid);
}

/*
 * Returns whether the walk of W has ended. Else the process is no newcomer any more, so that the walk makes no rows if
 * it goes on some time: the programs have one buffer for all threads.
 */
static bool walk_ends(struct snapshot *s, struct walk *w)
{
	if (async_call_wait_unheld(&w->call, LIMIT_MS >> MIN(s->held, HELD_MAX)))
		return true;
	newcomer_delete(s, w->pid);
	for (unsigned int i = 0; !w->pid && i < s->n; i++)
		newcomer_delete(s, s->pids[i]);
	return async_call_wait_unheld(&w->call, 0);
}

static void note_held(const struct snapshot *s, uint32_t pid)
{
	struct process p = { .comm = "?" };

	if (pid)
		process_read(&p, (pid_t)pid);
	unanswered_note(DLT_mmap, (pid_t)pid, p.comm);
}

/* Walks the mappings of PID, 0: of all processes. Returns 0 also where the process does not let us, or -errno. */
static int walk_mappings(struct snapshot *snapshot, uint32_t pid)
{
	struct walk *walk = snapshot->held < THREADS_MAX ? calloc(1, sizeof(*walk)) : NULL;
	int r = 0;

	if (!walk) {
		note_held(snapshot, pid);
		return 0;
	}
	*walk = (struct walk){ .call = ASYNC_CALL_NONE,
			       .prog = fcntl(bpf_program__fd(snapshot->skel->progs.snapshot_vma), F_DUPFD_CLOEXEC, 0),
			       .pid = pid };
	r = walk->prog < 0 ? -errno : async_call_begin(&walk->call, walk_main, walk);
	if (!r && !walk_ends(snapshot, walk)) {
		snapshot->held++;
		note_held(snapshot, pid);
		return 0; /* W is the thread's for good */
	}
	r = r ?: walk->r;
	util_close(&walk->prog);
	async_call_free(&walk->call);
	free(walk);
	return r;
}

/* --- all of it --------------------------------------------------------------------------------------- */

static int walk(const struct bpf_program *prog, uint32_t pid)
{
	return bpf_program__autoload(prog) ? object_iterate_fd(bpf_program__fd(prog), pid) : 0;
}

/* One after the other, as one whose memory map is locked must not stand in the way of the others. */
static int walk_each_mappings(struct snapshot *snapshot)
{
	autofree struct process *list = NULL;
	size_t n = 0;
	int r = process_list(&list, &n);

	newcomer_delete(snapshot, 0);
	for (size_t i = 0; !r && i < n; i++) {
		if (!list[i].kernel)
			r = newcomer_add(snapshot, (uint32_t)list[i].pid) ?:
				    walk_mappings(snapshot, (uint32_t)list[i].pid);
		newcomer_delete(snapshot, (uint32_t)list[i].pid);
		if (r == -ESRCH || r == -ENOENT) /* it has ended */
			r = 0;
	}
	return r;
}

/* Threads first: the files and mappings that follow are of processes with a row. */
static int walk_all(struct snapshot *s, uint32_t pid)
{
	int r = walk(s->skel->progs.snapshot_task, pid) ?: walk(s->skel->progs.snapshot_file, pid);

	if (r || !bpf_program__autoload(s->skel->progs.snapshot_vma))
		return r;
	return pid || s->whole ? walk_mappings(s, pid) : walk_each_mappings(s);
}

static int settle(struct snapshot *snapshot)
{
	int map = bpf_map__fd(snapshot->skel->maps.dlt_newcomers), r = 0;

	for (unsigned int i = 0; i < snapshot->n; i++) {
		struct dlt_newcomer new;

		if (bpf_map_lookup_elem(map, &snapshot->pids[i], &new) < 0)
			r = errno == ENOENT ? r : -errno; /* walk_ends() */
		else if (!new.alive)
			tracer_target_remove(snapshot->tracer, (pid_t)snapshot->pids[i]);
		bpf_map_delete_elem(map, &snapshot->pids[i]);
	}
	snapshot->n = 0;
	return r;
}

/* Returns 0, or -E2BIG. */
static int takes_processes(const struct snapshot *s)
{
	return walk(s->skel->progs.snapshot_task, (uint32_t)getpid()) == -E2BIG ? -E2BIG : 0;
}

int snapshot_take(struct snapshot *snapshot)
{
	int r = 0, settled;

	for (unsigned int i = 0; !r && !snapshot->whole && i < snapshot->n; i++) {
		r = snapshot->pids[i] ? 0 : takes_processes(snapshot);
		r = r ?: walk_all(snapshot, snapshot->pids[i]);
		if (r == -E2BIG) {
			snapshot->whole = true;
			r = 0;
		}
	}
	if (!r && snapshot->whole && snapshot->n)
		r = walk_all(snapshot, 0);
	settled = settle(snapshot);
	return r < 0 ? r : settled;
}
