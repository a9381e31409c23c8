/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json_bind.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"

/* Reads the LEN bytes of TEXT as digits, at most UINT64_MAX. Returns whether they are. */
static bool unsigned_number(uint64_t *ret, const char *text, size_t len)
{
	uint64_t n = 0;
	bool over = false;

	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		over |= __builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (uint64_t)(text[i] - '0'), &n);
	}
	*ret = over ? UINT64_MAX : n;
	return len > 0;
}

/* Likewise of a number that may be negative, from MIN to MAX. */
static bool signed_number(int64_t *ret, const char *text, size_t len, int64_t min, int64_t max)
{
	const bool minus = len && *text == '-';
	uint64_t n;

	if (!unsigned_number(&n, text + minus, len - minus))
		return false;
	if (minus)
		*ret = n > (uint64_t)INT64_MAX ? min : MAX(-(int64_t)n, min);
	else
		*ret = n > (uint64_t)max ? max : (int64_t)n;
	return true;
}

static bool is_word(const char *is, const char *text, size_t len)
{
	return strlen(is) == len && !memcmp(text, is, len);
}

static void set(const struct json_member *member, void *to, enum json_event event, const char *text, size_t len)
{
	uint64_t n;
	int64_t value;

	switch (member->kind) {
	case JSON_BOOL:
		if (event == JSON_WORD && (is_word("true", text, len) || is_word("false", text, len)))
			*(bool *)to = *text == 't';
		break;
	case JSON_INT:
		if (signed_number(&value, text, len, INT_MIN, INT_MAX))
			*(int *)to = (int)value;
		break;
	case JSON_S64:
		if (signed_number(&value, text, len, INT64_MIN, INT64_MAX))
			*(int64_t *)to = value;
		break;
	case JSON_U64:
		if (unsigned_number(&n, text, len))
			*(uint64_t *)to = n;
		break;
	case JSON_TEXT:
		if (event == JSON_STRING)
			json_read_string(to, member->size, text, len);
		break;
	case JSON_LITERAL:
		if (event == JSON_WORD && len < member->size && (*text == '-' || (*text >= '0' && *text <= '9')))
			snprintf(to, member->size, "%.*s", (int)len, text);
		break;
	default:
		break;
	}
}

const struct json_member *json_bind(const struct json_member *members, void *base, const char *path,
				    enum json_event event, const char *text, size_t len)
{
	const struct json_member *member = members;

	while (member->path && strcmp(member->path, path) != 0)
		member++;
	if (!member->path)
		return NULL;
	if (event != JSON_OPEN)
		set(member, (char *)base + member->at, event, text, len);
	return member;
}

const struct json_place *json_place_of(const struct json_place *places, const char **path)
{
	size_t len;

	while (strncmp(*path, places->under, len = strlen(places->under)) != 0)
		places++;
	*path += len;
	return places;
}
