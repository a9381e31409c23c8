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
static int is_seen(const struct process_look *look)
{
	uint64_t tick_ns = NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
	autofree char *stat = NULL, *status = NULL;
	unsigned long long uid;
	struct process now;
	int r = process_look_text(look, "stat", PROCESS_TEXT_MAX, &stat, NULL);

	if (!r)
		r = process_parse(&now, look->seen.pid, stat);
	if (!r)
		r = process_look_text(look, "status", PROCESS_TEXT_MAX, &status, NULL);
	if (r < 0)
		return r;
	if (now.start_ticks != look->seen.start_ns / tick_ns ||
	    (look->seen.args_at && now.args_at && now.args_at != look->seen.args_at) ||
	    !process_numbers(status, "\nUid:\t", 10, &uid, 1) || uid != look->seen.uid)
		return -ESTALE;
	return 0;
}

int process_look_begin(struct process_look *look, const struct process_seen *seen)
{
	char path[32];
	int r;

	snprintf(path, sizeof(path), "/proc/%d", seen->pid);
	*look = (struct process_look){ .seen = *seen, .dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) };
	if (look->dir < 0)
		return -errno;
	r = is_seen(look);
	if (r < 0)
		util_close(&look->dir);
	return r;
}

int process_look_end(struct process_look *l)
{
	int r = is_seen(l);

	util_close(&l->dir);
	return r;
}
