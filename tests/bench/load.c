// SPDX-License-Identifier: BSD-2-Clause
/*
 * load: a pattern of system calls, as fast as it goes, and what a call of it cost.
 *
 *   load [-t THREADS] [-n TIMES] [-p NS] [-b TIMES] [-g GATE] -o RESULT -d DIR PATTERN
 *
 *   reads   pread64 of 4 KiB from DIR/data, which is in the page cache
 *   bytes   pread64 of one byte of it
 *   writes  pwrite64 of 4 KiB to the first MiB of DIR/data
 *   files   open, read, read (the end), close of DIR/small/0, 1, 2, ...
 *   mixed   create, write of 4 KiB, mmap, munmap, close, unlink of a file in DIR
 *   names   mknod, rename, unlink of a file in DIR
 *   micro   open of DIR/large, 1000 reads of 4 KiB, close
 *   lseek, stat, fstat, getdents, dup, fcntl, ioctl  such a call about DIR/data, which moves no data
 *   tcp     send and recv of a byte, by a pair of TCP sockets on the loopback
 *   others  getppid, which no tracer of files looks at
 *   idle    sleeps for TIMES milliseconds
 *   switches  two processes on one CPU pass a byte to and fro: two context switches each time
 *
 * Each of THREADS threads does it TIMES times, with -p one read every NS at most. With -g it says "ready" into
 * the FIFO GATE.up before and "done" after, and each time waits for a line from GATE.down: whoever measures may
 * then look at the tracer.
 *
 * RESULT is a JSON object: when main() began (CLOCK_MONOTONIC), how many calls of each kind were
 * made, CPU and wall ns per call (wall: what one thread waited for it), the CPU ns of the process; with -b
 * also the CPU ns per call of the best TIMES in a row.
 * A tracer sees other calls of this process too, of its start. Those of the pattern are known by
 * their file descriptors, which are 100 and more, munmap by its length, unlink by its path.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../workloads/die.h"

#define BLOCK 4096L
#define FIRST_FD 100
#define MAP_LEN (37 * BLOCK)
#define MAX_THREADS 64
#define MAX_KINDS 6

struct kind {
	const char *name;
	long per_time; /* calls for each time */
};

struct worker {
	long nr;
	int fd;
	int64_t cpu_ns, wall_ns;
	int64_t least_ns; /* CPU time for opt.block times */
	pid_t child;
	int to, from; /* the child */
};

struct pattern {
	const char *name;
	void (*prepare)(struct worker *w);
	void (*run)(struct worker *w, long times);
	struct kind kinds[MAX_KINDS + 1];
};

static struct {
	long threads, times, pace_ns, block;
	const char *gate, *dir;
	FILE *result;
} opt = { .threads = 1, .times = 1000 };

static pthread_barrier_t barrier;
static const struct pattern *pattern;

/* --- the patterns ------------------------------------------------------------------------------- */

/* Paths are put together by hand: code beside the system calls should cost next to nothing. */
static char *path_begin(char *path, const char *middle)
{
	return stpcpy(stpcpy(path, opt.dir), middle);
}

static void path_number(char *end, long n)
{
	char digits[24];
	int len = 0;

	do
		digits[len++] = (char)('0' + n % 10);
	while (n /= 10);
	while (len)
		*end++ = digits[--len];
	*end = '\0';
}

static void open_data(struct worker *w)
{
	char path[4096];

	path_begin(path, "/data");
	w->fd = open(path, O_RDWR | O_CLOEXEC);
	if (w->fd < FIRST_FD)
		die("%s", path);
}

/* Spins, as no sleep is so short; clock_gettime() is not a system call. */
static void pace(int64_t *next)
{
	while (clock_ns(CLOCK_MONOTONIC) < *next)
		;
	*next += opt.pace_ns;
}

static void reads(struct worker *w, long times)
{
	int64_t next = clock_ns(CLOCK_MONOTONIC);
	char buf[BLOCK];

	for (long i = 0; i < times; i++) {
		if (opt.pace_ns)
			pace(&next);
		if (pread(w->fd, buf, BLOCK, i % 256 * BLOCK) != BLOCK)
			die("pread");
	}
}

static void bytes(struct worker *w, long times)
{
	char c;

	for (long i = 0; i < times; i++)
		if (pread(w->fd, &c, 1, 0) != 1)
			die("pread");
}

static void writes(struct worker *w, long times)
{
	static const char buf[BLOCK];

	for (long i = 0; i < times; i++)
		if (pwrite(w->fd, buf, BLOCK, i % 256 * BLOCK) != BLOCK)
			die("pwrite");
}

static void files(struct worker *w, long times)
{
	char buf[2 * BLOCK], path[4096], *end = path_begin(path, "/small/");
	int fd;

	for (long i = 0; i < times; i++) {
		path_number(end, i);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < FIRST_FD)
			die("%s", path);
		while (read(fd, buf, sizeof(buf)) > 0)
			;
		close(fd);
	}
}

