/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reclaim.out: how much of their time the main processes and their loaders had to free memory themselves. Time in which
 * several threads of a process do counts once. Memory: 4 KiB for each of these processes with rows.
 */
#ifndef REPORT_WHY_RECLAIMS_H
#define REPORT_WHY_RECLAIMS_H

#define RECLAIMS_MATTER 0.05 /* of the time of main processes or of loaders */

struct why_reclaims;
struct report;
/* Reads reclaim.out, once the windows and the loaders are known. */
void why_read_reclaims(struct report *report);
/* Returns the part of the main processes' time, and of their loaders', in which they freed memory; 0 without any. */
double why_trainers_reclaim(const struct why_reclaims *m);
double why_loaders_reclaim(const struct why_reclaims *m);

#endif
