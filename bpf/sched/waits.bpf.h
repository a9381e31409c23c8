/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of waits.out: one for each long time that a thread of the target was off its CPU. */
#ifndef SCHED_WAITS_BPF_H
#define SCHED_WAITS_BPF_H

#include "sched/sched_quota.bpf.h"
#include "sched/sched_waker.bpf.h"

/* Whether SLOT's thread, which is back NOW, gets a row. */
static __always_inline bool wait_is_long(const struct dlt_sched_slot *slot, __u64 now)
{
	return slot->kind == DLT_SCHED_TARGET && slot->state != DLT_SCHED_RUN &&
	       now >= slot_since(slot) + DLT_WAITS_MIN_NS && traces(DLT_waits);
}

/* Whether there are no more rows for this CPU in this turn; the sums have what is left out. */
static __always_inline bool turn_is_over(struct dlt_sched_cpu *here, __u64 now)
{
	__u32 turn = (__u32)(now >> DLT_WAITS_TURN_SHIFT);
	struct dlt_stats *st;

	if (here->turn != turn) {
		here->turn = turn;
		here->rows = 0;
	}
	if (here->rows++ < DLT_WAITS_MAX)
		return false;
	st = stats_of(DLT_waits);
	if (st)
		__sync_fetch_and_add(&st->unread, 1);
	return true;
}

static __always_inline void count_wait(bool sent)
{
	struct dlt_stats *st = stats_of(DLT_waits);

	if (!st)
		return;
	__sync_fetch_and_add(&st->seen, 1);
	__sync_fetch_and_add(sent ? &st->emitted : &st->lost, 1);
}

/* Whether a thread ends such waits, unless SLOT has none. */
static __always_inline bool is_by_thread(__u32 by)
{
	return by == DLT_BY_THREAD || by == DLT_BY_EXIT || by == DLT_BY_SIGNAL || by == DLT_BY_KERNEL ||
	       by == DLT_BY_DISK;
}

/* The remote end of SOCK; one that listens, or is not connected, has none. */
static __always_inline void peer_of(struct dlt_peer *peer, __u64 sock)
{
	const struct sock *sk = (void *)sock;
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);

	peer->port = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
	if (!peer->port || (family != AF_INET && family != AF_INET6))
		return;
	peer->family = family;
	if (family == AF_INET)
		*(__u32 *)peer->addr = BPF_CORE_READ(sk, __sk_common.skc_daddr);
	else
		BPF_CORE_READ_INTO((struct in6_addr *)peer->addr, sk, __sk_common.skc_v6_daddr);
}

/*
 * The file that TASK's call is on, if the daemon knows its name: no path is walked while the scheduler holds its lock.
 * And the peer, of the call's own socket, or else of the one whose data has woken it.
 */
static __noinline int wait_look(struct dlt_waits *rec, struct task_struct *task, const struct dlt_sched_slot *slot)
{
	struct file *file = file_of_call(KCAST(task_struct, task), slot->call, task_regs(task));
	__u64 sock = file ? sock_of(file) : 0;
	struct file_where where;
	struct dlt_file_id id;

	if (file) {
		where = file_where(file);
		if (!where_is_new(&where, &id))
			rec->id = id;
	}
	sock = sock ?: slot->sock;
	if (sock)
		peer_of(&rec->peer, sock);
	return 0;
}

#define NOT_WOKEN 0xffffffffffffffffULL

/* What ended a wait; since when the thread could run again, which may be NOT_WOKEN, and but for a quota. */
struct wait_end {
	enum dlt_wait_by by;
	__u64 wake, throttled;
};

/*
 * Sends that TASK, whose slot is SLOT, has been off its CPU until NOW. Returns the time of the row, which is after the
 * reserve.
 */
static __noinline __u64 wait_send(struct task_struct *task, const struct dlt_sched_slot *slot,
				  const struct wait_end *end, __u64 now)
{
	void *ring = ring_here();
	struct dlt_waits *rec = ring ? bpf_ringbuf_reserve(ring, sizeof(*rec), 0) : NULL;
	bool named;

	if (!rec) {
		count_wait(false);
		return now;
	}
	count_wait(true);
	__builtin_memset(rec, 0, sizeof(*rec));
	rec->hdr.tgid = task->tgid;
	rec->hdr.tid = task->pid;
	rec->hdr.probe = DLT_waits;
	rec->hdr.size = sizeof(*rec);
	task_comm(rec->hdr.comm, task);
	rec->call = slot->call;
	rec->state = slot->throttled ? DLT_WAITS_THROTTLED : slot->state;
	rec->by = end->by;
	named = slot->by_tgid && is_by_thread(end->by);
	rec->by_tgid = named ? slot->by_tgid : DLT_NONE32;
	rec->by_tid = named ? slot->by_tid : DLT_NONE32;
	rec->by_call = named && slot->by_call < DLT_SCHED_BY_NO_CALL ? slot->by_call : DLT_SCHED_NO_CALL;
	if (named)
		__builtin_memcpy(rec->by_comm, slot->by_comm, sizeof(rec->by_comm));
	if (slot->state > DLT_SCHED_RUNQ)
		wait_look(rec, task, slot);
	now = bpf_ktime_get_ns();
	rec->hdr.ts_ns = now;
	rec->hdr.lat_ns = now - slot_since(slot);
	rec->runq_ns = now > end->wake ? now - end->wake : 0;
	rec->throttled_ns = end->throttled;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return now;
}

/*
 * TASK comes to a CPU NOW: its row, if it gets one. Returns the time at which it comes for all sums, too, so that rows
 * and sums agree.
 */
static __always_inline __u64 wait_ends(struct dlt_sched_cpu *here, struct task_struct *task, __u64 now)
{
	struct dlt_sched_slot *slot = slot_find(task->pid);
	struct wait_end end = {};
	__u64 later, wake;

	if (!slot || !wait_is_long(slot, now) || turn_is_over(here, now))
		return now;
	wake = slot_wake_at(slot, now);
	end.by = forget(here, waker_by(task, slot));
	end.wake = wake < now ? wake : NOT_WOKEN;
	end.throttled = quota_part(here, task, slot, wake, now, true);
	later = wait_send(task, slot, &end, now);
	return ended(later) ? now : later;
}

/* TASK had come when another was thought to run: it has no row, as its time is not known, but sums. */
static __always_inline void wait_unseen(const struct dlt_sched_slot *slot, __u64 now)
{
	struct dlt_stats *st = wait_is_long(slot, now) ? stats_of(DLT_waits) : NULL;

	if (st)
		__sync_fetch_and_add(&st->unseen, 1);
}

#endif
