/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/rights/sudo_command.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shell.h"
#include "base/util.h"
#include "host/path_search.h"

/* secure_path of Debian's and Ubuntu's /etc/sudoers, which only root may read. */
#define SECURE_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static bool sudo_finds(const char *self)
{
	char path[PATH_MAX], real[PATH_MAX];

	return !path_search("dltraced", SECURE_PATH, path, sizeof(path)) && realpath(path, real) && !strcmp(real, self);
}

const char *sudo_command(char *buf, size_t size)
{
	autofree char *self = realpath("/proc/self/exe", NULL);

	snprintf(buf, size, "sudo");
	shell_append(buf, size, !self || sudo_finds(self) ? "dltraced" : self);
	return buf;
}

const char *sudo_hint(char *buf, size_t size)
{
	char command[PATH_MAX];

	snprintf(buf, size, " (%s ...)", sudo_command(command, sizeof(command)));
	if (!strcmp(command, "sudo dltraced"))
		buf[0] = '\0';
	return buf;
}
