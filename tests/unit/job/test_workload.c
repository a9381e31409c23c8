/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/rights/workload_user.h"
#include "job/workload.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "workload_fixture.h"

/* --- statuses -------------------------------------------------------------------------------- */

static void returns_the_exit_status(void **state)
{
	assert_int_equal(run(*state, SH("exit 0")), 0);
	assert_int_equal(run(*state, SH("exit 3")), 3);
	assert_int_equal(run(*state, SH("exit 255")), 255);
}

static void returns_128_plus_the_signal(void **state)
{
	assert_int_equal(run(*state, SH("kill -TERM $$")), 128 + SIGTERM);
	assert_int_equal(run(*state, SH("kill -KILL $$")), 128 + SIGKILL);
}

static void expect_exec_error(struct fixture *f, char *name, int error, int exit_code)
{
	char *const argv[] = { name, NULL };

	assert_int_equal(workload_prepare(&f->w, argv, &f->self, -1), 0);
	assert_int_equal(workload_go(&f->w), error);
	assert_true(f->w.ended);
	assert_false(f->w.started);
	assert_int_equal(exit_code_of(f->w.status), exit_code);
	assert_int_equal(waitpid(f->w.pid, NULL, WNOHANG), -1);
	workload_free(&f->w);
}

static void says_why_exec_failed(void **state)
{
	struct fixture *f = *state;
	autofree char *plain = new_file(f, "plain", "", 0644);

	assert_int_equal(setenv("PATH", "/usr/bin:/bin", 1), 0);
	expect_exec_error(f, "no-such-command-anywhere", -ENOENT, 127);
	expect_exec_error(f, "/no/such/file", -ENOENT, 127);
	expect_exec_error(f, plain, -EACCES, 126);
	expect_exec_error(f, f->dir, -EACCES, 126);
}

/* A loop waits for it by its number, which must not be reused before the loop has released it. */
static void its_descriptor_outlives_its_end(void **state)
{
	struct fixture *f = *state;
	int pidfd;

	assert_int_equal(workload_prepare(&f->w, SH("exit 3"), &f->self, -1), 0);
	pidfd = f->w.pidfd;
	assert_int_equal(workload_go(&f->w), 0);
	assert_int_equal(await_exit(&f->w), 3);
	assert_int_equal(f->w.pidfd, pidfd);
	assert_true(fcntl(pidfd, F_GETFD) >= 0);
	assert_int_equal(workload_signal(&f->w, SIGTERM), -ESRCH);
	workload_free(&f->w);
	assert_int_equal(fcntl(pidfd, F_GETFD), -1);
}

static void runs_a_script_without_interpreter_line(void **state)
{
	autofree char *script = new_file(*state, "script", "exit 5\n", 0755);

	assert_int_equal(run(*state, (char *[]){ script, NULL }), 5);
}

/* --- the gate -------------------------------------------------------------------------------- */

static void is_held_until_go(void **state)
{
	struct fixture *f = *state;
	autofree char *mark = util_fmt("%s/mark", f->dir), *cmd = util_fmt("echo ran >%s", mark);
	char link[64], ours[4096] = "", theirs[4096] = "";

	assert_int_equal(workload_prepare(&f->w, SH(cmd), &f->self, -1), 0);
	snprintf(link, sizeof(link), "/proc/%d/exe", f->w.pid);
	assert_true(readlink(link, theirs, sizeof(theirs) - 1) > 0);
	assert_true(readlink("/proc/self/exe", ours, sizeof(ours) - 1) > 0);
	assert_string_equal(theirs, ours);
	assert_false(workload_reap(&f->w));
	assert_int_equal(access(mark, F_OK), -1);
	assert_int_equal(workload_go(&f->w), 0);
	assert_true(f->w.started);
	assert_int_equal(await_exit(&f->w), 0);
	expect_file(mark, "ran\n");
}

static bool is_untraced_call(uint64_t nr)
{
#ifdef SYS_poll
	if (nr == SYS_poll)
		return true;
#endif
	return nr == SYS_ppoll || nr == SYS_restart_syscall || nr == SYS_execve;
}

