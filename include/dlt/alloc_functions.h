/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of libraries that allocate, each with a uprobe in processes that run already: these cannot load ours. A
 * line has an enumerator, programs and a FUNC; a function that is called more often than some thousand times a second,
 * such as malloc, does not belong here, as each call takes a microsecond or two longer.
 */
#ifndef DLT_ALLOC_FUNCTIONS_H
#define DLT_ALLOC_FUNCTIONS_H

#define DLT_ALLOC_LIBC "libc.so.6|libc-2.|libjemalloc.so|libtcmalloc|libmimalloc.so"

/*
 * X(ID, FUNC, SYMBOL, MODULES, HOW, ARG)
 *
 * MODULES: what the names of its library's files begin with, any of these. HOW: what the call does, and ARG: which
 * argument, from 1, has the size, or the block:
 *
 *	STORES	the address of the block goes to where the first argument points, and the call returns 0
 *	RETURNS	the call returns it
 *	PASSES	it comes from one of the calls above, of this size, that this one makes: the row is of this one
 *		then. So in C++: a probe on the return would be in the way of an exception, for which the C++ runtime
 *		finds no frame there and ends the program
 *	FREES	a block that PASSES made
 *
 * The blocks of STORES and RETURNS themselves are freed by free(3), which has no probe.
 */
#define DLT_ALLOC_FUNCTIONS(X)                                                                \
	X(c10_alloc_cpu, "c10::alloc_cpu", "_ZN3c109alloc_cpuEm", "libc10.so", PASSES, 1)     \
	X(c10_free_cpu, "c10::free_cpu", "_ZN3c108free_cpuEPv", "libc10.so", FREES, 1)        \
	X(posix_memalign, "libc:posix_memalign", "posix_memalign", DLT_ALLOC_LIBC, STORES, 3) \
	X(aligned_alloc, "libc:aligned_alloc", "aligned_alloc", DLT_ALLOC_LIBC, RETURNS, 2)   \
	X(memalign, "libc:memalign", "memalign", DLT_ALLOC_LIBC, RETURNS, 2)                  \
	X(valloc, "libc:valloc", "valloc", DLT_ALLOC_LIBC, RETURNS, 1)                        \
	X(pvalloc, "libc:pvalloc", "pvalloc", DLT_ALLOC_LIBC, RETURNS, 1)

#endif
