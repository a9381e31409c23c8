/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See functions.h. A process is found in the target. A uprobe of one process does not follow its forks (a child that
 * meets the copied breakpoint has it removed by the kernel), so a child is one more process here.
 */
#include "kernel/uprobe/functions.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/util.h"
#include "host/rights/creds.h"
#include "kernel/tracer.h"
#include "kernel/uprobe/functions_impl.h"
#include "os/thread.h"

#define BEGIN_MS 10000 /* a file system may not answer */
#define END_MS 20000
#define NEW_MS 50 /* new processes are looked for so often */
#define CLOSERS 8 /* threads that detach: the kernel waits each time */

/* To attach (a uprobe needs CAP_SYS_ADMIN, perf_uprobe_event_init()) and to open files of map_files; to read /proc/PID.
 */
#define CAPS                                                                                          \
	(CAP_BIT(CAP_BPF) | CAP_BIT(CAP_PERFMON) | CAP_BIT(CAP_SYS_ADMIN) | CAP_BIT(CAP_SYS_PTRACE) | \
	 CAP_BIT(CAP_DAC_READ_SEARCH))

/* --- detaching ------------------------------------------------------------------------------------------- */

struct closing {
	struct functions *f;
	unsigned int next;
};

static void *links_close(void *ctx)
{
	struct closing *c = ctx;
	unsigned int i;

	while ((i = __atomic_fetch_add(&c->next, 1, __ATOMIC_RELAXED)) < c->f->n_links)
		bpf_link__destroy(c->f->links[i].link);
	return NULL;
}

/* Those of processes that are gone, and their places; and those of processes that must have none any more. */
static void forget_ended(struct functions *functions)
{
	const struct attached *attached;
	unsigned int kept = 0;

	for (unsigned int i = 0; i < PROCESSES_MAX; i++)
		if (functions->processes[i].pid && !tracer_target_has(functions->t, functions->processes[i].pid))
			functions->processes[i].pid = 0;
	for (unsigned int i = 0; i < functions->n_links; i++) {
		attached = functions_process(functions, functions->links[i].pid);
		if (attached && !attached->refused)
			functions->links[kept++] = functions->links[i];
		else
			bpf_link__destroy(functions->links[i].link);
	}
	functions->n_links = kept;
}

static void detach_all(struct functions *functions)
{
	struct closing c = { functions, 0 };
	pthread_t threads[CLOSERS];
	unsigned int n = 0;

	while (n < CLOSERS && n < functions->n_links && thread_start(&threads[n], links_close, &c) == 0)
		n++;
	links_close(&c);
	while (n)
		pthread_join(threads[--n], NULL);
	functions->n_links = 0;
}

/* --- the thread ------------------------------------------------------------------------------------------ */

static bool stops_within(const struct functions *f, int ms)
{
	struct pollfd p = { .fd = f->stop_fd, .events = POLLIN };

	return poll(&p, 1, ms) > 0;
}

static void signal_fd(int fd)
{
	uint64_t one = 1;

	(void)!write(fd, &one, sizeof(one));
}

static void *functions_main(void *ctx)
{
	struct functions *functions = ctx;

	creds_caps(CAPS, CAPS, 0);
	tracer_each_live(functions->t, functions_meet, functions);
	functions->began = true;
	functions->ready = functions->n_links ? 0 : -ENOENT;
	signal_fd(functions->ready_fd);
	while (!stops_within(functions, NEW_MS)) {
		forget_ended(functions);
		tracer_each_live(functions->t, functions_meet, functions);
	}
	detach_all(functions);
	signal_fd(functions->done_fd); /* F is not ours any more */
	return NULL;
}

static bool await(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return TEMP_FAILURE_RETRY(poll(&p, 1, ms)) > 0;
}

static void functions_free(struct functions *f)
{
	for (unsigned int i = 0; i < f->n_libraries; i++)
		close(f->libraries[i].fd);
	for (unsigned int i = 0; i < f->n_lines; i++)
		free(f->lines[i]);
	util_close(&f->stop_fd);
	util_close(&f->ready_fd);
	util_close(&f->done_fd);
	free(f);
}

int functions_begin(struct functions **ret, const struct tracer *tracer, pid_t but, char *error, size_t size)
{
	struct functions *functions = calloc(1, sizeof(*functions));
	int r;

	if (!functions)
		return -ENOMEM;
	functions->t = tracer;
	functions->but = but;
	functions->stop_fd = eventfd(0, EFD_CLOEXEC);
	functions->ready_fd = eventfd(0, EFD_CLOEXEC);
	functions->done_fd = eventfd(0, EFD_CLOEXEC);
	r = functions->stop_fd < 0 || functions->ready_fd < 0 || functions->done_fd < 0 ?
		    -EMFILE :
		    thread_start(NULL, functions_main, functions);
	if (r < 0) {
		functions_free(functions);
		snprintf(error, size, "%s", strerror(-r));
		return r;
	}
	*ret = functions;
	r = await(functions->ready_fd, BEGIN_MS) ? functions->ready : -ETIMEDOUT;
	if (r == -ETIMEDOUT)
		snprintf(error, size, "the file system of a library does not answer");
	else if (r < 0)
		snprintf(error, size, "%s", *functions->error ? functions->error : "no probe could be attached");
	return r;
}

void functions_each_line(const struct functions *f, void (*fn)(void *ctx, const char *line), void *ctx)
{
	for (unsigned int i = 0; f && i < f->n_lines; i++)
		fn(ctx, f->lines[i]);
}

void functions_count(const struct functions *f, struct functions_counts *ret)
{
	*ret = (struct functions_counts){ 0 };
	if (!f)
		return;
	ret->processes = util_counted(&f->counts.processes);
	ret->refused = util_counted(&f->counts.refused);
	ret->failed = util_counted(&f->counts.failed);
}

/* A thread that waits for a file system is left alone, with all that it uses. */
void functions_end(struct functions *f)
{
	if (!f)
		return;
	signal_fd(f->stop_fd);
	if (await(f->done_fd, END_MS))
		functions_free(f);
	else
		__atomic_store_n(&f->abandoned, true, __ATOMIC_SEQ_CST);
}
