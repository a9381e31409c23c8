// SPDX-License-Identifier: BSD-2-Clause
/*
 * load: what a machine that trains does all day, at a rate that leaves the machine to others, and with
 * an exact tally of it.
 *
 *   load -d DIR -t SECONDS -T TALLY [-e EPOCH_S] [-w LOADERS] [-n FILES] [-p PACE_US]
 *
 * Each part is a process whose COMM says which (soak-load, soak-map ...), so that rows and their sums can
 * be told apart: "part"s of an epoch are forked anew for each, the others live as long as the run. A part
 * counts what it does in memory that all share, by probe and RW, as rows, failed ones and bytes; the main
 * process does nothing that is counted. It says PART PROBE RW ROWS FAILED BYTES in TALLY at the end.
 * Children neither allocate nor use stdio: libc would make calls of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FOLDERS 20
#define FILE_BYTES (16 << 10)
#define READ_BYTES (4 << 10)
#define THREADS 2 /* in each loader */
#define CHECKPOINT_BYTES (4 << 20)
#define CHECKPOINT_S 10
#define NEW_PER_MINUTE 60 /* each new file stays for KEPT_NEW of them */
#define KEPT_NEW 600
#define STACK_BYTES (64 << 10)
#define PATH_BYTES 256

enum { P_OPEN, P_CLOSE, P_RW, P_MMAP, P_NAMES, P_SYNC, N_PROBES };
enum { RW_NONE, RW_READ, RW_WRITE, N_RW };

static const char *const probe_names[] = { "open", "close", "vfs_rw", "mmap", "create_del", "sync" };
static const char rw_letters[] = "-RW";

struct count {
	uint64_t rows, failed, bytes;
};

struct part {
	const char *comm;
	void (*run)(unsigned int nr);
	unsigned int n; /* number of them at a time */
	bool epoch; /* forked anew for each epoch */
};

static struct {
	const char *dir, *tally;
	unsigned int seconds, epoch_s, loaders, files, pace_us;
} opt = { .seconds = 60, .epoch_s = 20, .loaders = 4, .files = 2000, .pace_us = 10000 };

#define N_PARTS 8
static struct count (*tallies)[N_PROBES][N_RW];
static struct count (*mine)[N_RW]; /* counters of this process's part */
static uint64_t end_ns; /* when this part ends */
static int pipe_fds[2];
static char pattern[FILE_BYTES];

static void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "load: ");
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, ": %s\n", strerror(errno));
	va_end(ap);
	_exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static bool over(void)
{
	return now_ns() >= end_ns;
}

static void nap_us(unsigned int us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000L };

	nanosleep(&ts, NULL);
}

static uint32_t next_random(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	return *x ^= *x << 5;
}

/* --- calls, counted ------------------------------------------------------------------------------- */

/* Counts a row with this result; BYTES: the result is a number of bytes unless it is an error. */
static long counted(int probe, int rw, long ret, bool bytes)
{
	struct count *c = &mine[probe][rw];

	__atomic_fetch_add(&c->rows, 1, __ATOMIC_RELAXED);
	if (ret < 0)
		__atomic_fetch_add(&c->failed, 1, __ATOMIC_RELAXED);
	else if (bytes)
		__atomic_fetch_add(&c->bytes, (uint64_t)ret, __ATOMIC_RELAXED);
	return ret;
}

static int c_open(const char *path, int flags)
{
	int fd = (int)counted(P_OPEN, RW_NONE, open(path, flags | O_CLOEXEC, 0644), false);

	if (fd >= 0 && flags & O_EXCL)
		counted(P_NAMES, RW_NONE, 0, false); /* the row `create' */
	return fd;
}

static void c_close(int fd)
{
	counted(P_CLOSE, RW_NONE, close(fd), false);
}

static long c_read(int fd, void *to, size_t bytes)
{
	return counted(P_RW, RW_READ, read(fd, to, bytes), true);
}

static void c_write(int fd, size_t bytes)
{
	if (counted(P_RW, RW_WRITE, write(fd, pattern, bytes), true) < 0)
		die("write");
}

static void c_name(int ret)
{
	counted(P_NAMES, RW_NONE, ret, false);
}

static void c_sync(int ret)
{
	counted(P_SYNC, RW_NONE, ret, false);
}

static int open_or_die(const char *path, int flags)
{
	int fd = c_open(path, flags);

	if (fd < 0)
		die("%s", path);
	return fd;
}

static const char *data_path(char *path, unsigned int i)
{
	snprintf(path, PATH_BYTES, "%s/data/%02u/sample.%06u", opt.dir, i % FOLDERS, i);
	return path;
}

/* --- parts ---------------------------------------------------------------------------------------- */

