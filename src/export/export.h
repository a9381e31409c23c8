/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `dltraced export': the rows of trace folders in the formats of other programs. Rows are read once, as a stream:
 * memory depends on the number of processes, files and disks, not of rows. Offline: needs no root, and trusts no byte
 * of the folders.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pids.h"
#include "export/times.h"
#include "trace/probe_mask.h"

struct exporter;

struct export_options {
	const struct exporter *format;
	const char *out; /* "-": standard output */
	const char *probes; /* files by name, with commas; NULL: all */
	const char *path; /* absolute: of rows with a FID, only those of files at or below it. NULL: all */
	struct pids pids; /* none: all */
	struct times_options times;
	unsigned int dialect; /* of pfw: 1, 2, 3 */
	uint64_t split_bytes; /* of perfetto: a further file begins at this size */
	char **dirs;
	int n_dirs;
};

/* Returns the format NAME; NULL when there is none. */
const struct exporter *export_find(const char *name);
/* Returns the name of the I-th format, and its help in *HELP; NULL past the last. */
const char *export_format(unsigned int i, const char **help);

/*
 * Exports the folders of OPTIONS. Returns 0; 1 when files are damaged or rows are missing, and the rest has been
 * exported; or -errno. Messages go to the log.
 */
int export_run(const struct export_options *options);

#endif
