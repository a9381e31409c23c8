/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/rights/user_name.h"

#include <pwd.h>
#include <stdio.h>

const char *user_name(uid_t uid, char buf[USER_NAME_MAX])
{
	const struct passwd *pw = getpwuid(uid);

	if (pw)
		snprintf(buf, USER_NAME_MAX, "%s", pw->pw_name);
	else
		snprintf(buf, USER_NAME_MAX, "%u", uid);
	return buf;
}
