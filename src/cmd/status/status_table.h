/* SPDX-License-Identifier: BSD-2-Clause */
/* The running traces as a table, in lines of a given width. Words of a trace are escaped as in the .out files. */
#ifndef CMD_STATUS_STATUS_TABLE_H
#define CMD_STATUS_STATUS_TABLE_H

#include <stdio.h>

#include "control/client.h"

/* Prints the heads of the columns that fit into WIDTH. */
void status_head(FILE *out, unsigned int width);

/* Prints TRACE in lines of up to WIDTH, and its folder in lines of up to LIMIT; 0: in one line. */
void status_row(FILE *out, const struct trace *trace, unsigned int width, unsigned int limit);

#endif
