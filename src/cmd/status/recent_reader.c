/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/status/recent_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/json.h"
#include "base/util.h"
#include "report/hang/hang.h"
#include "report/path/recent.h"
#include "report/show/recent_json.h"

#define PERIOD_MS 1000 /* rows are written once a second */
#define CPU_PART 10U /* of a CPU's time it takes no more than this part */
#define STAYS_NS (10 * NSEC_PER_SEC)
#define NICE 5 /* the job comes first */
#define ENDS_MS 200 /* how long to wait for its end: its disk may hold it in the kernel */
#define LINE_BYTES_MAX (1U << 20)

/* --- the reader's process -------------------------------------------------------------------------------- */

struct reading {
	const struct trace *trace;
	uint64_t known_ns; /* when it was known last */
	struct path_recent *recent; /* NULL: not open */
	struct report_hang *hang; /* likewise: who waits is not known */
	int dirfd, out;
};

static uint64_t workload_pid(const struct trace *trace)
{
	const char *word = strstr(trace->target, "workload:");

	return word ? strtoull(word + strlen("workload:"), NULL, 10) : 0;
}

/* Asks which threads wait, and looks at the files. Returns 0 or -errno: then nothing is known at present. */
static int look(struct reading *r)
{
	autofree char *answer = NULL;
	int res = r->recent ? 0 : path_recent_open(&r->recent, r->dirfd, workload_pid(r->trace));

	if (res == 0)
		res = trace_request(r->trace, "waiting", NULL, &answer);
	if (res == 0)
		res = path_recent_waiting(r->recent, answer);
	if (res == 0)
		res = path_recent_look(r->recent);
	if (res == -ESTALE || res == -ENOMEM) {
		path_recent_free(r->recent);
		r->recent = NULL;
	}
	return res;
}

/* Asks who can end the long waits. */
static void look_for_hang(struct reading *r)
{
	autofree struct report_hang *hang = calloc(1, sizeof(*hang));
	autofree char *answer = NULL;

	free(TAKE_PTR(r->hang));
	if (!hang || trace_request(r->trace, "hung", NULL, &answer) < 0 || open_waits_parse(&hang->waits, answer) < 0)
		return;
	for (uint64_t i = 0; i < hang->waits.n; i++)
		hang->lasts[i] = true;
	hang_find(hang);
	r->hang = TAKE_PTR(hang);
}

/* Writes what is known. For a moment nothing may be: then what was known, with its time, stays. */
static int put_line(struct reading *r, int res)
{
	const uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	const bool known = res == 0;
	struct json json = { .flat = true };
	autofree char *line = NULL, *ended = NULL;

	if (res == -EAGAIN && now_ns - r->known_ns < STAYS_NS)
		return 0;
	if (known)
		r->known_ns = now_ns;
	if (known)
		recent_json(r->recent, r->hang, &json);
	line = known ? json_text(&json) : strdup("null");
	ended = line ? util_fmt("%s\n", line) : NULL;
	return ended ? util_write_all(r->out, ended, strlen(ended)) : -ENOMEM;
}

/* Waits until the next look is due. Returns false: nobody reads any more. */
static bool rest(const struct reading *r, uint64_t began_ns, uint64_t began_cpu_ns)
{
	const uint64_t used_ns = clock_now_ns(CLOCK_PROCESS_CPUTIME_ID) - began_cpu_ns;
	const uint64_t until_ns = began_ns + MAX(PERIOD_MS * NSEC_PER_MSEC, CPU_PART * used_ns);
	struct pollfd p = { .fd = r->out };
	uint64_t now_ns;

	while ((now_ns = clock_now_ns(CLOCK_MONOTONIC)) < until_ns)
		if (poll(&p, 1, (int)((until_ns - now_ns) / NSEC_PER_MSEC) + 1) > 0)
			return false;
	return true;
}

static __attribute__((noreturn)) void read_on(const struct trace *trace, int out, pid_t parent)
{
	struct reading r = { .trace = trace, .out = out };
	uint64_t began_ns, cpu_ns;
	char path[PATH_MAX];
	int res;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent || trace_folder(trace, path) < 0)
		_exit(EXIT_FAILURE);
	signal(SIGINT, SIG_IGN); /* the terminal sends it to both: the parent ends this one */
	signal(SIGPIPE, SIG_IGN);
	setpriority(PRIO_PROCESS, 0, NICE);
	r.dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	do {
		began_ns = clock_now_ns(CLOCK_MONOTONIC);
		cpu_ns = clock_now_ns(CLOCK_PROCESS_CPUTIME_ID);
		res = r.dirfd < 0 ? -ENOENT : look(&r);
		if (res == 0)
			look_for_hang(&r);
		if (res == -ECONNREFUSED || put_line(&r, res) < 0)
			break;
	} while (rest(&r, began_ns, cpu_ns));
	_exit(EXIT_SUCCESS); /* not exit(3): buffered output belongs to the parent */
}

/* --- the waiting process --------------------------------------------------------------------------------- */

void recent_reader_start(struct recent_reader *reader, const struct trace *trace)
{
	const pid_t parent = getpid();
	int fds[2];

	*reader = (struct recent_reader){ .fd = -1 };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return;
	fflush(stdout);
	reader->pid = fork();
	if (reader->pid == 0) {
		close(fds[0]);
		read_on(trace, fds[1], parent);
	}
	close(fds[1]);
	if (reader->pid > 0 && fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0)
		reader->fd = fds[0];
	else
		close(fds[0]);
	reader->pid = MAX(reader->pid, 0);
}

void recent_reader_stop(struct recent_reader *reader)
{
	autoclose int pidfd = reader->pid > 0 ? util_pidfd_open(reader->pid) : -1;
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	if (reader->pid > 0) {
		kill(reader->pid, SIGKILL);
		poll(&p, 1, ENDS_MS);
		waitpid(reader->pid, NULL, WNOHANG);
	}
	util_close(&reader->fd);
	free(reader->came.text);
	free(reader->line);
	*reader = (struct recent_reader){ .fd = -1 };
}

/* Keeps the last whole line of the text that has come. */
static void keep_last(struct recent_reader *reader)
{
	struct answer *came = &reader->came;
	char *end = memrchr(came->text, '\n', came->len), *begin;

	if (!end)
		return;
	begin = memrchr(came->text, '\n', (size_t)(end - came->text));
	begin = begin ? begin + 1 : came->text;
	free(reader->line);
	reader->line = strndup(begin, (size_t)(end - begin));
	answer_drop(came, (size_t)(end - came->text) + 1);
}

void recent_reader_take(struct recent_reader *reader)
{
	ssize_t n = 1;

	while (reader->fd >= 0 && n > 0) {
		n = answer_more(&reader->came, reader->fd);
		if (n > 0)
			keep_last(reader);
	}
	if (n > 0 || ((n == -EAGAIN || n == -EINTR) && reader->came.len <= LINE_BYTES_MAX))
		return;
	util_close(&reader->fd); /* it has ended, and what it knew grows old */
	free(TAKE_PTR(reader->line));
}
