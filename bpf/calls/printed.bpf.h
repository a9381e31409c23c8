/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the target prints: a copy of what it writes to its descriptors 1 and 2, for every process and any file behind
 * them: also for launchers, workers, and redirected output. The copy is made at the end of the call, when the kernel
 * has faulted the text in and has returned how much of it was written. Rows of calls come first: a CPU copies no more
 * than a budget, and nothing while its ring is half full; skipped writes are counted.
 */
#ifndef PRINTED_BPF_H
#define PRINTED_BPF_H

#include "file.bpf.h"
#include "dlt/printed.h"
#include "dlt/vfs_rw.h"

/* Per CPU: 2 MiB a second, which the smallest default ring, 64 MiB, holds for half a minute. */
#define PRINTED_WINDOW_NS 250000000ULL
#define PRINTED_WINDOW_BYTES (512U << 10)
#define PRINTED_WINDOW_WRITES 1024

struct printed_budget {
	__u64 until_ns; /* end of the window */
	__u32 bytes, writes;
	__u32 spent; /* a write was skipped in it */
	__u32 pad;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct printed_budget);
} printed_budget SEC(".maps");

/* Shared by all CPUs, so each increments it once per window at most. */
static __u32 printed_gaps;

static __always_inline bool is_output(__u64 fd)
{
	return (__u32)fd - 1 < 2;
}

static __always_inline void printed_pass(struct printed_budget *b)
{
	struct dlt_stats *st = stats_of(DLT_printed);

	if (st)
		st->unread++;
	if (!b->spent)
		__sync_fetch_and_add(&printed_gaps, 1);
	b->spent = 1;
}

static __always_inline void printed_fill(struct dlt_printed *rec, const struct dlt_call *call, __u32 tid, __u32 len,
					 __u32 n)
{
	struct task_struct *task = task_current();
	struct file *file = file_of_fd(task, call->args[0]);

	rec->segs = (struct dlt_segs){};
	rec->id = (struct dlt_file_id){};
	rec->mode = 0;
	if (file) {
		struct inode *inode = KLOAD(file, f_inode);

		file_id(file, &rec->id);
		rec->mode = KLOAD(inode, i_mode);
	}
	rec->fd = call->args[0];
	rec->bytes = len;
	rec->gaps = *(volatile __u32 *)&printed_gaps;
	hdr_fill(&rec->hdr, call, task, tid, sizeof(*rec) + n);
	rec->hdr.probe = DLT_printed;
	rec->hdr.func = 0;
}

/* A record with N bytes of text: a ring reserves constant sizes only. */
#define PRINTED_RESERVE(room)                                      \
	rec = bpf_ringbuf_reserve(ring, sizeof(*rec) + (room), 0); \
	if (rec)                                                   \
	failed = bpf_probe_read_user(rec + 1, n, (void *)addr)

/* Sends LEN bytes at ADDR, which the thread's call has written. A global function: verified once for all callers. */
__noinline int printed_send(__u64 addr, __u64 len)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), zero = 0;
	struct printed_budget *b = bpf_map_lookup_elem(&printed_budget, &zero);
	struct dlt_call *call = call_find(tid);
	void *ring = ring_here();
	struct dlt_printed *rec = NULL;
	__u64 now, n = len;
	long failed = 0;

	if (!b || !call || !ring)
		return 0;
	now = bpf_ktime_get_ns();
	if (now >= b->until_ns) {
		b->until_ns = now + PRINTED_WINDOW_NS;
		b->bytes = b->writes = b->spent = 0;
	}
	if (b->writes >= PRINTED_WINDOW_WRITES || b->bytes >= PRINTED_WINDOW_BYTES ||
	    bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) > dlt_cfg.ring_bytes / 2) {
		printed_pass(b);
		return 0;
	}
	if (n > DLT_PRINTED_MAX)
		n = DLT_PRINTED_MAX;
	b->writes++;
	b->bytes += n;
	asm volatile("" : "+r"(n)); /* so that clang forgets where N came from, which the verifier does not know */
	if (n <= 168) {
		PRINTED_RESERVE(168);
	} else if (n <= 936) {
		PRINTED_RESERVE(936);
	} else if (n <= DLT_PRINTED_MAX) {
		PRINTED_RESERVE(DLT_PRINTED_MAX);
	}
	if (!rec) {
		printed_pass(b);
		return 0;
	}
	if (failed) {
		bpf_ringbuf_discard(rec, BPF_RB_NO_WAKEUP);
		printed_pass(b);
		return 0;
	}
	printed_fill(rec, call, tid, len, n);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

/* Notes the text of a write that wrote RET bytes. */
static __always_inline void printed_note(const struct dlt_call *call, long ret)
{
	if (traces(DLT_printed) && call->shape & DLT_RW_PRINTS && is_output(call->args[0]) && ret > 0)
		printed_send(call->args[1], ret);
}

/* The same for the first LEFT bytes of the COUNT vectors at ADDR. Global, as it takes stack that its caller lacks. */
__noinline int printed_send_vec(__u64 addr, __u64 count, __u64 left)
{
	struct iovec iov;
	__u64 n;

#pragma nounroll
	for (__u32 i = 0; i < DLT_PRINTED_IOVS && i < count && left; i++, left -= n) {
		if (bpf_probe_read_user(&iov, sizeof(iov), (void *)(addr + i * sizeof(iov))))
			return 0;
		n = iov.iov_len < left ? iov.iov_len : left;
		if (n)
			printed_send((__u64)iov.iov_base, n);
	}
	return 0;
}

static __always_inline void printed_note_vec(const struct dlt_call *call, long ret)
{
	if (traces(DLT_printed) && call->shape & DLT_RW_PRINTS && is_output(call->args[0]) && ret > 0)
		printed_send_vec(call->args[1], call->args[2], ret);
}

#endif
