/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that were still running when the trace ended: a row each, with LAT_NS so far and "?". */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "dlt/create_del.h"
#include "dlt/mmap.h"
#include "dlt/open.h"
#include "dlt/sync.h"
#include "drain/decode.h"
#include "host/process.h"
#include "host/stall/remote.h"
#include "trace/files.h"
#include "trace/probe.h"

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
 * The file behind a descriptor, by the kernel's name for it. The link is read and not followed: the
 * file may be what hangs. Nothing, where the process has another root than we.
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
	return e ? e->id : (struct dlt_file_id){};
}

union running {
	struct dlt_hdr hdr;
	char bytes[IN_FLIGHT_REC_MAX];
};

/* REC of CALL as of NOW_NS. LOOK: with what its process can be asked for. */
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
		.tgid = look ? call->tgid : 0, /* nobody's memory */
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
	 * Looked at afterwards: the process may have ended meanwhile, and its number be that of another, whose memory is
	 * nobody's business here: of another user, where the trace is a user's.
	 */
	if (!process_was((pid_t)call->tgid, call->start_ns))
		fill(d, &rec, call, now_ns, false);
	if (call->flags & DLT_CALL_SILENT)
		probe_silence(&rec.hdr);
	decode_record(d, &rec, rec.hdr.size);
}
