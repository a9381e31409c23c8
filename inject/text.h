/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts that NVTX passes once and refers to later: names of domains, registered strings, names of categories. Equal
 * ones are kept once, and for good, as NVTX has no call that ends a string's life: so a program that creates and
 * destroys the same domain again and again does not grow.
 */
#ifndef INJECT_TEXT_H
#define INJECT_TEXT_H

#include <stdint.h>
#include <wchar.h>

#include "dltraced.h"

#define TEXT_MAX DLTRACED_NAME_MAX
#define TEXT_DOMAIN_MAX 31 /* of a domain's name, which is in front of others */

struct text; /* what programs get as handles */

/* Return the text, NULL: memory is out. Longer ones are cut. */
const struct text *text_keep(const char *s);
const struct text *text_keep_domain(const char *s); /* with '_' for '.', as CAT ends at a dot */

/* DOMAIN, which may be NULL, calls category NUMBER so from now on. */
void text_name_category(const struct text *domain, uint32_t number, const char *name);
/* Returns that name, or NULL. */
const char *text_category(const struct text *domain, uint32_t number);

/* Returns it, "" for NULL. */
const char *text_of(const struct text *t);

/* Copies up to MAX bytes of S, which may be NULL, to OUT, with a NUL, and without a part of a character of UTF-8. */
void text_copy(char *out, const char *s, size_t max);
/* The same of wide characters, as UTF-8. */
void text_copy_wide(char *out, const wchar_t *s, size_t max);
/* Arguments of regions are lines. */
void text_one_line(char *s);

#endif
