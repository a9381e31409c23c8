/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See process_reader.h. Three processes: we, the origin, which only forks, small and with one thread, and the reader.
 * We query the reader by one pair of sockets, and the origin for a new reader by another. Texts lie in memory that all
 * share; a reader copies into it only what it has read whole, in its own code, to which one that has been killed does
 * not return.
 */
#include "host/stall/process_reader.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "host/process.h"

#define PAGE 4096
#define DEADLINE_MS 1000
#define HANGS_MAX 5 /* DEADLINE_MS is halved so often */
#define FORGIVE_NS (10 * NSEC_PER_SEC) /* after which a hang counts no more */
#define BEGIN_NS (10 * NSEC_PER_SEC) /* for a fork on a busy machine */
#define STILL_NS (30 * NSEC_PER_MSEC) /* in which one that works is seen to run */
#define END_MS 200 /* for a reader that was killed */
#define LEFT_MAX 64 /* readers that the kernel does not let go */
#define AREA_BYTES (PROCESS_READER_TEXT_MAX + 1)

struct question {
	uint64_t number;
	struct process_reader_look look;
};

struct answer {
	uint64_t number; /* of the question; 0: a reader begins, */
	pid_t pid; /* or where PID is 0: there is none any more */
	int64_t len[PROCESS_READER_TEXTS];
};

static struct {
	pid_t origin; /* 0: none */
	bool over; /* there can be no reader any more */
	int query_fd, fork_fd;
	char (*texts)[AREA_BYTES];
	pid_t pid; /* of the reader; 0: it has not begun, or none was requested */
	bool has_reader;
	struct question last;
	uint64_t queried_ns, hung_ns;
	uint64_t still_ns; /* since when the reader has not been seen to run; 0: it has */
	unsigned int hangs;
} reader = { .query_fd = -1, .fork_fd = -1 };

/* --- the reader ------------------------------------------------------------------------------------- */

/* In two pieces: what is read may end just before unmapped memory, which makes its piece fail. */
static ssize_t read_memory(const struct process_reader_look *look, size_t len, char **ret)
{
	size_t first = MIN(PAGE - look->addr % PAGE, len);
	struct iovec there[] = { { (void *)(uintptr_t)look->addr, first },
				 { (void *)(uintptr_t)(look->addr + first), len - first } };
	autofree char *text = malloc(len);
	struct iovec here = { text, len };
	ssize_t n = text ? process_vm_readv(look->pid, &here, 1, there, ARRAY_SIZE(there), 0) : -1;

	if (n > 0)
		*ret = TAKE_PTR(text);
	if (n > 0)
		return n;
	return n < 0 ? -errno : -EFAULT;
}

static ssize_t read_file(const struct process_reader_look *l, const char *name, size_t max, char **ret)
{
	size_t len = 0;
	int r = process_text(l->pid, name, max, ret, &len);

	return r < 0 ? r : (ssize_t)len;
}

/* Into memory of its own first: the kernel may go on with that when the process has been killed. */
static ssize_t read_into(char *area, const struct process_reader_look *l, unsigned int i)
{
	size_t max = MIN(l->max[i], (size_t)PROCESS_READER_TEXT_MAX);
	autofree char *text = NULL;
	ssize_t n = 0;

	if (max)
		n = *l->name[i] ? read_file(l, l->name[i], max, &text) : read_memory(l, max, &text);

	memcpy(area, text ? text : "", n > 0 ? (size_t)n : 0);
	area[MAX(n, 0)] = '\0';
	return n;
}

