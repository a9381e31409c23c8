/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the program calls. A block is recorded as free before it is given up, and as allocated after it has been got: so
 * no block is ever seen in use twice, whatever other threads do.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "python.h"
#include "real.h"
#include "stack.h"
#include "thread.h"

#define EXPORT __attribute__((visibility("default"), noinline))

/* DLT_ALLOC_REALLOC: the block is below the threshold, and the event is there for the old one alone. */
#define NOT_KEPT 1

/* The same answer when the block is freed as when it was got: it depends on nothing but the block. */
static inline bool is_big(const struct real *r, void *block)
{
	return !config.min || r->malloc_usable_size(block) >= config.min;
}

static inline void count_small(size_t size)
{
	struct dlt_alloc_page *page;

	if (thread.busy)
		return;
	thread.busy = true;
	page = thread_page(0);
	if (page) {
		page->head.small_calls++;
		page->head.small_bytes += size;
	}
	thread.busy = false;
}

static inline void skipped(void)
{
	struct dlt_alloc_page *page = thread.page;

	if (page)
		page->head.skipped++;
}

static inline void put(enum dlt_alloc_op op, const void *block, size_t size, const uintptr_t *slot, uint32_t n)
{
	uint32_t site = 0;

	if (thread.busy) {
		skipped();
		return;
	}
	thread.busy = true;
	__asm__ volatile("" : : : "memory"); /* for the thread's own signal handlers */
	if (slot && config.sites != SITES_NONE) {
		site = stack_site(slot);
		if (!site && thread.page)
			thread.page->head.siteless++;
	}
	thread_put(op, block, size, site, n);
	__asm__ volatile("" : : : "memory");
	thread.busy = false;
}

/* BLOCK has been got by OP, or NULL. */
static inline void *got(enum dlt_alloc_op op, const struct real *r, void *block, size_t size, const uintptr_t *slot)
{
	if (__builtin_expect(!config.on, 0))
		return block;
	if (block ? is_big(r, block) : size >= config.min)
		put(op, block, size, slot, 0);
	else
		count_small(size);
	return block;
}

/* BLOCK is about to be given up: returns whether it is one that was recorded. */
static inline bool gives(enum dlt_alloc_op op, const struct real *r, void *block)
{
	if (!block || !config.on || !is_big(r, block))
		return false;
	put(op, block, 0, NULL, 0);
	return true;
}

static inline void *regot(enum dlt_alloc_op op, const struct real *real, bool had, void *block, size_t size,
			  const uintptr_t *slot)
{
	if (!config.on)
		return block;
	if (had && block && !is_big(real, block))
		put(op, block, size, slot, NOT_KEPT);
	else if (had)
		put(op, block, size, slot, 0);
	else
		got(op, real, block, size, slot);
	return block;
}

EXPORT void *malloc(size_t size)
{
	const struct real *r = REAL();

	return got(DLT_ALLOC_MALLOC, r, r->malloc(size), size, STACK_SLOT());
}

EXPORT void *calloc(size_t n, size_t size)
{
	size_t bytes;

	/* dlsym(3) calls it while we look for the functions */
	if (__builtin_expect(!real.free, 0)) {
		static _Thread_local bool looking __attribute__((tls_model("initial-exec")));

		if (looking)
			return __builtin_mul_overflow(n, size, &bytes) ? NULL : real_boot_alloc(bytes);
		looking = true;
		real_look();
		looking = false;
	}
	if (__builtin_mul_overflow(n, size, &bytes))
		bytes = SIZE_MAX;
	return got(DLT_ALLOC_CALLOC, &real, real.calloc(n, size), bytes, STACK_SLOT());
}

/* A block of the buffer for dlsym(3) has no size: as much is copied as there is of the buffer, at most. */
static void *boot_regot(const struct real *r, void *old, size_t size)
{
	void *block = r->malloc(size);

	for (size_t i = 0; block && i < size && real_is_boot((char *)old + i); i++)
		((char *)block)[i] = ((char *)old)[i];
	return block;
}

