/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * With the argument -, prints the name of each symbol of standard input, or the symbol:
 * tests/native/report/cxx-names.sh compares that with what c++filt makes of the symbols of whole libraries.
 */
#include "report/memory/cxx_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

#define SIZE 1024

static const struct {
	const char *symbol, *name; /* NULL: none */
} names[] = {
	{ "_Znwm", "operator new" },
	{ "_ZdaPvm", "operator delete[]" },
	{ "_Z4mainv", "main" },
	{ "_ZL5localv", "local" },
	{ "_ZN2at6native5emptyEN3c108ArrayRefIlEE", "at::native::empty" },
	{ "_ZNSt6vectorIiSaIiEE17_M_realloc_insertIJRKiEEEvN9__gnu_cxx17__normal_iteratorIPiS1_EEDpOT_",
	  "std::vector::_M_realloc_insert" },
	{ "_ZNSs6appendEPKcm", "std::string::append" },
	{ "_ZNSaIcED1Ev", "std::allocator::~allocator" },
	{ "_ZN3job7BuffersIiLm4EEC2ERKS1_", "job::Buffers::Buffers" },
	{ "_ZNK3jobltERKS_", "job::operator<" },
	{ "_ZN12_GLOBAL__N_14fillEv.cold", "(anonymous namespace)::fill" },
	{ "_ZZN2at4fillERKNS_6TensorEENKUlvE_clEv", "at::fill::{lambda#1}::operator()" },
	{ "_ZZN2at4fillEPFivEENKUlRT_T0_E3_clIiS2_EEDaS1_S2_", "at::fill::{lambda#5}::operator()" },
	{ "_ZN3jobUt0_3runEv", "job::{unnamed#2}::run" },
	{ "_ZNKSt8functionIFvvEEclEv", "std::function::operator()" },
	{ "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_createERmm",
	  "std::__cxx11::basic_string::_M_create" },
	{ "_ZN5boost3runB5cxx11Ev", "boost::run" },
	{ "_ZSt4sortIPiEvT_S1_", "std::sort" },
	{ "_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place" },
	{ "_ZN17h0123456789abcdefE", "h0123456789abcdef" },
	/* hostile: a byte of a terminal, and what would look like another frame */
	{ "_Z5a\033[1mv", "a\\033[1m" },
	{ "_Z5a < bv", "a\\040<\\040b" },
	/* no functions, not whole, or not known */
	{ "main", NULL },
	{ "_main", NULL },
	{ "Z4main", NULL },
	{ "_ZTV3job", NULL },
	{ "_ZN3jobcviEv", NULL },
	{ "_ZN3job", NULL },
	{ "_ZNMME", NULL },
	{ "_ZZN2at4fillEPFFiS2_", NULL },
	{ "_Z9abc", NULL },
	{ "_Z99999999999999999999abc", NULL },
	{ "_Z0v", NULL },
	{ "_ZNE", NULL },
	{ "_ZNC1Ev", NULL },
	{ "_ZNStC1Ev", NULL },
	{ "_Z", NULL },
	{ "", NULL },
};

static void has_the_names_of_functions(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char name[SIZE];
		const bool is = cxx_name(name, sizeof(name), names[i].symbol);

		if (is != (names[i].name != NULL) || (is && strcmp(name, names[i].name) != 0))
			fail_msg("%s is %s, not %s", names[i].symbol, is ? name : "-",
				 names[i].name ? names[i].name : "-");
	}
}

/* Each begin of a symbol, in memory of its own, with room for each length. */
static void stays_within_its_memory(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		for (size_t len = 0; len <= strlen(names[i].symbol); len++) {
			autofree char *symbol = strndup(names[i].symbol, len);

			for (size_t size = 0; size < 48; size++) {
				autofree char *name = malloc(size + 1);

				if (cxx_name(name, size, symbol))
					assert_in_range(strlen(name), 0, size - 1);
			}
		}
}

static void depth_is_bounded(void **state)
{
	static const char *const parts[][3] = {
		{ "_ZN1aI", "N1aI", "" },  { "_Z1fI", "P", "i" }, { "_Z", "ZN", "" },
		{ "_ZZ1fPF", "vPF", "v" }, { "_ZN1aI", "J", "" }, { "_ZN1aI", "L_Z1aI", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		static char symbol[1 << 20];
		char name[SIZE];
		size_t len = (size_t)sprintf(symbol, "%s", parts[i][0]);

		while (len < sizeof(symbol) - 64)
			len += (size_t)sprintf(symbol + len, "%s", parts[i][1]);
		sprintf(symbol + len, "%s", parts[i][2]);
		assert_false(cxx_name(name, sizeof(name), symbol));
	}
}

static int print_names(void)
{
	char line[1 << 16], name[SIZE];

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		puts(cxx_name(name, sizeof(name), line) ? name : line);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_the_names_of_functions),
		cmocka_unit_test(stays_within_its_memory),
		cmocka_unit_test(depth_is_bounded),
	};

	return argc > 1 ? print_names() : cmocka_run_group_tests(tests, NULL, NULL);
}
