/* SPDX-License-Identifier: BSD-2-Clause */
/* The first instructions of functions, as compilers make them, and as they must not be probed. */
#include "kernel/uprobe/prologue.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

#if defined(__x86_64__)

#define NONE UINT32_MAX
#define ALL (PROLOGUE_ARG1 | PROLOGUE_ARG2 | PROLOGUE_ARG3 | PROLOGUE_ARG4)

/* What objdump -d shows of functions. */
static const struct {
	const char *what, *code;
	size_t len;
	unsigned int args; /* that are needed */
	unsigned int at; /* the point; NONE: there is none */
	unsigned int at_ret; /* the point if the function's return is probed, too */
	bool not_zero;
} functions[] = {
#define CODE(bytes) bytes, sizeof(bytes) - 1
	{ "push %rbp", CODE("\x55\x48\x89\xe5"), ALL, 0, 0 },
	{ "push %rax", CODE("\x50"), ALL, 0, 0 },
	{ "push %rdi", CODE("\x57"), ALL, 0, 0 },
	{ "push %r15", CODE("\x41\x57\x41\x56"), ALL, 0, 0 },
	{ "push %r12 with REX.W, which the kernel does not emulate", CODE("\x49\x54"), ALL, NONE, NONE },
	{ "push %rax with an empty REX", CODE("\x40\x50"), ALL, NONE, NONE },
	{ "push $1", CODE("\x6a\x01"), ALL, NONE, NONE },
	{ "nop", CODE("\x90\xc3"), ALL, 0, 0 },
	{ "nop of two bytes, then push", CODE("\x66\x90\x55"), ALL, 2, 2 },
	{ "pause, which looks like a nop", CODE("\xf3\x90\x55"), ALL, NONE, NONE },
	{ "xchg %rax, %r8, which looks like a nop", CODE("\x49\x90"), ALL, NONE, NONE },
	{ "jmp", CODE("\xe9\x93\x74\xfd\xff"), ALL, 0, 0 },
	{ "jmp that is cut off", CODE("\xe9\x93\x74\xfd"), ALL, NONE, NONE },
	{ "short jmp", CODE("\xeb\x10"), ALL, 0, 0 },
	{ "jmp with a prefix", CODE("\x66\xe9\x93\x74\xfd\xff"), ALL, NONE, NONE },
	{ "jmp *symbol(%rip)", CODE("\xff\x25\x00\x10\x00\x00"), ALL, NONE, NONE },
	{ "call", CODE("\xe8\x00\x10\x00\x00"), ALL, 0, 0 },
	{ "call that may begin a loop", CODE("\x48\x83\xec\x08\xe8\x00\x10\x00\x00"), ALL, NONE, NONE },
	{ "endbr64, push", CODE("\xf3\x0f\x1e\xfa\x55"), ALL, 4, 4 },
	{ "endbr64, jmp", CODE("\xf3\x0f\x1e\xfa\xe9\x00\x00\x00\x00"), ALL, 4, 4 },
	{ "endbr64 alone", CODE("\xf3\x0f\x1e\xfa"), ALL, NONE, NONE },
	{ "endbr32", CODE("\xf3\x0f\x1e\xfb\x55"), ALL, NONE, NONE },
	{ "nop of five bytes", CODE("\x0f\x1f\x44\x00\x00\x55"), ALL, NONE, NONE },
	{ "endbr64, nop of five bytes", CODE("\xf3\x0f\x1e\xfa\x0f\x1f\x44\x00\x00\x55"), ALL, NONE, NONE },
	{ "another nop of five bytes", CODE("\x66\x0f\x1f\x40\x00\x55"), ALL, NONE, NONE },
	{ "cmpb $0, symbol(%rip); push %r12: posix_memalign of Debian 12",
	  CODE("\x80\x3d\x01\x02\x14\x00\x00\x41\x54\x49\x89\xd4"), ALL, 7, 7 },
	{ "test %rdi, %rdi; je; push: free of Debian 12", CODE("\x48\x85\xff\x74\x3b\x55"), ALL, 5, 5, true },
	{ "the same with a long je", CODE("\x48\x85\xff\x0f\x84\x00\x01\x00\x00\x55"), ALL, 9, 9, true },
	{ "test %rdi, %rdi; jne", CODE("\x48\x85\xff\x75\x3b\x55"), ALL, NONE, NONE },
	{ "test %edi, %edi; je", CODE("\x85\xff\x74\x3b\x55"), ALL, NONE, NONE },
	{ "test %rsi, %rsi; je", CODE("\x48\x85\xf6\x74\x3b\x55"), ALL, NONE, NONE },
	{ "test of another value, je", CODE("\x48\x85\xff\x48\x85\xf6\x74\x3b\x55"), ALL, NONE, NONE },
	{ "je", CODE("\x74\x3b\x55"), ALL, NONE, NONE },
	{ "mov %rdi, %rax; push", CODE("\x48\x89\xf8\x53"), ALL, 3, 3 },
	{ "mov %rdi, %r12; push", CODE("\x49\x89\xfc\x53"), ALL, 3, 3 },
	{ "mov %rdi, %rsi; push, without the second argument", CODE("\x48\x89\xfe\x53"), ALL, NONE, NONE },
	{ "the same where only the first is needed", CODE("\x48\x89\xfe\x53"), PROLOGUE_ARG1, 3, 3 },
	{ "mov %rsp, %rdi as a load", CODE("\x48\x8b\xfc\x53"), PROLOGUE_ARG1, NONE, NONE },
	{ "mov %r8, %r15: not %rdi", CODE("\x4d\x89\xc7\x53"), ALL, 3, 3 },
	{ "mov $2, %esi; push", CODE("\xbe\x02\x00\x00\x00\x53"), PROLOGUE_ARG1, 5, 5 },
	{ "mov $2, %esi; push, which spoils an argument", CODE("\xbe\x02\x00\x00\x00\x53"), PROLOGUE_ARG2, NONE, NONE },
	{ "movabs $N, %rax; push", CODE("\x48\xb8\x53\x53\x53\x53\x53\x53\x53\x53\x90"), ALL, 10, 10 },
	{ "movabs that is cut off", CODE("\x48\xb8\x53\x53\x53\x53\x53"), ALL, NONE, NONE },
	{ "xor %eax, %eax; jmp", CODE("\x31\xc0\xe9\x00\x00\x00\x00"), ALL, 2, 2 },
	{ "lea symbol(%rip), %rax; push", CODE("\x48\x8d\x05\x00\x00\x00\x00\x53"), ALL, 7, 7 },
	{ "mov symbol(%rip), %rdi", CODE("\x48\x8b\x3d\x00\x00\x00\x00\x53"), PROLOGUE_ARG1, NONE, NONE },
	{ "sub $24, %rsp; nop", CODE("\x48\x83\xec\x18\x90"), ALL, 4, NONE },
	{ "sub $0x258, %rsp; nop", CODE("\x48\x81\xec\x58\x02\x00\x00\x90"), ALL, 7, NONE },
	{ "and $-32, %rsp", CODE("\x48\x83\xe4\xe0\x55"), ALL, NONE, NONE },
	{ "mov %rax, %rsp", CODE("\x48\x89\xc4\x55"), ALL, NONE, NONE },
	{ "the stack protector; push", CODE("\x64\x48\x8b\x04\x25\x28\x00\x00\x00\x53"), ALL, 9, 9 },
	{ "ret", CODE("\xc3\x55"), ALL, NONE, NONE },
	{ "int3: another tracer's", CODE("\xcc\x55"), ALL, NONE, NONE },
	{ "nothing", CODE(""), ALL, NONE, NONE },
#undef CODE
};

