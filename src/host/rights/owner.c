/* SPDX-License-Identifier: BSD-2-Clause */
/* See owner.h. Reads /proc, changes nothing. */
#include "host/rights/owner.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/util.h"
#include "host/process.h"
#include "host/rights/creds.h"

#define STATUS_MAX 16384

static bool has_group(const struct owner *o, gid_t gid)
{
	bool has = gid == o->gid;

	for (size_t i = 0; !has && i < o->n_groups; i++)
		has = gid == o->groups[i];
	return has;
}

bool owner_is_thread(const char *status, const struct owner *o, char *why, size_t size)
{
	unsigned long long uids[4], gids[4], caps;

	if (process_numbers(status, "\nUid:\t", 10, uids, 4) != 4 ||
	    process_numbers(status, "\nGid:\t", 10, gids, 4) != 4 ||
	    process_numbers(status, "\nCapPrm:\t", 16, &caps, 1) != 1) {
		snprintf(why, size, "its owner cannot be found out");
		return false;
	}
	for (int i = 0; i < 4; i++) {
		if (uids[i] != o->uid) {
			snprintf(why, size, "it is not only yours: it runs as user %llu", uids[i]);
			return false;
		}
		if (gids[i] != gids[0] || !has_group(o, (gid_t)gids[i])) {
			snprintf(why, size, "it has rights that you do not have: it runs with group %llu", gids[i]);
			return false;
		}
	}
	if (caps)
		snprintf(why, size, "it has rights that you do not have: capabilities %llx", caps);
	return !caps;
}

static bool thread_is(pid_t pid, const char *tid, const struct owner *owner, char *why, size_t size)
{
	autofree char *path = util_fmt("/proc/%d/task/%s/status", pid, tid), *text = NULL;
	int r = path ? util_read_file(path, STATUS_MAX, &text, NULL) : -ENOMEM;

	if (r == -ENOENT || r == -ESRCH) /* it has just ended */
		return true;
	if (r < 0) {
		snprintf(why, size, "%s", strerror(-r));
		return false;
	}
	return owner_is_thread(text, owner, why, size);
}

bool owner_is(pid_t pid, const struct owner *o, char *why, size_t size)
{
	autofree char *file = util_fmt("/proc/%d/status", pid), *tasks = util_fmt("/proc/%d/task", pid);
	unsigned int n = 0;
	struct dirent *e;
	struct stat st;
	bool ok = true;
	DIR *dir;

	if (!file || !tasks || stat(file, &st) < 0 || !(dir = opendir(tasks))) {
		snprintf(why, size, "no such process");
		return false;
	}
	while (ok && (e = readdir(dir)))
		if (*e->d_name != '.') {
			ok = thread_is(pid, e->d_name, o, why, size);
			n++;
		}
	closedir(dir);
	/* root's where the kernel lets no other process of the user look into it: "dumpable", proc(5) */
	if (ok && st.st_uid != o->uid) {
		snprintf(why, size, "it had rights that you do not have, and may hold data that you may not read");
		return false;
	}
	if (ok && !n)
		snprintf(why, size, "no such process");
	return ok && n;
}

pid_t owner_pidfd_pid(int pidfd)
{
	autofree char *path = util_fmt("/proc/self/fdinfo/%d", pidfd), *text = NULL;
	unsigned long long pid;
	int r;

	/* our own, but mode 0400 and root's before Linux 5.14 (commit 7bc3fa0172a4) */
	creds_root();
	r = path ? util_read_file(path, 4096, &text, NULL) : -ENOMEM;
	creds_user();
	if (r < 0)
		return r;
	if (!process_numbers(text, "\nPid:\t", 10, &pid, 1)) /* not a pidfd */
		return -EINVAL;
	return (long long)pid > 0 ? (pid_t)pid : -ESRCH; /* -1: ended; 0: of a pid namespace that is not below ours */
}

bool owner_pidfd_ended(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, 0) != 0;
}
