/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the rows tell that operations refer to: files.out (which file a FID is), pids.out (who a PID
 * is) and time_align.out (how good the clock is).
 */
#include "report_scan.h"

#include "util.h"

const char *const report_type_names[REPORT_TYPES] = {
	"unknown", "anon", "blk", "chr", "dir", "fifo", "memfd", "reg", "shm", "sock",
};

/* FSTYPEs whose files are not on a disk of this machine; a final dot: with any subtype. */
static const char *const network_fs[] = {
	"9p", "afs", "beegfs", "ceph", "cifs", "fuse", "fuse.", "gpfs", "lustre", "nfs", "nfs4",
	"smb3", "virtiofs", "wekafs",
};
static const char *const memory_fs[] = {
	"bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "hugetlbfs",
	"proc", "ramfs", "securityfs", "sysfs", "tmpfs", "tracefs",
};

void report_copy(char *dst, size_t size, struct reader_field f)
{
	size_t n = MIN(f.len, size - 1);

	memcpy(dst, f.p, n);
	dst[n] = '\0';
}

static bool is_listed(struct reader_field f, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(list[i]);

		if ((f.len == len || (f.len > len && list[i][len - 1] == '.')) &&
		    memcmp(f.p, list[i], len) == 0)
			return true;
	}
	return false;
}

bool report_row_files(struct scan *s)
{
	struct reader_field fstype = scan_field(s, COL_FSTYPE);
	struct report_file *f;
	uint64_t fid;

	if (!scan_u64(s, COL_FID, &fid))
		return false;
	f = table_get(&s->report->files, fid);
	if (!f)
		return true;
	f->row = s->row.offset + 1;
	for (unsigned int i = REPORT_UNKNOWN + 1; i < REPORT_TYPES; i++)
		if (scan_is(s, COL_TYPE, report_type_names[i]))
			f->type = (uint8_t)i;
	f->medium = is_listed(fstype, network_fs, ARRAY_SIZE(network_fs)) ? REPORT_NETWORK :
		    is_listed(fstype, memory_fs, ARRAY_SIZE(memory_fs))	  ? REPORT_MEMORY :
									    REPORT_DISK;
	return true;
}

bool report_row_pids(struct scan *s)
{
	bool fork = scan_is(s, COL_EVENT, "fork"), exit = scan_is(s, COL_EVENT, "exit");
	struct report_proc *p;
	uint64_t pid, tid;

	if (!scan_u64(s, COL_PID, &pid) || !scan_u64(s, COL_TID, &tid))
		return false;
	p = pid == tid ? table_get(&s->report->procs, pid) : NULL;
	if (!p)
		return true;
	p->pid = pid;
	/* One that is forked while the trace attaches may have a snapshot row too. */
	p->lives += fork || p->lives == 0;
	/* Later rows may name the reaper that took an orphan over. */
	if (fork || p->ppid == 0)
		scan_u64(s, COL_PPID, &p->ppid);
	/* The last thread to go gives its own name. */
	if (!exit || !p->named)
		report_copy(p->comm, sizeof(p->comm), scan_field(s, COL_COMM));
	p->named = true;
	if (!scan_is(s, COL_RANK, "-"))
		report_copy(p->rank, sizeof(p->rank), scan_field(s, COL_RANK));
	return true;
}

bool report_row_time_align(struct scan *s)
{
	struct report *r = s->report;
	uint64_t error_ns;

	if (!scan_u64(s, COL_ERROR_NS, &error_ns))
		return false;
	r->clock_error_ns = MAX(r->clock_error_ns, error_ns);
	r->clock_steps += scan_is(s, COL_EVENT, "step");
	return true;
}
