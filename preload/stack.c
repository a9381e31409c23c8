/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwinding a stack takes microseconds, and programs call malloc from the same places again and again. So each thread
 * keeps the stacks that it has unwound, by the return address and where that lay, with the address at which each further
 * return address lay. A stack is the same one if all of these words still hold: they are read, not guessed. It
 * needs no frame pointers.
 */
#include "stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unwind.h>

#include "module.h"
#include "numbers.h"
#include "python.h"
#include "real.h"
#include "site.h"
#include "thread.h"

#define SETS 1024
#define WAYS 4
#define UNWIND_BYTES (32 << 10) /* of stack that an unwind may need */
#define MAIN_STACK_BYTES (64UL << 20) /* at most of the main thread's, where there is no limit */

struct stack {
	uint32_t site, n;
	uintptr_t ip[DLT_ALLOC_FRAMES];
	const uintptr_t *at[DLT_ALLOC_FRAMES]; /* where it lies */
};

struct stack_cache {
	struct stack v[SETS][WAYS];
	uint8_t next[SETS]; /* the way to use next */
};

/* --- numbers -------------------------------------------------------------------------------------------- */

/* Returns the number of the stack S, 0: there are too many. */
static uint32_t number_of(const struct stack *s)
{
	uint64_t hash = 0, frames[DLT_ALLOC_FRAMES];
	bool defined = false;
	uint32_t number;

	for (uint32_t i = 0; i < s->n; i++)
		hash = numbers_mix(hash ^ s->ip[i]);
	number = site_of(hash, &defined);
	if (number && !defined) {
		module_frames(s->ip, s->n, frames); /* may put events of its own, before this one */
		site_define(DLT_ALLOC_SITE, number, frames, s->n);
	}
	return number;
}

/* --- unwinding ------------------------------------------------------------------------------------------ */

struct walk {
	struct stack *s;
	const uintptr_t *slot;
};

#if defined(__x86_64__)
static _Unwind_Reason_Code step(struct _Unwind_Context *ctx, void *arg)
{
	struct walk *w = arg;
	const uintptr_t *at = (const uintptr_t *)_Unwind_GetCFA(ctx) - 1; /* the return address is below the CFA */
	uintptr_t ip = _Unwind_GetIP(ctx);

	/* ours: they lie below */
	if (at < w->slot)
		return _URC_NO_REASON;
	if (!ip || w->s->n == DLT_ALLOC_FRAMES || (uintptr_t)at >= thread.stack_high)
		return _URC_END_OF_STACK;
	/* a frame of a signal has its address elsewhere */
	if (*at == ip) {
		w->s->at[w->s->n] = at;
		w->s->ip[w->s->n++] = ip;
	}
	return _URC_NO_REASON;
}
#endif

/* The thread's stack: the main one grows, and its limits are read without a call that would open a file. */
static void stack_find(void)
{
	extern void *__libc_stack_end __attribute__((weak));
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), high = (uintptr_t)&__libc_stack_end ? (uintptr_t)__libc_stack_end : 0;
	struct rlimit limit = { MAIN_STACK_BYTES, MAIN_STACK_BYTES };
	size_t size = 0;
	void *low = NULL;
	pthread_attr_t attr;

	getrlimit(RLIMIT_STACK, &limit);
	if (limit.rlim_cur > MAIN_STACK_BYTES)
		limit.rlim_cur = MAIN_STACK_BYTES;
	if (here <= high && high - here < limit.rlim_cur) {
		thread.stack_high = high;
		thread.stack_low = high - limit.rlim_cur;
		return;
	}
	thread.stack_high = 1; /* looked for, in vain */
	if (!real.pthread_getattr_np || real.pthread_getattr_np(pthread_self(), &attr))
		return;
	if (!pthread_attr_getstack(&attr, &low, &size)) {
		thread.stack_low = (uintptr_t)low;
		thread.stack_high = (uintptr_t)low + size;
	}
	pthread_attr_destroy(&attr);
}

static void unwind(struct stack *s, const uintptr_t *slot)
{
	*s = (struct stack){ .n = 1, .ip = { *slot }, .at = { slot } };
#if defined(__x86_64__)
	struct walk w = { s, slot };

	s->n = 0;
	_Unwind_Backtrace(step, &w);
	if (!s->n || s->at[0] != slot)
		*s = (struct stack){ .n = 1, .ip = { *slot }, .at = { slot } };
#endif
}

static bool holds(const struct stack *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (*s->at[i] != s->ip[i])
			return false;
	return true;
}

static struct stack_cache *cache_get(void)
{
	if (!thread.stacks && !thread.ended) {
		void *cache = mmap(NULL, sizeof(struct stack_cache), PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		thread.stacks = cache == MAP_FAILED ? NULL : cache;
	}
	return thread.stacks;
}

static uint32_t native_site(const uintptr_t *slot)
{
	struct stack_cache *cache = cache_get();
	uintptr_t here = (uintptr_t)slot;
	struct stack *set, s;
	uint32_t at;
	bool whole;
	int saved;

	if (!cache)
		return 0;
	at = (uint32_t)(numbers_mix(*slot ^ here << 16) >> 32) % SETS;
	set = cache->v[at];
	for (unsigned int i = 0; i < WAYS; i++)
		if (set[i].at[0] == slot && set[i].n && holds(&set[i]))
			return set[i].site;
	saved = errno;
	if (!thread.stack_high && !thread.asks)
		stack_find();
	/* a stack of the program's own (fibers, signals) may be gone when its words are looked at again */
	whole = (config.sites == SITES_NATIVE || config.sites == SITES_AUTO) &&
		here >= thread.stack_low + UNWIND_BYTES && here < thread.stack_high;
	if (whole)
		unwind(&s, slot);
	else
		s = (struct stack){ .n = 1, .ip = { *slot }, .at = { slot } };
	s.site = number_of(&s);
	if (whole || config.sites == SITES_CALLER || config.sites == SITES_PYTHON)
		set[cache->next[at]++ % WAYS] = s;
	errno = saved;
	return s.site;
}

uint32_t stack_site(const uintptr_t *slot)
{
	uint32_t site = config.sites >= SITES_PYTHON ? python_site() : 0;

	return site ?: native_site(slot);
}

void stack_thread_ends(void)
{
	if (thread.stacks)
		munmap(thread.stacks, sizeof(*thread.stacks));
	thread.stacks = NULL;
	python_thread_ends();
}
