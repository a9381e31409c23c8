/* SPDX-License-Identifier: BSD-2-Clause */
/* The open probe. A call that made its file is a row of create_del as well. */
#include "dlt/open.h"

#include <fcntl.h>

#include "base/util.h"
#include "dlt/create_del.h"
#include "drain/rows/decode.h"
#include "kernel/skel.h"
#include "kernel/syscalls.h"
#include "open.skel.h"
#include "trace/probe.h"

/* The kernel's O_LARGEFILE (asm/fcntl.h), which it adds itself; glibc's is 0 on 64 bit. */
#if defined(__aarch64__)
#define LARGEFILE_BIT 0400000
#elif defined(__powerpc64__)
#define LARGEFILE_BIT 0200000
#else
#define LARGEFILE_BIT 0100000
#endif

/* Access mode first. */
static const struct field_name flag_names[] = {
	{ O_RDONLY, "RDONLY", O_ACCMODE },
	{ O_WRONLY, "WRONLY", O_ACCMODE },
	{ O_RDWR, "RDWR", O_ACCMODE },
	{ O_APPEND, "APPEND" },
	{ O_ASYNC, "ASYNC" },
	{ O_CLOEXEC, "CLOEXEC" },
	{ O_CREAT, "CREAT" },
	{ O_DIRECT, "DIRECT" },
	{ O_SYNC, "SYNC", O_SYNC }, /* before DSYNC, which is one of its bits */
	{ O_DSYNC, "DSYNC" },
	{ O_EXCL, "EXCL" },
	{ LARGEFILE_BIT, "LARGEFILE" },
	{ O_NOATIME, "NOATIME" },
	{ O_NOCTTY, "NOCTTY" },
	{ O_NOFOLLOW, "NOFOLLOW" },
	{ O_NONBLOCK, "NONBLOCK" },
	{ O_PATH, "PATH" },
	{ O_TMPFILE, "TMPFILE", O_TMPFILE }, /* before DIRECTORY, likewise */
	{ O_DIRECTORY, "DIRECTORY" },
	{ O_TRUNC, "TRUNC" },
	{ 0, NULL },
};

static const struct field fields[] = {
	FIELDS_HEAD(struct dlt_open),
	FIELD_FUNC_OF(struct dlt_open),
	FIELD_LAT_OF(struct dlt_open),
	{ "VFS_LAT_NS", "the vfs_open() within it, ns; - if it was not seen", FIELD_S64,
	  offsetof(struct dlt_open, vfs_lat_ns) },
	{ "RET", "descriptor or -errno", FIELD_S64, offsetof(struct dlt_open, ret) },
	{ "FLAGS", "O_* as passed", FIELD_FLAGS, offsetof(struct dlt_open, flags), 0, 0, flag_names },
	{ "MODE", "permissions as passed, octal; - without O_CREAT or O_TMPFILE", FIELD_MODE,
	  offsetof(struct dlt_open, mode) },
	FIELD_FID_OF(struct dlt_open, file.id),
	FIELD_FILE_OF(struct dlt_open, file.id),
	{ "PATH", "path as passed, whole", FIELD_USTR, offsetof(struct dlt_open, segs), 0 },
	{ "REALPATH", "the opened file's path as seen from the process's root", FIELD_REALPATH,
	  offsetof(struct dlt_open, file), 1 },
};

/* The position is FUNC's number; entries without a call have no number. */
static const struct probe_call calls[] = {
	{ "creat", SYS_creat, DLT_OPEN_CREAT, "open_exit" },
	{ "open", SYS_open, DLT_OPEN_PLAIN, "open_exit" },
	{ "openat", SYS_openat, DLT_OPEN_AT, "open_exit" },
	{ "openat2", SYS_openat2, DLT_OPEN_HOW, "open_exit" },
	[DLT_OPEN_SNAPSHOT] = { "snapshot", -1 }, /* open before the trace */
	{ "io_uring:openat", -1 },
	{ "io_uring:openat2", -1 },
};
_Static_assert(ARRAY_SIZE(calls) - 3 == DLT_OPEN_SNAPSHOT, "the BPF side knows this number");

SKEL_OPENER(open)

/* The row of create_del: PATH as passed, made absolute. */
static void created_row(struct decode *decode, const struct dlt_open *rec)
{
	struct {
		struct dlt_create_del rec;
		char strings[2 * DLT_PATH_MAX];
	} row = { .rec = { .hdr = rec->hdr, .id = rec->file.id, .ret = 0, .named = DLT_CD_NAMED_SENT } };
	size_t path_len, base_len;
	const char *path = record_seg(&open_probe, rec, offsetof(struct dlt_open, segs), 0, &path_len);
	const char *base = record_seg(&open_probe, rec, offsetof(struct dlt_open, segs), 2, &base_len);

	if (path_len + base_len > sizeof(row.strings))
		return;
	row.rec.hdr.probe = DLT_create_del;
	row.rec.hdr.func = 0; /* "create", first in src/probes/calls/create_del.c */
	row.rec.hdr.size = (uint32_t)(sizeof(row.rec) + path_len + base_len);
	row.rec.segs.len[0] = (uint16_t)path_len;
	row.rec.segs.len[2] = (uint16_t)base_len;
	row.rec.mode = rec->mode;
	row.rec.flags = rec->flags;
	if (path)
		memcpy(row.strings, path, path_len);
	if (base)
		memcpy(row.strings + path_len, base, base_len);
	decode->counts[DLT_create_del].records++;
	decode_row(decode, DLT_create_del, &row.rec.hdr);
}

static void decode(struct decode *d, const struct dlt_hdr *hdr)
{
	const struct dlt_open *rec = (const void *)hdr;
	size_t len;
	const char *seg = record_seg(&open_probe, rec, offsetof(struct dlt_open, segs), 1, &len);

	if (rec->file.id.ino)
		decode_file(d, hdr, &rec->file, seg, len);
	decode_row(d, DLT_open, hdr);
	if (rec->created)
		created_row(d, rec);
}

static void running(const struct dlt_call *call, struct dlt_hdr *hdr)
{
	struct dlt_open *rec = (struct dlt_open *)hdr;
	bool at = call->shape == DLT_OPEN_AT || call->shape == DLT_OPEN_HOW;

	rec->ret = DLT_UNKNOWN;
	if (call->vfs_ns)
		rec->vfs_lat_ns = (int64_t)call->vfs_ns;
	else if (call->vfs_start_ns)
		rec->vfs_lat_ns = DLT_UNKNOWN;
	else
		rec->vfs_lat_ns = DLT_NONE;
	rec->flags = rec->mode = DLT_UNKNOWN;
	if (call->shape == DLT_OPEN_PLAIN || call->shape == DLT_OPEN_AT)
		rec->flags = (uint32_t)call->args[at + 1];
	running_str(hdr, &rec->segs, call->args[at], 0);
}

const struct probe open_probe = {
	.name = "open",
	.help = "open, openat, openat2, creat, with the path as passed and the path of the file",
	PROBE_FIELDS(fields),
	PROBE_CALLS(calls),
	.rec_size = sizeof(struct dlt_open),
	.flags = PROBE_SELECTABLE | PROBE_OF_TARGET | PROBE_OF_CALLS,
	.open = open_open,
	.decode = decode,
	.running = running,
};
