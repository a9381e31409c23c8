/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * With the argument -, prints the name of each symbol of standard input, or the symbol:
 * tests/native/report/cxx-names.sh compares that with what c++filt makes of the symbols of whole libraries.
 */
#include "report/memory/cxx_name.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/util.h"
#include "sanitized.h"

#define STACK_OF_BOMBS 400

/* --- declarations ------------------------------------------------------------------------------------------------ */

static const struct {
	const char *declaration, *name; /* NULL: none */
} declarations[] = {
	{ "f", "f" },
	{ "f(int)", "f" },
	{ "job::f(a::b<c>, int (*)(int)) const &", "job::f" },
	{ "void f<int>(int)", "f" },
	{ "std::vector<int, std::allocator<int> >* job::f<int>(int) [clone .cold]", "job::f" },
	{ "decltype ((a)->b) job::f<int>(int)", "job::f" },
	{ "decltype(auto) job::f<int>(int)", "job::f" },
	{ "void job::f<(a)1, ((2)>(1))>()", "job::f" },
	{ "void job::f<&(job::operator< <int>(int))>()", "job::f" },
	{ "void job::f<job::operator->>()", "job::f" },
	{ "bool job::operator< <int>(int, int)", "job::operator<" },
	{ "job::operator<(int) const", "job::operator<" },
	{ "job::operator<<(int)", "job::operator<<" },
	{ "std::ostream& job::operator<< <int>(int)", "job::operator<<" },
	{ "auto job::operator<=><int>(int) const", "job::operator<=>" },
	{ "job* job::operator-><int>() const", "job::operator->" },
	{ "void job::operator->*<int>() const", "job::operator->*" },
	{ "bool job::operator><int>(int)", "job::operator>" },
	{ "job::operator()(int) const", "job::operator()" },
	{ "job::operator[](int)", "job::operator[]" },
	{ "job::operator,(int)", "job::operator," },
	{ "operator new(unsigned long)", "operator new" },
	{ "operator delete[](void*)", "operator delete[]" },
	{ "job::operator int() const", "job::operator int" },
	{ "job::operator unsigned long()", "job::operator unsigned long" },
	{ "job::operator std::vector<int> const*<int>()", "job::operator std::vector const*" },
	{ "operator\"\" _s(char const*)", "operator\\042\\042 _s" },
	{ "my_operator<int>(int)", "my_operator" },
	{ "(anonymous namespace)::f()", "(anonymous namespace)::f" },
	{ "void (anonymous namespace)::f<int>()", "(anonymous namespace)::f" },
	{ "job::f(int) const::{lambda(auto:1, int)#2}::operator()<int>(int) const", "job::f::{lambda#2}::operator()" },
	{ "job::{unnamed type#1}::f()", "job::{unnamed type#1}::f" },
	{ "job::f[abi:cxx11](int)", "job::f" },
	{ "core::ptr::drop_in_place::h0123456789abcdef", "core::ptr::drop_in_place" },
	{ "h0123456789abcdef", "h0123456789abcdef" },
	{ "void f<int>(int) requires (a)", "f" },
	{ "\xc3\xa4::f()", "\xc3\xa4::f" },
	{ "a\033[1m(int)", "a\\033[1m" },
	/* hostile or unusual */
	{ "a < b > c", "c" },
	{ "a < b", NULL },
	{ "{a < b}", NULL },
	{ "{a", NULL },
	{ "a(b", NULL },
	{ "a[abi:", NULL },
	{ "void (*f<int>(int))(char)", NULL },
	{ "()", NULL },
	{ "", NULL },
};

static void puts_the_name_of_a_declaration(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(declarations); i++) {
		char name[TEXT_ESCAPED_MAX(CXX_NAME_MAX)];
		const bool is = cxx_name_plain(name, declarations[i].declaration);

		if (is != (declarations[i].name != NULL) || (is && strcmp(name, declarations[i].name) != 0))
			fail_msg("%s is %s, not %s", declarations[i].declaration, is ? name : "-",
				 declarations[i].name ? declarations[i].name : "-");
	}
}

