/* SPDX-License-Identifier: BSD-2-Clause */
/* A line of /proc/PID/maps: a part of a process's memory, and the file that it shows. Pure. */
#ifndef HOST_MAPPING_H
#define HOST_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

struct mapping {
	uint64_t begin, end;
	uint64_t offset; /* in the file */
	bool code; /* it can be executed */
	uint32_t major, minor;
	uint64_t ino; /* 0: it is of no file */
	const char *path; /* as the kernel shows it: escaped, perhaps with " (deleted)" behind it; within the line */
};

/* Parses LINE, without its newline. Returns false when it has not all of this. */
bool mapping_parse(const char *line, struct mapping *ret);

/* Returns PATH's last component. */
const char *mapping_name(const struct mapping *m);

#endif
