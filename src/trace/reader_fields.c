/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/reader_fields.h"

#include "base/util.h"

/* LEN digits, 1 to 8; nothing around them is looked at. */
static inline uint64_t eight_digits(const char *p, size_t len)
{
	const size_t before = 8 * (8 - len);
	uint64_t text;

	if (len >= 4) {
		uint32_t first, last;

		memcpy(&first, p, sizeof(first));
		memcpy(&last, p + len - sizeof(last), sizeof(last));
		text = (uint64_t)le32toh(last) << 32 | (uint64_t)le32toh(first) << before;
	} else {
		text = (uint64_t)(unsigned char)p[len - 1] << 56 | (uint64_t)(unsigned char)p[len / 2] << (before + 8 * (len / 2)) |
		       (uint64_t)(unsigned char)p[0] << before;
	}
	return digits_last(text, len);
}

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

bool reader_u64(struct reader_field f, uint64_t *ret)
{
	uint64_t high = 0, low;

	if (f.len - 1 >= 16)
		return reader_long_u64(f, ret);
	if (f.len > 8) {
		high = eight_digits(f.p, f.len - 8);
		if (!digits_are(high))
			return false;
		high = digits_number(high) * 100000000;
		f.p += f.len - 8;
		f.len = 8;
	}
	low = eight_digits(f.p, f.len);
	if (!digits_are(low))
		return false;
	*ret = high + digits_number(low);
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
