/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of up to eight digits at once: the digits are the bytes of a word, the first of them lowest, with zeros
 * before them where they are fewer. Pure.
 */
#ifndef DIGITS_H
#define DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The zeros before LEN digits, 1 to 8. */
static inline uint64_t digits_zeros(size_t len)
{
	return 0x3030303030303030ULL >> 8 * (len - 1) >> 8;
}

/* Whether each byte is one of 0 to 9. */
static inline bool digits_are(uint64_t word)
{
	const uint64_t high = 0xf0f0f0f0f0f0f0f0ULL;

	return ((word & high) | ((word + 0x0606060606060606ULL) & high) >> 4) == 0x3333333333333333ULL;
}

/* Pairs of digits, then of pairs, then of fours. */
static inline uint64_t digits_number(uint64_t word)
{
	word = (word & 0x0f0f0f0f0f0f0f0fULL) * (10 << 8 | 1) >> 8;
	word = (word & 0x00ff00ff00ff00ffULL) * (100 << 16 | 1) >> 16;
	return (word & 0x0000ffff0000ffffULL) * (10000ULL << 32 | 1) >> 32;
}

#endif
