/* SPDX-License-Identifier: BSD-2-Clause */
/* NUMA nodes of memory. */
#ifndef HOST_NUMA_H
#define HOST_NUMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether more than one node of this machine has memory. */
bool numa_has_nodes(void);

/*
 * Returns the node of the page at ADDR of thread TID's process, or -errno: -ENOENT, -EFAULT where no page is there.
 * Holds the lock of its memory for reading, and moves nothing.
 */
int numa_node_of(pid_t tid, uint64_t addr);

#define NUMA_NODES_MAX 1024 /* CONFIG_NODES_SHIFT is 10 at most */

/* Puts the nodes whose memory this process may use into LIST, in the kernel's form ("0-1"); "" where there are no
 * nodes. */
void numa_allowed(char *list, size_t size);

/* Has this process, and what it starts, take memory of NODE alone. Returns 0 or -errno: -EINVAL where it may not use
 * NODE. */
int numa_bind(unsigned int node);

#endif
