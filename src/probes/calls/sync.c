/* SPDX-License-Identifier: BSD-2-Clause */
/* The sync probe. truncate names its file by path: the FID is the one last known by it. */
#include "dlt/sync.h"

#include "drain/rows/decode.h"
#include "drain/rows/names.h"
#include "kernel/skel.h"
#include "kernel/syscalls.h"
#include "sync.skel.h"
#include "trace/probe.h"

static const struct field fields[] = {
	FIELDS_HEAD(struct dlt_sync),
	FIELD_FUNC_OF(struct dlt_sync),
	FIELD_LAT_OF(struct dlt_sync),
	{ "RET", "0 or -errno", FIELD_S64, offsetof(struct dlt_sync, ret) },
	{ "FD", "descriptor", FIELD_S64, offsetof(struct dlt_sync, fd) },
	{ "OFFSET", "start of the range, bytes", FIELD_S64, offsetof(struct dlt_sync, offset), .unit = "bytes" },
	{ "LEN", "length of the range, or the new size, bytes", FIELD_S64, offsetof(struct dlt_sync, len),
	  .unit = "bytes" },
	FIELD_FID_OF(struct dlt_sync, id),
	FIELD_FILE_OF(struct dlt_sync, id),
};

/* x86 makes __x64_sys_NAME of a call without arguments an alias, which BTF does not know. */
#ifdef __x86_64__
#define SYNC_FUNC "__do_sys_sync"
#else
#define SYNC_FUNC NULL
#endif

static const struct probe_call calls[] = {
	{ "fallocate", SYS_fallocate, DLT_SYNC_FALLOCATE, "sync_exit" },
	{ "fdatasync", SYS_fdatasync, DLT_SYNC_FD, "sync_exit" },
	{ "fsync", SYS_fsync, DLT_SYNC_FD, "sync_exit" },
	{ "ftruncate", SYS_ftruncate, DLT_SYNC_FTRUNCATE, "sync_exit" },
	{ "msync", SYS_msync, DLT_SYNC_MSYNC, "sync_exit" },
	{ "sync", SYS_sync, DLT_SYNC_NONE, "sync_exit", .func = SYNC_FUNC },
	{ "sync_file_range", SYS_sync_file_range, DLT_SYNC_RANGE, "sync_exit" },
	{ "syncfs", SYS_syncfs, DLT_SYNC_FD, "sync_exit" },
	{ "truncate", SYS_truncate, DLT_SYNC_TRUNCATE, "sync_exit" },
	/* requests, not calls: src/kernel/uring.c */
	{ "io_uring:fallocate", -1 },
	{ "io_uring:fdatasync", -1 },
	{ "io_uring:fsync", -1 },
	{ "io_uring:ftruncate", -1 },
	{ "io_uring:sync_file_range", -1 },
};

SKEL_OPENER(sync)

static void decode(struct decode *d, const struct dlt_hdr *hdr)
{
	struct dlt_sync rec = *(const struct dlt_sync *)hdr;
	char path[RECORD_PATH_MAX];
	size_t len = record_abs_seg(path, &sync_probe, hdr, offsetof(struct dlt_sync, segs), 0, 2);

	if (len)
		rec.id = names_by_path(d, hdr, rec.view, path, len, path, len, false);
	decode_file_used(d, hdr, &rec.id);
	decode_row(d, DLT_sync, &rec.hdr);
}

/* The numbers of the arguments that are OFFSET and LEN, 0: there is none (the first never is one). */
static const struct {
	uint8_t offset, len;
} range_args[] = {
	[DLT_SYNC_RANGE] = { 1, 2 },     [DLT_SYNC_MSYNC] = { 0, 1 },     [DLT_SYNC_TRUNCATE] = { 0, 1 },
	[DLT_SYNC_FTRUNCATE] = { 0, 1 }, [DLT_SYNC_FALLOCATE] = { 2, 3 },
};

static void running(const struct dlt_call *call, struct dlt_hdr *hdr)
{
	struct dlt_sync *rec = (struct dlt_sync *)hdr;
	bool fd = call->shape != DLT_SYNC_NONE && call->shape != DLT_SYNC_MSYNC && call->shape != DLT_SYNC_TRUNCATE;
	unsigned int offset = range_args[call->shape].offset, len = range_args[call->shape].len;

	rec->ret = DLT_UNKNOWN;
	rec->fd = fd ? (int32_t)call->args[0] : DLT_NONE;
	if (rec->fd == DLT_NONE32)
		rec->fd = DLT_NONE; /* a fixed file of io_uring */
	if (fd)
		rec->id = call->id;
	rec->offset = offset ? (int64_t)call->args[offset] : DLT_NONE;
	rec->len = len ? (int64_t)call->args[len] : DLT_NONE;
}

const struct probe sync_probe = {
	.name = "sync",
	.help = "fsync fdatasync sync_file_range msync syncfs sync truncate ftruncate fallocate",
	PROBE_FIELDS(fields),
	PROBE_CALLS(calls),
	.rec_size = sizeof(struct dlt_sync),
	.flags = PROBE_SELECTABLE | PROBE_OF_TARGET | PROBE_OF_CALLS,
	.open = sync_open,
	.decode = decode,
	.running = running,
};
