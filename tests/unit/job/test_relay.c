/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/rights/workload_user.h"
#include "job/relay.h"

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

/* Starts TEXT with its log on LOG_FD; the test's own stdout and stderr are OUT and ERR until it runs. */
static void start(struct fixture *f, const struct workload_user *u, char *text, int out, int err, int log_fd)
{
	int r;

	redirect(out, err);
	r = workload_prepare(&f->w, SH(text), u, log_fd);
	redirect(f->out, f->err);
	assert_int_equal(r, 0);
	assert_int_equal(workload_go(&f->w), 0);
}

/* Returns the workload's status, once all of its output has been passed on. */
static int finish(struct fixture *f)
{
	struct pollfd p = { .fd = f->w.relay.pidfd, .events = POLLIN };
	int r = await_exit(&f->w);

	while (poll(&p, 1, -1) < 0)
		assert_int_equal(errno, EINTR);
	workload_free(&f->w);
	return r;
}

/* A file of SIZE bytes, with every value in random order. */
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
	/* A caller may have left its pipe non-blocking, which must lose nothing. */
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

	start(f, &f->self, "echo one; echo two", full, full, log_fd);
	assert_int_equal(finish(f), 0);
	expect_log(log_fd, "one\ntwo\n");
}

static void a_failing_log_does_not_stop_stdout(void **state)
{
	struct fixture *f = *state;
	autoclose int full = open("/dev/full", O_WRONLY | O_CLOEXEC), out = new_log();

	start(f, &f->self, "echo one; echo two", out, out, full);
	assert_int_equal(finish(f), 0);
	expect_log(out, "one\ntwo\n");
}

/* --- no reader any more ---------------------------------------------------------------------- */

/* Waits until the relay has noticed that its last output is gone, and has ended. */
static void await_hang_up(struct fixture *f)
{
	struct pollfd p = { .fd = f->w.relay.pidfd, .events = POLLIN };

	assert_int_equal(poll(&p, 1, 60000), 1);
}

static void a_workload_without_a_reader_gets_its_signal(void **state)
{
	struct fixture *f = *state;
	autoclose int log_fd = new_log(), again_fd = new_log();
	int fds[2];

	assert_return_code(pipe2(fds, O_CLOEXEC), errno);
	close(fds[0]);
	start(f, &f->self, "exec head -c 64M /dev/zero", fds[1], fds[1], log_fd);
	assert_int_equal(finish(f), 128 + SIGPIPE);
	start(f, &f->self, "trap '' PIPE; head -c 64M /dev/zero 2>/dev/null || exit 7", fds[1], f->err, again_fd);
	close(fds[1]);
	assert_int_equal(finish(f), 7);
}

static void the_first_write_after_the_reader_has_gone_fails(void **state)
{
	struct fixture *f = *state;
	autofree char *fifo = util_fmt("%s/reader-gone", f->dir);
	autofree char *cmd = util_fmt("echo one; read line <%s; echo two", fifo);
	autoclose int log_fd = new_log(), go = -1;
	int fds[2];

	assert_return_code(mkfifo(fifo, 0600), errno);
	assert_return_code(pipe2(fds, O_CLOEXEC), errno);
	start(f, &f->self, cmd, fds[1], fds[1], log_fd);
	close(fds[1]);
	await_text(fds[0], "one\n");
	close(fds[0]);
	await_hang_up(f);
	go = open(fifo, O_WRONLY | O_CLOEXEC);
	assert_int_equal(util_write_all(go, "go\n", 3), 0);
	assert_int_equal(finish(f), 128 + SIGPIPE);
	expect_log(log_fd, "one\n");
}

static void one_stream_without_a_reader_does_not_stop_the_other(void **state)
{
	struct fixture *f = *state;
	autoclose int log_fd = new_log(), err = new_log();
	int fds[2];

	assert_return_code(pipe2(fds, O_CLOEXEC), errno);
	close(fds[0]);
	start(f, &f->self, "(trap '' PIPE; while echo out; do :; done) 2>/dev/null; echo err >&2", fds[1], err, log_fd);
	close(fds[1]);
	assert_int_equal(finish(f), 0);
	expect_log(err, "err\n");
}

