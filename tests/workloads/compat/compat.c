/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program of 32 bits without a C library: 200 calls, and exit_group with 7. Their numbers are those of traced calls in
 * programs of 64 bits: write and truncate on arm64, writev and recvfrom on x86-64.
 */
#define TIMES 100

#if defined(__arm__)
enum { NR_ONE = 64 /* getppid */, NR_OTHER = 45 /* brk */, NR_EXIT_GROUP = 248 };

static long call(long nr, long arg)
{
	register long r7 __asm__("r7") = nr;
	register long r0 __asm__("r0") = arg;

	__asm__ volatile("svc 0" : "+r"(r0) : "r"(r7) : "memory");
	return r0;
}
#elif defined(__i386__)
enum { NR_ONE = 20 /* getpid */, NR_OTHER = 45 /* brk */, NR_EXIT_GROUP = 252 };

static long call(long nr, long arg)
{
	long ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(nr), "b"(arg) : "memory");
	return ret;
}
#else
#error "no 32-bit calls are known for this target"
#endif

void _start(void)
{
	for (int i = 0; i < TIMES; i++) {
		call(NR_ONE, 0);
		call(NR_OTHER, 0);
	}
	for (;;)
		call(NR_EXIT_GROUP, 7);
}
