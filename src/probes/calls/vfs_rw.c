/* SPDX-License-Identifier: BSD-2-Clause */
/* The vfs_rw probe: reads and writes. */
#include "dlt/vfs_rw.h"

#include <fcntl.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "drain/rows/decode.h"
#include "kernel/skel.h"
#include "kernel/syscalls.h"
#include "trace/probe.h"
#include "vfs_rw.skel.h"

static const struct field_name dir_names[] = {
	{ DLT_RW_R, "R" },
	{ DLT_RW_W, "W" },
	{ DLT_RW_NEITHER, "-" },
	{ 0, NULL },
};

/* The file's and the call's flags that change the effect of a read or write. */
static const struct field_name flag_names[] = {
	{ O_DIRECT, "DIRECT" },     { O_APPEND, "APPEND" }, { DLT_RW_NOWAIT, "NOWAIT" },
	{ O_SYNC, "SYNC", O_SYNC }, { O_DSYNC, "SYNC" },    { 0, NULL },
};

static const struct field fields[] = {
	FIELDS_HEAD(struct dlt_vfs_rw),
	{ "RW", "R or W; - for other operations of io_submit", FIELD_NAME, offsetof(struct dlt_vfs_rw, dir), 0, 0,
	  dir_names },
	FIELD_FUNC_OF(struct dlt_vfs_rw),
	FIELD_LAT_OF(struct dlt_vfs_rw),
	{ "REQUESTED", "requested bytes; - where the list of buffers could not be read", FIELD_SIZE,
	  offsetof(struct dlt_vfs_rw, requested), .unit = "bytes" },
	{ "RETURNED", "bytes moved or -errno", FIELD_S64, offsetof(struct dlt_vfs_rw, returned), .unit = "bytes" },
	{ "OFFSET", "position in the file, bytes; - if the file cannot seek", FIELD_S64,
	  offsetof(struct dlt_vfs_rw, offset), .unit = "bytes" },
	{ "DISK_BYTES", "bytes that the kernel fetched from disk for it, read-ahead included; 0: from the page cache",
	  FIELD_S64, offsetof(struct dlt_vfs_rw, disk_bytes), .unit = "bytes" },
	{ "FD", "descriptor; - for a fixed file of io_uring", FIELD_S32, offsetof(struct dlt_vfs_rw, fd) },
	{ "FLAGS", "DIRECT APPEND NOWAIT SYNC, of the file or the call", FIELD_BITS,
	  offsetof(struct dlt_vfs_rw, f_flags), 0, 0, flag_names },
	FIELD_FID_OF(struct dlt_vfs_rw, id),
	FIELD_FILE_OF(struct dlt_vfs_rw, id),
};

enum { CALL_IO_SUBMIT };
static const struct probe_call calls[] = {
	[CALL_IO_SUBMIT] = { "io_submit", SYS_io_submit, 0, "io_submit_exit" },
	/* the BPF side adds 1 + IOCB_CMD_* (linux/aio_abi.h) */
	{ "io_submit:pread", -1 },
	{ "io_submit:pwrite", -1 },
	{ "io_submit:fsync", -1 },
	{ "io_submit:fdsync", -1 },
	{ "io_submit:preadx", -1 }, /* never implemented */
	{ "io_submit:poll", -1 },
	{ "io_submit:noop", -1 },
	{ "io_submit:preadv", -1 },
	{ "io_submit:pwritev", -1 },
	{ "io_submit:other", -1 },
	{ "copy_file_range", SYS_copy_file_range, DLT_RW_COPY_RANGE, "rw_copy_exit" },
	{ "pread64", SYS_pread64, DLT_RW_POS, "rw_exit" },
	{ "preadv", SYS_preadv, DLT_RW_VEC | DLT_RW_POS, "rw_exit" },
	{ "preadv2", SYS_preadv2, DLT_RW_VEC | DLT_RW_POS | DLT_RW_RWF, "rw_exit" },
	{ "pwrite64", SYS_pwrite64, DLT_RW_POS | DLT_RW_WRITE, "rw_exit" },
	{ "pwritev", SYS_pwritev, DLT_RW_VEC | DLT_RW_POS | DLT_RW_WRITE, "rw_exit" },
	{ "pwritev2", SYS_pwritev2, DLT_RW_VEC | DLT_RW_POS | DLT_RW_RWF | DLT_RW_WRITE, "rw_exit" },
	{ "read", SYS_read, 0, "rw_exit" },
	{ "readv", SYS_readv, DLT_RW_VEC, "rw_exit" },
	{ "sendfile", SYS_sendfile, DLT_RW_SENDFILE, "rw_copy_exit", .func = "sendfile64" },
	{ "splice", SYS_splice, DLT_RW_SPLICE, "rw_copy_exit" },
	{ "write", SYS_write, DLT_RW_WRITE | DLT_RW_PRINTS, "rw_exit" },
	{ "writev", SYS_writev, DLT_RW_VEC | DLT_RW_WRITE | DLT_RW_PRINTS, "rw_exit" },
	{ "io_getevents", SYS_io_getevents, 0, "aio_reap_exit", .no_row = true },
	{ "io_pgetevents", SYS_io_pgetevents, 0, "aio_reap_exit", .no_row = true },
	/* requests, not calls: src/kernel/uring.c */
	{ "io_uring:read", -1 },
	{ "io_uring:read_fixed", -1 },
	{ "io_uring:read_multishot", -1 },
	{ "io_uring:readv", -1 },
	{ "io_uring:readv_fixed", -1 },
	{ "io_uring:splice", -1 },
	{ "io_uring:write", -1 },
	{ "io_uring:write_fixed", -1 },
	{ "io_uring:writev", -1 },
	{ "io_uring:writev_fixed", -1 },
};