static void makes_no_traced_call_before_the_program_runs(void **state)
{
	struct fixture *f = *state;
	struct workload_user u = f->self;
	struct __ptrace_syscall_info info;
	unsigned int execs = 0;
	int status;

	u.environ = (char *[]){ "PATH=/nonexistent:/usr/bin:/bin", NULL };
	assert_int_equal(workload_prepare(&f->w, (char *[]){ "true", NULL }, &u, -1), 0);
	if (ptrace(PTRACE_SEIZE, f->w.pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC) < 0) {
		print_message("skipped: needs ptrace\n");
		skip();
	}
	assert_return_code(ptrace(PTRACE_INTERRUPT, f->w.pid, NULL, NULL), errno);
	assert_int_equal(waitpid(f->w.pid, &status, 0), f->w.pid);
	assert_int_equal(eventfd_write(f->w.go_fd, 1), 0);
	for (;;) {
		assert_return_code(ptrace(PTRACE_SYSCALL, f->w.pid, NULL, NULL), errno);
		assert_int_equal(waitpid(f->w.pid, &status, 0), f->w.pid);
		assert_true(WIFSTOPPED(status));
		if (status >> 16 == PTRACE_EVENT_EXEC)
			break;
		assert_true(ptrace(PTRACE_GET_SYSCALL_INFO, f->w.pid, sizeof(info), &info) > 0);
		if (info.op != PTRACE_SYSCALL_INFO_ENTRY)
			continue;
		assert_true(is_untraced_call(info.entry.nr));
		execs += info.entry.nr == SYS_execve;
	}
	assert_true(execs >= 2); /* one for each folder of PATH up to the right one */
	assert_return_code(ptrace(PTRACE_DETACH, f->w.pid, NULL, NULL), errno);
	assert_int_equal(workload_go(&f->w), 0);
	assert_int_equal(await_exit(&f->w), 0);
}

/* Waits for news of F's workload: its child has no other way to say that it was stopped. */
static int news_of(struct fixture *f)
{
	siginfo_t si;

	assert_int_equal(waitid(P_PID, (id_t)f->w.pid, &si, WSTOPPED | WCONTINUED | WEXITED | WNOWAIT), 0);
	return workload_stop_news(&f->w);
}

static void stops_are_news_once(void **state)
{
	/* a stopped process would stay if this test were killed */
	char *const argv[] = { "setpriv", "--pdeathsig", "KILL", "sh", "-c", "kill -STOP $$; kill -TTIN $$; exit 3",
			       NULL };
	struct fixture *f = *state;

	if (system("setpriv --pdeathsig KILL true 2>/dev/null"))
		skip();
	assert_int_equal(workload_prepare(&f->w, argv, &f->self, -1), 0);
	assert_int_equal(workload_stop_news(&f->w), 0);
	assert_int_equal(workload_go(&f->w), 0);
	assert_int_equal(news_of(f), SIGSTOP);
	assert_int_equal(workload_stop_news(&f->w), 0);
	assert_int_equal(workload_signal(&f->w, SIGCONT), 0);
	for (int sig = news_of(f); sig != SIGTTIN;
	     sig = news_of(f)) /* the next stop may come before it is seen to go on */
		assert_int_equal(sig, SIGCONT);
	assert_int_equal(workload_signal(&f->w, SIGCONT), 0);
	while (!workload_reap(&f->w))
		usleep(1000);
	assert_int_equal(workload_stop_news(&f->w), 0);
	assert_int_equal(exit_code_of(f->w.status), 3);
}

