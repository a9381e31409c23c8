// SPDX-License-Identifier: BSD-2-Clause
/*
 * lives: processes one after the other, all with the same PID, as soon as it is free again.
 *
 *   lives [-n N] TALLY
 *
 * Each has one CPU, from before its begin, runs and sleeps a little there, and some take another name or execute a
 * program. TALLY has two lines of "key value" pairs for each. The child's has its begin and end by its own clock. The
 * parent's (role life) has what it was, its PID, clock readings before the fork and after it was reaped, its CPU, and
 * the kernel's account of it: run from /proc/PID/schedstat before it was reaped, rusage from wait4(2). CLOCK_MONOTONIC,
 * ns.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000LL
#define RUN_NS (8 * MS) /* twice in each life */

enum what { PLAIN, RENAMED, EXECS, WHATS };
static const char *const names[WHATS] = { "plain", "renamed", "execs" };

static int tally;

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "lives: %s: %s\n", what, strerror(errno));
	_exit(1);
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void __attribute__((format(printf, 1, 2))) say(const char *fmt, ...)
{
	char line[512];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (write(tally, line, (size_t)len) != len) /* O_APPEND: lines are never mixed */
		die("the tally");
}

/* Returns how often the thread has left its CPU by itself. */
static long left(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage) < 0)
		die("getrusage");
	return usage.ru_nvcsw;
}

/*
 * Computes, then leaves the CPU, so that the time counts for the thread's present name. On a slow machine the sleep may
 * be over before the thread has left the CPU.
 */
static void run(void)
{
	int64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + RUN_NS;
	long before = left();

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
	while (left() == before)
		nanosleep(&(struct timespec){ 0, MS }, NULL);
}

static void second_half(int nr, int64_t begin)
{
	run();
	say("role own nr %d begin %lld end %lld\n", nr, (long long)begin, (long long)clock_ns(CLOCK_MONOTONIC));
	_exit(0);
}

static void child(int nr, char *path)
{
	char nr_text[16], begin_text[24], *argv[] = { "lives", "-x", nr_text, "-b", begin_text, path, NULL };
	int64_t begin = clock_ns(CLOCK_MONOTONIC);

	run();
	if (nr % WHATS == RENAMED)
		prctl(PR_SET_NAME, "renamed");
	if (nr % WHATS == EXECS) {
		snprintf(nr_text, sizeof(nr_text), "%d", nr);
		snprintf(begin_text, sizeof(begin_text), "%lld", (long long)begin);
		execv("/proc/self/exe", argv);
		die("exec");
	}
	second_half(nr, begin);
}

/* Forks a child with the number PID, if that is free; 0: any number. */
static pid_t fork_as(pid_t pid)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	long r;

	if (!pid)
		return fork();
	args.set_tid = (uintptr_t)&pid;
	args.set_tid_size = 1;
	r = syscall(SYS_clone3, &args, sizeof(args));
	return r < 0 && errno == EEXIST ? fork() : (pid_t)r;
}

static int pin(const cpu_set_t *may, int nth)
{
	cpu_set_t one;
	int cpu = 0;

	for (int i = -1; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, may) && ++i == nth % CPU_COUNT(may))
			break;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		die("sched_setaffinity");
	return cpu;
}

static long long run_ns(pid_t pid)
{
	char path[64], text[128] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		die(path);
	close(fd);
	return atoll(text);
}

static pid_t life(int nr, pid_t as, const cpu_set_t *may, char *path)
{
	int cpu = pin(may, nr), status;
	int64_t before = clock_ns(CLOCK_MONOTONIC);
	pid_t pid = fork_as(as);
	struct rusage ru;
	long long ran;
	siginfo_t si;

	if (pid < 0)
		die("fork");
	if (pid == 0)
		child(nr, path);
	if (waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT) < 0)
		die("waitid");
	ran = run_ns(pid);
	if (wait4(pid, &status, 0, &ru) < 0)
		die("wait4");
	if (status) {
		fprintf(stderr, "lives: child %d: status %d\n", nr, status);
		_exit(1);
	}
	say("role life nr %d what %s pid %d cpu %d before %lld after %lld run %lld rusage %lld\n", nr,
	    names[nr % WHATS], pid, cpu, (long long)before, (long long)clock_ns(CLOCK_MONOTONIC), ran,
	    (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000 * MS +
		    (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000LL);
	return pid;
}

int main(int argc, char **argv)
{
	int c, n = 24, exec = -1;
	long long begin = 0;
	pid_t pid = 0;
	cpu_set_t may;

	while ((c = getopt(argc, argv, "n:x:b:")) != -1)
		switch (c) {
		case 'n':
			n = atoi(optarg);
			break;
		case 'x':
			exec = atoi(optarg);
			break;
		case 'b':
			begin = atoll(optarg);
			break;
		default:
			optind = argc;
		}
	if (argc - optind != 1) {
		fputs("usage: lives [-n N] TALLY\n", stderr);
		return 2;
	}
	tally = open(argv[optind], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (tally < 0)
		die(argv[optind]);
	if (exec >= 0)
		second_half(exec, begin);
	sched_getaffinity(0, sizeof(may), &may);
	for (int nr = 0; nr < n; nr++)
		pid = life(nr, pid, &may, argv[optind]);
	return 0;
}
