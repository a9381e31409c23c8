/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/numa.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"

bool numa_has_nodes(void)
{
	char list[4096];

	/* "0", else "0-1", "0,2" */
	return util_read_line("/sys/devices/system/node/has_memory", list, sizeof(list)) == 0 && strpbrk(list, ",-");
}

int numa_node_of(pid_t tid, uint64_t addr)
{
	void *page = (void *)(uintptr_t)addr;
	int node = -EFAULT;

	return syscall(SYS_move_pages, tid, 1UL, &page, NULL, &node, 0) < 0 ? -errno : node;
}

void numa_allowed(char *list, size_t size)
{
	static const char key[] = "\nMems_allowed_list:\t";
	autofree char *text = NULL;
	size_t len;
	const char *at = util_read_file("/proc/self/status", 1 << 16, &text, &len) == 0 ? strstr(text, key) : NULL;

	if (at)
		at += strlen(key);
	snprintf(list, size, "%.*s", at ? (int)strcspn(at, "\n") : 0, at ? at : "");
}

int numa_bind(unsigned int node)
{
	const unsigned int bits = 8 * sizeof(unsigned long);
	unsigned long mask[NUMA_NODES_MAX / (8 * sizeof(unsigned long))] = {};

	if (node >= NUMA_NODES_MAX)
		return -EINVAL;
	mask[node / bits] = 1UL << node % bits;
	/* the kernel subtracts 1 from the number of bits */
	return syscall(SYS_set_mempolicy, MPOL_BIND, mask, NUMA_NODES_MAX + 1UL) < 0 ? -errno : 0;
}
