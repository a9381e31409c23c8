/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>

#include "base/util.h"
#include "host/path_search.h"
#include "os/descriptors.h"
#include "os/env.h"

/* sudo's and Debian's for root. */
#define SAFE_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static bool privileged;

/* Set at the start: children that have become a user must not look elsewhere. */
static __attribute__((constructor)) void note_privileges(void)
{
	privileged = geteuid() == 0 || getauxval(AT_SECURE);
}

void helper_trust_path(void)
{
	privileged = false;
}

const char *helper_path(void)
{
	const char *ours = privileged ? NULL : getenv("PATH");

	return ours ? ours : SAFE_PATH;
}

int helper_find(const char *name, char *buf, size_t size)
{
	return path_search(name, helper_path(), buf, size);
}

#define TAKEN_MAX 8

char **helper_environ(char *const *own, const char *const *taken)
{
	autofree char *path = util_fmt("PATH=%s", helper_path());
	char *env[TAKEN_MAX + 3] = { path, (char *)"LC_ALL=C" }, *none[] = { NULL };
	size_t n = 2;

	if (!path)
		return NULL;
	for (; taken && *taken && n < ARRAY_SIZE(env) - 1; taken++) {
		const char *entry = env_find(environ, *taken);

		if (entry && !strncmp(entry, *taken, strlen(*taken)))
			env[n++] = (char *)entry;
	}
	return env_merge(env, own ? own : none);
}

/* --- running one ------------------------------------------------------------------------------------------ */

int helper_spawn(pid_t *pid_ret, const char *const argv[], const char *const *taken, unsigned int flags, int out_fd)
{
	const short group = flags & HELPER_OURS ? 0 : POSIX_SPAWN_SETPGROUP;
	autofree char **env = helper_environ(NULL, taken);
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, defaults;
	char path[PATH_MAX];
	int r = env ? helper_find(argv[0], path, sizeof(path)) : -ENOMEM;

	if (r < 0)
		return r;
	sigemptyset(&none);
	if (group)
		sigfillset(&defaults);
	else
		sigemptyset(
			&defaults); /* a helper in our process group takes our signals as we do, nohup's SIGHUP too */
	sigaddset(&defaults, SIGPIPE); /* dltraced ignores it */
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	r = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDWR, 0);
	if (!r)
		r = posix_spawn_file_actions_adddup2(&files, out_fd, STDOUT_FILENO);
	if (!r && !(flags & HELPER_STDERR))
		r = posix_spawn_file_actions_adddup2(&files, flags & HELPER_BOTH ? out_fd : STDIN_FILENO,
						     STDERR_FILENO);
	if (!r)
		r = descriptors_spawn_close_from(&files, STDERR_FILENO + 1);
	posix_spawnattr_setflags(&attr, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group));
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	if (!r)
		r = posix_spawn(pid_ret, path, &files, &attr, (char *const *)argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return -r;
}

/* When to give up: at a time, or as soon as STOP_FD is readable (-1: never). */
struct limit {
	uint64_t deadline_ns;
	int stop_fd;
};

/* Wait until FD is readable or has ended; 0, -ETIMEDOUT, -ECANCELED or -errno. */
static int wait_until(int fd, const struct limit *limit)
{
	struct pollfd p[] = { { .fd = fd, .events = POLLIN }, { .fd = limit->stop_fd, .events = POLLIN } };
	int r;

	do {
		uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);

		if (now_ns >= limit->deadline_ns)
			return -ETIMEDOUT;
		r = poll(p, ARRAY_SIZE(p), (int)((limit->deadline_ns - now_ns) / NSEC_PER_MSEC) + 1);
	} while (r == 0 || (r < 0 && errno == EINTR));
	if (r < 0)
		return -errno;
	return p[1].revents ? -ECANCELED : 0;
}

/* Read FD to its end, at most SIZE - 1 bytes, as a string; 0 or -errno. */
static int read_until(int fd, const struct limit *limit, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n;

	do {
		int r = wait_until(fd, limit);

		if (r < 0)
			return r;
		n = read(fd, buf + len, size - 1 - len);
		if (n < 0)
			return -errno;
		len += (size_t)n;
		buf[len] = '\0';
	} while (n > 0 && len < size - 1);
	return n > 0 ? -EMSGSIZE : 0;
}

int helper_output(const char *const argv[], const char *const *taken, unsigned int flags, uint64_t timeout_ns,
		  int stop_fd, char *buf, size_t size, int *status)
{
	const struct limit limit = { clock_now_ns(CLOCK_MONOTONIC) + timeout_ns, stop_fd };
	autoclose int out = -1, pidfd = -1;
	int ends[2], r;
	pid_t pid;

	*status = -1;
	buf[0] = '\0';
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	out = ends[0];
	r = helper_spawn(&pid, argv, taken, flags, ends[1]);
	close(ends[1]);
	if (r < 0)
		return r;
	r = read_until(out, &limit, buf, size);
	pidfd = util_pidfd_open(pid);
	if (!r)
		r = pidfd < 0 ? pidfd : wait_until(pidfd, &limit);
	if (r < 0) /* the helper and its children: they have a process group of their own */
		kill(-pid, SIGKILL);
	(void)TEMP_FAILURE_RETRY(waitpid(pid, status, 0));
	return r;
}
