/* SPDX-License-Identifier: BSD-2-Clause */
#include "relay.h"

#include <dirent.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "workload_fixture.h"

static int new_log(void)
{
	int fd = memfd_create("log", MFD_CLOEXEC);

	assert_return_code(fd, errno);
	return fd;
}

static void expect_log(int fd, const char *text)
{
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	expect_text(fd, text);
}

/* Start TEXT with its log on LOG_FD, and our own stdout and stderr on OUT and ERR until it runs. */
static void start(struct fixture *f, const struct workload_user *u, char *text, int out, int err,
		  int log_fd)
{
	int r;

	redirect(out, err);
	r = workload_prepare(&f->w, SH(text), u, log_fd);
	redirect(f->out, f->err);
	assert_int_equal(r, 0);
	assert_int_equal(workload_go(&f->w), 0);
}

/* The workload's status, once all of its output has been passed on. */
static int finish(struct fixture *f)
{
	struct pollfd p = { .fd = f->w.relay_fd, .events = POLLIN };
	int r = await_exit(&f->w);

	while (poll(&p, 1, -1) < 0)
		assert_int_equal(errno, EINTR);
	workload_free(&f->w);
	return r;
}

/* SIZE bytes of every value, in no order. */
static char *binary_file(struct fixture *f, size_t size)
{
	char *path = new_file(f, "binary", "", 0644);
	autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);
	unsigned char buf[4096];
	unsigned int x = 1;

	for (size_t done = 0; done < size; done += sizeof(buf)) {
		for (size_t i = 0; i < sizeof(buf); i++)
			buf[i] = (unsigned char)((x = x * 1103515245 + 12345) >> 16);
		assert_int_equal(util_write_all(fd, buf, sizeof(buf)), 0);
	}
	return path;
}

static void expect_same(const char *a, size_t a_len, const char *b, size_t b_len)
{
	assert_int_equal(a_len, b_len);
	assert_memory_equal(a, b, a_len);
}

static void copies_every_byte_to_both_sides(void **state)
{
	struct fixture *f = *state;
	autofree char *binary = binary_file(f, 1 << 20), *cmd = util_fmt("cat %s", binary);
	autofree char *want = NULL, *out = NULL, *log = NULL;
	autoclose int log_fd = new_log();
	size_t want_len, out_len, log_len;
	int fds[2];

	assert_return_code(pipe2(fds, O_CLOEXEC), errno);
	/* A caller may have left its pipe non-blocking; nothing may be lost by that. */
	assert_return_code(fcntl(fds[1], F_SETFL, O_WRONLY | O_NONBLOCK), errno);
	start(f, &f->self, cmd, fds[1], fds[1], log_fd);
	close(fds[1]);
	out = slurp(fds[0], &out_len);
	close(fds[0]);
	assert_int_equal(finish(f), 0);
	assert_int_equal(lseek(log_fd, 0, SEEK_SET), 0);
	log = slurp(log_fd, &log_len);
	assert_int_equal(util_read_file(binary, SLURP_MAX, &want, &want_len), 0);
	expect_same(out, out_len, want, want_len);
	expect_same(log, log_len, want, want_len);
}

static void keeps_stdout_and_stderr_apart_outside_the_log(void **state)
{
	struct fixture *f = *state;
	autoclose int out = new_log(), err = new_log(), log_fd = new_log();
	size_t len;
	autofree char *log = NULL;

	start(f, &f->self, "echo to-out; echo to-err >&2", out, err, log_fd);
	assert_int_equal(finish(f), 0);
	expect_log(out, "to-out\n");
	expect_log(err, "to-err\n");
	assert_int_equal(lseek(log_fd, 0, SEEK_SET), 0);
	log = slurp(log_fd, &len);
	assert_non_null(strstr(log, "to-out\n"));
	assert_non_null(strstr(log, "to-err\n"));
	assert_int_equal(len, 14);
}

static void keeps_the_order_of_stdout_and_stderr_that_share_a_file(void **state)
{
	struct fixture *f = *state;
	autoclose int out = new_log(), log_fd = new_log();

	start(f, &f->self, "echo 1; echo 2 >&2; echo 3; echo 4 >&2", out, out, log_fd);
	assert_int_equal(finish(f), 0);
	expect_log(out, "1\n2\n3\n4\n");
	expect_log(log_fd, "1\n2\n3\n4\n");
}