#define MICRO_READS 1000

static void micro(struct worker *w, long times)
{
	char buf[BLOCK], path[4096];
	int fd;

	path_begin(path, "/large");
	for (long i = 0; i < times; i++) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < FIRST_FD)
			die("%s", path);
		for (int n = 0; n < MICRO_READS; n++)
			if (read(fd, buf, BLOCK) != BLOCK)
				die("read %s", path);
		close(fd);
	}
}

static void mixed(struct worker *w, long times)
{
	static const char buf[BLOCK];
	char path[4096], *end = path_begin(path, "/new/");
	void *addr;
	int fd;

	for (long i = 0; i < times; i++) {
		path_number(end, i);
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd < FIRST_FD || write(fd, buf, BLOCK) != BLOCK)
			die("%s", path);
		addr = mmap(NULL, MAP_LEN, PROT_READ, MAP_SHARED, fd, 0);
		if (addr == MAP_FAILED || munmap(addr, MAP_LEN) < 0)
			die("mmap %s", path);
		close(fd);
		unlink(path);
	}
}

static void names(struct worker *w, long times)
{
	char path[4096], to[4096], *end = path_begin(path, "/new/"), *to_end = path_begin(to, "/new/to");

	for (long i = 0; i < times; i++) {
		path_number(end, i);
		path_number(to_end, i);
		if (mknod(path, S_IFREG | 0644, 0) < 0 || rename(path, to) < 0 || unlink(to) < 0)
			die("%s", path);
	}
}

/* --- calls about metadata ---------------------------------------------------------------------- */

static void seeks(struct worker *w, long times)
{
	for (long i = 0; i < times; i++)
		if (lseek(w->fd, 0, SEEK_CUR) != 0)
			die("lseek");
}

static void stats(struct worker *w, long times)
{
	char path[4096];
	struct stat st;

	path_begin(path, "/data");
	for (long i = 0; i < times; i++)
		if (stat(path, &st) < 0)
			die("stat %s", path);
}

static void fstats(struct worker *w, long times)
{
	struct stat st;

	for (long i = 0; i < times; i++)
		if (fstat(w->fd, &st) < 0)
			die("fstat");
}

static void open_folder(struct worker *w)
{
	w->fd = open(opt.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->fd < FIRST_FD || lseek(w->fd, 0, SEEK_END) < 0)
		die("%s", opt.dir);
}

/* At the folder's end, so that no call has to go back to its begin. */
static void lists(struct worker *w, long times)
{
	static __thread char buf[BLOCK];

	while (syscall(SYS_getdents64, w->fd, buf, BLOCK) > 0)
		;
	for (long i = 0; i < times; i++)
		if (syscall(SYS_getdents64, w->fd, buf, BLOCK) != 0)
			die("getdents64");
}

static void open_twice(struct worker *w)
{
	open_data(w);
	w->to = dup(w->fd);
	if (w->to < 0)
		die("dup");
}

/* Over a descriptor that is taken: there is no close besides. */
static void dups(struct worker *w, long times)
{
	for (long i = 0; i < times; i++)
		if (dup3(w->fd, w->to, O_CLOEXEC) < 0)
			die("dup3");
}

static void fcntls(struct worker *w, long times)
{
	for (long i = 0; i < times; i++)
		if (fcntl(w->fd, F_GETFL) < 0)
			die("fcntl");
}

static void ioctls(struct worker *w, long times)
{
	int bytes;

	for (long i = 0; i < times; i++)
		if (ioctl(w->fd, FIONREAD, &bytes) < 0)
			die("ioctl");
}

static void open_sockets(struct worker *w)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(at);

	w->to = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || w->to < 0 || bind(listener, (struct sockaddr *)&at, len) < 0 || listen(listener, 1) < 0 ||
	    getsockname(listener, (struct sockaddr *)&at, &len) < 0 || connect(w->to, (struct sockaddr *)&at, len) < 0)
		die("a socket");
	w->from = accept(listener, NULL, NULL);
	if (w->from < 0 || setsockopt(w->to, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int)) < 0)
		die("a connection");
	close(listener);
}

static void tcp(struct worker *w, long times)
{
	char c = 'x';

	for (long i = 0; i < times; i++)
		if (send(w->to, &c, 1, 0) != 1 || recv(w->from, &c, 1, 0) != 1)
			die("the connection");
}

/* ----------------------------------------------------------------------------------------------- */

static void others(struct worker *w, long times)
{
	for (long i = 0; i < times; i++)
		getppid();
}

static void idle(struct worker *w, long times)
{
	nanosleep(&(struct timespec){ times / 1000, times % 1000 * 1000000 }, NULL);
}

