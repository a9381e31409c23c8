/* SPDX-License-Identifier: BSD-2-Clause */
/* Between archiver.c (the thread, and what there is), archiver_disk.c, archiver_drop.c and archiver_pack.c; all on its thread. */
#ifndef DRAIN_ARCHIVER_IMPL_H
#define DRAIN_ARCHIVER_IMPL_H

#include "drain/archiver.h"
#include "trace/pack.h"

/* The file of S as it is there: a descriptor, or -errno; -ESTALE: it is another one by now. */
int keeper_open(const struct keeper *k, const struct keeper_segment *s);
/* The I-th segment is there no more. */
void keeper_forget(struct keeper *k, size_t i);

/* archiver_disk.c: ask about S, just closed, until the disk must have taken it. */
void keeper_watch(struct keeper *k, struct keeper_segment *s);
/* Is there any that is asked about? */
bool keeper_is_watching(const struct keeper *k);
/* Ask about all of those. */
void keeper_ask_disk(struct keeper *k);
/* At the end: have the disk take them, for a while. */
void keeper_to_disk(struct keeper *k);

/* archiver_drop.c: what --keep takes before the start, rollup.out. 0 or -errno. */
int keeper_begin_to_drop(struct keeper *k);
/* Drop what is more than may be kept. */
void keeper_hold_to_keep(struct keeper *k);

/* archiver_pack.c: how many there are to pack. */
uint64_t keeper_to_pack(const struct keeper *k);
/* Pack one. False: there is none to pack, or it cannot be done now. */
bool keeper_pack_one(struct keeper *k, struct packer *p);

#endif