/* In memory of just these bytes, so that a sanitizer finds what is read beyond. */
static unsigned int point(size_t i, size_t len, bool returns, bool *not_zero)
{
	const struct prologue_need need = { functions[i].args, returns };
	unsigned char *code = malloc(len ?: 1);
	struct prologue_point p = { 0 };
	const char *why = "";
	int r;

	if (len)
		memcpy(code, functions[i].code, len);
	r = prologue_find(code, len, len, &need, &p, &why);
	free(code);
	*not_zero = p.not_zero;
	if (r < 0) {
		assert_int_equal(r, -ENOTSUP);
		assert_true(*why);
	}
	return r < 0 ? NONE : p.at;
}

static void points_are_what_every_kernel_emulates(void **state)
{
	bool not_zero;

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		unsigned int at = point(i, functions[i].len, false, &not_zero), at_ret;

		if (at != functions[i].at || not_zero != functions[i].not_zero)
			fail_msg("%s: %d, not %d", functions[i].what, (int)at, (int)functions[i].at);
		at_ret = point(i, functions[i].len, true, &not_zero);
		if (at_ret != functions[i].at_ret)
			fail_msg("%s: with its return %d, not %d", functions[i].what, (int)at_ret,
				 (int)functions[i].at_ret);
	}
}

/* A function that is cut off has the same point, or none. */
static void what_is_cut_off_has_no_other_point(void **state)
{
	bool not_zero;

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		for (size_t len = 0; len < functions[i].len; len++) {
			unsigned int at = point(i, len, false, &not_zero);

			if (at != NONE && at != functions[i].at)
				fail_msg("%s: of %zu bytes %u", functions[i].what, len, at);
		}
}

