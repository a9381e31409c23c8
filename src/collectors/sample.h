/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of CPUs and disks as mpstat and iostat print them, for machines without sysstat: containers, images, an
 * ordinary user's virtual environment. A process of its own, `dltraced sample', takes the tool's place, so that its
 * text, its rights and its end are a tool's. The columns and what they mean are sysstat's 12.6 (mpstat(1), iostat(1)).
 * Of the job's cgroups there are samples of our own: no tool has them.
 */
#ifndef COLLECTORS_SAMPLE_H
#define COLLECTORS_SAMPLE_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

struct cgroup_mounts;
struct cgroup_reads;

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

/* The cgroups of a process and those above them, and what the sample before counted for each. */
struct cgroup_samples;

/* MOUNTS must outlive it; PRESSURE is /proc/pressure, which the root has in place of files of its own. NULL: no memory.
 */
struct cgroup_samples *cgroup_samples_new(const struct cgroup_mounts *mounts, const char *pressure);
void cgroup_samples_free(struct cgroup_samples *samples);
struct cgroup_reads *cgroup_samples_reads(struct cgroup_samples *samples);

/* Prints the header: a word for each column, after "# ". */
void cgroup_samples_begin(FILE *out);

/*
 * Prints a row for each cgroup, the root first. PROC_CGROUP is the text of /proc/PID/cgroup, NULL: the cgroups are
 * those of the sample before. NOW_NS is the time, CLOCK_MONOTONIC. Returns 0 or -ENOMEM.
 */
int cgroup_samples_take(struct cgroup_samples *samples, const char *proc_cgroup, uint64_t now_ns, FILE *out);

/*
 * Prints such rows each INTERVAL_S on standard output, and once more at SIGINT or SIGTERM, which ends it. TARGET: a
 * process's number, or the path of a cgroup in each hierarchy, "/a/b". Returns 0 or -errno.
 */
int sample_cgroups_run(const char *target, uint64_t interval_s);

/* Prints samples of NAME ("cpu", "disk") each INTERVAL_S on standard output, until a signal. Returns -errno. */
int sample_run(const char *name, uint64_t interval_s);

#endif
