/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/lines.h"

#include <stdbool.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "base/bytemask.h"
#include "base/cpuid.h"

_Static_assert(LINES_BYTES == BYTEMASK_BYTES, "text is looked at in pieces of this size");

#define always_inline inline __attribute__((always_inline))

struct piece {
	uint64_t tabs, newlines; /* a bit for each byte */
};

typedef struct piece (*piece_fn)(const char *p);
/* Writes the offsets of the N bits of STOPS, from AT on, to TO; some more may be overwritten after them. */
typedef void (*offsets_fn)(uint32_t *to, uint32_t at, uint64_t stops, unsigned int n);

static always_inline unsigned int find(struct lines *lines, const char *text, uint32_t begin, uint32_t end,
				       piece_fn piece_of, offsets_fn offsets)
{
	unsigned int n = 0, n_stops = 1;

	lines->stop[0] = begin - 1; /* also of 0: offsets wrap around */
	lines->end[0] = 0;
	for (uint32_t at = begin; at < end && n < LINES_MAX && n_stops < LINES_STOPS; at += LINES_BYTES) {
		struct piece piece = piece_of(text + at);
		uint64_t newlines = piece.newlines, stops = piece.tabs | newlines;
		unsigned int n_here;

		if (end - at < LINES_BYTES) { /* the last piece: bytes after the text do not count */
			const uint64_t inside = (1ULL << (end - at)) - 1;

			newlines &= inside;
			stops &= inside;
		}
		n_here = (unsigned int)__builtin_popcountll(stops);
		offsets(lines->stop + n_stops, at, stops, n_here);
		/* mostly one or none, which is hard to predict: the first is written in any case */
		do {
			uint64_t line = stops & (newlines ^ (newlines - 1));

			lines->end[n + 1] = n_stops + (unsigned int)__builtin_popcountll(line) - 1;
			n += newlines != 0;
			newlines &= newlines - 1;
		} while (newlines);
		n_stops += n_here;
	}
	lines->n = n;
	lines->at = 0;
	return n;
}

/* --- any machine ---------------------------------------------------------------------------------- */

static inline struct piece piece_anywhere(const char *p)
{
	return (struct piece){ bytemask_of(p, '\t'), bytemask_of(p, '\n') };
}

static inline void offsets_anywhere(uint32_t *to, uint32_t at, uint64_t stops, unsigned int n)
{
	for (; stops; stops &= stops - 1)
		*to++ = at + (uint32_t)__builtin_ctzll(stops);
}

static unsigned int find_anywhere(struct lines *l, const char *text, uint32_t begin, uint32_t end)
{
	return find(l, text, begin, end, piece_anywhere, offsets_anywhere);
}

/* --- x86-64 with AVX2 and BMI --------------------------------------------------------------------- */

#ifdef __x86_64__
#define WITH_AVX2 __attribute__((target("avx2,bmi,popcnt")))
#define AT_ONCE 12 /* few pieces of a trace have more stops */

static WITH_AVX2 inline struct piece piece_avx2(const char *p)
{
	const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)p);
	const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(p + sizeof(low)));
	const __m256i tab = _mm256_set1_epi8('\t'), newline = _mm256_set1_epi8('\n');

#define MASK(half, c) ((uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(half, c)))
	return (struct piece){ MASK(low, tab) | MASK(high, tab) << 32, MASK(low, newline) | MASK(high, newline) << 32 };
#undef MASK
}

/* A fixed number at once, so that branches go the same way from piece to piece. */
static WITH_AVX2 inline void offsets_avx2(uint32_t *to, uint32_t at, uint64_t stops, unsigned int n)
{
#define STOP(i) to[i] = at + (uint32_t)_tzcnt_u64(stops), stops = _blsr_u64(stops)
	for (const uint32_t *end = to + n; to < end; to += AT_ONCE) {
		STOP(0), STOP(1), STOP(2), STOP(3), STOP(4), STOP(5);
		STOP(6), STOP(7), STOP(8), STOP(9), STOP(10), STOP(11);
	}
#undef STOP
}

static WITH_AVX2 unsigned int find_avx2(struct lines *l, const char *text, uint32_t begin, uint32_t end)
{
	return find(l, text, begin, end, piece_avx2, offsets_avx2);
}

static bool has_avx2(void)
{
	return cpuid_has(CPUID_AVX2 | CPUID_BMI | CPUID_POPCNT);
}

/* --- x86-64 with AVX-512: finds the bits' positions without going from one to the next ----------- */

#define WITH_AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi2,bmi,popcnt")))
#define NUMBERS 16 /* 32 bits each */

static WITH_AVX512 inline struct piece piece_avx512(const char *p)
{
	const __m512i text = _mm512_loadu_si512(p);

	return (struct piece){ _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8('\t')),
			       _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8('\n')) };
}

static WITH_AVX512 inline void offsets_avx512(uint32_t *to, uint32_t at, uint64_t stops, unsigned int n)
{
	const __m512i bytes =
		_mm512_set_epi64(0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928, 0x2726252423222120,
				 0x1f1e1d1c1b1a1918, 0x1716151413121110, 0x0f0e0d0c0b0a0908, 0x0706050403020100);
	const __m512i from = _mm512_set1_epi32((int)at);
	__m512i are = _mm512_maskz_compress_epi8(stops, bytes);

	for (const uint32_t *end = to + n; to < end; to += NUMBERS) {
		_mm512_storeu_si512(to, _mm512_add_epi32(_mm512_cvtepu8_epi32(_mm512_castsi512_si128(are)), from));
		are = _mm512_alignr_epi32(are, are, NUMBERS / 4);
	}
}

static WITH_AVX512 unsigned int find_avx512(struct lines *l, const char *text, uint32_t begin, uint32_t end)
{
	return find(l, text, begin, end, piece_avx512, offsets_avx512);
}

static bool has_avx512(void)
{
	return cpuid_has(CPUID_AVX512F | CPUID_AVX512BW | CPUID_AVX512VBMI2) && has_avx2();
}
#endif

/* --- which ---------------------------------------------------------------------------------------- */

lines_find_fn lines_way(unsigned int i)
{
#ifdef __x86_64__
	if (has_avx512() && i-- == 0)
		return find_avx512;
	if (has_avx2() && i-- == 0)
		return find_avx2;
#endif
	return i == 0 ? find_anywhere : NULL;
}

/* --- one ------------------------------------------------------------------------------------------ */

void lines_one(struct lines *lines, const char *text, uint32_t begin, uint32_t len)
{
	const char *p = text + begin, *end = p + len, *tab;
	unsigned int n = 1;

	lines->stop[0] = begin - 1;
	for (; n < LINES_STOPS && (tab = memchr(p, '\t', (size_t)(end - p))); p = tab + 1)
		lines->stop[n++] = (uint32_t)(tab - text);
	lines->stop[n] = begin + len;
	lines->end[0] = 0;
	lines->end[1] = n;
	lines->n = 1;
	lines->at = 0;
}
