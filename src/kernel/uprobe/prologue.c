/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See prologue.h. Points are what every Linux from 5.8 on emulates on x86-64 (arch/x86/kernel/uprobes.c): in
 * push_setup_xol_ops() a push of a register, and in branch_setup_xol_ops() the nop of one byte, jmp and call.
 * Conditional jumps, which it emulates, too, are no points here: a loop may begin with one.
 */
#include "kernel/uprobe/prologue.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/util.h"

static bool begins_with(const unsigned char *code, size_t len, const unsigned char *what, size_t n)
{
	return len >= n && !memcmp(code, what, n);
}

#if defined(__x86_64__)

#define REX_W 0x48
#define REX_B 0x41
#define RDI 7

/* The operand of an instruction that it writes to. */
enum writes { NOTHING, OPCODE_REG, MODRM_REG, MODRM_RM };

enum effect {
	PASSED, /* behind it all is as before, but for what it writes to */
	STACK, /* it moves the stack pointer */
	POINT, /* a probe may be on it */
	POINT_REX_B, /* if it has no prefix but this one */
	POINT_FIRST, /* if it comes first: later ones may begin a loop */
	ZERO, /* a jump that is taken where what was tested is 0 */
};

/* What may come before a point, and points. */
static const struct form {
	uint8_t op, op_mask;
	bool modrm; /* there is a second byte: */
	uint8_t modrm_is, modrm_mask;
	uint8_t more; /* bytes behind these */
	enum writes writes;
	enum effect effect;
} forms[] = {
	{ 0x50, 0xf8, .effect = POINT_REX_B }, /* push %reg */
	{ 0x90, 0xff, .effect = POINT }, /* nop */
	{ 0xe9, 0xff, .more = 4, .effect = POINT }, /* jmp */
	{ 0xeb, 0xff, .more = 1, .effect = POINT },
	{ 0xe8, 0xff, .more = 4, .effect = POINT_FIRST }, /* call */
	{ 0x74, 0xff, .more = 1, .effect = ZERO }, /* je */
	{ 0x0f, 0xff, true, 0x84, 0xff, .more = 4, .effect = ZERO },
	{ 0x31, 0xff, true, 0xc0, 0xc0, .writes = MODRM_RM }, /* xor %reg, %reg */
	{ 0x33, 0xff, true, 0xc0, 0xc0, .writes = MODRM_REG },
	{ 0x39, 0xfd, true, 0xc0, 0xc0 }, /* cmp %reg, %reg */
	{ 0x85, 0xff, true, 0xc0, 0xc0 }, /* test %reg, %reg */
	{ 0x89, 0xff, true, 0xc0, 0xc0, .writes = MODRM_RM }, /* mov %reg, %reg */
	{ 0x8b, 0xff, true, 0xc0, 0xc0, .writes = MODRM_REG },
	{ 0x8b, 0xfd, true, 0x05, 0xc7, .more = 4, .writes = MODRM_REG }, /* mov symbol(%rip), %reg */
	{ 0x8d, 0xff, true, 0x05, 0xc7, .more = 4, .writes = MODRM_REG }, /* lea symbol(%rip), %reg */
	{ 0xb8, 0xf8, .more = 4, .writes = OPCODE_REG }, /* mov $number, %reg */
	{ 0x80, 0xff, true, 0x3d, 0xff, .more = 5 }, /* cmp $number, symbol(%rip) */
	{ 0x83, 0xff, true, 0x3d, 0xff, .more = 5 },
	{ 0x81, 0xff, true, 0x3d, 0xff, .more = 8 },
	{ 0x83, 0xff, true, 0xf8, 0xf8, .more = 1 }, /* cmp $number, %reg */
	{ 0x81, 0xff, true, 0xf8, 0xf8, .more = 4 },
	{ 0x83, 0xff, true, 0xec, 0xff, .more = 1, .effect = STACK }, /* sub $number, %rsp */
	{ 0x81, 0xff, true, 0xec, 0xff, .more = 4, .effect = STACK },
};

/* Instructions that write to nothing, or to %rax alone. */
static const struct {
	uint8_t n, code[9];
} fixed[] = {
	{ 4, { 0xf3, 0x0f, 0x1e, 0xfa } }, /* endbr64 */
	{ 2, { 0x66, 0x90 } }, /* longer nops: only Linux 6.18 emulates them */
	{ 3, { 0x0f, 0x1f, 0x00 } },
	{ 4, { 0x0f, 0x1f, 0x40, 0x00 } },
	{ 6, { 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00 } },
	{ 7, { 0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00 } },
	{ 8, { 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00 } },
	{ 9, { 0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0x00, 0x00, 0x00 } }, /* mov %fs:40, %rax: the stack protector */
};

/* One instruction. */
struct step {
	const struct form *form; /* NULL: one of the fixed ones */
	uint8_t rex, opcode, modrm;
	size_t len; /* 0: not known, or cut off */
};

