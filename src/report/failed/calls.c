/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of calls that failed: which of them no program expects. A program that searches, retries what would block, or
 * tries whether it may do something, is none that fails.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/failed/failures.h"
#include "report/files/software.h"

/* The most that a write takes at a time: MAX_RW_COUNT, INT_MAX without a part of a page (of 64 KiB on arm64). */
#define WRITE_MAX (0x7fffffffULL & ~0xffffULL)

int failed_errno(struct reader_field ret)
{
	int nr = 0;

	if (!ret.len || *ret.p != '-')
		return 0;
	for (size_t i = 1; i < ret.len && i < 5; i++) {
		if (ret.p[i] < '0' || ret.p[i] > '9')
			return 0;
		nr = 10 * nr + (ret.p[i] - '0');
	}
	return ret.len < 6 ? nr : 0;
}

/* Whether the call has a path of its own: then it has no file yet. */
static bool has_path(const struct scan *scan)
{
	return scan->kind == REPORT_OPEN || scan->kind == REPORT_CREATE_DEL;
}

/*
 * Whether a component of PATH begins with a dot: settings and caches of programs, which do without where they may not
 * keep them, as in a container without a home.
 */
static bool is_hidden(struct reader_field path)
{
	const char *at = path.p, *end = path.p + path.len, *dot;

	for (; (dot = memmem(at, (size_t)(end - at), "/.", 2)); at = dot + 1)
		if (dot + 2 < end && dot[2] != '/' && dot[2] != '.')
			return true;
	return path.len > 1 && path.p[0] == '.' && path.p[1] != '/' && path.p[1] != '.';
}

/* Whether the call is about data of the job, as far as its path or its file shows. */
static bool is_of_data(const struct scan *scan, const struct report_call_facts *call)
{
	if (has_path(scan))
		return report_is_data(REPORT_REG, scan_field(scan, COL_PATH)) && !is_hidden(scan_field(scan, COL_PATH));
	return call->file && !call->file->software && call->on_file;
}

/*
 * Allocators try huge pages, chosen addresses and large reservations of addresses first, and without them then. Advice
 * is none that must be taken. An open that must not change the time of access is for owners alone, and is tried again
 * without that.
 */
static bool is_a_try(const struct scan *scan)
{
	const struct reader_field flags = scan_field(scan, COL_FLAGS);

	if (scan->kind == REPORT_MMAP)
		return !(scan_is(scan, COL_FUNC, "mmap") || scan_is(scan, COL_FUNC, "mremap")) ||
		       scan_is(scan, COL_PROT, "0") || memmem(flags.p, flags.len, "HUGETLB", 7) ||
		       memmem(flags.p, flags.len, "NOREPLACE", 9);
	return scan->kind == REPORT_OPEN && reader_flag(flags, "NOATIME");
}

static bool matters(const struct scan *scan, const struct report_call_facts *call, const struct failed_error *error)
{
	if (call->proc->aside)
		return false;
	if (error->subject == FAILED_PEER)
		return call->type == REPORT_SOCK;
	if (is_a_try(scan) || (error->data && !is_of_data(scan, call)))
		return false;
	return call->on_file || error->subject == FAILED_LIMIT; /* on_file: also where there is no file */
}

/* Returns the process's name, of which a thread's may differ. */
static const char *comm_of(const struct scan *scan, const struct report_call_facts *call, char *buf, size_t size)
{
	if (call->proc->named)
		return call->proc->comm;
	report_copy(buf, size, scan_field(scan, COL_COMM));
	return buf;
}

/* Adds a failure at PATH, by the folder that it is in. */
static void add_at_path(struct report_failed *failed, struct failure *like, struct reader_field path,
			const struct scan *scan, const struct report_call_facts *call)
{
	const char *slash = memrchr(path.p, '/', path.len);
	const size_t len = slash ? MAX((size_t)(slash - path.p), 1) : 1;
	const struct reader_field name = { slash ? slash + 1 : path.p,
					   slash ? path.len - (size_t)(slash + 1 - path.p) : path.len };

	report_copy(like->file, sizeof(like->file), name);
	failures_add(failed, like, slash ? path.p : ".", len, scan->time_ns, (uint32_t)call->tid);
}

static void add(const struct scan *scan, const struct report_call_facts *call, const struct failed_error *error,
		int code)
{
	struct report_failed *failed = scan->report->failed;
	struct failure like = { .kind = FAILURE_CALL, .code = code, .error = error, .pid = call->pid };
	char comm[64], fid[24] = "";

	snprintf(like.comm, sizeof(like.comm), "%s", comm_of(scan, call, comm, sizeof(comm)));
	report_copy(like.call, sizeof(like.call), scan_field(scan, COL_FUNC));
	if (error->subject == FAILED_FOLDER && has_path(scan)) {
		add_at_path(failed, &like, scan_field(scan, COL_PATH), scan, call);
		return;
	}
	if (error->subject == FAILED_FOLDER && call->file) {
		like.fid = call->fid;
		snprintf(fid, sizeof(fid), "%llu", (unsigned long long)call->fid);
	}
	failures_add(failed, &like, fid, strlen(fid), scan->time_ns, (uint32_t)call->tid);
}

void report_failed_call(const struct scan *scan, const struct report_call_facts *call)
{
	const struct reader_field ret = scan_field(scan, call->rw ? COL_RETURNED : COL_RET);
	const int nr = failed_errno(ret);
	const bool locks =
		scan->kind == REPORT_MMAP && nr == EAGAIN && reader_flag(scan_field(scan, COL_FLAGS), "LOCKED");
	const struct failed_error *error = locks ? failed_no_lock(nr) : failed_error_of(nr);

	if (scan->report->failed && error && !call->again && matters(scan, call, error))
		add(scan, call, error, nr);
}

/* A signal that ends a process can cut its last write, which then is no failure of its own: it has the end's line. */
void report_failed_short(const struct scan *scan, const struct report_call_facts *call)
{
	static const char *const writes[] = { "pwrite64", "pwritev", "pwritev2", "write", "writev" };

	if (!scan->report->failed || call->type != REPORT_REG || call->again || call->bytes >= WRITE_MAX)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(writes); i++)
		if (scan_is(scan, COL_FUNC, writes[i]))
			add(scan, call, &failed_short_write, 0);
}

void report_failed_process(const struct scan *scan, uint64_t pid, uint64_t tid)
{
	const int nr = failed_errno(scan_field(scan, COL_STATUS));
	const struct report_proc *proc = table_find(&scan->report->procs, pid);
	static const char is[] = "call=";
	const struct reader_field args = scan_field(scan, COL_ARGS);
	struct failure like = { .kind = FAILURE_CALL, .code = nr, .pid = pid, .call = "clone" };

	if (args.len > strlen(is) && memcmp(args.p, is, strlen(is)) == 0)
		report_copy(like.call, sizeof(like.call),
			    (struct reader_field){ args.p + strlen(is), args.len - strlen(is) });
	if (strncmp(like.call, "mlock", strlen("mlock")) == 0)
		like.error = failed_no_lock(nr);
	else
		like.error = nr == EAGAIN ? &failed_no_process : failed_error_of(nr);
	if (!scan->report->failed || !like.error || (proc && proc->aside))
		return;
	if (proc && proc->named)
		memcpy(like.comm, proc->comm, sizeof(like.comm));
	else
		report_copy(like.comm, sizeof(like.comm), scan_field(scan, COL_COMM));
	failures_add(scan->report->failed, &like, "", 0, scan->time_ns, (uint32_t)tid);
}
