/* SPDX-License-Identifier: BSD-2-Clause */
/* What we find by cpuid is what the kernel shows in /proc/cpuinfo, and the report takes its fast ways by it. */
#include "base/cpuid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "base/util.h"

#include <cmocka.h>

#ifdef __x86_64__
static const struct {
	uint32_t extension;
	const char *flag; /* as the kernel names it */
} names[] = {
	{ CPUID_AVX2, "avx2" },       { CPUID_AVX512BW, "avx512bw" },
	{ CPUID_AVX512F, "avx512f" }, { CPUID_AVX512VBMI2, "avx512_vbmi2" },
	{ CPUID_BMI, "bmi1" },        { CPUID_POPCNT, "popcnt" },
};

/* Whether FLAG is one of the words of the line "flags". */
static bool kernel_shows(const char *flags, const char *flag)
{
	const size_t len = strlen(flag);

	for (const char *p = flags; (p = strstr(p, flag)); p += len)
		if (p[-1] == ' ' && (p[len] == ' ' || p[len] == '\n'))
			return true;
	return false;
}

static void finds_what_the_kernel_shows(void **state)
{
	autofree char *text = NULL;
	char *flags, *end;

	assert_int_equal(util_read_file("/proc/cpuinfo", 16 << 20, &text, NULL), 0);
	flags = strstr(text, "\nflags\t");
	assert_non_null(flags);
	end = strchr(flags + 1, '\n');
	end[1] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (cpuid_has(names[i].extension) != kernel_shows(flags, names[i].flag))
			fail_msg("%s: cpuid %d, the kernel %d", names[i].flag, cpuid_has(names[i].extension),
				 kernel_shows(flags, names[i].flag));
}
#else
static void finds_what_the_kernel_shows(void **state)
{
	assert_int_equal(cpuid_extensions, 0);
}
#endif

static void has_all_or_not(void **state)
{
	const uint32_t were = cpuid_extensions;

	cpuid_extensions = CPUID_AVX2 | CPUID_BMI;
	assert_true(cpuid_has(CPUID_AVX2));
	assert_true(cpuid_has(CPUID_AVX2 | CPUID_BMI));
	assert_false(cpuid_has(CPUID_AVX2 | CPUID_POPCNT));
	cpuid_extensions = were;
}

/* On a CPU with AVX2 the first way to find lines is not the one for any machine, which is then not the last. */
static void lines_have_a_fast_way(void **state)
{
	if (!cpuid_has(CPUID_AVX2 | CPUID_BMI | CPUID_POPCNT))
		skip();
	assert_non_null(lines_way(1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_the_kernel_shows),
		cmocka_unit_test(has_all_or_not),
		cmocka_unit_test(lines_have_a_fast_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
