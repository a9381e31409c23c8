/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/similar.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

static const char *const names[] = { "check", "start", "status", "stop", "--", "vfs_rw" };

static const char *nearest(const char *name)
{
	struct similar s = similar_to(name, strlen(name));

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		similar_offer(&s, names[i]);
	return s.best ? s.best : "none";
}

static void typing_errors_are_mended(void **state)
{
	assert_string_equal(nearest("strat"), "start"); /* exchanged */
	assert_string_equal(nearest("tsart"), "start");
	assert_string_equal(nearest("star"), "start"); /* lacks one */
	assert_string_equal(nearest("sttart"), "start"); /* has one more */
	assert_string_equal(nearest("stert"), "start"); /* another */
	assert_string_equal(nearest("START"), "start");
	assert_string_equal(nearest("statsu"), "status");
	assert_string_equal(nearest("vfs-rw"), "vfs_rw");
	assert_string_equal(nearest("vfsrw"), "vfs_rw");
}

static void other_words_are_similar_to_none(void **state)
{
	assert_string_equal(nearest(""), "none");
	assert_string_equal(nearest("-"), "none");
	assert_string_equal(nearest("python"), "none");
	assert_string_equal(nearest("st"), "none");
	assert_string_equal(nearest("starting"), "none");
}

static void names_of_any_length_are_taken(void **state)
{
	char longest[SIMILAR_MAX + 1], longer[4096];
	struct similar s;

	memset(longest, 'x', SIMILAR_MAX);
	longest[SIMILAR_MAX] = '\0';
	s = similar_to(longest, SIMILAR_MAX);
	similar_offer(&s, longest);
	assert_ptr_equal(s.best, longest);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	s = similar_to(longer, strlen(longer));
	similar_offer(&s, longest);
	assert_null(s.best);
	s = similar_to(longest, SIMILAR_MAX);
	similar_offer(&s, longer);
	assert_null(s.best);
}

/* The first of two that are equally near; only the first LEN bytes of the name count. */
static void the_nearest_is_the_first_of_them(void **state)
{
	struct similar s = similar_to("opex,close", 4);

	similar_offer(&s, "oper");
	similar_offer(&s, "open");
	assert_string_equal(s.best, "oper");
	assert_int_equal(s.distance, 1);
	similar_offer(&s, "opex");
	assert_string_equal(s.best, "opex");
	assert_int_equal(s.distance, 0);
}

static void text_ends_a_message(void **state)
{
	struct similar s = similar_to("strat", 5);
	char buf[64];

	assert_string_equal(similar_text(&s, "--", buf, sizeof(buf)), "");
	similar_offer(&s, "start");
	assert_string_equal(similar_text(&s, "--", buf, sizeof(buf)), ": did you mean --start?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(typing_errors_are_mended),      cmocka_unit_test(other_words_are_similar_to_none),
		cmocka_unit_test(names_of_any_length_are_taken), cmocka_unit_test(the_nearest_is_the_first_of_them),
		cmocka_unit_test(text_ends_a_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
