/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/waits/holders.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/process.h"
#include "host/waits/wait_call.h"
#include "host/waits/wait_object.h"

#define LOCKS_MAX_BYTES (1U << 20)

/* What ends a wait, beside what the trace keeps of it. */
struct hold {
	struct wait_call call;
	struct wait_objects objects;
	pid_t holder; /* of a lock; 0: none */
};

struct looking {
	struct open_waits *waits;
	struct hold *hold; /* of each wait */
	const pid_t *pids;
	size_t n;
	uint64_t until_ns;
	bool late; /* not all has been looked at */
};

static bool is_late(struct looking *l)
{
	l->late |= clock_now_ns(CLOCK_THREAD_CPUTIME_ID) >= l->until_ns;
	return l->late;
}

static bool is_of_job(const struct looking *l, pid_t pid)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->pids[i] == pid)
			return true;
	return false;
}

/* --- locks --------------------------------------------------------------------------------------------- */

pid_t holders_of_lock(const char *text, pid_t pid)
{
	long number, waiter, holder = 0;

	for (const char *at = text; *at; at = strchrnul(at, '\n'), at += *at == '\n') {
		/* "1: POSIX  ADVISORY  WRITE 12 08:01:3 0 EOF", then "1: -> ..." of each that waits */
		if (sscanf(at, "%ld: -> %*s %*s %*s %ld", &number, &waiter) == 2) {
			if (waiter == pid)
				return (pid_t)holder;
		} else if (sscanf(at, "%ld: %*s %*s %*s %ld", &number, &holder) != 2) {
			holder = 0;
		}
	}
	return 0;
}

static pid_t holder_of(pid_t pid)
{
	autofree char *text = NULL;
	pid_t holder = util_read_file("/proc/locks", LOCKS_MAX_BYTES, &text, NULL) < 0 ? 0 : holders_of_lock(text, pid);

	return MAX(holder, 0); /* -1: of an open file description, which processes share */
}

/* --- the waits ----------------------------------------------------------------------------------------- */

/* Finds what ends WAIT, as far as the thread's call shows it. */
static void look_at_call(struct open_wait *wait, struct hold *hold)
{
	const pid_t pid = (pid_t)wait->pid;

	switch (hold->call.what) {
	case WAIT_FOR_CHILD:
		wait->known = true;
		snprintf(wait->object, sizeof(wait->object), "child");
		return;
	case WAIT_FOR_THREAD:
		wait->known = true;
		snprintf(wait->object, sizeof(wait->object), "thread");
		return;
	case WAIT_FOR_LOCK:
		hold->holder = holder_of(pid);
		wait->known = hold->holder != 0;
		snprintf(wait->object, sizeof(wait->object), "lock");
		return;
	default:
		wait_objects_of(&hold->objects, pid, &hold->call);
		wait->known = hold->objects.known;
		wait->inode = hold->objects.inode;
		snprintf(wait->object, sizeof(wait->object), "%s", hold->objects.kind ?: "");
	}
}

static void add_wait(struct looking *l, const struct process *process, pid_t tid, const struct wait_call *call)
{
	struct open_wait *wait = &l->waits->v[l->waits->n];
	struct hold *hold = &l->hold[l->waits->n++];

	*wait = (struct open_wait){ .pid = (uint64_t)process->pid,
				    .tid = (uint64_t)tid,
				    .threads = (uint64_t)process->threads };
	snprintf(wait->comm, sizeof(wait->comm), "%s", process->comm);
	snprintf(wait->call, sizeof(wait->call), "%s", call->name);
	hold->call = *call;
	look_at_call(wait, hold);
}

static void look_at_threads(struct looking *l, const struct process *process)
{
	char path[64];
	const struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", process->pid);
	tasks = opendir(path);
	while (tasks && !is_late(l) && l->waits->n < OPEN_WAITS_MAX && (entry = readdir(tasks))) {
		const pid_t tid = (pid_t)atoi(entry->d_name);
		autofree char *text = NULL;
		struct wait_call call;

		if (tid > 0 && process_text(tid, "syscall", 256, &text, NULL) == 0 && wait_call_parse(&call, text))
			add_wait(l, process, tid, &call);
	}
	if (tasks)
		closedir(tasks);
}

