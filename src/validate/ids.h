/* SPDX-License-Identifier: BSD-2-Clause */
/* The FIDs, PIDs or SITEs that a trace names; numbers that a set does not keep count as part of it. */
#ifndef VALIDATE_IDS_H
#define VALIDATE_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/number_set.h"

struct ids {
	struct number_set set;
	bool known; /* false: every number counts as part of the set */
};

/* Reads COLUMN of FILE in the folder DIRFD. Returns 0 or -ENOMEM. If the file cannot be read, the set is not KNOWN. */
int ids_read(struct ids *ids, int dirfd, const char *file, const char *column);
void ids_free(struct ids *s);
bool ids_have(const struct ids *s, uint64_t id);

#endif
