/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader_columns.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

uint32_t reader_column_u64_anywhere(const struct reader_row *rows, unsigned int n, unsigned int column, uint64_t *ret)
{
	uint32_t are = 0;

	for (unsigned int i = 0; i < n; i++)
		are |= (uint32_t)reader_row_u64(reader_field(&rows[i], column), &ret[i]) << i;
	return are;
}

#ifdef __x86_64__
/*
 * The last 16 bytes of each field, of which those that are before it count as zeros: pairs of digits, of pairs, and of
 * fours become one number each, of all at once. Longer numbers are few.
 */
static __attribute__((target("avx"))) uint32_t by_avx(const struct reader_row *rows, unsigned int n, unsigned int column,
						      uint64_t *ret)
{
	static const uint8_t ones[32] = { [16] = 255, 255, 255, 255, 255, 255, 255, 255,
					  255,	      255, 255, 255, 255, 255, 255, 255 };
	const __m128i zero = _mm_set1_epi8('0'), nine = _mm_set1_epi8(9), tens = _mm_set1_epi16(1 << 8 | 10);
	const __m128i hundreds = _mm_set1_epi32(1 << 16 | 100), fours = _mm_set1_epi32(1 << 16 | 10000);
	uint32_t are = 0;

	for (unsigned int i = 0; i < n; i++) {
		const uint32_t *stop = &rows[i].stop[column];
		const char *end = rows[i].text + stop[0];
		const size_t len = stop[0] - stop[-1] - 1;
		const void *last = end - sizeof(__m128i), *mask = ones + len;
		__m128i v;
		uint64_t halves;

		if (len - 1 >= sizeof(v)) {
			are |= (uint32_t)reader_long_u64((struct reader_field){ end - len, len }, &ret[i]) << i;
			continue;
		}
		v = _mm_sub_epi8(_mm_loadu_si128(last), zero);
		v = _mm_and_si128(v, _mm_loadu_si128(mask));
		are |= (uint32_t)(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(v, nine), v)) == 0xffff) << i;
		v = _mm_madd_epi16(_mm_maddubs_epi16(v, tens), hundreds);
		halves = (uint64_t)_mm_cvtsi128_si64(_mm_madd_epi16(_mm_packus_epi32(v, v), fours));
		ret[i] = (uint32_t)halves * 100000000ULL + (halves >> 32);
	}
	return are;
}
#endif

uint32_t reader_column_u64(const struct reader_row *rows, unsigned int n, unsigned int column, uint64_t *ret)
{
	if (!column)
		return 0;
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx"))
		return by_avx(rows, n, column, ret);
#endif
	return reader_column_u64_anywhere(rows, n, column, ret);
}