SKEL_OPENER(vfs_rw)

static void decode_one(struct decode *d, const struct dlt_vfs_rw *rec)
{
	decode_file_used(d, &rec->hdr, &rec->id);
	decode_row(d, DLT_vfs_rw, &rec->hdr);
}

static void decode(struct decode *d, const struct dlt_hdr *hdr)
{
	const struct dlt_vfs_rw_pair *pair = (const void *)hdr;
	struct dlt_vfs_rw to;

	decode_one(d, &pair->from);
	if (hdr->size < sizeof(*pair))
		return;
	if (pair->to.hdr.probe != DLT_vfs_rw) {
		d->counts[DLT_vfs_rw].bad++;
		return;
	}
	to = pair->to;
	to.hdr = *hdr; /* one event: where its row was kept until the end (io_uring), only the first head has its times
			*/
	to.hdr.size = sizeof(to);
	decode_one(d, &to);
}

static void running(const struct dlt_call *call, struct dlt_hdr *hdr)
{
	struct dlt_vfs_rw *rec = (struct dlt_vfs_rw *)hdr;
	bool copy = calls[call->func].nr == SYS_sendfile || calls[call->func].nr == SYS_splice ||
		    calls[call->func].nr == SYS_copy_file_range || strstr(calls[call->func].name, ":splice");

	rec->returned = DLT_UNKNOWN;
	rec->disk_bytes = DLT_UNKNOWN;
	rec->offset = DLT_NONE;
	rec->fd = call->func == CALL_IO_SUBMIT ? -1 : (int32_t)call->args[0];
	if (rec->fd >= 0)
		rec->id = call->id;
	if (call->func == CALL_IO_SUBMIT || copy) {
		rec->dir = DLT_RW_NEITHER;
		return;
	}
	rec->dir = call->shape & DLT_RW_WRITE ? DLT_RW_W : DLT_RW_R;
	if (call->shape & DLT_RW_POS)
		rec->offset = (int64_t)call->args[3];
	if (call->shape & DLT_RW_RWF && rec->offset == -1)
		rec->offset = DLT_NONE; /* the file's own */
	rec->requested = call->shape & DLT_RW_VEC ? DLT_NO_SIZE : (uint64_t)call->args[2];
}

/* libaio's requests whose events have not been reaped. */
static void in_flight(struct probe_object *object, void (*emit)(void *ctx, const struct dlt_hdr *rec), void *ctx,
		      uint64_t now_ns, unsigned int max)
{
	const struct vfs_rw_bpf *skel = object->owner;
	int fd = bpf_map__fd(skel->maps.dlt_aios);
	struct dlt_aio_key key, *prev = NULL;
	struct dlt_aio aio;

	for (; max-- && bpf_map_get_next_key(fd, prev, &key) == 0; prev = &key) {
		if (bpf_map_lookup_elem(fd, &key, &aio) < 0 || aio.early_ns)
			continue;
		aio.rec.hdr.ts_ns = now_ns;
		aio.rec.hdr.lat_ns = now_ns - aio.start_ns;
		emit(ctx, &aio.rec.hdr);
	}
}

const struct probe vfs_rw_probe = {
	.name = "vfs_rw",
	.help = "reads and writes of every form, with offset and bytes fetched from disk",
	PROBE_FIELDS(fields),
	PROBE_CALLS(calls),
	.rec_size = sizeof(struct dlt_vfs_rw),
	.flags = PROBE_SELECTABLE | PROBE_OF_TARGET | PROBE_OF_CALLS | PROBE_MORE_ROWS,
	.open = vfs_rw_open,
	.decode = decode,
	.running = running,
	.in_flight = in_flight,
};
