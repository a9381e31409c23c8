/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

/* Buffers end where the promise ends, so that ASan notices a byte too many. */
static char *put_str(const char *s, size_t len)
{
	char *room = malloc(TEXT_ESCAPED_MAX(len)), *text;
	size_t n = (size_t)(text_put_str(room, s, len) - room);

	assert_true(n <= TEXT_ESCAPED_MAX(len));
	text = strndup(room, n);
	free(room);
	return text;
}

static void expect_field(const char *s, size_t len, const char *field)
{
	autofree char *text = put_str(s, len);
	autofree char *back = malloc(strlen(field) + 1);

	assert_string_equal(text, field);
	assert_int_equal(text_unescape(back, field, strlen(field)), len);
	assert_memory_equal(back, s, len);
}

static void expect_number(char *(*put)(char *, uint64_t), uint64_t v, const char *want)
{
	char text[32];

	*put(text, v) = '\0';
	assert_string_equal(text, want);
}

static char *put_s64(char *p, uint64_t v)
{
	return text_put_s64(p, (int64_t)v);
}

static void numbers_of_every_length(void **state)
{
	static const uint64_t more[] = { 0, INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX };
	uint64_t v[64 * 3 + 20 * 3 + ARRAY_SIZE(more)], ten = 1;
	char want[32];
	size_t n = 0;

	for (unsigned int bit = 0; bit < 64; bit++)
		for (int d = -1; d <= 1; d++)
			v[n++] = (1ULL << bit) + (uint64_t)d;
	for (unsigned int i = 0; i < 20; i++, ten *= 10)
		for (int d = -1; d <= 1; d++)
			v[n++] = ten + (uint64_t)d;
	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		v[n++] = more[i];
	for (size_t i = 0; i < n; i++) {
		snprintf(want, sizeof(want), "%" PRIu64, v[i]);
		expect_number(text_put_u64, v[i], want);
		snprintf(want, sizeof(want), "%" PRId64, (int64_t)v[i]);
		expect_number(put_s64, v[i], want);
		snprintf(want, sizeof(want), "0x%" PRIx64, v[i]);
		expect_number(text_put_hex, v[i], want);
		snprintf(want, sizeof(want), "%#" PRIo64, v[i]);
		expect_number(text_put_octal, v[i], want);
	}
}

static void expect_time(uint64_t ns, struct text_ns_cache *cache)
{
	char got[64], want[TEXT_U64_MAX];
	size_t len = (size_t)(text_put_u64(want, ns) - want);

	assert_int_equal(text_put_ns(got, ns, cache) - got, len);
	assert_memory_equal(got, want, len);
}

static void times_are_the_number_whatever_came_before(void **state)
{
	static const uint64_t times[] = {
		27116457578474,
		27116457578475,
		27116499999999,
		27116500000000,
		27116457578474,
		0,
		9,
		99999999,
		100000000,
		199999999,
		200000000,
		100000000,
		99999999,
		999999999999,
		1000000000000,
		UINT64_MAX,
		UINT64_MAX - 1,
		1,
		18446744073699999999ULL,
		12345678901234567ULL,
	};
	struct text_ns_cache cache = {};

	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		expect_time(times[i], &cache);
	for (uint64_t i = 1; i < 64; i++) {
		struct text_ns_cache fresh = {};

		expect_time(1ULL << i, &fresh);
		expect_time((1ULL << i) - 1, &fresh);
	}
}

static void every_byte_value_comes_back(void **state)
{
	for (unsigned int i = 0; i < 256; i++) {
		bool plain = i > 0x20 && i < 0x7f && !strchr("\"#\\-?", (int)i);
		char c = (char)i, want[8];

		if (plain)
			snprintf(want, sizeof(want), "%c", c);
		else
			snprintf(want, sizeof(want), "\\%03o", i);
		expect_field(&c, 1, want);
	}
}

