/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/process_look.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/util.h"
#include "host/process.h"

int process_look_text(const struct process_look *l, const char *name, size_t max, char **ret, size_t *len_ret)
{
	autoclose int fd = openat(l->dir, name, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : util_read_fd(fd, max, ret, len_ret);

	return r == -ESRCH ? -ENOENT : r;
}

/* The kernel shows a start in ticks, cut off (nsec_to_clock_t()), and no addresses to those without ptrace's rights. */
static int is_seen(const struct process_look *l)
{
	uint64_t tick_ns = NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
	autofree char *stat = NULL, *status = NULL;
	unsigned long long uid;
	struct process now;
	int r = process_look_text(l, "stat", PROCESS_TEXT_MAX, &stat, NULL);

	if (!r)
		r = process_parse(&now, l->seen.pid, stat);
	if (!r)
		r = process_look_text(l, "status", PROCESS_TEXT_MAX, &status, NULL);
	if (r < 0)
		return r;
	if (now.start_ticks != l->seen.start_ns / tick_ns ||
	    (l->seen.args_at && now.args_at && now.args_at != l->seen.args_at) ||
	    !process_numbers(status, "\nUid:\t", 10, &uid, 1) || uid != l->seen.uid)
		return -ESTALE;
	return 0;
}

int process_look_begin(struct process_look *l, const struct process_seen *seen)
{
	char path[32];
	int r;

	snprintf(path, sizeof(path), "/proc/%d", seen->pid);
	*l = (struct process_look){ .seen = *seen, .dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) };
	if (l->dir < 0)
		return -errno;
	r = is_seen(l);
	if (r < 0)
		util_close(&l->dir);
	return r;
}

int process_look_end(struct process_look *l)
{
	int r = is_seen(l);

	util_close(&l->dir);
	return r;
}
