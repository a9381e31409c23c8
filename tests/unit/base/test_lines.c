/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytemask.h"

#define TEXT 20000

static char room[LINES_BYTES + TEXT + LINES_BYTES], *const text = room + LINES_BYTES;
static struct lines found, other;

static void separators_are_found_alike(void **state)
{
	char bytes[BYTEMASK_BYTES];

	for (unsigned int i = 0; i < 256 * BYTEMASK_BYTES; i++) {
		for (unsigned int k = 0; k < BYTEMASK_BYTES; k++)
			bytes[k] = (char)((k * 7 + i) % 5 ? 'x' : k % 3 ? '\t' : '\n');
		bytes[i % BYTEMASK_BYTES] = (char)(i / BYTEMASK_BYTES);
		for (const char *c = "\t\n"; *c; c++) {
			uint64_t mask = bytemask_of(bytes, *c);

			for (unsigned int k = 0; k < BYTEMASK_BYTES; k++)
				assert_int_equal(mask >> k & 1, bytes[k] == *c);
			assert_true(bytemask_of_words(bytes, *c) == mask);
		}
	}
}

/* Goes through the text byte by byte: L holds the next lines, and at least one unless none is complete. */
static void assert_lines(const struct lines *l, uint32_t begin, uint32_t end)
{
	uint32_t at = begin;

	assert_int_equal(l->at, 0);
	assert_int_equal(l->end[0], 0);
	assert_true(l->stop[0] + 1 == begin);
	for (unsigned int i = 0; i < l->n; i++) {
		uint32_t stop = l->end[i] + 1;

		for (; text[at] != '\n'; at++)
			if (text[at] == '\t')
				assert_int_equal(l->stop[stop++], at);
		assert_true(at < end);
		assert_int_equal(l->end[i + 1], stop);
		assert_int_equal(l->stop[stop], at++);
	}
	assert_true(l->n || !memchr(text + at, '\n', end - at));
}

/* Texts in which about TABS of each 16 bytes are tabs, and NEWLINES are newlines. */
static void assert_text(unsigned int tabs, unsigned int newlines, uint64_t *seed)
{
	uint32_t len = 0;

	for (uint32_t i = 0; i < TEXT; i++) {
		*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
		text[i] = *seed >> 60 < tabs ? '\t' : (*seed >> 56 & 15) < newlines ? '\n' : 'x';
	}
	memset(text + TEXT, '\n', LINES_BYTES); /* bytes after the end do not count */
	for (uint32_t begin = 0; begin < TEXT; begin += 1 + len) {
		uint32_t end = begin + (uint32_t)(*seed >> 33) % (TEXT - begin + 1);

		for (unsigned int k = 0; lines_way(k); k++) {
			lines_way(k)(&found, text, begin, end);
			assert_lines(&found, begin, end);
			assert_true(!k || found.n == other.n);
			other = found;
		}
		len = len * 5 % 997 + 1;
		*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	}
}

static void lines_of_any_length_are_found(void **state)
{
	uint64_t seed = 1;

	for (unsigned int tabs = 0; tabs <= 16; tabs += 4)
		for (unsigned int newlines = 0; newlines <= 16; newlines++)
			assert_text(tabs, newlines, &seed);
}

/* A first line with more fields than there is room for is left to lines_one(). */
static void too_many_fields_are_left_out(void **state)
{
	memset(text, '\t', TEXT);
	text[LINES_STOPS + 100] = text[LINES_STOPS + 102] = '\n';
	for (unsigned int k = 0; lines_way(k); k++) {
		assert_int_equal(lines_way(k)(&found, text, 0, TEXT), 0);
		assert_int_equal(lines_way(k)(&found, text, LINES_STOPS + 101, LINES_STOPS + 103), 1);
		assert_int_equal(found.end[1], 2);
	}
	lines_one(&found, text, 0, LINES_STOPS + 100);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.end[1], LINES_STOPS);
	assert_int_equal(found.stop[1], 0);
	assert_int_equal(found.stop[LINES_STOPS - 1], LINES_STOPS - 2);
	assert_int_equal(found.stop[LINES_STOPS], LINES_STOPS + 100);
	lines_one(&found, text, LINES_STOPS + 101, 1);
	assert_lines(&found, LINES_STOPS + 101, LINES_STOPS + 103);
	assert_int_equal(found.n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(separators_are_found_alike),
		cmocka_unit_test(lines_of_any_length_are_found),
		cmocka_unit_test(too_many_fields_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
