/* SPDX-License-Identifier: BSD-2-Clause */
/* The relay's account of the workload's log, while it runs and after: memory that it shares with us. Relaxed loads. */
#ifndef JOB_RELAY_LOG_H
#define JOB_RELAY_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct relay_log {
	uint64_t written_bytes;
	uint64_t lost_bytes; /* of the workload's output, that are not in the log */
	int error;	     /* why the last of them were lost: -errno; 0: --min-free */
	/* written by us */
	uint64_t min_free;
	bool ended;
};

#endif