/* The compiler would leave out a block that nobody uses. */
static void pair(size_t bytes)
{
	void *p = malloc(bytes);

	if (!p)
		die("malloc");
	__asm__ volatile("" : : "r"(p) : "memory");
	free(p);
}

static void small_blocks(struct worker *w, long times)
{
	for (long i = 0; i < times; i++)
		pair(64);
}

static void large_blocks(struct worker *w, long times)
{
	for (long i = 0; i < times; i++)
		pair(8192);
}

static void pinned(void)
{
	cpu_set_t may, one;
	int cpu = CPU_SETSIZE - 1;

	sched_getaffinity(0, sizeof(may), &may);
	while (!CPU_ISSET(cpu, &may))
		cpu--;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		die("sched_setaffinity");
}

static void echo_forever(int from, int to)
{
	char c;

	while (read(from, &c, 1) == 1 && write(to, &c, 1) == 1)
		;
	_exit(0);
}

static void start_echo(struct worker *w)
{
	int there[2], back[2];

	pinned();
	if (pipe2(there, O_CLOEXEC) < 0 || pipe2(back, O_CLOEXEC) < 0)
		die("pipe2");
	w->child = fork();
	if (w->child < 0)
		die("fork");
	if (w->child == 0) {
		close(there[1]);
		close(back[0]);
		echo_forever(there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
	w->to = there[1];
	w->from = back[0];
}

/* The child's CPU time counts as well. */
static void switches(struct worker *w, long times)
{
	clockid_t clock;
	int64_t before;
	char c = 'x';

	if (clock_getcpuclockid(w->child, &clock))
		die("clock_getcpuclockid");
	before = clock_ns(clock);
	for (long i = 0; i < times; i++)
		if (write(w->to, &c, 1) != 1 || read(w->from, &c, 1) != 1)
			die("the other one");
	w->cpu_ns = clock_ns(clock) - before;
}

static const struct pattern patterns[] = {
	{ "bytes", open_data, bytes, { { "pread64", 1 } } },
	{ "dup", open_twice, dups, { { "dup3", 1 } } },
	{ "fcntl", open_data, fcntls, { { "fcntl", 1 } } },
	{ "files", NULL, files, { { "openat", 1 }, { "read", 2 }, { "close", 1 } } },
	{ "fstat", open_data, fstats, { { "fstat", 1 } } },
	{ "getdents", open_folder, lists, { { "getdents64", 1 } } },
	{ "idle", NULL, idle, {} },
	{ "ioctl", open_data, ioctls, { { "ioctl", 1 } } },
	{ "large-blocks", NULL, large_blocks, { { "malloc", 1 } } },
	{ "lseek", open_data, seeks, { { "lseek", 1 } } },
	{ "micro", NULL, micro, { { "openat", 1 }, { "read", MICRO_READS }, { "close", 1 } } },
	{ "mixed",
	  NULL,
	  mixed,
	  { { "openat", 1 }, { "write", 1 }, { "mmap", 1 }, { "munmap", 1 }, { "close", 1 }, { "unlink", 1 } } },
	{ "names", NULL, names, { { "mknod", 1 }, { "rename", 1 }, { "unlink", 1 } } },
	{ "others", NULL, others, { { "getppid", 1 } } },
	{ "reads", open_data, reads, { { "pread64", 1 } } },
	{ "small-blocks", NULL, small_blocks, { { "malloc", 1 } } },
	{ "stat", NULL, stats, { { "stat", 1 } } },
	{ "switches", start_echo, switches, { { "switch", 2 } } },
	{ "tcp", open_sockets, tcp, { { "sendto", 1 }, { "recvfrom", 1 } } },
	{ "writes", open_data, writes, { { "pwrite64", 1 } } },
	{}
};

/* --- running one -------------------------------------------------------------------------------- */

/* Block by block: other work on the machine only adds to the time, and does not disturb every block. */
static void run_blocks(struct worker *w)
{
	int64_t before, after = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (long i = 0; i < opt.times / opt.block; i++) {
		before = after;
		pattern->run(w, opt.block);
		after = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		if (!w->least_ns || after - before < w->least_ns)
			w->least_ns = after - before;
	}
	pattern->run(w, opt.times % opt.block);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	int64_t cpu, wall;

	pthread_barrier_wait(&barrier);
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	wall = clock_ns(CLOCK_MONOTONIC);
	if (opt.block)
		run_blocks(w);
	else
		pattern->run(w, opt.times);
	w->cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	w->wall_ns = clock_ns(CLOCK_MONOTONIC) - wall;
	return NULL;
}

static void run(struct worker *workers)
{
	pthread_t threads[MAX_THREADS];

	for (long i = 1; i < opt.threads; i++) {
		errno = pthread_create(&threads[i], NULL, worker_main, &workers[i]);
		if (errno)
			die("pthread_create");
	}
	worker_main(&workers[0]);
	for (long i = 1; i < opt.threads; i++)
		pthread_join(threads[i], NULL);
}

static int gate_fd(const char *end)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s.%s", opt.gate, end);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		die("%s", path);
	return fd;
}

/* Writes WORD, and waits for permission to go on. */
static void gate(const char *word)
{
	static int up = -1, down = -1;
	char c;

	if (!opt.gate)
		return;
	if (up < 0) {
		up = gate_fd("up");
		down = gate_fd("down");
	}
	dprintf(up, "%s %d\n", word, (int)getpid());
	while (read(down, &c, 1) == 1 && c != '\n')
		;
}

/* Returns the ns of a call in the best block of all threads; 0 without blocks. */
static double least_ns(const struct worker *workers)
{
	int64_t least = workers[0].least_ns;
	long calls = 0;

	for (const struct kind *k = pattern->kinds; k->name; k++)
		calls += k->per_time * opt.block;
	for (long i = 1; i < opt.threads; i++)
		if (workers[i].least_ns < least)
			least = workers[i].least_ns;
	return calls ? (double)least / (double)calls : 0;
}

static void print_result(int64_t main_ns, const struct worker *workers)
{
	double cpu_ns = 0, wall_ns = 0;
	long calls = 0;
	struct rusage ru;

	fprintf(opt.result, "{\"main_ns\": %lld, \"calls\": {", (long long)main_ns);
	for (const struct kind *k = pattern->kinds; k->name; k++) {
		long n = k->per_time * opt.times * opt.threads;

		fprintf(opt.result, "%s\"%s\": %ld", calls ? ", " : "", k->name, n);
		calls += n;
	}
	for (long i = 0; i < opt.threads; i++) {
		cpu_ns += (double)workers[i].cpu_ns;
		wall_ns += (double)workers[i].wall_ns;
	}
	getrusage(RUSAGE_SELF, &ru);
	fprintf(opt.result,
		"}, \"cpu_ns\": %.2f, \"wall_ns\": %.2f, \"elapsed_ns\": %.0f, \"least_ns\": %.2f, "
		"\"process_cpu_ns\": %lld}\n",
		calls ? cpu_ns / (double)calls : 0, calls ? wall_ns / (double)calls : 0, wall_ns / (double)opt.threads,
		least_ns(workers),
		1000LL * (1000000LL * (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) + ru.ru_utime.tv_usec +
			  ru.ru_stime.tv_usec));
	if (fclose(opt.result))
		die("the result");
}

/* --- the command line --------------------------------------------------------------------------- */

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

static const struct pattern *pattern_find(const char *name)
{
	for (const struct pattern *p = patterns; p->name; p++)
		if (name && !strcmp(p->name, name))
			return p;
	fputs("usage: load [-t THREADS] [-n TIMES] [-p NS] [-b TIMES] [-g GATE] -o RESULT -d DIR PATTERN\n", stderr);
	exit(2);
}

static void parse(int argc, char **argv)
{
	int o;

	while ((o = getopt(argc, argv, "t:n:p:b:g:o:d:")) != -1)
		switch (o) {
		case 't':
			opt.threads = number(optarg, 1, MAX_THREADS);
			break;
		case 'n':
			opt.times = number(optarg, 0, 1000000000000);
			break;
		case 'p':
			opt.pace_ns = number(optarg, 0, 1000000000);
			break;
		case 'b':
			opt.block = number(optarg, 1, 1000000000);
			break;
		case 'g':
			opt.gate = optarg;
			break;
		case 'o':
			opt.result = fopen(optarg, "we");
			if (!opt.result)
				die("%s", optarg);
			break;
		case 'd':
			opt.dir = optarg;
			break;
		default:
			pattern_find(NULL);
		}
	pattern = pattern_find(argv[optind]);
	if (!opt.result || !opt.dir)
		pattern_find(NULL);
}

/* Takes all descriptors below FIRST_FD, so that the pattern's own are easy to recognize. */
static void take_fds(void)
{
	int fd;

	do
		fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	while (fd >= 0 && fd < FIRST_FD - 1);
	if (fd != FIRST_FD - 1)
		die("file descriptors");
}

int main(int argc, char **argv)
{
	const int64_t main_ns = clock_ns(CLOCK_MONOTONIC);
	struct worker workers[MAX_THREADS] = {};

	parse(argc, argv);
	gate("ready");
	take_fds();
	pthread_barrier_init(&barrier, NULL, (unsigned int)opt.threads);
	for (long i = 0; i < opt.threads; i++)
		if (pattern->prepare)
			pattern->prepare(&workers[i]);
	run(workers);
	/* From here on it makes no call of the pattern, nor a similar one. */
	gate("done");
	print_result(main_ns, workers);
	return 0;
}