/* Each begin of a declaration, in memory of its own. */
static void stays_within_its_memory(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(declarations); i++)
		for (size_t len = 0; len <= strlen(declarations[i].declaration); len++) {
			autofree char *text = strndup(declarations[i].declaration, len);
			autofree char *name = malloc(TEXT_ESCAPED_MAX(CXX_NAME_MAX));

			cxx_name_plain(name, text);
		}
}

static void a_name_has_a_limit(void **state)
{
	char text[CXX_NAME_MAX + 2], name[TEXT_ESCAPED_MAX(CXX_NAME_MAX)];

	memset(text, '\1', sizeof(text));
	text[CXX_NAME_MAX] = '\0';
	assert_true(cxx_name_plain(name, text));
	assert_int_equal(strlen(name), 4 * CXX_NAME_MAX);
	text[CXX_NAME_MAX] = '\1';
	text[CXX_NAME_MAX + 1] = '\0';
	assert_false(cxx_name_plain(name, text));
}

/* --- symbols ----------------------------------------------------------------------------------------------------- */

static const struct {
	const char *symbol, *name;
} symbols[] = {
	{ "_Znwm", "operator new" },
	{ "_Z4mainv", "main" },
	{ "_ZL5localv", "local" },
	{ "_ZN2at6native5emptyEN3c108ArrayRefIlEE", "at::native::empty" },
	{ "_ZNSt6vectorIiSaIiEE17_M_realloc_insertIJRKiEEEvN9__gnu_cxx17__normal_iteratorIPiS1_EEDpOT_",
	  "std::vector::_M_realloc_insert" },
	{ "_ZNSs6appendEPKcm", "std::string::append" },
	{ "_ZN3job7BuffersIiLm4EEC2ERKS1_", "job::Buffers::Buffers" },
	{ "_ZNK3jobltERKS_", "job::operator<" },
	{ "_ZN3jobcviEv", "job::operator int" },
	{ "_ZN12_GLOBAL__N_14fillEv.cold", "(anonymous namespace)::fill" },
	{ "_ZN12_GLOBAL__N_14fillEv@@JOB_1.0", "(anonymous namespace)::fill" },
	{ "_ZZN2at4fillERKNS_6TensorEENKUlvE_clEv", "at::fill::{lambda#1}::operator()" },
	{ "_ZSt4sortIPiEvT_S1_", "std::sort" },
	{ "_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place" },
	{ "_Z5a\033[1mv", "a\\033[1m" },
	/* as they are */
	{ "_Z5a < bv", "_Z5a\\040<\\040bv" },
	{ "main", "main" },
	{ "", "-" },
	{ "_RNvC3job4main", "_RNvC3job4main" },
	{ "_ZTV3job", "_ZTV3job" },
	{ "_ZN3job", "_ZN3job" },
	{ "_Z99999999999999999999abc", "_Z99999999999999999999abc" },
	{ "_Z", "_Z" },
};

static void library_or_skip(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_NOW);

	if (!library) {
		print_message("[  SKIPPED ] libstdc++.so.6 is not installed\n");
		skip();
	}
}

static void has_the_names_of_functions(void **state)
{
	char *texts[ARRAY_SIZE(symbols)], **pointers[ARRAY_SIZE(symbols)];

	library_or_skip();
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		texts[i] = strdup(symbols[i].symbol);
		pointers[i] = &texts[i];
	}
	cxx_names(pointers, ARRAY_SIZE(symbols));
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		assert_string_equal(texts[i], symbols[i].name);
		free(texts[i]);
	}
}

/* --- bombs: symbols whose names are as long as the memory, or take as long as the sun lasts ------------------------
 */

/* The number of a substitution: S_, S0_ ... S9_, SA_ ... */
static void put_substitution(FILE *out, unsigned int n)
{
	if (n == 0)
		fprintf(out, "S_");
	else if (n <= 36)
		fprintf(out, "S%c_", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[n - 1]);
	else
		fprintf(out, "S1%c_", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[n - 37]);
}

/* Each parameter a<X, X> of the one before: 2^DOUBLINGS times its length. */
static char *doubling(unsigned int doublings)
{
	char *ret = NULL;
	size_t len;
	FILE *out = open_memstream(&ret, &len);

	fprintf(out, "_Z1f1aIiE");
	for (unsigned int i = 1; i <= doublings; i++) {
		fprintf(out, "S_I");
		put_substitution(out, i);
		put_substitution(out, i);
		fprintf(out, "E");
	}
	fclose(out);
	return ret;
}

