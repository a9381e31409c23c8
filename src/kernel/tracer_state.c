/* SPDX-License-Identifier: BSD-2-Clause */
/* The contents of a running trace's maps: the target's processes, the counters, calls in flight. */
#include "kernel/tracer.h"

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "kernel/uring.h"

static void byte_set(struct tracer *t, pid_t tgid, uint8_t state)
{
	if (tgid > 0 && (uint32_t)tgid < t->cfg.max_tgid)
		__atomic_store_n(&t->targets[tgid], state, __ATOMIC_SEQ_CST);
}

void tracer_target_add(struct tracer *t, pid_t tgid)
{
	if (!t->cfg.all)
		byte_set(t, tgid, DLT_TARGET_IN);
}

void tracer_target_remove(struct tracer *t, pid_t tgid)
{
	if (!t->cfg.all)
		byte_set(t, tgid, 0);
}

void tracer_target_hold(struct tracer *t, pid_t tgid)
{
	byte_set(t, tgid, DLT_TARGET_HELD);
}

void tracer_target_release(struct tracer *t, pid_t tgid)
{
	byte_set(t, tgid, t->cfg.all ? 0 : DLT_TARGET_IN);
}

void tracer_exclude(struct tracer *t, pid_t tgid)
{
	if (t->cfg.all)
		byte_set(t, tgid, DLT_TARGET_IN); /* the byte's meaning is inverted then */
}

bool tracer_target_has(const struct tracer *t, pid_t tgid)
{
	bool set = (uint32_t)tgid < t->cfg.max_tgid &&
		   __atomic_load_n(&t->targets[tgid], __ATOMIC_RELAXED) == DLT_TARGET_IN;

	return t->cfg.all ? !set : set;
}

int tracer_cgroup_add(struct tracer *t, const struct dlt_cgroup_key *key)
{
	uint8_t one = 1;

	return bpf_map_update_elem(t->maps[TRACER_CGROUPS], key, &one, BPF_ANY) < 0 ? -errno : 0;
}

int tracer_cgroup_await(struct tracer *t, const struct dlt_cgroup_path *path, uint8_t nr)
{
	unsigned int life = (unsigned int)__builtin_ctzll(probe_mask_of(PROBE_LIFE, 0));
	int fd = bpf_object__find_map_fd_by_name(t->objects[life].obj, "dlt_cgroup_paths");

	if (fd < 0)
		return fd;
	return bpf_map_update_elem(fd, path, &nr, BPF_ANY) < 0 ? -errno : 0;
}

bool tracer_cgroup_came(const struct tracer *t, uint8_t nr)
{
	return __atomic_load_n(&t->shared->cgroups_came, __ATOMIC_RELAXED) >> ((nr - 1) & 31) & 1;
}

uint32_t tracer_new_containers(const struct tracer *t)
{
	return __atomic_load_n(&t->shared->new_containers, __ATOMIC_RELAXED);
}

/*
 * Counted on each call, some 0.2 ms for 4 million numbers: a counter would drift where processes are added
 * concurrently.
 */
uint64_t tracer_live(const struct tracer *t)
{
	const uint64_t *eight = (const uint64_t *)t->targets, in = 0x0101010101010101 * DLT_TARGET_IN;
	uint64_t n = 0;

	for (size_t i = 0; i < t->mapped[TRACER_TARGETS].bytes / sizeof(*eight); i++)
		n += (unsigned int)__builtin_popcountll(__atomic_load_n(&eight[i], __ATOMIC_RELAXED) & in);
	return n;
}

void tracer_each_live(const struct tracer *tracer, void (*fn)(void *ctx, pid_t tgid), void *ctx)
{
	const uint64_t *eight = (const uint64_t *)tracer->targets;

	for (size_t i = 0; i < tracer->mapped[TRACER_TARGETS].bytes / sizeof(*eight); i++) {
		if (!__atomic_load_n(&eight[i], __ATOMIC_RELAXED))
			continue; /* nearly all of 4 million are zero */
		for (size_t tgid = i * sizeof(*eight); tgid < (i + 1) * sizeof(*eight); tgid++)
			if (__atomic_load_n(&tracer->targets[tgid], __ATOMIC_RELAXED) & DLT_TARGET_IN)
				fn(ctx, (pid_t)tgid);
	}
}

