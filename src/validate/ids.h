/* SPDX-License-Identifier: BSD-2-Clause */
/* A set of numbers, a bit for each: the FIDs or the PIDs that a trace names. */
#ifndef VALIDATE_IDS_H
#define VALIDATE_IDS_H

#include <stdbool.h>
#include <stdint.h>

#define IDS_MAX (1ULL << 30) /* 128 MiB: higher ones are in no set, and every set has them */

struct ids {
	uint64_t *bits, n; /* n: numbers that there is room for */
	bool known; /* false: has every number */
};

/* Reads COLUMN of FILE in the folder DIRFD. Returns 0 or -ENOMEM; a file that cannot be read leaves a set that is not known. */
int ids_read(struct ids *s, int dirfd, const char *file, const char *column);
void ids_free(struct ids *s);
bool ids_have(const struct ids *s, uint64_t id);

#endif
