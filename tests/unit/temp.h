/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a test puts its folder, and children of a test that end with it. */
#ifndef TEMP_H
#define TEMP_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define TEMP_MAX 64

/*
 * What stands in for a tool that never answers, as the end of a shell script: it uses no CPU, and ends with the thread
 * that started it, after a minute in any case.
 */
#define NEVER_ANSWERS "exec /usr/bin/setpriv --pdeathsig KILL /bin/sleep 60"

/* Writes a template for mkdtemp(3) in $TMPDIR, which tests/run-unit removes, or /tmp: sockets' paths are short. */
static inline char *temp_template(char buf[static TEMP_MAX], const char *name)
{
	const char *dir = getenv("TMPDIR");

	if (!dir || snprintf(buf, TEMP_MAX, "%s/%s.XXXXXX", dir, name) >= TEMP_MAX)
		snprintf(buf, TEMP_MAX, "/tmp/%s.XXXXXX", name);
	return buf;
}

/* fork(2), but the child gets SIGKILL when the thread that called this ends, however that ends. */
static inline pid_t fork_bound(void)
{
	const pid_t parent = getpid(), pid = fork();

	if (pid == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent))
		_exit(126);
	return pid;
}

#endif
