/* SPDX-License-Identifier: BSD-2-Clause */
/* The facts that are known before the load; tests/native/session/attach.sh shows that the target is then traced. */
#include "session/target.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/util.h"

static struct targets ts;
static char error[256];

static int resolve_pid(pid_t pid)
{
	struct config cfg = { .pids = { pid }, .n_pids = 1 };

	targets_free(&ts);
	*error = '\0';
	return targets_resolve(&ts, &cfg, error, sizeof(error));
}

static void nothing_named_is_nothing_found(void **state)
{
	struct config cfg = {};

	assert_int_equal(targets_resolve(&ts, &cfg, error, sizeof(error)), 0);
	assert_int_equal(ts.n_roots, 0);
	assert_int_equal(ts.cgroups.n, 0);
	assert_false(ts.all);
	cfg.containers = (struct config_list){ { "new" }, 1 }; /* none of them exists */
	assert_int_equal(targets_resolve(&ts, &cfg, error, sizeof(error)), 0);
	assert_int_equal(ts.cgroups.n, 0);
}

static void *wait_for_ever(void *fd)
{
	pid_t tid = gettid();

	if (write(*(int *)fd, &tid, sizeof(tid)) == sizeof(tid))
		for (;;)
			pause();
	return NULL;
}

static void a_thread_stands_for_its_process(void **state)
{
	int fds[2];
	pid_t pid, tid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_create(&thread, NULL, wait_for_ever, &fds[1]);
		pthread_join(thread, NULL);
		_exit(0);
	}
	assert_int_equal(read(fds[0], &tid, sizeof(tid)), sizeof(tid));
	assert_int_not_equal(tid, pid);
	assert_int_equal(resolve_pid(tid), 0);
	assert_int_equal(ts.n_roots, 1);
	assert_int_equal(ts.roots[0].pid, pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(resolve_pid(pid), -ENOENT);
	assert_non_null(strstr(error, "no such process"));
	close(fds[0]);
	close(fds[1]);
}

static void we_are_not_our_own_target(void **state)
{
	assert_int_equal(resolve_pid(getpid()), -EINVAL);
	assert_non_null(strstr(error, "itself"));
}

/* All processes descend from it; a container's first process is named otherwise. */
static void the_first_process_is_the_whole_machine(void **state)
{
	autoclose int file = memfd_create("messages", MFD_CLOEXEC);
	char text[1024] = "";

	log_to(file);
	assert_int_equal(resolve_pid(1), 0);
	log_to(STDERR_FILENO);
	assert_true(pread(file, text, sizeof(text) - 1, 0) > 0);
	assert_non_null(strstr(text, "warning: --pid 1 is the first process of this machine"));
	assert_non_null(strstr(text, "--container NAME"));
	assert_int_equal(ts.n_roots, 1);
	assert_int_equal(ftruncate(file, 0), 0);
	log_to(file);
	assert_int_equal(resolve_pid(getppid()), 0);
	log_to(STDERR_FILENO);
	assert_int_equal(lseek(file, 0, SEEK_END), 0);
}

static void a_kernel_thread_makes_no_calls(void **state)
{
	struct process p;

	if (process_read(&p, 2) < 0 || !p.kernel)
		skip(); /* a pid namespace of this test */
	assert_int_equal(resolve_pid(2), -EINVAL);
	assert_non_null(strstr(error, "kernel thread"));
}

static void a_cgroup_that_cannot_be_is_named(void **state)
{
	struct config cfg = { .cgroups = { { "../job" }, 1 } };

	assert_int_equal(targets_resolve(&ts, &cfg, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "--cgroup ../job"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_process_is_the_whole_machine),
		cmocka_unit_test(nothing_named_is_nothing_found),
		cmocka_unit_test(a_thread_stands_for_its_process),
		cmocka_unit_test(we_are_not_our_own_target),
		cmocka_unit_test(a_kernel_thread_makes_no_calls),
		cmocka_unit_test(a_cgroup_that_cannot_be_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
