/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/rights/filecaps.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/log.h"
#include "host/rights/creds.h"
#include "os/env.h"

/* To load and attach: CAP_SYS_RESOURCE where maps count as locked memory (Linux before 5.11). */
#define IN_FORCE                                                                                      \
	(CAP_BIT(CAP_BPF) | CAP_BIT(CAP_PERFMON) | CAP_BIT(CAP_SYS_ADMIN) | CAP_BIT(CAP_SYS_PTRACE) | \
	 CAP_BIT(CAP_SYS_RESOURCE))

/*
 * Once rows are written, for the thread that reads /proc of other users' processes (privileges.h); before
 * that no path is accessed with it.
 */
#define LATER CAP_BIT(CAP_DAC_READ_SEARCH)

static const char *env_begin, *env_end; /* the strings that execve(2) laid out one after the other; NULL: not ours */

static bool file_capabilities(void)
{
	return geteuid() != 0 && getauxval(AT_SECURE);
}

/* execve(2) leaves the arguments, the environment and the program's path in this order (fs/exec.c). */
static void note_environ(char *const *argv)
{
	const char *last = NULL;

	for (; *argv; argv++)
		last = *argv;
	if (!last)
		return;
	env_begin = last + strlen(last) + 1;
	env_end = (const char *)getauxval(AT_EXECFN);
}

int filecaps_begin(char *const *argv, bool traces)
{
	int r;

	if ((!geteuid() && getuid()) || getegid() != getgid()) {
		log_err("with set-user-ID or set-group-ID, dltraced would pass its own rights to the command that it "
			"runs: remove it (chmod ug-s); users can trace through the service, see dltraced(8)");
		return -EPERM;
	}
	if (!file_capabilities())
		return 0;
	note_environ(argv);
	r = traces ? creds_caps(IN_FORCE | LATER, IN_FORCE, 0) : creds_caps(0, 0, 0);
	return r < 0 ? log_err_r(r, "cannot give up capabilities") : 0;
}

char **filecaps_environ(void)
{
	char **env = env_begin && env_begin < env_end ? env_strings(env_begin, (size_t)(env_end - env_begin)) : NULL;
	size_t n = 0;

	for (char **e = env; e && *e; e++)
		if (strchr(*e, '='))
			env[n++] = *e;
	if (env)
		env[n] = NULL;
	return env;
}
