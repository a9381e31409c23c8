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
#define WITH_AVX2 __attribute__((target("avx2")))

#define LAST sizeof(__m128i) /* so many bytes of a field are looked at */

static inline struct reader_field field_of(const struct reader_row *row, unsigned int column)
{
	const uint32_t *stop = &row->stop[column];
	const size_t len = stop[0] - stop[-1] - 1;

	return (struct reader_field){ row->text + stop[0] - len, len };
}

static WITH_AVX2 inline __m256i load(const void *low, const void *high)
{
	return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(low)), _mm_loadu_si128(high), 1);
}

/* The digits of A and B as numbers, with zeros in place of what is before them; neither is longer than LAST. */
static WITH_AVX2 inline __m256i digits_of(struct reader_field a, struct reader_field b)
{
	static const uint8_t ones[2 * LAST] = { [LAST] = 255, 255, 255, 255, 255, 255, 255, 255,
						255,	      255, 255, 255, 255, 255, 255, 255 };
	const __m256i text = load(a.p + a.len - LAST, b.p + b.len - LAST);

	return _mm256_and_si256(_mm256_sub_epi8(text, _mm256_set1_epi8('0')), load(ones + a.len, ones + b.len));
}

/* Two at a time: pairs of digits, of pairs, and of fours become one number each. Longer numbers are few. */
static WITH_AVX2 uint32_t by_avx2(const struct reader_row *rows, unsigned int n, unsigned int column, uint64_t *ret)
{
	const __m256i nine = _mm256_set1_epi8(9), tens = _mm256_set1_epi16(1 << 8 | 10);
	const __m256i hundreds = _mm256_set1_epi32(1 << 16 | 100), fours = _mm256_set1_epi32(1 << 16 | 10000);
	const __m256i eights = _mm256_set1_epi64x(100000000);
	uint32_t are = 0;

	for (unsigned int i = 0; i + 1 < n; i += 2) {
		const struct reader_field a = field_of(&rows[i], column), b = field_of(&rows[i + 1], column);
		uint32_t digits;
		__m256i v;

		if (a.len - 1 >= LAST || b.len - 1 >= LAST) {
			are |= reader_column_u64_anywhere(&rows[i], 2, column, &ret[i]) << i;
			continue;
		}
		v = digits_of(a, b);
		digits = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(v, nine), v));
		are |= (uint32_t)((uint16_t)digits == 0xffff) << i | (uint32_t)(digits >= 0xffff0000) << (i + 1);
		v = _mm256_madd_epi16(_mm256_maddubs_epi16(v, tens), hundreds);
		v = _mm256_madd_epi16(_mm256_packus_epi32(v, v), fours);
		v = _mm256_add_epi64(_mm256_mul_epu32(v, eights), _mm256_srli_epi64(v, 32));
		ret[i] = (uint64_t)_mm256_extract_epi64(v, 0);
		ret[i + 1] = (uint64_t)_mm256_extract_epi64(v, 2);
	}
	if (n % 2)
		are |= reader_column_u64_anywhere(&rows[n - 1], 1, column, &ret[n - 1]) << (n - 1);
	return are;
}
#endif

uint32_t reader_column_u64(const struct reader_row *rows, unsigned int n, unsigned int column, uint64_t *ret)
{
	if (!column)
		return 0;
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2"))
		return by_avx2(rows, n, column, ret);
#endif
	return reader_column_u64_anywhere(rows, n, column, ret);
}
