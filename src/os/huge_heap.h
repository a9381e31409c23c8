/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A heap of 2 MiB pages, where the kernel gives them on request (transhuge.rst: `madvise' or `always'). For
 * programs that go back and forth in some MiB: with 4 KiB pages these exceed the TLB's reach, and in a
 * virtual machine each miss walks two page tables.
 */
#ifndef OS_HUGE_HEAP_H
#define OS_HUGE_HEAP_H

/*
 * Call before the first large malloc(): later allocations come from this heap, as far as they fit. Takes
 * address space, and memory as it is used. Nothing changes where huge pages are not available.
 */
void huge_heap(void);

#endif
