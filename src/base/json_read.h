/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads JSON (RFC 8259) from other programs, as events: no tree. Words other than those of
 * the RFC pass (Python prints NaN); the caller decides what they mean. Pure; trusts nothing.
 */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include <stddef.h>

enum json_event {
	JSON_OPEN, /* an object or array begins */
	JSON_STRING, /* TEXT is as written, between its quotes: json_read_string() decodes it */
	JSON_WORD, /* a number, true, false, null, as written */
};

/*
 * PATH is the place of the value: the keys as written, joined by ".", with "[]" for any element of an
 * array: "probes[].lost". One that is longer than 127 bytes is given as "".
 */
typedef void json_read_fn(void *ctx, const char *path, enum json_event event, const char *text, size_t len);

/*
 * Read the first value in the LEN bytes of TEXT, ignoring what follows it. Returns 0, or -EBADMSG when it
 * is malformed, cut off or nested more than 32 deep: FN has been called for what came before.
 */
int json_read(const char *text, size_t len, json_read_fn *fn, void *ctx);

/*
 * Decode the LEN bytes of a JSON_STRING to DST, cut to SIZE - 1 bytes. Characters that a C string cannot
 * hold become U+FFFD.
 */
void json_read_string(char *dst, size_t size, const char *text, size_t len);
/* Likewise, all of it, for free(); NULL: no memory. */
char *json_read_whole(const char *text, size_t len);

#endif