/* At every place in strings of every length around words of eight: the fast scan must notice the byte. */
static void expect_byte_at(char c, unsigned int at, unsigned int len)
{
	const bool plain = (uint8_t)c > 0x20 && (uint8_t)c < 0x7f && !strchr("\"#\\", c);
	char s[24], back[24], want[32];
	autofree char *text = NULL;

	memset(s, 'a', sizeof(s));
	s[at] = c;
	text = put_str(s, len);
	if (plain)
		snprintf(want, sizeof(want), "%.*s", (int)len, s);
	else
		snprintf(want, sizeof(want), "%.*s\\%03o%.*s", (int)at, s, (uint8_t)c, (int)(len - 1 - at), s + at + 1);
	assert_string_equal(text, want);
	assert_int_equal(text_unescape(back, text, strlen(text)), len);
	assert_memory_equal(back, s, len);
}

static void every_byte_value_at_every_place(void **state)
{
	for (unsigned int i = 0; i < 256; i++)
		for (unsigned int len = 2; len <= 24; len++)
			for (unsigned int at = 0; at < len; at++)
				expect_byte_at((char)i, at, len);
}

static void characters_of_several_bytes_pass_at_every_place(void **state)
{
	static const char *const chars[] = { "\xc3\xa4", "\xe5\x97\xa8", "\xf0\x9f\x98\x80" };

	for (unsigned int i = 0; i < ARRAY_SIZE(chars); i++)
		for (unsigned int len = (unsigned int)strlen(chars[i]); len <= 24; len++)
			for (unsigned int at = 0; at + strlen(chars[i]) <= len; at++) {
				char s[25] = {};

				memset(s, 'a', len);
				memcpy(s + at, chars[i], strlen(chars[i]));
				expect_field(s, len, s);
			}
}

static void neighbours_do_not_hide_each_other(void **state)
{
	char s[65536 * 2], *p = s;
	autofree char *text = NULL, *back = NULL;

	for (unsigned int i = 0; i < 65536; i++) {
		*p++ = (char)(i >> 8);
		*p++ = (char)i;
	}
	text = put_str(s, sizeof(s));
	back = malloc(strlen(text));
	assert_int_equal(text_unescape(back, text, strlen(text)), sizeof(s));
	assert_memory_equal(back, s, sizeof(s));
	for (const char *c = text; *c; c++)
		assert_true((uint8_t)*c > 0x20 && *c != 0x7f && *c != '"' && *c != '#');
}

static void whole_fields_have_their_own_rules(void **state)
{
	char back[8];

	expect_field("", 0, "-");
	expect_field("-", 1, "\\055");
	expect_field("?", 1, "\\077");
	expect_field("--", 2, "--");
	expect_field("-?", 2, "-?");
	expect_field("a b\tc\n", 6, "a\\040b\\011c\\012");
	expect_field("\\040", 4, "\\134040");
	assert_ptr_equal(text_put_piece(back, "-", 1), back + 1);
	assert_int_equal(back[0], '-');
	assert_ptr_equal(text_put_piece(back, "", 0), back);
}

