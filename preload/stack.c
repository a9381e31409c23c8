/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwinding a stack takes microseconds, and programs call malloc from the same places again and again. So each thread
 * keeps the stacks that it has unwound, by the return address and where that lay, with the address at which each
 * further return address lay. A stack is the same one if all of these words still hold: they are read, not guessed. On
 * x86-64 it needs no frame pointers; on arm64 it follows them.
 *
 * On x86-64, where the next return address lies follows from the last one, if the function's frame has a fixed size.
 * One with alloca(3), or with an array of variable length, has a frame pointer, by which it finds its own frame.
 * Another frame of it may be larger, over words that an earlier call has left: so that pointer is a word that must
 * hold, too, where a callee has saved it.
 */
#include "stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
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
#define SAVED_WORDS 16 /* below its return address, in which a function saves the frame pointer */
#define FRAME_POINTER 6 /* DWARF's number of rbp */

/* A frame pointer: where it is saved, and its value, from the word below the slot on. */
struct base {
	uint32_t at, value;
};

struct stack {
	uint32_t site, n, n_bases;
	uintptr_t ip[DLT_ALLOC_FRAMES];
	const uintptr_t *at[DLT_ALLOC_FRAMES]; /* where it lies */
	struct base base[DLT_ALLOC_FRAMES];
};

struct stack_cache {
	struct stack v[SETS][WAYS];
	uint8_t next[SETS]; /* the way to use next */
	uint32_t unloads; /* so many there had been when it was empty */
};

static uint32_t unloads; /* calls of dlclose(3): what is kept may be of a file that is not there any more */

/* --- numbers -------------------------------------------------------------------------------------------- */

/* Returns the number of the stack STACK, 0: there are too many. */
static uint32_t number_of(const struct stack *stack)
{
	uint64_t hash = 0, frames[DLT_ALLOC_FRAMES];
	bool defined = false;
	uint32_t number;

	module_frames(stack->ip, stack->n, frames); /* may put events of its own, before this one */
	for (uint32_t i = 0; i < stack->n; i++)
		hash = numbers_mix(hash ^ frames[i]);
	number = site_of(hash, &defined);
	if (number && !defined)
		site_define(DLT_ALLOC_SITE, number, frames, stack->n);
	return number;
}

/* --- unwinding ------------------------------------------------------------------------------------------ */

/* Returns the return address in WORD, of which a program built with -mbranch-protection signs the upper bits. */
static inline uintptr_t address_of(uintptr_t word)
{
#if defined(__aarch64__)
	register uintptr_t x30 __asm__("x30") = word;

	__asm__("hint #7" : "+r"(x30)); /* xpaclri, nothing to CPUs without signatures */
	return x30;
#else
	return word;
#endif
}

#if defined(__x86_64__)
struct walk {
	struct stack *s;
	const uintptr_t *slot;
	uintptr_t pointer[DLT_ALLOC_FRAMES]; /* the frame pointer in each function */
	bool unsure; /* what this stack depends on is not known */
};

/* Returns where the frame pointer of frame K is saved: by the first callee that has another one; NULL: it is not there.
 */
static const uintptr_t *saved_find(const struct walk *walk, uint32_t k)
{
	const struct stack *stack = walk->s;
	uint32_t by = k;

	while (by && walk->pointer[by - 1] == walk->pointer[k])
		by--;
	if (!by) /* by ours, which have frame pointers themselves */
		return walk->slot[-1] == walk->pointer[k] ? walk->slot - 1 : NULL;
	for (const uintptr_t *at = stack->at[by] - 1; at > stack->at[by - 1] && at >= stack->at[by] - SAVED_WORDS; at--)
		if (*at == walk->pointer[k])
			return at;
	return NULL;
}

/* Frame K, whose caller's return address is at END, may be found by its frame pointer. */
static void base_add(struct walk *walk, uint32_t k, const uintptr_t *end)
{
	const uintptr_t low = (uintptr_t)(walk->slot - 1), pointer = walk->pointer[k];
	const uintptr_t *at = NULL;

	if (pointer <= (uintptr_t)walk->s->at[k] || pointer >= (uintptr_t)end)
		return;
	at = saved_find(walk, k);
	if (at && pointer - low <= UINT32_MAX)
		walk->s->base[walk->s->n_bases++] =
			(struct base){ (uint32_t)((uintptr_t)at - low), (uint32_t)(pointer - low) };
	else
		walk->unsure = true;
}

static _Unwind_Reason_Code step(struct _Unwind_Context *ctx, void *arg)
{
	struct walk *walk = arg;
	const uintptr_t *at = (const uintptr_t *)_Unwind_GetCFA(ctx) - 1; /* the return address is below the CFA */
	uintptr_t ip = _Unwind_GetIP(ctx);

	/* ours: they lie below */
	if (at < walk->slot)
		return _URC_NO_REASON;
	if (!ip || walk->s->n == DLT_ALLOC_FRAMES || (uintptr_t)at >= thread.stack_high)
		return _URC_END_OF_STACK;
	/* a frame of a signal has its address elsewhere */
	if (*at != ip) {
		walk->unsure = true;
		return _URC_NO_REASON;
	}
	if (walk->s->n)
		base_add(walk, walk->s->n - 1, at);
	walk->pointer[walk->s->n] = (uintptr_t)_Unwind_GetGR(ctx, FRAME_POINTER);
	walk->s->at[walk->s->n] = at;
	walk->s->ip[walk->s->n++] = ip;
	return _URC_NO_REASON;
}

