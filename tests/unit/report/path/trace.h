/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small traces written by hand, for the path of their root: a test puts rows, reads the trace, and compares the parts
 * with what it has computed by hand. However wrong the rows are, both ways through the time add up to all of it.
 */
#ifndef REPORT_PATH_TRACE_H
#define REPORT_PATH_TRACE_H

#include <stdlib.h>

#include "report/path/path.h"
#include "report/report.h"
#include "report/scan/model.h"
#include "tree.h"

#define MS 1000000ULL
#define BEGIN (1000 * NSEC_PER_SEC)

enum trace_file {
	PIDS,
	FILES,
	WAITS,
	SCHED,
	OPEN,
	CREATE_DEL,
	CLOSE,
	MMAP,
	RW,
	SYNC,
	FAULT,
	MARKS,
	BIO,
	RECLAIM,
	REGIONS,
	GPU,
	NET,
	SOCKETS,
	META_SUMS,
	CGROUPS,
	TRACE_FILES
};

static const char *const trace_columns[TRACE_FILES] = {
	[PIDS] = "pids 1\nTIMESTAMP\tTIME\tPID\tTID\tPPID\tCOMM\tEVENT\tSTATUS\tNSPID\tUID\tCGROUP\tRANK\tARGS",
	[FILES] = "files 1\nTIMESTAMP\tTIME\tFID\tDEV\tINO\tTYPE\tFSTYPE\tSIZE\tSTATE\tREALPATH",
	[WAITS] = "waits 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tCALL\tSTATE\tLAT_NS\tRUNQ_NS\tBY\tBY_PID\tBY_TID\tBY_COMM"
		  "\tPEER\tFID\tFILE\tTHROTTLED_NS\tBY_CALL",
	[SCHED] = "sched 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tKIND\tCPU\tCALL\tSPAN_NS\tCOUNT\tPREEMPTED\tRUN_NS"
		  "\tRUNQ_NS\tDISK_NS\tBLOCKED_NS\tSLEEP_NS\tMAX_NS\tBY\tBY_PID\tBY_TID\tTHROTTLED_NS",
	[OPEN] = "open 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tFUNC\tLAT_NS\tVFS_LAT_NS\tRET\tFLAGS\tMODE\tFID\tFILE\tPATH"
		 "\tREALPATH",
	[CREATE_DEL] = "create_del 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tFUNC\tLAT_NS\tRET\tMODE\tFLAGS\tFID\tPATH\tPATH2"
		       "\tFID_BY",
	[CLOSE] = "close 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tFUNC\tLAT_NS\tRET\tFD\tLAST\tFID\tFILE",
	[MMAP] = "mmap 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tFUNC\tLAT_NS\tRET\tADDR\tLEN\tPROT\tFLAGS\tFD\tOFFSET"
		 "\tOLD_ADDR\tOLD_LEN\tFID\tFILE",
	[RW] = "vfs_rw 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tRW\tFUNC\tLAT_NS\tREQUESTED\tRETURNED\tOFFSET\tDISK_BYTES"
	       "\tFD\tFLAGS\tFID\tFILE",
	[SYNC] = "sync 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tFUNC\tLAT_NS\tRET\tFD\tOFFSET\tLEN\tFID\tFILE",
	[FAULT] =
		"fault 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tFUNC\tKIND\tLAT_NS\tADDR\tIP\tOFFSET\tDISK_BYTES\tFID\tFILE",
	[MARKS] = "marks 1\nTIMESTAMP\tTIME\tPID\tTEXT",
	[BIO] = "bio 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tDONEPID\tDONECOMM\tDISK\tT\tSECTOR\tBYTES\tLAT_NS\tQLAT_NS"
		"\tFLAGS\tSTATUS\tKIND\tFID\tFOFF\tEXTENTS\tWPID\tWTID\tWCOMM\tWN\tFILE",
	[RECLAIM] = "reclaim 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tKIND\tLAT_NS\tPAGES",
	[REGIONS] =
		"regions 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tCAT\tNAME\tLAT_NS\tRET\tEPOCH\tSTEP\tBYTES\tLANE\tSOURCE"
		"\tARGS",
	[GPU] = "gpu 1\nTIMESTAMP\tTIME\tDate\tTime\tgpu\tpid\ttype\tsm\tmem\tenc\tdec\tjpg\tofa\tfb\tccpm\tcommand",
	[NET] = "net 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tCALL\tRW\tSPAN_NS\tCOUNT\tBYTES\tAGAIN\tFAILED\tTIME_NS\tMAX_NS"
		"\tRET\tFID",
	[SOCKETS] = "sockets 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tFID\tSTATE\tFAMILY\tTYPE\tPROTO\tLOCAL\tPEER\tPATH"
		    "\tPEER_PID\tSPAN_NS\tRECEIVED\tSENT\tCONNECT_NS\tFIRST_NS\tRESENT",
	[META_SUMS] = "meta_sums 1\nTIMESTAMP\tTIME\tPID\tCOMM\tFUNC\tREQUEST\tSPAN_NS\tCOUNT\tFAILED\tERRNO"
		      "\tTIME_NS\tMAX_NS\tDIR",
	[CGROUPS] = "cgroup 1\nTIMESTAMP\tTIME\tLEVEL\tSPAN_NS\tCPU_MAX\tPERIODS\tTHROTTLED\tTHROTTLED_NS\tMEM_BYTES"
		    "\tMEM_MAX\tREFAULT_FILE\tMAX_EVENTS\tMEM_SOME_NS\tMEM_FULL_NS\tIO_SOME_NS\tIO_FULL_NS\tCGROUP",
};
static const char *const trace_names[TRACE_FILES] = {
	[PIDS] = "pids.out",
	[FILES] = "files.out",
	[WAITS] = "waits.out",
	[SCHED] = "sched.out",
	[OPEN] = "open.out",
	[CREATE_DEL] = "create_del.out",
	[CLOSE] = "close.out",
	[MMAP] = "mmap.out",
	[RW] = "vfs_rw.out",
	[SYNC] = "sync.out",
	[FAULT] = "fault.out",
	[MARKS] = "marks.out",
	[BIO] = "bio.out",
	[RECLAIM] = "reclaim.out",
	[REGIONS] = "regions.out",
	[GPU] = "gpu.out",
	[NET] = "net.out",
	[SOCKETS] = "sockets.out",
	[META_SUMS] = "meta_sums.out",
	[CGROUPS] = "cgroup.out",
};

