/* SPDX-License-Identifier: BSD-2-Clause */
/* bio_map: a record for each extent of a request that has several. */
#ifndef BIO_MAP_BPF_H
#define BIO_MAP_BPF_H

#include "bio/bio_extent.bpf.h"
#include "bio/bio_inode.bpf.h"

/* Makes the request's extent I the next to send. Nonzero: there is none. */
__noinline int map_next(__u32 i)
{
	struct bio_look *l = look_get();

	if (!l || i >= l->extents || i > DLT_BIO_EXTENTS)
		return 1;
	l->next = i < DLT_BIO_EXTENTS ? *extent_at(l, i) : l->rest;
	/* pages that another user dirtied: see file_look() */
	if (dlt_cfg.owned && l->op == DLT_BIO_WRITE && l->next.kind != DLT_BIO_DIRECT && !l->next.tgid) {
		l->next.inode = 0;
		l->next.off = NOWHERE;
	}
	return 0;
}

__noinline int map_send(void)
{
	struct bio_look *l = look_get();
	struct dlt_stats *st = stats_of(DLT_bio_map);
	struct dlt_bio_map *rec;

	if (!l || !st)
		return 0;
	st->seen++;
	rec = rec_reserve(DLT_bio_map, sizeof(*rec), false);
	if (!rec)
		return 0;
	__builtin_memset(rec, 0, sizeof(*rec));
	rec->hdr.probe = DLT_bio_map;
	rec->hdr.size = sizeof(*rec);
	rec->sector = l->next.sector;
	rec->bytes = l->next.bytes;
	rec->kind = look_kind(l, l->next.kind);
	rec->writer_tgid = rec->writer_tid = DLT_NONE;
	rec->file_off = l->next.off == NOWHERE ? DLT_NONE : (__s64)l->next.off;
	if (l->next.inode)
		rec->id = l->id;
	if (l->next.tgid) {
		rec->writer_tgid = l->next.tgid;
		rec->writer_tid = l->next.tid;
	}
	__builtin_memcpy(rec->disk, l->disk, sizeof(rec->disk));
	rec->hdr.ts_ns = bpf_ktime_get_ns();
	rec_submit(rec, DLT_bio_map);
	return 0;
}

/* Sends a record for each extent, with the names of their files. The memory of REC may then be another record's. */
static __always_inline void map_emit(struct bio_look *l, const struct dlt_bio *rec)
{
	__builtin_memcpy(l->disk, rec->disk, sizeof(l->disk));
	for (__u32 i = 0; i <= DLT_BIO_EXTENTS; i++) {
		if (map_next(i))
			break;
		if (l->next.inode)
			inode_note(l->next.inode, 0);
		map_send();
	}
}

#endif
