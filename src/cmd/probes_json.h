/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of a trace and their columns as JSON, for programs that read traces; made from the writer's own tables. */
#ifndef CMD_PROBES_JSON_H
#define CMD_PROBES_JSON_H

#include <stdio.h>

/* Returns 0, or -errno where there is no memory for the text. */
int probes_json_print(FILE *out);

#endif
