/* SPDX-License-Identifier: BSD-2-Clause */
/* The stacks of sites.out by the names of their functions, for formats. */
#ifndef EXPORT_SITE_TEXTS_H
#define EXPORT_SITE_TEXTS_H

#include <stdint.h>

#define SITE_TEXTS_MAX (1U << 17) /* at a time, of a host: some 25 MiB */

/* Returns a text for each of N SITES in a folder, as stacks_read() makes it; NULL: there is no memory. */
char **site_texts_read(int dirfd, const uint64_t *sites, uint32_t n);
void site_texts_free(char **texts, uint32_t n);

#endif
