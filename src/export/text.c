/* SPDX-License-Identifier: BSD-2-Clause */
/* See text.h. */
#include "export/text.h"

#include <string.h>

#include "base/text.h"

#define BYTES(c) (0x0101010101010101ULL * (unsigned char)(c))

/* --- whether a text can be copied as it stands -------------------------------------------------------------- */

/* Returns a bit for each byte of W that is zero, and perhaps for others after the first such byte. */
static inline uint64_t zero_bytes(uint64_t w)
{
	return (w - BYTES(1)) & ~w & BYTES(0x80);
}

/* Whether a byte of W is a control character, not ASCII, a quote or a backslash. */
static inline bool is_odd(uint64_t w)
{
	return (((w - BYTES(0x20)) & ~w & BYTES(0x80)) | (w & BYTES(0x80)) | zero_bytes(w ^ BYTES('"')) |
		zero_bytes(w ^ BYTES('\\')) | zero_bytes(w ^ BYTES(0x7f))) != 0;
}

/* Whether a byte of W is odd, a blank, a comma, or a semicolon, which some programs take for a comma. */
static inline bool is_odd_in_csv(uint64_t w)
{
	return is_odd(w) || (zero_bytes(w ^ BYTES(' ')) | zero_bytes(w ^ BYTES(',')) | zero_bytes(w ^ BYTES(';'))) != 0;
}

/* Copies F word by word; returns false, with P half filled, at the first word with an odd byte. */
static inline __attribute__((always_inline)) bool copy(char *p, struct reader_field f, bool (*odd)(uint64_t))
{
	uint64_t w;
	size_t i = 0;

	for (; i + sizeof(w) <= f.len; i += sizeof(w)) {
		memcpy(&w, f.p + i, sizeof(w));
		memcpy(p + i, &w, sizeof(w));
		if (odd(w))
			return false;
	}
	if (i == f.len)
		return true;
	w = 0; /* no whole word is read here: a text that is not from a row may end where its memory ends */
	memcpy(&w, f.p + i, f.len - i);
	memcpy(p + i, &w, sizeof(w));
	return !odd(le64toh(w) | BYTES('a') << 8 * (f.len - i));
}

/* --- the others, byte by byte ------------------------------------------------------------------------------- */

static char *put_octal(char *p, unsigned char c)
{
	*p++ = (char)('0' + (c >> 6));
	*p++ = (char)('0' + (c >> 3 & 7));
	*p++ = (char)('0' + (c & 7));
	return p;
}

/* Returns how many bytes at S are written as they are; 0: S[0] is written as \ooo. */
static inline unsigned int shown(const char *s, size_t len)
{
	if (*s == '\\')
		return 0;
	return *s == '\t' || *s == '\n' || *s == '\r' ? 1 : text_shown_len(s, len);
}

static char *put_raw(char *p, const char *s, size_t len)
{
	while (len) {
		const unsigned int n = shown(s, len);

		if (n) {
			memcpy(p, s, n);
			p += n;
		} else {
			*p++ = '\\';
			p = put_octal(p, (unsigned char)*s);
		}
		s += n ? n : 1;
		len -= n ? n : 1;
	}
	return p;
}

/* Returns the letter of a tab, line feed or carriage return after a backslash. */
static inline char control_letter(char c)
{
	if (c == '\t')
		return 't';
	return c == '\n' ? 'n' : 'r';
}

static char *put_json(char *p, const char *s, size_t len)
{
	while (len) {
		const unsigned int n = shown(s, len);

		if (!n) {
			*p++ = '\\';
			*p++ = '\\';
			p = put_octal(p, (unsigned char)*s);
		} else if (*s == '"') {
			*p++ = '\\';
			*p++ = '"';
		} else if (n == 1 && (unsigned char)*s < ' ') {
			*p++ = '\\';
			*p++ = control_letter(*s);
		} else {
			memcpy(p, s, n);
			p += n;
		}
		s += n ? n : 1;
		len -= n ? n : 1;
	}
	return p;
}

char *text_put_utf8(char *p, struct reader_field f, char *scratch)
{
	return copy(p, f, is_odd) ? p + f.len : put_raw(p, scratch, text_unescape(scratch, f.p, f.len));
}

char *text_put_json(char *p, struct reader_field f, char *scratch)
{
	return copy(p, f, is_odd) ? p + f.len : put_json(p, scratch, text_unescape(scratch, f.p, f.len));
}

char *text_put_json_s(char *p, const char *s)
{
	return put_json(p, s, strlen(s));
}

/* Whether a spreadsheet would take the text for a formula; see base/csv.h. */
static bool begins_formula(const char *s, size_t len)
{
	return (len && memchr("=+-@\t\r\n'", s[0], 8)) ||
	       (len >= 3 && (!memcmp(s, "\xef\xbc\x9d", 3) || !memcmp(s, "\xef\xbc\x8b", 3) ||
			     !memcmp(s, "\xef\xbc\x8d", 3) || !memcmp(s, "\xef\xbc\xa0", 3)));
}

static char *put_quoted(char *p, const char *s, size_t len)
{
	*p++ = '"';
	if (begins_formula(s, len))
		*p++ = '\'';
	while (len) {
		const unsigned int n = shown(s, len);

		if (!n) {
			*p++ = '\\';
			p = put_octal(p, (unsigned char)*s);
		} else {
			memcpy(p, s, n);
			p += n;
			if (*s == '"')
				*p++ = '"';
		}
		s += n ? n : 1;
		len -= n ? n : 1;
	}
	*p++ = '"';
	return p;
}

char *text_put_csv(char *p, struct reader_field f, char *scratch)
{
	if (!begins_formula(f.p, f.len) && copy(p, f, is_odd_in_csv))
		return p + f.len;
	return put_quoted(p, scratch, text_unescape(scratch, f.p, f.len));
}

/* --- numbers --------------------------------------------------------------------------------------------- */

bool text_is_long_uint(struct reader_field f)
{
	if (!f.len || (f.p[0] == '0' && f.len > 1))
		return false;
	for (size_t i = 0; i < f.len; i++)
		if (f.p[i] < '0' || f.p[i] > '9')
			return false;
	return true;
}

bool text_s64(struct reader_field f, int64_t *ret)
{
	const bool minus = f.len > 1 && f.p[0] == '-';
	uint64_t v;

	if (!reader_u64((struct reader_field){ f.p + minus, f.len - minus }, &v) || v > (uint64_t)INT64_MAX)
		return false;
	*ret = minus ? -(int64_t)v : (int64_t)v;
	return true;
}

static size_t digits(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[n] >= '0' && s[n] <= '9')
		n++;
	return n;
}

bool text_is_number(struct reader_field f)
{
	const char *s = f.p, *end = f.p + f.len;
	size_t n;

	s += s < end && *s == '-';
	n = digits(s, (size_t)(end - s));
	if (!n || (n > 1 && *s == '0'))
		return false;
	s += n;
	if (s < end && *s == '.') {
		n = digits(s + 1, (size_t)(end - s - 1));
		s += n ? 1 + n : 0;
	}
	if (s < end && (*s | 0x20) == 'e') {
		const size_t sign = s + 1 < end && (s[1] == '+' || s[1] == '-');

		n = digits(s + 1 + sign, (size_t)(end - s - 1) - sign);
		s += n ? 1 + sign + n : 0;
	}
	return s == end;
}
