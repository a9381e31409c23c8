/* SPDX-License-Identifier: BSD-2-Clause */
/* Code objects of Python: what they are called, and the line of an instruction. */
#ifndef PRELOAD_PYTHON_CODE_H
#define PRELOAD_PYTHON_CODE_H

#include <stdbool.h>
#include <stdint.h>

struct python_layout;

/* Where the classes of objects are, by which wrong offsets are noticed. */
struct python_types {
	const void *code, *str;
};

/*
 * Writes to FRAME the number of CODE, which an event defines, and the line of its instruction INSTR (as the frame has
 * it). Returns false where this is no code object, or there are too many. SAFE: as for peek().
 */
bool python_code_frame(bool safe, const struct python_layout *l, const struct python_types *types, const char *code,
		       uint64_t instr, uint64_t *frame);

#endif
