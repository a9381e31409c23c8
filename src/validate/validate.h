/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a trace folder keeps the promises of docs/traces.md, as far as the folder alone can show that. */
#ifndef VALIDATE_VALIDATE_H
#define VALIDATE_VALIDATE_H

#include <stdio.h>

/*
 * Reads the trace in the folder DIR and prints what is wrong with it to OUT, a line for each kind of problem.
 * Returns 0 if it is valid; 1 if it is not; or -errno, after a message, if it cannot be read or is not a trace folder.
 */
int validate_run(const char *dir, FILE *out);

#endif
