/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of fault.out: page faults of the job that waited for a disk, by file. Faults that the kernel made for a call are
 * in that call's time already, so only their bytes count. Bounded: a file without room is only in the sums of all.
 */
#ifndef REPORT_DISK_FAULTS_H
#define REPORT_DISK_FAULTS_H

#include "report/scan/scan.h"
#include "stats/cover.h"

struct report_part;

#define FAULTS_FILES_MAX (1U << 20) /* 32 MiB when full */
#define FAULTS_USES_MAX (1U << 18) /* pairs of a process and a file, 10 MiB */
#define FAULTS_NEAR_BYTES (128U << 10) /* as far as read-ahead goes by default */

struct report_fault_sum {
	uint64_t n, ns, bytes;
};

struct report_faults {
	bool present; /* fault.out is there */
	struct report_fault_sum file, swap, kernel, other;
	uint64_t untimed; /* without a latency: the kernel had no hook for their begins */
	uint64_t placed, jumps; /* those after another of the process in the file; those that jumped */
	uint64_t jumps_ns;
	uint64_t busy_ns; /* time in which any process waited for one */
	struct cover cover;
	struct table files; /* struct report_fault_sum, by FID */
	struct table last; /* the offset behind the last one, by report_pair_key() */
};

/* Returns the sums of FID, zeroes where it has none. */
struct report_fault_sum report_faults_of(const struct report *r, uint64_t fid);

extern const struct report_part report_faults_part;

#endif
