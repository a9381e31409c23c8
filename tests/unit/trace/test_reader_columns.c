/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/reader.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

#define COLUMNS 3
#define LENGTHS 50

typedef uint32_t (*column_fn)(const struct reader_row *rows, unsigned int n, unsigned int column, uint64_t *ret);

static const column_fn ways[] = { reader_column_u64, reader_column_u64_anywhere };

/* Rows in which each column has FIELD_OF(row, column), a number or not. */
static char room[LINES_BYTES + READER_ROWS_MAX * 128 + LINES_BYTES];
static uint32_t stops[READER_ROWS_MAX * COLUMNS + 1];
static struct reader_row rows[READER_ROWS_MAX];

static void make_rows(unsigned int n, void (*field_of)(unsigned int row, unsigned int column, char *text))
{
	char *const text = room + LINES_BYTES;
	uint32_t *stop = stops, at = 0;

	memset(room, '9', sizeof(room)); /* bytes before a field do not count, digits or not */
	*stop = at - 1;
	for (unsigned int i = 0; i < n; i++) {
		rows[i] = (struct reader_row){ .text = text, .stop = stop };
		for (unsigned int c = 1; c <= COLUMNS; c++) {
			char field[64];

			field_of(i, c, field);
			memcpy(text + at, field, strlen(field));
			at += (uint32_t)strlen(field);
			text[at] = c == COLUMNS ? '\n' : '\t';
			*++stop = at++;
		}
	}
}

/* Compares with strtoull(). */
static void assert_columns(unsigned int n)
{
	for (size_t k = 0; k < ARRAY_SIZE(ways); k++)
		for (unsigned int c = 1; c <= COLUMNS; c++) {
			uint64_t v[READER_ROWS_MAX];
			uint32_t are = ways[k](rows, n, c, v);

			assert_true(n == 32 || are >> n == 0);
			for (unsigned int i = 0; i < n; i++) {
				struct reader_field f = reader_field(&rows[i], c);
				bool is = f.len > 0 && f.len <= 20;
				char field[64] = "";

				memcpy(field, f.p, f.len);
				for (size_t b = 0; b < f.len; b++)
					is = is && field[b] >= '0' && field[b] <= '9';
				assert_int_equal(are >> i & 1, is);
				assert_true(!is || v[i] == strtoull(field, NULL, 10));
			}
		}
}

static unsigned int shift, with;

static void of_all_lengths(unsigned int row, unsigned int column, char *text)
{
	unsigned int len = (row * column + shift) % LENGTHS; /* 0 is an empty field, 17 and more are long, 21 and more
							      * too long */

	snprintf(text, 64, "%.*s", (int)len,
		 &"184467440737095516150000000000000000000000000000000000"[len < 17 ? row % 4 : 0]);
}

static void numbers_of_all_lengths(void **state)
{
	for (unsigned int n = 0; n <= READER_ROWS_MAX; n++)
		for (shift = 0; shift < LENGTHS; shift++) {
			make_rows(n, of_all_lengths);
			assert_columns(n);
		}
}

static const char strange[] = { '/', ':', '-', ' ', 0x7f, (char)0x80, (char)0xb0, (char)0xfa, (char)0xff, '?' };

/* A byte that is not a digit at one place, in some rows. */
static void with_strange_bytes(unsigned int row, unsigned int column, char *text)
{
	unsigned int len = 1 + (row + column + shift) % 18;

	snprintf(text, 64, "%.*s", (int)len, "1234567890123456789");
	if ((row + column) % 3)
		text[(row + shift) % len] = strange[with];
}

static void a_word_for_a_number_is_reported(void **state)
{
	for (with = 0; with < sizeof(strange); with++)
		for (shift = 0; shift < 18; shift++) {
			make_rows(READER_ROWS_MAX, with_strange_bytes);
			assert_columns(READER_ROWS_MAX);
		}
}

static unsigned int place;

/* Rows with short numbers, the usual case, but for one: with another byte, or of another length. */
static void short_but_one(unsigned int row, unsigned int column, char *text)
{
	static const unsigned int lengths[] = { 0, 8, 9, 16, 17, 19, 21 };
	unsigned int len = 1 + (5 * row + column) % 7;

	if (row == shift && with == sizeof(strange))
		len = lengths[place];
	snprintf(text, 64, "%.*s", (int)len, &"70000000123456789012345"[row % 2]);
	if (row == shift && with < sizeof(strange))
		text[place % len] = strange[with];
}

static void one_of_many_short_rows_is_reported(void **state)
{
	for (with = 0; with <= sizeof(strange); with++)
		for (shift = 0; shift < READER_ROWS_MAX; shift++)
			for (place = 0; place < 7; place++) {
				make_rows(READER_ROWS_MAX, short_but_one);
				assert_columns(READER_ROWS_MAX);
			}
}

static void what_is_not_there_is_no_number(void **state)
{
	uint64_t v[1];

	make_rows(1, of_all_lengths);
	for (size_t k = 0; k < ARRAY_SIZE(ways); k++)
		assert_int_equal(ways[k](rows, 1, 0, v), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_all_lengths),
		cmocka_unit_test(a_word_for_a_number_is_reported),
		cmocka_unit_test(one_of_many_short_rows_is_reported),
		cmocka_unit_test(what_is_not_there_is_no_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
