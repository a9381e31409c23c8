/* SPDX-License-Identifier: BSD-2-Clause */
/* The instruction of our own library that is probed, and those that must not be. */
#include "kernel/uprobe/uprobe.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "dlt/alloc.h"
#include "tree.h"

#define STRING_(s) #s
#define STRING(s) STRING_(s)
#define POINT STRING(DLT_ALLOC_POINT)

/* build/tests/kernel/uprobe/test_uprobe: build/libdltraced-alloc.so */
static char *library(void)
{
	autofree char *self = realpath("/proc/self/exe", NULL);

	for (int i = 0; i < 4; i++)
		*strrchr(self, '/') = '\0';
	return util_fmt("%s/" DLT_ALLOC_LIBRARY, self);
}

static const struct prologue_need need = { PROLOGUE_ARG1 | PROLOGUE_ARG2 };

/* Looks SYMBOL up in the file PATH. */
static int find(const char *path, const char *symbol, struct uprobe_point *ret)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return uprobe_find(fd, symbol, &need, ret);
}

/* A copy of the library, as *TEXT, to be changed, and LEN bytes of it written to a file. */
static char *library_read(size_t *len)
{
	autofree char *path = library();
	char *text = NULL;

	assert_int_equal(util_read_file(path, 1 << 24, &text, len), 0);
	return text;
}

static int find_in_copy(const char *text, size_t len, const char *symbol, struct uprobe_point *ret)
{
	autofree char *copy = tree_path("copy.so");
	{
		autoclose int fd = open(copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		assert_int_equal(write(fd, text, len), len);
	}
	return find(copy, symbol, ret);
}

static void the_point_is_a_nop_of_one_byte(void **state)
{
	autofree char *path = library();
	struct uprobe_point point;
	unsigned char code[2];
	autoclose int fd = -1;

	assert_int_equal(find(path, POINT, &point), 0);
	assert_false(point.not_zero);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(pread(fd, code, sizeof(code), (off_t)point.offset), sizeof(code));
#if defined(__x86_64__)
	assert_int_equal(code[0], 0x90); /* nop */
	assert_int_equal(code[1], 0xc3); /* ret */
#endif
}

#if defined(__x86_64__)
/* The same library with another instruction there. */
static void a_nop_of_five_bytes_is_refused(void **state)
{
	static const unsigned char nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	struct uprobe_point point;
	size_t len;
	autofree char *text = library_read(&len), *path = library();

	assert_int_equal(find(path, POINT, &point), 0);
	memcpy(text + point.offset, nop5, sizeof(nop5));
	assert_int_equal(find_in_copy(text, len, POINT, &point), -ENOTSUP);
	assert_non_null(strstr(point.why, "five bytes"));
}

static void an_instruction_that_is_stepped_through_is_refused(void **state)
{
	struct uprobe_point point;
	size_t len;
	autofree char *text = library_read(&len), *path = library();

	assert_int_equal(find(path, POINT, &point), 0);
	text[point.offset] = (char)0xf4; /* hlt */
	assert_int_equal(find_in_copy(text, len, POINT, &point), -ENOTSUP);
	assert_non_null(strstr(point.why, "stepped through"));
}
#endif

static Elf64_Shdr *section(char *text, unsigned int type)
{
	Elf64_Ehdr *head = (Elf64_Ehdr *)text;
	Elf64_Shdr *sh = (Elf64_Shdr *)(text + head->e_shoff);

	for (unsigned int i = 0; i < head->e_shnum; i++)
		if (sh[i].sh_type == type)
			return &sh[i];
	fail_msg("no section of type %u", type);
	return NULL;
}

/* The symbol of the point among those that programs link with. */
static Elf64_Sym *symbol(char *text)
{
	const Elf64_Shdr *dynsym = section(text, SHT_DYNSYM),
			 *all = (Elf64_Shdr *)(text + ((Elf64_Ehdr *)text)->e_shoff);
	const char *names = text + all[dynsym->sh_link].sh_offset;
	Elf64_Sym *v = (Elf64_Sym *)(text + dynsym->sh_offset);

	for (size_t i = 0; i < dynsym->sh_size / sizeof(*v); i++)
		if (!strcmp(names + v[i].st_name, POINT))
			return &v[i];
	fail_msg("no " POINT);
	return NULL;
}

static void code_that_chooses_a_function_is_refused(void **state)
{
	struct uprobe_point point;
	size_t len;
	autofree char *text = library_read(&len);

	symbol(text)->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
	assert_int_equal(find_in_copy(text, len, POINT, &point), -ENOTSUP);
	assert_non_null(strstr(point.why, "chooses"));
}

/* A function that lies outside of the code, or beyond the end of the file. */
static void a_symbol_that_lies_is_refused(void **state)
{
	static const uint64_t values[] = { 0, 1 << 30, UINT64_MAX, UINT64_MAX - 4 };
	struct uprobe_point point;
	size_t len;
	autofree char *text = library_read(&len);

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		symbol(text)->st_value = values[i];
		assert_int_equal(find_in_copy(text, len, POINT, &point), -ENOTSUP);
		assert_non_null(strstr(point.why, "not within the code"));
	}
}

