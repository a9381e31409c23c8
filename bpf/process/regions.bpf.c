/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions of the target's programs: messages that they pass to prctl(2) (include/dltraced.h). The dispatcher calls this
 * only for prctls with that operation. Everything is known at the start of the call, so its end is not traced.
 */
#include "dlt.bpf.h"

#include "dlt/regions.h"

/*
 * Epochs begin and end with live regions: from here on the page cache's sums are those of the next one. While the
 * daemon has not sent those before the last such instant there is no third turn, so this one then is not one.
 */
static __always_inline void epoch_turns(const struct dlt_regions *rec)
{
	struct dlt_shared *sh = shared();
	__u64 name, pipeline, loader;
	__u32 turn;

	if (!sh || rec->msg_len < DLT_REGIONS_HEAD + sizeof(name))
		return;
	__builtin_memcpy(&name, rec->msg + DLT_REGIONS_HEAD, sizeof(name));
	__builtin_memcpy(&pipeline, "ai.pipeline.", sizeof(name));
	__builtin_memcpy(&loader, "ai.dataloader.", sizeof(name));
	if (name != pipeline && (name != loader || rec->msg[0] != DLT_REGIONS_BEGIN))
		return;
	turn = sh->cache_sent;
	if (sh->cache_turn != turn)
		return;
	sh->cache_turn_ns = rec->hdr.ts_ns;
	sh->cache_turn = turn + 1; /* the same by any number of threads at once */
}

/* A record with room for ROOM bytes, as a ring reserves constant sizes only, which gets LEN bytes of the message at
 * ADDR. */
#define REGION_SEND(room)                                                                                   \
	do {                                                                                                \
		rec = rec_reserve(DLT_regions, offsetof(struct dlt_regions, msg) + (room), false);          \
		if (!rec)                                                                                   \
			break;                                                                              \
		if (bpf_probe_read_user(rec->msg, len, (void *)addr)) {                                     \
			bpf_ringbuf_discard(rec, BPF_RB_NO_WAKEUP);                                         \
			region_is_none();                                                                   \
			break;                                                                              \
		}                                                                                           \
		rec->msg_len = len;                                                                         \
		hdr_fill(&rec->hdr, call, task_current(), tid, offsetof(struct dlt_regions, msg) + (room)); \
		if (dlt_cfg.cache_mask)                                                                     \
			epoch_turns(rec);                                                                   \
		rec_submit(rec, DLT_regions);                                                               \
	} while (0)

/* The address was wrong: the call was counted at its start, but is not a region. */
static __always_inline void region_is_none(void)
{
	struct dlt_stats *st = stats_of(DLT_regions);

	if (st)
		st->seen--;
}

CALL_BEGIN(regions_entry)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	struct dlt_regions *rec;
	__u64 addr, len;

	if (!call)
		return 0;
	addr = call->args[1];
	len = call->args[2];
	if (len > DLT_REGIONS_MSG_MAX)
		len = DLT_REGIONS_MSG_MAX;
	asm volatile("" : "+r"(len)); /* so that the verifier sees the bounds below on the value in use */
	if (len < DLT_REGIONS_HEAD)
		region_is_none();
	else if (len <= DLT_REGIONS_SHORT)
		REGION_SEND(DLT_REGIONS_SHORT);
	else if (len <= DLT_REGIONS_MSG_MAX)
		REGION_SEND(DLT_REGIONS_MSG_MAX);
	call_end(call, tid);
	return 0;
}
