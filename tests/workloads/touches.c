// SPDX-License-Identifier: BSD-2-Clause
/*
 * touches: accesses memory, and prints what it accesses.
 *
 *   touches faults PROCESSES THREADS PAGES
 *
 * Each of PROCESSES processes has THREADS threads, and each of these maps PAGES small pages of its own. It touches them
 * by instructions: every fourth one is read, and half of these are written later, which is another fault; the others
 * are written. Then it has read(2) write as many pages again. A line for each fault: PID TID ADDRESS, then "r" or "w",
 * and "user" or "kernel". A line "region PID BEGIN END" for each mapping.
 *
 *   touches phases PROCESSES MS PAGES
 *
 * Each process maps PAGES small pages, 4 MiB of a file of its own (touched.PID) from 1 MiB on, and 16 MiB of huge pages
 * if the kernel has them, and touches all once. Then it goes through phases of MS milliseconds, in each of which it
 * touches the same pages again and again: a line "phase PID BEGIN_NS END_NS FIRST STEP COUNT BYTES EVERY", of COUNT
 * pages from address FIRST on, one each STEP bytes, of BYTES bytes; one of EVERY is written, with 0 none, and the
 * others are read. Before it "late PID BEGIN_NS END_NS" for each time that it took more than 10 ms to touch all of them
 * once. "region" as above; "huge PID BEGIN END" where all of these are huge pages; "file PID BEGIN END".
 *
 *   touches threads PROCESSES MS PAGES
 *
 * The same, in two threads whose main thread has ended: the other one waits.
 *
 *   touches nodes PROCESSES MS PAGES
 *
 * Each process maps PAGES small pages, the first half of them on node 0, the others on the node of the highest number
 * that has memory for it, and touches all of them again and again for MS milliseconds. "region" as above; a line "node
 * PID BEGIN END NODE" for each half, with the node that /proc/PID/numa_maps has.
 *
 *   touches inherited PROCESSES MS PAGES
 *
 * Each process has a phase in which read(2) writes to half of PAGES small pages, and one in which the other half is
 * written. Then it forks a child at once, in whose phase all of them are read. Lines as above.
 *
 *   touches watched PROCESSES N ADDRESS
 *
 * Each process accesses the 8 bytes at ADDRESS in N loads and stores in each of two threads, and the bytes around them.
 * A line "watched PID N", of both.
 *
 *   touches cost PROCESSES ROUNDS PAGES
 *
 * In each of ROUNDS rounds PAGES new small pages are read. A line with the least CPU ns of a page in any round.
 *
 *   touches speed PROCESSES MS PAGES
 *
 * For MS milliseconds a byte of each of PAGES pages is read, again and again. A line with the CPU ns that a read took.
 */
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))
#define LATE_NS 10000000

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

