/* SPDX-License-Identifier: BSD-2-Clause */
/* The traces below a folder, as start makes them there: FOLDER/NAME, of Slurm's jobs FOLDER/NAME/HOST. */
#ifndef CMD_TRACES_H
#define CMD_TRACES_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#define TRACES_FOLDER "traces" /* where start puts them, where nobody names another */

/* The one that began last, as FOLDER/... ; false: there is none, and PATH is "". */
bool traces_newest(const char *folder, char path[PATH_MAX]);

/* Whether FOLDER is no trace, and there are some below. */
bool traces_are_below(const char *folder);

/*
 * A line for each: when it began, how long it lasted, how its job ended, what that waited for. False: the folder is a trace
 * itself, or there is none below, and nothing has been printed.
 */
bool traces_list(const char *folder, FILE *out);

#endif
