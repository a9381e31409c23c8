/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stand-ins for names: each word of a text becomes a keyed hash, the same for the same word and key, so that files,
 * paths, names and arguments still match each other. What separates words stays, and so do suffixes of files, short
 * numbers, and words that many programs and systems share (names.c lists them). Pure.
 */
#ifndef FOLDER_NAMES_H
#define FOLDER_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define NAMES_KEY_BYTES 16
/* Room for the stand-in of a text of LEN bytes. */
#define NAMES_ROOM(len) (13 * (len) + 16)

struct names {
	uint64_t key[2];
};

/* Makes the key of any LEN bytes. */
void names_init(struct names *n, const void *secret, size_t len);
/* Writes the stand-in of the text S, which is not escaped, to DST. Returns its length. */
size_t names_put(const struct names *names, char *dst, const char *s, size_t len);

#endif