/* A named FIFO may get another reader: nothing is reported before a write has failed. */
static void a_fifo_may_be_opened_again(void **state)
{
	struct fixture *f = *state;
	autofree char *fifo = util_fmt("%s/gate", f->dir), *out = util_fmt("%s/out-fifo", f->dir);
	autofree char *cmd = util_fmt("echo one; read line <%s; echo two", fifo);
	autoclose int log_fd = new_log(), go = -1, in = -1, fd = -1;

	assert_return_code(mkfifo(fifo, 0600), errno);
	assert_return_code(mkfifo(out, 0600), errno);
	in = open(out, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	fd = open(out, O_WRONLY | O_CLOEXEC);
	assert_return_code(fcntl(in, F_SETFL, O_RDONLY), errno);
	start(f, &f->self, cmd, fd, fd, log_fd);
	util_close(&fd);
	await_text(in, "one\n");
	util_close(&in);
	assert_int_equal(relay_await(&f->w.relay, 60000), 0); /* it has had time to check */
	in = open(out, O_RDONLY | O_CLOEXEC);
	go = open(fifo, O_WRONLY | O_CLOEXEC);
	assert_int_equal(util_write_all(go, "go\n", 3), 0);
	await_text(in, "two\n");
	assert_int_equal(finish(f), 0);
	expect_log(log_fd, "one\ntwo\n");
}

/* --- the log's share ---------------------------------------------------------------------------- */

static uint64_t load(const uint64_t *v)
{
	return __atomic_load_n(v, __ATOMIC_RELAXED);
}

static void counts_what_the_log_lacks(void **state)
{
	struct fixture *f = *state;
	autoclose int full = open("/dev/full", O_WRONLY | O_CLOEXEC), out = new_log();

	start(f, &f->self, "echo one; echo two", out, out, full);
	assert_int_equal(await_exit(&f->w), 0);
	assert_int_equal(relay_await(&f->w.relay, 60000), 0);
	assert_int_equal(load(&f->w.relay.log->written_bytes), 0);
	assert_int_equal(load(&f->w.relay.log->lost_bytes), 8);
	assert_int_equal(f->w.relay.log->error, -ENOSPC);
	workload_free(&f->w);
	expect_log(out, "one\ntwo\n");
}

static void leaves_space_free_and_goes_on_when_there_is_some(void **state)
{
	struct fixture *f = *state;
	autofree char *path = new_file(f, "log", "", 0600), *fifo = util_fmt("%s/lines", f->dir);
	autofree char *cmd = util_fmt("exec cat %s", fifo);
	autoclose int log_fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC), out = new_log(), in = -1;
	struct stat st = {};
	uint64_t sent = 0;

	assert_return_code(mkfifo(fifo, 0600), errno);
	start(f, &f->self, cmd, out, out, log_fd);
	relay_keep_free(&f->w.relay, 1ULL << 62);
	in = open(fifo, O_WRONLY | O_CLOEXEC);
	while (!load(&f->w.relay.log->lost_bytes)) {
		assert_int_equal(util_write_all(in, "line\n", 5), 0);
		sent += 5;
		assert_int_equal(relay_await(&f->w.relay, 60000), 0);
	}
	assert_int_equal(load(&f->w.relay.log->written_bytes), 0);
	assert_int_equal(f->w.relay.log->error, 0);
	relay_keep_free(&f->w.relay, 0);
	while (!load(&f->w.relay.log->written_bytes)) {
		assert_int_equal(util_write_all(in, "line\n", 5), 0);
		sent += 5;
		assert_int_equal(relay_await(&f->w.relay, 60000), 0);
	}
	util_close(&in);
	assert_int_equal(await_exit(&f->w), 0);
	assert_int_equal(relay_await(&f->w.relay, 60000), 0);
	assert_return_code(fstat(log_fd, &st), errno);
	assert_int_equal(st.st_size, load(&f->w.relay.log->written_bytes));
	assert_int_equal(load(&f->w.relay.log->written_bytes) + load(&f->w.relay.log->lost_bytes), sent);
	assert_return_code(fstat(out, &st), errno);
	assert_int_equal(st.st_size, sent);
	workload_free(&f->w);
}

