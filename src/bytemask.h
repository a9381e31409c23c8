/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where in 64 bytes a byte is, a separator of rows for one: a bit for each byte, the lowest for the first. With SSE2, which
 * every x86-64 has; elsewhere by words of eight bytes. Pure.
 */
#ifndef BYTEMASK_H
#define BYTEMASK_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BYTEMASK_BYTES 64

/* The bits of the bytes of WORD, the first of them lowest, that are C. */
static inline uint64_t bytemask_word(uint64_t word, char c)
{
	const uint64_t ones = 0x0101010101010101ULL, low = 0x7f * ones;

	word ^= (unsigned char)c * ones;
	word = ~(((word & low) + low) | word | low) >> 7; /* 1 where a byte is zero */
	return word * 0x0102040810204080ULL >> 56;
}

/* Of any 64 bytes at P, on any machine. */
static inline uint64_t bytemask_of_words(const char *p, char c)
{
	uint64_t mask = 0;

	for (unsigned int i = 0; i < BYTEMASK_BYTES; i += 8) {
		uint64_t word;

		memcpy(&word, p + i, sizeof(word));
		mask |= bytemask_word(le64toh(word), c) << i;
	}
	return mask;
}

#ifdef __SSE2__
struct bytemask_equal {
	__m128i a, b, c, d; /* all ones where a byte is the one looked for */
};

static inline struct bytemask_equal bytemask_equal(const char *p, char c)
{
	const __m128i *v = (const __m128i *)(const void *)p, x = _mm_set1_epi8(c);

	return (struct bytemask_equal){
		_mm_cmpeq_epi8(_mm_loadu_si128(v), x), _mm_cmpeq_epi8(_mm_loadu_si128(v + 1), x),
		_mm_cmpeq_epi8(_mm_loadu_si128(v + 2), x), _mm_cmpeq_epi8(_mm_loadu_si128(v + 3), x),
	};
}

static inline uint64_t bytemask_bits(__m128i equal)
{
	return (unsigned int)_mm_movemask_epi8(equal);
}
#endif

/* The bytes of the 64 at P that are C. */
static inline uint64_t bytemask_of(const char *p, char c)
{
#ifdef __SSE2__
	const struct bytemask_equal e = bytemask_equal(p, c);

	return bytemask_bits(e.a) | bytemask_bits(e.b) << 16 | bytemask_bits(e.c) << 32 | bytemask_bits(e.d) << 48;
#else
	return bytemask_of_words(p, c);
#endif
}

/* Whether any is: cheaper than which. */
static inline bool bytemask_has(const char *p, char c)
{
#ifdef __SSE2__
	const struct bytemask_equal e = bytemask_equal(p, c);

	return bytemask_bits(_mm_or_si128(_mm_or_si128(e.a, e.b), _mm_or_si128(e.c, e.d)));
#else
	return bytemask_of_words(p, c);
#endif
}

#endif
