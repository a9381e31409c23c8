/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A library with two functions under the names that PyTorch's have in libc10.so. ENTRY: an instruction that free_cpu
 * begins with, for libraries that must not be probed there.
 */
#include <execinfo.h>
#include <stdlib.h>

void *c10_alloc_cpu(size_t size) __asm__("_ZN3c109alloc_cpuEm");
int c10_depth; /* frames that an unwinder has found in the last call of DEPTH_SIZE */

#define DEPTH_SIZE 12345

void *c10_alloc_cpu(size_t size)
{
	void *frames[64], *p = NULL;

	if (size == DEPTH_SIZE)
		c10_depth = backtrace(frames, 64);
	return size && !posix_memalign(&p, 64, size) ? p : NULL;
}

#ifdef ENTRY
__asm__(".text\n"
	".globl _ZN3c108free_cpuEPv\n"
	".type _ZN3c108free_cpuEPv, @function\n"
	"_ZN3c108free_cpuEPv: " ENTRY "\n"
	"	jmp free@PLT\n"
	".size _ZN3c108free_cpuEPv, . - _ZN3c108free_cpuEPv\n");
#else
void c10_free_cpu(void *p) __asm__("_ZN3c108free_cpuEPv");

void c10_free_cpu(void *p)
{
	free(p);
}
#endif
