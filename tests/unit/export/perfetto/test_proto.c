/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/perfetto/proto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define assert_written(expression, ...)                                 \
	do {                                                            \
		static const unsigned char wanted_[] = { __VA_ARGS__ }; \
		char out[64], *p = out;                                 \
                                                                        \
		p = (expression);                                       \
		assert_int_equal(p - out, sizeof(wanted_));             \
		assert_memory_equal(out, wanted_, sizeof(wanted_));     \
	} while (0)

/* The examples of the format's own description, and its limits. */
static void numbers_are_varints(void **state)
{
	assert_written(proto_varint(p, 0), 0x00);
	assert_written(proto_varint(p, 127), 0x7f);
	assert_written(proto_varint(p, 128), 0x80, 0x01);
	assert_written(proto_varint(p, 300), 0xac, 0x02);
	assert_written(proto_varint(p, UINT64_MAX), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
	assert_written(proto_u64(p, 1, 150), 0x08, 0x96, 0x01);
	assert_written(proto_u64(p, 59, 1), 0xd8, 0x03, 0x01);
	assert_written(proto_s64(p, 4, -1), 0x20, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
}

static void doubles_and_strings_have_their_wire_types(void **state)
{
	assert_written(proto_double(p, 44, 1.0), 0xe1, 0x02, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f);
	assert_written(proto_text(p, 2, "testing"), 0x12, 0x07, 't', 'e', 's', 't', 'i', 'n', 'g');
	assert_written(proto_text(p, 2, ""), 0x12, 0x00);
}

static void a_message_has_the_length_of_what_is_in_it(void **state)
{
	char *at;

	assert_written((p = proto_begin(p, 3, &at), p = proto_u64(p, 1, 150), proto_end(p, at)), 0x1a, 0x83, 0x80, 0x80,
		       0x00, 0x08, 0x96, 0x01);
	assert_written((p = proto_begin(p, 3, &at), proto_end(p, at)), 0x1a, 0x80, 0x80, 0x80, 0x00);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_varints),
		cmocka_unit_test(doubles_and_strings_have_their_wire_types),
		cmocka_unit_test(a_message_has_the_length_of_what_is_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
