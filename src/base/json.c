/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

/* Returns room for N more bytes, or NULL once anything has failed. */
static char *room(struct json *json, size_t n)
{
	size_t size = json->size ? json->size : 4096;
	char *buf;

	if (json->error)
		return NULL;
	while (size - json->len < n)
		size *= 2;
	if (size == json->size)
		return json->buf + json->len;
	buf = realloc(json->buf, size);
	if (!buf) {
		json->error = -ENOMEM;
		return NULL;
	}
	json->buf = buf;
	json->size = size;
	return json->buf + json->len;
}

static void put(struct json *j, const char *s, size_t len)
{
	char *p = room(j, len);

	if (!p)
		return;
	memcpy(p, s, len);
	j->len += len;
}

static void put_newline(struct json *j)
{
	if (j->row || j->flat)
		return;
	put(j, "\n", 1);
	for (unsigned int i = 0; i < j->depth; i++)
		put(j, "  ", 2);
}

/* Puts the character C, below U+0100, as \u00xx. */
static char *put_escape(char *p, uint8_t c)
{
	static const char digits[] = "0123456789abcdef";

	memcpy(p, "\\u00", 4); /* NOLINT(bugprone-not-null-terminated-result): no string */
	p[4] = digits[c >> 4];
	p[5] = digits[c & 15];
	return p + 6;
}

/*
 * Puts one character of a string, or an invalid byte, at P. JSON may have U+007F to U+009F as they are, but terminals
 * obey them, and the names of a trace may be anybody's.
 */
static char *put_char(char *p, const char *s, unsigned int utf8_len)
{
	uint8_t c = (uint8_t)*s;

	if (!utf8_len) {
		*p++ = '\\'; /* JSON's own escape of the backslash of \ooo */
		return text_put_piece(p, s, 1);
	}
	if (c == 0xc2 && (uint8_t)s[1] < 0xa0)
		return put_escape(p, (uint8_t)s[1]);
	if (c < 0x20 || c == 0x7f)
		return put_escape(p, c);
	if (c == '"' || c == '\\')
		*p++ = '\\';
	memcpy(p, s, utf8_len);
	return p + utf8_len;
}

static void put_string(struct json *json, const char *s, size_t len)
{
	const char *end = s + len;
	char *p = room(json, 6 * len + 2); /* a byte is at most \u00xx */

	if (!p)
		return;
	*p++ = '"';
	while (s < end) {
		unsigned int n = text_utf8_len(s, (size_t)(end - s));

		p = put_char(p, s, n);
		s += MAX(n, 1U);
	}
	*p++ = '"';
	json->len = (size_t)(p - json->buf);
}

/* The separator before every value: comma, line break, name. */
static void put_lead(struct json *json, const char *key)
{
	if (json->depth) {
		if (!json->empty)
			put(json, ",", 1);
		put_newline(json);
	}
	json->empty = false;
	if (key) {
		put_string(json, key, strlen(key));
		put(json, ": ", 2);
	}
}

static void open_nest(struct json *j, const char *key, char opener, char closer)
{
	put_lead(j, key);
	put(j, &opener, 1);
	if (j->depth == JSON_DEPTH_MAX) {
		j->error = -EINVAL;
		return;
	}
	j->closer[j->depth++] = closer;
	j->empty = true;
}

void json_object(struct json *j, const char *key)
{
	open_nest(j, key, '{', '}');
}

void json_array(struct json *j, const char *key)
{
	open_nest(j, key, '[', ']');
}

void json_row(struct json *j, const char *key)
{
	json_array(j, key);
	if (!j->row)
		j->row = j->depth;
}

void json_end(struct json *json)
{
	if (!json->depth) {
		json->error = -EINVAL;
		return;
	}
	json->depth--;
	if (!json->empty)
		put_newline(json);
	if (json->row > json->depth)
		json->row = 0;
	put(json, &json->closer[json->depth], 1);
	json->empty = false;
}

void json_strn(struct json *j, const char *key, const char *s, size_t len)
{
	put_lead(j, key);
	put_string(j, s, len);
}

void json_str(struct json *j, const char *key, const char *s)
{
	if (s)
		json_strn(j, key, s, strlen(s));
	else
		json_null(j, key);
}

void json_u64(struct json *j, const char *key, uint64_t v)
{
	char text[TEXT_U64_MAX];

	put_lead(j, key);
	put(j, text, (size_t)(text_put_u64(text, v) - text));
}

void json_s64(struct json *j, const char *key, int64_t v)
{
	char text[TEXT_U64_MAX];

	put_lead(j, key);
	put(j, text, (size_t)(text_put_s64(text, v) - text));
}

void json_f64(struct json *json, const char *key, double v)
{
	char text[32];

	if (!isfinite(v)) {
		json_null(json, key);
		return;
	}
	if (fabs(v) < 1000000 && v == (int)v && !signbit(v)) { /* many are, and printf(3) is slow for any */
		json_u64(json, key, (uint64_t)v);
		return;
	}
	put_lead(json, key);
	put(json, text, (size_t)snprintf(text, sizeof(text), "%.6g", v));
}

void json_bool(struct json *j, const char *key, bool v)
{
	put_lead(j, key);
	put(j, v ? "true" : "false", v ? 4 : 5);
}

void json_null(struct json *j, const char *key)
{
	put_lead(j, key);
	put(j, "null", 4);
}

void json_strs(struct json *j, const char *key, char *const *s, size_t n)
{
	json_array(j, key);
	for (size_t i = 0; i < n; i++)
		json_str(j, NULL, s[i]);
	json_end(j);
}

void json_u64_known(struct json *j, const char *key, bool known, uint64_t v)
{
	if (known)
		json_u64(j, key, v);
	else
		json_null(j, key);
}

int json_finish(struct json *j)
{
	put(j, "\n", 1);
	if (j->depth && !j->error)
		j->error = -EINVAL;
	return j->error;
}

void json_free(struct json *j)
{
	free(j->buf);
	*j = (struct json){ 0 };
}

char *json_text(struct json *j)
{
	char *text = NULL;

	if (json_finish(j) == 0) {
		text = TAKE_PTR(j->buf);
		text[j->len - 1] = '\0';
	}
	json_free(j);
	return text;
}

int json_write(struct json *j, FILE *out)
{
	int r = json_finish(j);

	if (r == 0)
		fwrite(j->buf, 1, j->len, out);
	json_free(j);
	return r;
}
