/* SPDX-License-Identifier: BSD-2-Clause */
/* A part of a trace as a trace folder of its own: rows of some times, of some processes. */
#ifndef FOLDER_CUT_H
#define FOLDER_CUT_H

#include "base/pids.h"
#include "export/times.h"

struct cut_options {
	struct times_options times;
	struct pids pids; /* none: all */
};

/* Makes TO of FROM. Returns as copy_folder(). */
int cut_folder(const char *from, const char *to, const struct cut_options *options);

#endif