static __attribute__((noreturn)) void reader_main(int fd, char (*texts)[AREA_BYTES])
{
	struct answer a = { .pid = getpid() };
	struct question q;

	prctl(PR_SET_NAME, "dltraced-reader");
	if (send(fd, &a, sizeof(a), MSG_NOSIGNAL) < 0)
		_exit(1);
	while (recv(fd, &q, sizeof(q), 0) == sizeof(q)) {
		a.number = q.number;
		for (unsigned int i = 0; i < PROCESS_READER_TEXTS; i++)
			a.len[i] = read_into(texts[i], &q.look, i);
		if (send(fd, &a, sizeof(a), MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

/* --- the origin ------------------------------------------------------------------------------------- */

/* Whoever waits for the end of a pipe must not wait for a reader that hangs. */
static void close_others(int a, int b)
{
	DIR *fds = opendir("/proc/self/fd");
	const struct dirent *e;

	while (fds && (e = readdir(fds))) {
		int fd = atoi(e->d_name);

		if (*e->d_name != '.' && fd != a && fd != b && fd != dirfd(fds))
			close(fd);
	}
	if (fds)
		closedir(fds);
}

static pid_t reader_fork(int query_fd, int fork_fd, char (*texts)[AREA_BYTES], unsigned int *left)
{
	struct answer none = { .pid = 0 };
	pid_t pid;

	while (*left && waitpid(-1, NULL, WNOHANG) > 0)
		--*left;
	pid = *left > LEFT_MAX ? -1 : fork();
	if (!pid) {
		close(fork_fd);
		reader_main(query_fd, texts);
	}
	*left += pid > 0;
	if (pid < 0)
		(void)!send(query_fd, &none, sizeof(none), MSG_NOSIGNAL);
	return pid;
}

/* Kills a reader, and waits for it, unless the kernel holds it: else it would be left to init, which in a container may
 * be anything. */
static void reader_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	for (int i = 0; i < END_MS && waitpid(pid, NULL, WNOHANG) == 0; i++)
		poll(NULL, 0, 1);
}

/* A byte from us: kill the reader, if there is one, and fork another. The end: we have ended. */
static __attribute__((noreturn)) void origin_main(int query_fd, int fork_fd, char (*texts)[AREA_BYTES])
{
	unsigned int left = 0; /* readers that have not ended, or been waited for */
	pid_t pid = 0;
	char c;

	while (recv(fork_fd, &c, 1, 0) == 1) {
		if (pid > 0)
			kill(pid, SIGKILL);
		pid = reader_fork(query_fd, fork_fd, texts, &left);
	}
	if (pid > 0)
		reader_kill(pid);
	_exit(0);
}

/* --- we --------------------------------------------------------------------------------------------- */

/* Neither a terminal's keys nor its end concern it, and it holds no folder. */
static __attribute__((noreturn)) void origin_begin(const int queries[2], const int forks[2], int (*confine)(void *ctx),
						   void *ctx)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "dltraced-reader");
	close_others(queries[1], forks[1]);
	if (chdir("/") < 0 || (confine && confine(ctx) < 0))
		_exit(1);
	origin_main(queries[1], forks[1], reader.texts);
}

int process_reader_begin(int (*confine)(void *ctx), void *ctx)
{
	int queries[2] = { -1, -1 }, forks[2] = { -1, -1 }, r = 0;

	if (reader.origin || reader.over)
		return reader.over ? -ECHILD : 0;
	reader.over = true;
	reader.texts = mmap(NULL, PROCESS_READER_TEXTS * AREA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);
	if (reader.texts == MAP_FAILED)
		return -errno;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, queries) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, forks) < 0)
		r = -errno;
	reader.origin = r < 0 ? -1 : fork();
	if (!reader.origin)
		origin_begin(queries, forks, confine, ctx);
	if (r >= 0)
		r = reader.origin < 0 ? -errno : 0;
	util_close(&queries[1]);
	util_close(&forks[1]);
	reader.query_fd = queries[0];
	reader.fork_fd = forks[0];
	reader.over = r < 0;
	if (r < 0)
		process_reader_end();
	return r;
}

bool process_reader_is(pid_t pid, pid_t ppid)
{
	return reader.origin > 0 && (pid == reader.origin || ppid == reader.origin);
}

pid_t process_reader_pid(void)
{
	return MAX(reader.origin, 0);
}

/* By shutdown(2), as a child of ours that hangs in the kernel keeps the sockets open, too, and they would have no end.
 */
void process_reader_end(void)
{
	if (reader.fork_fd >= 0) {
		shutdown(reader.query_fd, SHUT_RDWR);
		shutdown(reader.fork_fd, SHUT_RDWR);
	}
	util_close(&reader.query_fd);
	util_close(&reader.fork_fd);
	if (reader.origin > 0)
		(void)TEMP_FAILURE_RETRY(waitpid(reader.origin, NULL, 0));
	if (reader.texts && reader.texts != MAP_FAILED)
		munmap(reader.texts, PROCESS_READER_TEXTS * AREA_BYTES);
	reader.texts = NULL;
	reader.origin = 0;
	reader.has_reader = false;
}

/* Requests a reader, in place of one that hangs. */
static int reader_renew(void)
{
	char c = 0;

	reader.pid = 0;
	reader.has_reader = send(reader.fork_fd, &c, 1, MSG_NOSIGNAL) == 1;
	reader.over = !reader.has_reader;
	return reader.over ? -ECHILD : 0;
}

