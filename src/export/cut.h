/* SPDX-License-Identifier: BSD-2-Clause */
/* Selects rows by --pid and --path, and files by --probes. */
#ifndef EXPORT_CUT_H
#define EXPORT_CUT_H

#include "base/pids.h"
#include "export/exporter.h"
#include "stats/number_set.h"

struct export_cut {
	struct pids pids; /* none: all */
	struct report *only; /* of --path; NULL: none */
	struct number_set fids; /* of the current host: that --path selects */
};

/* PATH may be NULL. Returns 0; -EINVAL when it is not an absolute path; or -ENOMEM. */
int cut_init(struct export_cut *c, const struct pids *pids, const char *path);
void cut_free(struct export_cut *c);
/* Whether the LIST of --probes has the file NAME; LIST NULL has all. */
bool cut_names(const char *list, const char *name);
/* Finds the FIDs that --path selects, in a host's files.out. Returns 0 or -ENOMEM. Without files.out it selects none.
 */
int cut_host(struct export_cut *cut, int dirfd);
/* Keeps the selected ones of the N rows of F; returns how many. */
unsigned int cut_rows(const struct export_cut *c, const struct export_file *f, struct reader_row *rows, unsigned int n);

#endif
