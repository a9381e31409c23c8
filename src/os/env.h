/* SPDX-License-Identifier: BSD-2-Clause */
/* Environments: vectors of "NAME=VALUE" that end in NULL. */
#ifndef OS_ENV_H
#define OS_ENV_H

#include <stddef.h>

/* Returns the entry of ENV that sets the variable of ENTRY ("NAME=VALUE"), or NULL. */
const char *env_find(char *const *env, const char *entry);

/*
 * Returns BASE with its entries replaced by those of OVER that have equal names: one new block, freed as
 * one, or NULL when memory is out.
 */
char **env_merge(char *const *base, char *const *over);

/*
 * Returns the strings in the LEN bytes of TEXT, separated by NULs, as such a vector: one block, or NULL
 * when memory is out.
 */
char **env_strings(const char *text, size_t len);

#endif
