/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/md5.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *hex(const char *text)
{
	static char out[33];
	uint8_t digest[16];

	md5(text, strlen(text), digest);
	for (unsigned int i = 0; i < sizeof(digest); i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
	return out;
}

/* RFC 1321, A.5 */
static void digests_are_those_of_the_rfc(void **state)
{
	assert_string_equal(hex(""), "d41d8cd98f00b204e9800998ecf8427e");
	assert_string_equal(hex("a"), "0cc175b9c0f1b6a831c399e269772661");
	assert_string_equal(hex("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
	assert_string_equal(hex("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
			    "d174ab98d277d9f5a5611c2c9f419d9f");
	assert_string_equal(hex("12345678901234567890123456789012345678901234567890123456789012345678901234567890"),
			    "57edf4a22be3c955ac49da2e2107b67a");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(digests_are_those_of_the_rfc) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
