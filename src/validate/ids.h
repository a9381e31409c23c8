/* SPDX-License-Identifier: BSD-2-Clause */
/* A set of numbers, a bit for each: the FIDs or the PIDs that a trace names. */
#ifndef VALIDATE_IDS_H
#define VALIDATE_IDS_H

#include <stdbool.h>
#include <stdint.h>

#define IDS_MAX (1ULL << 30) /* 128 MiB of bits; higher numbers are not kept, and count as part of every set */

struct ids {
	uint64_t *bits, n; /* N: how many numbers BITS has room for */
	bool known; /* false: every number counts as part of the set */
};

/* Reads COLUMN of FILE in the folder DIRFD. Returns 0 or -ENOMEM. If the file cannot be read, the set is not KNOWN. */
int ids_read(struct ids *s, int dirfd, const char *file, const char *column);
void ids_free(struct ids *s);
bool ids_have(const struct ids *s, uint64_t id);

#endif
