/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions that ours stand in front of: libc's, or those of an allocator that is preloaded or linked, too. */
#ifndef PRELOAD_REAL_H
#define PRELOAD_REAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct real {
	void *(*malloc)(size_t size);
	void *(*calloc)(size_t n, size_t size);
	void *(*realloc)(void *old, size_t size);
	int (*posix_memalign)(void **block_ret, size_t align, size_t size);
	void *(*aligned_alloc)(size_t align, size_t size);
	void *(*memalign)(size_t align, size_t size);
	void *(*valloc)(size_t size);
	void *(*pvalloc)(size_t size);
	void (*free)(void *block);
	size_t (*malloc_usable_size)(void *block);
	int (*dlclose)(void *library); /* NULL: with an old libc, in a program that loads no libraries */
	int (*pthread_getattr_np)(pthread_t of,
				  pthread_attr_t *ret); /* NULL: a program without threads, with an old libc */
};

/* Look them up, if that is still to be done. */
const struct real *real_look(void);
extern struct real real;

/* Every function of ours that may be the first to be called begins with this. */
#define REAL() (__builtin_expect(!real.free, 0) ? real_look() : &real)

/* dlsym(3) itself may allocate: from a small buffer of ours, zeroed, which is never freed. NULL: it is full. */
void *real_boot_alloc(size_t size);
bool real_is_boot(const void *block);

#endif
