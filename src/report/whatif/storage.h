/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a disk was a limit for all its readers, or each read took its time, by the reads that waited for it. Reads of
 * a limit that lets bursts through are of two kinds: most run at the speed of memory, and few hold nearly all of the
 * waits. These come when a budget is used up, so what the disk gave in the half second before each of them is the
 * limit. Pure.
 */
#ifndef REPORT_WHATIF_STORAGE_H
#define REPORT_WHATIF_STORAGE_H

#include "report/whatif/gather.h"

/* Returns the storage that the N READS, which are sorted, had within SPAN_NS. */
struct whatif_storage whatif_storage_find(struct whatif_read *reads, uint32_t n, double span_ns);

#endif