/* Returns whether the stack may be kept. */
static bool frames_find(struct stack *stack, const uintptr_t *slot)
{
	struct walk w = { .s = stack, .slot = slot };

	_Unwind_Backtrace(step, &w);
	return !w.unsure;
}

static inline bool frames_hold(const struct stack *stack)
{
	const uintptr_t low = (uintptr_t)(stack->at[0] - 1);

	for (uint32_t i = 0; i < stack->n_bases; i++)
		if (*(const uintptr_t *)(low + stack->base[i].at) != low + stack->base[i].value)
			return false;
	return true;
}
#elif defined(__aarch64__)
/*
 * Compilers keep frame records on arm64 unless they are asked not to: the address of the caller's record, and the
 * return address (Procedure Call Standard for the Arm 64-bit Architecture, 6.4.6). Returns the caller's; NULL: there is
 * none.
 */
static inline const uintptr_t *record_next(const uintptr_t *record)
{
	const uintptr_t next = record[0];

	if (next <= (uintptr_t)record || next % 16 || next > thread.stack_high - 2 * sizeof(*record))
		return NULL;
	return (const uintptr_t *)next;
}

static bool frames_find(struct stack *stack, const uintptr_t *slot)
{
	for (const uintptr_t *record = slot - 1; record && record[1] && stack->n < DLT_ALLOC_FRAMES;
	     record = record_next(record)) {
		stack->at[stack->n] = record + 1;
		stack->ip[stack->n++] = address_of(record[1]);
	}
	return true;
}

/* Whether the records still lead from one to the next, and end where they did. */
static inline bool frames_hold(const struct stack *stack)
{
	const uintptr_t *next;

	/* of a caller alone nothing but its address is known */
	for (uint32_t i = 0; i < stack->n && stack->n > 1; i++) {
		next = record_next(stack->at[i] - 1);
		if (i + 1 < stack->n ? next != stack->at[i + 1] - 1 : stack->n < DLT_ALLOC_FRAMES && next && next[1])
			return false;
	}
	return true;
}
#else
static bool frames_find(struct stack *stack, const uintptr_t *slot)
{
	return false;
}

static inline bool frames_hold(const struct stack *stack)
{
	return true;
}
#endif

/* The thread's stack: the main one grows, and its limits are read without a call that would open a file. */
static void stack_find(void)
{
	extern void *__libc_stack_end __attribute__((weak));
	uintptr_t here = (uintptr_t)__builtin_frame_address(0),
		  high = (uintptr_t)&__libc_stack_end ? (uintptr_t)__libc_stack_end : 0;
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

/* Returns whether the stack may be kept. */
static bool unwind(struct stack *stack, const uintptr_t *slot)
{
	const struct stack caller = { .n = 1, .ip = { address_of(*slot) }, .at = { slot } };
	bool keep;

	stack->n = stack->n_bases = 0;
	keep = frames_find(stack, slot);
	if (stack->n && stack->at[0] == slot)
		return keep;
	*stack = caller;
	return true;
}

static bool holds(const struct stack *stack)
{
	for (uint32_t i = 0; i < stack->n; i++)
		if (address_of(*stack->at[i]) != stack->ip[i])
			return false;
	return frames_hold(stack);
}

/* For tests: what is kept is what a new look finds. */
static void check(const struct stack *kept, const uintptr_t *slot)
{
	struct stack s;

	unwind(&s, slot);
	if (s.n != kept->n || memcmp(s.ip, kept->ip, s.n * sizeof(s.ip[0])) != 0)
		abort();
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

static void cache_empty(struct stack_cache *cache)
{
	const uint32_t now = __atomic_load_n(&unloads, __ATOMIC_ACQUIRE);

	madvise(cache, sizeof(*cache), MADV_DONTNEED); /* zeroes it, and frees its memory */
	cache->unloads = now;
}

void stack_unloaded(void)
{
	__atomic_fetch_add(&unloads, 1, __ATOMIC_RELEASE);
}

static uint32_t native_site(const uintptr_t *slot)
{
	struct stack_cache *cache = cache_get();
	uintptr_t here = (uintptr_t)slot;
	struct stack *set, s;
	uint32_t at;
	bool whole, keep;
	int saved;

	if (!cache)
		return 0;
	if (__builtin_expect(cache->unloads != unloads, 0))
		cache_empty(cache);
	at = (uint32_t)(numbers_mix(*slot ^ here << 16) >> 32) % SETS;
	set = cache->v[at];
	for (unsigned int i = 0; i < WAYS; i++)
		if (set[i].at[0] == slot && set[i].n && holds(&set[i])) {
			if (__builtin_expect(config.check, 0) && set[i].n > 1)
				check(&set[i], slot);
			return set[i].site;
		}
	saved = errno;
	if (!thread.stack_high && !thread.in_getattr)
		stack_find();
	/* a stack of the program's own (fibers, signals) may be gone when its words are looked at again */
	whole = (config.sites == SITES_NATIVE || config.sites == SITES_AUTO) &&
		here >= thread.stack_low + UNWIND_BYTES && here < thread.stack_high;
	keep = config.sites == SITES_CALLER || config.sites == SITES_PYTHON;
	if (whole)
		keep = unwind(&s, slot);
	else
		s = (struct stack){ .n = 1, .ip = { address_of(*slot) }, .at = { slot } };
	s.site = number_of(&s);
	if (keep)
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
