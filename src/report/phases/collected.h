/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that the job's --collect has brought into the trace: those in collected/, in the order of their names.
 * Offline; follows no link; bounded in depth and number.
 */
#ifndef REPORT_PHASES_COLLECTED_H
#define REPORT_PHASES_COLLECTED_H

/* Passes each file below collected/ in the folder DIRFD to TAKE, as NAME in a folder of its own; PATH is for messages.
 */
void collected_each(int dirfd, void (*take)(void *ctx, int dirfd, const char *name, const char *path), void *ctx);

#endif
