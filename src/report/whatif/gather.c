/* SPDX-License-Identifier: BSD-2-Clause */
/* See gather.h. */
#include "report/whatif/gather.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"

#define SHORT_NS 300000.0 /* a read from the page cache takes less, beside its copy */
#define COPY_BYTES_PER_NS 2.0

/* --- windows
 * ------------------------------------------------------------------------------------------------------------ */

static struct whatif_thread *thread_of(struct whatif_gather *gather, uint64_t pid, uint64_t tid)
{
	uint32_t *at = table_get(&gather->by_tid, tid), *process = table_get(&gather->by_pid, pid);

	if (!at || !process)
		return NULL;
	if (!*at) {
		if (util_room(&gather->threads, gather->n, sizeof(*gather->threads)) < 0)
			return NULL;
		gather->threads[gather->n] = (struct whatif_thread){ .pid = pid, .tid = tid };
		*at = ++gather->n;
		*process = *process ?: *at;
	}
	return &gather->threads[*at - 1];
}

static bool add_window(struct whatif_thread *thread, const struct whatif_span *span, enum whatif_window_kind kind,
		       uint32_t index)
{
	if (span->begin_ns >= span->end_ns)
		return true;
	if (util_room(&thread->windows, thread->n, sizeof(*thread->windows)) < 0)
		return false;
	thread->windows[thread->n++] = (struct whatif_window){ .span = *span, .kind = kind, .index = index };
	return true;
}

/* Adds step I, cut where checkpoints begin and end. *SAVE: the first checkpoint that may lie in it. */
static bool add_step(struct whatif_thread *thread, const struct whatif_epoch *epoch, uint32_t i, uint32_t *save)
{
	struct whatif_span left = { epoch->fetches[i].end_ns, epoch->fetches[i + 1].begin_ns };
	bool added = true;

	for (; *save < epoch->n_saves && epoch->saves[*save].begin_ns < left.end_ns; ++*save) {
		const struct whatif_span all = epoch->saves[*save];
		const struct whatif_span part = { MAX(all.begin_ns, left.begin_ns), MIN(all.end_ns, left.end_ns) };

		if (part.begin_ns >= part.end_ns)
			continue;
		added &= add_window(thread, &(struct whatif_span){ left.begin_ns, part.begin_ns }, WHATIF_STEP, i) &&
			 add_window(thread, &part, WHATIF_SAVE, i);
		left.begin_ns = part.end_ns;
	}
	return added && add_window(thread, &left, WHATIF_STEP, i);
}

static int by_begin(const void *a, const void *b)
{
	const struct whatif_window *x = a, *y = b;

	return (x->span.begin_ns > y->span.begin_ns) - (x->span.begin_ns < y->span.begin_ns);
}

int whatif_gather_begin(struct whatif_gather *gather, const struct whatif_epoch *epoch)
{
	uint32_t save = 0;
	bool added;

	*gather = (struct whatif_gather){ .epoch = epoch };
	table_init_pids(&gather->by_tid, sizeof(uint32_t), WHATIF_WORKERS_MAX + 1);
	table_init_pids(&gather->by_pid, sizeof(uint32_t), WHATIF_WORKERS_MAX + 1);
	added = thread_of(gather, epoch->pid, epoch->tid);
	for (uint32_t i = 0; added && i < epoch->n; i++)
		added = add_step(&gather->threads[0], epoch, i, &save);
	for (uint32_t i = 0; added && epoch->loader.workers && i < epoch->n; i++)
		added = add_window(&gather->threads[0], &epoch->fetches[i], WHATIF_FETCH, i);
	for (uint32_t i = 0; added && i < epoch->n; i++) {
		const struct whatif_made *made = &epoch->made[i];
		struct whatif_thread *thread = thread_of(gather, made->pid, made->tid);

		added = thread && add_window(thread, &made->span, WHATIF_BATCH, i);
	}
	for (uint32_t i = 0; i < gather->n; i++)
		qsort(gather->threads[i].windows, gather->threads[i].n, sizeof(*gather->threads[i].windows), by_begin);
	return added ? 0 : -ENOMEM;
}

