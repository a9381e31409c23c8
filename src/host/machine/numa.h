/* SPDX-License-Identifier: BSD-2-Clause */
/* NUMA nodes of memory. */
#ifndef HOST_MACHINE_NUMA_H
#define HOST_MACHINE_NUMA_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether more than one node of this machine has memory. */
bool numa_has_nodes(void);

/*
 * Returns the node of the page at ADDR of thread TID's process, or -errno: -ENOENT, -EFAULT where no page is there.
 * Holds the lock of its memory for reading, and moves nothing.
 */
int numa_node_of(pid_t tid, uint64_t addr);

#endif
