/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that rows of operations refer to: files.out (the file of a FID), pids.out (the process of a PID) and
 * time_align.out (how good the clock is); and rollup.out, sums of removed rows.
 */
#include "report/rows.h"

#include "base/util.h"
#include "report/failed/failures.h"
#include "report/files/datasets.h"
#include "report/files/path_filter.h"
#include "report/files/software.h"
#include "report/files/streams.h"
#include "report/files/uses.h"
#include "report/why/names.h"
#include "trace/rlimits.h"

/* FSTYPEs whose files are not on a disk of this machine; a final dot stands for any subtype. */
static const char *const network_fs[] = {
	"9p",   "afs",    "beegfs", "ceph", "cifs", "fuse",     "fuse.",
	"gpfs", "lustre", "nfs",    "nfs4", "smb3", "virtiofs", "wekafs",
};
static const char *const memory_fs[] = {
	"bpf",       "cgroup", "cgroup2", "configfs",   "debugfs", "devpts", "devtmpfs",
	"hugetlbfs", "proc",   "ramfs",   "securityfs", "sysfs",   "tmpfs",  "tracefs",
};

static bool is_listed(struct reader_field f, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(list[i]);

		if ((f.len == len || (f.len > len && list[i][len - 1] == '.')) && memcmp(f.p, list[i], len) == 0)
			return true;
	}
	return false;
}

/* Most files are of the same file system as the one before. */
static enum report_medium medium_of(struct scan *s, struct reader_field fstype)
{
	if (s->fstype[0] && reader_is(fstype, s->fstype))
		return s->medium;
	report_copy(s->fstype, sizeof(s->fstype), fstype);
	if (is_listed(fstype, network_fs, ARRAY_SIZE(network_fs)))
		s->medium = REPORT_NETWORK;
	else if (is_listed(fstype, memory_fs, ARRAY_SIZE(memory_fs)))
		s->medium = REPORT_MEMORY;
	else
		s->medium = REPORT_DISK;
	return s->medium;
}

bool report_row_files(struct scan *s)
{
	struct reader_field fstype = scan_field(s, COL_FSTYPE);
	struct report_file *f;
	uint64_t fid, size;

	if (!scan_u64(s, COL_FID, &fid))
		return false;
	f = table_get(&s->report->files, fid);
	if (!f)
		return true;
	if (scan_u64(s, COL_SIZE, &size))
		f->size = MAX(f->size, size);
	for (unsigned int i = REPORT_UNKNOWN + 1; i < REPORT_TYPES; i++)
		if (scan_is(s, COL_TYPE, report_type_names[i]))
			f->type = (uint8_t)i;
	f->medium = (uint8_t)medium_of(s, fstype);
	f->data = report_is_data((enum report_type)f->type, scan_field(s, COL_REALPATH));
	f->software = f->type == REPORT_REG ? !f->data :
					      f->type == REPORT_DIR && report_is_software(scan_field(s, COL_REALPATH));
	s->report->uses_fuse |= report_is_fuse(fstype);
	f->inside = path_filter_has(s->report, scan_field(s, COL_REALPATH));
	f->unlisted = path_filter_unlists(s->report, scan_field(s, COL_REALPATH));
	s->report->uses_uring |= f->type == REPORT_ANON && scan_is(s, COL_REALPATH, "anon_inode:[io_uring]");
	if (s->report->datasets)
		report_datasets_file(s->report, f, scan_field(s, COL_REALPATH));
	if (s->report->streams)
		report_streams_file(s, f);
	if (s->report->uses && f->type == REPORT_SHM)
		report_uses_shm(s, fid);
	f->row = s->ahead[s->row].offset + 1;
	return true;
}

/* Returns the number after NAME in "utime=1\040stime=2", 0 without it. */
static uint64_t usage(struct reader_field f, const char *name)
{
	const char *p = memmem(f.p, f.len, name, strlen(name)), *end = f.p + f.len, *from;
	uint64_t v = 0;

	if (!p)
		return 0;
	for (from = p += strlen(name); p < end && *p >= '0' && *p <= '9'; p++)
		;
	reader_u64((struct reader_field){ from, (size_t)(p - from) }, &v);
	return v;
}

/* Sets the limits that P had when it ended. */
static void rlimits_of(struct report_proc *p, struct reader_field args)
{
	for (unsigned int i = 0; i < DLT_RLIMITS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "\\040%s", rlimit_names[i].arg);
		p->rlimits[i] = usage(args, name);
		p->rlimits_known |= (uint8_t)((memmem(args.p, args.len, name, strlen(name)) != NULL) << i);
	}
}

