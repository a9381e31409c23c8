/* SPDX-License-Identifier: BSD-2-Clause */
/* Environments: vectors of "NAME=VALUE" that end in NULL. */
#ifndef BASE_ENV_H
#define BASE_ENV_H

/* The entry of ENV that sets what ENTRY ("NAME=VALUE") sets, or NULL. */
const char *env_find(char *const *env, const char *entry);

/*
 * BASE with the entries of OVER instead of its own of those names: one new block, freed as one, or
 * NULL when memory is out.
 */
char **env_merge(char *const *base, char *const *over);

#endif
