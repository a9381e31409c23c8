/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each thread did by its own words, from regions.out: at each moment the innermost of its regions that says so.
 * Bounded: beyond MAX rows nothing is known of later ones.
 */
#ifndef REPORT_PATH_LIVES_DOINGS_H
#define REPORT_PATH_LIVES_DOINGS_H

#include "report/path/lives/lives.h"
#include "report/path/lives/rows.h"
#include "report/path/sums/leaf.h"

struct window;

struct path_doings {
	const struct path_lives *lives;
	struct path_doing_row {
		struct path_row row; /* at_ns: its begin */
		uint64_t end_ns;
		enum path_doing doing;
	} * v; /* after path_doings_read() none is over another one */
	uint32_t n;
	struct path_range *of; /* those of each life; NULL: there are none */
};

/* Reads regions.out, if it is there, of the rows in WINDOW, MAX at most, once all LIVES are known. Returns 0 or
 * -ENOMEM. */
int path_doings_read(struct path_doings *doings, const struct path_lives *lives, int dirfd, const struct window *window,
		     uint32_t max);
void path_doings_free(struct path_doings *doings);

/* Returns what LIFE did at AT; *UNTIL_NS: how long, UINT64_MAX: to its end. DOINGS may be NULL. */
enum path_doing path_doings_at(const struct path_doings *doings, uint32_t life, uint64_t at_ns, uint64_t *until_ns);

#endif