int process_reader_query(const struct process_reader_look *look)
{
	int r = process_reader_begin(NULL, NULL);

	if (!r && !reader.has_reader)
		r = reader_renew();
	if (r < 0)
		return r;
	reader.last.number++;
	reader.last.look = *look;
	reader.queried_ns = clock_now_ns(CLOCK_MONOTONIC);
	reader.still_ns = 0;
	if (reader.hangs && reader.queried_ns > reader.hung_ns + FORGIVE_NS) {
		reader.hangs--;
		reader.hung_ns = reader.queried_ns;
	}
	return send(reader.query_fd, &reader.last, sizeof(reader.last), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Returns 1 with the answer to the last question in TEXTS; 0: not yet; -ECHILD: there can be no reader any more. */
static int answer_take(int wait_ms, struct process_reader_text texts[PROCESS_READER_TEXTS])
{
	struct pollfd p = { .fd = reader.query_fd, .events = POLLIN };
	struct answer a;

	(void)TEMP_FAILURE_RETRY(poll(&p, 1, wait_ms));
	while (recv(reader.query_fd, &a, sizeof(a), MSG_DONTWAIT) == sizeof(a)) {
		reader.pid = a.pid;
		reader.over = !a.pid;
		if (reader.over)
			return -ECHILD;
		if (a.number != reader.last.number) /* of a look that was given up just before its end */
			continue;
		for (unsigned int i = 0; i < PROCESS_READER_TEXTS; i++)
			texts[i] = (struct process_reader_text){ reader.texts[i], a.len[i] };
		return 1;
	}
	reader.over |= (p.revents & (POLLHUP | POLLERR)) != 0;
	return reader.over ? -ECHILD : 0;
}

static uint64_t limit_ns(void)
{
	return (DEADLINE_MS * NSEC_PER_MSEC) >> reader.hangs;
}

/*
 * Returns whether the reader does not work: one that runs, waits for a CPU, or is about to begin works; one that was
 * killed does not. On a busy machine the time of a look passes mostly in waits for a CPU, and one that works sleeps for
 * moments: only one that is not seen to run for a while hangs.
 */
static bool hangs(uint64_t now_ns)
{
	if (!reader.pid)
		return now_ns - reader.queried_ns > BEGIN_NS;
	if (process_state(reader.pid) == 'R')
		reader.still_ns = 0;
	else if (!reader.still_ns)
		reader.still_ns = now_ns;
	return reader.still_ns && now_ns - reader.still_ns >= STILL_NS;
}

/*
 * Returns 1 or -ECHILD as answer_take(); -EAGAIN: the reader works; -ETIMEDOUT: it hangs beyond the deadline. What it
 * sends before it waits for the next question is there by the time that it is seen to wait.
 */
static int deadline_check(struct process_reader_text texts[PROCESS_READER_TEXTS])
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	int r = now_ns - reader.queried_ns < limit_ns() || !hangs(now_ns) ? -EAGAIN : answer_take(0, texts);

	if (r)
		return r;
	reader.hangs = MIN(reader.hangs + 1, HANGS_MAX);
	reader.hung_ns = clock_now_ns(CLOCK_MONOTONIC);
	reader.last.number++; /* its answer would come too late */
	(void)reader_renew();
	return -ETIMEDOUT;
}

int process_reader_answer(int wait_ms, struct process_reader_text texts[PROCESS_READER_TEXTS])
{
	uint64_t begin_ns = clock_now_ns(CLOCK_MONOTONIC),
		 until_ns = begin_ns + (uint64_t)MAX(wait_ms, 0) * NSEC_PER_MSEC;
	int r;

	for (;;) {
		uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC),
			 due_ns = MAX(reader.queried_ns + limit_ns(), now_ns + 10 * NSEC_PER_MSEC);
		uint64_t left_ns = wait_ms < 0 ? due_ns - now_ns : MIN(due_ns, MAX(until_ns, now_ns)) - now_ns;

		r = reader.over ? -ECHILD : answer_take((int)((left_ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC), texts);
		if (!r)
			r = deadline_check(texts);
		if (r != -EAGAIN)
			return MIN(r, 0);
		if (wait_ms >= 0 && clock_now_ns(CLOCK_MONOTONIC) >= until_ns)
			return -EAGAIN;
	}
}

int process_reader_file(pid_t pid, const char *name, size_t max, char **ret, size_t *len_ret)
{
	struct process_reader_text texts[PROCESS_READER_TEXTS];
	struct process_reader_look look = { .pid = pid, .max = { max } };
	int r = snprintf(look.name[0], sizeof(look.name[0]), "%s", name) < PROCESS_READER_NAME_MAX ?
			process_reader_query(&look) :
			-ENAMETOOLONG;

	if (!r)
		r = process_reader_answer(-1, texts);
	if (r < 0 || texts[0].len < 0)
		return r < 0 ? r : (int)texts[0].len;
	*ret = malloc((size_t)texts[0].len + 1);
	if (!*ret)
		return -ENOMEM;
	memcpy(*ret, texts[0].text, (size_t)texts[0].len + 1);
	if (len_ret)
		*len_ret = (size_t)texts[0].len;
	return 0;
}
