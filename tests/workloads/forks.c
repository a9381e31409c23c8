// SPDX-License-Identifier: BSD-2-Clause
/*
 * forks: starts process trees in the shapes in which a tracer may lose a branch.
 *
 *   forks -s SHAPE [-n N] [-l LINGER_MS] DIR        (without SHAPE: lists the shapes)
 *
 * Every process and thread of the shape makes a leaf: it creates, closes and unlinks the file DIR/leaf.PID.TID, with
 * its own numbers in the name, so that each row of a trace can be checked by itself. Then a line has the numbers of
 * what was started: processes (without the first), threads, execs, leaves. The exit status is 0 only if all of them
 * succeeded.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "die.h"

#define MAX_RUNNING 64
#define BUSY 15

struct counts {
	long processes, threads, execs, leaves;
};

static struct {
	char *dir;
	long n, linger_ms;
} opt = { .linger_ms = 200 };

static void leaf(void)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/leaf.%d.%d", opt.dir, getpid(), (int)syscall(SYS_gettid));
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || close(fd) < 0 || unlink(path) < 0)
		die("%s", path);
}

static pid_t start(void (*fn)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		fn();
		_exit(0);
	}
	return pid;
}

static void wait_one(void)
{
	int status;

	if (wait(&status) < 0 || status)
		die("a child ended with status %d", status);
}

/* The program of an exec, run with the option -x: makes a leaf and execs itself until n leaves are made. */
static void exec_chain(long n)
{
	char number[24];

	snprintf(number, sizeof(number), "%ld", n);
	execl("/proc/self/exe", "forks", "-x", number, opt.dir, NULL);
	die("exec");
}

static void in_chain(void)
{
	leaf();
	if (opt.n > 1)
		exec_chain(opt.n - 1);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static void shape_exec(struct counts *c)
{
	start(in_chain);
	wait_one();
	*c = (struct counts){ .processes = 1, .execs = opt.n - 1, .leaves = opt.n };
}

static void shape_fork(struct counts *c)
{
	for (long i = 0; i < opt.n; i++) {
		start(leaf);
		wait_one();
	}
	*c = (struct counts){ .processes = opt.n, .leaves = opt.n };
}

static void shape_many(struct counts *c)
{
	for (long i = 0; i < opt.n; i++) {
		if (i >= MAX_RUNNING)
			wait_one();
		start(leaf);
	}
	for (long i = 0; i < opt.n && i < MAX_RUNNING; i++)
		wait_one();
	*c = (struct counts){ .processes = opt.n, .leaves = opt.n };
}

static void in_nest(void)
{
	leaf();
	if (--opt.n > 0) {
		start(in_nest);
		wait_one();
	}
}

static void shape_nest(struct counts *c)
{
	*c = (struct counts){ .processes = opt.n, .leaves = opt.n };
	start(in_nest);
	wait_one();
}

/* The child shares its parent's memory until it execs, so it does nothing else. */
static void vfork_exec(void)
{
	pid_t pid = vfork();

	if (pid < 0)
		die("vfork");
	if (pid == 0) {
		execl("/proc/self/exe", "forks", "-x", "1", opt.dir, NULL);
		_exit(127);
	}
}

static void shape_vfork(struct counts *c)
{
	for (long i = 0; i < opt.n; i++) {
		vfork_exec();
		wait_one();
	}
	*c = (struct counts){ .processes = opt.n, .execs = opt.n, .leaves = opt.n };
}

static void *in_thread(void *arg)
{
	leaf();
	return arg;
}

static void shape_thread(struct counts *c)
{
	for (long i = 0; i < opt.n; i++) {
		pthread_t t;

		errno = pthread_create(&t, NULL, in_thread, NULL);
		if (errno || pthread_join(t, NULL))
			die("thread");
	}
	*c = (struct counts){ .threads = opt.n, .leaves = opt.n };
}

static pthread_barrier_t all_there;

static void *in_crowd(void *arg)
{
	pthread_barrier_wait(&all_there);
	leaf();
	pthread_barrier_wait(&all_there);
	return arg;
}

/* All children are alive when the first makes its leaf, and when the last has made it. */
static void shape_crowd(struct counts *c)
{
	pthread_t *t = calloc((size_t)opt.n, sizeof(*t));
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	pthread_barrier_init(&all_there, NULL, (unsigned int)opt.n);
	for (long i = 0; t && i < opt.n; i++) {
		errno = pthread_create(&t[i], &attr, in_crowd, NULL);
		if (errno)
			die("thread %ld", i);
	}
	for (long i = 0; t && i < opt.n; i++)
		pthread_join(t[i], NULL);
	free(t);
	*c = (struct counts){ .threads = opt.n, .leaves = opt.n };
}

/* A thread that execs takes the process's number from the leader, which ends. */
static void *in_exec_thread(void *arg)
{
	leaf();
	exec_chain(1);
	return arg;
}

static void in_threadexec(void)
{
	pthread_t t;

	errno = pthread_create(&t, NULL, in_exec_thread, NULL);
	if (errno)
		die("thread");
	for (;;)
		pause();
}

static void shape_threadexec(struct counts *c)
{
	for (long i = 0; i < opt.n; i++) {
		start(in_threadexec);
		wait_one();
	}
	*c = (struct counts){ opt.n, .threads = opt.n, .execs = opt.n, .leaves = 2 * opt.n };
}

static pthread_barrier_t leaves_made;

static void *in_busy_thread(void *arg)
{
	volatile bool busy = true;

	leaf();
	pthread_barrier_wait(&leaves_made);
	while (busy)
		;
	return arg;
}

static void in_threadexit(void)
{
	pthread_t t;

	pthread_barrier_init(&leaves_made, NULL, 1 + BUSY);
	for (int i = 0; i < BUSY; i++) {
		errno = pthread_create(&t, NULL, in_busy_thread, NULL);
		if (errno)
			die("thread");
	}
	pthread_barrier_wait(&leaves_made);
}

/* All threads end at once, on as many CPUs as possible: any of them may be the last. */
static void shape_threadexit(struct counts *c)
{
	for (long i = 0; i < opt.n; i++) {
		start(in_threadexit);
		wait_one();
	}
	*c = (struct counts){ opt.n, .threads = BUSY * opt.n, .leaves = BUSY * opt.n };
}

static void in_session(void)
{
	if (setsid() < 0)
		die("setsid");
	leaf();
	start(leaf);
	wait_one();
}

static void shape_setsid(struct counts *c)
{
	for (long i = 0; i < opt.n; i++) {
		start(in_session);
		wait_one();
	}
	*c = (struct counts){ .processes = 2 * opt.n, .leaves = 2 * opt.n };
}

/* CLONE_PARENT: the child of a process becomes its sibling. */
static void in_clone_parent(void)
{
	long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0L, 0L, 0L, 0L);

	if (pid < 0)
		die("clone");
	leaf();
}

