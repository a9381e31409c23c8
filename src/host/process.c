/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/process.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

#define PF_KTHREAD 0x00200000 /* linux/sched.h */

int process_text(pid_t pid, const char *name, size_t max, char **ret, size_t *len_ret)
{
	autofree char *path = util_fmt("/proc/%d/%s", pid, name);
	int r = path ? util_read_file(path, max, ret, len_ret) : -ENOMEM;

	return r == -ESRCH ? -ENOENT : r;
}

int process_parse(struct process *process, pid_t pid, const char *text)
{
	unsigned long long start, user, system, args = 0;
	const char *comm = strchr(text, '('), *rest;
	unsigned int flags;
	int ppid, threads;
	char state;

	/* proc(5): fields 3, 4, 9, 14, 15, 20, 22, and 48 (since Linux 3.5). COMM before them can contain anything,
	 * also ") " */
	rest = strrchr(text, ')');
	if (!rest || !comm || comm > rest ||
	    sscanf(rest,
		   ") %c %d %*s %*s %*s %*s %u %*s %*s %*s %*s %llu %llu %*s %*s %*s %*s %d %*s %llu"
		   " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		   "%*s %llu",
		   &state, &ppid, &flags, &user, &system, &threads, &start, &args) < 7)
		return -EINVAL;
	/* the first thread may have ended before the others */
	if ((state == 'Z' || state == 'X') && threads <= 1)
		return -ENOENT;
	*process = (struct process){
		.pid = pid,
		.ppid = ppid,
		.start_ticks = start,
		.args_at = args,
		.kernel = flags & PF_KTHREAD,
		.state = state,
		.threads = threads,
	};
	process->cpu_us = (user + system) * (1000000 / (uint64_t)sysconf(_SC_CLK_TCK));
	memcpy(process->comm, comm + 1, MIN((size_t)(rest - comm - 1), sizeof(process->comm) - 1));
	return 0;
}

char process_state(pid_t tid)
{
	autofree char *text = NULL;
	const char *state;

	if (process_text(tid, "stat", PROCESS_TEXT_MAX, &text, NULL) < 0)
		return 0;
	state = strrchr(text, ')'); /* of its name, which may contain some itself; what follows has none */
	return state && state[1] == ' ' ? state[2] : 0;
}

int process_read(struct process *p, pid_t pid)
{
	autofree char *text = NULL;
	int r = process_text(pid, "stat", PROCESS_TEXT_MAX, &text, NULL);

	return r < 0 ? r : process_parse(p, pid, text);
}

bool process_is_from(const struct process *p, uint64_t mono_ns)
{
	uint64_t tick_ns = NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t mono_now_ns = clock_now_ns(CLOCK_MONOTONIC), boot_now_ns = clock_now_ns(CLOCK_BOOTTIME);

	/* /proc includes the time asleep, and truncates the last tick */
	return p->start_ticks * tick_ns <= mono_ns + (boot_now_ns - mono_now_ns);
}

unsigned int process_numbers(const char *text, const char *key, int base, unsigned long long *v, unsigned int n)
{
	const char *at = strstr(text, key);
	unsigned int i = 0;
	char *end;

	for (at = at ? at + strlen(key) : NULL; at && i < n && *at && *at != '\n'; at = end) {
		v[i] = strtoull(at, &end, base);
		if (end == at)
			break;
		i++;
	}
	return i;
}

bool process_is_held(pid_t pid)
{
	unsigned long long threads = 0, pending = 0;
	autofree char *text = NULL;

	if (process_text(pid, "status", PROCESS_TEXT_MAX, &text, NULL) < 0)
		return false;
	process_numbers(text, "\nThreads:\t", 10, &threads, 1);
	process_numbers(text, "\nSigPnd:\t", 16, &pending, 1);
	return strstr(text, "\nState:\tZ") ? threads > 1 : pending >> (SIGKILL - 1) & 1;
}

pid_t process_of_thread(pid_t tid)
{
	autofree char *text = NULL;
	unsigned long long tgid;
	int r = process_text(tid, "status", PROCESS_TEXT_MAX, &text, NULL);

	if (r < 0)
		return r;
	return process_numbers(text, "\nTgid:\t", 10, &tgid, 1) ? (pid_t)tgid : -EINVAL;
}

int process_list(struct process **ret, size_t *n_ret)
{
	autofree struct process *list = NULL;
	DIR *proc = opendir("/proc");
	size_t n = 0;
	struct dirent *dirent;

	if (!proc)
		return -errno;
	while ((dirent = readdir(proc))) {
		struct process p;
		char *end;
		long pid = strtol(dirent->d_name, &end, 10);

		if (pid <= 0 || *end || process_read(&p, (pid_t)pid) < 0)
			continue;
		if (util_room(&list, n, sizeof(*list)) < 0) {
			closedir(proc);
			return -ENOMEM;
		}
		list[n++] = p;
	}
	closedir(proc);
	*ret = TAKE_PTR(list);
	*n_ret = n;
	return 0;
}
