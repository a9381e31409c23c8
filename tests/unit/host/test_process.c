/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/process.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"

/* A child that waits until it is killed. */
static pid_t child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void reads_whatever_the_name_is(void **state)
{
	static const char *const names[] = { "plain", ") Z 1 2 3", "a\nb", "((((", "))))", "" };
	struct process first, p;

	assert_int_equal(process_read(&first, getpid()), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		prctl(PR_SET_NAME, names[i]);
		assert_int_equal(process_read(&p, getpid()), 0);
		assert_int_equal(p.pid, getpid());
		assert_int_equal(p.ppid, getppid());
		assert_int_equal(p.start_ticks, first.start_ticks);
		assert_false(p.kernel);
		assert_string_equal(p.comm, names[i]);
		assert_int_equal(process_of_thread(getpid()), getpid());
	}
}

static void a_zombie_is_gone(void **state)
{
	struct process p;
	siginfo_t si;
	pid_t pid = child();

	assert_int_equal(process_read(&p, pid), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT), 0);
	assert_int_equal(process_read(&p, pid), -ENOENT);
	end(pid);
	assert_int_equal(process_read(&p, pid), -ENOENT);
	assert_int_equal(process_of_thread(pid), -ENOENT);
}

static void *wait_for_ever(void *fd)
{
	char c = 0;

	if (write(*(int *)fd, &c, 1) == 1)
		for (;;)
			pause();
	return NULL;
}

/* Its first thread is a zombie, the process is not. */
static void a_process_outlives_its_first_thread(void **state)
{
	struct process p;
	siginfo_t si;
	int fds[2];
	char c;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		pthread_t other;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_create(&other, NULL, wait_for_ever, &fds[1]);
		pthread_exit(NULL);
	}
	assert_int_equal(read(fds[0], &c, 1), 1);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(process_read(&p, pid), 0);
	assert_int_equal(p.ppid, getpid());
	/* the end of that thread cannot be waited for */
	si.si_pid = 0;
	assert_int_equal(waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT | WNOHANG), 0);
	assert_int_equal(si.si_pid, 0);
	end(pid);
	close(fds[0]);
	close(fds[1]);
}

static void *thread_id(void *tid)
{
	*(pid_t *)tid = process_of_thread(gettid());
	return NULL;
}

static void a_thread_leads_to_its_process(void **state)
{
	pthread_t thread;
	pid_t tgid = 0;

	assert_int_equal(pthread_create(&thread, NULL, thread_id, &tgid), 0);
	pthread_join(thread, NULL);
	assert_int_equal(tgid, getpid());
}

static bool process_had_number(pid_t pid, uint64_t mono_ns)
{
	struct process p;

	return process_read(&p, pid) == 0 && process_is_from(&p, mono_ns);
}

static void a_number_is_anothers_before_its_process_began(void **state)
{
	uint64_t before_ns = clock_now_ns(CLOCK_MONOTONIC);
	pid_t pid;

	usleep(2 * 1000000U / (useconds_t)sysconf(_SC_CLK_TCK));
	pid = child();
	assert_true(process_had_number(pid, clock_now_ns(CLOCK_MONOTONIC)));
	assert_false(process_had_number(pid, before_ns));
	assert_true(process_had_number(getppid(), before_ns));
	end(pid);
	assert_false(process_had_number(pid, clock_now_ns(CLOCK_MONOTONIC)));
}

static void lists_everybody_once(void **state)
{
	autofree struct process *list = NULL;
	unsigned int self = 0, children = 0;
	pid_t pid = child();
	size_t n;

	assert_int_equal(process_list(&list, &n), 0);
	for (size_t i = 0; i < n; i++) {
		self += list[i].pid == getpid();
		children += list[i].pid == pid && list[i].ppid == getpid();
	}
	assert_int_equal(self, 1);
	assert_int_equal(children, 1);
	end(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_whatever_the_name_is),
		cmocka_unit_test(a_zombie_is_gone),
		cmocka_unit_test(a_process_outlives_its_first_thread),
		cmocka_unit_test(a_thread_leads_to_its_process),
		cmocka_unit_test(a_number_is_anothers_before_its_process_began),
		cmocka_unit_test(lists_everybody_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
