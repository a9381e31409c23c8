/* SPDX-License-Identifier: BSD-2-Clause */
#include "python_code.h"

#include <string.h>

#include "dlt/alloc.h"
#include "numbers.h"
#include "peek.h"
#include "python_layout.h"
#include "thread.h"

#define STR_BYTES 128 /* of a string that are read at a time */
#define INSTR_MAX (1 << 26)

static struct numbers codes;

/* --- names ---------------------------------------------------------------------------------------------- */

static char *put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		*out++ = (char)c;
	} else if (c < 0x800) {
		*out++ = (char)(0xc0 | c >> 6);
		*out++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*out++ = (char)(0xe0 | c >> 12);
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	} else {
		*out++ = (char)(0xf0 | (c >> 18 & 7));
		*out++ = (char)(0x80 | (c >> 12 & 0x3f));
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	}
	return out;
}

static bool type_is(bool safe, const char *object, const void *type)
{
	const void *is = NULL;

	return peek(safe, &is, object + PYTHON_TYPE, sizeof(is)) && is == type;
}

/* Writes at most ROOM bytes of STR to OUT, with a NUL. Returns their number with it, 0: it cannot be read. */
static size_t text_of(bool safe, const struct python_layout *layout, const struct python_types *types, const char *str,
		      char *out, size_t room)
{
	char *at = out, *end = out + room - 5;
	uint64_t length = 0;
	uint32_t state = 0, kind;
	const char *data;

	if (!type_is(safe, str, types->str) || !peek(safe, &length, str + PYTHON_STR_LENGTH, sizeof(length)) ||
	    !peek(safe, &state, str + PYTHON_STR_STATE, sizeof(state)))
		return 0;
	kind = state >> 2 & 7;
	if (!(state >> 5 & 1) || (kind != 1 && kind != 2 && kind != 4)) /* not compact */
		return 0;
	data = str + (state >> 6 & 1 ? layout->str_ascii : layout->str_compact);
	for (uint64_t i = 0; i < length && at < end;) {
		unsigned char part[STR_BYTES];
		uint64_t n = STR_BYTES / kind < length - i ? STR_BYTES / kind : length - i;

		if (!peek(safe, part, data + i * kind, n * kind))
			return 0;
		for (uint64_t k = 0; k < n && at < end; k++) {
			uint32_t c = 0;

			memcpy(&c, part + k * kind, kind);
			at = put_utf8(at, c ?: '?');
		}
		i += n;
	}
	*at++ = '\0';
	return (size_t)(at - out);
}

static uint32_t number_of(bool safe, const struct python_layout *layout, const struct python_types *types,
			  const char *code)
{
	char text[DLT_ALLOC_PATH + DLT_ALLOC_FUNCTION];
	const char *file = NULL, *name = NULL;
	size_t len, name_len;
	uint64_t hash = 0;
	bool defined = false;
	uint32_t number;

	if (!peek(safe, &file, code + layout->co_file, sizeof(file)) ||
	    !peek(safe, &name, code + layout->co_name, sizeof(name)))
		return 0;
	len = text_of(safe, layout, types, file, text, DLT_ALLOC_PATH);
	if (!len)
		return 0;
	name_len = text_of(safe, layout, types, name, text + len, DLT_ALLOC_FUNCTION);
	if (!name_len)
		return 0;
	len += name_len;
	for (size_t i = 0; i < len; i++)
		hash = numbers_mix(hash ^ (unsigned char)text[i]);
	number = numbers_of(&codes, hash, &defined);
	if (number && !defined) {
		thread_define(DLT_ALLOC_CODE, number, 0, text, len);
		numbers_defined(&codes, number);
	}
	return number;
}

/* --- lines ---------------------------------------------------------------------------------------------- */

/* The bytes of a table, one after the other. */
struct table {
	bool safe;
	const char *next;
	uint64_t left; /* behind the part */
	unsigned int at, n; /* in the part */
	unsigned char part[STR_BYTES];
};