static void a_failing_stdout_does_not_stop_the_log(void **state)
{
	struct fixture *f = *state;
	autoclose int full = open("/dev/full", O_WRONLY | O_CLOEXEC), log_fd = new_log();
	autoclose int broken_log_fd = new_log();
	int fds[2];

	start(f, &f->self, "echo one; echo two", full, full, log_fd);
	assert_int_equal(finish(f), 0);
	expect_log(log_fd, "one\ntwo\n");

	assert_return_code(pipe2(fds, O_CLOEXEC), errno);
	close(fds[0]);
	start(f, &f->self, "echo one; echo two", fds[1], fds[1], broken_log_fd);
	close(fds[1]);
	assert_int_equal(finish(f), 0);
	expect_log(broken_log_fd, "one\ntwo\n");
}

static void a_failing_log_does_not_stop_stdout(void **state)
{
	struct fixture *f = *state;
	autoclose int full = open("/dev/full", O_WRONLY | O_CLOEXEC), out = new_log();

	start(f, &f->self, "echo one; echo two", out, out, full);
	assert_int_equal(finish(f), 0);
	expect_log(out, "one\ntwo\n");
}

static void leaves_stdin_alone(void **state)
{
	struct fixture *f = *state;
	autofree char *input = new_file(f, "input", "from stdin\n", 0644);
	autofree char *cmd = util_fmt("/proc/%d/exe --cat-logged <%s >/dev/null", getpid(), input);

	assert_int_equal(system(cmd), 0);
}

/* --- terminals ------------------------------------------------------------------------------- */

static void new_terminal(int *master, int *slave, unsigned short rows, unsigned short cols)
{
	struct winsize size = { .ws_row = rows, .ws_col = cols };

	assert_return_code(openpty(master, slave, NULL, NULL, &size), errno);
	assert_return_code(fcntl(*master, F_SETFD, FD_CLOEXEC), errno);
	assert_return_code(fcntl(*slave, F_SETFD, FD_CLOEXEC), errno);
}

static void a_terminal_stays_a_terminal(void **state)
{
	struct fixture *f = *state;
	autoclose int log_fd = new_log();
	int master, slave;

	new_terminal(&master, &slave, 33, 99);
	start(f, &f->self,
	      "test -t 1 && test -t 2 && stty size <&1 && printf '\\033[1m\\t\\377\\r\\n' >&2",
	      slave, slave, log_fd);
	close(slave);
	/* The terminal makes \r\n of \n, once; the log has what the workload wrote. */
	expect_text(master, "33 99\r\n\033[1m\t\377\r\r\n");
	assert_int_equal(finish(f), 0);
	expect_log(log_fd, "33 99\n\033[1m\t\377\r\n");
	close(master);
}

static void only_what_was_a_terminal_becomes_one(void **state)
{
	struct fixture *f = *state;
	autoclose int log_fd = new_log(), err = new_log();
	int master, slave;

	new_terminal(&master, &slave, 24, 80);
	start(f, &f->self, "test -t 1 && test ! -t 2 && echo yes && echo also >&2", slave, err,
	      log_fd);
	close(slave);
	expect_text(master, "yes\r\n");
	assert_int_equal(finish(f), 0);
	expect_log(err, "also\n");
	close(master);
}

static void passes_size_changes_on(void **state)
{
	const struct winsize bigger = { .ws_row = 50, .ws_col = 132 };
	struct fixture *f = *state;
	autoclose int log_fd = new_log();
	int master, slave;

	/* The workload hears of the size when the pty has it, not before. */
	new_terminal(&master, &slave, 24, 80);
	start(f, &f->self,
	      "trap 'stty size <&1; exit 7' WINCH; stty size <&1; while :; do sleep 0.02; done",
	      slave, slave, log_fd);
	close(slave);
	await_text(master, "24 80\r\n");
	assert_return_code(ioctl(master, TIOCSWINSZ, &bigger), errno);
	await_text(master, "50 132\r\n");
	assert_int_equal(finish(f), 7);
	close(master);
}