/* Returns the window of THREAD that AT_NS is in; NULL: none. */
static struct whatif_window *window_at(const struct whatif_thread *thread, uint64_t at_ns)
{
	uint32_t low = 0, high = thread->n;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (thread->windows[middle].span.end_ns <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < thread->n && thread->windows[low].span.begin_ns <= at_ns ? &thread->windows[low] : NULL;
}

static struct whatif_thread *thread_at(const struct whatif_gather *gather, uint64_t tid)
{
	const uint32_t *at = table_find(&gather->by_tid, tid);

	return at && *at ? &gather->threads[*at - 1] : NULL;
}

static bool is_of_epoch(const struct whatif_gather *gather, uint64_t begin_ns)
{
	return begin_ns >= gather->epoch->whole.begin_ns && begin_ns < gather->epoch->until_ns;
}

/* --- calls
 * -------------------------------------------------------------------------------------------------------------- */

static void keep_read(struct whatif_gather *gather, const struct whatif_thread *thread, uint64_t begin_ns,
		      uint64_t end_ns, uint64_t bytes)
{
	if (!bytes || end_ns <= begin_ns)
		return;
	if (gather->n_reads == WHATIF_READS_MAX) {
		gather->reads_left_out++;
		return;
	}
	if (util_room(&gather->reads, gather->n_reads, sizeof(*gather->reads)) < 0) {
		gather->failed = true;
		return;
	}
	gather->reads[gather->n_reads++] = (struct whatif_read){ .span = { begin_ns, end_ns },
								 .bytes = bytes,
								 .reader = (uint32_t)(thread - gather->threads) };
}

/* A wait for storage: of a call on a file, or of a page fault. */
struct storage_wait {
	uint64_t pid, tid, begin_ns, end_ns, disk_bytes;
	double copy_ns; /* the part of it that is work */
	bool remote;
};

static void add_storage(struct whatif_gather *gather, const struct storage_wait *wait)
{
	struct whatif_thread *thread = thread_at(gather, wait->tid);
	struct whatif_window *window = thread ? window_at(thread, wait->begin_ns) : NULL;
	const double ns = MAX(0.0, (double)(wait->end_ns - wait->begin_ns) - wait->copy_ns);

	if (!wait->remote && !wait->disk_bytes && ns < SHORT_NS)
		return;
	if (!thread && table_find(&gather->by_pid, wait->pid)) {
		gather->aside_ns += ns;
		return;
	}
	if (!window)
		return;
	window->reads++;
	if (wait->remote) {
		window->remote_ns += ns;
		return;
	}
	window->disk_ns += ns;
	window->disk_bytes += (double)wait->disk_bytes;
	if (window->kind == WHATIF_BATCH)
		keep_read(gather, thread, wait->begin_ns, wait->end_ns, wait->disk_bytes);
}

static void add_of_trainer(struct whatif_gather *gather, const struct scan *scan, const struct report_call_facts *facts,
			   uint64_t begin_ns)
{
	struct whatif_window *window = window_at(&gather->threads[0], begin_ns);

	if (!window || (window->kind != WHATIF_STEP && window->kind != WHATIF_SAVE))
		return;
	if (scan->kind == REPORT_SYNC)
		window->sync_ns += (double)facts->lat_ns;
	else if (facts->write && facts->done)
		window->written_bytes += (double)facts->bytes;
}

void whatif_gather_call(struct whatif_gather *gather, const struct scan *scan, const struct report_call_facts *facts)
{
	const uint64_t begin_ns = scan->time_ns - facts->lat_ns;
	const bool is_read = scan->kind == REPORT_VFS_RW && !facts->write && facts->done && !facts->again;

	if (facts->running || !is_of_epoch(gather, begin_ns))
		return;
	if (facts->tid == gather->epoch->tid && (scan->kind == REPORT_SYNC || facts->write))
		add_of_trainer(gather, scan, facts, begin_ns);
	if (!(is_read || scan->kind == REPORT_OPEN) || !facts->file || facts->type != REPORT_REG ||
	    facts->file->medium == REPORT_MEMORY)
		return;
	add_storage(gather, &(struct storage_wait){
				    .pid = facts->pid,
				    .tid = facts->tid,
				    .begin_ns = begin_ns,
				    .end_ns = scan->time_ns,
				    .disk_bytes = facts->disk_bytes,
				    .copy_ns = is_read ? (double)facts->bytes / COPY_BYTES_PER_NS : 0,
				    .remote = facts->file->medium == REPORT_NETWORK,
			    });
}

static bool fault_take(struct scan *scan, void *own)
{
	struct whatif_gather *gather = own;
	const uint64_t lat_ns = MIN(scan_number(scan, COL_LAT_NS), scan->time_ns);

	if (!scan_is(scan, COL_FUNC, "kernel") && is_of_epoch(gather, scan->time_ns - lat_ns))
		add_storage(gather, &(struct storage_wait){
					    .pid = scan_number(scan, COL_PID),
					    .tid = scan_number(scan, COL_TID),
					    .begin_ns = scan->time_ns - lat_ns,
					    .end_ns = scan->time_ns,
					    .disk_bytes = scan_number(scan, COL_DISK_BYTES),
				    });
	return true;
}

/* --- waits
 * -------------------------------------------------------------------------------------------------------------- */

/* Calls whose waits their own rows have: reads of files, opens, syncs. */
static bool has_row(const struct scan *scan, const struct report *r)
{
	static const char *const always[] = { "fault", "open", "openat", "openat2" };
	static const char *const of_files[] = { "read", "pread64", "readv", "preadv", "preadv2", "sendfile" };
	static const char *const syncs[] = { "fsync", "fdatasync", "msync", "sync_file_range", "syncfs", "sync" };
	const struct report_file *file;
	uint64_t fid;

	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		if (scan_is(scan, COL_CALL, always[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(syncs); i++)
		if (scan_is(scan, COL_CALL, syncs[i]))
			return true;
	if (!scan_u64(scan, COL_FID, &fid))
		return false;
	file = table_find(&r->files, fid);
	for (size_t i = 0; file && file->type == REPORT_REG && i < ARRAY_SIZE(of_files); i++)
		if (scan_is(scan, COL_CALL, of_files[i]))
			return true;
	return false;
}

/*
 * Whether the row is of a call that waited for a file server: one on such a file, or one about names and sizes, whose
 * row has no file, and which sleeps for nothing else; for a disk of this machine its state is another.
 */
static bool is_remote(const struct scan *scan, const struct report *r)
{
	static const char *const of_names[] = { "access",     "close", "faccessat", "faccessat2", "fstat",
						"getdents64", "lstat", "mkdir",     "newfstatat", "readlink",
						"readlinkat", "stat",  "statfs",    "statx",      "unlink" };
	const struct report_file *file;
	uint64_t fid;

	for (size_t i = 0; scan_is(scan, COL_STATE, "sleep") && i < ARRAY_SIZE(of_names); i++)
		if (scan_is(scan, COL_CALL, of_names[i]))
			return true;
	if (!scan_u64(scan, COL_FID, &fid))
		return false;
	file = table_find(&r->files, fid);
	return file && file->type == REPORT_REG && file->medium == REPORT_NETWORK;
}

static void add_wait(struct whatif_window *window, const struct scan *scan, const struct report *r, double ns)
{
	if (is_remote(scan, r)) {
		window->remote_ns += ns;
		window->reads++;
	} else if (!scan_is(scan, COL_PEER, "-") || scan_is(scan, COL_BY, "net")) {
		window->net_ns += ns;
		window->requests++;
	} else if (scan_is(scan, COL_STATE, "disk")) { /* of metadata: no bytes of a file */
		window->disk_ns += ns;
		window->reads++;
	} else {
		window->sleep_ns += ns;
	}
}

struct reading {
	struct whatif_gather *gather;
	const struct report *report;
};

static bool waits_take(struct scan *scan, void *own)
{
	const struct reading *reading = own;
	const uint64_t lat_ns = MIN(scan_number(scan, COL_LAT_NS), scan->time_ns), begin_ns = scan->time_ns - lat_ns,
		       runq_ns = MIN(scan_number(scan, COL_RUNQ_NS), lat_ns);
	const struct whatif_thread *thread = thread_at(reading->gather, scan_number(scan, COL_TID));
	struct whatif_window *window = thread ? window_at(thread, begin_ns) : NULL;

	if (!window)
		return true;
	if (scan_is(scan, COL_STATE, "runq") || scan_is(scan, COL_STATE, "throttled")) {
		window->runq_ns += (double)lat_ns;
	} else if (!has_row(scan, reading->report)) {
		window->runq_ns += (double)runq_ns;
		add_wait(window, scan, reading->report, (double)(lat_ns - runq_ns));
	}
	return true;
}

/* --- sums of scheduling
 * ------------------------------------------------------------------------------------------------- */

/* Returns the share of the row's interval that is of the epoch. */
static double share_of(const struct whatif_gather *gather, const struct scan *scan)
{
	const uint64_t span_ns = MIN(scan_number(scan, COL_SPAN_NS), scan->time_ns),
		       begin_ns = MAX(scan->time_ns - span_ns, gather->epoch->whole.begin_ns),
		       end_ns = MIN(scan->time_ns, gather->epoch->until_ns);

	return span_ns && end_ns > begin_ns ? (double)(end_ns - begin_ns) / (double)span_ns : 0;
}

static bool sched_take(struct scan *scan, void *own)
{
	struct whatif_gather *gather = own;
	const double share = share_of(gather, scan), run_ns = share * (double)scan_number(scan, COL_RUN_NS);
	struct whatif_thread *thread;

	if (scan_is(scan, COL_CPU, "-") || !(share > 0))
		return true;
	if (scan_is(scan, COL_KIND, "other")) {
		gather->others_run_ns += run_ns;
		return true;
	}
	if (!scan_is(scan, COL_KIND, "target"))
		return true;
	gather->job_run_ns += run_ns;
	gather->throttled_ns += share * (double)scan_number(scan, COL_THROTTLED_NS);
	if (scan_number(scan, COL_PID) == gather->epoch->pid)
		gather->trainer_run_ns += run_ns;
	thread = thread_at(gather, scan_number(scan, COL_TID));
	if (thread) {
		thread->run_ns += run_ns;
		thread->runq_ns += share * (double)scan_number(scan, COL_RUNQ_NS);
	}
	return true;
}

/* Returns what is left of W beside its known waits. */
static double left_of(const struct whatif_window *w)
{
	const double all = (double)(w->span.end_ns - w->span.begin_ns);

	return MAX(0.0, all - w->disk_ns - w->remote_ns - w->net_ns - w->sleep_ns - w->runq_ns - w->sync_ns);
}

/* Divides what is left of THREAD's windows: as much CPU time as the thread had, ready to run, then short waits. */
static void divide(struct whatif_thread *thread)
{
	double left = 0, runq = thread->runq_ns, rest;

	for (uint32_t i = 0; i < thread->n; i++) {
		left += left_of(&thread->windows[i]);
		runq -= thread->windows[i].runq_ns;
	}
	rest = left - MIN(left, thread->run_ns);
	for (uint32_t i = 0; left > 0 && i < thread->n; i++) {
		struct whatif_window *w = &thread->windows[i];
		const double share = left_of(w) / left, ready = MIN(rest, MAX(0.0, runq));

		w->cpu_ns = share * MIN(left, thread->run_ns);
		w->runq_ns += share * ready;
		w->short_ns = share * (rest - ready);
	}
}

void whatif_gather_end(struct whatif_gather *gather, struct report *r)
{
	struct reading reading = { gather, r };
	struct scan_taker faults = { .take = fault_take, .own = gather },
			  waits = { .take = waits_take, .own = &reading },
			  sched = { .take = sched_take, .own = gather };

	scan_walk_again(r->folder, "fault", &faults);
	scan_walk_again(r->folder, "waits", &waits);
	gather->has_waits = scan_file(r->folder, "waits")->error == 0;
	scan_walk_again(r->folder, "sched", &sched);
	gather->has_sched = scan_file(r->folder, "sched")->error == 0;
	for (uint32_t i = 0; i < gather->n; i++)
		divide(&gather->threads[i]);
}

void whatif_gather_free(struct whatif_gather *gather)
{
	for (uint32_t i = 0; i < gather->n; i++)
		free(gather->threads[i].windows);
	free(gather->threads);
	free(gather->reads);
	table_free(&gather->by_tid);
	table_free(&gather->by_pid);
	*gather = (struct whatif_gather){ .n = 0 };
}
