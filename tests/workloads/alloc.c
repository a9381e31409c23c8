// SPDX-License-Identifier: BSD-2-Clause
/*
 * alloc PROCESSES THREADS CALLS: allocates and frees blocks of 64 KiB and more by each function of malloc(3), in
 * PROCESSES children of THREADS threads, which free one another's blocks. A child ends in one of six ways: it returns,
 * calls _exit, ends by exit_group while its threads wait, is killed while they wait, executes itself, or forks a child
 * that goes on and returns. Prints what was called: FUNC, calls, bytes; of free the bytes of the blocks, of "end" the
 * blocks that were in use when their process ended; then "peak": the blocks and bytes of all processes at the time when
 * most was in use, which is exact if there is one thread. With NO_PVALLOC in its environment it calls no pvalloc(3):
 * jemalloc has none, and does not free what libc's returns.
 */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	MALLOC,
	CALLOC,
	REALLOC,
	REALLOCARRAY,
	POSIX_MEMALIGN,
	ALIGNED_ALLOC,
	MEMALIGN,
	VALLOC,
	PVALLOC,
	FREE,
	END,
	FUNCS
};
static const char *const names[FUNCS] = { "malloc",         "calloc",        "realloc",  "reallocarray",
					  "posix_memalign", "aligned_alloc", "memalign", "valloc",
					  "pvalloc",        "free",          "end" };
enum { RETURN, EXIT, GROUP, KILLED, EXEC, FORK, WAYS };

#define POOL 256
#define KEPT 3 /* blocks that a process leaves in use */

static struct tally {
	_Atomic long calls[FUNCS], bytes[FUNCS];
	_Atomic long blocks_now, bytes_now, peak_blocks, peak_bytes;
} * tally; /* shared by all processes */

struct block {
	void *at;
	size_t size;
};
static _Atomic(struct block *) pool[POOL];
static struct block blocks[1 << 20];
static _Atomic unsigned int n_blocks;
static pthread_barrier_t all_done;
static int way;
static long calls;
static unsigned int funcs = FREE; /* so many of them allocate */

static void count(int func, size_t bytes)
{
	tally->calls[func]++;
	tally->bytes[func] += (long)bytes;
}

/* The memory in use changes. */
static void in_use(long blocks, long bytes)
{
	long n = atomic_fetch_add(&tally->blocks_now, blocks) + blocks;
	long now = atomic_fetch_add(&tally->bytes_now, bytes) + bytes;

	if (now <= tally->peak_bytes)
		return;
	tally->peak_bytes = now;
	tally->peak_blocks = n;
}

/* OLD has OLD_SIZE bytes. */
static void *get(int func, size_t n, void *old, size_t old_size)
{
	void *p = NULL;

	switch (func) {
	case MALLOC:
		p = malloc(n);
		break;
	case CALLOC:
		p = calloc(n / 16, 16);
		break;
	case REALLOC:
		p = realloc(old, n);
		break;
	case REALLOCARRAY:
		p = reallocarray(old, n / 16, 16);
		break;
	case POSIX_MEMALIGN:
		p = posix_memalign(&p, 64, n) ? NULL : p;
		break;
	case ALIGNED_ALLOC:
		p = aligned_alloc(4096, n);
		break;
	case MEMALIGN:
		p = memalign(128, n);
		break;
	case VALLOC:
		p = valloc(n);
		break;
	case PVALLOC:
		p = pvalloc(n);
		break;
	}
	if (!p)
		abort();
	*(volatile char *)p = 1;
	count(func, n);
	in_use(old ? 0 : 1, (long)n - (long)old_size);
	return p;
}

static void give(struct block *b)
{
	in_use(-1, -(long)b->size);
	free(b->at);
	count(FREE, b->size);
}

static void *run(void *arg)
{
	uint64_t x = (uint64_t)(uintptr_t)arg * 0x9e3779b97f4a7c15ULL ^ (uint64_t)getpid();

	for (long i = 0; i < calls; i++) {
		struct block *b, *other;
		unsigned int at = n_blocks++;

		if (at >= sizeof(blocks) / sizeof(blocks[0]))
			abort();
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		b = &blocks[at];
		b->size = (70000 + (x >> 50)) & ~15UL;
		b->at = get((int)((x >> 33) % funcs), b->size, NULL, 0);
		if (i % 5 == 0) {
			b->at = get(i % 2 ? REALLOC : REALLOCARRAY, b->size + 32, b->at, b->size);
			b->size += 32;
		}
		other = atomic_exchange(&pool[x >> 20 & (POOL - 1)], b);
		if (other)
			give(other);
	}
	if (way == GROUP || way == KILLED) {
		pthread_barrier_wait(&all_done);
		for (;;)
			pause();
	}
	return NULL;
}

static void drain_pool(void)
{
	for (int i = 0; i < POOL; i++) {
		struct block *b = atomic_exchange(&pool[i], NULL);

		if (b)
			give(b);
	}
}

/* What is in use now will be so at the end. */
static void leave(void)
{
	for (int i = 0; i < KEPT; i++)
		count(END, (get(MALLOC, 65536, NULL, 0), 65536));
}

static void child(char **argv, int n_threads, long number)
{
	pthread_t threads[64];

	way = (int)(number % WAYS);
	pthread_barrier_init(&all_done, NULL, (unsigned int)n_threads + 1);
	for (long i = 0; i < n_threads; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(i + 1)))
			abort();
	if (way == GROUP || way == KILLED)
		pthread_barrier_wait(&all_done);
	else
		for (int i = 0; i < n_threads; i++)
			pthread_join(threads[i], NULL);
	drain_pool();
	leave();
	switch (way) {
	case EXIT:
		_exit(0);
	case GROUP:
		exit(0);
	case KILLED:
		kill(getpid(), SIGKILL);
		break;
	case EXEC:
		execv("/nonexistent/program", argv);
		execv("/proc/self/exe", argv);
		abort();
	case FORK:
		if (!fork()) {
			way = RETURN;
			run((void *)99);
			drain_pool();
			leave();
			exit(0);
		}
		wait(NULL);
	}
}

int main(int argc, char **argv)
{
	int n = argc > 3 ? atoi(argv[1]) : 0, n_threads = argc > 3 ? atoi(argv[2]) : 0, fd;
	char number[16];

	if (argc < 4 || n_threads < 1 || n_threads > 64) {
		fprintf(stderr, "usage: alloc PROCESSES THREADS CALLS\n");
		return 2;
	}
	calls = atol(argv[3]);
	funcs = getenv("NO_PVALLOC") ? PVALLOC : FREE;
	if (argc > 4) { /* executed by itself, with the tally */
		tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(argv[4]), 0);
		if (tally == MAP_FAILED)
			abort();
		run((void *)77);
		drain_pool();
		leave();
		return 0;
	}
	fd = memfd_create("tally", 0);
	if (fd < 0 || ftruncate(fd, sizeof(*tally)))
		abort();
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (tally == MAP_FAILED)
		abort();
	snprintf(number, sizeof(number), "%d", fd);
	for (long i = 0; i < n; i++)
		if (!fork()) {
			child((char *[]){ argv[0], argv[1], argv[2], argv[3], number, NULL }, n_threads, i);
			return 0;
		}
	while (wait(NULL) > 0)
		;
	for (unsigned int i = 0; i < FUNCS; i++)
		if (i < funcs || i >= FREE)
			printf("%s %ld %ld\n", names[i], (long)tally->calls[i], (long)tally->bytes[i]);
	printf("peak %ld %ld\n", (long)tally->peak_blocks, (long)tally->peak_bytes);
	return 0;
}
