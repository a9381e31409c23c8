/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The create_del probe. System calls name files by path only: the FID is the one last known by the absolute
 * path, if any.
 */
#include "dlt/create_del.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "create_del.skel.h"
#include "drain/decode.h"
#include "kernel/skel.h"
#include "kernel/syscalls.h"
#include "trace/probe.h"

/* FLAGS has O_* for create, AT_* or RENAME_* for the others: their number decides. */
static const struct field fields[] = {
	FIELDS_HEAD(struct dlt_create_del),
	FIELD_FUNC_OF(struct dlt_create_del),
	FIELD_LAT_OF(struct dlt_create_del),
	{ "RET", "0 or -errno", FIELD_S64, offsetof(struct dlt_create_del, ret) },
	{ "MODE", "permissions as passed, octal; of mknod with the type", FIELD_MODE,
	  offsetof(struct dlt_create_del, mode) },
	{ "FLAGS", "O_* (create), AT_* (unlinkat, linkat), RENAME_* (renameat2), in hex", FIELD_ADDR,
	  offsetof(struct dlt_create_del, flags) },
	FIELD_FID_OF(struct dlt_create_del, id),
	{ "PATH", "as passed, made absolute without resolving links", FIELD_ABS,
	  offsetof(struct dlt_create_del, segs), 0, 2 },
	{ "PATH2", "the new name of rename and link; the text of symlink", FIELD_ABS,
	  offsetof(struct dlt_create_del, segs), 1, 3 },
};

static const struct probe_call calls[] = {
	{ "create", -1 }, /* an open that made its file: src/probes/open.c */
	{ "link", SYS_link, DLT_CD_RENAME, "create_del_exit" },
	{ "linkat", SYS_linkat, DLT_CD_RENAMEAT, "create_del_exit" },
	{ "mkdir", SYS_mkdir, DLT_CD_MKDIR, "create_del_exit" },
	{ "mkdirat", SYS_mkdirat, DLT_CD_MKDIRAT, "create_del_exit" },
	{ "mknod", SYS_mknod, DLT_CD_MKNOD, "create_del_exit" },
	{ "mknodat", SYS_mknodat, DLT_CD_MKNODAT, "create_del_exit" },
	{ "rename", SYS_rename, DLT_CD_RENAME, "create_del_exit" },
	{ "renameat", SYS_renameat, DLT_CD_RENAMEAT | DLT_CD_NO_FLAGS, "create_del_exit" },
	{ "renameat2", SYS_renameat2, DLT_CD_RENAMEAT, "create_del_exit" },
	{ "rmdir", SYS_rmdir, DLT_CD_UNLINK, "create_del_exit" },
	{ "symlink", SYS_symlink, DLT_CD_SYMLINK, "create_del_exit" },
	{ "symlinkat", SYS_symlinkat, DLT_CD_SYMLINKAT, "create_del_exit" },
	{ "unlink", SYS_unlink, DLT_CD_UNLINK, "create_del_exit" },
	{ "unlinkat", SYS_unlinkat, DLT_CD_UNLINKAT, "create_del_exit" },
	/* requests, not calls: src/kernel/uring.c */
	{ "io_uring:linkat", -1 },
	{ "io_uring:mkdirat", -1 },
	{ "io_uring:renameat", -1 },
	{ "io_uring:symlinkat", -1 },
	{ "io_uring:unlinkat", -1 },
};

SKEL_OPENER(create_del)

static void decode(struct decode *d, const struct dlt_hdr *hdr)
{
	struct dlt_create_del *rec = (struct dlt_create_del *)hdr; /* the drain's own copy or page */
	const size_t segs = offsetof(struct dlt_create_del, segs);
	const char *func = calls[hdr->func < ARRAY_SIZE(calls) ? hdr->func : 0].name;
	char path[RECORD_PATH_MAX], path2[RECORD_PATH_MAX];
	struct dlt_create_del *copy;
	char buf[sizeof(*rec) + 4UL * DLT_PATH_MAX];
	size_t len, len2 = 0;
	bool gone, moved, swapped;

	if (hdr->size > sizeof(buf)) {
		d->counts[DLT_create_del].bad++;
		return;
	}
	copy = (struct dlt_create_del *)memcpy(buf, rec, hdr->size);
	len = record_abs_seg(path, &create_del_probe, rec, segs, 0, 2);
	gone = !rec->ret && (strstr(func, "unlink") || !strcmp(func, "rmdir"));
	moved = !rec->ret && strstr(func, "rename");
	swapped = moved && rec->flags & RENAME_EXCHANGE; /* DLT_NONE does not have that bit */
	if (moved)
		len2 = record_abs_seg(path2, &create_del_probe, rec, segs, 1, 3);
	if (len && !strstr(func, "symlink"))
		copy->id = decode_path_moved(d, hdr, path, len, moved ? path2 : gone ? NULL : path,
					     moved ? len2 : len, swapped);
	decode_file_used(d, hdr, &copy->id);
	decode_row(d, DLT_create_del, &copy->hdr);
}

static void running(const struct dlt_call *call, struct dlt_hdr *hdr)
{
	struct dlt_create_del *rec = (struct dlt_create_del *)hdr;
	static const uint8_t path_arg[] = {
		[DLT_CD_MKDIRAT] = 1, [DLT_CD_UNLINKAT] = 1, [DLT_CD_RENAMEAT] = 1,
		[DLT_CD_SYMLINK] = 1, [DLT_CD_SYMLINKAT] = 2, [DLT_CD_MKNODAT] = 1,
		[DLT_CD_SHAPES] = 0,
	};

	rec->ret = rec->mode = rec->flags = DLT_UNKNOWN;
	running_str(hdr, &rec->segs, call->args[path_arg[call->shape & ~DLT_CD_NO_FLAGS]], 0);
}

const struct probe create_del_probe = {
	.name = "create_del",
	.help = "files created, and mkdir, rmdir, unlink, rename, link, symlink, mknod",
	PROBE_FIELDS(fields),
	PROBE_CALLS(calls),
	.rec_size = sizeof(struct dlt_create_del),
	.needs = DLT_open,
	.flags = PROBE_SELECTABLE | PROBE_OF_TARGET,
	.open = create_del_open,
	.decode = decode,
	.running = running,
};