/* The data set, before all other parts. */
static void part_make(unsigned int nr)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/data", opt.dir);
	c_name(mkdir(path, 0755));
	for (unsigned int i = 0; i < FOLDERS; i++) {
		snprintf(path, sizeof(path), "%s/data/%02u", opt.dir, i);
		c_name(mkdir(path, 0755));
	}
	for (unsigned int i = 0; i < opt.files; i++) {
		int fd = open_or_die(data_path(path, i), O_WRONLY | O_CREAT | O_EXCL);

		c_write(fd, FILE_BYTES);
		c_close(fd);
	}
}

static void load_one(uint32_t *seed)
{
	char path[PATH_BYTES], buf[READ_BYTES];
	uint32_t r = next_random(seed);
	int fd;

	/* One file in 64 does not exist. */
	fd = c_open(data_path(path, r >> 8 & 63 ? (r >> 14) % opt.files : opt.files + 7), O_RDONLY);
	if (fd < 0)
		return;
	while (c_read(fd, buf, sizeof(buf)) > 0)
		;
	c_close(fd);
}

static void *load_files(void *arg)
{
	uint32_t seed = (uint32_t)(uintptr_t)arg;

	while (!over()) {
		load_one(&seed);
		load_one(&seed);
		nap_us(opt.pace_us);
	}
	return NULL;
}

/* A data loader: some threads that open, read and close. */
static void part_load(unsigned int nr)
{
	static char stacks[THREADS][STACK_BYTES] __attribute__((aligned(4096))); /* else libc would map them */
	pthread_t threads[THREADS];
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	for (unsigned int i = 0; i < THREADS; i++) {
		uintptr_t seed = (uint32_t)now_ns() | 1U << (nr + i);

		pthread_attr_setstack(&attr, stacks[i], STACK_BYTES);
		if (pthread_create(&threads[i], &attr, load_files, (void *)seed))
			die("pthread_create");
	}
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* Reads of files through a mapping, from the disk at first. */
static void part_map(unsigned int nr)
{
	uint32_t seed = (uint32_t)now_ns() | 1;
	volatile char sum = 0;
	char path[PATH_BYTES];

	for (unsigned int at = 0; !over(); at++) {
		int fd = open_or_die(data_path(path, next_random(&seed) % opt.files), O_RDONLY);
		char *map;

		if (at < 200)
			posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		map = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
		counted(P_MMAP, RW_NONE, map == MAP_FAILED ? -1 : 0, false);
		c_close(fd);
		if (map == MAP_FAILED)
			die("mmap %s", path);
		for (unsigned int i = 0; i < FILE_BYTES; i += 4096)
			sum = (char)(sum + map[i]);
		counted(P_MMAP, RW_NONE, munmap(map, FILE_BYTES), false);
		nap_us(2 * opt.pace_us);
	}
}

static void checkpoint(const char *tmp, const char *last)
{
	int fd = open_or_die(tmp, O_WRONLY | O_CREAT | O_EXCL);

	c_sync(ftruncate(fd, CHECKPOINT_BYTES));
	for (unsigned int at = 0; at < CHECKPOINT_BYTES; at += FILE_BYTES)
		c_write(fd, FILE_BYTES);
	c_sync(fsync(fd));
	c_close(fd);
	c_name(rename(tmp, last));
}

static void part_checkpoint(unsigned int nr)
{
	char tmp[PATH_BYTES], last[PATH_BYTES];

	snprintf(tmp, sizeof(tmp), "%s/checkpoint.tmp", opt.dir);
	snprintf(last, sizeof(last), "%s/checkpoint", opt.dir);
	while (!over()) {
		checkpoint(tmp, last);
		for (unsigned int s = 0; s < CHECKPOINT_S && !over(); s++)
			nap_us(1000000);
	}
}

/* Names that are made, changed and removed, in a folder that is, too. */
static void part_names(unsigned int nr)
{
	char dir[PATH_BYTES], a[PATH_BYTES + 16], b[PATH_BYTES];

	snprintf(dir, sizeof(dir), "%s/tmp", opt.dir);
	snprintf(b, sizeof(b), "%s/renamed", opt.dir);
	for (uint64_t i = 0; !over(); i++) {
		snprintf(a, sizeof(a), "%s/new.%06u", dir, (unsigned int)(i % 1000000));
		c_name(mkdir(dir, 0755));
		c_close(open_or_die(a, O_WRONLY | O_CREAT | O_EXCL));
		c_name(rename(a, b));
		c_name(unlink(a)); /* fails */
		c_name(unlink(b));
		c_name(rmdir(dir));
		nap_us(200000);
	}
}

/* Files that stay for a while. */
static void part_new(unsigned int nr)
{
	char path[PATH_BYTES];

	for (uint64_t i = 0; !over(); i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/result.%09u.json", opt.dir, (unsigned int)i);
		fd = open_or_die(path, O_WRONLY | O_CREAT | O_EXCL);
		c_write(fd, 100);
		c_close(fd);
		if (i >= KEPT_NEW) {
			snprintf(path, sizeof(path), "%s/result.%09u.json", opt.dir, (unsigned int)(i - KEPT_NEW));
			c_name(unlink(path));
		}
		nap_us(60 * 1000000 / NEW_PER_MINUTE);
	}
}

static void part_writer(unsigned int nr)
{
	c_close(pipe_fds[0]);
	while (!over()) {
		c_write(pipe_fds[1], 512);
		nap_us(opt.pace_us);
	}
	c_close(pipe_fds[1]);
}

static void part_reader(unsigned int nr)
{
	char buf[512];

	c_close(pipe_fds[1]);
	while (c_read(pipe_fds[0], buf, sizeof(buf)) > 0)
		;
	c_close(pipe_fds[0]);
}

static struct part parts[N_PARTS] = {
	{ "soak-make", part_make, 0, false },     { "soak-load", part_load, 4, true },
	{ "soak-map", part_map, 1, true },        { "soak-checkpt", part_checkpoint, 1, false },
	{ "soak-names", part_names, 1, false },   { "soak-new", part_new, 1, false },
	{ "soak-writer", part_writer, 1, false }, { "soak-reader", part_reader, 1, false },
};

/* --- processes ------------------------------------------------------------------------------------ */

static void start(unsigned int part, unsigned int nr)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	prctl(PR_SET_NAME, parts[part].comm);
	mine = tallies[part];
	parts[part].run(nr);
	_exit(0);
}

