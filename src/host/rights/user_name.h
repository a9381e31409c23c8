/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of users, from the user database, which may be a server's: a look may take long. */
#ifndef HOST_RIGHTS_USER_NAME_H
#define HOST_RIGHTS_USER_NAME_H

#include <sys/types.h>

#define USER_NAME_MAX 256

/* Returns BUF with the name of UID, or its number where it has none. */
const char *user_name(uid_t uid, char buf[USER_NAME_MAX]);

#endif
