/* SPDX-License-Identifier: BSD-2-Clause */
/* The forms of fields, with values on both sides of each limit. */
#include "validate/form.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	enum field_kind kind;
	const char *text;
	bool is;
} rows[] = {
	{ FIELD_TS, "18446744073709551615", true },
	{ FIELD_TS, "18446744073709551616", false },
	{ FIELD_TS, "-", false },
	{ FIELD_U16, "65535", true },
	{ FIELD_U16, "65536", false },
	{ FIELD_U32, "01", false },
	{ FIELD_U32, "", false },
	{ FIELD_S32, "-2147483648", true },
	{ FIELD_S32, "-2147483649", false },
	{ FIELD_S32, "2147483648", false },
	{ FIELD_S64, "-0", false },
	{ FIELD_S64, "?", true },
	{ FIELD_S64, "1e3", false },
	{ FIELD_HEX, "0xff", true },
	{ FIELD_HEX, "0x", false },
	{ FIELD_HEX, "0xFF", false },
	{ FIELD_ADDR, "-12", true },
	{ FIELD_MODE, "0644", true },
	{ FIELD_MODE, "644", false },
	{ FIELD_MODE, "0684", false },
	{ FIELD_UTC, "2026-11-21T01:02:03.123456789Z", true },
	{ FIELD_UTC, "2026-11-21 01:02:03.123456789Z", false },
	{ FIELD_USTR, "a\\040b", true },
	{ FIELD_USTR, "a b", false },
	{ FIELD_USTR, "\\141", false },
	{ FIELD_USTR, "\\04", false },
	{ FIELD_USTR, "\303\274", true },
	{ FIELD_USTR, "\303", false },
	{ FIELD_USTR, "\\303", true },
	{ FIELD_USTR, "", false },
	{ FIELD_USTR, "\\055", true },
	{ FIELD_USTR, "a\\055", false },
};

static void each_field_has_the_form_of_its_kind(void **state)
{
	char scratch[FORM_SCRATCH(64)];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char padded[96]; /* reader_u64() reads before the field */
		const struct reader_field v = { padded + 32, strlen(rows[i].text) };

		memset(padded, ' ', sizeof(padded));
		memcpy(padded + 32, rows[i].text, v.len);
		if ((form_has_text(rows[i].kind) ? form_is_text(v, scratch) : form_is(rows[i].kind, v)) != rows[i].is)
			fail_msg("kind %d: '%s'", (int)rows[i].kind, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field_has_the_form_of_its_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
