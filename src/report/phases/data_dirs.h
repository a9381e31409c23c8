/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folders that a program for DFTracer has named as those of its data (initialize_log's data_dir,
 * DFTRACER_DATA_DIR): lists of files are about these. Bounded.
 */
#ifndef REPORT_PHASES_DATA_DIRS_H
#define REPORT_PHASES_DATA_DIRS_H

#include <stdbool.h>
#include <stddef.h>

#define DATA_DIRS_MAX 32

struct data_dirs {
	char *path[DATA_DIRS_MAX]; /* escaped as in the .out files, no slash at its end */
	unsigned int n;
	bool all; /* a process has named all files, or more folders than there is room for */
};

/* Adds the absolute paths in P, between colons, or "all"; others are left out. */
void data_dirs_add(struct data_dirs *dirs, const char *p, size_t len);
/* Whether only files at or below some folders are meant. */
bool data_dirs_any(const struct data_dirs *dirs);
/* Whether the file with the path P is one of these; true where all are. */
bool data_dirs_have(const struct data_dirs *dirs, const char *p, size_t len);
void data_dirs_free(struct data_dirs *dirs);

#endif
