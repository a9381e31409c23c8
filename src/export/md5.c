/* SPDX-License-Identifier: BSD-2-Clause */
/* See md5.h. */
#include "export/md5.h"

#include <endian.h>
#include <string.h>

/* floor(2^32 * |sin(i + 1)|), RFC 1321, 3.4 */
static const uint32_t sines[64] = {
	0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
	0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
	0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
	0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
	0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
	0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
	0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
	0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};
static const uint8_t turns[4][4] = { { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 } };

static inline uint32_t mixed(unsigned int round, uint32_t b, uint32_t c, uint32_t d)
{
	switch (round) {
	case 0:
		return (b & c) | (~b & d);
	case 1:
		return (d & b) | (~d & c);
	case 2:
		return b ^ c ^ d;
	default:
		return c ^ (b | ~d);
	}
}

static void block(uint32_t state[4], const uint8_t *data)
{
	static const uint8_t step[4] = { 1, 5, 3, 7 }, first[4] = { 0, 1, 5, 0 };
	uint32_t m[16], a = state[0], b = state[1], c = state[2], d = state[3];

	memcpy(m, data, sizeof(m));
	for (unsigned int i = 0; i < 64; i++) {
		const unsigned int round = i / 16, turn = turns[round][i % 4];
		const unsigned int k = (step[round] * i + first[round]) % 16;
		const uint32_t sum = a + mixed(round, b, c, d) + sines[i] + le32toh(m[k]);

		a = d;
		d = c;
		c = b;
		b += sum << turn | sum >> (32 - turn);
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
}

void md5(const void *data, size_t len, uint8_t digest[16])
{
	uint32_t state[4] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };
	const uint64_t bits = htole64((uint64_t)len * 8);
	const size_t rest = len % 64, last = rest < 56 ? 64 : 128;
	uint8_t tail[128] = { 0 };

	for (size_t i = 0; i + 64 <= len; i += 64)
		block(state, (const uint8_t *)data + i);
	if (rest)
		memcpy(tail, (const uint8_t *)data + (len - rest), rest);
	tail[rest] = 0x80;
	memcpy(tail + last - sizeof(bits), &bits, sizeof(bits));
	for (size_t i = 0; i < last; i += 64)
		block(state, tail + i);
	for (unsigned int i = 0; i < 4; i++)
		state[i] = htole32(state[i]);
	memcpy(digest, state, sizeof(state));
}
