/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text rules of the .out files, one implementation for every writer and reader. Pure: no
 * state but the caller's, no allocation, any thread. Knows neither columns nor files. This is the
 * hot path of the drain.
 */
#include "base/text.h"

#include <endian.h>
#include <string.h>
#include <time.h>

#include "base/util.h"

static inline unsigned int bits_of(uint64_t v)
{
	return 64 - (unsigned int)__builtin_clzll(v | 1);
}

/*
 * Splits numbers of four digits, each in 32 bits, into digits, a byte each, the first in the lowest: into
 * halves of two digits, then of one, all of them at once. 10486 / 2^20 and 103 / 2^10 are close enough to
 * 1/100 and 1/10.
 */
static inline uint64_t digits_of(uint64_t fours)
{
	uint64_t hundreds = fours * 10486 >> 20 & 0x7f0000007f;
	uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
	uint64_t tens = twos * 103 >> 10 & 0x000f000f000f000f;

	return tens | (twos - 10 * tens) << 8;
}

/* V < 10^8. */
static inline uint64_t eight_digits(uint32_t v)
{
	return digits_of(v / 10000 | (uint64_t)(v % 10000) << 32);
}

#define DIGIT_ZEROS 0x3030303030303030ULL
#define TEN_8 100000000U

static inline char *put_eight(char *p, uint32_t v)
{
	uint64_t text = htole64(eight_digits(v) | DIGIT_ZEROS);

	memcpy(p, &text, sizeof(text));
	return p + sizeof(text);
}

/* Without leading zeros, except the last; the number of bytes written does not depend on them. */
static inline char *put_up_to_eight(char *p, uint32_t v)
{
	uint64_t digits = eight_digits(v), text;
	unsigned int zeros = (unsigned int)__builtin_ctzll(digits | 1ULL << 56) / 8;

	text = htole64((digits | DIGIT_ZEROS) >> 8 * zeros);
	memcpy(p, &text, sizeof(text));
	return p + sizeof(text) - zeros;
}

static inline char *put_up_to_four(char *p, uint32_t v)
{
	uint32_t digits = (uint32_t)digits_of(v), text;
	unsigned int zeros = (unsigned int)__builtin_ctz(digits | 1U << 24) / 8;

	text = htole32((digits | (uint32_t)DIGIT_ZEROS) >> 8 * zeros);
	memcpy(p, &text, sizeof(text));
	return p + sizeof(text) - zeros;
}

char *text_put_long_u64(char *p, uint64_t v)
{
	uint64_t high;

	if (v < 10000)
		return put_up_to_four(p, (uint32_t)v);
	if (v < TEN_8)
		return put_up_to_eight(p, (uint32_t)v);
	high = v / TEN_8;
	if (high < TEN_8) {
		p = put_up_to_eight(p, (uint32_t)high);
	} else {
		p = put_up_to_eight(p, (uint32_t)(high / TEN_8));
		p = put_eight(p, (uint32_t)(high % TEN_8));
	}
	return put_eight(p, (uint32_t)(v % TEN_8));
}

char *text_put_long_s64(char *p, int64_t v)
{
	if (v >= 0)
		return text_put_long_u64(p, (uint64_t)v);
	*p++ = '-';
	return text_put_u64(p, -(uint64_t)v);
}

/* In digits of BITS bits each. */
static inline __attribute__((always_inline)) char *put_bits(char *p, uint64_t v, unsigned int bits)
{
	for (unsigned int n = (bits_of(v) + bits - 1) / bits; n--;)
		*p++ = "0123456789abcdef"[v >> bits * n & ((1U << bits) - 1)];
	return p;
}

char *text_put_hex(char *p, uint64_t v)
{
	*p++ = '0';
	*p++ = 'x';
	return put_bits(p, v, 4);
}

char *text_put_octal(char *p, uint64_t v)
{
	*p++ = '0';
	return v ? put_bits(p, v, 3) : p;
}

/*
 * The class of a byte at the start of a character: PLAIN is copied, a LEAD byte announces that many bytes,
 * and the rest (controls, the quoting characters, bytes that start nothing) is escaped.
 */
enum { PLAIN = 0, ESCAPE = 1, LEAD2 = 2, LEAD3 = 3, LEAD4 = 4 };

static const uint8_t class_of[256] = {
	[0x00 ... 0x20] = ESCAPE, ['"'] = ESCAPE,           ['#'] = ESCAPE,
	['\\'] = ESCAPE,          [0x7f ... 0xc1] = ESCAPE, [0xc2 ... 0xdf] = LEAD2,
	[0xe0 ... 0xef] = LEAD3,  [0xf0 ... 0xf4] = LEAD4,  [0xf5 ... 0xff] = ESCAPE,
};

