/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first instructions of a function, as machine code, and the one among them that may have a uprobe: one that the
 * kernel emulates. Any other one is executed as a copy, with a trap behind it, which takes four times as long. Knows no
 * file.
 */
#ifndef KERNEL_UPROBE_PROLOGUE_H
#define KERNEL_UPROBE_PROLOGUE_H

#include <stdbool.h>
#include <stddef.h>

/* The registers of arguments on x86-64, by the numbers that instructions give them, as bits. */
enum prologue_args { PROLOGUE_ARG1 = 1 << 7, PROLOGUE_ARG2 = 1 << 6, PROLOGUE_ARG3 = 1 << 2, PROLOGUE_ARG4 = 1 << 1 };

struct prologue_need {
	unsigned int args; /* these still have their values */
	bool returns; /* the return address is still on top of the stack: for a probe on the return */
};

struct prologue_point {
	unsigned int at; /* bytes behind the function's first one */
	bool not_zero; /* a call with 0 as its first argument does not come there */
};

#define PROLOGUE_MAX 64 /* a longer beginning is not looked at */

/*
 * CODE: LEN bytes, of which the first OWN are the function's. Returns 0 with the point, or -ENOTSUP with a phrase in
 * *WHY_RET. On other processors than x86-64 only a nop that the function begins with is a point.
 */
int prologue_find(const unsigned char *code, size_t len, size_t own, const struct prologue_need *need,
		  struct prologue_point *ret, const char **why_ret);

#endif
