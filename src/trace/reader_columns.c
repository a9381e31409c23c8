/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/reader.h"

#ifdef __x86_64__
#include <immintrin.h>

#include "base/cpuid.h"
#endif

uint32_t reader_column_u64_anywhere(const struct reader_row *rows, unsigned int n, unsigned int column, uint64_t *ret)
{
	uint32_t are = 0;

	for (unsigned int i = 0; i < n; i++)
		are |= (uint32_t)reader_u64(reader_field(&rows[i], column), &ret[i]) << i;
	return are;
}

#ifdef __x86_64__
#define WITH_AVX2 __attribute__((target("avx2")))

#define LAST sizeof(__m128i) /* the number of a field's bytes that are looked at */

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

/*
 * The digits of A and B as numbers, with zeros in place of the bytes before them; neither is longer than
 * LAST.
 */
static WITH_AVX2 inline __m256i digits_of(struct reader_field a, struct reader_field b)
{
	static const uint8_t ones[2 * LAST] = { [LAST] = 255, 255, 255, 255, 255, 255, 255, 255,
						255,          255, 255, 255, 255, 255, 255, 255 };
	const __m256i text = load(a.p + a.len - LAST, b.p + b.len - LAST);

	return _mm256_and_si256(_mm256_sub_epi8(text, _mm256_set1_epi8('0')), load(ones + a.len, ones + b.len));
}

/* Pairs of digits, then of pairs, then of fours become one number each. */
static WITH_AVX2 inline __m256i fours_of(__m256i digits)
{
	const __m256i tens = _mm256_set1_epi16(1 << 8 | 10), hundreds = _mm256_set1_epi32(1 << 16 | 100);

	return _mm256_madd_epi16(_mm256_maddubs_epi16(digits, tens), hundreds);
}

/* Is each byte of V a digit? A bit for each. */
static WITH_AVX2 inline uint32_t digits_in(__m256i v)
{
	return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(9)), v));
}

/* For four rows, up to sixteen digits; few numbers are longer. */
static WITH_AVX2 inline uint32_t four_u64(const struct reader_row *rows, unsigned int column, uint64_t *ret)
{
	const struct reader_field a = field_of(&rows[0], column), b = field_of(&rows[1], column);
	const struct reader_field c = field_of(&rows[2], column), d = field_of(&rows[3], column);
	const __m256i fours = _mm256_set1_epi32(1 << 16 | 10000), eights = _mm256_set1_epi64x(100000000);
	uint32_t are_ab, are_cd;
	__m256i ab, cd, v;

	if (a.len - 1 >= LAST || b.len - 1 >= LAST || c.len - 1 >= LAST || d.len - 1 >= LAST)
		return reader_column_u64_anywhere(rows, 4, column, ret);
	ab = digits_of(a, b);
	cd = digits_of(c, d);
	are_ab = digits_in(ab);
	are_cd = digits_in(cd);
	v = _mm256_madd_epi16(_mm256_packus_epi32(fours_of(ab), fours_of(cd)), fours);
	v = _mm256_add_epi64(_mm256_mul_epu32(v, eights), _mm256_srli_epi64(v, 32));
	_mm256_storeu_si256((__m256i *)(void *)ret, _mm256_permute4x64_epi64(v, _MM_SHUFFLE(3, 1, 2, 0)));
	return (uint32_t)((uint16_t)are_ab == 0xffff) | (uint32_t)(are_ab >= 0xffff0000) << 1 |
	       (uint32_t)((uint16_t)are_cd == 0xffff) << 2 | (uint32_t)(are_cd >= 0xffff0000) << 3;
}

/* The eight bytes before the end of the field. */
static inline long long last_eight(const struct reader_row *row, unsigned int column)
{
	long long last;

	memcpy(&last, row->text + row->stop[column] - sizeof(last), sizeof(last));
	return last;
}

/*
 * For four rows, up to seven digits: the last of eight bytes that is not a digit must be the tab before the
 * field. False where one is longer, or not a number; then *RET is undefined.
 */
static WITH_AVX2 inline bool four_short_u64(const struct reader_row *rows, unsigned int column, uint64_t *ret)
{
	const __m256i text = _mm256_set_epi64x(last_eight(&rows[3], column), last_eight(&rows[2], column),
					       last_eight(&rows[1], column), last_eight(&rows[0], column));
	const __m256i all = _mm256_sub_epi8(text, _mm256_set1_epi8('0'));
	const __m256i are = _mm256_cmpeq_epi8(_mm256_min_epu8(all, _mm256_set1_epi8(9)), all);
	/* each word has ones from its first byte to the last that is no digit, then only that last one */
	__m256i before = _mm256_xor_si256(are, _mm256_set1_epi8(-1)), at, v;

	before = _mm256_or_si256(before, _mm256_srli_epi64(before, 8));
	before = _mm256_or_si256(before, _mm256_srli_epi64(before, 16));
	before = _mm256_or_si256(before, _mm256_srli_epi64(before, 32));
	at = _mm256_andnot_si256(_mm256_srli_epi64(before, 8), before);
	at = _mm256_and_si256(at, _mm256_cmpeq_epi8(text, _mm256_set1_epi8('\t')));
	/* the sign of a word is that of its last byte, where a number has a digit */
	at = _mm256_or_si256(_mm256_cmpeq_epi64(at, _mm256_setzero_si256()), before);
	v = fours_of(_mm256_andnot_si256(before, all));
	v = _mm256_add_epi64(_mm256_mul_epu32(v, _mm256_set1_epi64x(10000)), _mm256_srli_epi64(v, 32));
	_mm256_storeu_si256((__m256i *)(void *)ret, v);
	return _mm256_movemask_pd(_mm256_castsi256_pd(at)) == 0;
}

static WITH_AVX2 uint32_t by_avx2(const struct reader_row *rows, unsigned int n, unsigned int column, uint64_t *ret)
{
	unsigned int i = 0;
	uint32_t are;

	/* where one is long the next may be, too; a row's first column has no tab before it */
	for (; column > 1 && i + 4 <= n && four_short_u64(&rows[i], column, &ret[i]); i += 4)
		;
	are = (uint32_t)((1ULL << i) - 1);
	for (; i + 4 <= n; i += 4)
		are |= four_u64(&rows[i], column, &ret[i]) << i;
	if (i < n)
		are |= reader_column_u64_anywhere(&rows[i], n - i, column, &ret[i]) << i;
	return are;
}
#endif

uint32_t reader_column_u64(const struct reader_row *rows, unsigned int n, unsigned int column, uint64_t *ret)
{
	if (!column)
		return 0;
#ifdef __x86_64__
	if (cpuid_has(CPUID_AVX2))
		return by_avx2(rows, n, column, ret);
#endif
	return reader_column_u64_anywhere(rows, n, column, ret);
}