/* Adds a row that ends at END after the begin, in ns. */
static inline void __attribute__((format(printf, 3, 4))) put(enum trace_file file, uint64_t end, const char *fmt, ...)
{
	autofree char *path = tree_path(trace_names[file]);
	FILE *out = fopen(path, "a");
	va_list ap;

	assert_non_null(out);
	if (ftell(out) == 0)
		fprintf(out, "# dltraced %s\n", trace_columns[file]);
	fprintf(out, "%llu\t2026-11-21T01:02:03.000000000Z\t", (unsigned long long)(BEGIN + end));
	va_start(ap, fmt);
	vfprintf(out, fmt, ap);
	va_end(ap);
	fputc('\n', out);
	assert_int_equal(fclose(out), 0);
}

/* An event of pids.out; STATUS: that of a process that ends, else NULL. */
static inline void put_event(uint64_t at, const char *event, unsigned int pid, unsigned int tid, unsigned int ppid,
			     const char *comm, const char *status)
{
	put(PIDS, at, "%u\t%u\t%u\t%s\t%s\t%s\t%u\t0\t/\t-\t-", pid, tid, ppid, comm, event, status ? status : "-",
	    pid);
}

/* A process from its fork to its end, and its program. */
static inline void put_process(unsigned int pid, unsigned int ppid, const char *comm, uint64_t begin, uint64_t end)
{
	put_event(begin, "fork", pid, pid, ppid, comm, NULL);
	put_event(end, "exit", pid, pid, ppid, comm, "0");
}

/* Process PID, which a launcher executes as RANK. */
static inline void put_launched(unsigned int pid, unsigned int ppid, const char *comm, uint64_t begin, uint64_t end,
				unsigned int rank)
{
	put_event(begin, "fork", pid, pid, ppid, comm, NULL);
	put(PIDS, begin, "%u\t%u\t%u\t%s\texec\t-\t%u\t0\t/\t%u\t-", pid, pid, ppid, comm, pid, rank);
	put_event(end, "exit", pid, pid, ppid, comm, "0");
}

/* The root: it executes its program at the begin. */
static inline void put_root(unsigned int pid, const char *comm, uint64_t end)
{
	put_event(0, "exec", pid, pid, 1, comm, NULL);
	put_event(end, "exit", pid, pid, 1, comm, "0");
}

