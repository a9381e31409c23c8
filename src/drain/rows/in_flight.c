/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls in flight: the file of one, by its arguments; and a row for each call that is still running when
 * the trace ends, with LAT_NS so far and "?".
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "dlt/create_del.h"
#include "dlt/mmap.h"
#include "dlt/open.h"
#include "dlt/sync.h"
#include "drain/rows/decode.h"
#include "drain/rows/live.h"
#include "host/process.h"
#include "host/rights/owner.h"
#include "host/stall/process_reader.h"
#include "host/stall/remote.h"
#include "kernel/syscalls.h"
#include "trace/files.h"
#include "trace/probe.h"

/* --- by its arguments ------------------------------------------------------------------------------------- */

/* Which argument is the path; -1: none. */
static int path_argument(const struct dlt_call *call)
{
	static const int8_t of_shape[DLT_CD_SHAPES] = {
		[DLT_CD_MKDIRAT] = 1, [DLT_CD_UNLINKAT] = 1,  [DLT_CD_RENAMEAT] = 1,
		[DLT_CD_SYMLINK] = 1, [DLT_CD_SYMLINKAT] = 2, [DLT_CD_MKNODAT] = 1, /* the others are the first */
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
		return call->shape != DLT_SYNC_NONE && call->shape != DLT_SYNC_MSYNC &&
				       call->shape != DLT_SYNC_TRUNCATE ?
			       0 :
			       -1;
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

#define MOUNTINFO_MAX (1 << 20)

/* The device of mount ID in the text of /proc/PID/mountinfo, as the kernel writes it; 0: it is none of these. */
static uint32_t mount_dev(const char *text, unsigned long long id)
{
	for (const char *line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		unsigned long long mount;
		unsigned int major, minor;

		/* proc(5): mount, parent, major:minor */
		if (sscanf(line, "%llu %*s %u:%u", &mount, &major, &minor) == 3 && mount == id)
			return major << 20 | minor;
	}
	return 0;
}

/*
 * Finds the file behind a descriptor, by the kernel's name, number and mount of it: the name alone may be that of
 * another file, as the process may see paths from another root, and " (deleted)" at its end is part of some names. The
 * link is read and not followed: the file may be what hangs. Linux before 5.14 does not show the number, and any will
 * do. Nothing of pipes and the like, which lie on no mount.
 */
static struct dlt_file_id file_behind(struct decode *decode, const struct dlt_call *call, int fd)
{
	static const char deleted[] = " (deleted)";
	autofree char *link = util_fmt("/proc/%u/task/%u/fd/%d", call->tgid, call->tid, fd), *info = NULL,
		      *mounts = NULL;
	autofree char *info_name =
		util_fmt("task/%u/fdinfo/%d", call->tid, fd); /* of an epoll, behind a lock that a program can keep */
	unsigned long long mount, ino = 0;
	const struct file_entry *entry;
	size_t cut = strlen(deleted);
	char path[PATH_MAX];
	ssize_t len = link ? readlink(link, path, sizeof(path)) : -1;
	uint32_t dev;

	if (len <= 0 || !info_name ||
	    process_reader_file((pid_t)call->tgid, info_name, PROCESS_TEXT_MAX, &info, NULL) < 0 ||
	    process_reader_file((pid_t)call->tgid, "mountinfo", MOUNTINFO_MAX, &mounts, NULL) < 0 ||
	    !process_numbers(info, "\nmnt_id:\t", 10, &mount, 1))
		return (struct dlt_file_id){};
	process_numbers(info, "\nino:\t", 10, &ino, 1);
	dev = mount_dev(mounts, mount);
	entry = files_by_inode(decode->ctx.files, path, (size_t)len, dev, ino);
	if (!entry && (size_t)len > cut && !memcmp(path + (size_t)len - cut, deleted, cut))
		entry = files_by_inode(decode->ctx.files, path, (size_t)len - cut, dev, ino);
	return entry ? entry->file.id : (struct dlt_file_id){};
}

union running {
	struct dlt_hdr hdr;
	char bytes[IN_FLIGHT_REC_MAX];
};

/* Is the thread of CALL still there, and no later one with its number? */
static bool thread_is_there(const struct dlt_call *call)
{
	autofree char *name = util_fmt("task/%u/stat", call->tid), *text = NULL;
	struct process thread;

	return name && process_text((pid_t)call->tgid, name, PROCESS_TEXT_MAX, &text, NULL) == 0 &&
	       process_parse(&thread, (pid_t)call->tid, text) == 0 && process_is_from(&thread, call->start_ns);
}

/* Makes REC of CALL as of NOW_NS. LOOK: with facts from its process. */
static void fill(struct decode *decode, union running *rec, const struct dlt_call *call, uint64_t now_ns, bool look)
{
	bool thread = look && thread_is_there(call);
	autofree char *comm = thread ? util_fmt("/proc/%u/task/%u/comm", call->tgid, call->tid) : NULL;
	struct dlt_call with_file = *call;
	char name[DLT_COMM_LEN + 1] = "";
	const struct probe *probe = probes[call->probe];

	memset(rec, 0, sizeof(*rec));
	rec->hdr = (struct dlt_hdr){
		.ts_ns = now_ns,
		.lat_ns = now_ns - call->start_ns,
		.tgid = look ? call->tgid : 0, /* no process's memory */
		.tid = call->tid,
		.probe = call->probe,
		.func = call->func,
		.size = (uint32_t)probe->rec_size,
	};
	if (comm && !util_read_line(comm, name, sizeof(name)))
		memcpy(rec->hdr.comm, name, DLT_COMM_LEN);
	if (thread && !with_file.id.ino)
		with_file.id = file_behind(decode, call, (int)call->args[0]);
	probe->running(&with_file, &rec->hdr);
	rec->hdr.tgid = call->tgid;
}

/*
 * Looked at as BEFORE, and now again: the process may have ended meanwhile and its number belong to another, or it may
 * have executed a program of other rights, whose memory and files must not be shown: where the trace is a user's, to
 * that user.
 */
static bool is_still(const struct decode *d, const struct dlt_call *call, const struct process *before)
{
	struct process now;
	char why[128];

	return process_read(&now, (pid_t)call->tgid) == 0 && process_is_from(&now, call->start_ns) &&
	       now.start_ticks == before->start_ticks && now.args_at == before->args_at &&
	       (!d->owner || owner_is((pid_t)call->tgid, d->owner, why, sizeof(why)));
}

void in_flight_row(struct decode *decode, const struct dlt_call *call, uint64_t now_ns)
{
	struct process before = {};
	union running rec;
	const struct probe *probe;

	if (call->probe >= DLT_PROBES || !probes[call->probe])
		return;
	probe = probes[call->probe];
	if (!probe->running || call->func >= probe->n_calls)
		return;
	fill(decode, &rec, call, now_ns, process_read(&before, (pid_t)call->tgid) == 0);
	if (!is_still(decode, call, &before))
		fill(decode, &rec, call, now_ns, false);
	if (call->flags & DLT_CALL_SILENT)
		probe_silence(&rec.hdr);
	decode_record(decode, &rec, rec.hdr.size);
}
