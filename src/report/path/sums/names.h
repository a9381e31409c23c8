/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The texts of a path, each once and with a number: names of processes and files, remote ends of sockets. A name of a
 * file stands for all that differ in their digits alone, so that ten thousand samples are one. Bounded: what finds no
 * room shares a name.
 */
#ifndef REPORT_PATH_SUMS_NAMES_H
#define REPORT_PATH_SUMS_NAMES_H

#include "stats/table.h"
#include "trace/reader.h"

#define PATH_NAMES_MAX (1U << 18)
#define PATH_NAME_BYTES 256 /* longer ones are cut */

struct path_names {
	struct table all; /* char *, by table_key() */
};

void path_names_init(struct path_names *names);
void path_names_free(struct path_names *names);

/* Returns the number of the text F; 0 for `-', and when memory is out. */
uint32_t path_name(struct path_names *names, struct reader_field f);
/* Returns the number of F with # in place of its digits; those of an escaped byte (\040) stay. */
uint32_t path_name_pattern(struct path_names *names, struct reader_field f);
/* The text FROM, of LEN bytes, is TO from now on; where there is no memory, it stays. */
void path_names_rename(struct path_names *names, const char *from, size_t len, const char *to);
/* Returns the text of NAME, escaped as in the files; NULL for 0. */
const char *path_name_text(const struct path_names *names, uint32_t name);

#endif
