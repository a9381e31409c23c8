// SPDX-License-Identifier: BSD-2-Clause
/*
 * loader: a small data loader that behaves like a training job.
 *
 *   loader [-d DIR] [-n FILES] [-s BYTES] [-w WORKERS] [-e EPOCHS] [-b BATCH] [-k STEPS]
 *          [-c COMPUTE_US] [-S SEED] [-p]
 *
 * The data set, DIR/sample.NNNNNN, is made where it is missing and dropped from the page cache, so
 * that the first epoch reads the disk and the second the cache. Each epoch forks WORKERS, which
 * rename themselves pt_data_worker as PyTorch's do (so a tracer cannot find them by the job's
 * name), get the indices of shuffled samples over a pipe each, read the files, and pass the indices
 * back. The trainer computes, and every STEPS steps writes DIR/checkpoint.tmp, syncs it and renames
 * it. Phases are MLPerf lines (:::MLLOG) on stdout; the last line counts what was done.
 * The same options and SEED give the same files to the same worker in the same order.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "die.h"

#define READ_PIECE (128 << 10) /* size of a read: the default read-ahead window */
#define CHECKPOINT_BYTES (4 << 20)
#define WRITE_PIECE (1 << 20)
#define MAX_FILES 1000000
#define MAX_WORKERS 64
#define PREFETCH 2 /* batches in flight per worker, DataLoader's prefetch_factor */
#define STOP -1 /* instead of an index: no more samples */

static struct {
	const char *dir;
	long files, bytes, workers, epochs, batch, checkpoint_steps, compute_us, seed;
	bool prepare_only;
} opt = {
	.dir = "loader-data",
	.files = 192,
	.bytes = 256 << 10,
	.workers = 2,
	.epochs = 2,
	.batch = 8,
	.checkpoint_steps = 10,
	.compute_us = 5000,
	.seed = 1,
};

struct job {
	int *order; /* the epoch's permutation of the samples */
	long steps, samples, checkpoints;
};

struct worker {
	pid_t pid;
	int task, result; /* the trainer's ends of its pipes */
};

static char buf[WRITE_PIECE];

static int64_t clock_us(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* The line format of github.com/mlcommons/logging, which plotting tools look for. */
#define MLLOG(type, key, metadata, ...)                                                             \
	printf(":::MLLOG {\"namespace\": \"\", \"time_ms\": %" PRId64 ", \"event_type\": \"" type   \
	       "\", \"key\": \"" key "\", \"value\": null, \"metadata\": {\"file\": \"loader.c\", " \
	       "\"lineno\": %d" metadata "}}\n",                                                    \
	       clock_us(CLOCK_REALTIME) / 1000, __LINE__, ##__VA_ARGS__)

/* SplitMix64, Steele et al. 2014; not the C library's, so that a seed means the same sequence everywhere. */
static uint64_t prng_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static void shuffle(int *order, long n, uint64_t seed)
{
	for (long i = 0; i < n; i++)
		order[i] = (int)i;
	for (long i = n - 1; i > 0; i--) {
		long j = (long)(prng_next(&seed) % (uint64_t)(i + 1));
		int t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
}

static void write_all(int fd, const void *data, size_t len, const char *what)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0)
			die("write %s", what);
		p += n;
		len -= (size_t)n;
	}
}

static void write_pieces(int fd, long bytes, const char *path)
{
	for (long left = bytes; left > 0; left -= WRITE_PIECE)
		write_all(fd, buf, (size_t)(left < WRITE_PIECE ? left : WRITE_PIECE), path);
}

/* ---- data set -------------------------------------------------------------------------------- */

static void sample_path(char path[PATH_MAX], int index)
{
	snprintf(path, PATH_MAX, "%s/sample.%06d", opt.dir, index);
}

static void sample_make(int index)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	sample_path(path, index);
	if (stat(path, &st) == 0 && st.st_size == opt.bytes)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		die("%s", path);
	write_pieces(fd, opt.bytes, path);
	/* Only clean pages can be dropped. */
	if (fdatasync(fd) < 0)
		die("fdatasync %s", path);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
}

static void dataset_make(void)
{
	uint64_t state = (uint64_t)opt.seed;

	for (size_t i = 0; i < sizeof(buf); i += sizeof(uint64_t)) {
		uint64_t word = prng_next(&state);

		memcpy(buf + i, &word, sizeof(word));
	}
	if (mkdir(opt.dir, 0755) < 0 && errno != EEXIST)
		die("mkdir %s", opt.dir);
	for (int i = 0; i < opt.files; i++)
		sample_make(i);
}

/* ---- worker ---------------------------------------------------------------------------------- */

static void sample_read(int index)
{
	char path[PATH_MAX];
	struct stat st;
	off_t got = 0;
	ssize_t n;
	int fd;

	sample_path(path, index);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		die("%s", path);
	while ((n = read(fd, buf, READ_PIECE)) > 0)
		got += n;
	if (n < 0 || got != st.st_size)
		die("read %s: %ld of %ld bytes", path, (long)got, (long)st.st_size);
	close(fd);
}

static void __attribute__((noreturn)) worker_run(int task, int result)
{
	int index;

	prctl(PR_SET_NAME, "pt_data_worker");
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	while (read(task, &index, sizeof(index)) == sizeof(index) && index != STOP) {
		sample_read(index);
		write_all(result, &index, sizeof(index), "a result pipe");
	}
	_exit(0);
}

