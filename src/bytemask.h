/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where in 64 bytes the separators of rows are: a bit for each byte, the lowest for the first. With SSE2, which
 * every x86-64 has; elsewhere by words of eight bytes. Pure.
 */
#ifndef BYTEMASK_H
#define BYTEMASK_H

#include <endian.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BYTEMASK_BYTES 64

struct bytemask {
	uint64_t tabs, newlines;
};

/* The bits of the bytes of WORD, the first of them lowest, that are C. */
static inline uint64_t bytemask_word(uint64_t word, char c)
{
	const uint64_t ones = 0x0101010101010101ULL, low = 0x7f * ones;

	word ^= (unsigned char)c * ones;
	word = ~(((word & low) + low) | word | low) >> 7; /* 1 where a byte is zero */
	return word * 0x0102040810204080ULL >> 56;
}

/* Of any 64 bytes at P, on any machine. */
static inline struct bytemask bytemask_of_words(const char *p)
{
	struct bytemask m = { 0 };

	for (unsigned int i = 0; i < BYTEMASK_BYTES; i += 8) {
		uint64_t word;

		memcpy(&word, p + i, sizeof(word));
		word = le64toh(word);
		m.tabs |= bytemask_word(word, '\t') << i;
		m.newlines |= bytemask_word(word, '\n') << i;
	}
	return m;
}

#ifdef __SSE2__
static inline uint64_t bytemask_bits(__m128i a, __m128i b, __m128i c, __m128i d, char what)
{
	const __m128i x = _mm_set1_epi8(what);

	return (uint64_t)(unsigned int)_mm_movemask_epi8(_mm_cmpeq_epi8(a, x)) |
	       (uint64_t)(unsigned int)_mm_movemask_epi8(_mm_cmpeq_epi8(b, x)) << 16 |
	       (uint64_t)(unsigned int)_mm_movemask_epi8(_mm_cmpeq_epi8(c, x)) << 32 |
	       (uint64_t)(unsigned int)_mm_movemask_epi8(_mm_cmpeq_epi8(d, x)) << 48;
}
#endif

/* Of the 64 bytes at P. */
static inline struct bytemask bytemask_of(const char *p)
{
#ifdef __SSE2__
	const __m128i *v = (const __m128i *)(const void *)p;
	__m128i a = _mm_loadu_si128(v), b = _mm_loadu_si128(v + 1), c = _mm_loadu_si128(v + 2),
		d = _mm_loadu_si128(v + 3);

	return (struct bytemask){ bytemask_bits(a, b, c, d, '\t'), bytemask_bits(a, b, c, d, '\n') };
#else
	return bytemask_of_words(p);
#endif
}

#endif