static void the_user_may_open_stdout_again(void **state)
{
	struct fixture *f = *state;
	struct workload_user u = f->self;
	autoclose int log_fd = new_log(), out = new_log();
	int master, slave;

	NEEDS_ROOT();
	u.uid = 12345;
	u.gid = 23456;
	start(f, &u, "echo again >/dev/stdout", out, out, log_fd);
	assert_int_equal(finish(f), 0);
	expect_log(log_fd, "again\n");
	new_terminal(&master, &slave, 24, 80);
	start(f, &u, "echo again >/dev/stderr", slave, slave, log_fd);
	close(slave);
	expect_text(master, "again\r\n");
	assert_int_equal(finish(f), 0);
	close(master);
}

/* --- its own life ---------------------------------------------------------------------------- */

static unsigned int count_fds(pid_t pid)
{
	autofree char *path = util_fmt("/proc/%d/fd", pid);
	DIR *d = opendir(path);
	unsigned int n = 0;

	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static void outlives_who_started_it(void **state)
{
	static const int harmless[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1 };
	struct fixture *f = *state;
	autofree char *fifo = util_fmt("%s/fifo", f->dir);
	autofree char *cmd = util_fmt("echo before; read line <%s; echo $line", fifo);
	autoclose int log_fd = new_log(), go = -1;
	int out[2], pids[2], status;
	pid_t starter, relay;

	assert_return_code(mkfifo(fifo, 0600), errno);
	assert_return_code(pipe2(out, O_CLOEXEC), errno);
	assert_return_code(pipe2(pids, O_CLOEXEC), errno);
	starter = fork();
	if (!starter) {
		start(f, &f->self, cmd, out[1], out[1], log_fd);
		util_write_all(pids[1], &f->w.relay_pid, sizeof(relay));
		for (;;)
			pause();
	}
	close(out[1]);
	close(pids[1]);
	assert_int_equal(read(pids[0], &relay, sizeof(relay)), sizeof(relay));
	await_text(out[0], "before\n");
	assert_int_equal(getsid(relay), relay);
	assert_int_equal(count_fds(relay), 3); /* the log, the pipe, where it leads */
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		assert_return_code(kill(relay, harmless[i]), errno);
	assert_return_code(kill(starter, SIGKILL), errno);
	assert_int_equal(waitpid(starter, &status, 0), starter);

	go = open(fifo, O_WRONLY | O_CLOEXEC);
	assert_return_code(go, errno);
	assert_int_equal(util_write_all(go, "after\n", 6), 0);
	util_close(&go);
	expect_text(out[0], "after\n");
	expect_log(log_fd, "before\nafter\n");
	close(out[0]);
	close(pids[0]);
}

static void ends_with_a_workload_that_never_went(void **state)
{
	struct fixture *f = *state;
	autoclose int log_fd = new_log();
	pid_t relay;

	assert_int_equal(workload_prepare(&f->w, SH("exit 0"), &f->self, log_fd), 0);
	relay = f->w.relay_pid;
	workload_free(&f->w);
	assert_int_equal(kill(relay, 0), -1);
	assert_int_equal(errno, ESRCH);
}

/* As a program of its own, for the sake of its stdin: does a logged `cat` find it? */
static int cat_logged(void)
{
	struct fixture f = { .out = STDOUT_FILENO, .err = STDERR_FILENO };
	int log_fd = new_log();

	if (workload_user_get(&f.self, NULL) < 0 ||
	    workload_prepare(&f.w, (char *[]){ "cat", NULL }, &f.self, log_fd) < 0 ||
	    workload_go(&f.w) < 0)
		return 125;
	finish(&f);
	expect_log(log_fd, "from stdin\n");
	workload_user_free(&f.self);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(copies_every_byte_to_both_sides),
		TEST(keeps_stdout_and_stderr_apart_outside_the_log),
		TEST(keeps_the_order_of_stdout_and_stderr_that_share_a_file),
		TEST(a_failing_stdout_does_not_stop_the_log),
		TEST(a_failing_log_does_not_stop_stdout),
		TEST(leaves_stdin_alone),
		TEST(a_terminal_stays_a_terminal),
		TEST(only_what_was_a_terminal_becomes_one),
		TEST(passes_size_changes_on),
		TEST(the_user_may_open_stdout_again),
		TEST(outlives_who_started_it),
		TEST(ends_with_a_workload_that_never_went),
	};

	if (argc == 2 && !strcmp(argv[1], "--cat-logged"))
		return cat_logged();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
