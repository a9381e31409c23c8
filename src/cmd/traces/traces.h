/* SPDX-License-Identifier: BSD-2-Clause */
/* The traces below a folder, as start makes them: FOLDER/NAME, or FOLDER/NAME/HOST under Slurm. */
#ifndef CMD_TRACES_TRACES_H
#define CMD_TRACES_TRACES_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#define TRACES_FOLDER "traces" /* where start puts traces by default */

/* Puts the trace that began last into PATH, as FOLDER/... . Returns false, with PATH "", when there is none. */
bool traces_newest(const char *folder, char path[PATH_MAX]);

/* Whether FOLDER is no trace, and has traces below it. */
bool traces_are_below(const char *folder);

/*
 * Prints a line for each trace: its begin, its length, how its job ended, and what the job waited for. Returns false,
 * and prints nothing, where FOLDER is a trace itself, or has none below it.
 */
bool traces_list(const char *folder, FILE *out);

#endif
