/* SPDX-License-Identifier: BSD-2-Clause */
/* Which stacks a user means by a line or a function: the end of a path, from a folder's name on, and nothing that is
 * only similar. */
#include "drain/memory/alloc_sites.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char frames[] = "/lib/torch/nn.py:7:forward;/home/a:b/src/train.py:42:step;<string>:1:<module>";

static void a_line_is_the_end_of_a_path(void **state)
{
	assert_true(alloc_sites_has(frames, "train.py:42"));
	assert_true(alloc_sites_has(frames, "src/train.py:42"));
	assert_true(alloc_sites_has(frames, "/home/a:b/src/train.py:42"));
	assert_true(alloc_sites_has(frames, "<string>:1"));
	assert_true(alloc_sites_has("train.py:42:f", "train.py:42"));
	assert_false(alloc_sites_has(frames, "rain.py:42"));
	assert_false(alloc_sites_has(frames, "train.py:4"));
	assert_false(alloc_sites_has(frames, "train.py:421"));
	assert_false(alloc_sites_has(frames, "train.py:42:step"));
	assert_false(alloc_sites_has(frames, "/src/train.py:42"));
}

static void a_function_is_its_whole_name(void **state)
{
	assert_true(alloc_sites_has(frames, "forward"));
	assert_true(alloc_sites_has(frames, "step"));
	assert_true(alloc_sites_has(frames, "<module>"));
	assert_false(alloc_sites_has(frames, "ste"));
	assert_false(alloc_sites_has(frames, "nn.py"));
	assert_false(alloc_sites_has(frames, "42"));
}

static void what_is_no_frame_is_none(void **state)
{
	assert_false(alloc_sites_has("", "step"));
	assert_false(alloc_sites_has("", ""));
	assert_false(alloc_sites_has(";;", ""));
	assert_false(alloc_sites_has("step", "step"));
	assert_false(alloc_sites_has(frames, ""));
	assert_false(alloc_sites_has("17+0x42;18+0x43", "17+0x42"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_the_end_of_a_path),
		cmocka_unit_test(a_function_is_its_whole_name),
		cmocka_unit_test(what_is_no_frame_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
