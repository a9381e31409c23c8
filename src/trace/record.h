/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Field tables: how a record of the ring becomes a row of text. Pure; does not know that BPF
 * exists, nor where the row goes.
 */
#ifndef TRACE_RECORD_H
#define TRACE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "dlt/dlt.h"

struct clock_map;
struct files;
struct probe;

enum field_kind {
	FIELD_TS,    /* u64, ns, as it is */
	FIELD_UTC,   /* the same u64 as UTC by the clock map */
	FIELD_U16,
	FIELD_U32,
	FIELD_S32,   /* DLT_NONE32 "-" */
	FIELD_U64,
	FIELD_S64,   /* DLT_NONE "-", DLT_UNKNOWN "?", as in all signed kinds below */
	FIELD_HEX,   /* u64 */
	FIELD_ADDR,  /* s64: an address in hex; 0 and -errno in decimal */
	FIELD_MODE,  /* s64: octal */
	FIELD_COMM,  /* char[16] */
	FIELD_STR,   /* char[arg], NUL-terminated when shorter */
	FIELD_FUNC,  /* u16: index in the probe's table of calls */
	FIELD_NAME,  /* u32: index in NAMES */
	FIELD_FLAGS, /* s64: bits by NAMES joined by '|', the rest in hex, "0" when none */
	FIELD_BITS,  /* u32: those bits that NAMES has, "-" when none */
	FIELD_FID,   /* struct dlt_file_id */
	FIELD_FILE,  /* the same: the last component of its path */
	FIELD_USTR,  /* segment ARG (struct dlt_segs at offset): a string as the program passed it */
	FIELD_ABS,   /* segment ARG: the same made absolute by the walked path in segment ARG2 */
	FIELD_REALPATH, /* struct dlt_file, then struct dlt_segs whose segment ARG is its path */
	FIELD_FILEDEV, FIELD_FILETYPE, FIELD_FILESTATE, /* struct dlt_file */
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
};

/* The columns that the rows of calls begin with; ARG of the first says so. */
#define FIELDS_HEAD(type)                                                                           \
	{ "TIMESTAMP", "CLOCK_MONOTONIC at the end of the operation, ns", FIELD_TS,                 \
	  offsetof(type, hdr.ts_ns), FIELDS_HEAD_N },                                               \
	{ "TIME", "the same instant in UTC", FIELD_UTC, offsetof(type, hdr.ts_ns) },                \
	{ "PID", "process (tgid), as the initial namespace sees it", FIELD_U32,                     \
	  offsetof(type, hdr.tgid) },                                                               \
	{ "TID", "thread", FIELD_U32, offsetof(type, hdr.tid) },                                    \
	{ "COMM", "name of the thread", FIELD_COMM, offsetof(type, hdr.comm) }
#define FIELD_FUNC_OF(type)                                                                         \
	{ "FUNC", "the call", FIELD_FUNC, offsetof(type, hdr.func) }
#define FIELD_LAT_OF(type)                                                                          \
	{ "LAT_NS", "duration, ns", FIELD_U64, offsetof(type, hdr.lat_ns) }
#define FIELD_FID_OF(type, member)                                                                  \
	{ "FID", "joins files.out", FIELD_FID, offsetof(type, member) }
#define FIELD_FILE_OF(type, member)                                                                 \
	{ "FILE", "last component of the file's path", FIELD_FILE, offsetof(type, member) }

/* PID, TID and COMM of a thread's last row, as text: most rows have those of one before them. */
#define RECORD_WHO_SLOTS 512 /* by tid */
struct record_who {
	uint32_t tgid, tid;
	char comm[DLT_COMM_LEN];
	uint8_t len; /* 0: none */
	char text[4 * DLT_COMM_LEN + 31]; /* two numbers of ten digits, a name that is all escapes, tabs */
};

/* A name of calls or values and its length, by address: rows have the same few. */
#define RECORD_NAME_SLOTS 64
struct record_name {
	const char *name;
	uint8_t len;
	char text[23];
};

/* What a row needs besides the record. */
struct record_ctx {
	const struct clock_map *clock;
	struct text_utc_cache *utc;
	struct text_ns_cache ts;
	struct files *files;
	struct record_who *who; /* RECORD_WHO_SLOTS of them, or NULL */
	struct file_entry *file; /* the one that was used last */
	struct record_name names[RECORD_NAME_SLOTS];
};

/* The entry of ID, as files_get(): a row asks for its file three times. */
struct file_entry *record_file(struct record_ctx *ctx, const struct dlt_file_id *id);

/* One row of P from REC at OUT (SINK_ROW_MAX bytes), newline included; the new end. */
char *record_put_row(char *out, const struct probe *p, const void *rec, struct record_ctx *ctx);

/* Both header lines of P's file; the new end. */
char *record_put_header(char *out, const struct probe *p);

#define RECORD_SEG_MAX (DLT_PATH_MAX + 1) /* a line of the workload's output with its NUL */

/*
 * Segment I of REC, a record of P with its struct dlt_segs at SEGS_OFFSET, with its NUL: NULL and 0
 * when empty, too long, or beyond the record's end.
 */
const char *record_seg(const struct probe *p, const void *rec, size_t segs_offset, unsigned int i,
		       size_t *len_ret);

#define RECORD_PATH_MAX (2 * RECORD_SEG_MAX + 64)

/*
 * A walked path (components from last to first, each with its NUL) as "/a/b" in DST of
 * RECORD_PATH_MAX bytes: its length. No components: "/".
 */
size_t record_path(char *dst, const char *seg, size_t len);

/*
 * User string S in DST, made absolute by the walked path BASE; "." and doubled "/" taken out, ".."
 * and links left as they are. BASE NULL and S relative: S as it is.
 */
size_t record_abs(char *dst, const char *s, size_t s_len, const char *base, size_t base_len);

/*
 * The path of a described file as files.out and open.out print it; also of pipes, sockets, memfds. 0
 * for one that was never described.
 */
size_t record_realpath(char *dst, const struct dlt_file *file, const char *seg, size_t len);

#endif
