/* SPDX-License-Identifier: BSD-2-Clause */
/* Stand-ins: what stays of a text, and that the same word has the same one wherever it is. */
#include "folder/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

static char *put(const char *secret, const char *s)
{
	char *to = malloc(NAMES_ROOM(strlen(s)) + 1);
	struct names n;

	names_init(&n, secret, strlen(secret));
	to[names_put(&n, to, s, strlen(s))] = '\0';
	return to;
}

/* PATTERN has an X for each letter and digit of a hash. */
static void assert_like(const char *s, const char *pattern)
{
	autofree char *is = put("secret", s);
	bool like = strlen(is) == strlen(pattern);

	for (size_t i = 0; like && pattern[i]; i++)
		like = pattern[i] == 'X' ? strchr("abcdefghijklmnopqrstuvwxyz234567", is[i]) != NULL :
					   is[i] == pattern[i];
	if (!like)
		fail_msg("%s: %s, not %s", s, is, pattern);
}

#define H "XXXXXXXXXXXX"

static void form_of_a_text_stays(void **state)
{
	static const char *const texts[][2] = {
		{ "/home/ada/data/cats.tar.gz", "/home/" H "/data/" H ".tar.gz" },
		{ "/", "/" },
		{ "", "" },
		{ ".", "." },
		{ "../ada", "../" H },
		{ ".hidden", H },
		{ "ada.lovelace", H },
		{ "libada.so.6", H ".so.6" },
		{ "/usr/lib/python3.11/site-packages/ada/x.py", "/usr/lib/python3.11/site-packages/" H "/" H ".py" },
		{ "--name=ada", "--" H "=" H },
		{ "--epochs=1000000000", "--epochs=1000000000" },
		{ "1000000000", H },
		{ "0.25", "0.25" },
		{ "10.0.0.5:9000", H ":9000" },
		{ "/data/192.168.1.20/train", "/data/" H "/train" },
		{ "127.0.0.1:29500", "127.0.0.1:29500" },
		{ "0.0.0.0:80", "0.0.0.0:80" },
		{ "1.2.3", "1.2.3" },
		{ "pipe:[123456789]", "pipe:[123456789]" },
		{ "memfd:ada", "memfd:" H },
		{ "utime=123456789012 stime=1", "utime=123456789012 stime=1" },
		{ "nvme0n1p2", "nvme0n1p2" },
		{ "sdb1", "sdb1" },
		{ "dm-3", "dm-3" },
		{ "sandra", H },
		{ "pt_data_worker", "pt_data_worker" },
		{ "epoch 3/90 of ada", "epoch 3/90 of " H },
		{ "\xc3\xa4", H },
		{ "a b", H " " H },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_like(texts[i][0], texts[i][1]);
}

static void word_has_one_stand_in_for_each_key(void **state)
{
	autofree char *path = put("secret", "/ada/cats.jpg"), *name = put("secret", "cats.jpg"),
		      *other = put("other", "cats.jpg");

	assert_string_equal(strrchr(path, '/') + 1, name);
	assert_string_not_equal(name, other);
	assert_string_equal(other + strlen(other) - 4, ".jpg");
}

/* Every byte, 4000 times: the result fits. */
static void any_text_fits(void **state)
{
	struct names n;

	names_init(&n, "", 0);
	for (unsigned int c = 0; c < 256; c++) {
		char s[4000], *to = malloc(NAMES_ROOM(sizeof(s)));

		for (size_t i = 0; i < sizeof(s); i++)
			s[i] = (char)(i % 2 ? c : 'q');
		assert_true(names_put(&n, to, s, sizeof(s)) <= NAMES_ROOM(sizeof(s)));
		free(to);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_text_fits),
		cmocka_unit_test(form_of_a_text_stays),
		cmocka_unit_test(word_has_one_stand_in_for_each_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
