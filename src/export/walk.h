/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the pass over the folders. */
#ifndef EXPORT_WALK_H
#define EXPORT_WALK_H

#include "export/cut.h"

#define WALK_FILES_MAX 64

struct walk {
	struct export *x;
	struct export_cut cut;
	char names[WALK_FILES_MAX][16]; /* of the files, without .out */
	unsigned int n;
	uint64_t bad_rows[WALK_FILES_MAX]; /* for a file that is being read: its rows without a TIMESTAMP */
};

#endif
