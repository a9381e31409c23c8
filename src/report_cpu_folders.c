/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which folders the calls went to that waited uninterruptibly: for a disk, or for what file systems do
 * with it. sched.out knows the call, but not its file; the files of the calls know their files and how
 * long they took, but not for what. So a folder's part
 * of a thread's waits in a call is by the latencies of that call's rows that went to its files: of those
 * that made the kernel fetch (DISK_BYTES) where there are any, else of all; of page faults, which are no
 * calls, by the sizes of what is mapped.
 */
#include "report_cpu_scan.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

enum { FID, REALPATH, TYPE };
static const char *const file_columns[] = { "FID", "REALPATH", "TYPE", NULL };
enum { PID, TID, COMM, FUNC, LAT_NS, CALL_FID, DISK_BYTES, LEN, RET };
static const char *const call_columns[] = {
	"PID", "TID", "COMM", "FUNC", "LAT_NS", "FID", "DISK_BYTES", "LEN", "RET", NULL,
};

/* --- files.out ------------------------------------------------------------------------------------------- */

/* The number of the folder PATH; 0 where there are too many. */
static uint32_t folder_number(struct report_cpu *r, struct reader_field path)
{
	uint32_t *n = table_get(&r->folder_ids, table_key(path.p, path.len));

	if (!n)
		return 0;
	if (!*n) {
		*n = report_cpu_number(&r->folder_ids, n);
		r->folder_names[*n] = strndup(path.p, path.len);
	}
	return *n;
}

static bool file_row(struct cpu_scan *s)
{
	struct reader_field path = cpu_field(s, REALPATH);
	const char *slash = path.len ? memrchr(path.p, '/', path.len) : NULL;
	uint32_t *folder;
	uint64_t fid;

	if (!cpu_u64(s, FID, &fid))
		return false;
	if (!slash || path.p[0] != '/' || !(cpu_is(s, TYPE, "reg") || cpu_is(s, TYPE, "dir") || cpu_is(s, TYPE, "blk")))
		return true;
	if (!cpu_is(s, TYPE, "dir"))
		path.len = slash == path.p ? 1 : (size_t)(slash - path.p);
	folder = table_get(&s->r->files, fid);
	if (folder)
		*folder = folder_number(s->r, path);
	return true;
}

/* --- calls ----------------------------------------------------------------------------------------------- */

/* io_submit:pread is io_submit; what io_uring does, if not a worker of it, is inside io_uring_enter. */
static struct reader_field call_of(struct reader_field func)
{
	static const char ring[] = "io_uring_enter";
	const char *colon = func.len ? memchr(func.p, ':', func.len) : NULL;

	if (!colon)
		return func;
	func.len = (size_t)(colon - func.p);
	return reader_is(func, "io_uring") ? (struct reader_field){ ring, sizeof(ring) - 1 } : func;
}

/* Process PROC under the row's name and FUNC, where that has waited so; NULL. */
static struct cpu_call *call_of_proc(struct cpu_scan *s, uint32_t proc, struct reader_field func)
{
	struct report_cpu *r = s->r;
	uint32_t task = report_cpu_task_known(r, CPU_TARGET, cpu_field(s, COMM));
	const struct cpu_role *role = table_find(&r->roles, report_cpu_pair(proc, task));
	struct cpu_call *c;

	if (!proc || !role || !(role->sums.disk_ns + role->sums.blocked_ns))
		return NULL;
	c = report_cpu_call(r, report_cpu_number(&r->roles, role), report_cpu_call_number(r, func), false);
	return c && c->disk_ns + c->blocked_ns ? c : NULL;
}

/* A text of up to 24 bytes, in words that may overlap. */
struct short_text {
	uint64_t first, middle, last;
	size_t len;
};

static inline uint64_t word_at(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return le64toh(word);
}