static void every_push_of_one_register_is_a_point(void **state)
{
	const struct prologue_need need = { ALL, true };
	struct prologue_point p;
	const char *why;

	for (unsigned int r = 0; r < 16; r++) {
		const unsigned char code[] = { 0x41, (unsigned char)(0x50 + (r & 7)) };

		assert_int_equal(prologue_find(r < 8 ? code + 1 : code, r < 8 ? 1 : 2, 2, &need, &p, &why), 0);
		assert_int_equal(p.at, 0);
	}
}

/* An instruction that reaches beyond the function is none of it; a nop of five bytes is one all the same. */
static void what_follows_the_function_is_not_its(void **state)
{
	const struct prologue_need need = { ALL, false };
	struct prologue_point p;
	const char *why;

	assert_int_equal(prologue_find((const unsigned char *)"\x66\x90\x55", 3, 2, &need, &p, &why), -ENOTSUP);
	assert_non_null(strstr(why, "stepped through"));
	assert_int_equal(prologue_find((const unsigned char *)"\x0f\x1f\x44\x00\x00", 5, 2, &need, &p, &why), -ENOTSUP);
	assert_non_null(strstr(why, "five bytes"));
}

#define CASES                                                                                                          \
	cmocka_unit_test(points_are_what_every_kernel_emulates), cmocka_unit_test(what_is_cut_off_has_no_other_point), \
		cmocka_unit_test(every_push_of_one_register_is_a_point),                                               \
		cmocka_unit_test(what_follows_the_function_is_not_its),
#else

static void a_nop_at_the_beginning_is_the_only_point(void **state)
{
	static const unsigned char nop[] = { 0x1f, 0x20, 0x03, 0xd5 },
				   nop_later[] = { 0, 0, 0, 0, 0x1f, 0x20, 0x03, 0xd5 };
	const struct prologue_need need = { 0 };
	struct prologue_point p = { 1, true };
	const char *why = "";

	assert_int_equal(prologue_find(nop, sizeof(nop), sizeof(nop), &need, &p, &why), 0);
	assert_int_equal(p.at, 0);
	assert_false(p.not_zero);
	assert_int_equal(prologue_find(nop, sizeof(nop), sizeof(nop) - 1, &need, &p, &why), -ENOTSUP);
	assert_int_equal(prologue_find(nop_later, sizeof(nop_later), sizeof(nop_later), &need, &p, &why), -ENOTSUP);
	assert_non_null(strstr(why, "x86-64"));
}

#define CASES cmocka_unit_test(a_nop_at_the_beginning_is_the_only_point),
#endif

int main(void)
{
	const struct CMUnitTest tests[] = { CASES };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
