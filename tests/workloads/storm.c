// SPDX-License-Identifier: BSD-2-Clause
/*
 * storm: reads as fast as it can, to show what tracing costs.
 *
 *   storm [-t THREADS] [-n READS] [-w READS] [-r ROUNDS] [-a] [FILE]
 *
 * In each of ROUNDS rounds THREADS threads make READS pread64 calls of 4 KiB each, from a file that is in the page
 * cache (without FILE: one of 1 MiB, made in the current folder and deleted). Before each round every thread makes the
 * reads of -w, which are not measured. With -a every round but the first waits for a line on stdin, so that a tracer
 * can attach or end between two rounds: untraced and traced rounds are then measured in one process, on the same file.
 *
 * A line for each round: round, threads, reads in all, CPU ns per read, wall ns per read (the time that a thread waited
 * for one; equal to the CPU time as long as every thread has a CPU).
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "die.h"

#define BLOCK 4096L
#define MAX_THREADS 256
#define OWN_FILE_BLOCKS 256

static struct {
	long threads, reads, warm_up, rounds;
	bool wait;
} opt = { .threads = 1, .reads = 1000000, .warm_up = 10000, .rounds = 1 };

struct reader {
	int fd;
	long blocks;
	pthread_barrier_t *barrier;
	int64_t cpu_ns, wall_ns;
};

static void read_blocks(const struct reader *r, long n)
{
	char buf[BLOCK];

	for (long i = 0; i < n; i++)
		if (syscall(SYS_pread64, r->fd, buf, BLOCK, i % r->blocks * BLOCK) != BLOCK)
			die("pread64");
}

static void *reader_main(void *arg)
{
	struct reader *r = arg;
	int64_t cpu, wall;

	read_blocks(r, opt.warm_up);
	pthread_barrier_wait(r->barrier);
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	wall = clock_ns(CLOCK_MONOTONIC);
	read_blocks(r, opt.reads);
	r->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	r->wall_ns = clock_ns(CLOCK_MONOTONIC) - wall;
	return NULL;
}

static void round_run(long nr, int fd, long blocks)
{
	struct reader readers[MAX_THREADS];
	pthread_t threads[MAX_THREADS];
	pthread_barrier_t barrier;
	double cpu_ns = 0, wall_ns = 0;
	const long reads = opt.threads * opt.reads;

	pthread_barrier_init(&barrier, NULL, (unsigned int)opt.threads);
	for (long i = 0; i < opt.threads; i++) {
		readers[i] = (struct reader){ .fd = fd, .blocks = blocks, .barrier = &barrier };
		errno = pthread_create(&threads[i], NULL, reader_main, &readers[i]);
		if (errno)
			die("pthread_create");
	}
	for (long i = 0; i < opt.threads; i++) {
		pthread_join(threads[i], NULL);
		cpu_ns += (double)readers[i].cpu_ns;
		wall_ns += (double)readers[i].wall_ns;
	}
	pthread_barrier_destroy(&barrier);
	printf("round %ld threads %ld reads %ld cpu_ns %.1f wall_ns %.1f\n", nr, opt.threads, reads,
	       cpu_ns / (double)reads, wall_ns / (double)reads);
	fflush(stdout);
}

static int own_file(void)
{
	char path[] = "storm.XXXXXX", block[BLOCK] = "";
	int fd = mkstemp(path);

	if (fd < 0 || unlink(path) < 0)
		die("%s in the current folder", path);
	for (int i = 0; i < OWN_FILE_BLOCKS; i++)
		if (write(fd, block, BLOCK) != BLOCK)
			die("write %s", path);
	return fd;
}

static long number(const char *text, long min, long max)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || *end || end == text || n < min || n > max) {
		errno = EINVAL;
		die("%s is not a number from %ld to %ld", text, min, max);
	}
	return n;
}

int main(int argc, char **argv)
{
	struct reader all = {};
	char line[256];
	int o;

	while ((o = getopt(argc, argv, "t:n:w:r:a")) != -1)
		switch (o) {
		case 't':
			opt.threads = number(optarg, 1, MAX_THREADS);
			break;
		case 'n':
			opt.reads = number(optarg, 1, 1000000000000);
			break;
		case 'w':
			opt.warm_up = number(optarg, 0, 1000000000000);
			break;
		case 'r':
			opt.rounds = number(optarg, 1, 1000000);
			break;
		case 'a':
			opt.wait = true;
			break;
		default:
			fputs("usage: storm [-t THREADS] [-n READS] [-w READS] [-r ROUNDS] [-a] "
			      "[FILE]\n",
			      stderr);
			return 2;
		}
	all.fd = optind < argc ? open(argv[optind], O_RDONLY | O_CLOEXEC) : own_file();
	if (all.fd < 0)
		die("%s", argv[optind]);
	all.blocks = lseek(all.fd, 0, SEEK_END) / BLOCK;
	if (all.blocks < 1) {
		errno = EINVAL;
		die("%s has no %ld bytes", argv[optind], BLOCK);
	}
	read_blocks(&all, all.blocks); /* into the page cache */
	for (long i = 1; i <= opt.rounds; i++) {
		if (opt.wait && i > 1 && !fgets(line, sizeof(line), stdin))
			return 0;
		round_run(i, all.fd, all.blocks);
	}
	return 0;
}
