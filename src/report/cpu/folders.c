/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folders of calls that waited uninterruptibly, for a disk or for what file systems do with it. sched.out has the
 * call, but not its file; the rows of calls have the file and the latency, but no cause of waits. So the waits of a
 * thread in a call are divided among folders in proportion to the latencies of that call's rows on their files: only of
 * rows that made the kernel fetch (DISK_BYTES) if there are any, otherwise of all. For page faults, which are not
 * calls, the sizes of the mappings count.
 */
#include "report/cpu/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/cpu/scan.h"

/* The calls of one file, while its rows are taken. */
struct cpu_calls {
	struct report_cpu *r;
	char *wait; /* the name of the rows' waits in sched.out; NULL: their FUNC */
	uint64_t bad_rows;
};

/* --- files.out ------------------------------------------------------------------------------------------- */

bool report_cpu_files_row(struct scan *s, void *own)
{
	struct report_cpu *r = own;
	struct reader_field path = scan_field(s, COL_REALPATH);
	uint32_t *folder;
	uint64_t fid;

	if (!scan_u64(s, COL_FID, &fid))
		return false;
	if (!path.len || path.p[0] != '/' ||
	    !(scan_is(s, COL_TYPE, "reg") || scan_is(s, COL_TYPE, "dir") || scan_is(s, COL_TYPE, "blk")))
		return true;
	folder = table_get(&r->files, fid);
	if (folder)
		*folder = scan_is(s, COL_TYPE, "dir") ? folders_number(&r->tree, path) :
							folders_number_above(&r->tree, path);
	return true;
}

/* --- calls ----------------------------------------------------------------------------------------------- */

/*
 * Returns the call that FUNC was made in: io_submit for io_submit:pread. Requests of io_uring run in io_uring_enter,
 * unless a worker thread runs them.
 */
static struct reader_field call_of(struct reader_field func)
{
	static const char ring[] = "io_uring_enter";
	const char *colon = func.len ? memchr(func.p, ':', func.len) : NULL;

	if (!colon)
		return func;
	func.len = (size_t)(colon - func.p);
	return reader_is(func, "io_uring") ? (struct reader_field){ ring, sizeof(ring) - 1 } : func;
}

/* Returns process PROC's call FUNC, under the row's COMM, if it waited uninterruptibly; else NULL. */
static struct cpu_call *call_of_proc(struct report_cpu *r, const struct scan *s, uint32_t proc,
				     struct reader_field func)
{
	uint32_t task = report_cpu_task_known(r, CPU_TARGET, scan_field(s, COL_COMM));
	const struct cpu_role *role = table_find(&r->roles, report_cpu_pair(proc, task));
	struct cpu_call *c;

	if (!proc || !role || !(role->sums.disk_ns + role->sums.blocked_ns))
		return NULL;
	c = report_cpu_call(r, report_cpu_number(&r->roles, role), report_cpu_call_number(r, func), false);
	return c && c->disk_ns + c->blocked_ns ? c : NULL;
}

/* The fields of a row that are used here; 0 where the row has no number. */
struct call_row {
	uint64_t time_ns, pid, lat_ns, fid, disk_bytes, len;
};

/*
 * A cache of each process's latest row: the next one mostly belongs to the same call. PIDs may share an entry. None of
 * the tables behind it changes while the rows of a file are read.
 */
struct cpu_caller {
	uint64_t pid; /* 0: none */
	struct cpu_call *call;
	uint32_t len;
	char text[44]; /* from COMM to FUNC, as in the row */
};
_Static_assert(sizeof(struct cpu_caller) == 64, "it is to be one cache line");

#define CALLERS 1024U

/* Returns the row from COMM to FUNC; an empty field where the file has these columns in another order. */
static inline struct reader_field pid_and_fid(const struct scan *s)
{
	const struct reader_field comm = scan_field(s, COL_COMM), func = scan_field(s, COL_FUNC);
	const bool in_order = s->at[COL_COMM] && s->at[COL_COMM] < s->at[COL_FUNC];

	return (struct reader_field){ comm.p, in_order ? (size_t)(func.p + func.len - comm.p) : 0 };
}

