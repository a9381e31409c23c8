/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the versions of CPython keep what we read: offsets in bytes, from the headers of each. */
#ifndef PRELOAD_PYTHON_LAYOUT_H
#define PRELOAD_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* How the lines of a code object are written down. */
enum python_lines {
	PYTHON_LNOTAB, /* 3.9: a byte of code and one of lines each */
	PYTHON_LINETABLE, /* 3.10: PEP 626 */
	PYTHON_LOCATIONS, /* from 3.11 on: PEP 657 */
};

#define PYTHON_NONE 0xffff /* the version has no such member */

struct own_word;

struct python_layout {
	unsigned int version; /* major << 8 | minor */
	enum python_lines lines;
	uint16_t main_thread; /* in _PyRuntime */
	uint16_t state_frame; /* PyThreadState: the innermost frame, or what points to it: */
	uint16_t cframe_frame;
	uint16_t state_interp,
		interp_id; /* PyThreadState, PyInterpreterState: where CO_VERSION is of one interpreter */
	uint16_t prev, code, instr; /* of a frame; bits of CODE that are no address: CODE_TAG; INSTR: */
	uint8_t code_tag;
	uint8_t index_bytes; /* an int, of so many bytes each; 0: a pointer into the code */
	uint16_t owner; /* of a frame: a byte */
	uint16_t co_file, co_name, co_first, co_lines, co_version, co_code; /* of a code object */
	uint16_t str_ascii, str_compact; /* sizes of the heads of strings */
	const struct own_word *own_words; /* what the interpreter itself must say of this; NULL: before 3.13 */
};

#define PYTHON_OWNED_BY_C 3 /* OWNER, from here on: a frame between C and Python, without a line */

/* Objects of all these versions. */
#define PYTHON_TYPE 8
#define PYTHON_VAR_SIZE 16
#define PYTHON_BYTES 32
#define PYTHON_STR_LENGTH 16
#define PYTHON_STR_HASH 24
#define PYTHON_STR_STATE 32

/* Returns the layout of VERSION (PY_VERSION_HEX) with that _PyRuntime; NULL: not known. */
const struct python_layout *python_layout(uint32_t version, const char *runtime);

#endif