static void faults(long threads)
{
	pthread_t v[threads];

	for (long i = 0; i < threads; i++)
		if (pthread_create(&v[i], NULL, thread_main, NULL))
			die("pthread_create");
	for (long i = 0; i < threads; i++)
		pthread_join(v[i], NULL);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* What is touched again and again. */
struct touched {
	volatile char *first;
	size_t step, count, bytes;
	size_t every; /* one of so many is written, the others are read; 0: none is written */
	int fd; /* >= 0: read(2) from it writes to all */
};

static void touch(const struct touched *t)
{
	if (t->fd >= 0 && read(t->fd, (void *)t->first, t->step * t->count) < 0)
		die("read");
	for (size_t i = 0; t->fd < 0 && i < t->count; i++)
		if (t->every && i % t->every == 0)
			t->first[i * t->step]++;
		else
			(void)t->first[i * t->step];
}

static void phase_since(int64_t begin_ns, long ms, struct touched t)
{
	const int64_t end_ns = begin_ns + ms * 1000000;
	int64_t round_ns = begin_ns, last_ns;

	while (round_ns < end_ns) {
		touch(&t);
		usleep(1000);
		last_ns = round_ns;
		round_ns = now_ns();
		if (round_ns - last_ns > LATE_NS)
			printf("late %d %lld %lld\n", getpid(), (long long)last_ns, (long long)round_ns);
	}
	printf("phase %d %lld %lld %#lx %zu %zu %zu %zu\n", getpid(), (long long)begin_ns, (long long)end_ns,
	       (unsigned long)t.first, t.step, t.count, t.bytes, t.every);
}

static void phase(long ms, volatile char *first, size_t step, size_t count, size_t bytes)
{
	phase_since(now_ns(), ms, (struct touched){ first, step, count, bytes, .every = 3, .fd = -1 });
}

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static volatile char *map_plain(void)
{
	char *at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		die("mmap");
	madvise(at, pages * PAGE, MADV_NOHUGEPAGE);
	return at;
}

static void cost(long rounds)
{
	double least = 1e18;

	for (long round = 0; round < rounds; round++) {
		volatile char *at = map_plain();
		const int64_t begin = cpu_ns();
		double ns;

		for (size_t i = 0; i < pages; i++)
			(void)at[i * PAGE]; /* the zero page: no time goes into a new one, which takes more each time or
					       less */
		ns = (double)(cpu_ns() - begin) / (double)pages;
		least = ns < least ? ns : least;
		munmap((void *)at, pages * PAGE);
	}
	printf("%.2f\n", least);
}

static void speed(long ms)
{
	volatile char *at = map_plain();
	int64_t begin, end_ns;
	size_t n = 0;

	memset((void *)at, 1, pages * PAGE);
	begin = cpu_ns();
	for (end_ns = now_ns() + ms * 1000000; now_ns() < end_ns; n += pages)
		for (size_t i = 0; i < pages; i++)
			(void)at[i * PAGE + i * 64 % PAGE];
	printf("%.3f\n", (double)(cpu_ns() - begin) / (double)n);
}

static volatile char *map_huge(size_t bytes)
{
	const size_t huge = 2 << 20;
	char *at = mmap(NULL, bytes + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char line[256], *digits;
	unsigned long kib = 0;
	FILE *f;

	if (at == MAP_FAILED)
		die("mmap");
	at += -(uintptr_t)at % huge;
	if (madvise(at, bytes, MADV_HUGEPAGE) < 0)
		return NULL;
	memset(at, 1, bytes);
	f = fopen("/proc/self/smaps_rollup", "re");
	while (f && fgets(line, sizeof(line), f))
		if ((digits = strstr(line, "AnonHugePages:")))
			kib = strtoul(digits + 14, NULL, 10);
	if (f)
		fclose(f);
	if (kib * 1024 != bytes)
		return NULL;
	printf("huge %d %#lx %#lx\n", getpid(), (unsigned long)at, (unsigned long)at + bytes);
	return at;
}

static volatile char *map_file(void)
{
	const size_t bytes = 4 << 20, offset = 1 << 20;
	char name[64], *at;
	int fd;

	snprintf(name, sizeof(name), "touched.%d", getpid());
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, offset + bytes) < 0)
		die(name);
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
	if (at == MAP_FAILED)
		die("mmap");
	close(fd);
	memset(at, 1, bytes);
	printf("file %d %#lx %#lx\n", getpid(), (unsigned long)at, (unsigned long)at + bytes);
	return at;
}

static void phases(long ms)
{
	volatile char *at = map(), *file = map_file(), *huge;

	memset((void *)at, 1, pages * PAGE);
	huge = map_huge(16 << 20);
	phase(ms, at, PAGE, pages / 2, PAGE);
	phase(ms, at + pages / 2 * PAGE, 4 * PAGE, pages / 8, PAGE);
	phase(ms, at + pages / 4 * PAGE, PAGE, 16, PAGE);
	phase(ms, file + 100 * PAGE, 2 * PAGE, 300, PAGE);
	phase(ms, at, PAGE, 0, 0);
	if (huge)
		phase(ms, huge + (2 << 20) + 77, 4 << 20, 3, 2 << 20);
}

static bool bind_to(volatile char *at, size_t bytes, int node)
{
	unsigned long mask = 1UL << node;

	return syscall(SYS_mbind, at, bytes, MPOL_BIND, &mask, 8 * sizeof(mask), 0) == 0;
}