bool report_row_pids(struct scan *s)
{
	bool fork = scan_is(s, COL_EVENT, "fork"), exit = scan_is(s, COL_EVENT, "exit");
	struct report_proc *p;
	uint64_t pid, tid;

	if (!scan_u64(s, COL_PID, &pid) || !scan_u64(s, COL_TID, &tid))
		return false;
	if (scan_is(s, COL_EVENT, "refused")) {
		report_failed_process(s, pid, tid);
		return true;
	}
	p = pid == tid ? table_get(&s->report->procs, pid) : NULL;
	if (!p)
		return true;
	p->pid = pid;
	/* a process forked while the trace attaches may also have a snapshot row */
	p->lives += fork || p->lives == 0;
	/* later rows may name the reaper that adopted an orphan */
	if (fork || p->ppid == 0)
		scan_u64(s, COL_PPID, &p->ppid);
	/* the last thread to exit reports its own name */
	if (!exit || !p->named)
		report_copy(p->comm, sizeof(p->comm), scan_field(s, COL_COMM));
	if (!exit)
		p->containers = (uint8_t)why_containers_of(scan_field(s, COL_CGROUP));
	p->named = true;
	p->forked |= fork;
	p->execs |= scan_is(s, COL_EVENT, "exec");
	if (scan_is(s, COL_EVENT, "exec") || scan_is(s, COL_EVENT, "snapshot"))
		why_program(p, scan_field(s, COL_ARGS));
	if (exit && !scan_is(s, COL_STATUS, "-")) {
		p->user_ns = usage(scan_field(s, COL_ARGS), "utime=");
		p->sys_ns = usage(scan_field(s, COL_ARGS), "stime=");
		rlimits_of(p, scan_field(s, COL_ARGS));
	}
	if (exit)
		p->end_ns = s->time_ns;
	else if (!p->begin_ns)
		p->begin_ns = s->time_ns;
	if (exit)
		report_failed_end(s, p);
	if (!scan_is(s, COL_RANK, "-"))
		report_copy(p->rank, sizeof(p->rank), scan_field(s, COL_RANK));
	return true;
}

void report_clock_gaps(struct report *report, const struct scan_clocks *clocks)
{
	for (uint32_t i = 0; i < clocks->gaps.n; i++) {
		const struct gap *gap = &clocks->gaps.v[i];
		const double s = (double)gap->ns / 1e9;

		report->asleep_ns += gap->kind == GAP_SUSPEND ? (uint64_t)gap->ns : 0;
		if (gap->kind == GAP_SUSPEND)
			gaps_add(&report->gaps, gap->kind, NULL, gap->begin_ns, gap->end_ns,
				 "the machine slept for %.3f s", s);
		else if (gap->kind == GAP_STALLED)
			gaps_add(&report->gaps, gap->kind, NULL, gap->begin_ns, gap->end_ns,
				 "dltraced did not run: the events of that time are in later rows");
		else
			gaps_add(&report->gaps, gap->kind, NULL, gap->begin_ns, gap->end_ns,
				 "the clock of TIME was set by %+.6f s", s);
	}
	report->gaps.more += clocks->gaps.more;
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

static bool is_there(struct scan *scan, struct reader_field base, uint64_t nr)
{
	char file[NAME_MAX + 1];

	if (nr == scan->segment && reader_is(base, scan->segment_of))
		return scan->segment_there;
	report_copy(scan->segment_of, sizeof(scan->segment_of), base);
	scan->segment = nr;
	scan->segment_there = false;
	for (enum pack p = PACK_NONE; p < PACKS && !scan->segment_there; p++) {
		segment_format(file, scan->segment_of, (uint32_t)nr, p);
		scan->segment_there = !strchr(file, '/') && faccessat(scan->report->folder->dirfd, file, F_OK, 0) == 0;
	}
	return scan->segment_there;
}

struct report_sum *report_sum_of(struct report *r, struct reader_field name)
{
	for (unsigned int i = 0; i < r->n_sums; i++)
		if (reader_is(name, r->sums[i].name))
			return &r->sums[i];
	if (r->n_sums == REPORT_SUMS_MAX)
		return NULL;
	report_copy(r->sums[r->n_sums].name, sizeof(r->sums[0].name), name);
	return &r->sums[r->n_sums++];
}

void report_sum_add(struct report_sum *to, const struct report_sum *s)
{
	if (!to)
		return;
	to->rows += s->rows;
	to->failed += s->failed;
	to->bytes += s->bytes;
	to->lat_ns += s->lat_ns;
	to->max_lat_ns = MAX(to->max_lat_ns, s->max_lat_ns);
}

/* If dltraced was killed after writing a sum, before removing its rows, the trace has both: then the rows count. */
bool report_row_rollup(struct scan *s)
{
	struct report_sum sum;
	uint64_t segment = 0;

	if (!scan_u64(s, COL_ROWS, &sum.rows) || !scan_u64(s, COL_FAILED, &sum.failed) ||
	    !scan_u64(s, COL_BYTES, &sum.bytes) || !scan_u64(s, COL_LAT_NS, &sum.lat_ns) ||
	    !scan_u64(s, COL_MAX_LAT_NS, &sum.max_lat_ns))
		return false;
	if (!scan_u64(s, COL_SEGMENT, &segment) || !is_there(s, scan_field(s, COL_PROBE), segment))
		report_sum_add(report_sum_of(s->report, scan_field(s, COL_PROBE)), &sum);
	return true;
}