static char *repeated(const char *begin, const char *part, unsigned int n, const char *end, unsigned int n_end)
{
	char *ret = NULL;
	size_t len;
	FILE *out = open_memstream(&ret, &len);

	fputs(begin, out);
	for (unsigned int i = 0; i < n; i++)
		fputs(part, out);
	for (unsigned int i = 0; i < n_end; i++)
		fputs(end, out);
	fclose(out);
	return ret;
}

static char *bomb(unsigned int n)
{
	switch (n % 5) {
	case 0:
		return doubling(60);
	case 1: /* template arguments that are parsed twice at each level */
		return repeated("_Z", "cvT_IL_Z", 90, "1fEv", 1);
	case 2:
		return repeated("_Z", "cvT_IL_Z", 90, "EE", 90);
	case 3:
		return repeated("_Z1f", "P", 1000, "i", 1);
	default:
		return repeated("_Z1f", "N1aI", 100000, "i", 1);
	}
}

static double cpu_s(int whose)
{
	struct rusage usage;

	getrusage(whose, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* However many bombs there are, the time is that of three children, and the memory of one: 64 MiB above what it begins
 * with. */
static void bombs_stay_small(void **state)
{
	char *texts[STACK_OF_BOMBS], **pointers[STACK_OF_BOMBS];
	struct rusage before, after;
	const double begin_s = cpu_s(RUSAGE_CHILDREN);

	library_or_skip();
	getrusage(RUSAGE_SELF, &before);
	for (unsigned int i = 0; i < STACK_OF_BOMBS; i++) {
		texts[i] = i ? bomb(i - 1) : strdup("_ZN3job4fillEv");
		pointers[i] = &texts[i];
	}
	cxx_names(pointers, STACK_OF_BOMBS);
	getrusage(RUSAGE_CHILDREN, &after);
	assert_string_equal(texts[0], "job::fill"); /* of what comes before them */
	assert_true(cpu_s(RUSAGE_CHILDREN) - begin_s < 3.5);
	if (!SANITIZED)
		assert_in_range(after.ru_maxrss, 0, before.ru_maxrss + (128 << 10)); /* KiB */
	for (unsigned int i = 0; i < STACK_OF_BOMBS; i++) {
		assert_non_null(texts[i]);
		assert_in_range(strlen(texts[i]), 1, 4 * CXX_NAME_MAX);
		free(texts[i]);
	}
}

/* One symbol that cannot be demangled costs none of the others its name. */
static void goes_on_behind_a_bomb(void **state)
{
	char *texts[] = { doubling(60), strdup("_ZN3job4fillEv") }, **pointers[] = { &texts[0], &texts[1] };

	library_or_skip();
	cxx_names(pointers, 2);
	assert_string_equal(texts[1], "job::fill");
	free(texts[0]);
	free(texts[1]);
}

/* --- of standard input ------------------------------------------------------------------------------------------- */

static int print_names(void)
{
	char **texts = NULL, ***pointers = NULL, line[1 << 16];
	size_t n = 0;

	while (fgets(line, sizeof(line), stdin) && util_room(&texts, n, sizeof(*texts)) == 0) {
		line[strcspn(line, "\n")] = '\0';
		texts[n++] = strdup(line);
	}
	pointers = calloc(n + 1, sizeof(*pointers));
	for (size_t i = 0; i < n; i++)
		pointers[i] = &texts[i];
	cxx_names(pointers, n);
	for (size_t i = 0; i < n; i++) {
		puts(texts[i]);
		free(texts[i]);
	}
	free(pointers);
	free(texts);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(puts_the_name_of_a_declaration),
		cmocka_unit_test(stays_within_its_memory),
		cmocka_unit_test(a_name_has_a_limit),
		cmocka_unit_test(has_the_names_of_functions),
		cmocka_unit_test(bombs_stay_small),
		cmocka_unit_test(goes_on_behind_a_bomb),
	};

	return argc > 1 ? print_names() : cmocka_run_group_tests(tests, NULL, NULL);
}