void tracer_stats(const struct tracer *tracer, struct dlt_stats stats[DLT_PROBES])
{
	memset(stats, 0, DLT_PROBES * sizeof(*stats));
	for (unsigned int c = 0; c < tracer->n_cpus; c++)
		for (unsigned int i = DLT_NO_PROBE; i < DLT_PROBES; i++) {
			const struct dlt_stats *st = &tracer->stats[c * DLT_STATS_STRIDE + i];

			stats[i].seen += __atomic_load_n(&st->seen, __ATOMIC_RELAXED);
			stats[i].emitted += __atomic_load_n(&st->emitted, __ATOMIC_RELAXED);
			stats[i].lost += __atomic_load_n(&st->lost, __ATOMIC_RELAXED);
			stats[i].rows_lost += __atomic_load_n(&st->rows_lost, __ATOMIC_RELAXED);
			stats[i].foreign += __atomic_load_n(&st->foreign, __ATOMIC_RELAXED);
			stats[i].unseen += __atomic_load_n(&st->unseen, __ATOMIC_RELAXED);
			stats[i].lost_room += __atomic_load_n(&st->lost_room, __ATOMIC_RELAXED);
			stats[i].lost_unseen += __atomic_load_n(&st->lost_unseen, __ATOMIC_RELAXED);
			stats[i].brief += __atomic_load_n(&st->brief, __ATOMIC_RELAXED);
			stats[i].unread += __atomic_load_n(&st->unread, __ATOMIC_RELAXED);
			stats[i].refused += __atomic_load_n(&st->refused, __ATOMIC_RELAXED);
			stats[i].overwritten += __atomic_load_n(&st->overwritten, __ATOMIC_RELAXED);
			stats[i].fileless += __atomic_load_n(&st->fileless, __ATOMIC_RELAXED);
		}
}

void tracer_running(const struct tracer *tracer, void (*fn)(void *ctx, const struct dlt_call *call), void *ctx)
{
	uint32_t key, next, *prev = NULL;
	struct dlt_call call;

	for (uint32_t i = 0; i <= tracer->cfg.slot_mask; i++)
		if (tracer->calls[i].tid && !(tracer->calls[i].flags & DLT_CALL_NO_ROW))
			fn(ctx, &tracer->calls[i]);
	while (!bpf_map_get_next_key(tracer->maps[TRACER_OVERFLOW], prev, &next)) {
		if (!bpf_map_lookup_elem(tracer->maps[TRACER_OVERFLOW], &next, &call) && call.tid &&
		    !(call.flags & DLT_CALL_NO_ROW))
			fn(ctx, &call);
		key = next;
		prev = &key;
	}
}

/* Returns one of PROBE's objects: all of them share the calls in flight. NULL: it has none. */
static struct probe_object *object_of(struct tracer *t, unsigned int probe)
{
	if (t->objects[probe].obj)
		return &t->objects[probe];
	for (unsigned int d = 0; d < t->n_dispatchers; d++)
		if (t->dispatchers[d].objects[probe].obj)
			return &t->dispatchers[d].objects[probe];
	return NULL;
}

void tracer_requests(struct tracer *tracer, uint64_t now_ns, unsigned int max,
		     void (*call)(void *ctx, const struct dlt_call *call),
		     void (*rec)(void *ctx, const struct dlt_hdr *rec), void *ctx)
{
	uring_in_flight(tracer->uring, now_ns, max, call, rec, ctx);
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		struct probe_object *o = probes[i]->in_flight ? object_of(tracer, i) : NULL;

		if (o)
			probes[i]->in_flight(o, rec, ctx, now_ns, max);
	}
}

void tracer_skipped(const struct tracer *t, uint64_t skipped[DLT_PROBES])
{
	skipped[0] = uring_skipped(t->uring);
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		skipped[i] = object_skipped(t->objects[i].obj, probes[i]->skips_show);
	for (unsigned int i = 0; i < t->n_dispatchers; i++)
		dispatcher_skipped(&t->dispatchers[i], skipped);
}