EXPORT void *realloc(void *old, size_t size)
{
	const struct real *r = REAL();
	bool had;

	if (__builtin_expect(real_is_boot(old), 0))
		return got(DLT_ALLOC_REALLOC, r, boot_regot(r, old, size), size, STACK_SLOT());
	had = gives(DLT_ALLOC_OLD, r, old);
	return regot(DLT_ALLOC_REALLOC, r, had, r->realloc(old, size), size, STACK_SLOT());
}

EXPORT void *reallocarray(void *old, size_t n, size_t size)
{
	const struct real *r = REAL();
	size_t bytes;
	bool had;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	if (__builtin_expect(real_is_boot(old), 0))
		return got(DLT_ALLOC_REALLOCARRAY, r, boot_regot(r, old, bytes), bytes, STACK_SLOT());
	had = gives(DLT_ALLOC_OLD, r, old);
	/* libc's own would call our realloc() */
	return regot(DLT_ALLOC_REALLOCARRAY, r, had, r->realloc(old, bytes), bytes, STACK_SLOT());
}

EXPORT int posix_memalign(void **block_ret, size_t align, size_t size)
{
	const struct real *r = REAL();
	int result = r->posix_memalign(block_ret, align, size);

	got(DLT_ALLOC_POSIX_MEMALIGN, r, result ? NULL : *block_ret, size, STACK_SLOT());
	return result;
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
	const struct real *r = REAL();

	return got(DLT_ALLOC_ALIGNED_ALLOC, r, r->aligned_alloc(align, size), size, STACK_SLOT());
}

EXPORT void *memalign(size_t align, size_t size)
{
	const struct real *r = REAL();

	return got(DLT_ALLOC_MEMALIGN, r, r->memalign(align, size), size, STACK_SLOT());
}

EXPORT void *valloc(size_t size)
{
	const struct real *r = REAL();

	return got(DLT_ALLOC_VALLOC, r, r->valloc(size), size, STACK_SLOT());
}

EXPORT void *pvalloc(size_t size)
{
	const struct real *r = REAL();

	return got(DLT_ALLOC_PVALLOC, r, r->pvalloc(size), size, STACK_SLOT());
}

EXPORT void free(void *block)
{
	const struct real *r = REAL();

	if (__builtin_expect(real_is_boot(block), 0))
		return;
	gives(DLT_ALLOC_FREE, r, block);
	r->free(block);
}

/*
 * It allocates while it holds the thread's lock, which stack.c would wait for: where a thread begins with it, as in
 * Rust and in Python 3.14, that would be for ever.
 */
EXPORT int pthread_getattr_np(pthread_t of, pthread_attr_t *ret)
{
	const struct real *r = REAL();
	const bool outer = thread.in_getattr;
	int res;

	thread.in_getattr = true;
	res = r->pthread_getattr_np ? r->pthread_getattr_np(of, ret) : ENOSYS;
	thread.in_getattr = outer;
	return res;
}

/* What is loaded next may lie where the library was, and has other functions there. */
EXPORT int dlclose(void *library)
{
	const struct real *r = REAL();
	int res;

	if (!r->dlclose)
		r = real_look();
	res = r->dlclose ? r->dlclose(library) : -1;
	stack_unloaded();
	return res;
}

/* Whether the program calls malloc() here, and has none of its own. */
static bool is_called(void)
{
	Dl_info called, own;

	return dladdr(dlsym(RTLD_DEFAULT, "malloc"), &called) && dladdr(&config, &own) &&
	       called.dli_fbase == own.dli_fbase;
}

__attribute__((constructor)) static void begin(void)
{
	real_look();
	thread_init(stack_thread_ends);
	config_read();
	/* so that the library is known to be there, also where the program allocates nothing */
	if (config.on && is_called()) {
		thread.busy = true;
		thread_page(0);
		thread.busy = false;
	}
	if (config.sites >= SITES_PYTHON)
		python_find();
}