static struct cpu_call *find_call(const struct cpu_calls *of, const struct scan *scan, const struct call_row *row,
				  struct cpu_caller *known, struct reader_field text)
{
	const uint32_t pid = (uint32_t)row->pid;
	struct reader_field func =
		of->wait ? (struct reader_field){ of->wait, strlen(of->wait) } : call_of(scan_field(scan, COL_FUNC));
	uint32_t proc = report_cpu_proc_at(of->r, pid, row->time_ns - MIN(row->lat_ns, row->time_ns));
	struct cpu_call *call = call_of_proc(of->r, scan, proc, func);

	if (text.len && text.len <= sizeof(known->text) && !report_cpu_lived_before(of->r, pid)) {
		*known = (struct cpu_caller){ .pid = pid, .call = call, .len = (uint32_t)text.len };
		memcpy(known->text, text.p, text.len);
	}
	return call;
}

/* Returns the call that the row belongs to, if it waited uninterruptibly; else NULL. */
static inline struct cpu_call *call_that_waited(const struct cpu_calls *of, const struct scan *s,
						const struct call_row *c)
{
	const struct reader_field text = pid_and_fid(s);
	struct cpu_caller *known = &of->r->callers[c->pid % CALLERS];

	if (!c->pid || c->pid > UINT32_MAX)
		return NULL;
	if (known->pid == c->pid && known->len == text.len && memcmp(known->text, text.p, text.len) == 0)
		return known->call;
	return find_call(of, s, c, known, text);
}

/* Returns the sums of CALL in FOLDER; NULL when there is no room. */
static struct cpu_folder *folder_of(struct report_cpu *cpu, struct cpu_call *call, uint32_t folder)
{
	struct cpu_folder *cpu_folder;

	if (call->last_at && call->last_folder == folder) /* nearly always so */
		return table_at(&cpu->folders, call->last_at - 1);
	cpu_folder = table_get(&cpu->folders, report_cpu_pair(report_cpu_number(&cpu->calls, call), folder));
	if (!cpu_folder)
		return NULL;
	cpu_folder->call = report_cpu_number(&cpu->calls, call);
	cpu_folder->folder = folder;
	call->last_folder = folder;
	call->last_at = report_cpu_number(&cpu->folders, cpu_folder) + 1;
	return cpu_folder;
}

static inline void add_to_folder(struct report_cpu *cpu, struct cpu_call *call, const struct call_row *row,
				 uint64_t weight)
{
	const uint32_t *folder = table_find(&cpu->files, row->fid);
	struct cpu_folder *cpu_folder = folder ? folder_of(cpu, call, *folder) : NULL;
	const uint64_t disk_weight = row->disk_bytes ? weight : 0;

	if (!cpu_folder)
		return;
	/* without a branch on whether the row fetched, which the processor cannot predict */
	cpu_folder->calls++;
	cpu_folder->lat_ns += weight;
	call->lat_ns += weight;
	cpu_folder->disk_calls += row->disk_bytes != 0;
	cpu_folder->disk_bytes += row->disk_bytes;
	cpu_folder->disk_lat_ns += disk_weight;
	call->disk_lat_ns += disk_weight;
}

/* Whether the row, of mmap.out, is of a new mapping. */
static bool is_map(const struct scan *s)
{
	const struct reader_field ret = scan_field(s, COL_RET);

	return (scan_is(s, COL_FUNC, "mmap") || scan_is(s, COL_FUNC, "snapshot")) && !(ret.len && ret.p[0] == '-');
}

static inline void take_call(const struct cpu_calls *of, const struct scan *s, const struct call_row *row)
{
	struct cpu_call *c = of->wait && !is_map(s) ? NULL : call_that_waited(of, s, row);

	if (c)
		add_to_folder(of->r, c, row, of->wait ? row->len : row->lat_ns);
}