/* --- who can end them ---------------------------------------------------------------------------------- */

static void add_end(const struct looking *l, struct open_wait *wait, const struct process *process)
{
	struct open_wait_end *end = &wait->ends[wait->n_ends];

	if (wait->n_ends++ >= OPEN_WAIT_ENDS_MAX) {
		wait->known = false;
		return;
	}
	*end = (struct open_wait_end){
		.pid = (uint64_t)process->pid,
		.threads = (uint64_t)process->threads,
		.stopped = process->state == 'T' || process->state == 't',
		.job = is_of_job(l, process->pid),
	};
	snprintf(end->comm, sizeof(end->comm), "%s", process->comm);
}

static bool is_end(const struct open_wait *wait, const struct hold *hold, const struct process *process)
{
	switch (hold->call.what) {
	case WAIT_FOR_CHILD: /* one, any, or any of a group */
		return process->ppid == (pid_t)wait->pid &&
		       (strcmp(hold->call.name, "wait4") != 0 || (int)hold->call.arg[0] <= 0 ||
			(int)hold->call.arg[0] == process->pid);
	case WAIT_FOR_THREAD:
		return process->pid == (pid_t)wait->pid;
	case WAIT_FOR_LOCK:
		return process->pid == hold->holder;
	default:
		return false;
	}
}

/* Adds PROCESS, which has LINK at FD, to the waits that it can end; HAS: of each, whether it has been added. */
static void look_at_fd(struct looking *l, const struct process *process, int fd, const char *link, bool *has)
{
	for (uint64_t i = 0; i < l->waits->n; i++)
		if (!has[i] && wait_objects_has(&l->hold[i].objects, process->pid, fd, link)) {
			has[i] = true;
			add_end(l, &l->waits->v[i], process);
		}
}

static void look_at_fds(struct looking *l, const struct process *process)
{
	char path[64], link[WAIT_LINK_MAX];
	bool has[OPEN_WAITS_MAX] = { 0 };
	const struct dirent *entry;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%d/fd", process->pid);
	fds = opendir(path);
	while (fds && !is_late(l) && (entry = readdir(fds))) {
		if (*entry->d_name == '.')
			continue;
		wait_object_link(process->pid, atoi(entry->d_name), link);
		if (*link)
			look_at_fd(l, process, atoi(entry->d_name), link, has);
	}
	if (fds)
		closedir(fds);
}

static void look_at_process(struct looking *l, const struct process *process)
{
	bool by_fd = false;

	for (uint64_t i = 0; i < l->waits->n; i++) {
		by_fd |= l->hold[i].objects.n > 0;
		if (is_end(&l->waits->v[i], &l->hold[i], process))
			add_end(l, &l->waits->v[i], process);
	}
	if (by_fd && !process->kernel)
		look_at_fds(l, process);
}

static void look_at_machine(struct looking *l)
{
	autofree struct process *all = NULL;
	size_t n;

	if (!l->waits->n)
		return;
	l->late |= process_list(&all, &n) < 0;
	for (size_t i = 0; !l->late && i < n && !is_late(l); i++)
		look_at_process(l, &all[i]);
	/* nobody: whoever ends it has not been seen */
	for (uint64_t i = 0; i < l->waits->n; i++)
		l->waits->v[i].known &= !l->late && l->waits->v[i].n_ends > 0;
}

int holders_find(struct open_waits *waits, const pid_t *pids, size_t n, uint64_t until_ns)
{
	autofree struct hold *hold = calloc(OPEN_WAITS_MAX, sizeof(*hold));
	struct looking l = { waits, hold, pids, n, until_ns, false };

	waits->n = 0;
	if (!hold)
		return -ENOMEM;
	for (size_t i = 0; i < n && !is_late(&l); i++) {
		struct process process;

		if (process_read(&process, pids[i]) == 0)
			look_at_threads(&l, &process);
	}
	look_at_machine(&l);
	return 0;
}
