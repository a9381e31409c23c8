/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/status/call_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "cmd/status/frame.h"
#include "host/process.h"
#include "host/stall/remote.h"

_Static_assert(REMOTE_STRING_MAX <= PATH_MAX && 2UL * PATH_MAX <= sizeof(((struct frame_call *)NULL)->file), "a path");

/* Reads the path of CALL's descriptor, or of AT_FDCWD. Returns its length, or -1. */
static ssize_t read_link(const struct frame_call *call, char path[PATH_MAX])
{
	unsigned long long pid = call->pid, tid = call->tid;
	int fd = atoi(call->fd);
	char link[64];

	if (fd == AT_FDCWD || !*call->fd)
		snprintf(link, sizeof(link), "/proc/%llu/task/%llu/cwd", pid, tid);
	else
		snprintf(link, sizeof(link), "/proc/%llu/task/%llu/fd/%d", pid, tid, fd);
	return readlink(link, path, PATH_MAX - 1);
}

/* Reads the path that was passed to CALL, made absolute where possible. Returns its length, or -1. */
static ssize_t read_path(const struct frame_call *call, char path[2 * PATH_MAX])
{
	char given[REMOTE_STRING_MAX];
	ssize_t len = remote_string((pid_t)call->pid, call->addr, given), base = -1;

	if (len > 0 && *given != '/')
		base = read_link(call, path);
	if (base > 0 && path[base - 1] != '/')
		path[base++] = '/';
	if (len >= 0)
		memcpy(path + MAX(base, 0), given, (size_t)len);
	return len < 0 ? len : len + MAX(base, 0);
}

/* Whether C's thread, which existed at SINCE_NS, still exists; a later thread with its number does not count. */
static bool thread_is_there(const struct frame_call *c, uint64_t since_ns)
{
	autofree char *text = NULL;
	struct process thread;
	char name[64];

	snprintf(name, sizeof(name), "task/%llu/stat", (unsigned long long)c->tid);
	return process_text((pid_t)c->pid, name, PROCESS_TEXT_MAX, &text, NULL) == 0 &&
	       process_parse(&thread, (pid_t)c->tid, text) == 0 && process_is_from(&thread, since_ns);
}

/* The thread is checked before and after the look: if it is still there, no other one had its numbers in between. */
void call_file_find(struct frame_call *call)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	uint64_t since_ns = now_ns - MIN(call->running_ms, now_ns / NSEC_PER_MSEC) * NSEC_PER_MSEC;
	bool has_file = *call->file, has_comm = *call->comm;
	char path[64];
	ssize_t len = 0;

	if (!thread_is_there(call, since_ns))
		return;
	if (!has_file && (call->addr || *call->fd)) {
		len = call->addr ? read_path(call, call->file) : read_link(call, call->file);
		call->file[MAX(len, 0)] = '\0';
	}
	snprintf(path, sizeof(path), "/proc/%llu/task/%llu/comm", (unsigned long long)call->pid,
		 (unsigned long long)call->tid);
	if (!has_comm)
		util_read_line(path, call->comm, sizeof(call->comm));
	if (thread_is_there(call, since_ns))
		return;
	if (!has_file)
		*call->file = '\0';
	if (!has_comm)
		*call->comm = '\0';
}
