/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of CPUs and disks as mpstat and iostat print them, for machines without sysstat: containers, images, an
 * ordinary user's virtual environment. A process of its own, `dltraced sample', takes the tool's place, so that its
 * text, its rights and its end are a tool's. The columns and what they mean are sysstat's 12.6 (mpstat(1), iostat(1)).
 */
#ifndef COLLECTORS_SAMPLE_H
#define COLLECTORS_SAMPLE_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

/*
 * The rows of one interval, as `mpstat -P ALL' prints them: of the whole machine, and of each CPU that was online at
 * its begin and its end. BEFORE and AFTER are the texts of /proc/stat then, UTC is the time of AFTER.
 */
void sample_cpus(FILE *out, const char *before, const char *after, time_t utc);

/*
 * The rows of an interval of NS, as `iostat -dxm' prints them: of each disk (no partition) that has done anything since
 * the machine was started. BEFORE and AFTER are the texts of /proc/diskstats; ROOT ("": this one) is the machine whose
 * /sys/block has the disks.
 */
void sample_disks(FILE *out, const char *root, const char *before, const char *after, uint64_t ns);

/* Prints samples of NAME ("cpu", "disk") each INTERVAL_S on standard output, until a signal. Returns -errno. */
int sample_run(const char *name, uint64_t interval_s);

#endif
