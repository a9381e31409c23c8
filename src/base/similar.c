/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/similar.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"

/* Capital letters are small ones that somebody has typed with Shift. */
static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/*
 * The rows of the usual table: AT[j] is the distance of the first i letters of A from the first j of B, with two rows
 * before it, since an exchange of two neighbors looks back by two letters.
 */
static unsigned int distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned int rows[3][SIMILAR_MAX + 1], *before = rows[0], *last = rows[1], *at = rows[2];

	for (size_t j = 0; j <= b_len; j++)
		last[j] = (unsigned int)j;
	for (size_t i = 1; i <= a_len; i++) {
		unsigned int *free_row = before;

		at[0] = (unsigned int)i;
		for (size_t j = 1; j <= b_len; j++) {
			at[j] = MIN(last[j - 1] + !same(a[i - 1], b[j - 1]), MIN(last[j], at[j - 1]) + 1);
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
				at[j] = MIN(at[j], before[j - 2] + 1);
		}
		before = last;
		last = at;
		at = free_row;
	}
	return last[b_len];
}

struct similar similar_to(const char *name, size_t len)
{
	return (struct similar){ .name = name, .len = len };
}

void similar_offer(struct similar *similar, const char *candidate)
{
	const size_t len = strlen(candidate), least = MIN(len, similar->len);
	unsigned int n;

	if (!least || similar->len > SIMILAR_MAX || len > SIMILAR_MAX)
		return;
	n = distance(similar->name, similar->len, candidate, len);
	/* a third of the letters may differ: of `ls' none, of `stat' one, of `workloda' two */
	if (n > least / 3 || (similar->best && n >= similar->distance))
		return;
	similar->best = candidate;
	similar->distance = n;
}

const char *similar_text(const struct similar *s, const char *prefix, char *buf, size_t size)
{
	*buf = '\0';
	if (s->best)
		snprintf(buf, size, ": did you mean %s%s?", prefix, s->best);
	return buf;
}
