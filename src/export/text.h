/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a trace's fields as other formats want them. Text is unescaped, but bytes that are not text stay \ooo: invalid
 * UTF-8, and control characters other than TAB, LF and CR. The backslash itself stays \ooo, too, so that a reader that
 * turns each \ooo into its byte gets the original name. Pure.
 */
#ifndef EXPORT_TEXT_H
#define EXPORT_TEXT_H

#include "base/digits.h"
#include "trace/reader_fields.h"

/* The most bytes that the functions below write for a field of LEN bytes, even beyond the end that they return. */
#define TEXT_JSON_MAX(len) (6 * (len) + 16)

/* Puts F as text at P, which has room for TEXT_JSON_MAX(F.len); returns its end. SCRATCH has room for F. */
char *text_put_utf8(char *p, struct reader_field f, char *scratch);
/* Puts F as a JSON string without its quotes. */
char *text_put_json(char *p, struct reader_field f, char *scratch);
/* Puts S, any bytes with a NUL at the end, as a JSON string without its quotes. */
char *text_put_json_s(char *p, const char *s);
/* Puts F as a field of RFC 4180, with quotes where they are needed. */
char *text_put_csv(char *p, struct reader_field f, char *scratch);

/* Whether F is a whole number, without a sign or zeros in front. */
bool text_is_long_uint(struct reader_field f);
static inline bool text_is_uint(struct reader_field f)
{
	uint64_t last;

	if (f.len - 1 >= sizeof(last) || (f.p[0] == '0' && f.len > 1))
		return text_is_long_uint(f);
	memcpy(&last, f.p + f.len - sizeof(last), sizeof(last)); /* may read before F, where a row has bytes, too */
	return digits_are(digits_last(le64toh(last), f.len));
}

/* Whether F is a whole number, perhaps with a minus in front. */
static inline bool text_is_int(struct reader_field f)
{
	return f.p[0] == '-' ? f.len > 1 && text_is_uint((struct reader_field){ f.p + 1, f.len - 1 }) : text_is_uint(f);
}

/* Puts F as a number into *RET. Returns false when it is not a number, or out of range. */
bool text_s64(struct reader_field f, int64_t *ret);

/* Whether F is a number in JSON, which may have a fraction and an exponent. */
bool text_is_number(struct reader_field f);

#endif