/* Of the mapping that has AT. */
static int node_listed(volatile char *at)
{
	FILE *f = fopen("/proc/self/numa_maps", "re");
	char line[4096], *of;
	int node = -1;

	if (!f)
		die("/proc/self/numa_maps");
	while (fgets(line, sizeof(line), f) && strtoul(line, NULL, 16) <= (unsigned long)at)
		node = (of = strstr(line, " N")) ? atoi(of + 2) : -1;
	fclose(f);
	return node;
}

static void nodes(long ms)
{
	const size_t half = pages / 2 * PAGE;
	volatile char *at = map();
	int last = 63;

	while (last && !bind_to(at + half, half, last))
		last--;
	bind_to(at, half, 0);
	memset((void *)at, 1, 2 * half);
	for (int i = 0; i < 2; i++)
		printf("node %d %#lx %#lx %d\n", getpid(), (unsigned long)(at + i * half),
		       (unsigned long)(at + (i + 1) * half), node_listed(at + i * half));
	phase(ms, at, PAGE, pages, PAGE);
}

static void inherited(long ms)
{
	const size_t half = pages / 2;
	volatile char *at = map();
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	int64_t begin_ns;
	pid_t pid;

	if (fd < 0)
		die("/dev/zero");
	phase_since(now_ns(), ms, (struct touched){ at, PAGE, half, PAGE, .every = 1, .fd = fd });
	phase_since(now_ns(), ms, (struct touched){ at + half * PAGE, PAGE, half, PAGE, .every = 1, .fd = -1 });
	fflush(stdout); /* a child must not print these lines again */
	begin_ns = now_ns();
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		printf("region %d %#lx %#lx\n", getpid(), (unsigned long)at, (unsigned long)at + pages * PAGE);
		phase_since(begin_ns, ms, (struct touched){ at, PAGE, pages, PAGE, .every = 0, .fd = -1 });
		return;
	}
	wait(NULL);
}

static pthread_t main_thread;

static void *phases_main(void *ms)
{
	pthread_join(main_thread, NULL);
	phases((long)ms);
	fflush(stdout);
	_exit(0);
}

static void *wait_main(void *unused)
{
	(void)unused;
	pause();
	return NULL;
}

static void threads(long ms)
{
	pthread_t t;

	main_thread = pthread_self();
	if (pthread_create(&t, NULL, wait_main, NULL) || pthread_create(&t, NULL, phases_main, (void *)ms))
		die("pthread_create");
	pthread_exit(NULL);
}

static void *access_word(void *n)
{
	volatile uint64_t *word = (volatile uint64_t *)pages;

	for (long i = 0; i < (long)n; i++) {
		if (i % 2)
			*word = (uint64_t)i;
		else
			(void)*word;
		word[1] = word[-1];
	}
	return NULL;
}

static void watched(long n)
{
	pthread_t v[2];

	if (mmap((void *)(pages / PAGE * PAGE), PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		 -1, 0) == MAP_FAILED)
		die("mmap");
	for (int i = 0; i < 2; i++)
		if (pthread_create(&v[i], NULL, access_word, (void *)n))
			die("pthread_create");
	for (int i = 0; i < 2; i++)
		pthread_join(v[i], NULL);
	printf("watched %d %ld\n", getpid(), 2 * n);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 4 ? argv[1] : "";
	long processes = argc > 4 ? atol(argv[2]) : 0, n = argc > 4 ? atol(argv[3]) : 0;
	static const struct {
		const char *mode;
		void (*fn)(long n);
	} modes[] = {
		{ "cost", cost },     { "faults", faults }, { "inherited", inherited }, { "nodes", nodes },
		{ "phases", phases }, { "speed", speed },   { "threads", threads },     { "watched", watched },
	};
	void (*fn)(long) = NULL;

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(mode, modes[i].mode))
			fn = modes[i].fn;
	if (!fn)
		return fputs("touches cost|faults|inherited|nodes|phases|speed|threads|watched PROCESSES ROUNDS|THREADS|MS|N PAGES|ADDRESS\n",
			     stderr),
		       2;
	pages = strtoul(argv[4], NULL, 0);
	for (long i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid) {
			setvbuf(stdout, malloc(64 << 20), _IOFBF, 64 << 20); /* lines of two processes must not mix */
			fn(n);
			fflush(stdout);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
