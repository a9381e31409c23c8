/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/huge_heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE (2UL << 20)
#define HEAP (256 << 20) /* of address space; allocations beyond it have small pages */
#define LARGEST (32 << 20) /* allocations up to this size come from the heap: the most that mallopt(3) takes */

void huge_heap(void)
{
	char *begin, *first, *end;

	if (!mallopt(M_MMAP_THRESHOLD, LARGEST) || !mallopt(M_TOP_PAD, HEAP) || !mallopt(M_TRIM_THRESHOLD, 2 * HEAP))
		return;
	begin = malloc(HUGE_PAGE); /* the heap had less than this free, so it has grown by HEAP as well */
	end = sbrk(0);
	first = begin + -(uintptr_t)begin % HUGE_PAGE;
	if (begin && first < end)
		madvise(first, (size_t)(end - first), MADV_HUGEPAGE);
	free(begin);
}
