/* SPDX-License-Identifier: BSD-2-Clause */
/* The close probe: the smallest, and the one to copy. */
#include "dlt/close.h"

#include <sys/syscall.h>

#include "close.skel.h"
#include "kernel/skel.h"
#include "kernel/syscalls.h"
#include "trace/probe.h"

static const struct field fields[] = {
	FIELDS_HEAD(struct dlt_close),
	FIELD_FUNC_OF(struct dlt_close),
	FIELD_LAT_OF(struct dlt_close),
	{ "RET", "0 or -errno", FIELD_S64, offsetof(struct dlt_close, ret) },
	{ "FD", "descriptor; the first of close_range", FIELD_S64, offsetof(struct dlt_close, fd) },
	{ "LAST", "the last descriptor of close_range", FIELD_S64, offsetof(struct dlt_close, last) },
	FIELD_FID_OF(struct dlt_close, id),
	FIELD_FILE_OF(struct dlt_close, id),
};

static const struct probe_call calls[] = {
	{ "close", SYS_close, 0, "close_exit", "close_entry" },
	{ "close_range", SYS_close_range, DLT_CLOSE_RANGE, "close_exit" },
	{ "io_uring:close", -1 },
};

SKEL_OPENER(close)

static void running(const struct dlt_call *call, struct dlt_hdr *hdr)
{
	struct dlt_close *rec = (struct dlt_close *)hdr;

	rec->id = call->id;
	rec->ret = DLT_UNKNOWN;
	rec->fd = call->shape == DLT_CLOSE_RANGE ? (int64_t)(uint32_t)call->args[0] : (int32_t)call->args[0];
	if (rec->fd == DLT_NONE32)
		rec->fd = DLT_NONE;
	rec->last = call->shape == DLT_CLOSE_RANGE ? (int64_t)(uint32_t)call->args[1] : DLT_NONE;
}

const struct probe close_probe = {
	.name = "close",
	.help = "close and close_range, with the descriptor's file",
	PROBE_FIELDS(fields),
	PROBE_CALLS(calls),
	.rec_size = sizeof(struct dlt_close),
	.flags = PROBE_SELECTABLE | PROBE_OF_TARGET | PROBE_OF_CALLS,
	.open = close_open,
	.running = running,
};
