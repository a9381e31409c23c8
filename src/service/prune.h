/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state folder of the service, STATE/NAME/STAMP: whole traces go, the oldest first, when there are
 * too many bytes of them or they are too old. One that is being written is locked and stays.
 */
#ifndef SERVICE_PRUNE_H
#define SERVICE_PRUNE_H

#include <stdint.h>

/*
 * Keep at most KEEP_BYTES of traces (0: any number), and none that ended more than KEEP_NS before NOW_NS
 * (CLOCK_REALTIME; KEEP_NS 0: any age). REPORT has each that goes, with its path below STATE and
 * its bytes. How many have gone, or -errno when STATE cannot be read.
 */
int prune_traces(const char *state, uint64_t keep_bytes, uint64_t keep_ns, uint64_t now_ns,
		 void (*report)(const char *path, uint64_t bytes, int error));

#endif
