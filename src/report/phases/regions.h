/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Phases from the program's own regions (regions.out, and .pfw files of DFTracer that the user names, or that are in
 * collected/): epochs, training, evaluation, checkpoints. Where a program has no region for the epoch, but gives its
 * number with steps or batches, the epoch lasts from the first of these to the last.
 */
#ifndef REPORT_PHASES_REGIONS_H
#define REPORT_PHASES_REGIONS_H

struct phase_reader;

/* Reads regions.out in the folder DIRFD, if there is one, and the .pfw files of the options, else of collected/. */
void phase_regions_read(struct phase_reader *reader, int dirfd);

#endif
