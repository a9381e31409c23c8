/* SPDX-License-Identifier: BSD-2-Clause */
/* A field of a row as reader.h gives it: its value as a number, or a flag. Pure. */
#ifndef TRACE_READER_FIELDS_H
#define TRACE_READER_FIELDS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/digits.h"

/* Not NUL-terminated; escaped as in the file. */
struct reader_field {
	const char *p;
	size_t len;
};

/* The value of a missing column. */
static inline struct reader_field reader_absent(void)
{
	static const char absent[] = "                -"; /* reader_u64() reads before it */

	return (struct reader_field){ absent + sizeof(absent) - 2, 1 };
}

static inline bool reader_is(struct reader_field f, const char *s)
{
	return f.len == strlen(s) && memcmp(f.p, s, f.len) == 0;
}

/*
 * Parses a field of a row, as reader_next() gives it, as a decimal number, whole and in range; else false
 * and *RET untouched. There are readable bytes before it, so that its last eight and sixteen are loaded at
 * once, however short it is.
 */
bool reader_long_u64(struct reader_field f, uint64_t *ret); /* its slow path for more than 16 digits */
static inline bool reader_u64(struct reader_field f, uint64_t *ret)
{
	const char *end = f.p + f.len;
	uint64_t low, high;

	memcpy(&low, end - sizeof(low), sizeof(low));
	if (f.len - 1 < sizeof(low)) {
		low = digits_last(le64toh(low), f.len);
		if (!digits_are(low))
			return false;
		*ret = digits_number(low);
		return true;
	}
	if (f.len - 1 >= 2 * sizeof(low))
		return reader_long_u64(f, ret);
	memcpy(&high, end - 2 * sizeof(high), sizeof(high));
	low = digits_last(le64toh(low), sizeof(low));
	high = digits_last(le64toh(high), f.len - sizeof(low));
	if (!digits_are(low) || !digits_are(high))
		return false;
	*ret = digits_number(high) * 100000000 + digits_number(low);
	return true;
}

/* Does A|B|C contain FLAG? Most rows have none, `-'. */
bool reader_flag_of(struct reader_field f, const char *flag, size_t len);
static inline bool reader_flag(struct reader_field f, const char *flag)
{
	return f.len >= strlen(flag) && reader_flag_of(f, flag, strlen(flag));
}

#endif
