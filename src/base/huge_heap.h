/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A heap of pages of 2 MiB, where the kernel has them for who asks (transhuge.rst: `madvise' or `always').
 * For programs that go back and forth in some MiB: of pages of 4 KiB these are more than the processor knows the places of,
 * and in a virtual machine it walks two tables for each that it does not know.
 */
#ifndef BASE_HUGE_HEAP_H
#define BASE_HUGE_HEAP_H

/*
 * Before the first large malloc(): what is allocated from now on is there, as far as it fits. Takes address space, and
 * memory as it is used. Nothing changes where it cannot be had.
 */
void huge_heap(void);

#endif
