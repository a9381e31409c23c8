/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which file a request is for, and the place in that file. The request's bios name pages, and a page of the page cache
 * names its file and its place there. At issue the pages stay as they are: they are locked (reads) or under write-back
 * (writes), and no requests are merged any more.
 */
#ifndef BIO_FILE_BPF_H
#define BIO_FILE_BPF_H

#include "bio/bio_entry.bpf.h"
#include "bio/bio_map.bpf.h"
#include "bio/bio_walk.bpf.h"

static __always_inline void fileless_count(void)
{
	struct dlt_stats *st = stats_of(DLT_bio);

	if (st)
		st->fileless++;
}

static __always_inline void file_unknown(struct dlt_bio *rec)
{
	rec->file_off = rec->extents = DLT_NONE;
	rec->writer_tgid = rec->writer_tid = rec->writers = DLT_NONE;
}

/*
 * Fills REC, of a request, or of a bio on a disk without requests; the first bio is at BIO. A trace with an owner gets
 * only the files of its target's requests, and in write-back only those whose pages its target dirtied.
 */
static __always_inline void file_look(struct dlt_bio *rec, __u64 bio)
{
	struct bio_look *l = look_get();
	bool own = !dlt_cfg.owned || rec->hdr.tgid;

	file_unknown(rec);
	if (!l || l->busy || !bio || rec->type > DLT_BIO_WRITE || (!own && rec->type != DLT_BIO_WRITE))
		return;
	l->busy = 1;
	l->bio = bio;
	l->op = rec->type;
	l->opf_meta = rec->flags & DLT_BIO_META;
	l->mapping = l->inode = 0;
	l->is_file = l->is_block = 0;
	l->extents = l->unknown = l->writers = l->first_is_known = 0;
	l->lookups = LOOKUPS;
	l->is_below = 0;
	if (bios_in_flight && !(rec->flags & DLT_BIO_BIO))
		below_look();
#pragma nounroll
	for (int i = 0; i < BIOS_OF_REQUEST / STEPS_AT_ONCE; i++)
		if (bio_steps())
			break;
	if (l->extents)
		extent_end(l);
	if (l->writers) {
		rec->writer_tgid = l->tgid;
		rec->writer_tid = l->tid;
		rec->writers = l->writers;
		__builtin_memcpy(rec->writer_comm, l->comm, DLT_COMM_LEN);
		if (!own) /* another user's process queued what the target wrote */
			__builtin_memset(rec->hdr.comm, 0, DLT_COMM_LEN);
	}
	if (dlt_cfg.owned && rec->type == DLT_BIO_WRITE && l->first_kind != DLT_BIO_DIRECT && !l->first_is_known) {
		l->first_inode = 0; /* pages that another user dirtied */
		l->first_off = DLT_NONE;
	}
	if (l->extents) {
		rec->kind = look_kind(l, l->first_kind);
		rec->extents = l->extents;
		rec->file_off = l->first_off;
	}
	if (l->unknown && own)
		fileless_count();
	if (l->extents && l->first_inode) {
		inode_note(l->first_inode, 0);
		rec->id = l->id;
	}
	if (traces(DLT_bio_map) && l->extents > 1 && (own || l->writers))
		map_emit(l, rec);
	l->busy = 0;
}

#endif
