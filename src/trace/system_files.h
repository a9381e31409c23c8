/* SPDX-License-Identifier: BSD-2-Clause */
/* The folders in which systems keep their files. Pure. */
#ifndef TRACE_SYSTEM_FILES_H
#define TRACE_SYSTEM_FILES_H

#include <stdbool.h>
#include <stddef.h>

enum system_folder {
	SYSTEM_SOFTWARE = 1 << 0, /* of programs, settings and files without storage: never of a job's data */
	SYSTEM_DISK = 1 << 1, /* on the disk of the system, below which most of the files are programs' */
};

/* Whether PATH, of LEN bytes, is in a folder of KIND. */
bool system_files_has(enum system_folder kind, const char *path, size_t len);

#endif