static struct step step_fixed(const unsigned char *code, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		if (len >= fixed[i].n && !memcmp(code, fixed[i].code, fixed[i].n))
			return (struct step){ .len = fixed[i].n };
	return (struct step){ 0 };
}

static bool form_is(const struct form *f, const unsigned char *code, size_t len)
{
	if (len < 1 || (code[0] & f->op_mask) != f->op)
		return false;
	return !f->modrm || (len > 1 && (code[1] & f->modrm_mask) == f->modrm_is);
}

static struct step step_read(const unsigned char *code, size_t len)
{
	struct step s = step_fixed(code, len);
	size_t rex = len && (code[0] & 0xf0) == 0x40;

	for (size_t i = 0; !s.len && i < ARRAY_SIZE(forms); i++) {
		const struct form *f = &forms[i];
		size_t n = rex + 1 + f->modrm + f->more;

		if (!form_is(f, code + rex, len - rex))
			continue;
		if (rex && code[0] & REX_W & 0x0f && f->writes == OPCODE_REG)
			n += 4; /* a number of 64 bits */
		if (n > len)
			break;
		s = (struct step){ f, rex ? code[0] : 0, code[rex], f->modrm ? code[rex + 1] : 0, n };
	}
	return s;
}

/* The number of the register that STEP writes to, as a bit. */
static unsigned int step_writes(const struct step *step)
{
	const unsigned int r = step->rex & 4 ? 8 : 0, b = step->rex & 1 ? 8 : 0; /* REX.R, REX.B */

	switch (step->form ? step->form->writes : NOTHING) {
	case OPCODE_REG:
		return 1U << ((step->opcode & 7) | b);
	case MODRM_REG:
		return 1U << ((step->modrm >> 3 & 7) | r);
	case MODRM_RM:
		return 1U << ((step->modrm & 7) | b);
	default:
		return 0;
	}
}

static bool step_tests_arg1(const struct step *s)
{
	return s->rex == REX_W && s->opcode == 0x85 && s->modrm == (0xc0 | RDI << 3 | RDI);
}

static bool step_is_point(const struct step *step, size_t at)
{
	const bool prefix = step->rex && !(step->rex == REX_B && step->form->effect == POINT_REX_B);

	switch (step->form->effect) {
	case POINT:
	case POINT_REX_B:
		return !prefix;
	case POINT_FIRST:
		return !prefix && !at;
	default:
		return false;
	}
}

/* Whether what STEP does leaves all that NEED is about; TESTED: the instruction before tested the first argument. */
static bool step_passes(const struct step *step, const struct prologue_need *need, bool tested)
{
	const unsigned int stack_pointer = 1U << 4, written = step_writes(step);

	if (!step->len || written & (need->args | stack_pointer))
		return false;
	switch (step->form ? step->form->effect : PASSED) {
	case PASSED:
		return true;
	case STACK:
		return !need->returns;
	case ZERO:
		return tested && !step->rex;
	default:
		return false;
	}
}

int prologue_find(const unsigned char *code, size_t len, size_t own, const struct prologue_need *need,
		  struct prologue_point *ret, const char **why_ret)
{
	static const unsigned char nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	bool tested = false, not_zero = false;
	struct step s = { .len = 1 };

	*why_ret = "none of its first instructions is one that the kernel emulates (push, nop, jmp), so each call "
		   "would be "
		   "stepped through";
	own = MIN(MIN(own, len), (size_t)PROLOGUE_MAX);
	for (size_t at = 0; s.len; at += s.len) {
		/* by whichever symbol: the kernel knows none */
		if (begins_with(code + at, len - at, nop5, sizeof(nop5))) {
			*why_ret = "it begins with a nop of five bytes, at which some kernels end forked children";
			break;
		}
		s = step_read(code + at, own - at);
		if (s.form && step_is_point(&s, at)) {
			*ret = (struct prologue_point){ (unsigned int)at, not_zero };
			return 0;
		}
		if (!step_passes(&s, need, tested))
			break;
		not_zero |= s.form && s.form->effect == ZERO;
		tested = s.form && step_tests_arg1(&s);
	}
	return -ENOTSUP;
}

#else

/* Nothing is decoded. The nop is what our own library has: stepped through or not, it does the same from any place. */
int prologue_find(const unsigned char *code, size_t len, size_t own, const struct prologue_need *need,
		  struct prologue_point *ret, const char **why_ret)
{
	static const unsigned char nop[] = { 0x1f, 0x20, 0x03, 0xd5 }; /* of arm64 */

	if (begins_with(code, MIN(len, own), nop, sizeof(nop))) {
		*ret = (struct prologue_point){ 0 };
		return 0;
	}
	*why_ret = "instructions are decoded on x86-64 only";
	return -ENOTSUP;
}

#endif
