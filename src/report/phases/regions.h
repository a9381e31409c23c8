/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Phases by the program's own regions (regions.out): epochs, training, evaluation, checkpoints. Where a program gives
 * the number of the epoch with its steps or batches alone, the epoch lasts from the first of these to the last.
 */
#ifndef REPORT_PHASES_REGIONS_H
#define REPORT_PHASES_REGIONS_H

struct phase_reader;

/* Reads regions.out in the folder DIRFD, if there is one. 0 or -errno. */
int phase_regions_read(struct phase_reader *r, int dirfd);

#endif
