/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows that --pid and --path leave. */
#ifndef EXPORT_CUT_H
#define EXPORT_CUT_H

#include "export/exporter.h"

#define CUT_PIDS_MAX 64

struct export_cut {
	uint64_t pids[CUT_PIDS_MAX];
	unsigned int n_pids;
	struct report *only; /* of --path; NULL: none */
	uint64_t *fids; /* of the current host: a bit for each file there */
	uint64_t n_fids;
};

/* Returns 0, -EINVAL (PIDS is no list of numbers, PATH no absolute path) or -ENOMEM. */
int cut_init(struct export_cut *c, const char *pids, const char *path);
void cut_free(struct export_cut *c);
/* Whether the LIST of --probes has the file NAME; NULL has all. */
bool cut_names(const char *list, const char *name);
/* Reads the files of a host, by their names in files.out. Returns 0 or -ENOMEM; without that file no row is of a file. */
int cut_host(struct export_cut *c, int dirfd);
/* Keeps those of the N rows of F that are to be exported; returns how many. */
unsigned int cut_rows(const struct export_cut *c, const struct export_file *f, struct reader_row *rows, unsigned int n);

#endif
