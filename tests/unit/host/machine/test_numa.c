/* SPDX-License-Identifier: BSD-2-Clause */
/* The node of a page is what the kernel lists in /proc/self/numa_maps, and a page that is not there has none. */
#include "host/machine/numa.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_node_of_a_page_is_the_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
