/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * regions TALLY: regions by include/dltraced.h from threads, forked, vforked and executed processes, a signal handler,
 * and processes that are killed in one or may not send any; hostile messages. Each that is to have a row is a line of
 * TALLY, with the process's own clock around its begin and its end:
 *	PID TID NAME STEP START_BEFORE START_AFTER END_BEFORE END_AFTER ARG
 * END_AFTER 0: killed in it. Linked statically: nothing is loaded, nothing is looked up.
 * regions TALLY leaf N: N regions, as executed by the others.
 * regions bench N: prints the ns that a region costs.
 */
#include "dltraced.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int tally;
static const char *tally_path, *self;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	_exit(1);
}

static void note(const char *name, long step, const uint64_t at[4], const char *arg)
{
	char line[512];
	int n = snprintf(line, sizeof(line), "%d %ld %s %ld %llu %llu %llu %llu %s\n", getpid(), syscall(SYS_gettid),
			 name, step, (unsigned long long)at[0], (unsigned long long)at[1], (unsigned long long)at[2],
			 (unsigned long long)at[3], arg);

	if (write(tally, line, (size_t)n) != n)
		die("tally");
}

/* A region that contains others, DEPTH of them, one in another. */
static void region(const char *name, long step, int depth)
{
	dltraced_region r;
	uint64_t at[4];
	char arg[32];

	snprintf(arg, sizeof(arg), "depth=%d", depth);
	at[0] = now();
	dltraced_begin(&r, name);
	at[1] = now();
	r.step = step;
	dltraced_update_int(&r, "depth", depth);
	if (depth)
		region(name, step, depth - 1);
	errno = 1234;
	at[2] = now();
	dltraced_end(&r);
	at[3] = now();
	if (errno != 1234) {
		fprintf(stderr, "errno is %d\n", errno);
		_exit(1);
	}
	dltraced_end(&r); /* ends it twice */
	note(name, step, at, arg);
}

static void many(const char *name, long n)
{
	for (long i = 0; i < n; i++)
		region(name, i, (int)(i % 3));
}

static void *thread(void *arg)
{
	many("ai.compute.step", (long)arg);
	return NULL;
}

static void on_usr1(int sig)
{
	(void)sig;
	dltraced_mark("in.a.handler");
}

static pid_t child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	return pid;
}

static void await(pid_t pid, int signal)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	if (signal ? !WIFSIGNALED(status) || WTERMSIG(status) != signal : status != 0) {
		fprintf(stderr, "%d: status %x\n", pid, status);
		_exit(1);
	}
}

static void executed(bool with_vfork)
{
	pid_t pid = with_vfork ? vfork() : fork();

	if (!pid) {
		execl(self, self, tally_path, "leaf", "25", (char *)NULL);
		_exit(1);
	}
	if (pid < 0)
		die("fork");
	await(pid, 0);
}

static void killed_in_one(void)
{
	pid_t pid = child();

	if (!pid) {
		uint64_t at[4] = { now() };
		dltraced_region r, ended;

		dltraced_begin_live(&ended, "ai.pipeline.epoch");
		dltraced_begin_live(&r, "ai.checkpoint.save");
		at[1] = now();
		dltraced_end(&ended); /* this line has another form than the tally's: regions.py knows it */
		note("ai.checkpoint.save", -1, at, "-");
		kill(getpid(), SIGKILL);
	}
	await(pid, SIGKILL);
}

