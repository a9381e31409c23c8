// SPDX-License-Identifier: BSD-2-Clause
/*
 * cold_loader: a small training job that waits for its data, whatever the storage is. It is what `make demo` traces.
 *
 *   cold_loader DIR
 *
 * In each of 3 epochs a loader, called pt_data_worker as PyTorch's are, reads small samples one by one, at random, from
 * a file of DIR that has been dropped from the page cache; the trainer waits for each batch and computes for a fraction
 * of a millisecond. An epoch lasts 1.3 s, so that the job takes as long on a disk as on an SSD; where the whole file
 * has been read, it is dropped again. On a file system in memory it waits for nothing.
 *
 * Prints a line for each epoch.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EPOCHS 3
#define EPOCH_US 1300000
#define SAMPLE (16 << 10)
#define SAMPLES 8192
#define BATCH 32
#define COMPUTE_US 200 /* for a batch */
#define PIECE (1 << 20)

static char buf[PIECE], path[PATH_MAX];

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "cold_loader: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static void data_make(const char *dir)
{
	int fd;

	snprintf(path, sizeof(path), "%s/samples.bin", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		die(path);
	for (size_t i = 0; i < sizeof(buf); i++)
		buf[i] = (char)random(); /* of which a file system that compresses makes nothing smaller */
	for (long at = 0; at < (long)SAMPLES * SAMPLE; at += PIECE) {
		memcpy(buf, &at, sizeof(at));
		if (write(fd, buf, PIECE) != PIECE)
			die(path);
	}
	if (fsync(fd) < 0) /* only clean pages can be dropped */
		die(path);
	close(fd);
}

static void shuffle(int order[SAMPLES])
{
	for (int i = 0; i < SAMPLES; i++)
		order[i] = i;
	for (int i = SAMPLES - 1; i > 0; i--) {
		int j = (int)(random() % (i + 1)), t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
}

/* Reads samples until the trainer has closed its end of the pipe. */
static void __attribute__((noreturn)) loader_run(int result)
{
	static int order[SAMPLES];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	prctl(PR_SET_NAME, "pt_data_worker");
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (fd < 0)
		die(path);
	for (unsigned int i = 0;; i++) {
		if (i % SAMPLES == 0) {
			shuffle(order);
			posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
			posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
		}
		if (pread(fd, buf, SAMPLE, (off_t)order[i % SAMPLES] * SAMPLE) != SAMPLE)
			die(path);
		if (i % BATCH == BATCH - 1 && write(result, "b", 1) != 1)
			_exit(0);
	}
}

static void compute(void)
{
	const int64_t end = now_us() + COMPUTE_US;
	volatile double x = 1;

	while (now_us() < end)
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001 + 1e-9;
}

static void epoch(int nr)
{
	const int64_t begin = now_us();
	long batches = 0;
	int result[2], status;
	pid_t pid;
	char c;

	if (pipe2(result, O_CLOEXEC) < 0 || (fcntl(result[1], F_SETPIPE_SZ, 4096), pid = fork()) < 0)
		die("start a loader");
	if (pid == 0) {
		close(result[0]);
		loader_run(result[1]);
	}
	close(result[1]);
	while (now_us() - begin < EPOCH_US && read(result[0], &c, 1) == 1) {
		compute();
		batches++;
	}
	close(result[0]);
	if (waitpid(pid, &status, 0) < 0 || (WIFEXITED(status) && WEXITSTATUS(status)))
		exit(1);
	printf("epoch %d: %ld samples, %ld per second, loss %.2f\n", nr, batches * BATCH,
	       (long)(batches * BATCH * 1000000 / (now_us() - begin)), 2.0 / nr);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: cold_loader DIR\n", stderr);
		return 2;
	}
	setlinebuf(stdout);
	signal(SIGPIPE, SIG_IGN);
	data_make(argv[1]);
	for (int i = 1; i <= EPOCHS; i++)
		epoch(i);
	return 0;
}
