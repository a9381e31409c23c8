/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Field tables: how a record of the ring becomes a row of text. Pure; does not know that BPF exists, nor
 * the destination of the row.
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

/* PID, TID and COMM of a thread's last row, as text: most rows repeat those of an earlier one. */
#define RECORD_THREAD_SLOTS 512 /* by tid */
struct record_thread {
	uint32_t tgid, tid;
	char comm[DLT_COMM_LEN];
	uint8_t len; /* 0: none */
	char text[4 * DLT_COMM_LEN + 31]; /* two numbers of ten digits, a name that is all escapes, tabs */
};

/* A name of calls or values and its length, by address: rows repeat the same few. */
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
	struct record_thread *threads; /* RECORD_THREAD_SLOTS of them, or NULL */
	struct file_entry *file; /* the one that was used last */
	struct record_name names[RECORD_NAME_SLOTS];
};

/* files_get() for the entry of ID: a row looks up its file three times. */
struct file_entry *record_file(struct record_ctx *ctx, const struct dlt_file_id *id);

/* Writes one row of PROBE from REC at OUT (SINK_ROW_MAX bytes), newline included; returns the new end. */
char *record_put_row(char *out, const struct probe *probe, const void *rec, struct record_ctx *ctx);

/* Writes both header lines of P's file; returns the new end. */
char *record_put_header(char *out, const struct probe *p);

/*
 * Returns segment I of REC, a record of PROBE with its struct dlt_segs at SEGS_OFFSET, NUL included: NULL and 0
 * when empty, too long, or beyond the record's end.
 */
const char *record_seg(const struct probe *probe, const void *rec, size_t segs_offset, unsigned int i, size_t *len_ret);

/*
 * Writes a walked path (components from last to first, each with its NUL) as "/a/b" to DST of
 * RECORD_PATH_MAX bytes; returns its length. No components: "/".
 */
size_t record_path(char *dst, const char *seg, size_t len);

/*
 * Writes user string S to DST, made absolute by the walked path BASE; "." and doubled "/" are removed, ".."
 * and links stay. BASE NULL and S relative: S unchanged.
 */
size_t record_abs(char *dst, const char *s, size_t s_len, const char *base, size_t base_len);
/* record_abs() for segment I of REC and the walked path in segment BASE, as by record_seg(). */
size_t record_abs_seg(char *dst, const struct probe *p, const void *rec, size_t segs_offset, unsigned int i,
		      unsigned int base);

/*
 * Writes the path of a described file as files.out and open.out print it; also of pipes, sockets, memfds.
 * Returns 0 for one that was never described.
 */
size_t record_realpath(char *dst, const struct dlt_file *file, const char *seg, size_t len);

#endif
