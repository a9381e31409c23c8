/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a later version of dltraced wrote a trace, by the numbers of its schema: a higher one means that a column has
 * another meaning. Such a trace is not read: its numbers would be wrong, and nothing would show it. Offline side; knows
 * no command.
 */
#ifndef TRACE_NEWER_H
#define TRACE_NEWER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct newer {
	char file[NAME_MAX + 1]; /* the first one found, the manifest before others */
	char version[32]; /* of the dltraced that wrote the trace, as the manifest has it: hostile; "": not known */
	uint64_t schema; /* of the file */
};

/*
 * Returns whether the manifest of the trace in the folder DIRFD, or line 1 of one of its files, packed ones too, has a
 * schema above READER_SCHEMA; describes that in *RET then. What cannot be read is not newer.
 */
bool newer_find(int dirfd, struct newer *ret);

#endif
