/* SPDX-License-Identifier: BSD-2-Clause */
/* The meta probe: calls about files' metadata that took long; each, where --probes names it. meta_sums has them all. */
#include "probes/calls/meta.h"

#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

#include "kernel/skel.h"
#include "kernel/syscalls.h"
#include "meta.skel.h"
#include "trace/probe.h"

#define COMMAND(name)                                \
	{                                            \
		DLT_META_COMMAND(name), #name, ~0ULL \
	}
#define REQUEST(name)                                \
	{                                            \
		DLT_META_REQUEST(name), #name, ~0ULL \
	}

const struct field_name meta_request_names[] = {
	COMMAND(F_DUPFD), /* 0: what is left once another name has been found would match it */
	{ DLT_META_REQUEST(0), "0", ~0ULL },
	COMMAND(F_ADD_SEALS),
	COMMAND(F_DUPFD_CLOEXEC),
	COMMAND(F_GETFD),
	COMMAND(F_GETFL),
	COMMAND(F_GETLEASE),
	COMMAND(F_GETLK),
	COMMAND(F_GETOWN),
	COMMAND(F_GETPIPE_SZ),
	COMMAND(F_GET_SEALS),
	COMMAND(F_NOTIFY),
	COMMAND(F_OFD_GETLK),
	COMMAND(F_OFD_SETLK),
	COMMAND(F_OFD_SETLKW),
	COMMAND(F_SETFD),
	COMMAND(F_SETFL),
	COMMAND(F_SETLEASE),
	COMMAND(F_SETLK),
	COMMAND(F_SETLKW),
	COMMAND(F_SETOWN),
	COMMAND(F_SETPIPE_SZ),
	COMMAND(F_SETSIG),
	REQUEST(BLKGETSIZE64),
	REQUEST(BLKSSZGET),
	REQUEST(FICLONE),
	REQUEST(FICLONERANGE),
	REQUEST(FIOASYNC),
	REQUEST(FIOCLEX),
	REQUEST(FIONBIO),
	REQUEST(FIONCLEX),
	REQUEST(FIONREAD),
	REQUEST(FS_IOC_FIEMAP),
	REQUEST(FS_IOC_GETFLAGS),
	REQUEST(FS_IOC_SETFLAGS),
	REQUEST(TCGETS),
	REQUEST(TCSETS),
	REQUEST(TIOCGPGRP),
	REQUEST(TIOCGWINSZ),
	REQUEST(TIOCSPGRP),
	{},
};

static const struct field fields[] = {
	FIELDS_HEAD(struct dlt_meta),
	FIELD_FUNC_OF(struct dlt_meta),
	FIELD_LAT_OF(struct dlt_meta),
	{ "RET", "result or -errno", FIELD_S64, offsetof(struct dlt_meta, ret) },
	{ "FD",
	  "descriptor; of a call with a path, that of the folder which it is relative to, - the working directory",
	  FIELD_S64, offsetof(struct dlt_meta, fd) },
	{ "REQUEST", "of ioctl the request, of fcntl the command, in hex if its name is not known", FIELD_FLAGS,
	  offsetof(struct dlt_meta, key.request), 32, .names = meta_request_names },
	FIELD_FID_OF(struct dlt_meta, id),
	FIELD_FILE_OF(struct dlt_meta, id),
	{ "PATH", "as passed, made absolute; links are not resolved; - for a call on a descriptor", FIELD_ABS,
	  offsetof(struct dlt_meta, segs), 0, 2 },
};

#define CALL(name, shape, func) { #name, SYS_##name, shape, "meta_exit", NULL, func },
static const struct probe_call calls[] = { META_CALLS(CALL) };
#undef CALL

SKEL_OPENER(meta)

static void running(const struct dlt_call *call, struct dlt_hdr *hdr)
{
	struct dlt_meta *rec = (struct dlt_meta *)hdr;
	const unsigned int shape = call->shape & DLT_META_SHAPE;

	rec->ret = DLT_UNKNOWN;
	rec->fd = shape == DLT_META_FD || shape == DLT_META_AT ? (int32_t)call->args[0] : DLT_NONE;
	if (shape == DLT_META_AT && rec->fd == AT_FDCWD)
		rec->fd = DLT_NONE;
	rec->id = shape == DLT_META_FD ? call->id : (struct dlt_file_id){};
	rec->key.request = DLT_META_NO_REQUEST;
	if (call->shape & DLT_META_IOCTL)
		rec->key.request = DLT_META_REQUEST(call->args[1]);
	else if (call->shape & DLT_META_FCNTL)
		rec->key.request = DLT_META_COMMAND(call->args[1]);
	if (shape != DLT_META_FD)
		running_str(hdr, &rec->segs, call->args[shape == DLT_META_AT], 0);
}

const struct probe meta_probe = {
	.name = "meta",
	.help = "calls about metadata (stat, access, readlink, getdents64, lseek, fcntl, ioctl ...) of 1 ms and more; "
		"all of them if --probes names it",
	PROBE_FIELDS(fields),
	PROBE_CALLS(calls),
	.rec_size = sizeof(struct dlt_meta),
	.flags = PROBE_SELECTABLE | PROBE_OF_TARGET | PROBE_OF_CALLS,
	.open = meta_open,
	.running = running,
};