void report_cpu_calls_rows(struct cpu_calls *of, struct scan *scan)
{
	for (scan->row = 0; scan->row < scan->n; scan->row++) {
		const struct call_row row = {
			.time_ns = scan_number(scan, COL_TIMESTAMP),
			.pid = scan_number(scan, COL_PID),
			.lat_ns = scan_number(scan, COL_LAT_NS),
			.fid = scan_number(scan, COL_FID),
			.disk_bytes = scan_number(scan, COL_DISK_BYTES),
			.len = scan_number(scan, COL_LEN),
		};

		if (row.time_ns)
			take_call(of, scan, &row);
		else
			of->bad_rows++;
	}
}

/* --- in order -------------------------------------------------------------------------------------------- */

static bool any_wait(const struct report_cpu *r)
{
	for (uint32_t i = 1; i < r->calls.n; i++) {
		const struct cpu_call *c = table_at(&r->calls, i);

		if (c->disk_ns + c->blocked_ns)
			return true;
	}
	return false;
}

uint64_t report_cpu_folder_ns(const struct report_cpu *r, const struct cpu_folder *f, uint64_t wait_ns)
{
	const struct cpu_call *c = table_at(&r->calls, f->call);
	uint64_t part = c->disk_lat_ns ? f->disk_lat_ns : f->lat_ns,
		 whole = c->disk_lat_ns ? c->disk_lat_ns : c->lat_ns;

	return whole ? (uint64_t)((double)wait_ns * ((double)part / (double)whole)) : 0;
}

static char fault[] = "fault";

/* In the order of their notes. */
static const struct {
	const char *name;
	char *wait; /* as in struct cpu_calls */
} call_files[] = {
	{ "create_del", NULL }, { "open", NULL }, { "sync", NULL }, { "vfs_rw", NULL }, { "mmap", fault },
};

int report_cpu_folders_begin(struct report_cpu *cpu)
{
	if (!any_wait(cpu))
		return 0;
	cpu->call_files = calloc(ARRAY_SIZE(call_files), sizeof(*cpu->call_files));
	cpu->callers = aligned_alloc(sizeof(*cpu->callers), CALLERS * sizeof(*cpu->callers));
	if (!cpu->call_files || !cpu->callers)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(call_files); i++)
		cpu->call_files[i] = (struct cpu_calls){ .r = cpu, .wait = call_files[i].wait };
	return 1;
}

void report_cpu_files_end(struct report_cpu *r, const struct scan_file *files, const struct scan_taker *t)
{
	report_cpu_note_file(r, files, t->bad_rows);
	if (!files->error)
		return;
	free(r->call_files);
	r->call_files = NULL;
}

struct cpu_calls *report_cpu_calls_begin(struct report_cpu *r, const struct scan *s)
{
	for (size_t i = 0; r && r->call_files && i < ARRAY_SIZE(call_files); i++)
		if (strcmp(call_files[i].name, s->file->name) == 0) {
			/* the cache is per file, as the same name may be another call in another file */
			memset(r->callers, 0, CALLERS * sizeof(*r->callers));
			return &r->call_files[i];
		}
	return NULL;
}

/* Reads a file of calls that nothing else reads. */
static int read_calls(struct report_cpu *r, struct scan_folder *folder, const char *name)
{
	struct scan s = { .report = NULL };
	int res = scan_begin(&s, folder, name);
	struct cpu_calls *calls = res < 0 ? NULL : report_cpu_calls_begin(r, &s);

	while (calls && (res = scan_rows(&s)) > 0)
		report_cpu_calls_rows(calls, &s);
	return res;
}

void report_cpu_folders_read(struct report_cpu *r, struct scan_folder *folder)
{
	for (size_t i = 0; r->call_files && i < ARRAY_SIZE(call_files); i++)
		scan_file(folder, call_files[i].name)->error = read_calls(r, folder, call_files[i].name);
}

void report_cpu_folders_end(struct report_cpu *r, struct scan_folder *folder)
{
	for (size_t i = 0; r->call_files && i < ARRAY_SIZE(call_files); i++)
		report_cpu_note_file(r, scan_file(folder, call_files[i].name), r->call_files[i].bad_rows);
}