/* From now on, prctl(2) fails with EPERM. */
static void forbid_prctl(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(*code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		die("seccomp");
}

static void silent(bool by_seccomp)
{
	pid_t pid = child();

	if (!pid) {
		dltraced_region r;

		if (by_seccomp)
			forbid_prctl();
		else
			__atomic_store_n(&dltraced_state_, 0, __ATOMIC_RELAXED), setenv("DLTRACED_REGIONS", "0", 1);
		dltraced_begin(&r, "not.seen");
		dltraced_end(&r);
		_exit(0);
	}
	await(pid, 0);
}

/* Messages that our header never sends: five of these are rows, named hostile or without a name. */
static void hostile(void)
{
	struct dltraced_msg m = { .op = DLTRACED_OP_WHOLE, .name_len = 12, .step = 1 };
	char *edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(m.text, "hostile.name\n\t\\ and more \xff\xfe", 27);
	prctl(DLTRACED_PRCTL, 0x10, sizeof(m), 0, 0); /* an address without memory */
	prctl(DLTRACED_PRCTL, (unsigned long)&m, 8, 0, 0); /* too short */
	prctl(PR_GET_NAME, edge, 0, 0, 0); /* another command of prctl */
	if (edge == MAP_FAILED || munmap(edge + 4096, 4096))
		die("mmap");
	memset(edge, 'x', 4096);
	prctl(DLTRACED_PRCTL, (unsigned long)(edge + 4096 - 100), sizeof(m), 0,
	      0); /* ends in memory that is not mapped */

	prctl(DLTRACED_PRCTL, (unsigned long)&m, ~0UL, 0, 0); /* row 1: longer than any message */
	m.name_len = 255;
	m.args_len = 255;
	m.start_ns = ~0ULL;
	prctl(DLTRACED_PRCTL, (unsigned long)&m, 60, 0, 0); /* row 2: a name of 4 bytes, a start in the future */
	m.op = 99;
	m.source = 200;
	prctl(DLTRACED_PRCTL, (unsigned long)&m, sizeof(m), 0, 0); /* row 3: an unknown operation */
	m = (struct dltraced_msg){ .op = DLTRACED_OP_END, .id = 77, .name_len = 12, .text = "hostile.name" };
	prctl(DLTRACED_PRCTL, (unsigned long)&m, sizeof(m), 0, 0); /* row 4: the end of a region that never began */
	m.op = DLTRACED_OP_MARK;
	m.name_len = 0;
	prctl(DLTRACED_PRCTL, (unsigned long)&m, DLTRACED_NONE, 0, 0); /* row 5: a mark without a name */
	for (m.op = DLTRACED_OP_BEGIN, m.id = 0; m.id < 10000; m.id++) /* more open regions than dltraced keeps: 4096
									* rows with "?" */
		prctl(DLTRACED_PRCTL, (unsigned long)&m, sizeof(m), 0, 0);
}

/* Prints the CPU time of a region, in ns. */
static void bench(long n)
{
	clock_t begin = clock();

	for (long i = 0; i < n; i++) {
		DLTRACED_REGION(r, "ai.compute.step");

		r.step = i;
	}
	printf("%.1f\n", (double)(clock() - begin) * 1e9 / CLOCKS_PER_SEC / (double)n);
}

int main(int argc, char **argv)
{
	pthread_t threads[4];
	pid_t pid;

	if (argc == 3 && !strcmp(argv[1], "bench")) {
		bench(atol(argv[2]));
		return 0;
	}
	if (argc < 2)
		return 2;
	self = argv[0];
	tally_path = argv[1];
	tally = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	if (tally < 0)
		die(argv[1]);
	if (argc == 4) {
		many("leaf", atol(argv[3]));
		return 0;
	}
	many("ai.dataloader.fetch", 100);
	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, thread, (void *)200L))
			die("pthread_create");
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	pid = child();
	if (!pid) {
		many("ai.data.item", 50);
		_exit(0);
	}
	await(pid, 0);
	executed(false);
	executed(true);
	killed_in_one();
	silent(true);
	silent(false);
	signal(SIGUSR1, on_usr1);
	for (int i = 0; i < 3; i++)
		raise(SIGUSR1);
	dltraced_meta("batch_size", "32");
	pid = child();
	if (!pid) {
		hostile();
		_exit(0);
	}
	await(pid, 0);
	return 0;
}
