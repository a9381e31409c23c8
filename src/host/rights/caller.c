/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/rights/caller.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/util.h"
#include "host/rights/sudo.h"

void caller_of(struct caller *c, uid_t uid, pid_t pid)
{
	*c = (struct caller){ .uid = uid, .session = MAX(getsid(pid), 0) };
}

void caller_find(struct caller *c)
{
	const char *by_sudo = geteuid() == 0 ? getenv("SUDO_UID") : NULL;
	pid_t sudo = by_sudo && isdigit((unsigned char)*by_sudo) ? sudo_find() : 0;

	caller_of(c, getuid(), sudo);
	if (by_sudo && isdigit((unsigned char)*by_sudo))
		c->uid = (uid_t)strtoul(by_sudo, NULL, 10);
	c->service = getenv(CALLER_SERVICE);
}
