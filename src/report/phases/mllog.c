/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/phases/mllog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

struct piece {
	const char *p, *end;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(struct piece *s)
{
	while (s->p < s->end && is_blank(*s->p))
		s->p++;
}

static bool take(struct piece *s, char c)
{
	skip_blanks(s);
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

/* --- JSON: the members of one object, with values passed over unread ------------------------------- */

static bool skip_string(struct piece *s, struct piece *ret)
{
	if (!take(s, '"'))
		return false;
	ret->p = s->p;
	while (s->p < s->end && *s->p != '"')
		s->p += *s->p == '\\' ? 2 : 1;
	if (s->p >= s->end)
		return false;
	ret->end = s->p++;
	return true;
}

/* A value up to what follows it: strings are passed over whole, brackets counted. */
static bool skip_value(struct piece *s, struct piece *ret)
{
	struct piece string;
	size_t depth = 0;

	skip_blanks(s);
	ret->p = s->p;
	for (; s->p < s->end; s->p++) {
		char c = *s->p;

		if (depth == 0 && (c == ',' || c == '}' || c == ']'))
			break;
		depth += c == '{' || c == '[';
		depth -= (c == '}' || c == ']') && depth;
		if (c == '"') {
			if (!skip_string(s, &string))
				return false;
			s->p--;
		}
	}
	ret->end = s->p;
	return s->p < s->end && depth == 0;
}

static bool is(struct piece s, const char *text)
{
	return (size_t)(s.end - s.p) == strlen(text) && memcmp(s.p, text, strlen(text)) == 0;
}

/* A string's content as it stands: those that are looked for have no escapes. */
static struct piece unquoted(struct piece value)
{
	struct piece s = value, string = { value.p, value.p };

	skip_string(&s, &string);
	return string;
}

static uint64_t number(struct piece s)
{
	uint64_t v = 0;

	for (; s.p < s.end && *s.p >= '0' && *s.p <= '9' && v < UINT64_MAX / 100; s.p++)
		v = v * 10 + (uint64_t)(*s.p - '0');
	return v;
}

/* --- the line ----------------------------------------------------------------------------------------- */

/* "0: ", "[0] ", "[1,0]<stdout>: ", "rank 0: " before the mark. */
int64_t mllog_rank(const char *line, size_t len)
{
	static const char *const before[] = { "", "[", "[1,", "rank ", "[rank" }, *const behind[] = { ":", "]" };
	char prefix[64], *end;
	const char *p;
	long rank;

	if (len >= sizeof(prefix))
		return -1;
	memcpy(prefix, line, len);
	prefix[len] = '\0';
	p = prefix + strspn(prefix, " \t");
	for (size_t i = ARRAY_SIZE(before); i--;) {
		size_t n = strlen(before[i]);

		if (strncmp(p, before[i], n) != 0 || p[n] < '0' || p[n] > '9')
			continue;
		rank = strtol(p + n, &end, 10);
		/* 08:00:01 is none */
		if (strncmp(end, behind[*p == '['], 1) == 0 && !(end[1] >= '0' && end[1] <= '9') && rank <= INT32_MAX)
			return rank;
	}
	return -1;
}

static void take_phase(struct mllog *m, struct piece key)
{
	static const char *const ends[] = { "_start", "_stop", "_end" };
	size_t len = MIN((size_t)(key.end - key.p), sizeof(m->phase) - 1);

	memcpy(m->phase, key.p, len);
	m->phase[len] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t n = strlen(ends[i]);

		if (len > n && strcmp(m->phase + len - n, ends[i]) == 0) {
			m->phase[len - n] = '\0';
			return;
		}
	}
}

/* Whole numbers alone: an epoch of 1.5 is none that others have. */
static void take_epoch(struct mllog *m, struct piece key, struct piece value)
{
	uint64_t v = number(value);

	while (value.p < value.end && is_blank(value.end[-1]))
		value.end--;
	if (!(is(key, "epoch_num") || is(key, "first_epoch_num")) || value.p == value.end || value.end - value.p > 9)
		return;
	for (const char *p = value.p; p < value.end; p++)
		if (*p < '0' || *p > '9')
			return;
	if (m->epoch < 0 || is(key, "epoch_num"))
		m->epoch = (int64_t)v;
}

static void take_metadata(struct mllog *m, struct piece value)
{
	struct piece key, inner;

	if (!take(&value, '{'))
		return;
	while (skip_string(&value, &key) && take(&value, ':') && skip_value(&value, &inner)) {
		take_epoch(m, key, inner);
		if (!take(&value, ','))
			return;
	}
}

static void take_member(struct mllog *m, struct piece key, struct piece value)
{
	if (is(key, "time_ms"))
		m->time_ms = number(value);
	else if (is(key, "key"))
		take_phase(m, unquoted(value));
	else if (is(key, "metadata"))
		take_metadata(m, value);
	else if (is(key, "event_type"))
		m->event = is(unquoted(value), "INTERVAL_START") ? MLLOG_START :
			   is(unquoted(value), "INTERVAL_END")	 ? MLLOG_END : MLLOG_POINT;
}

bool mllog_parse(struct mllog *ret, const char *line, size_t len)
{
	const char *mark = memmem(line, len, MLLOG_MARK, strlen(MLLOG_MARK));
	struct piece s = { mark ? mark + strlen(MLLOG_MARK) : NULL, line + len }, key, value;

	if (!mark || !take(&s, '{'))
		return false;
	*ret = (struct mllog){ .rank = mllog_rank(line, (size_t)(mark - line)), .epoch = -1 };
	do {
		if (!skip_string(&s, &key) || !take(&s, ':') || !skip_value(&s, &value))
			return false;
		take_member(ret, key, value);
	} while (take(&s, ','));
	return take(&s, '}') && ret->phase[0];
}
