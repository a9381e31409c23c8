/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/stack.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>

#define THREAD_BYTES (1UL << 20)

void stack_of_threads(void)
{
	pthread_attr_t attr;
	size_t bytes;

	if (pthread_getattr_default_np(&attr) != 0)
		return;
	if (pthread_attr_getstacksize(&attr, &bytes) == 0 && bytes < THREAD_BYTES &&
	    pthread_attr_setstacksize(&attr, THREAD_BYTES) == 0)
		pthread_setattr_default_np(&attr);
	pthread_attr_destroy(&attr);
}

bool stack_suffices(uint64_t *limit_ret)
{
	/* the program's name is the last thing on the stack, above the variables and arguments, which count too
	 * (execve(2)) */
	const char *top = (const char *)getauxval(AT_EXECFN);
	const char here = 0;
	struct rlimit limit;
	uint64_t used;

	if (!top || getrlimit(RLIMIT_STACK, &limit) < 0)
		return true;
	*limit_ret = limit.rlim_cur;
	used = (uint64_t)(top + strlen(top) - &here);
	return limit.rlim_cur == RLIM_INFINITY || used + STACK_NEED_BYTES <= limit.rlim_cur;
}
