/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process in charge that never sleeps, and workers that never wait for it. If it trained for all that time, the
 * workers would get ahead of it, and wait. So they set the pace: it looks again and again whether they have something,
 * without a pause that would show, or it is as slow as they are, no slower.
 */
#ifndef REPORT_PATH_SPINS_H
#define REPORT_PATH_SPINS_H

#include "report/path/lives/roots.h"
#include "report/path/sums/leaf.h"
#include "report/path/waits/shorts.h"

#define PATH_SPINS_MAX 64U /* workers that are looked at: each needs a walk of its own */

struct path_way;

struct path_spin {
	uint32_t pid; /* of the process in charge; 0: there is none */
	uint32_t workers;
	uint64_t
		cpu_ns; /* its own time on a CPU, or ready to run, of the path, in which it does not say what it does */
	uint64_t ns[PATH_KINDS]; /* what a worker did in all its time, on average */
};

/* Looks for one on WAY, the path of ROOT, as the root saw it. ROLES: see path_roles_of(). Returns 0 or -ENOMEM. */
int path_spins_find(const struct path_shorts *shorts, const struct path_root *root, const uint8_t *roles,
		    const struct path_way *way, struct path_spin *ret);

#endif
