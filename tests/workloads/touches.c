// SPDX-License-Identifier: BSD-2-Clause
/*
 * touches: causes page faults, and prints each of them.
 *
 *   touches PROCESSES THREADS PAGES
 *
 * Each of PROCESSES processes has THREADS threads, and each of these maps PAGES small pages of its own. It touches them by
 * instructions: every fourth one is read, and half of these are written later, which is another fault; the others are
 * written. Then it has read(2) write as many pages again. A line for each fault: PID TID ADDRESS, then "r" or "w", and
 * "user" or "kernel". A line "region PID BEGIN END" for each mapping.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

static size_t pages;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Apart from all other memory, so that no block of up to 2 MiB has both. */
static volatile char *map(void)
{
	const size_t apart = 2 << 20, bytes = pages * PAGE;
	char *at = mmap(NULL, bytes + 3 * apart, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		die("mmap");
	at += apart + -(uintptr_t)at % apart;
	if (mprotect(at, bytes, PROT_READ | PROT_WRITE) < 0)
		die("mprotect");
	if (madvise(at, bytes, MADV_NOHUGEPAGE) < 0 && access("/sys/kernel/mm/transparent_hugepage", F_OK) == 0)
		die("madvise");
	printf("region %d %#lx %#lx\n", getpid(), (unsigned long)at, (unsigned long)at + bytes);
	return at;
}

static void print(volatile char *at, char rw, const char *mode)
{
	printf("%d %d %#lx %c %s\n", getpid(), gettid(), (unsigned long)at, rw, mode);
}

/* Another byte of each page. */
static volatile char *byte_of(volatile char *at, size_t page)
{
	return at + page * PAGE + page * 37 % PAGE;
}

static void touch_by_instructions(void)
{
	volatile char *at = map();

	for (size_t i = 0; i < pages; i++)
		if (i % 4)
			*byte_of(at, i) = 1;
		else
			(void)*byte_of(at, i);
	for (size_t i = 0; i < pages; i += 8)
		*byte_of(at, i) = 1;
	for (size_t i = 0; i < pages; i++)
		print(byte_of(at, i), i % 4 ? 'w' : 'r', "user");
	for (size_t i = 0; i < pages; i += 8)
		print(byte_of(at, i), 'w', "user");
}

static void touch_by_the_kernel(void)
{
	volatile char *at = map();
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, (void *)at, pages * PAGE) != (ssize_t)(pages * PAGE))
		die("/dev/zero");
	close(fd);
	for (size_t i = 0; i < pages; i++)
		print(at + i * PAGE, 'w', "kernel");
}

static void *thread_main(void *unused)
{
	(void)unused;
	touch_by_instructions();
	touch_by_the_kernel();
	return NULL;
}

static void process_main(long threads)
{
	pthread_t v[threads];

	setvbuf(stdout, malloc(64 << 20), _IOFBF, 64 << 20); /* lines of two processes must not mix */
	for (long i = 0; i < threads; i++)
		if (pthread_create(&v[i], NULL, thread_main, NULL))
			die("pthread_create");
	for (long i = 0; i < threads; i++)
		pthread_join(v[i], NULL);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	long processes = argc > 1 ? atol(argv[1]) : 1, threads = argc > 2 ? atol(argv[2]) : 1;

	pages = argc > 3 ? strtoul(argv[3], NULL, 10) : 256;
	for (long i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid) {
			process_main(threads);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
