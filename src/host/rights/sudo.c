/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sudo that started us, see sudo.h: read from /proc, by the control plane, before the fork. Does not
 * know how its findings are used.
 */
#include "host/rights/sudo.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/util.h"
#include "host/process.h"
#include "os/env.h"

/* More than execve(2) can have passed: 3/4 of _STK_LIM, 6 MiB (linux/fs/exec.c). */
#define PROC_TEXT_MAX (8 << 20)

/* A number of /proc/PID/status. */
static bool proc_status(pid_t pid, const char *key, int base, unsigned long long *ret)
{
	autofree char *text = NULL;

	return process_text(pid, "status", PROCESS_TEXT_MAX, &text, NULL) == 0 &&
	       process_numbers(text, key, base, ret, 1);
}

static pid_t parent_of(pid_t pid)
{
	unsigned long long ppid;

	return proc_status(pid, "\nPPid:\t", 10, &ppid) ? (pid_t)ppid : 0;
}

/* The NUL-separated strings of /proc/PID/NAME, in one block. */
static int proc_strings(pid_t pid, const char *name, char ***ret)
{
	autofree char *text = NULL;
	size_t len;
	int r = process_text(pid, name, PROC_TEXT_MAX, &text, &len);

	if (r < 0)
		return r;
	*ret = env_strings(text, len);
	return *ret ? 0 : -ENOMEM;
}

/*
 * Recognized by its name and by the defining property of a sudo: a program that root owns and others may
 * run as root.
 */
static bool is_sudo(pid_t pid)
{
	autofree char *comm_path = util_fmt("/proc/%d/comm", pid);
	autofree char *exe = util_fmt("/proc/%d/exe", pid);
	struct stat st;
	char comm[32];

	return comm_path && exe && !util_read_line(comm_path, comm, sizeof(comm)) && !strcmp(comm, "sudo") &&
	       !stat(exe, &st) && st.st_uid == 0 && (st.st_mode & S_ISUID);
}

static bool same_strings(char *const *a, char *const *b)
{
	while (*a && *b && !strcmp(*a, *b))
		a++, b++;
	return !*a && !*b;
}

/* Is PID its parent's fork: sudo's monitor under use_pty, rather than a sudo of its own? */
static bool is_monitor(pid_t pid, pid_t parent)
{
	autofree char **args = NULL, **parent_args = NULL;

	return is_sudo(parent) && !proc_strings(pid, "cmdline", &args) &&
	       !proc_strings(parent, "cmdline", &parent_args) && same_strings(args, parent_args);
}

pid_t sudo_find(void)
{
	pid_t pid = getppid(), parent;

	while (pid > 0 && !is_sudo(pid))
		pid = parent_of(pid);
	while (pid > 0 && is_monitor(pid, parent = parent_of(pid)))
		pid = parent;
	return pid;
}

int sudo_environ(pid_t sudo, char ***ret)
{
	autofree char **env = NULL, **args = NULL;
	size_t n = 0;
	int r = proc_strings(sudo, "environ", &env);

	if (!r)
		r = proc_strings(sudo, "cmdline", &args);
	/* no process that comes later becomes an ancestor of ours: what was read is another's only if that has ended */
	if (!r && sudo_find() != sudo)
		r = -ESRCH;
	if (r < 0)
		return r;
	for (char **a = args; *a; a++) {
		const char *ours = strchr(*a, '=') ? env_find(environ, *a) : NULL;

		if (ours && !strcmp(ours, *a))
			args[n++] = *a;
	}
	args[n] = NULL;
	*ret = env_merge(env, args);
	return *ret ? 0 : -ENOMEM;
}

bool sudo_caller_umask(pid_t sudo, mode_t *ret)
{
	pid_t caller = parent_of(sudo);
	unsigned long long mask;

	/* Process 1 adopts orphans: it is not the caller, and its umask may be 0. */
	if (caller <= 1 || !proc_status(caller, "\nUmask:\t", 8, &mask) || sudo_find() != sudo ||
	    parent_of(sudo) != caller)
		return false;
	*ret = (mode_t)mask;
	return true;
}