/* Only the worker holds the other ends, so the trainer sees an end of file when it dies. */
static void worker_start(struct worker *w)
{
	int task[2], result[2];

	if (pipe2(task, O_CLOEXEC) < 0 || pipe2(result, O_CLOEXEC) < 0 || (w->pid = fork()) < 0)
		die("start a worker");
	if (w->pid == 0)
		worker_run(task[0], result[1]);
	close(task[0]);
	close(result[1]);
	w->task = task[1];
	w->result = result[0];
}

static void worker_stop(const struct worker *w)
{
	const int stop = STOP;
	int status;

	write_all(w->task, &stop, sizeof(stop), "a task pipe");
	if (waitpid(w->pid, &status, 0) < 0 || status)
		die("worker %d ended with status %d", w->pid, status);
	close(w->task);
	close(w->result);
}

/* ---- trainer --------------------------------------------------------------------------------- */

static void compute(long us)
{
	const int64_t end = clock_us(CLOCK_MONOTONIC) + us;
	volatile double x = 1;

	do
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001 + 1e-9;
	while (clock_us(CLOCK_MONOTONIC) < end);
}

static void checkpoint_write(struct job *job)
{
	char path[PATH_MAX], tmp[PATH_MAX];
	int fd;

	MLLOG("INTERVAL_START", "checkpoint_start", ", \"step_num\": %ld", job->steps);
	snprintf(path, sizeof(path), "%s/checkpoint", opt.dir);
	snprintf(tmp, sizeof(tmp), "%s/checkpoint.tmp", opt.dir);
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		die("%s", tmp);
	write_pieces(fd, CHECKPOINT_BYTES, tmp);
	if (fsync(fd) < 0 || close(fd) < 0 || rename(tmp, path) < 0)
		die("%s", tmp);
	job->checkpoints++;
	MLLOG("INTERVAL_END", "checkpoint_stop", ", \"step_num\": %ld", job->steps);
}

static void send_index(const struct worker *w, int index)
{
	write_all(w->task, &index, sizeof(index), "a task pipe");
}

/* Samples go to the workers in turn, and come back in order, as DataLoader's do. */
static void train(struct job *job, const struct worker *workers)
{
	const long ahead = opt.workers * PREFETCH * opt.batch;
	long sent = 0;

	for (long got = 0; got < opt.files; got++) {
		int index;

		for (; sent < opt.files && sent < got + ahead; sent++)
			send_index(&workers[sent % opt.workers], job->order[sent]);
		if (read(workers[got % opt.workers].result, &index, sizeof(index)) != sizeof(index))
			die("worker %ld is gone", got % opt.workers);
		compute(opt.compute_us);
		job->samples++;
		if ((got + 1) % opt.batch && got + 1 < opt.files)
			continue;
		if (++job->steps % opt.checkpoint_steps == 0)
			checkpoint_write(job);
	}
}

static void epoch(struct job *job, long nr)
{
	struct worker workers[MAX_WORKERS];

	MLLOG("INTERVAL_START", "epoch_start", ", \"epoch_num\": %ld", nr);
	shuffle(job->order, opt.files, (uint64_t)(opt.seed + nr));
	for (long w = 0; w < opt.workers; w++)
		worker_start(&workers[w]);
	train(job, workers);
	for (long w = 0; w < opt.workers; w++)
		worker_stop(&workers[w]);
	MLLOG("INTERVAL_END", "epoch_stop", ", \"epoch_num\": %ld", nr);
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
	struct job job = {};
	int o;

	setlinebuf(stdout);
	signal(SIGPIPE, SIG_IGN); /* the death of a worker is an error with a message */
	while ((o = getopt(argc, argv, "d:n:s:w:e:b:k:c:S:p")) != -1)
		switch (o) {
		case 'd':
			opt.dir = optarg;
			break;
		case 'n':
			opt.files = number(optarg, 1, MAX_FILES);
			break;
		case 's':
			opt.bytes = number(optarg, 1, LONG_MAX);
			break;
		case 'w':
			opt.workers = number(optarg, 1, MAX_WORKERS);
			break;
		case 'e':
			opt.epochs = number(optarg, 0, INT_MAX);
			break;
		case 'b':
			opt.batch = number(optarg, 1, MAX_FILES);
			break;
		case 'k':
			opt.checkpoint_steps = number(optarg, 1, LONG_MAX);
			break;
		case 'c':
			opt.compute_us = number(optarg, 0, INT_MAX);
			break;
		case 'S':
			opt.seed = number(optarg, 0, INT_MAX);
			break;
		case 'p':
			opt.prepare_only = true;
			break;
		default:
			fputs("usage: loader [-d DIR] [-n FILES] [-s BYTES] [-w WORKERS]\n"
			      "              [-e EPOCHS] [-b BATCH] [-k STEPS] [-c COMPUTE_US]\n"
			      "              [-S SEED] [-p]\n"
			      "  -k  steps between checkpoints    -c  per sample\n"
			      "  -p  make the data set and end\n",
			      stderr);
			return 2;
		}
	if (opt.prepare_only) {
		dataset_make();
		return 0;
	}
	MLLOG("INTERVAL_START", "init_start", "");
	dataset_make();
	job.order = calloc((size_t)opt.files, sizeof(*job.order));
	if (!job.order)
		die("calloc");
	MLLOG("INTERVAL_END", "init_stop", "");
	MLLOG("INTERVAL_START", "run_start", "");
	for (long e = 1; e <= opt.epochs; e++)
		epoch(&job, e);
	MLLOG("INTERVAL_END", "run_stop", ", \"status\": \"success\"");
	printf("samples %ld bytes %ld steps %ld checkpoints %ld\n", job.samples, job.samples * opt.bytes, job.steps,
	       job.checkpoints);
	free(job.order);
	return 0;
}
