/* SPDX-License-Identifier: BSD-2-Clause */
#include "running.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "decode.h"
#include "files.h"
#include "probe.h"
#include "util.h"

void running_str(struct dlt_hdr *rec, struct dlt_segs *segs, uint64_t addr, unsigned int i)
{
	struct iovec local = { (char *)rec + rec->size, DLT_PATH_MAX };
	struct iovec remote = { (void *)(uintptr_t)addr, DLT_PATH_MAX };
	ssize_t n;
	size_t len;

	if (rec->size + DLT_PATH_MAX > RUNNING_REC_MAX)
		return;
	n = process_vm_readv((pid_t)rec->tgid, &local, 1, &remote, 1, 0);
	/* the string may end just before unmapped memory: then a page's rest is all there is */
	if (n <= 0) {
		remote.iov_len = 4096 - addr % 4096;
		n = process_vm_readv((pid_t)rec->tgid, &local, 1, &remote, 1, 0);
	}
	if (n <= 0)
		return;
	len = strnlen(local.iov_base, (size_t)n - 1);
	((char *)local.iov_base)[len] = '\0';
	segs->len[i] = (uint16_t)(len + 1);
	rec->size += (uint32_t)(len + 1);
}

void running_row(struct decode *d, const struct dlt_call *call, uint64_t now_ns)
{
	union {
		struct dlt_hdr hdr;
		char bytes[RUNNING_REC_MAX];
	} rec;
	autofree char *comm = util_fmt("/proc/%u/task/%u/comm", call->tgid, call->tid);
	char name[DLT_COMM_LEN + 1] = "";
	const struct probe *p;

	if (call->probe >= DLT_PROBES || !probes[call->probe])
		return;
	p = probes[call->probe];
	if (!p->running || call->func >= p->n_calls)
		return;
	memset(&rec, 0, sizeof(rec));
	rec.hdr = (struct dlt_hdr){
		.ts_ns = now_ns,
		.lat_ns = now_ns - call->start_ns,
		.tgid = call->tgid,
		.tid = call->tid,
		.probe = call->probe,
		.func = call->func,
		.size = (uint32_t)p->rec_size,
	};
	if (comm && !util_read_line(comm, name, sizeof(name)))
		memcpy(rec.hdr.comm, name, DLT_COMM_LEN);
	p->running(call, &rec.hdr);
	decode_record(d, &rec, rec.hdr.size);
}
