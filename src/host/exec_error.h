/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a command could not be executed: the kernel returns one number for a file that is not there, for an interpreter
 * that is not there, and for a word that only a shell understands.
 */
#ifndef HOST_EXEC_ERROR_H
#define HOST_EXEC_ERROR_H

#include <stddef.h>

/*
 * Writes the reason and the remedy into BUF: NAME, searched in PATH_ENV (NULL: not set), could not be found or
 * executed, with R, a -errno. Looks at files with the caller's rights, and reads the first line of a script. The text
 * may have bytes of NAME and of that file.
 */
void exec_error_text(const char *name, const char *path_env, int r, char *buf, size_t size);

#endif
