/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The create_del probe. System calls name files by path only: which file that is comes from the kernel's own look-up,
 * where the functions behind it can be hooked, else the FID is the one last known by the absolute path, if any.
 */
#include "dlt/create_del.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "base/util.h"
#include "create_del.skel.h"
#include "drain/rows/decode.h"
#include "drain/rows/names.h"
#include "kernel/btf.h"
#include "kernel/skel.h"
#include "kernel/syscalls.h"
#include "trace/files.h"
#include "trace/probe.h"

static const struct field_name by_names[] = {
	{ DLT_CD_NAMED_NONE, "-" },
	{ DLT_CD_NAMED_SENT, "kernel" },
	{ DLT_CD_NAMED_PATH, "path" },
	{},
};

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
	{ "PATH", "as passed, made absolute; links are not resolved", FIELD_ABS, offsetof(struct dlt_create_del, segs),
	  0, 2 },
	{ "PATH2", "the new name of rename and link; the text of symlink", FIELD_ABS,
	  offsetof(struct dlt_create_del, segs), 1, 3 },
	{ "FID_BY", "how FID is known: kernel (looked up), path (the file last known by this path)", FIELD_NAME,
	  offsetof(struct dlt_create_del, named), 0, 0, by_names },
};

static const struct probe_call calls[] = {
	{ "create", -1 }, /* an open that made its file: src/probes/calls/open.c */
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

/* The functions inside the calls, with the hook that is to be used. */
static int create_del_open(struct probe_object *object, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	int r = SKEL_OPEN(create_del, object, cfg, kernel);
	struct create_del_bpf *skel = object->owner;

	if (r < 0)
		return r;
	const struct {
		const char *func;
		struct bpf_program *fentry, *kprobe;
	} hooks[] = {
		{ "security_path_link", skel->progs.link_names, skel->progs.link_names_kprobe },
		{ "security_path_rename", skel->progs.rename_names, skel->progs.rename_names_kprobe },
		{ "security_path_rmdir", skel->progs.rmdir_names, skel->progs.rmdir_names_kprobe },
		{ "security_path_unlink", skel->progs.unlink_names, skel->progs.unlink_names_kprobe },
	};

	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++) {
		bool there = kernel_btf_func(kernel, "", hooks[i].func) >= 0;

		bpf_program__set_autoload(hooks[i].fentry, there && cfg->func_hook == DLT_FUNC_HOOK_FENTRY);
		bpf_program__set_autoload(hooks[i].kprobe, there && cfg->func_hook == DLT_FUNC_HOOK_KPROBE);
	}
	return 0;
}

/* What FUNC does when it succeeds. */
static enum names_deed deed_of(const struct dlt_create_del *rec, const char *func)
{
	static const struct {
		const char *part; /* of the name */
		enum names_deed deed;
	} deeds[] = {
		{ "unlink", NAMES_REMOVED }, { "rmdir", NAMES_REMOVED }, { "rename", NAMES_MOVED },
		{ "symlink", NAMES_MADE },   { "mkdir", NAMES_MADE },    { "mknod", NAMES_MADE },
		{ "link", NAMES_LINKED },
	};

	for (size_t i = 0; !rec->ret && i < ARRAY_SIZE(deeds); i++)
		if (strstr(func, deeds[i].part))
			/* DLT_NONE does not have that bit */
			return deeds[i].deed == NAMES_MOVED && rec->flags & RENAME_EXCHANGE ? NAMES_SWAPPED :
											      deeds[i].deed;
	return NAMES_NONE;
}

/* The file that REC's first path led to, by the path as passed. */
static struct dlt_file_id file_by_path(struct decode *decode, const struct dlt_create_del *rec, enum names_deed deed)
{
	const size_t segs = offsetof(struct dlt_create_del, segs);
	char path[RECORD_PATH_MAX], path2[RECORD_PATH_MAX];
	size_t len = record_abs_seg(path, &create_del_probe, rec, segs, 0, 2), len2 = 0;
	bool moved = deed == NAMES_MOVED || deed == NAMES_SWAPPED;

	if (moved || deed == NAMES_LINKED)
		len2 = record_abs_seg(path2, &create_del_probe, rec, segs, 1, 3);
	/* whatever was known by a path at which there was nothing has gone without our notice */
	if (deed == NAMES_MADE)
		files_forget_path(decode->ctx.files, rec->view, path, len);
	if (deed == NAMES_LINKED)
		files_forget_path(decode->ctx.files, rec->view, path2, len2);
	if (!len || deed == NAMES_MADE)
		return (struct dlt_file_id){};
	if (moved)
		return names_by_path(decode, &rec->hdr, rec->view, path, len, path2, len2, deed == NAMES_SWAPPED);
	return names_by_path(decode, &rec->hdr, rec->view, path, len, deed == NAMES_REMOVED ? NULL : path, len, false);
}

static void decode(struct decode *d, const struct dlt_hdr *hdr)
{
	const struct dlt_create_del *rec = (const struct dlt_create_del *)hdr;
	const char *func = calls[hdr->func < ARRAY_SIZE(calls) ? hdr->func : 0].name;
	char buf[sizeof(*rec) + 4UL * DLT_PATH_MAX];
	struct dlt_create_del *copy;
	enum names_deed deed;

	if (hdr->func == DLT_CD_FUNC_NAMED && hdr->size >= sizeof(struct dlt_cd_names)) {
		d->counts[DLT_create_del].records--; /* of a call whose own record is still to come */
		names_keep(d, (const struct dlt_cd_names *)hdr);
		return;
	}
	if (hdr->size > sizeof(buf)) {
		d->counts[DLT_create_del].bad++;
		return;
	}
	copy = (struct dlt_create_del *)memcpy(buf, rec, hdr->size);
	deed = deed_of(rec, func);
	if (rec->named != DLT_CD_NAMED_NONE)
		copy->id = names_found(d, rec, deed);
	else if (!strstr(func, "symlink") || deed == NAMES_MADE)
		copy->id = file_by_path(d, rec, deed);
	if (!copy->id.ino)
		copy->named = DLT_CD_NAMED_NONE;
	else if (rec->named)
		copy->named = DLT_CD_NAMED_SENT;
	else
		copy->named = DLT_CD_NAMED_PATH;
	decode_file_used(d, hdr, &copy->id);
	decode_row(d, DLT_create_del, &copy->hdr);
}

static void running(const struct dlt_call *call, struct dlt_hdr *hdr)
{
	struct dlt_create_del *rec = (struct dlt_create_del *)hdr;
	static const uint8_t path_arg[] = {
		[DLT_CD_MKDIRAT] = 1,   [DLT_CD_UNLINKAT] = 1, [DLT_CD_RENAMEAT] = 1, [DLT_CD_SYMLINK] = 1,
		[DLT_CD_SYMLINKAT] = 2, [DLT_CD_MKNODAT] = 1,  [DLT_CD_SHAPES] = 0,
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
	.flags = PROBE_SELECTABLE | PROBE_OF_TARGET | PROBE_OF_CALLS | PROBE_MORE_ROWS,
	.open = create_del_open,
	.decode = decode,
	.running = running,
};
