/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds a byte, such as a separator of rows, in 64 bytes: one bit for each byte, the lowest for the first.
 * Uses SSE2, which every x86-64 has; elsewhere words of eight bytes. Pure.
 */
#ifndef BASE_BYTEMASK_H
#define BASE_BYTEMASK_H

#include <endian.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BYTEMASK_BYTES 64

/* Returns the bits of the bytes of WORD that are C, the first byte's lowest. */
static inline uint64_t bytemask_word(uint64_t word, char c)
{
	const uint64_t ones = 0x0101010101010101ULL, low = 0x7f * ones;

	word ^= (unsigned char)c * ones;
	word = ~(((word & low) + low) | word | low) >> 7; /* 1 where a byte is zero */
	return word * 0x0102040810204080ULL >> 56;
}

/* For any 64 bytes at P, on any machine. */
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

/* Returns the bytes that are C of the 64 at P. */
static inline uint64_t bytemask_of(const char *p, char c)
{
#ifdef __SSE2__
	const __m128i *v = (const __m128i *)(const void *)p, x = _mm_set1_epi8(c);
	uint64_t mask = 0;

	for (unsigned int i = 0; i < 4; i++)
		mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(v + i), x)) << 16 * i;
	return mask;
#else
	return bytemask_of_words(p, c);
#endif
}

#endif
