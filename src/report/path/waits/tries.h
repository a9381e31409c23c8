/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What processes tried again and again, in vain, from the failures in meta_sums.out: to lock a file that another one
 * had locked, or to find a file that was not there yet. That is what a thread that sleeps in between looks for.
 */
#ifndef REPORT_PATH_WAITS_TRIES_H
#define REPORT_PATH_WAITS_TRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "report/path/sums/names.h"
#include "stats/table.h"

struct scan;

#define PATH_TRIES_MAX 4096 /* kinds of tries; later ones are left out */
#define PATH_TRIES_LEAST 3 /* fewer were chance */

/* One call of one process, for files in one folder. */
struct path_try {
	uint64_t begin_ns, end_ns; /* the intervals in which it failed */
	uint64_t failed;
	uint32_t rows; /* intervals */
	uint32_t name; /* "in FOLDER", and of a file the call and its error */
	uint32_t next; /* the one before it of its process, from 1; 0: none */
	bool locks;
};

struct path_tries {
	struct path_names *names;
	struct table all; /* struct path_try, by process, call, folder and error */
	struct table pids; /* uint32_t: the newest one of each process, from 1 */
};

void path_tries_init(struct path_tries *tries, struct path_names *names);
void path_tries_free(struct path_tries *tries);

/* Takes a row of meta_sums.out, of a struct path_tries. A scan_taker's. */
bool path_tries_take(struct scan *s, void *own);

/* Returns what process PID tried at AT, most often if there are several; NULL: nothing, or TRIES is. A lock is first.
 */
const struct path_try *path_tries_at(const struct path_tries *tries, uint32_t pid, uint64_t at_ns);

#endif