static void free_ends_a_child_that_never_went(void **state)
{
	struct fixture *f = *state;
	pid_t pid;

	assert_int_equal(workload_prepare(&f->w, SH("exit 0"), &f->self, -1), 0);
	pid = f->w.pid;
	workload_free(&f->w);
	assert_int_equal(f->w.pid, 0);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

static void free_kills_a_child_that_does_not_answer(void **state)
{
	struct fixture *f = *state;
	pid_t pid;

	assert_int_equal(workload_prepare(&f->w, SH("exit 0"), &f->self, -1), 0);
	pid = f->w.pid;
	assert_return_code(kill(pid, SIGSTOP), errno);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	workload_free(&f->w);
	assert_int_equal(kill(pid, 0), -1);
}

static void free_leaves_a_running_workload_alone(void **state)
{
	struct fixture *f = *state;
	autoclose int in = -1, out = -1;
	int fds[2], status;
	char cmd[64];
	pid_t pid;

	assert_return_code(pipe(fds), errno); /* inherited, read by the workload */
	in = fds[0];
	out = fds[1];
	snprintf(cmd, sizeof(cmd), "read line <&%d; exit $line", in);
	assert_int_equal(workload_prepare(&f->w, SH(cmd), &f->self, -1), 0);
	assert_int_equal(workload_go(&f->w), 0);
	pid = f->w.pid;
	workload_free(&f->w);
	assert_int_equal(util_write_all(out, "17\n", 3), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(exit_code_of(status), 17);
}

static void free_takes_null_and_empty_ones(void **state)
{
	struct workload w = { 0 };

	workload_free(&w);
	assert_return_code(fcntl(STDIN_FILENO, F_GETFD), errno);
}

static void child_ends_when_its_parent_has_gone(void **state)
{
	struct fixture *f = *state;
	int fds[2], status;
	pid_t parent, child;

	assert_return_code(pipe2(fds, O_CLOEXEC), errno);
	assert_return_code(prctl(PR_SET_CHILD_SUBREAPER, 1), errno);
	parent = fork();
	if (!parent) {
		int r = workload_prepare(&f->w, SH("exit 0"), &f->self, -1);

		r = r < 0 ? r : util_write_all(fds[1], &f->w.pid, sizeof(f->w.pid));
		raise(r < 0 ? SIGABRT : SIGKILL);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &child, sizeof(child)), sizeof(child));
	close(fds[0]);
	assert_int_equal(waitpid(parent, &status, 0), parent);
	assert_int_equal(exit_code_of(status), 128 + SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(exit_code_of(status), 125);
	assert_return_code(prctl(PR_SET_CHILD_SUBREAPER, 0), errno);
}

/* --- signals --------------------------------------------------------------------------------- */

static void passes_signals_on(void **state)
{
	char cmd[] = "trap 'exit 9' USR1; echo ready; while kill -0 $PPID; do sleep 0.02; done";
	struct fixture *f = *state;
	int fds[2];

	assert_return_code(pipe2(fds, O_CLOEXEC), errno);
	redirect(fds[1], f->err);
	assert_int_equal(workload_prepare(&f->w, SH(cmd), &f->self, -1), 0);
	assert_int_equal(workload_go(&f->w), 0);
	await_text(fds[0], "ready\n");
	assert_int_equal(workload_signal(&f->w, SIGUSR1), 0);
	assert_int_equal(await_exit(&f->w), 9);
	assert_int_equal(workload_signal(&f->w, SIGUSR1), -ESRCH);
	close(fds[0]);
	close(fds[1]);
}

/* The lines of /proc/PID/status that a program inherits and could notice. */
#define STATUS_LINES "grep -E '^(SigBlk|SigIgn|NoNewPrivs|Groups|Cap...):' /proc/self/status"

static void undoes_what_main_did_to_signals(void **state)
{
	struct fixture *f = *state;
	autofree char *before = util_fmt("%s/before", f->dir);
	autofree char *after = util_fmt("%s/after", f->dir);
	autofree char *look = util_fmt(STATUS_LINES " >%s", before);
	autofree char *look_again = util_fmt(STATUS_LINES " >%s", after);
	autofree char *text = NULL;
	sigset_t set, old;

	assert_int_equal(run(f, SH(look)), 0);
	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, &old);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	assert_int_equal(run(f, SH(look_again)), 0);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	assert_int_equal(util_read_file(before, 4096, &text, NULL), 0);
	expect_file(after, text);
}

static void keeps_what_its_caller_ignored(void **state)
{
	autofree char *cmd = util_fmt("trap '' HUP; /proc/%d/exe --run 'kill -HUP $$; exit 4'", getpid());

	assert_int_equal(run(*state, SH(cmd)), 4);
}

/* --- what it inherits ------------------------------------------------------------------------ */

static void gets_its_environment_and_umask(void **state)
{
	struct fixture *f = *state;
	static const char script[] = "#!/bin/sh\necho \"$GIVEN $(umask)\" >$OUT\n";
	autofree char *tool = new_file(f, "tool", script, 0755);
	autofree char *path = util_fmt("PATH=/usr/bin:/bin:%s", f->dir);
	autofree char *out = util_fmt("OUT=%s/out", f->dir);
	struct workload_user u = f->self;

	u.environ = (char *[]){ path, out, "GIVEN=a b", NULL };
	u.umask = 0137;
	assert_int_equal(run_as(f, &u, (char *[]){ strrchr(tool, '/') + 1, NULL }), 0);
	expect_file(strchr(out, '/'), "a b 0137\n");
}

static void stays_in_our_session_group_and_folder(void **state)
{
	struct fixture *f = *state;
	autofree char *out = util_fmt("%s/out", f->dir), *want = NULL;
	autofree char *cmd = util_fmt("cut -d' ' -f5,6 /proc/self/stat >%s; pwd -P >>%s", out, out);
	char cwd[4096];

	assert_non_null(getcwd(cwd, sizeof(cwd)));
	want = util_fmt("%d %d\n%s\n", getpgrp(), getsid(0), cwd);
	assert_int_equal(run(f, SH(cmd)), 0);
	expect_file(out, want);
}

static void runs_as_the_user(void **state)
{
	struct fixture *f = *state;
	autofree char *out = util_fmt("%s/out", f->dir);
	autofree char *cmd = util_fmt("(id -u; id -g; id -G) >%s", out);
	struct workload_user u = f->self;

	NEEDS_ROOT();
	u.uid = 12345;
	u.gid = 23456;
	u.groups = (gid_t[]){ 23456, 34567 };
	u.n_groups = 2;
	assert_int_equal(run_as(f, &u, SH(cmd)), 0);
	expect_file(out, "12345\n23456\n23456 34567\n");
}

static void does_not_start_as_somebody_it_cannot_become(void **state)
{
	struct fixture *f = *state;
	struct workload_user u = f->self;
	int status;
	pid_t pid;

	NEEDS_ROOT();
	u.uid = 12345;
	pid = fork();
	if (!pid) {
		if (setresuid(23456, 23456, 23456) < 0)
			_exit(1);
		_exit(workload_prepare(&f->w, SH("exit 0"), &u, -1) == -EPERM && !f->w.pid ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(exit_code_of(status), 0);
}

/* A program of its own, for what exec inherits: runs TEXT with sh, returns its status. */
static int run_shell(char *text)
{
	struct workload_user u;
	struct workload w;
	int status;

	if (workload_user_get(&u, NULL) < 0 || workload_prepare(&w, SH(text), &u, -1) < 0 || workload_go(&w) < 0)
		return 125;
	while (!workload_reap(&w))
		poll(&(struct pollfd){ .fd = w.pidfd, .events = POLLIN }, 1, -1);
	status = w.status;
	workload_free(&w);
	workload_user_free(&u);
	return exit_code_of(status);
}

/* --- what it used ------------------------------------------------------------------------------- */

/* Returns the seconds that times(1p) has written to PATH: of the shell, and of children that it has waited for. */
static double seconds_in(const char *path)
{
	FILE *in = fopen(path, "re");
	double all = 0, seconds;
	unsigned int minutes;

	assert_non_null(in);
	for (int n = 0; n < 4; n++) {
		assert_int_equal(fscanf(in, "%um%lfs", &minutes, &seconds), 2);
		all += 60 * minutes + seconds;
	}
	fclose(in);
	return all;
}

#define BURN "i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done"

static double cpu_seconds(const struct workload *w)
{
	return (double)(w->usage[USAGE_USER_NS] + w->usage[USAGE_SYSTEM_NS]) / 1e9;
}

static void counts_itself_and_the_children_that_it_waits_for(void **state)
{
	struct fixture *f = *state;
	autofree char *times = util_fmt("%s/times", f->dir), *waits = util_fmt("(" BURN "); times >%s", times),
		      *leaves = util_fmt("(" BURN "; echo done >%s/done) & exit 0", f->dir),
		      *done = util_fmt("%s/done", f->dir);
	double account, used;

	assert_int_equal(workload_prepare(&f->w, SH(waits), &f->self, -1), 0);
	assert_int_equal(workload_go(&f->w), 0);
	assert_int_equal(f->w.usage[USAGE_USER_NS], 0);
	assert_int_equal(await_exit(&f->w), 0);
	account = seconds_in(times);
	used = cpu_seconds(&f->w);
	/* times(1p) has four numbers of ticks of 10 ms. What is not counted, or twice, is outside of this on any
	 * machine. */
	assert_true(account > 0.08 && used > 0.75 * account - 0.04 && used < 1.5 * account + 0.04);
	assert_true(f->w.usage[USAGE_MAX_RSS_BYTES] >= 256 << 10 && f->w.usage[USAGE_MINOR_FAULTS] > 10);
	workload_free(&f->w);

	assert_int_equal(workload_prepare(&f->w, SH(leaves), &f->self, -1), 0);
	assert_int_equal(workload_go(&f->w), 0);
	assert_int_equal(await_exit(&f->w), 0);
	assert_true(cpu_seconds(&f->w) < used / 2);
	while (access(done, F_OK) < 0) /* before teardown removes the folder */
		poll(NULL, 0, 5);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(returns_the_exit_status),
		TEST(returns_128_plus_the_signal),
		TEST(says_why_exec_failed),
		TEST(its_descriptor_outlives_its_end),
		TEST(runs_a_script_without_interpreter_line),
		TEST(is_held_until_go),
		TEST(makes_no_traced_call_before_the_program_runs),
		TEST(stops_are_news_once),
		TEST(free_ends_a_child_that_never_went),
		TEST(free_kills_a_child_that_does_not_answer),
		TEST(free_leaves_a_running_workload_alone),
		TEST(free_takes_null_and_empty_ones),
		TEST(child_ends_when_its_parent_has_gone),
		TEST(passes_signals_on),
		TEST(undoes_what_main_did_to_signals),
		TEST(keeps_what_its_caller_ignored),
		TEST(gets_its_environment_and_umask),
		TEST(stays_in_our_session_group_and_folder),
		TEST(runs_as_the_user),
		TEST(does_not_start_as_somebody_it_cannot_become),
		TEST(counts_itself_and_the_children_that_it_waits_for),
	};

	if (argc == 3 && !strcmp(argv[1], "--run"))
		return run_shell(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