/* F is a field of a row, which has bytes before it. All zero: it is longer, or empty. */
static inline struct short_text short_text(struct reader_field f)
{
	if (f.len - 1 >= 24)
		return (struct short_text){ 0 };
	if (f.len < 8)
		return (struct short_text){ .last = word_at(f.p + f.len - 8) >> (64 - 8 * f.len), .len = f.len };
	return (struct short_text){
		.first = word_at(f.p), .middle = f.len > 16 ? word_at(f.p + 8) : 0, .last = word_at(f.p + f.len - 8), .len = f.len,
	};
}

static inline bool is_same(const struct short_text *a, const struct short_text *b)
{
	return ((a->first ^ b->first) | (a->middle ^ b->middle) | (a->last ^ b->last) | (a->len ^ b->len)) == 0;
}

/*
 * What the last rows of each process came to, as far as PIDs do not meet: mostly the next comes to the same. None of
 * the tables behind it changes while the rows of calls are read.
 */
struct cpu_caller {
	uint64_t pid; /* 0: none */
	struct cpu_call *call;
	struct short_text comm, func; /* as they stand in the row; where it is a wait of no call: as none does */
};

#define CALLERS 1024U

/* The row's process and name under its FUNC, or as WAIT where that is given, where it has waited so; NULL. */
static struct cpu_call *call_that_waited(struct cpu_scan *s, const char *wait)
{
	const struct reader_field comm = cpu_field(s, COMM), func = cpu_field(s, FUNC);
	const struct short_text comm_text = short_text(comm);
	const struct short_text func_text = wait ? (struct short_text){ .len = SIZE_MAX } : short_text(func);
	struct report_cpu *r = s->r;
	struct cpu_caller *known;
	struct cpu_call *call;
	const uint64_t pid = s->call.pid;
	uint32_t proc;

	if (!pid || pid > UINT32_MAX)
		return NULL;
	known = &r->callers[pid % CALLERS];
	if (known->pid == pid && is_same(&comm_text, &known->comm) && is_same(&func_text, &known->func))
		return known->call;
	proc = report_cpu_proc_at(r, (uint32_t)pid, s->time_ns - MIN(s->call.lat_ns, s->time_ns));
	call = call_of_proc(s, proc, wait ? (struct reader_field){ wait, strlen(wait) } : call_of(func));
	if (comm_text.len && func_text.len && !report_cpu_lived_before(r, (uint32_t)pid))
		*known = (struct cpu_caller){ .pid = pid, .call = call, .comm = comm_text, .func = func_text };
	return call;
}

/* The sums of C in FOLDER; NULL: there is no room. */
static struct cpu_folder *folder_of(struct report_cpu *r, struct cpu_call *c, uint32_t folder)
{
	struct cpu_folder *f;

	if (c->last_at && c->last_folder == folder) /* nearly always */
		return table_at(&r->folders, c->last_at - 1);
	f = table_get(&r->folders, report_cpu_pair(report_cpu_number(&r->calls, c), folder));
	if (!f)
		return NULL;
	f->call = report_cpu_number(&r->calls, c);
	f->folder = folder;
	c->last_folder = folder;
	c->last_at = report_cpu_number(&r->folders, f) + 1;
	return f;
}

static void add_to_folder(struct cpu_scan *s, struct cpu_call *c, uint64_t weight)
{
	struct report_cpu *r = s->r;
	const uint64_t bytes = s->call.disk_bytes;
	const uint32_t *folder = table_find(&r->files, s->call.fid);
	struct cpu_folder *f = folder ? folder_of(r, c, *folder) : NULL;

	if (!f)
		return;
	f->calls++;
	f->lat_ns += weight;
	c->lat_ns += weight;
	if (!bytes)
		return;
	f->disk_calls++;
	f->disk_bytes += bytes;
	f->disk_lat_ns += weight;
	c->disk_lat_ns += weight;
}

static void take_call(struct cpu_scan *s)
{
	struct cpu_call *c = call_that_waited(s, NULL);

	if (c)
		add_to_folder(s, c, s->call.lat_ns);
}