/* Starts the loaders of an epoch, or the other parts. */
static unsigned int start_all(bool epoch)
{
	unsigned int n = 0;

	for (unsigned int p = 0; p < N_PARTS; p++)
		for (unsigned int i = 0; i < parts[p].n && parts[p].epoch == epoch; i++, n++)
			start(p, i);
	return n;
}

static void wait_for(unsigned int n)
{
	for (int status; n; n--) {
		if (wait(&status) < 0)
			die("wait");
		if (status) {
			errno = ECHILD;
			die("a part ended with %#x", status);
		}
	}
}

/* All writes reach the disk during the trace. */
static void sync_folder(void)
{
	int fd = open(opt.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || syncfs(fd) < 0)
		die("%s", opt.dir);
	close(fd);
}

static void write_tally(void)
{
	FILE *f = fopen(opt.tally, "w");

	if (!f)
		die("%s", opt.tally);
	for (unsigned int part = 0; part < N_PARTS; part++)
		for (unsigned int p = 0; p < N_PROBES; p++)
			for (unsigned int rw = 0; rw < N_RW; rw++) {
				const struct count *c = &tallies[part][p][rw];

				if (c->rows)
					fprintf(f, "%s %s %c %llu %llu %llu\n", parts[part].comm, probe_names[p],
						rw_letters[rw], (unsigned long long)c->rows,
						(unsigned long long)c->failed, (unsigned long long)c->bytes);
			}
	if (fclose(f))
		die("%s", opt.tally);
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "d:t:T:e:w:n:p:")) != -1) {
		unsigned int n = optarg ? (unsigned int)strtoul(optarg, NULL, 10) : 0;

		switch (c) {
		case 'd':
			opt.dir = optarg;
			break;
		case 'T':
			opt.tally = optarg;
			break;
		case 't':
			opt.seconds = n;
			break;
		case 'e':
			opt.epoch_s = n;
			break;
		case 'w':
			opt.loaders = n;
			break;
		case 'n':
			opt.files = n;
			break;
		case 'p':
			opt.pace_us = n;
			break;
		default:
			exit(2);
		}
	}
	if (!opt.dir || !opt.tally || !opt.seconds || !opt.epoch_s || !opt.files || !opt.pace_us) {
		fprintf(stderr, "usage: load -d DIR -t SECONDS -T TALLY [-e EPOCH_S] [-w LOADERS] [-n FILES] "
				"[-p PACE_US]\n");
		exit(2);
	}
	parts[1].n = opt.loaders;
}

int main(int argc, char **argv)
{
	void *volatile heap; /* begun here: libc takes memory for each of the parts' threads, and brk(2) has rows, too
			      */
	uint64_t all_end_ns, epoch_ns;
	unsigned int lasting;

	parse(argc, argv);
	tallies = mmap(NULL, sizeof(*tallies) * N_PARTS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tallies == MAP_FAILED || pipe(pipe_fds) < 0)
		die("memory and a pipe");
	memset(pattern, 'x', sizeof(pattern));
	heap = malloc(1);
	free(heap);
	start(0, 0);
	wait_for(1);
	epoch_ns = (uint64_t)opt.epoch_s * 1000000000;
	end_ns = all_end_ns = now_ns() + (uint64_t)opt.seconds * 1000000000;
	lasting = start_all(false);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	for (unsigned int epoch = 1; now_ns() < all_end_ns; epoch++) {
		end_ns = now_ns() + epoch_ns < all_end_ns ? now_ns() + epoch_ns : all_end_ns;
		wait_for(start_all(true));
		dprintf(STDOUT_FILENO, "epoch %u\n", epoch);
	}
	wait_for(lasting);
	sync_folder();
	write_tally();
	return 0;
}