/* A wait; what is not given is `-'. */
struct put_wait {
	uint64_t from, to, runq, throttled; /* THROTTLED 0: as in a trace without that column */
	unsigned int pid, tid; /* TID: 0: PID */
	const char *call, *state, *by;
	unsigned int by_pid, by_tid;
	const char *by_comm, *by_call, *peer;
	unsigned int fid;
	const char *file;
};

static inline const char *or_dash(const char *text)
{
	return text ? text : "-";
}

static inline const char *number_or_dash(unsigned int v)
{
	static char text[4][16];
	static unsigned int n;

	snprintf(text[++n % 4], 16, "%u", v);
	return v ? text[n % 4] : "-";
}

static inline void put_wait_row(const struct put_wait *w)
{
	char throttled[24] = "-";

	if (w->throttled)
		snprintf(throttled, sizeof(throttled), "%llu", (unsigned long long)w->throttled);
	put(WAITS, w->to, "%u\t%u\tx\t%s\t%s\t%llu\t%llu\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", w->pid,
	    w->tid ? w->tid : w->pid, w->call ? w->call : "read", w->state ? w->state : "sleep",
	    (unsigned long long)(w->to - w->from), (unsigned long long)w->runq, or_dash(w->by),
	    number_or_dash(w->by_pid), number_or_dash(w->by_tid ? w->by_tid : w->by_pid), or_dash(w->by_comm),
	    or_dash(w->peer), number_or_dash(w->fid), or_dash(w->file), throttled, or_dash(w->by_call));
}

#define put_wait(...) put_wait_row(&(struct put_wait){ __VA_ARGS__ })

/* A regular file. Its name in the rows of calls is the end of PATH. */
static inline void put_file(unsigned int fid, const char *path)
{
	put(FILES, 0, "%u\t259:2\t%u\treg\text4\t1048576\tok\t%s", fid, fid, path);
}

/* A call on a file. */
struct put_call {
	uint64_t from, to;
	unsigned int pid, tid; /* TID: 0: PID */
	const char *func; /* NULL: the usual one */
	unsigned int fid;
	const char *file;
	uint64_t bytes; /* read or written */
};

static inline void put_open_row(const struct put_call *c)
{
	put(OPEN, c->to, "%u\t%u\tx\t%s\t%llu\t-\t5\tRDONLY|CLOEXEC\t-\t%u\t%s\t%s\t/%s", c->pid,
	    c->tid ? c->tid : c->pid, c->func ? c->func : "openat", (unsigned long long)(c->to - c->from), c->fid,
	    c->file, c->file, c->file);
}

static inline void put_rw_row(char rw, const struct put_call *c)
{
	const unsigned long long bytes = c->bytes;

	put(RW, c->to, "%u\t%u\tx\t%c\t%s\t%llu\t%llu\t%llu\t0\t0\t5\t-\t%u\t%s", c->pid, c->tid ? c->tid : c->pid, rw,
	    c->func   ? c->func :
	    rw == 'R' ? "read" :
			"write",
	    (unsigned long long)(c->to - c->from), bytes, bytes, c->fid, c->file);
}

static inline void put_sync_row(const struct put_call *c)
{
	put(SYNC, c->to, "%u\t%u\tx\t%s\t%llu\t0\t5\t-\t-\t%u\t%s", c->pid, c->tid ? c->tid : c->pid,
	    c->func ? c->func : "fsync", (unsigned long long)(c->to - c->from), c->fid, c->file);
}

static inline void put_map_row(const struct put_call *c)
{
	put(MMAP, c->to, "%u\t%u\tx\tmmap\t%llu\t0x7f0000000000\t0x0\t%llu\tREAD\tSHARED\t5\t0\t-\t-\t%u\t%s", c->pid,
	    c->tid ? c->tid : c->pid, (unsigned long long)(c->to - c->from), (unsigned long long)c->bytes, c->fid,
	    c->file);
}

#define put_open(...) put_open_row(&(struct put_call){ __VA_ARGS__ })
#define put_read(...) put_rw_row('R', &(struct put_call){ __VA_ARGS__ })
#define put_write(...) put_rw_row('W', &(struct put_call){ __VA_ARGS__ })
#define put_sync(...) put_sync_row(&(struct put_call){ __VA_ARGS__ })
#define put_map(...) put_map_row(&(struct put_call){ __VA_ARGS__ })

