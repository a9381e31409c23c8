/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions from a job's own .pfw: lines of JSON that DFTracer writes, plain or packed, of any dialect. Their names
 * become those of regions.out, and their processes and times the trace's. Calls (POSIX, STDIO), which the trace has
 * itself, are left out. Trusts no byte of the file. Memory is bounded.
 */
#ifndef REPORT_PHASES_PFW_H
#define REPORT_PHASES_PFW_H

#include <stdbool.h>
#include <stdint.h>

#include "report/phases/steps.h"
#include "stats/table.h"

struct phase_reader;
struct pfw_region;

struct pfw {
	struct pfw_region *v;
	uint32_t n;
	struct table names; /* struct pfw_name */
	struct table processes; /* 1 + PID, by the PID that the process itself sees; UINT64_MAX: of several */
	char **files; /* the names of those that were read */
	uint32_t n_files;
	uint64_t text_max_bytes; /* of a file, packed or not: its rest is not read */
};

/* Whether PATH is that of a .pfw, by its name. */
bool pfw_is(const char *path);
/* Prepares PFW, which is zeroed. Knows the processes of the trace in the folder DIRFD, as far as its pids.out can be
 * read. */
void pfw_begin(struct pfw *pfw, int dirfd);
/* Adds the regions of the file FD (taken over; -errno: it could not be opened), which is called NAME, and notes what is
 * odd. */
void pfw_read(struct pfw *pfw, struct phase_reader *reader, int fd, const char *name);
/*
 * Leaves out the files that have regions of one process at one time, as copies do, with a note: DFTracer writes a file
 * a process, so which of them counts is for the user to say.
 */
void pfw_leave_out_doubtful(struct pfw *pfw, const struct phase_reader *reader);
/* Passes the regions to TAKE in the order of their ends. */
void pfw_end(struct pfw *pfw, void (*take)(void *ctx, const struct step_region *region), void *ctx);
void pfw_free(struct pfw *p);

#endif
