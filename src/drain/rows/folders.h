/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of the folders of meta_sums.out: the kernel sends the name of a sum's folder once, before the first of its
 * sums, and says when there will be no more. As many names as the kernel has sums. Drain thread.
 */
#ifndef DRAIN_ROWS_FOLDERS_H
#define DRAIN_ROWS_FOLDERS_H

struct decode;
struct dlt_hdr;
struct drain_stage;

/* A record for DLT_meta_sums: sums, which become a row, or what is to be known of a folder. */
void folders_take(struct decode *d, const struct dlt_hdr *rec);

extern const struct drain_stage folders_stage;

#endif
