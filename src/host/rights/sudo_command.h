/* SPDX-License-Identifier: BSD-2-Clause */
/* How a user runs this program by sudo: for messages that say so. */
#ifndef HOST_RIGHTS_SUDO_COMMAND_H
#define HOST_RIGHTS_SUDO_COMMAND_H

#include <stddef.h>

/*
 * Writes "sudo dltraced" to BUF, or "sudo PATH" with the program's own path where sudo's search would not find this
 * file: in a virtual environment, an unpacked archive, a build. PATH is quoted for a shell, and cut at SIZE. Returns
 * BUF.
 */
const char *sudo_command(char *buf, size_t size);

/* Writes " (sudo PATH ...)" to BUF where "run with sudo" alone would not work, else "". Returns BUF. */
const char *sudo_hint(char *buf, size_t size);

#endif
