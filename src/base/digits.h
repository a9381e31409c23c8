/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses up to eight digits at once: each digit is a byte of a word, the first of them lowest, with zeros
 * before them where there are fewer. Pure.
 */
#ifndef BASE_DIGITS_H
#define BASE_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Loads the last LEN bytes of TEXT, 1 to 8. */
static inline uint64_t digits_last(uint64_t text, size_t len)
{
	return (text ^ 0x3030303030303030ULL) & UINT64_MAX << (64 - 8 * len);
}

/* Is each of them one of 0 to 9? */
static inline bool digits_are(uint64_t word)
{
	return !(((word + 0x7676767676767676ULL) | word) & 0x8080808080808080ULL);
}

/* Pairs of digits, then of pairs, then of fours. */
static inline uint64_t digits_number(uint64_t word)
{
	word = word * (10 << 8 | 1) >> 8;
	word = (word & 0x00ff00ff00ff00ffULL) * (100 << 16 | 1) >> 16;
	return (word & 0x0000ffff0000ffffULL) * (10000ULL << 32 | 1) >> 32;
}

#endif
