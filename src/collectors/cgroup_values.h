/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel counts for one cgroup: numbers of the files of v2, of v1's controllers, and of /proc/pressure for the
 * whole machine, by the same names. Pure, except that it reads those files.
 */
#ifndef COLLECTORS_CGROUP_VALUES_H
#define COLLECTORS_CGROUP_VALUES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Those before CGROUP_CPU_NS and of memory in use are levels, all others only grow. */
enum cgroup_value {
	CGROUP_QUOTA_US, /* of CPU time in each period */
	CGROUP_PERIOD_US,
	CGROUP_CPU_NS,
	CGROUP_PERIODS,
	CGROUP_THROTTLED,
	CGROUP_THROTTLED_NS,
	CGROUP_MEM_BYTES,
	CGROUP_MEM_MAX,
	CGROUP_FILE_BYTES,
	CGROUP_ANON_BYTES,
	CGROUP_REFAULT_FILE,
	CGROUP_REFAULT_ANON,
	CGROUP_MAJFAULT,
	CGROUP_MAX_EVENTS,
	CGROUP_OOM,
	CGROUP_OOM_KILL,
	CGROUP_R_BYTES,
	CGROUP_W_BYTES,
	CGROUP_R_IOS,
	CGROUP_W_IOS,
	CGROUP_CPU_SOME_NS,
	CGROUP_CPU_FULL_NS,
	CGROUP_MEM_SOME_NS,
	CGROUP_MEM_FULL_NS,
	CGROUP_IO_SOME_NS,
	CGROUP_IO_FULL_NS,
	CGROUP_VALUES
};

struct cgroup_values {
	uint64_t v[CGROUP_VALUES];
	bool has[CGROUP_VALUES];
};

#define CGROUP_FILES_MAX 32U
#define CGROUP_READ_DEADLINE_NS 1000000000U

/*
 * The reads of one thread. Another one may look at FILE and SINCE_NS, since the kernel can keep a reader waiting for
 * as long as it likes; a file whose read was not over in time is left out of a few samples.
 */
struct cgroup_reads {
	_Atomic(const char *) file; /* that is read now; NULL: none */
	atomic_uint_least64_t since_ns; /* CLOCK_MONOTONIC */
	unsigned char left_out[CGROUP_FILES_MAX]; /* of so many samples, by the place among the files */
};

#define CGROUP_V2 ""
#define CGROUP_PRESSURE "pressure"

/*
 * Adds those values of the cgroup at DIR that VALUES lacks. CONTROLLERS: CGROUP_V2; of a hierarchy of v1, its
 * controllers, separated by commas; or CGROUP_PRESSURE, where DIR is /proc/pressure. What is not there is left.
 */
void cgroup_values_read(struct cgroup_values *values, const char *dir, const char *controllers,
			struct cgroup_reads *reads);

/* Whether a hierarchy with CONTROLLERS has anything to read. */
bool cgroup_values_known(const char *controllers);

/* To be called before each sample. */
void cgroup_reads_next(struct cgroup_reads *reads);

#endif
