/* SPDX-License-Identifier: BSD-2-Clause */
/* A set of numbers that begin near 0, such as FIDs and PIDs: a bit for each. Pure. */
#ifndef STATS_NUMBER_SET_H
#define STATS_NUMBER_SET_H

#include <stdbool.h>
#include <stdint.h>

#define NUMBER_SET_MAX (1ULL << 30) /* 128 MiB of bits; only a damaged trace has higher numbers, which are not kept */

/* Zeroed: empty. */
struct number_set {
	uint64_t *bits, n; /* N: how many numbers BITS has room for */
};

/* Returns 0 or -ENOMEM. */
int number_set_add(struct number_set *set, uint64_t v);
bool number_set_has(const struct number_set *s, uint64_t v);
/* It is empty again. */
void number_set_free(struct number_set *s);

#endif
