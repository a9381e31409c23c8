/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of hosts in what programs send: as OpenSSL and name servers write them, cut off anywhere, and changed. */
#include "drain/rows/naming.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "base/util.h"
#include "dlt/dlt.h"

static uint8_t bytes[600];
static size_t len;

static void put(const void *data, size_t n)
{
	memcpy(bytes + len, data, n);
	len += n;
}
#define PUT(text) put(text, sizeof(text) - 1)

static void put_u16(size_t value)
{
	put((const uint8_t[]){ (uint8_t)(value >> 8), (uint8_t)value }, 2);
}

static void put_extension(unsigned int type, const void *data, size_t n)
{
	put_u16(type);
	put_u16(n);
	put(data, n);
}

/* A ClientHello that names HOST (NULL: none), behind another extension, and before a large one. */
static void hello(const char *host)
{
	const size_t n = host ? strlen(host) : 0;
	uint8_t names[5 + 255], share[300] = { 0 };

	len = 0;
	PUT("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03");
	put(share, 32);
	PUT("\x20");
	put(share, 32);
	PUT("\x00\x04\x13\x01\x13\x02\x01\x00");
	put_u16(600); /* of all extensions: not needed */
	put_extension(0xff01, "\0", 1);
	if (host) {
		names[0] = 0;
		names[1] = (uint8_t)(n + 3);
		names[2] = 0;
		names[3] = 0;
		names[4] = (uint8_t)n;
		memcpy(names + 5, host, n);
		put_extension(0, names, n + 5);
	}
	put_extension(51, share, sizeof(share));
}

#define Q "\4data\7example\3org\0"
/* An answer about data.example.org, with FLAGS and N records. */
static void answer(unsigned int flags, unsigned int n)
{
	len = 0;
	PUT("\x12\x34");
	put_u16(flags);
	put_u16(1);
	put_u16(n);
	PUT("\0\0\0\0" Q "\0\1\0\1");
}

/* A record of TYPE for the name of the question. */
static void put_record(unsigned int type, const void *data, size_t n)
{
	PUT("\xc0\x0c");
	put_u16(type);
	PUT("\0\1\0\0\1\0");
	put_u16(n);
	put(data, n);
}

static char name[NAMING_HOST_MAX];
static struct dlt_peer found[4];

static void expect_addresses(size_t n)
{
	memset(name, 0, sizeof(name));
	assert_int_equal(naming_dns(bytes, len, name, found, ARRAY_SIZE(found)), n);
	if (n)
		assert_string_equal(name, "data.example.org");
}

static void a_hello_names_its_host(void **state)
{
	hello("bucket.s3.amazonaws.com");
	assert_true(naming_hello(bytes, len, name));
	assert_string_equal(name, "bucket.s3.amazonaws.com");
}

static void a_hello_without_a_name_has_none(void **state)
{
	hello(NULL);
	assert_false(naming_hello(bytes, len, name));
}

static void a_name_with_other_bytes_is_none(void **state)
{
	hello("a\nb");
	assert_false(naming_hello(bytes, len, name));
	hello("\xff.org");
	assert_false(naming_hello(bytes, len, name));
}

/* Either the whole name, or none. */
static void a_hello_may_be_cut_off_anywhere(void **state)
{
	hello("data.example.org");
	for (size_t n = 0; n <= len; n++) {
		uint8_t *copy = malloc(n + 1); /* what is read beyond it is found by ASan */

		memcpy(copy, bytes, n);
		if (naming_hello(copy, n, name))
			assert_string_equal(name, "data.example.org");
		free(copy);
	}
}

static void an_answer_has_the_addresses_of_its_question(void **state)
{
	answer(0x8180, 4);
	put_record(5, "\1a\3org\0", 7); /* CNAME */
	put_record(1, "\x0a\0\0\5", 4);
	put_record(28, "\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\5", 16);
	put_record(1, "\x0a\0\0\6", 4);
	expect_addresses(3);
	assert_int_equal(found[0].family, AF_INET);
	assert_memory_equal(found[0].addr, "\x0a\0\0\5", 4);
	assert_int_equal(found[1].family, AF_INET6);
	assert_int_equal(found[2].addr[3], 6);
}

static void more_addresses_than_room_are_left_out(void **state)
{
	answer(0x8180, 6);
	for (char i = 0; i < 6; i++)
		put_record(1, (char[]){ 10, 0, 0, i }, 4);
	expect_addresses(ARRAY_SIZE(found));
}

/* A question, an error, another kind of query, a record of a false size. */
static void others_are_no_answers(void **state)
{
	static const unsigned int flags[] = { 0x0100, 0x8183, 0xa000 };

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		answer(flags[i], 1);
		put_record(1, "\x0a\0\0\5", 4);
		expect_addresses(0);
	}
	answer(0x8180, 1);
	put_record(1, "\x0a\0\0", 3);
	expect_addresses(0);
}

static void an_answer_may_be_cut_off_anywhere(void **state)
{
	answer(0x8180, 2);
	put_record(1, "\x0a\0\0\5", 4);
	put_record(28, "\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\5", 16);
	for (size_t n = 0; n <= len; n++) {
		uint8_t *copy = malloc(n + 1);
		size_t got;

		memcpy(copy, bytes, n);
		got = naming_dns(copy, n, name, found, ARRAY_SIZE(found));
		assert_true(got <= 2 && (n < len) == (got < 2));
		free(copy);
	}
}

/* Any bytes: nothing beyond them is read, and what is found is a name. */
static void any_bytes_are_safe(void **state)
{
	for (unsigned int seed = 1; seed < 20000; seed++) {
		uint8_t *copy;

		srand(seed);
		if (seed % 2)
			hello("data.example.org");
		else {
			answer(0x8180, 2);
			put_record(1, "\x0a\0\0\5", 4);
		}
		for (int i = rand() % 8; i; i--)
			bytes[(size_t)rand() % len] = (uint8_t)rand();
		copy = malloc(len);
		memcpy(copy, bytes, len);
		if (naming_hello(copy, len, name) || naming_dns(copy, len, name, found, ARRAY_SIZE(found)))
			assert_in_range(strlen(name), 1, NAMING_HOST_MAX - 1);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hello_may_be_cut_off_anywhere),
		cmocka_unit_test(a_hello_names_its_host),
		cmocka_unit_test(a_hello_without_a_name_has_none),
		cmocka_unit_test(a_name_with_other_bytes_is_none),
		cmocka_unit_test(an_answer_has_the_addresses_of_its_question),
		cmocka_unit_test(an_answer_may_be_cut_off_anywhere),
		cmocka_unit_test(any_bytes_are_safe),
		cmocka_unit_test(more_addresses_than_room_are_left_out),
		cmocka_unit_test(others_are_no_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
