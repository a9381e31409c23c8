/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by archiver.c (the thread and the list), archiver_drop.c and archiver_pack.c; all on its thread. */
#ifndef DRAIN_ARCHIVER_IMPL_H
#define DRAIN_ARCHIVER_IMPL_H

#include "drain/archiver.h"
#include "trace/pack.h"

/* Opens the file of SEGMENT: a descriptor, or -errno; -ESTALE: it is another one by now. */
int archiver_open(const struct archiver *archiver, const struct archiver_segment *segment);
/* The I-th segment no longer exists. */
void archiver_forget(struct archiver *k, size_t i);

/* archiver_drop.c: prepare --keep before the start: rollup.out. 0 or -errno. */
int archiver_begin_to_drop(struct archiver *archiver);
/* Drop what exceeds --keep. */
void archiver_hold_to_keep(struct archiver *archiver);

/* archiver_pack.c: returns how many segments are to be packed. */
uint64_t archiver_to_pack(const struct archiver *k);
/* Pack one. Returns false when there is none to pack, or it cannot be done now. */
bool archiver_pack_one(struct archiver *k, struct packer *p);

#endif
