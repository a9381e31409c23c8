/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The workload's identity: user, groups, environment, umask. Called from the control plane, before the
 * fork; only workload_user_become() runs in children. Starts no process.
 */
#include "host/rights/workload_user.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "host/rights/filecaps.h"
#include "host/rights/sudo.h"
#include "os/env.h"

/* A uid or gid in decimal. (uid_t)-1 is invalid: setresuid(2) would take it for "leave unchanged". */
static bool parse_id(const char *s, unsigned int *ret)
{
	unsigned long v;
	char *end;

	if (!s || *s < '0' || *s > '9')
		return false;
	errno = 0;
	v = strtoul(s, &end, 10);
	if (errno || *end || v >= UINT_MAX)
		return false;
	*ret = (unsigned int)v;
	return true;
}

/* Our environment with the variables that name the user set to U. */
static char **env_of_user(const struct workload_user *u, const char *shell)
{
	autofree char *home = util_fmt("HOME=%s", u->home), *user = util_fmt("USER=%s", u->name);
	autofree char *logname = util_fmt("LOGNAME=%s", u->name), *sh = util_fmt("SHELL=%s", shell);
	char *const over[] = { home, user, logname, sh, NULL };

	return home && user && logname && sh ? env_merge(environ, over) : NULL;
}

/* Restores to USER what sudo has changed on the way to us; USER->lacks lists what could not be restored. */
static int restore_from_sudo(struct workload_user *user)
{
	pid_t sudo = sudo_find();
	char **env;
	int r = sudo ? sudo_environ(sudo, &env) : -ESRCH;
	bool has_umask = sudo && sudo_caller_umask(sudo, &user->umask);
	const char *why = "its caller has ended";

	if (!r) {
		free(user->environ);
		user->environ = env;
	}
	if (!r && has_umask)
		return 0;
	if (!sudo)
		why = "no sudo process above this one";
	else if (r < 0)
		why = strerror(-r);
	user->lacks = util_fmt("cannot restore the %s%s%s from before sudo (%s)", r < 0 ? "environment" : "",
			       r < 0 && !has_umask ? " and " : "", has_umask ? "" : "umask", why);
	return user->lacks ? 0 : -ENOMEM;
}

static int get_groups(struct workload_user *user)
{
	int n = 16, r;

	do {
		gid_t *more = reallocarray(user->groups, (size_t)n, sizeof(*more));

		if (!more)
			return -ENOMEM;
		user->groups = more;
		r = getgrouplist(user->name, user->gid, user->groups, &n);
	} while (r < 0);
	user->n_groups = r;
	return 0;
}

static mode_t own_umask(void)
{
	mode_t m = umask(0);

	umask(m);
	return m;
}

static int get_user(struct workload_user *user, const char *name)
{
	const char *sudo_gid = getenv("SUDO_GID");
	uid_t sudo_uid;
	bool sudo = geteuid() == 0 && parse_id(getenv("SUDO_UID"), &sudo_uid);
	const struct passwd *pw;
	int r;

	if (name) {
		pw = getpwnam(name);
		if (!pw && parse_id(name, &user->uid))
			pw = getpwuid(user->uid);
		if (!pw)
			return -ENOENT;
		user->uid = pw->pw_uid;
	} else {
		user->uid = sudo ? sudo_uid : geteuid();
		pw = getpwuid(user->uid);
	}
	user->sudo = sudo && user->uid == sudo_uid;
	user->gid = pw ? pw->pw_gid : getegid();
	if (user->sudo && !parse_id(sudo_gid, &user->gid) && !pw)
		return -ENOENT;
	if (pw)
		snprintf(user->name, sizeof(user->name), "%s", pw->pw_name);
	else
		snprintf(user->name, sizeof(user->name), "%u", user->uid);
	snprintf(user->home, sizeof(user->home), "%s", pw ? pw->pw_dir : "/");
	if (!name && !sudo) {
		user->gid = getegid();
		user->environ = filecaps_environ();
		return 0;
	}
	user->environ = env_of_user(user, pw && *pw->pw_shell ? pw->pw_shell : "/bin/sh");
	r = user->environ ? get_groups(user) : -ENOMEM;
	return r < 0 || !user->sudo ? r : restore_from_sudo(user);
}

int workload_user_get(struct workload_user *u, const char *name)
{
	int r;

	*u = (struct workload_user){ .umask = own_umask() };
	r = get_user(u, name);
	if (r < 0)
		workload_user_free(u);
	return r;
}

void workload_user_free(struct workload_user *u)
{
	free(u->groups);
	free(u->environ);
	free(u->lacks);
	*u = (struct workload_user){ 0 };
}

int workload_user_become(const struct workload_user *u)
{
	if (u->uid == geteuid() && u->gid == getegid())
		return 0;
	if (setgroups((size_t)u->n_groups, u->groups) < 0 || setresgid(u->gid, u->gid, u->gid) < 0 ||
	    setresuid(u->uid, u->uid, u->uid) < 0)
		return -errno;
	return 0;
}

int workload_user_setenv(struct workload_user *u, char *entry)
{
	char *const over[] = { entry, NULL };
	char **env = env_merge(u->environ ?: environ, over);

	if (!env)
		return -ENOMEM;
	free(u->environ);
	u->environ = env;
	return 0;
}

int workload_user_prepend(struct workload_user *u, const char *variable, const char *what)
{
	const char *before = env_find(u->environ ?: environ, variable);
	autofree char *entry = NULL;

	before = before ? before + strlen(variable) : "";
	entry = util_fmt("%s%s%s%s", variable, what, *before ? ":" : "", before);
	return entry ? workload_user_setenv(u, entry) : -ENOMEM;
}
