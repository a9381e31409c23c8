/* SPDX-License-Identifier: BSD-2-Clause */
/* The code of this process, as ld.so itself says: each module's place, build id, and all of its code; what is no code
 * is none. */
#include "drain/memory/alloc_code.h"

#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "drain/memory/alloc_map.h"
#include "temp.h"

#define WAIT_MS 20000

static struct alloc_code code;

static int begin(void **state)
{
	code = (struct alloc_code){ .stuck = 0 };
	return 0;
}

static int end(void **state)
{
	alloc_code_free(&code);
	return 0;
}

/* Reads process PID, for addresses of now. */
static void look(pid_t pid)
{
	alloc_code_heard(&code, (uint32_t)pid, clock_now_ns(CLOCK_MONOTONIC));
	alloc_code_update(&code, WAIT_MS);
}

static const struct alloc_module *module_at(uint64_t addr)
{
	struct alloc_module *m;

	assert_true(alloc_code_find(&code, (uint32_t)getpid(), addr, &m));
	return m;
}

/* The build id that M has must be one of the notes of INFO. */
static void has_id(const struct alloc_module *m, const struct dl_phdr_info *info)
{
	bool found = false, any = false;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const char *at = (const char *)info->dlpi_addr + ph->p_vaddr;

		for (size_t k = 0; ph->p_type == PT_NOTE && k + sizeof(ElfW(Nhdr)) < ph->p_memsz;) {
			const ElfW(Nhdr) *note = (const void *)(at + k);

			any |= note->n_type == NT_GNU_BUILD_ID;
			found |= note->n_type == NT_GNU_BUILD_ID && note->n_descsz == m->id_len &&
				 !memcmp((const char *)(note + 1) + 4, m->id, m->id_len);
			k += sizeof(*note) + ((note->n_namesz + 3) & ~3U) + ((note->n_descsz + 3) & ~3U);
		}
	}
	assert_int_equal(found, any);
}

static int check_module(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const char *name = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
	autofree char *path = realpath(name, NULL);
	unsigned int *n = ctx;

	if (!path) /* the kernel's own */
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const uint64_t at = info->dlpi_addr + ph->p_vaddr;
		const struct alloc_module *m;

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		m = module_at(at + 1);
		assert_non_null(m);
		assert_ptr_equal(module_at(at + ph->p_memsz), m);
		assert_string_equal(m->path, path);
		assert_int_equal(m->bias, info->dlpi_addr);
		has_id(m, info);
		++*n;
	}
	return 0;
}

static void modules_are_those_of_the_dynamic_linker(void **state)
{
	unsigned int n = 0;

	look(getpid());
	dl_iterate_phdr(check_module, &n);
	assert_true(n >= 2);
}

static void what_is_no_code_is_none(void **state)
{
	struct alloc_module *m;
	int local;

	look(getpid());
	assert_false(alloc_code_find(&code, (uint32_t)getpid(), (uintptr_t)&local, &m));
	assert_false(alloc_code_find(&code, (uint32_t)getpid(), 1, &m));
	assert_false(alloc_code_find(&code, (uint32_t)getpid(), 0, &m));
	assert_false(alloc_code_find(&code, (uint32_t)getpid(), UINT64_MAX, &m));
	assert_true(alloc_code_find(&code, (uint32_t)getpid() + 1, 1, &m)); /* never read */
	assert_null(m);
}

/* New code is known at the next look; a file keeps its number; a process that has ended is not known. */
static void a_later_look_has_later_mappings(void **state)
{
	const uint64_t mine = (uintptr_t)&look + 1;
	struct alloc_module *m;
	char *anon;

	look(getpid());
	assert_true(alloc_code_find(&code, (uint32_t)getpid(), mine, &m));
	m->number = 17;
	anon = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(anon, MAP_FAILED);
	assert_false(alloc_code_find(&code, (uint32_t)getpid(), (uintptr_t)anon + 1, &m));
	code.processes[0].read_ns -= NSEC_PER_SEC; /* not more often than twice a second */
	look(getpid());
	assert_true(alloc_code_find(&code, (uint32_t)getpid(), (uintptr_t)anon + 1, &m));
	assert_null(m);
	assert_int_equal(module_at(mine)->number, 17);
	munmap(anon, 4096);
	alloc_code_forget(&code, (uint32_t)getpid());
	assert_true(alloc_code_find(&code, (uint32_t)getpid(), mine, &m));
	assert_null(m);
}

static void a_process_that_is_gone_keeps_its_code(void **state)
{
	struct alloc_module *m;
	pid_t pid;

	pid = fork_bound();
	if (!pid) {
		pause();
		_exit(0);
	}
	look(pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	code.processes[0].read_ns -= NSEC_PER_SEC;
	look(pid);
	assert_true(alloc_code_find(&code, (uint32_t)pid, (uintptr_t)&look + 1, &m));
	assert_non_null(m);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(modules_are_those_of_the_dynamic_linker),
		TEST(what_is_no_code_is_none),
		TEST(a_later_look_has_later_mappings),
		TEST(a_process_that_is_gone_keeps_its_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