#if defined(__x86_64__)
/* Nothing is read beyond the last byte of the function, of the code, or of the file. */
static void the_last_byte_of_a_file_may_be_a_point(void **state)
{
	struct uprobe_point point;
	Elf64_Phdr *ph;
	size_t len;
	autofree char *text = library_read(&len), *larger = NULL;

	ph = (Elf64_Phdr *)(text + ((Elf64_Ehdr *)text)->e_phoff);
	while (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
		ph++;
	larger = malloc(len + 1);
	memcpy(larger, text, len);
	ph = (Elf64_Phdr *)(larger + ((char *)ph - text));
	larger[len] = 0x55; /* push %rbp */
	ph->p_filesz = ph->p_memsz = len + 1 - ph->p_offset;
	symbol(larger)->st_value = ph->p_vaddr + len - ph->p_offset;
	symbol(larger)->st_size = 100;
	assert_int_equal(find_in_copy(larger, len + 1, POINT, &point), 0);
	assert_int_equal(point.offset, len);
	assert_int_equal(find_in_copy(larger, len, POINT, &point), -ENOTSUP);
}
#endif

/* A file could have thousands of tables of 64 MiB each, at the same place. */
static void a_second_table_is_not_read(void **state)
{
	struct uprobe_point point;
	size_t len;
	autofree char *text = library_read(&len);

	assert_int_not_equal(find_in_copy(text, len, "thread_flush", &point),
			     -ENOENT); /* not among what programs link with */
	section(text, SHT_SYMTAB)->sh_type = SHT_DYNSYM;
	assert_int_equal(find_in_copy(text, len, "thread_flush", &point), -ENOENT);
	assert_int_equal(find_in_copy(text, len, POINT, &point), 0);
}

/* The table of names ends within this one's; a name is beyond it. */
static void names_that_are_cut_off_are_not_read(void **state)
{
	struct uprobe_point point;
	Elf64_Shdr *all, *names;
	size_t len;
	autofree char *text = library_read(&len);

	all = (Elf64_Shdr *)(text + ((Elf64_Ehdr *)text)->e_shoff);
	names = &all[section(text, SHT_DYNSYM)->sh_link];
	section(text, SHT_SYMTAB)->sh_type = SHT_NULL;
	names->sh_size = symbol(text)->st_name + sizeof(POINT);
	assert_int_equal(find_in_copy(text, len, POINT, &point), 0);
	names->sh_size--;
	assert_int_equal(find_in_copy(text, len, POINT, &point), -ENOENT);
	names->sh_size++;
	symbol(text)->st_name = UINT32_MAX;
	assert_int_equal(find_in_copy(text, len, POINT, &point), -ENOENT);
}

/* Tables that claim to be larger than the file, or than memory; sections that are more than there are. */
static void tables_without_end_are_not_read(void **state)
{
	static const uint64_t sizes[] = { 65 << 20, 1ULL << 40, UINT64_MAX };
	struct uprobe_point point;
	size_t len;
	autofree char *text = library_read(&len);

	section(text, SHT_DYNSYM)->sh_link = 0xffffffff;
	assert_int_equal(find_in_copy(text, len, "no_such_function", &point), -ENOENT);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		section(text, SHT_DYNSYM)->sh_size = sizes[i];
		assert_int_equal(find_in_copy(text, len, "no_such_function", &point), -ENOENT);
	}
	((Elf64_Ehdr *)text)->e_shnum = 0; /* section 0 has the number then */
	assert_int_equal(find_in_copy(text, len, POINT, &point), -ENOEXEC);
	((Elf64_Ehdr *)text)->e_shnum = 0xffff;
	assert_int_not_equal(find_in_copy(text, len, POINT, &point), 0);
}

/* A file that is cut off anywhere is no program, or has no such function; what is left of it is not believed. */
static void a_file_may_be_cut_off(void **state)
{
	struct uprobe_point point;
	size_t len;
	autofree char *text = library_read(&len);

	for (size_t n = 0; n < len; n += n < 512 ? 7 : 997)
		assert_true(find_in_copy(text, n, POINT, &point) < 0);
}

static void what_has_no_such_function_is_not_probed(void **state)
{
	autofree char *path = library(), *text = tree_path("text");
	struct uprobe_point point;

	assert_int_equal(find(path, "no_such_function", &point), -ENOENT);
	tree_put("text", "not a program");
	assert_int_equal(find(text, POINT, &point), -ENOEXEC);
	assert_int_equal(find("/dev/null", POINT, &point), -ENOEXEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_point_is_a_nop_of_one_byte),
#if defined(__x86_64__)
		cmocka_unit_test_setup_teardown(a_nop_of_five_bytes_is_refused, tree_make, tree_remove),
		cmocka_unit_test_setup_teardown(an_instruction_that_is_stepped_through_is_refused, tree_make,
						tree_remove),
		cmocka_unit_test_setup_teardown(the_last_byte_of_a_file_may_be_a_point, tree_make, tree_remove),
#endif
		cmocka_unit_test_setup_teardown(code_that_chooses_a_function_is_refused, tree_make, tree_remove),
		cmocka_unit_test_setup_teardown(a_symbol_that_lies_is_refused, tree_make, tree_remove),
		cmocka_unit_test_setup_teardown(a_second_table_is_not_read, tree_make, tree_remove),
		cmocka_unit_test_setup_teardown(names_that_are_cut_off_are_not_read, tree_make, tree_remove),
		cmocka_unit_test_setup_teardown(tables_without_end_are_not_read, tree_make, tree_remove),
		cmocka_unit_test_setup_teardown(a_file_may_be_cut_off, tree_make, tree_remove),
		cmocka_unit_test_setup_teardown(what_has_no_such_function_is_not_probed, tree_make, tree_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
