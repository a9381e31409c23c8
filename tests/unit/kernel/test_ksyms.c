/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/ksyms.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static char seen[512];

static void note(void *ctx, const char *name, uint64_t addr)
{
	size_t at = strlen(seen);

	assert_null(ctx);
	snprintf(seen + at, sizeof(seen) - at, "%s=%llx ", name, (unsigned long long)addr);
}

static int read_text(const char *text)
{
	FILE *f = fmemopen((void *)text, strlen(text), "r");
	int r;

	seen[0] = '\0';
	assert_non_null(f);
	r = ksyms_read(f, note, NULL);
	fclose(f);
	return r;
}

static void functions_have_names_and_addresses(void **state)
{
	assert_int_equal(read_text("ffffffff81000000 T _text\n"
				   "ffffffff81234560 t mpage_end_io\n"
				   "ffffffff82000000 D jiffies\n"
				   "ffffffffc0123450 t mpage_end_io\t[ext4]\n"),
			 0);
	assert_string_equal(seen,
			    "_text=ffffffff81000000 mpage_end_io=ffffffff81234560 mpage_end_io=ffffffffc0123450 ");
}

static void programs_of_bpf_end_the_list(void **state)
{
	assert_int_equal(read_text("ffffffff81234560 t mpage_end_io\n"
				   "ffffffffc0123450 t bpf\t[bpf_mod]\n"
				   "ffffffffc0200000 t bpf_prog_0123_mpage_end_io\t[bpf]\n"
				   "ffffffffc0300000 t mpage_end_io\t[__builtin__kprobes]\n"),
			 0);
	assert_string_equal(seen, "mpage_end_io=ffffffff81234560 bpf=ffffffffc0123450 ");
}

static void hidden_addresses_are_an_error(void **state)
{
	assert_int_equal(read_text("0000000000000000 T _text\n0000000000000000 t mpage_end_io\n"), -EPERM);
	assert_string_equal(seen, "");
}

static void damaged_lines_are_passed_over(void **state)
{
	assert_int_equal(read_text("\nffffffff81000000\nffffffff81000000 \nffffffff81000000 t\nffffffff81000000 tname\n"
				   "zz t name\nffffffff81000001 W last"),
			 0);
	assert_string_equal(seen, "last=ffffffff81000001 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_have_names_and_addresses),
		cmocka_unit_test(programs_of_bpf_end_the_list),
		cmocka_unit_test(hidden_addresses_are_an_error),
		cmocka_unit_test(damaged_lines_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