static void shape_sibling(struct counts *c)
{
	for (long i = 0; i < opt.n; i++) {
		start(in_clone_parent);
		wait_one();
		wait_one();
	}
	*c = (struct counts){ .processes = 2 * opt.n, .leaves = 2 * opt.n };
}

static int parent_alive[2]; /* its write end is open as long as the first process lives */

static void in_daemon(void)
{
	const struct timespec linger = {
		.tv_sec = opt.linger_ms / 1000,
		.tv_nsec = opt.linger_ms % 1000 * 1000000,
	};
	int null = open("/dev/null", O_RDWR);
	char byte;

	close(parent_alive[1]);
	leaf();
	for (int fd = 0; fd <= 2; fd++)
		if (dup2(null, fd) < 0)
			_exit(1);
	if (chdir("/") < 0 || read(parent_alive[0], &byte, 1) != 0)
		_exit(1);
	nanosleep(&linger, NULL);
	leaf();
}

static void in_daemon_session(void)
{
	if (setsid() < 0)
		die("setsid");
	start(in_daemon);
}

/* Outlives the first process by LINGER_MS, then makes its second leaf. */
static void shape_daemon(struct counts *c)
{
	if (pipe2(parent_alive, O_CLOEXEC) < 0)
		die("pipe");
	start(in_daemon_session);
	wait_one();
	*c = (struct counts){ .processes = 2, .leaves = 2 };
}

static const struct shape {
	const char *name;
	void (*run)(struct counts *c);
	long n; /* default of -n */
	const char *help;
} shapes[] = {
	{ "crowd", shape_crowd, 4096, "N threads that live at the same time" },
	{ "daemon", shape_daemon, 1, "a double fork that outlives the job by LINGER_MS" },
	{ "exec", shape_exec, 10, "a child that execs itself until N leaves are made" },
	{ "fork", shape_fork, 10, "N children, one after the other" },
	{ "many", shape_many, 5000, "N short-lived children, up to 64 at once" },
	{ "nest", shape_nest, 20, "a child of a child of a child, N deep" },
	{ "setsid", shape_setsid, 10, "N children with sessions of their own, each with a child" },
	{ "sibling", shape_sibling, 10, "N children that clone with CLONE_PARENT" },
	{ "thread", shape_thread, 10, "N threads" },
	{ "threadexec", shape_threadexec, 10, "N children that exec from their second thread" },
	{ "threadexit", shape_threadexit, 300, "N children that exit under busy threads" },
	{ "vfork", shape_vfork, 10, "N times vfork and exec" },
};

#define NR_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static const struct shape *shape_find(const char *name)
{
	for (size_t i = 0; i < NR_SHAPES; i++)
		if (!strcmp(shapes[i].name, name))
			return &shapes[i];
	return NULL;
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: forks -s SHAPE [-n N] [-l LINGER_MS] DIR\n", stderr);
	for (size_t i = 0; i < NR_SHAPES; i++)
		fprintf(stderr, "  %-11s %s (N %ld)\n", shapes[i].name, shapes[i].help, shapes[i].n);
	exit(2);
}

int main(int argc, char **argv)
{
	const struct shape *shape = NULL;
	struct counts c = {};
	bool chain = false;
	int o;

	while ((o = getopt(argc, argv, "s:n:l:x:")) != -1)
		switch (o) {
		case 's':
			shape = shape_find(optarg);
			break;
		case 'n':
			opt.n = atol(optarg);
			break;
		case 'l':
			opt.linger_ms = atol(optarg);
			break;
		case 'x':
			chain = true;
			opt.n = atol(optarg);
			break;
		default:
			usage();
		}
	if ((!shape && !chain) || argc - optind != 1 || opt.n < 0 || opt.linger_ms < 0)
		usage();
	opt.dir = realpath(argv[optind], NULL);
	if (!opt.dir)
		die("%s", argv[optind]);
	if (chain) {
		in_chain();
		return 0;
	}
	if (opt.n == 0)
		opt.n = shape->n;
	shape->run(&c);
	printf("shape %s processes %ld threads %ld execs %ld leaves %ld\n", shape->name, c.processes, c.threads,
	       c.execs, c.leaves);
	return 0;
}