static void take_map(struct cpu_scan *s)
{
	struct cpu_call *c;

	if (!cpu_is(s, FUNC, "mmap") && !cpu_is(s, FUNC, "snapshot"))
		return;
	c = call_that_waited(s, "fault");
	if (c && !(cpu_field(s, RET).len && cpu_field(s, RET).p[0] == '-'))
		add_to_folder(s, c, s->call.len);
}

static void read_numbers(struct cpu_scan *s)
{
	s->call = (struct cpu_call_row){
		.pid = cpu_number(s, PID), .lat_ns = cpu_number(s, LAT_NS), .fid = cpu_number(s, CALL_FID),
		.disk_bytes = cpu_number(s, DISK_BYTES), .len = cpu_number(s, LEN),
	};
}

static bool call_row(struct cpu_scan *s)
{
	read_numbers(s);
	take_call(s);
	return true;
}

static bool map_row(struct cpu_scan *s)
{
	read_numbers(s);
	take_map(s);
	return true;
}

/* --- all of it ------------------------------------------------------------------------------------------- */

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

/* In the order in which they are told of. */
static const struct {
	const char *name;
	bool (*read)(struct cpu_scan *s);
	void (*take)(struct cpu_scan *s); /* one that is read */
} call_files[] = {
	{ "create_del", call_row, take_call }, { "open", call_row, take_call }, { "sync", call_row, take_call },
	{ "vfs_rw", call_row, take_call },     { "mmap", map_row, take_map },
};

int report_cpu_folders_begin(struct report_cpu *r, int dirfd)
{
	r->folder_names = calloc(CPU_FOLDERS_MAX, sizeof(*r->folder_names));
	if (!r->folder_names || !table_get(&r->folder_ids, UINT64_MAX))
		return -ENOMEM;
	if (!any_wait(r) || report_cpu_scan(r, dirfd, "files", file_columns, file_row, NULL) < 0)
		return 0;
	r->call_scans = calloc(ARRAY_SIZE(call_files), sizeof(*r->call_scans));
	r->callers = calloc(CALLERS, sizeof(*r->callers));
	return r->call_scans && r->callers ? 0 : -ENOMEM;
}

void report_cpu_folders_read(struct report_cpu *r, int dirfd)
{
	for (size_t i = 0; r->call_scans && i < ARRAY_SIZE(call_files); i++)
		report_cpu_scan(r, dirfd, call_files[i].name, call_columns, call_files[i].read, NULL);
}

void report_cpu_folders_end(struct report_cpu *r)
{
	for (size_t i = 0; r->call_scans && i < ARRAY_SIZE(call_files); i++)
		if (r->call_scans[i].r) /* it was given */
			report_cpu_note_file(&r->call_scans[i], call_files[i].name, r->call_scans[i].error);
}

/* --- rows that somebody else reads ---------------------------------------------------------------------- */

static struct cpu_scan *scan_of(struct report_cpu *r, const char *name)
{
	for (size_t i = 0; r && r->call_scans && i < ARRAY_SIZE(call_files); i++)
		if (strcmp(call_files[i].name, name) == 0) {
			r->call_scans[i].r = r;
			r->call_scans[i].take_call = call_files[i].take;
			return &r->call_scans[i];
		}
	return NULL;
}

struct cpu_scan *report_cpu_calls_begin(struct report_cpu *r, const char *name, const struct reader *rd)
{
	struct cpu_scan *s = scan_of(r, name);

	if (!s)
		return NULL;
	for (unsigned int i = 0; call_columns[i]; i++)
		s->at[i] = reader_column(rd, call_columns[i]);
	return s;
}

void report_cpu_calls_row(struct cpu_scan *s, const struct reader_row *row, uint64_t time_ns,
			  const struct cpu_call_row *numbers)
{
	s->row = row;
	s->time_ns = time_ns;
	s->call = *numbers;
	s->take_call(s);
}

void report_cpu_calls_end(struct report_cpu *r, const char *name, const struct reader *rd, uint64_t bad_rows, int error)
{
	struct cpu_scan *s = scan_of(r, name);

	if (!s)
		return;
	s->reader = *rd; /* of which only counts are looked at */
	s->bad_rows = bad_rows;
	s->error = error;
}
