/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/helper.h"

#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/env.h"
#include "base/util.h"
#include "host/path_search.h"

/* sudo's and Debian's for root. */
#define SAFE_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static bool privileged;

/* At the start: children that have become a user must not look elsewhere. */
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
