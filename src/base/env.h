/* SPDX-License-Identifier: BSD-2-Clause */
/* Environments: vectors of "NAME=VALUE" that end in NULL. */
#ifndef BASE_ENV_H
#define BASE_ENV_H

#include <stddef.h>

/* The entry of ENV that sets what ENTRY ("NAME=VALUE") sets, or NULL. */
const char *env_find(char *const *env, const char *entry);

/*
 * BASE with the entries of OVER instead of its own of those names: one new block, freed as one, or
 * NULL when memory is out.
 */
char **env_merge(char *const *base, char *const *over);

/* The strings in the LEN bytes of TEXT, between NULs, as such a vector: one block, or NULL when memory is out. */
char **env_strings(const char *text, size_t len);

#endif