/*
 * RFC 3629 section 4: the second byte's range depends on the first; that excludes overlong forms (E0, F0),
 * surrogates (ED) and everything above U+10FFFF (F4).
 */
static inline bool second_ok(uint8_t lead, uint8_t second)
{
	uint8_t low = 0x80, high = 0xbf;
	if (lead == 0xe0)
		low = 0xa0;
	else if (lead == 0xf0)
		low = 0x90;
	else if (lead == 0xed)
		high = 0x9f;
	else if (lead == 0xf4)
		high = 0x8f;
	return second >= low && second <= high;
}

static inline bool is_tail(uint8_t c)
{
	return (c & 0xc0) == 0x80;
}

unsigned int text_utf8_len(const char *str, size_t len)
{
	const uint8_t *s = (const uint8_t *)str;
	unsigned int n;

	if (!len)
		return 0;
	if (s[0] < 0x80)
		return 1;
	n = class_of[s[0]];
	if (n < LEAD2 || n > len || !second_ok(s[0], s[1]))
		return 0;
	for (unsigned int i = 2; i < n; i++)
		if (!is_tail(s[i]))
			return 0;
	return n;
}

unsigned int text_shown_len(const char *s, size_t len)
{
	unsigned int n = text_utf8_len(s, len);
	bool c0 = n == 1 && ((unsigned char)s[0] < ' ' || s[0] == 0x7f);
	bool c1 = n == 2 && (s[0] & 0xff) == 0xc2 && (s[1] & 0xe0) == 0x80; /* U+0080 to U+009F */

	return c0 || c1 ? 0 : n;
}

static inline char *put_escape(char *p, uint8_t c)
{
	p[0] = '\\';
	p[1] = (char)('0' + (c >> 6));
	p[2] = (char)('0' + (c >> 3 & 7));
	p[3] = (char)('0' + (c & 7));
	return p + 4;
}

/*
 * Eight plain bytes at once. Each term sets a byte's top bit for one kind that is not plain: above 0x7f,
 * 0x7f, below 0x21, '"' or '#', '\\'. A borrow can make the byte above look like one of them too; such a
 * word takes the slow way, with an equal result.
 */
static inline bool all_plain(uint64_t v)
{
	const uint64_t ones = 0x0101010101010101ULL;

	return !(
		(v | (v + ones) | (v - 0x21 * ones) | (((v | ones) ^ '#' * ones) - ones) | ((v ^ '\\' * ones) - ones)) &
		0x80 * ones);
}

/* One character at *S, or an invalid byte; advances *S past it. */
static inline char *put_char(char *p, const char **s, const char *end)
{
	unsigned int class = class_of[(uint8_t) * *s], n = 1;

	if (class != PLAIN)
		n = class == ESCAPE ? 0 : text_utf8_len(*s, (size_t)(end - *s));
	if (!n)
		return put_escape(p, (uint8_t) * (*s)++);
	while (n--)
		*p++ = *(*s)++;
	return p;
}

/* The REST of a string's END, shorter than a word, where its last word is plain; else NULL. */
static inline char *put_plain_end(char *p, const char *end, size_t rest, size_t len)
{
	uint64_t word;
	uint32_t half[2];

	if (len >= sizeof(word)) {
		/* the part of it that has been written was plain, too */
		memcpy(&word, end - sizeof(word), sizeof(word));
		if (!all_plain(word))
			return NULL;
		memcpy(p + rest - sizeof(word), &word, sizeof(word));
		return p + rest;
	}
	if (len < sizeof(half[0]))
		return NULL;
	memcpy(&half[0], end - len, sizeof(half[0]));
	memcpy(&half[1], end - sizeof(half[1]), sizeof(half[1]));
	if (!all_plain(half[0] | (uint64_t)half[1] << 32))
		return NULL;
	memcpy(p, &half[0], sizeof(half[0]));
	memcpy(p + len - sizeof(half[1]), &half[1], sizeof(half[1]));
	return p + len;
}

bool text_is_plain(const char *s, size_t len)
{
	uint64_t word;

	for (; len >= sizeof(word); s += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, s, sizeof(word));
		if (!all_plain(word))
			return false;
	}
	while (len && class_of[(uint8_t)*s] == PLAIN) {
		s++;
		len--;
	}
	return !len;
}

