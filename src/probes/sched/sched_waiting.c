/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The waits of the target that have not ended, which have no row yet: read from the slots of sched, as they are at the
 * moment. Control plane, on request; the kernel's hooks go on meanwhile, so a slot may be read as it changes: then its
 * thread comes to a CPU, or leaves it, just now.
 */
#include <errno.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "probes/sched/sched.h"
#include "trace/probe.h"

struct looking {
	void (*take)(void *ctx, const struct dlt_waits *wait);
	void *ctx;
	uint64_t now_ns;
	unsigned int left; /* how many more may be taken */
};

/* What has ended the wait: bpf/sched/sched_waker.bpf.h, as far as it is known before the thread is on a CPU. */
static uint32_t by_of(const struct dlt_sched_slot *slot, bool waits)
{
	if (!waits)
		return DLT_BY_NOTHING;
	if (!slot->wake_ns)
		return DLT_BY_END;
	if (slot->state == DLT_SCHED_DISK && slot->by != DLT_BY_SIGNAL && slot->by != DLT_BY_TIMER)
		return DLT_BY_DISK;
	return slot->by ? slot->by : DLT_BY_UNKNOWN;
}

static bool is_by_thread(uint32_t by)
{
	return by == DLT_BY_THREAD || by == DLT_BY_EXIT || by == DLT_BY_SIGNAL;
}

static void look_at(struct looking *l, const struct dlt_sched_slot *slot)
{
	const bool waits = slot->state > DLT_SCHED_RUNQ && slot->call != DLT_SCHED_NO_CALL;
	const uint64_t wake_ns = waits ? slot->wake_ns : slot->since_ns;
	struct dlt_waits wait = { .hdr = { .ts_ns = l->now_ns, .tid = slot->tid, .probe = DLT_waits } };

	if (!slot->tid || slot->kind != DLT_SCHED_TARGET || slot->state == DLT_SCHED_RUN || !l->left ||
	    slot->since_ns + DLT_WAITS_MIN_NS > l->now_ns)
		return;
	l->left--;
	wait.hdr.lat_ns = l->now_ns - slot->since_ns;
	wait.runq_ns = wake_ns >= slot->since_ns && wake_ns < l->now_ns ? (int64_t)(l->now_ns - wake_ns) : 0;
	wait.throttled_ns = slot->throttled ? wait.runq_ns : 0;
	wait.call = slot->call;
	wait.state = slot->throttled ? DLT_WAITS_THROTTLED : slot->state;
	wait.by = by_of(slot, waits);
	wait.by_tgid = wait.by_tid = DLT_NONE32;
	wait.by_call = DLT_SCHED_NO_CALL;
	if (slot->by_tgid && is_by_thread(wait.by)) {
		wait.by_tgid = (int32_t)slot->by_tgid;
		wait.by_tid = (int32_t)slot->by_tid;
	}
	l->take(l->ctx, &wait);
}

/* Looks at the slots of MAP, an array, which are copied by nobody: most are free. Returns 0 or -errno. */
static int look_at_slots(struct looking *l, const struct bpf_map *map)
{
	const uint32_t n = bpf_map__max_entries(map);
	const size_t bytes = n * sizeof(struct dlt_sched_slot);
	const struct dlt_sched_slot *slots = mmap(NULL, bytes, PROT_READ, MAP_SHARED, bpf_map__fd(map), 0);

	if (slots == MAP_FAILED)
		return -errno;
	for (uint32_t i = 0; i < n; i++)
		if (__atomic_load_n(&slots[i].tid, __ATOMIC_RELAXED)) {
			const struct dlt_sched_slot slot = slots[i];

			look_at(l, &slot);
		}
	munmap((void *)slots, bytes);
	return 0;
}

/* Likewise those of threads whose place in it is another's: a hash, in which few are at any time. */
static int look_at_overflow(struct looking *l, const struct bpf_map *map)
{
	struct dlt_sched_slot slot;
	uint32_t key, *last = NULL;
	uint32_t left = bpf_map__max_entries(map);

	for (; left && bpf_map_get_next_key(bpf_map__fd(map), last, &key) == 0; left--) {
		if (bpf_map_lookup_elem(bpf_map__fd(map), &key, &slot) == 0)
			look_at(l, &slot);
		last = &key;
	}
	return 0;
}

int sched_waiting(const struct probe_object *sched, uint64_t now_ns,
		  void (*take)(void *ctx, const struct dlt_waits *wait), void *ctx)
{
	const struct bpf_map *slots = sched->obj ? bpf_object__find_map_by_name(sched->obj, "slots") : NULL;
	const struct bpf_map *overflow = slots ? bpf_object__find_map_by_name(sched->obj, "slots_overflow") : NULL;
	struct looking l = { take, ctx, now_ns, SCHED_WAITING_MAX };
	int res = overflow ? look_at_slots(&l, slots) : -ENOENT;

	return res < 0 ? res : look_at_overflow(&l, overflow);
}
