// SPDX-License-Identifier: BSD-2-Clause
/*
 * alloc_shim: what a tracer of allocations that logs text inside the process costs. Preloaded, it wraps malloc() and
 * free(). Of every block it keeps address and size in a tree of its thread, behind a lock, as a free may come from
 * another thread. For each block from SHIM_MIN bytes on it writes a line through stdio: + or -, the time, the address,
 * the size, and the program's SHIM_FRAMES innermost frames, each as module+offset, from backtrace(). So does
 * Heimdallr's library, for which it stands in; it is no tracer to use (calloc, realloc, forks and the rest are not
 * seen).
 *
 * SHIM_LOG begins the names of the files that the lines go to, one for each thread.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define OWN_FRAMES 2 /* of this library: line(), and malloc() or free(): inlining is spelled out */
#define MOST_FRAMES 64

struct block {
	const void *base;
	size_t size;
};

struct handler {
	void *tree; /* struct block, by address */
	pthread_rwlock_t lock;
	FILE *log;
	struct handler *next;
};

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *block);

static struct handler *handlers;
static pthread_mutex_t handlers_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread struct handler *mine;
static __thread bool inside; /* what the library itself allocates */
static const char *log_path;
static size_t least;
static int frames;

static __attribute__((constructor)) void shim_begin(void)
{
	const char *min = getenv("SHIM_MIN"), *n = getenv("SHIM_FRAMES");
	void *first[1];

	least = min ? strtoul(min, NULL, 10) : 0;
	frames = n ? atoi(n) : 0;
	frames = frames > MOST_FRAMES - OWN_FRAMES ? MOST_FRAMES - OWN_FRAMES : frames;
	inside = true;
	backtrace(first, 1); /* loads libgcc_s, which allocates */
	inside = false;
	log_path = getenv("SHIM_LOG");
}

static __attribute__((destructor)) void shim_end(void)
{
	inside = true;
	for (struct handler *h = handlers; h; h = h->next)
		fclose(h->log);
}

static struct handler *handler_new(void)
{
	struct handler *h = calloc(1, sizeof(*h));
	char path[4096];

	snprintf(path, sizeof(path), "%s_%ld", log_path, syscall(SYS_gettid));
	h->log = fopen(path, "w");
	if (!h->log)
		abort();
	pthread_rwlock_init(&h->lock, NULL);
	pthread_mutex_lock(&handlers_lock);
	h->next = handlers;
	handlers = h;
	pthread_mutex_unlock(&handlers_lock);
	return h;
}

static int by_address(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	return (x->base > y->base) - (x->base < y->base);
}

static __attribute__((noinline)) void line(char sign, const void *base, size_t size)
{
	void *at[MOST_FRAMES];
	struct timespec ts;
	int n = 0;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	if (frames)
		n = backtrace(at, frames + OWN_FRAMES);
	fprintf(mine->log, "%c %ld.%09ld %p %zx", sign, ts.tv_sec, ts.tv_nsec, base, size);
	for (int i = OWN_FRAMES; i < n; i++) {
		struct link_map *module = NULL;
		Dl_info info;

		if (dladdr1(at[i], &info, (void **)&module, RTLD_DL_LINKMAP) && module)
			fprintf(mine->log, " %p+%lx", (void *)module,
				(unsigned long)((uintptr_t)at[i] - module->l_addr));
	}
	putc('\n', mine->log);
}

/* Returns the size of the block at BASE, which is taken out; 0: it is not in H's tree. */
static size_t taken(struct handler *h, const void *base)
{
	const struct block key = { .base = base };
	struct block **found, *b = NULL;
	size_t size = 0;

	pthread_rwlock_wrlock(&h->lock);
	found = tfind(&key, &h->tree, by_address);
	if (found) {
		b = *found;
		size = b->size;
		tdelete(&key, &h->tree, by_address);
	}
	pthread_rwlock_unlock(&h->lock);
	free(b);
	return size;
}

static inline __attribute__((always_inline)) void allocated(const void *base, size_t size)
{
	struct block *b = malloc(sizeof(*b));

	if (!mine)
		mine = handler_new();
	*b = (struct block){ base, size };
	pthread_rwlock_wrlock(&mine->lock);
	tsearch(b, &mine->tree, by_address);
	pthread_rwlock_unlock(&mine->lock);
	if (size >= least)
		line('+', base, size);
}

static inline __attribute__((always_inline)) void freed(const void *base)
{
	size_t size = mine ? taken(mine, base) : 0;

	if (!mine)
		mine = handler_new();
	for (struct handler *h = handlers; h && !size; h = h->next)
		size = h == mine ? 0 : taken(h, base);
	if (size && size >= least)
		line('-', base, size);
}

void *malloc(size_t size)
{
	void *base = __libc_malloc(size);

	if (inside || !log_path || !base)
		return base;
	inside = true;
	allocated(base, size);
	inside = false;
	return base;
}

void free(void *base)
{
	if (!inside && log_path && base) {
		inside = true;
		freed(base);
		inside = false;
	}
	__libc_free(base);
}
