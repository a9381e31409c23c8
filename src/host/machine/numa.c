/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/machine/numa.h"

#include <errno.h>
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
