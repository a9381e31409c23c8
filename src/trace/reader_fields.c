/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/reader_fields.h"

bool reader_long_u64(struct reader_field f, uint64_t *ret)
{
	uint64_t v = 0;

	if (f.len == 0 || f.len > 20)
		return false;
	for (size_t i = 0; i < f.len; i++) {
		unsigned int digit = (unsigned char)f.p[i] - '0';

		if (digit > 9 || v > UINT64_MAX / 10 || v * 10 > UINT64_MAX - digit)
			return false;
		v = v * 10 + digit;
	}
	*ret = v;
	return true;
}

bool reader_flag_of(struct reader_field f, const char *flag, size_t len)
{
	const char *p = f.p, *end = p + f.len;

	while (p + len <= end) {
		const char *bar = memchr(p, '|', (size_t)(end - p));
		const char *stop = bar ? bar : end;

		if ((size_t)(stop - p) == len && memcmp(p, flag, len) == 0)
			return true;
		p = stop + 1;
	}
	return false;
}
