/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text rules of the .out files: numbers, escaped strings, times. Pure; no allocation. The put functions
 * write at P and return the new end; the caller has made sure of the room.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_U64_MAX 20 /* bytes of the longest u64 and s64 */
#define TEXT_UTC_LEN 30 /* 2026-11-21T01:02:03.123456789Z */
#define TEXT_ESCAPED_MAX(len) (4 * (len) + 1)

/* Numbers. They may write up to TEXT_U64_MAX bytes, even if the end that they return is before that. */
char *text_put_long_u64(char *p, uint64_t v);
char *text_put_long_s64(char *p, int64_t v);

/* Most numbers are one digit, which is not worth a call. */
static inline char *text_put_u64(char *p, uint64_t v)
{
	if (v >= 10)
		return text_put_long_u64(p, v);
	*p = (char)('0' + v);
	return p + 1;
}

static inline char *text_put_s64(char *p, int64_t v)
{
	if ((uint64_t)v >= 10)
		return text_put_long_s64(p, v);
	*p = (char)('0' + v);
	return p + 1;
}
char *text_put_hex(char *p, uint64_t v); /* 0x... */
char *text_put_octal(char *p, uint64_t v); /* 0644: a leading 0; of 64 bits up to 23 bytes */

/*
 * A string field: every byte <= 0x20, 0x7f, '"', '#', '\\' and every byte that is not part of
 * valid UTF-8 (RFC 3629) becomes \ooo; an empty one is "-", a lone "-" \055, a lone "?" \077.
 */
char *text_put_str(char *p, const char *s, size_t len);

/* Would it be unchanged as a piece? False: perhaps. */
bool text_is_plain(const char *s, size_t len);

/*
 * A piece of a longer string field (paths are put together from components): equal escapes, without the
 * rules for whole fields.
 */
char *text_put_piece(char *p, const char *s, size_t len);

/*
 * The inverse of text_put_str into DST (at least LEN bytes): returns the bytes written. "-" gives 0; an
 * incomplete escape is copied unchanged. The caller checks for a bare "?" (not known).
 */
size_t text_unescape(char *dst, const char *field, size_t len);

/* Returns the bytes (1 to 4) of the UTF-8 character at S, 0 where there is none (RFC 3629). */
unsigned int text_utf8_len(const char *s, size_t len);
/* text_utf8_len(), but also 0 for a control character, which terminals obey. */
unsigned int text_shown_len(const char *s, size_t len);

/* UTC of ns since the epoch; the date and second are cached in *CACHE between calls. */
struct text_utc_cache {
	uint64_t begin_ns; /* of the second */
	char prefix[20]; /* 2026-11-21T01:02:03. */
	bool valid;
};
char *text_put_utc(char *p, uint64_t realtime_ns, struct text_utc_cache *cache);
/* The inverse, of FIELD. Returns whether it is what text_put_utc() writes for a time. */
bool text_get_utc(const char *field, size_t len, uint64_t *realtime_ns, struct text_utc_cache *cache);

/*
 * Writes what text_put_u64 writes, for the time of a clock: all but its last eight digits are cached for a
 * while.
 */
struct text_ns_cache {
	uint64_t begin_ns; /* of the cached digits; 0: nothing yet */
	uint8_t len;
	char prefix[15];
};
char *text_put_ns(char *p, uint64_t ns, struct text_ns_cache *cache);

#endif
