/* SPDX-License-Identifier: BSD-2-Clause */
/* A column of a trace file: the part of a record that it shows, and its form. Const data. */
#ifndef TRACE_FIELD_H
#define TRACE_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include "dlt/dlt.h"

enum field_kind {
	FIELD_TS, /* u64, ns, unchanged */
	FIELD_UTC, /* u64 as UTC by the clock map */
	FIELD_U16,
	FIELD_U32,
	FIELD_S32, /* DLT_NONE32 "-" */
	FIELD_U64,
	FIELD_SIZE, /* u64, DLT_NO_SIZE "-" */
	FIELD_S64, /* DLT_NONE "-", DLT_UNKNOWN "?", as in all signed kinds below */
	FIELD_HEX, /* u64 */
	FIELD_ADDR, /* s64: an address in hex; 0 and -errno in decimal */
	FIELD_MODE, /* s64: octal */
	FIELD_COMM, /* char[16] */
	FIELD_STR, /* char[arg], NUL-terminated when shorter */
	FIELD_WORD, /* likewise, of a set that all machines share: no name of the user's */
	FIELD_FUNC, /* u16: index in the table of calls of the probe ARG, 0: the row's own */
	FIELD_NAME, /* u32: index in NAMES */
	FIELD_FLAGS, /* s64: bits by NAMES joined by '|', the rest in hex (shifted down by ARG), "0" when none */
	FIELD_BITS, /* u32: those bits that NAMES has, "-" when none */
	FIELD_FID, /* struct dlt_file_id */
	FIELD_FILE, /* struct dlt_file_id: the last component of its path */
	FIELD_USTR, /* segment ARG (struct dlt_segs at offset): a string as the program passed it */
	FIELD_STACK, /* likewise: addresses where the column KIND is "native", else a name */
	FIELD_ABS, /* segment ARG, made absolute by the walked path in segment ARG2 */
	FIELD_REALPATH, /* struct dlt_file, then struct dlt_segs whose segment ARG is its path */
	FIELD_FILEDEV,
	FIELD_FILETYPE,
	FIELD_FILESTATE, /* struct dlt_file */
	FIELD_REALDEV,
	FIELD_REALINO, /* struct dlt_file_at: "-" where there is none */
	FIELD_PEER, /* struct dlt_peer */
	FIELD_LOG2, /* u32[arg]: element N counts values from 2^N on; as 2^N=count of those that are not 0 */
};

/* A value or bit and its name; ends with name NULL. MASK 0: VALUE is its own mask. */
struct field_name {
	uint64_t value;
	const char *name;
	uint64_t mask;
};

#define FIELDS_HEAD_N 5
struct field {
	const char *name; /* the column */
	const char *help; /* one line, with the unit */
	enum field_kind kind;
	uint16_t offset;
	uint8_t arg, arg2;
	const struct field_name *names;
	const char *unit; /* bytes, pages, sectors; NULL: ns where NAME ends in _NS, else none */
};

/* The time of the row, which HELP describes: the first columns of all. */
#define FIELDS_TIME(help, at, ...)                               \
	{ "TIMESTAMP", help, FIELD_TS, at, ##__VA_ARGS__ },      \
	{                                                        \
		"TIME", "the same instant in UTC", FIELD_UTC, at \
	}
/* The columns that rows of calls begin with; the first one's ARG marks them. */
#define FIELDS_HEAD(type)                                                                                           \
	FIELDS_TIME("CLOCK_MONOTONIC at the end of the operation, ns", offsetof(type, hdr.ts_ns), FIELDS_HEAD_N),   \
		{ "PID", "process (tgid), as the initial namespace sees it", FIELD_U32, offsetof(type, hdr.tgid) }, \
		{ "TID", "thread", FIELD_U32, offsetof(type, hdr.tid) },                                            \
	{                                                                                                           \
		"COMM", "name of the thread", FIELD_COMM, offsetof(type, hdr.comm)                                  \
	}
#define FIELD_FUNC_OF(type)                                              \
	{                                                                \
		"FUNC", "the call", FIELD_FUNC, offsetof(type, hdr.func) \
	}
#define FIELD_LAT_OF(type)                                                      \
	{                                                                       \
		"LAT_NS", "duration, ns", FIELD_U64, offsetof(type, hdr.lat_ns) \
	}
#define FIELD_FID_OF(type, member)                                          \
	{                                                                   \
		"FID", "joins files.out", FIELD_FID, offsetof(type, member) \
	}
#define FIELD_FILE_OF(type, member)                                                             \
	{                                                                                       \
		"FILE", "last component of the file's path", FIELD_FILE, offsetof(type, member) \
	}

/*
 * Size of a segment in bytes, such as a line of the workload's output with its NUL; of a path that is made
 * of two.
 */
#define RECORD_SEG_MAX (DLT_PATH_MAX + 1)
#define RECORD_PATH_MAX (2 * RECORD_SEG_MAX + 64)

#endif
