/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/snapshot.h"

#include <errno.h>
#include <stdint.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/util.h"
#include "dlt/snapshot.h"
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
};

static int configure(struct snapshot_bpf *skel, const struct tracer *t)
{
	unsigned long page = (unsigned long)sysconf(_SC_PAGESIZE);
	bool files = t->probes >> DLT_open & 1, mappings = t->probes >> DLT_mmap & 1;

	skel->rodata->dlt_cfg = t->cfg;
	skel->rodata->page_shift = (uint32_t)__builtin_ctzl(page);
	bpf_program__set_autoload(skel->progs.snapshot_file, files);
	/* iter/task_vma came in 5.12 */
	mappings = mappings && kernel_btf_func(&t->kernel, "bpf_iter_", "task_vma") > 0;
	bpf_program__set_autoload(skel->progs.snapshot_vma, mappings);
	/* a buffer of its own, one for all CPUs: see bpf/snapshot.bpf.c */
	return bpf_map__set_type(skel->maps.dlt_scratch, BPF_MAP_TYPE_ARRAY);
}

int snapshot_open(struct snapshot **ret, struct tracer *t)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->tracer = t;
	s->skel = SKEL_OPEN_ONLY(snapshot, &t->kernel);
	r = s->skel ? configure(s->skel, t) : -errno;
	if (!r)
		r = tracer_share_maps(t, s->skel->obj, 1U << TRACER_SCRATCH);
	if (!r)
		r = object_load(s->skel->skeleton, &t->kernel, NULL, NULL);
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

int snapshot_want(struct snapshot *s, pid_t pid)
{
	struct dlt_newcomer new = { .since_ns = clock_now_ns(CLOCK_MONOTONIC) };
	uint32_t key = (uint32_t)pid;
	int r = s->n == DLT_NEWCOMERS ? snapshot_take(s) : 0;

	if (r < 0)
		return r;
	if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.dlt_newcomers), &key, &new, BPF_ANY) < 0)
		return -errno;
	s->pids[s->n++] = key;
	return 0;
}

/* Threads first: the files and mappings that follow are of processes with a row. */
static int walk_all(const struct snapshot *s, uint32_t pid)
{
	struct bpf_program *prog;
	int r = 0;

	bpf_object__for_each_program(prog, s->skel->obj)
		if (!r && bpf_program__autoload(prog))
			r = object_iterate(prog, pid);
	return r;
}

static int settle(struct snapshot *s)
{
	int map = bpf_map__fd(s->skel->maps.dlt_newcomers), r = 0;

	for (unsigned int i = 0; i < s->n; i++) {
		struct dlt_newcomer new;

		if (bpf_map_lookup_elem(map, &s->pids[i], &new) < 0)
			r = -errno;
		else if (!new.alive)
			tracer_target_remove(s->tracer, (pid_t)s->pids[i]);
		bpf_map_delete_elem(map, &s->pids[i]);
	}
	s->n = 0;
	return r;
}

int snapshot_take(struct snapshot *s)
{
	int r = 0, settled;

	for (unsigned int i = 0; !r && !s->whole && i < s->n; i++) {
		r = walk_all(s, s->pids[i]);
		if (r == -E2BIG) {
			s->whole = true;
			r = 0;
		}
	}
	if (!r && s->whole && s->n)
		r = walk_all(s, 0);
	settled = settle(s);
	return r < 0 ? r : settled;
}
