/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json_read.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define DEPTH_MAX 32
#define REPLACEMENT 0xfffd

static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";

struct parser {
	const char *p, *end;
	json_read_fn *fn;
	void *ctx;
	char path[128];
	size_t path_len; /* may exceed the buffer: such a path is given as "" */
	unsigned int depth;
};

static int parse_value(struct parser *ps);

static void emit(struct parser *ps, enum json_event event, const char *text, size_t len)
{
	ps->fn(ps->ctx, ps->path_len < sizeof(ps->path) ? ps->path : "", event, text, len);
}

static void skip_blanks(struct parser *ps)
{
	while (ps->p < ps->end && memchr(" \t\r\n", *ps->p, 4))
		ps->p++;
}

static bool take(struct parser *ps, char c)
{
	skip_blanks(ps);
	if (ps->p == ps->end || *ps->p != c)
		return false;
	ps->p++;
	return true;
}

static void path_push(struct parser *ps, const char *prefix, const char *key, size_t len)
{
	size_t at = MIN(ps->path_len, sizeof(ps->path) - 1);

	snprintf(ps->path + at, sizeof(ps->path) - at, "%s%.*s", prefix, (int)MIN(len, sizeof(ps->path)), key);
	ps->path_len += strlen(prefix) + len;
}

static void path_pop(struct parser *ps, size_t len)
{
	ps->path_len = len;
	if (len < sizeof(ps->path))
		ps->path[len] = '\0';
}

/* Returns the value of N hexadecimal digits at P, or -1 when they are not digits. */
static int64_t hex(const char *p, const char *end, int n)
{
	int64_t value = 0;

	if (end - p < n)
		return -1;
	for (; n--; p++) {
		int c = *p | 0x20;

		if (!(*p >= '0' && *p <= '9') && !(c >= 'a' && c <= 'f'))
			return -1;
		value = value << 4 | (*p <= '9' ? *p - '0' : c - 'a' + 10);
	}
	return value;
}

/* The opening quote has been read. */
static int parse_string(struct parser *ps, const char **ret, size_t *ret_len)
{
	*ret = ps->p;
	for (; ps->p < ps->end && *ps->p != '"'; ps->p++) {
		if (*ps->p != '\\')
			continue;
		if (++ps->p == ps->end)
			return -EBADMSG;
		if (*ps->p == 'u' ? hex(ps->p + 1, ps->end, 4) < 0 : !memchr(escapes, *ps->p, sizeof(escapes) - 1))
			return -EBADMSG;
	}
	if (ps->p == ps->end)
		return -EBADMSG;
	*ret_len = (size_t)(ps->p++ - *ret);
	return 0;
}

/* The opening brace or bracket has been read. */
static int parse_members(struct parser *ps, char close)
{
	size_t path_len = ps->path_len;

	if (take(ps, close))
		return 0;
	do {
		const char *key = "[]";
		size_t len = 2;

		if (close == '}' && (!take(ps, '"') || parse_string(ps, &key, &len) < 0 || !take(ps, ':')))
			return -EBADMSG;
		/* not by the path's length: a key may be empty */
		path_push(ps, close == '}' && ps->depth > 1 ? "." : "", key, len);
		if (parse_value(ps) < 0)
			return -EBADMSG;
		path_pop(ps, path_len);
	} while (take(ps, ','));
	return take(ps, close) ? 0 : -EBADMSG;
}

static int parse_word(struct parser *ps)
{
	const char *begin = ps->p;

	while (ps->p < ps->end && !memchr(" \t\r\n,:\"[]{}", *ps->p, 11))
		ps->p++;
	if (ps->p == begin)
		return -EBADMSG;
	emit(ps, JSON_WORD, begin, (size_t)(ps->p - begin));
	return 0;
}

static int parse_value(struct parser *ps)
{
	const char *text;
	size_t len;
	bool object;
	int r;

	if (take(ps, '"')) {
		r = parse_string(ps, &text, &len);
		if (r == 0)
			emit(ps, JSON_STRING, text, len);
		return r;
	}
	object = take(ps, '{');
	if (!object && !take(ps, '['))
		return parse_word(ps);
	if (ps->depth == DEPTH_MAX)
		return -EBADMSG;
	emit(ps, JSON_OPEN, ps->p, 0);
	ps->depth++;
	r = parse_members(ps, object ? '}' : ']');
	ps->depth--;
	return r;
}

int json_read(const char *text, size_t len, json_read_fn *fn, void *ctx)
{
	struct parser ps = { .p = text, .end = text + len, .fn = fn, .ctx = ctx };

	return parse_value(&ps);
}

/* --- strings ---------------------------------------------------------------------------------------- */

static size_t utf8(char *dst, uint32_t c)
{
	static const unsigned char lead[] = { 0, 0xc0, 0xe0, 0xf0 };
	const unsigned int more = (c >= 0x80) + (c >= 0x800) + (c >= 0x10000);

	*dst++ = (char)(lead[more] | c >> 6 * more);
	for (unsigned int i = more; i--;)
		*dst++ = (char)(0x80 | (c >> 6 * i & 0x3f));
	return more + 1;
}

/* After "\u": four digits, or a surrogate pair. */
static uint32_t code_point(const char **p, const char *end)
{
	int64_t c = hex(*p, end, 4), low = -1;

	*p += 4;
	if (c >> 10 == 0xd800 >> 10 && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u')
		low = hex(*p + 2, end, 4);
	if (low >> 10 == 0xdc00 >> 10) {
		*p += 6;
		return (uint32_t)(0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff)));
	}
	return c == 0 || c >> 11 == 0xd800 >> 11 ? REPLACEMENT : (uint32_t)c;
}

void json_read_string(char *dst, size_t size, const char *text, size_t len)
{
	const char *p = text, *end = text + len;
	size_t have = 0;

	while (p < end && have + 1 < size) {
		char c[4] = { *p++ };
		size_t n = 1;

		if (c[0] == '\\') {
			char escape = *p++;

			if (escape == 'u')
				n = utf8(c, code_point(&p, end));
			else
				c[0] = meanings[strchr(escapes, escape) - escapes];
		}
		n = MIN(n, size - 1 - have);
		memcpy(dst + have, c, n);
		have += n;
	}
	dst[have] = '\0';
}

char *json_read_whole(const char *text, size_t len)
{
	char *whole = malloc(len + 1); /* no escape is shorter than what it stands for */

	if (whole)
		json_read_string(whole, len + 1, text, len);
	return whole;
}