char *text_put_piece(char *p, const char *s, size_t len)
{
	const char *end = s + len, *stop;
	char *plain;
	uint64_t word;

	while (end - s >= (ptrdiff_t)sizeof(word)) {
		memcpy(&word, s, sizeof(word));
		if (all_plain(word)) {
			memcpy(p, &word, sizeof(word));
			p += sizeof(word);
			s += sizeof(word);
			continue;
		}
		for (stop = s + sizeof(word); s < stop;)
			p = put_char(p, &s, end);
	}
	if (s == end)
		return p;
	plain = put_plain_end(p, end, (size_t)(end - s), len);
	if (plain)
		return plain;
	while (s < end)
		p = put_char(p, &s, end);
	return p;
}

char *text_put_str(char *p, const char *s, size_t len)
{
	if (!len) {
		*p++ = '-';
		return p;
	}
	if (len == 1 && (*s == '-' || *s == '?'))
		return put_escape(p, (uint8_t)*s);
	return text_put_piece(p, s, len);
}

char *text_put_ns(char *p, uint64_t ns, struct text_ns_cache *cache)
{
	uint64_t rest = ns - cache->begin_ns;

	if (!cache->begin_ns || ns < cache->begin_ns || rest >= TEN_8) {
		char prefix[TEXT_U64_MAX] = {};

		if (ns < TEN_8)
			return text_put_u64(p, ns);
		cache->len = (uint8_t)(text_put_u64(prefix, ns / TEN_8) - prefix);
		memcpy(cache->prefix, prefix, sizeof(cache->prefix));
		rest = ns % TEN_8;
		cache->begin_ns = ns - rest;
	}
	/* of fixed size: the rest is written over */
	memcpy(p, cache->prefix, sizeof(cache->prefix));
	return put_eight(p + cache->len, (uint32_t)rest);
}

static inline bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

size_t text_unescape(char *dst, const char *field, size_t len)
{
	const char *s = field, *end = field + len;
	char *p = dst;

	if (len == 1 && *s == '-')
		return 0;
	while (s < end) {
		if (*s == '\\' && end - s >= 4 && s[1] >= '0' && s[1] <= '3' && is_octal(s[2]) && is_octal(s[3])) {
			*p++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 4;
		} else {
			*p++ = *s++;
		}
	}
	return (size_t)(p - dst);
}

/* Not inlined, so that its set-up is not paid for each time. */
static __attribute__((noinline)) void fill_cache(struct text_utc_cache *c, uint64_t second)
{
	const time_t at = (time_t)second;
	char text[sizeof(c->prefix) + 1];
	struct tm tm;

	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S.", gmtime_r(&at, &tm));
	memcpy(c->prefix, text, sizeof(c->prefix));
	c->begin_ns = second * NSEC_PER_SEC;
	c->valid = true;
}

/* The date and second of FIELD into the cache: false where there is no such time since the epoch, or it exceeds 64
 * bits. */
static bool get_second(const char *field, struct text_utc_cache *cache)
{
	char text[sizeof(cache->prefix) + 1];
	struct tm tm = { 0 };
	time_t second;

	memcpy(text, field, sizeof(cache->prefix));
	text[sizeof(cache->prefix)] = '\0';
	cache->valid = false;
	if (!strptime(text, "%Y-%m-%dT%H:%M:%S.", &tm))
		return false;
	second = timegm(&tm);
	if (second < 0 || (uint64_t)second > UINT64_MAX / NSEC_PER_SEC)
		return false;
	fill_cache(cache, (uint64_t)second);
	return !memcmp(cache->prefix, field,
		       sizeof(cache->prefix)); /* else another time, which the cache has now, or another form */
}

bool text_get_utc(const char *field, size_t len, uint64_t *realtime_ns, struct text_utc_cache *cache)
{
	uint64_t ns = 0;

	if (len != TEXT_UTC_LEN || field[len - 1] != 'Z')
		return false;
	if ((!cache->valid || memcmp(cache->prefix, field, sizeof(cache->prefix)) != 0) && !get_second(field, cache))
		return false;
	for (size_t i = sizeof(cache->prefix); i < len - 1; i++) {
		if (field[i] < '0' || field[i] > '9')
			return false;
		ns = 10 * ns + (uint64_t)(field[i] - '0');
	}
	return !__builtin_add_overflow(cache->begin_ns, ns, realtime_ns);
}

char *text_put_utc(char *p, uint64_t realtime_ns, struct text_utc_cache *cache)
{
	uint32_t ns;

	if (!cache->valid || realtime_ns - cache->begin_ns >= NSEC_PER_SEC)
		fill_cache(cache, realtime_ns / NSEC_PER_SEC);
	ns = (uint32_t)(realtime_ns - cache->begin_ns);
	memcpy(p, cache->prefix, sizeof(cache->prefix));
	p = put_eight(p + sizeof(cache->prefix), ns / 10);
	p[0] = (char)('0' + ns % 10);
	p[1] = 'Z';
	return p + 2;
}
