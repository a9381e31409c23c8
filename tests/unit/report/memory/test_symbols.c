/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of this program's own functions, whose addresses the linker has told it; and files that are none, or
 * spoiled. */
#include "report/memory/symbols.h"

#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../tree.h"

/* This program: where it is loaded, and its build id in hex; "": it has none. */
static uint64_t base;
static char id[129];

__attribute__((noinline)) int first_of_two(int x)
{
	__asm__ volatile("" : "+r"(x));
	return 3 * x;
}

__attribute__((noinline)) int second_of_two(int x)
{
	__asm__ volatile("" : "+r"(x));
	return 5 * x;
}

static int find_self(struct dl_phdr_info *info, size_t size, void *ctx)
{
	base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const char *at = (const char *)info->dlpi_addr + ph->p_vaddr, *end = at + ph->p_memsz;

		if (ph->p_type != PT_NOTE)
			continue;
		while (at + sizeof(ElfW(Nhdr)) <= end) {
			const ElfW(Nhdr) *note = (const void *)at;
			const unsigned char *desc =
				(const unsigned char *)at + sizeof(*note) + (note->n_namesz + 3) / 4 * 4;

			for (unsigned int k = 0; note->n_type == NT_GNU_BUILD_ID && k < note->n_descsz && k < 64; k++)
				sprintf(id + 2 * k, "%02x", desc[k]);
			at = (const char *)desc + (note->n_descsz + 3) / 4 * 4;
		}
	}
	return 1; /* the program itself comes first */
}

static void need_id(void)
{
	if (!id[0]) {
		print_message("the linker gives no build ids\n");
		skip();
	}
}

static uint64_t place_of(int (*function)(int))
{
	return (uint64_t)(uintptr_t)function - base;
}

static int by_address(const void *a, const void *b)
{
	const struct symbol_place *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static void free_names(struct symbol_place *places, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(places[i].name);
}

/* A function reaches from its first byte to its last. */
static void functions_have_names(void **state)
{
	const uint64_t first = place_of(first_of_two), second = place_of(second_of_two);
	struct symbol_place places[] = {
		{ .at = 1 }, { .at = first }, { .at = first + 1 }, { .at = second }, { .at = UINT64_MAX }
	};
	int firsts = 0, seconds = 0;

	need_id();
	qsort(places, ARRAY_SIZE(places), sizeof(places[0]), by_address);
	assert_int_equal(symbols_find("/proc/self/exe", id, places, ARRAY_SIZE(places)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		firsts += places[i].name && !strcmp(places[i].name, "first_of_two");
		seconds += places[i].name && !strcmp(places[i].name, "second_of_two");
		assert_true(places[i].at != 1 || !places[i].name);
		assert_true(places[i].at != UINT64_MAX || !places[i].name);
	}
	assert_int_equal(firsts, 2);
	assert_int_equal(seconds, 1);
	free_names(places, ARRAY_SIZE(places));
	assert_true(first_of_two(1) + second_of_two(1) == 8);
}

static void another_file_gives_none(void **state)
{
	struct symbol_place place = { .at = place_of(first_of_two) };
	autofree char *text = tree_path("text"), *empty = tree_path("empty"), *none = tree_path("none");

	need_id();
	tree_put("text", "no program");
	tree_put("empty", "");
	id[0] ^= 1;
	assert_int_equal(symbols_find("/proc/self/exe", id, &place, 1), -ESTALE);
	id[0] ^= 1;
	assert_int_equal(symbols_find("/proc/self/exe", "", &place, 1), -ESTALE);
	assert_int_equal(symbols_find(text, id, &place, 1), -EBADMSG);
	assert_int_equal(symbols_find(empty, id, &place, 1), -EBADMSG);
	assert_int_equal(symbols_find(none, id, &place, 1), -ENOENT);
	assert_int_equal(symbols_find("/dev/null", id, &place, 1), -EBADMSG);
	assert_int_equal(symbols_find("/proc/self", id, &place, 1), -EBADMSG);
	assert_null(place.name);
}

/* Each number of the ELF header and of the section headers is replaced by a large one, and the file is cut: nothing
 * breaks. */
static void spoiled_files_do_no_harm(void **state)
{
	autofree char *path = tree_path("spoiled"), *whole = NULL;
	autoclose int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
		      fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct symbol_place place = { .at = place_of(first_of_two) };
	size_t len = 0, headers, bytes;
	const ElfW(Ehdr) * eh;

	need_id();
	assert_int_equal(util_read_fd(self, 256U << 20, &whole, &len), 0);
	eh = (const void *)whole;
	headers = eh->e_shoff;
	bytes = (size_t)eh->e_shnum * sizeof(ElfW(Shdr));
	assert_int_equal(util_write_all(fd, whole, len), 0);
	for (size_t i = 0; i < sizeof(*eh) + bytes; i += 2) {
		static const char large[2] = { (char)0xff, (char)0x7f };
		const size_t at = i < sizeof(*eh) ? i : headers + i - sizeof(*eh);

		assert_int_equal(pwrite(fd, large, 2, (off_t)at), 2);
		symbols_find(path, id, &place, 1);
		free(place.name);
		place.name = NULL;
		assert_int_equal(pwrite(fd, whole + at, 2, (off_t)at), 2);
	}
	assert_int_equal(symbols_find(path, id, &place, 1), 0);
	assert_string_equal(place.name, "first_of_two");
	free(place.name);
	place.name = NULL;
	for (size_t left = len; left > 1; left -= left / 7 + 1) {
		assert_int_equal(ftruncate(fd, (off_t)left), 0);
		symbols_find(path, id, &place, 1);
		free(place.name);
		place.name = NULL;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_have_names),
		IN_TREE(another_file_gives_none),
		IN_TREE(spoiled_files_do_no_harm),
	};

	dl_iterate_phdr(find_self, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