static bool table_byte(struct table *table, unsigned int *ret)
{
	if (table->at == table->n) {
		table->n = table->left < STR_BYTES ? (unsigned int)table->left : STR_BYTES;
		table->at = 0;
		if (!table->n || !peek(table->safe, table->part, table->next, table->n)) {
			table->n = 0;
			return false;
		}
		table->next += table->n;
		table->left -= table->n;
	}
	*ret = table->part[table->at++];
	return true;
}

static int line_lnotab(struct table *table, int line, int address)
{
	unsigned int bytes, lines;

	for (int at = 0; table_byte(table, &bytes) && table_byte(table, &lines);) {
		at += (int)bytes;
		if (at > address)
			break;
		line += (int8_t)lines;
	}
	return line;
}

static int line_linetable(struct table *table, int line, int address)
{
	int first = line;
	unsigned int bytes, lines;

	for (int end = 0; table_byte(table, &bytes) && table_byte(table, &lines);) {
		end += (int)bytes;
		if ((int8_t)lines != -128) /* no line */
			line += (int8_t)lines;
		if (end > address)
			return (int8_t)lines == -128 ? first : line;
	}
	return first;
}

static bool table_varint(struct table *table, unsigned int *ret)
{
	unsigned int byte = 0x40, value = 0;

	for (unsigned int shift = 0; byte & 0x40 && shift < 32; shift += 6) {
		if (!table_byte(table, &byte))
			return false;
		value |= (byte & 0x3f) << shift;
	}
	*ret = value;
	return true;
}

enum { LOCATION_ONE_LINE = 10, LOCATION_NO_COLUMNS = 13, LOCATION_LONG = 14, LOCATION_NONE = 15 };

static int line_locations(struct table *table, int line, int address)
{
	const int first = line;
	unsigned int byte, value;

	for (int end = 0; table_byte(table, &byte);) {
		unsigned int code = byte >> 3 & 15;

		if (!(byte & 0x80)) /* of the entry before */
			continue;
		end += 2 * (int)((byte & 7) + 1);
		if (code == LOCATION_NO_COLUMNS || code == LOCATION_LONG) {
			if (!table_varint(table, &value))
				break;
			line += value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
		} else if (code >= LOCATION_ONE_LINE && code < LOCATION_NO_COLUMNS) {
			line += (int)code - LOCATION_ONE_LINE;
		}
		if (end > address)
			return code == LOCATION_NONE ? first : line;
	}
	return first;
}

/* The place of INSTR in CODE, in bytes; -1: before its begin. */
static int address_of(const struct python_layout *l, const char *code, uint64_t instr)
{
	int64_t at = l->index_bytes ? (int64_t)(int32_t)instr * l->index_bytes :
				      (int64_t)(instr - (uintptr_t)(code + l->co_code));

	return at < 0 || at > INSTR_MAX ? -1 : (int)at;
}

static bool line_of(bool safe, const struct python_layout *layout, const char *code, uint64_t instr, uint32_t *ret)
{
	struct table t = { .safe = safe };
	int address = address_of(layout, code, instr), line = 0;
	const char *bytes = NULL;

	if (!peek(safe, &line, code + layout->co_first, sizeof(line)) ||
	    !peek(safe, &bytes, code + layout->co_lines, sizeof(bytes)) ||
	    !peek(safe, &t.left, bytes + PYTHON_VAR_SIZE, sizeof(t.left)) || t.left > INSTR_MAX)
		return false;
	t.next = bytes + PYTHON_BYTES;
	if (address >= 0) {
		if (layout->lines == PYTHON_LNOTAB)
			line = line_lnotab(&t, line, address);
		else if (layout->lines == PYTHON_LINETABLE)
			line = line_linetable(&t, line, address);
		else
			line = line_locations(&t, line, address);
	}
	*ret = line < 0 ? 0 : (uint32_t)line;
	return true;
}

bool python_code_frame(bool safe, const struct python_layout *l, const struct python_types *types, const char *code,
		       uint64_t instr, uint64_t *frame)
{
	uint32_t number, line = 0;

	if (!type_is(safe, code, types->code) || !line_of(safe, l, code, instr, &line))
		return false;
	number = number_of(safe, l, types, code);
	*frame = (uint64_t)number << 32 | line;
	return number != 0;
}
