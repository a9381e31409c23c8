/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The node of a page is what the kernel lists in /proc/self/numa_maps, and a page that is not there has none. A process
 * that is bound has the policy that it lists there, for this node and no other.
 */
#include "host/numa.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/cpus.h"

/* Of the mapping that begins at ADDR, with pages on one node. -1: the kernel lists none. */
static int node_listed(uint64_t addr)
{
	FILE *f = fopen("/proc/self/numa_maps", "re");
	char line[4096], *at;
	int node = -1;

	while (f && fgets(line, sizeof(line), f))
		if (strtoull(line, NULL, 16) == addr && (at = strstr(line, " N")))
			node = atoi(at + 2);
	if (f)
		fclose(f);
	return node;
}

static void the_node_of_a_page_is_the_kernels(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, 4 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t addr;
	int want;

	assert_ptr_not_equal(at, MAP_FAILED);
	at += page;
	addr = (uint64_t)(uintptr_t)at;
	assert_int_equal(mprotect(at, 2 * page, PROT_READ | PROT_WRITE), 0);
	*at = 1;
	want = node_listed(addr);
	if (want < 0) {
		print_message("/proc/self/numa_maps (CONFIG_NUMA)\n");
		skip();
	}
	assert_int_equal(numa_node_of(gettid(), addr), want);
	assert_true(numa_node_of(gettid(), addr + page) < 0);
	munmap(at - page, 4 * page);
}

/* Binds a child to NODE. Returns whether the kernel lists this policy for its stack; -errno: it refuses. */
static int is_bound(unsigned int node)
{
	char line[4096], want[32];
	int status, found = 0, r;
	const pid_t pid = fork();

	if (pid) {
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		return (int8_t)WEXITSTATUS(status);
	}
	r = numa_bind(node);
	snprintf(want, sizeof(want), " bind:%u stack ", node);
	FILE *f = r ? NULL : fopen("/proc/self/numa_maps", "re");

	while (f && fgets(line, sizeof(line), f))
		found += strstr(line, want) != NULL;
	_exit(r ? r : found);
}

static void memory_is_bound_to_one_node(void **state)
{
	bool allowed[NUMA_NODES_MAX];
	char list[4096];

	numa_allowed(list, sizeof(list));
	cpus_in(list, allowed, NUMA_NODES_MAX);
	if (!*list || access("/proc/self/numa_maps", F_OK) < 0) {
		print_message("nodes of memory (CONFIG_NUMA, CONFIG_CPUSETS)\n");
		skip();
	}
	/* of each word of the mask a bit */
	for (unsigned int i = 0; i < NUMA_NODES_MAX; i += i < 64 ? 1 : 63)
		assert_int_equal(is_bound(i), allowed[i] ? 1 : -EINVAL);
	assert_int_equal(is_bound(NUMA_NODES_MAX), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_node_of_a_page_is_the_kernels),
		cmocka_unit_test(memory_is_bound_to_one_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
