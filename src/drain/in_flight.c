/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls in flight: the file of one, by its arguments; and a row for each call that is still running when
 * the trace ends, with LAT_NS so far and "?".
 */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "dlt/create_del.h"
#include "dlt/mmap.h"
#include "dlt/open.h"
#include "dlt/sync.h"
#include "drain/decode.h"
#include "drain/live.h"
#include "host/process.h"
#include "host/stall/remote.h"
#include "kernel/syscalls.h"
#include "trace/files.h"
#include "trace/probe.h"

/* --- by its arguments ------------------------------------------------------------------------------------- */

/* Which argument is the path; -1: none. */
static int path_argument(const struct dlt_call *call)
{
	static const int8_t of_shape[DLT_CD_SHAPES] = {
		[DLT_CD_MKDIRAT] = 1, [DLT_CD_UNLINKAT] = 1, [DLT_CD_RENAMEAT] = 1, [DLT_CD_SYMLINK] = 1,
		[DLT_CD_SYMLINKAT] = 2, [DLT_CD_MKNODAT] = 1, /* the others are the first */
	};
	unsigned int shape = call->shape & ~DLT_CD_NO_FLAGS;

	if (call->probe == DLT_open)
		return call->shape == DLT_OPEN_AT || call->shape == DLT_OPEN_HOW;
	if (call->probe == DLT_create_del && shape < DLT_CD_SHAPES)
		return of_shape[shape];
	return call->probe == DLT_sync && call->shape == DLT_SYNC_TRUNCATE ? 0 : -1;
}

/* Which argument is the descriptor; -1: none. */
static int fd_argument(const struct dlt_call *call)
{
	if (call->probe == DLT_mmap)
		return call->shape == DLT_MMAP ? 4 : -1;
	if (call->probe == DLT_sync)
		return call->shape != DLT_SYNC_NONE && call->shape != DLT_SYNC_MSYNC && call->shape != DLT_SYNC_TRUNCATE ?
			       0 : -1;
	/* io_submit has none: its first argument is a context */
	return call->probe == DLT_close || (call->probe == DLT_vfs_rw && call->nr != SYS_io_submit) ? 0 : -1;
}

void call_file(const struct dlt_call *call, int64_t *fd_ret, uint64_t *addr_ret)
{
	bool symlink = call->probe == DLT_create_del && call->shape == DLT_CD_SYMLINK;
	int path = path_argument(call), fd = path > 0 && !symlink ? path - 1 : fd_argument(call);

	*fd_ret = fd < 0 ? DLT_NONE : (int32_t)call->args[fd];
	*addr_ret = path < 0 ? 0 : call->args[path];
}

/* --- at the end ------------------------------------------------------------------------------------------- */

void running_str(struct dlt_hdr *rec, struct dlt_segs *segs, uint64_t addr, unsigned int i)
{
	ssize_t len;

	if (!rec->tgid || rec->size + DLT_PATH_MAX > IN_FLIGHT_REC_MAX)
		return;
	len = remote_string((pid_t)rec->tgid, addr, (char *)rec + rec->size);
	if (len < 0)
		return;
	segs->len[i] = (uint16_t)(len + 1);
	rec->size += (uint32_t)(len + 1);
}

_Static_assert(REMOTE_STRING_MAX == DLT_PATH_MAX, "a path");

/*
 * Finds the file behind a descriptor, by the kernel's name for it. The link is read and not followed: the
 * file may be what hangs. Nothing where the process's root differs from ours.
 */
static struct dlt_file_id file_behind(struct decode *d, const struct dlt_call *call, int fd)
{
	autofree char *link = util_fmt("/proc/%u/task/%u/fd/%d", call->tgid, call->tid, fd);
	const struct file_entry *e = NULL;
	char path[PATH_MAX];
	ssize_t len;

	len = link ? readlink(link, path, sizeof(path)) : -1;
	if (len > 0)
		e = files_by_path(d->ctx.files, path, (size_t)len);
	return e ? e->file.id : (struct dlt_file_id){};
}

union running {
	struct dlt_hdr hdr;
	char bytes[IN_FLIGHT_REC_MAX];
};

/* Makes REC of CALL as of NOW_NS. LOOK: with facts from its process. */
static void fill(struct decode *d, union running *rec, const struct dlt_call *call, uint64_t now_ns, bool look)
{
	autofree char *comm = look ? util_fmt("/proc/%u/task/%u/comm", call->tgid, call->tid) : NULL;
	struct dlt_call with_file = *call;
	char name[DLT_COMM_LEN + 1] = "";
	const struct probe *p = probes[call->probe];

	memset(rec, 0, sizeof(*rec));
	rec->hdr = (struct dlt_hdr){
		.ts_ns = now_ns,
		.lat_ns = now_ns - call->start_ns,
		.tgid = look ? call->tgid : 0, /* no process's memory */
		.tid = call->tid,
		.probe = call->probe,
		.func = call->func,
		.size = (uint32_t)p->rec_size,
	};
	if (comm && !util_read_line(comm, name, sizeof(name)))
		memcpy(rec->hdr.comm, name, DLT_COMM_LEN);
	if (look && !with_file.id.ino)
		with_file.id = file_behind(d, call, (int)call->args[0]);
	p->running(&with_file, &rec->hdr);
	rec->hdr.tgid = call->tgid;
}

void in_flight_row(struct decode *d, const struct dlt_call *call, uint64_t now_ns)
{
	union running rec;
	const struct probe *p;

	if (call->probe >= DLT_PROBES || !probes[call->probe])
		return;
	p = probes[call->probe];
	if (!p->running || call->func >= p->n_calls)
		return;
	fill(d, &rec, call, now_ns, true);
	/*
	 * Checked afterwards: the process may have ended meanwhile, and its number belong to another, whose
	 * memory must not be shown: another user's, where the trace is a user's.
	 */
	if (!process_was((pid_t)call->tgid, call->start_ns))
		fill(d, &rec, call, now_ns, false);
	if (call->flags & DLT_CALL_SILENT)
		probe_silence(&rec.hdr);
	decode_record(d, &rec, rec.hdr.size);
}