static void utf8_by_rfc_3629(void **state)
{
	static const char *const valid[] = {
		"\xc2\x80",
		"\xdf\xbf",
		"\xe0\xa0\x80",
		"\xed\x9f\xbf",
		"\xee\x80\x80",
		"\xef\xbf\xbf",
		"\xf0\x90\x80\x80",
		"\xf4\x8f\xbf\xbf",
		"f\xc3\xbcr",
		"\xf0\x9f\x98\x80",
		"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e",
	};
	static const struct {
		const char *s, *field;
	} invalid[] = {
		{ "\x80", "\\200" }, /* a continuation byte alone */
		{ "\xc0\x80", "\\300\\200" }, /* overlong */
		{ "\xc1\xbf", "\\301\\277" },
		{ "\xe0\x9f\xbf", "\\340\\237\\277" },
		{ "\xf0\x8f\xbf\xbf", "\\360\\217\\277\\277" },
		{ "\xed\xa0\x80", "\\355\\240\\200" }, /* surrogates */
		{ "\xed\xbf\xbf", "\\355\\277\\277" },
		{ "\xf4\x90\x80\x80", "\\364\\220\\200\\200" }, /* above U+10FFFF */
		{ "\xf5\x80\x80\x80", "\\365\\200\\200\\200" },
		{ "\xff\xfe", "\\377\\376" },
		{ "\xc3", "\\303" }, /* cut off at the end */
		{ "a\xe2\x82", "a\\342\\202" },
		{ "a\xf0\x9f\x98", "a\\360\\237\\230" },
		{ "\xe2\x82zz", "\\342\\202zz" }, /* cut off in the middle */
		{ "\xf0\x9f\xc3\xbc", "\\360\\237\xc3\xbc" }, /* the rest is valid again */
		{ "\xc3\xc3\xbc", "\\303\xc3\xbc" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(valid); i++)
		expect_field(valid[i], strlen(valid[i]), valid[i]);
	for (size_t i = 0; i < ARRAY_SIZE(invalid); i++)
		expect_field(invalid[i].s, strlen(invalid[i].s), invalid[i].field);
	/* The bytes that would complete the character are beyond the string. */
	expect_field("\xf0\x9f\x98\x80", 3, "\\360\\237\\230");
	assert_int_equal(text_utf8_len("", 0), 0);
	assert_int_equal(text_utf8_len("a", 1), 1);
	assert_int_equal(text_utf8_len("\xe2\x82\xac", 3), 3);
	assert_int_equal(text_utf8_len("\xe2\x82\xac", 2), 0);
}

/* Every code point, and nothing else, passes unescaped. */
static void every_code_point_passes(void **state)
{
	for (uint32_t c = 0x80; c <= 0x10ffff; c++) {
		char s[4];
		unsigned int n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
		uint32_t rest = c;

		for (unsigned int i = n; --i; rest >>= 6)
			s[i] = (char)(0x80 | (rest & 0x3f));
		s[0] = (char)(0xf00 >> n | rest);
		assert_int_equal(text_utf8_len(s, n), c >= 0xd800 && c <= 0xdfff ? 0 : n);
	}
}

static void unescape_takes_broken_escapes_as_they_stand(void **state)
{
	static const char *const literal[] = {
		"\\", "\\0", "\\04", "\\400", "\\0 0", "\\08a", "a\\12", "?",
	};
	char back[8];

	for (size_t i = 0; i < ARRAY_SIZE(literal); i++) {
		size_t len = strlen(literal[i]);

		assert_int_equal(text_unescape(back, literal[i], len), len);
		assert_memory_equal(back, literal[i], len);
	}
}

static void expect_utc(uint64_t ns, const char *want)
{
	struct text_utc_cache cache = { 0 };
	char text[TEXT_UTC_LEN + 1];
	char *end = text_put_utc(text, ns, &cache);

	uint64_t back;

	assert_ptr_equal(end, text + TEXT_UTC_LEN);
	*end = '\0';
	assert_string_equal(text, want);
	cache.valid = false;
	for (int again = 0; again < 2; again++) { /* parsed, then from the cache */
		assert_true(text_get_utc(text, TEXT_UTC_LEN, &back, &cache));
		assert_true(back == ns);
	}
}

static void what_is_no_utc_is_refused(void **state)
{
	static const char *const no[] = {
		"2026-02-29T00:00:00.000000000Z", "2026-12-31T24:00:00.000000000Z", "2026-12-31T23:59:60.000000000Z",
		"2026-12-31 23:59:59.000000000Z", "2026-12-31T23:59:59.00000000:Z", "2026-12-31T23:59:59.000000000z",
		" 026-12-31T23:59:59.000000000Z", "1969-12-31T23:59:59.999999999Z", "2554-07-21T23:34:33.709551616Z",
		"9999-12-31T23:59:59.000000000Z", "2026-1-031T23:59:59.000000000Z", "2026-12-31T23:59:59,000000000Z",
	};
	struct text_utc_cache cache = { 0 };
	char text[TEXT_UTC_LEN];
	uint64_t ns = 7;

	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (text_get_utc(no[i], strlen(no[i]), &ns, &cache))
			fail_msg("%s", no[i]);
	assert_false(text_get_utc("-", 1, &ns, &cache));
	text_put_utc(text, 5, &cache);
	assert_false(text_get_utc(text, sizeof(text) - 1, &ns, &cache));
	/* a refused text leaves no cache by which another one would be accepted */
	assert_false(text_get_utc(no[0], TEXT_UTC_LEN, &ns, &cache));
	assert_false(text_get_utc(no[0], TEXT_UTC_LEN, &ns, &cache));
	assert_true(text_get_utc(text, sizeof(text), &ns, &cache));
	assert_int_equal(ns, 5);
}

static void utc_at_the_edges(void **state)
{
	expect_utc(0, "1970-01-01T00:00:00.000000000Z");
	expect_utc(1, "1970-01-01T00:00:00.000000001Z");
	expect_utc(951782399999999999, "2000-02-28T23:59:59.999999999Z");
	expect_utc(951782400000000000, "2000-02-29T00:00:00.000000000Z");
	expect_utc(1709251199999999999, "2024-02-29T23:59:59.999999999Z");
	expect_utc(1709251200000000000, "2024-03-01T00:00:00.000000000Z");
	expect_utc(1798761599999999999, "2026-12-31T23:59:59.999999999Z");
	expect_utc(1798761600000000000, "2027-01-01T00:00:00.000000000Z");
	expect_utc(4107542399000000000, "2100-02-28T23:59:59.000000000Z");
	expect_utc(4107542400000000000, "2100-03-01T00:00:00.000000000Z"); /* no leap year */
	expect_utc(UINT64_MAX, "2554-07-21T23:34:33.709551615Z");
}

static void utc_agrees_with_libc(void **state)
{
	/* steps of 86399 s: every day, and every time of day */
	for (uint64_t s = 0; s < UINT64_MAX / NSEC_PER_SEC; s += 86399) {
		time_t t = (time_t)s;
		char want[TEXT_UTC_LEN + 1];
		struct tm tm;

		gmtime_r(&t, &tm);
		strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%S.012345678Z", &tm);
		expect_utc(s * NSEC_PER_SEC + 12345678, want);
	}
}

static void utc_cache_notices_every_second(void **state)
{
	struct text_utc_cache cache = { 0 };
	static const uint64_t ns[] = {
		1798761599999999999,
		1798761600000000000,
		1798761599999999999,
		0,
	};
	char text[TEXT_UTC_LEN], fresh[TEXT_UTC_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(ns); i++) {
		text_put_utc(text, ns[i], &cache);
		text_put_utc(fresh, ns[i], &(struct text_utc_cache){ 0 });
		assert_memory_equal(text, fresh, sizeof(text));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_every_length),
		cmocka_unit_test(times_are_the_number_whatever_came_before),
		cmocka_unit_test(every_byte_value_comes_back),
		cmocka_unit_test(every_byte_value_at_every_place),
		cmocka_unit_test(characters_of_several_bytes_pass_at_every_place),
		cmocka_unit_test(neighbours_do_not_hide_each_other),
		cmocka_unit_test(whole_fields_have_their_own_rules),
		cmocka_unit_test(utf8_by_rfc_3629),
		cmocka_unit_test(every_code_point_passes),
		cmocka_unit_test(unescape_takes_broken_escapes_as_they_stand),
		cmocka_unit_test(utc_at_the_edges),
		cmocka_unit_test(utc_agrees_with_libc),
		cmocka_unit_test(what_is_no_utc_is_refused),
		cmocka_unit_test(utc_cache_notices_every_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
