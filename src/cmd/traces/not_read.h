/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages about a folder that cannot be read as a trace: why, and what to do. */
#ifndef CMD_TRACES_NOT_READ_H
#define CMD_TRACES_NOT_READ_H

#include <stdbool.h>

/* Logs why DIR cannot be read as a trace folder; RES is the -errno. Returns RES. */
int log_not_read(int res, const char *dir);

/* Logs a file of the trace DIR that is packed in a way that is not read (xz, bzip2 ...). Returns whether there is one.
 */
bool log_foreign(const char *dir);

/*
 * Logs the first of the N folders DIRS whose trace a later version of dltraced wrote. Returns whether there is one:
 * then the command has nothing to read, and fails with EXIT_DLTRACED.
 */
bool log_newer(char *const *dirs, int n);

#endif
