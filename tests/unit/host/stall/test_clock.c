/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/stall/clock.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"

#define S NSEC_PER_SEC
#define US (NSEC_PER_MSEC / 1000)

static char state_of(pid_t pid)
{
	char path[64], line[256] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	return strrchr(line, ')')[2];
}

/* Sleeps for ever, or until PARENT ends, which may have been before prctl(2). */
static __attribute__((noreturn)) void sleep_below(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		pause();
	_exit(1);
}

static __attribute__((noreturn)) void stand(void)
{
	const pid_t self = getpid();

	/* not vfork(3), which ThreadSanitizer makes a fork(2) */
	if (syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0) == 0)
		sleep_below(self);
	_exit(1);
}

/* Returns a child that sleeps; HELD: waits where no signal but KILL reaches it, as for a server: as in vfork(2). */
static pid_t child(bool held)
{
	pid_t parent = getpid(), pid = fork();

	if (!pid && held)
		stand();
	if (!pid)
		sleep_below(parent);
	while (state_of(pid) != (held ? 'D' : 'S'))
		usleep(1000);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_thread_without_cpu_time_stands_still(void **state)
{
	pid_t pid = child(false);
	struct stall_clock s;

	stall_clock_begin(&s, pid, 5 * US, 10 * S);
	assert_int_equal(stall_clock_ns(&s, 5 * US, 12 * S), 2 * S);
	assert_int_equal(stall_clock_ns(&s, 6 * US, 13 * S), 0); /* it sleeps, and wakes by itself */
	assert_int_equal(stall_clock_ns(&s, 6 * US, 17 * S), 4 * S);
	end(pid);
}

/* On a busy machine a thread may be without a CPU for seconds. */
static void a_thread_that_could_run_does_not_stand_still(void **state)
{
	pid_t parent = getpid(), pid = fork();
	struct stall_clock s;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent)
			;
		_exit(1);
	}
	while (state_of(pid) != 'R')
		usleep(1000);
	stall_clock_begin(&s, pid, 5 * US, 10 * S);
	assert_int_equal(stall_clock_ns(&s, 5 * US, 14 * S), 0);
	assert_int_equal(stall_clock_ns(&s, 5 * US, 17 * S), 0);
	end(pid);
}

static void a_thread_that_waits_in_a_wait_stands_still(void **state)
{
	pid_t pid = child(true);
	struct stall_clock s;

	stall_clock_begin(&s, pid, 0, 0);
	for (uint64_t n = 1; n < 1000; n++)
		assert_int_equal(stall_clock_ns(&s, 200 * n * US, n * S), n * S);
	assert_int_equal(stall_clock_ns(&s, 10 * S, 1000 * S), 0); /* the thread has worked */
	assert_int_equal(stall_clock_ns(&s, 10 * S + 5000 * US, 1001 * S), S);
	assert_int_equal(stall_clock_ns(&s, 10 * S + 7000 * US, 1002 * S), 0);
	end(pid);
}

static void a_thread_that_ended_is_known_by_its_cpu_time_alone(void **state)
{
	pid_t pid = child(false);
	struct stall_clock s;

	end(pid);
	stall_clock_begin(&s, pid, 1, 0);
	assert_int_equal(stall_clock_ns(&s, 1, S), S);
	assert_int_equal(stall_clock_ns(&s, 2, 2 * S), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_without_cpu_time_stands_still),
		cmocka_unit_test(a_thread_that_could_run_does_not_stand_still),
		cmocka_unit_test(a_thread_that_waits_in_a_wait_stands_still),
		cmocka_unit_test(a_thread_that_ended_is_known_by_its_cpu_time_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