/* A region of the first thread of PID. */
static inline void put_region(unsigned int pid, uint64_t from, uint64_t to, const char *cat, const char *name)
{
	put(REGIONS, to, "%u\t%u\tx\t%s\t%s\t%llu\t0\t-\t-\t-\t-\ttorch\t-", pid, pid, cat, name,
	    (unsigned long long)(to - from));
}

static inline void put_workload(unsigned int pid, uint64_t end)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "{\"tool\":\"dltraced\",\"workload\":{\"pid\":%u},\"start\":{\"monotonic_ns\":%llu},"
		 "\"end\":{\"monotonic_ns\":%llu}}",
		 pid, BEGIN, (unsigned long long)(BEGIN + end));
	tree_put("manifest.json", text);
}

/* Expects that the parts of each root add up to its time. */
static inline void expect_whole(const struct report *r)
{
	for (unsigned int i = 0; i < r->path->n; i++) {
		const struct report_path_root *root = &r->path->root[i];
		uint64_t ns = 0, chain_ns = 0;

		for (uint32_t part = 0; part < root->sums.n; part++) {
			ns += root->sums.v[part].ns;
			chain_ns += root->sums.v[part].chain_ns;
		}
		assert_int_equal(ns, root->end_ns - root->begin_ns);
		assert_int_equal(chain_ns, root->end_ns - root->begin_ns);
	}
}

static inline struct report *path_loaded_with(const struct report_options *o)
{
	struct report *r = NULL;

	if (access(tree, F_OK) == 0 && report_load(&r, tree, o) < 0)
		fail_msg("the trace cannot be read");
	assert_non_null(r->path);
	expect_whole(r);
	return r;
}

static inline struct report *path_loaded(void)
{
	struct report *r = path_loaded_with(&(struct report_options){ .timed = false });

	assert_true(r->path->n > 0);
	return r;
}

/* Whether SUM is KIND, as in JSON, of OWNER: a process, or with a quote at the end a further thread of it. */
static inline bool is_part(const struct report *r, const struct path_sum *sum, const char *kind, const char *owner,
			   const char *detail)
{
	const char *name = path_name_text(&r->path->names, sum->leaf.process);
	const char *text = path_name_text(&r->path->names, sum->leaf.detail);
	const size_t len = strcspn(owner, "'");

	return strcmp(path_kinds[sum->leaf.kind].name, kind) == 0 && sum->leaf.thread == (owner[len] != '\0') &&
	       strlen(or_dash(name)) == len && strncmp(or_dash(name), owner, len) == 0 &&
	       (!detail || strcmp(or_dash(text), detail) == 0);
}

static inline struct path_sum part_of(const struct report *r, const char *kind, const char *owner, const char *detail)
{
	const struct path_sums *sums = &r->path->root[0].sums;
	struct path_sum all = { .ns = 0 };

	for (uint32_t i = 0; i < sums->n; i++) {
		if (!is_part(r, &sums->v[i], kind, owner, detail))
			continue;
		all.leaf = sums->v[i].ns || !all.ns ? sums->v[i].leaf : all.leaf;
		all.ns += sums->v[i].ns;
		all.chain_ns += sums->v[i].chain_ns;
	}
	return all;
}

/* Expects NS of a part; DETAIL: NULL: any. */
static inline void expect_part(const struct report *r, const char *kind, const char *owner, const char *detail,
			       uint64_t ns)
{
	const uint64_t got = part_of(r, kind, owner, detail).ns;

	if (got != ns)
		fail_msg("%s of %s (%s): %llu us and not %llu us", kind, owner, or_dash(detail),
			 (unsigned long long)got / 1000, (unsigned long long)ns / 1000);
}

static inline void expect_chain(const struct report *r, const char *kind, const char *owner, const char *detail,
				uint64_t ns)
{
	const uint64_t got = part_of(r, kind, owner, detail).chain_ns;

	if (got != ns)
		fail_msg("%s of %s (%s) on the chain: %llu us and not %llu us", kind, owner, or_dash(detail),
			 (unsigned long long)got / 1000, (unsigned long long)ns / 1000);
}

static inline uint64_t wall_of(const struct report *r)
{
	return r->path->root[0].end_ns - r->path->root[0].begin_ns;
}

#endif