static void a_log_that_has_ended_gets_nothing(void **state)
{
	struct fixture *f = *state;
	autoclose int log_fd = new_log(), out = new_log();

	redirect(out, out);
	assert_int_equal(workload_prepare(&f->w, SH("echo one"), &f->self, log_fd), 0);
	redirect(f->out, f->err);
	relay_end_log(&f->w.relay);
	assert_int_equal(workload_go(&f->w), 0);
	assert_int_equal(finish(f), 0);
	expect_log(out, "one\n");
	expect_log(log_fd, "");
}

/* --- output so far ------------------------------------------------------------------------------ */

/* What has been written is there, whichever process holds the output open. OUT and ERR lead to MASTER. */
static void expect_await(struct fixture *f, const char *name, int out, int master, const char *passed_on)
{
	autofree char *fifo = util_fmt("%s/%s", f->dir, name);
	autofree char *cmd = util_fmt("(read line <%s; echo late) & head -c 3000 /dev/zero | tr '\\0' x; echo", fifo);
	struct pollfd relay = { .events = POLLIN };
	autoclose int log_fd = new_log(), go = -1;
	struct stat st;

	assert_return_code(mkfifo(fifo, 0600), errno);
	start(f, &f->self, cmd, out, out, log_fd);
	close(out);
	assert_int_equal(await_exit(&f->w), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(relay_await(&f->w.relay, 60000), 0);
	assert_return_code(fstat(log_fd, &st), errno);
	assert_int_equal(st.st_size, 3001);
	relay.fd = f->w.relay.pidfd;
	assert_int_equal(poll(&relay, 1, 0), 0); /* it goes on */
	go = open(fifo, O_WRONLY | O_CLOEXEC);
	assert_int_equal(util_write_all(go, "go\n", 3), 0);
	assert_int_equal(poll(&relay, 1, 60000), 1);
	assert_int_equal(relay_await(&f->w.relay, 60000), 0);
	assert_return_code(fstat(log_fd, &st), errno);
	assert_int_equal(st.st_size, 3006);
	await_text(master, passed_on);
	workload_free(&f->w);
}

static void says_when_it_has_taken_all_so_far(void **state)
{
	autofree char *xs = util_fmt("%03000d\nlate\n", 0), *line = NULL;
	int master, slave, fds[2];

	for (char *c = xs; *c == '0'; c++)
		*c = 'x';
	assert_return_code(pipe2(fds, O_CLOEXEC), errno);
	expect_await(*state, "pipe", fds[1], fds[0], xs);
	close(fds[0]);
	assert_return_code(openpty(&master, &slave, NULL, NULL, NULL), errno);
	line = util_fmt("%.3000s\r\nlate\r\n", xs);
	expect_await(*state, "terminal", slave, master, line);
	close(master);
}

static void does_not_wait_for_an_output_that_takes_nothing(void **state)
{
	struct fixture *f = *state;
	autofree char *got = NULL;
	autoclose int log_fd = new_log();
	size_t len;
	int fds[2];

	assert_return_code(pipe2(fds, O_CLOEXEC), errno);
	start(f, &f->self, "exec head -c 100000 /dev/zero", fds[1], fds[1], log_fd);
	close(fds[1]);
	assert_int_equal(await_exit(&f->w), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(relay_await(&f->w.relay, 20), -ETIMEDOUT);
	got = slurp(fds[0], &len);
	assert_int_equal(len, 100000);
	assert_int_equal(relay_await(&f->w.relay, 60000), 0);
	workload_free(&f->w);
	close(fds[0]);
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
	start(f, &f->self, "test -t 1 && test -t 2 && stty size <&1 && printf '\\033[1m\\t\\377\\r\\n' >&2", slave,
	      slave, log_fd);
	close(slave);
	/* The terminal makes \r\n of \n, once; the log has the workload's own bytes. */
	expect_text(master, "33 99\r\n\033[1m\t\377\r\r\n");
	assert_int_equal(finish(f), 0);
	expect_log(log_fd, "33 99\n\033[1m\t\377\r\n");
	close(master);
}

static void a_terminal_that_has_gone_is_gone_for_the_workload(void **state)
{
	struct fixture *f = *state;
	autofree char *fifo = util_fmt("%s/terminal-gone", f->dir);
	autofree char *cmd = util_fmt("echo one; read line <%s; echo two 2>/dev/null || exit 9", fifo);
	autoclose int log_fd = new_log(), go = -1;
	int master, slave;

	assert_return_code(mkfifo(fifo, 0600), errno);
	new_terminal(&master, &slave, 24, 80);
	start(f, &f->self, cmd, slave, slave, log_fd);
	close(slave);
	await_text(master, "one\r\n");
	close(master);
	await_hang_up(f);
	go = open(fifo, O_WRONLY | O_CLOEXEC);
	assert_int_equal(util_write_all(go, "go\n", 3), 0);
	assert_int_equal(finish(f), 9);
	expect_log(log_fd, "one\n");
}

static void only_a_terminal_becomes_a_terminal(void **state)
{
	struct fixture *f = *state;
	autoclose int log_fd = new_log(), err = new_log();
	int master, slave;

	new_terminal(&master, &slave, 24, 80);
	start(f, &f->self, "test -t 1 && test ! -t 2 && echo yes && echo also >&2", slave, err, log_fd);
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

	/* The workload gets the signal about the size after the pty has it. */
	new_terminal(&master, &slave, 24, 80);
	start(f, &f->self,
	      "trap 'stty size <&1; exit 7' WINCH; stty size <&1; while kill -0 $PPID; do sleep 0.02; done", slave,
	      slave, log_fd);
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

static void outlives_its_parent(void **state)
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
	starter = fork_bound();
	if (!starter) {
		start(f, &f->self, cmd, out[1], out[1], log_fd);
		util_write_all(pids[1], &f->w.relay.pid, sizeof(relay));
		for (;;)
			pause();
	}
	close(out[1]);
	close(pids[1]);
	assert_int_equal(read(pids[0], &relay, sizeof(relay)), sizeof(relay));
	await_text(out[0], "before\n");
	assert_int_equal(getsid(relay), relay);
	assert_int_equal(count_fds(relay), 4); /* the log, the question socket, the pipe, and its target */
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
	relay = f->w.relay.pid;
	workload_free(&f->w);
	assert_int_equal(kill(relay, 0), -1);
	assert_int_equal(errno, ESRCH);
}

/* Runs as a program of its own, because of its stdin: does a logged `cat` find it? */
static int cat_logged(void)
{
	struct fixture f = { .out = STDOUT_FILENO, .err = STDERR_FILENO };
	int log_fd = new_log();

	if (workload_user_get(&f.self, NULL) < 0 ||
	    workload_prepare(&f.w, (char *[]){ "cat", NULL }, &f.self, log_fd) < 0 || workload_go(&f.w) < 0)
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
		TEST(a_workload_without_a_reader_gets_its_signal),
		TEST(the_first_write_after_the_reader_has_gone_fails),
		TEST(one_stream_without_a_reader_does_not_stop_the_other),
		TEST(a_fifo_may_be_opened_again),
		TEST(counts_what_the_log_lacks),
		TEST(leaves_space_free_and_goes_on_when_there_is_some),
		TEST(a_log_that_has_ended_gets_nothing),
		TEST(says_when_it_has_taken_all_so_far),
		TEST(does_not_wait_for_an_output_that_takes_nothing),
		TEST(leaves_stdin_alone),
		TEST(a_terminal_stays_a_terminal),
		TEST(a_terminal_that_has_gone_is_gone_for_the_workload),
		TEST(only_a_terminal_becomes_a_terminal),
		TEST(passes_size_changes_on),
		TEST(the_user_may_open_stdout_again),
		TEST(outlives_its_parent),
		TEST(ends_with_a_workload_that_never_went),
	};

	if (argc == 2 && !strcmp(argv[1], "--cat-logged"))
		return cat_logged();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
