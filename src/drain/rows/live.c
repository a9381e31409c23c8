/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/rows/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "dlt/bio.h"
#include "dlt/mmap.h"
#include "dlt/open.h"
#include "dlt/vfs_rw.h"
#include "dlt/vfs_rw_sums.h"
#include "drain/rows/live_regions.h"
#include "kernel/tracer.h"
#include "stats/table.h"
#include "trace/files.h"
#include "trace/probe.h"
#include "trace/record.h"

/* --- control plane --------------------------------------------------------------------------------- */

struct live *live_new(uint64_t interval_ms, uint32_t max)
{
	struct live *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->interval_ns = interval_ms * NSEC_PER_MSEC;
	l->max = max;
	table_init(&l->processes, sizeof(struct live_process), LIVE_PROCESSES_MAX);
	return l;
}

static void forget_calls(struct live_view *v)
{
	for (unsigned int i = 0; i < v->n_calls; i++)
		free(TAKE_PTR(v->calls[i].path));
	v->n_calls = 0;
}

void live_free(struct live *l)
{
	if (!l)
		return;
	forget_calls(&l->view);
	free(l->view.sums);
	table_free(&l->processes);
	free(l);
}

int lives_add(struct lives *ls, struct live *live)
{
	for (unsigned int i = 0; i < LIVE_PLACES; i++) {
		struct live *none = NULL;

		if (!atomic_compare_exchange_strong(&ls->wanted[i], &none, live))
			continue;
		atomic_store(&ls->any, true);
		return 0;
	}
	return -EBUSY;
}

/* --- drain: rows ----------------------------------------------------------------------------------- */

static unsigned int bucket_of(uint64_t v)
{
	unsigned int shift;

	if (v >> LIVE_SUB_BITS == 0)
		return (unsigned int)v;
	shift = 63 - LIVE_SUB_BITS - (unsigned int)__builtin_clzll(v);
	return MIN((shift << LIVE_SUB_BITS) + (unsigned int)(v >> shift), LIVE_BUCKETS - 1U);
}

static uint64_t bucket_middle(unsigned int i)
{
	unsigned int shift = i >> LIVE_SUB_BITS;
	uint64_t low;

	if (!shift)
		return i;
	shift--;
	low = ((uint64_t)(i & ((1U << LIVE_SUB_BITS) - 1)) | 1U << LIVE_SUB_BITS) << shift;
	return low + ((1ULL << shift) >> 1);
}

static uint64_t p99_of(const struct live_process *p)
{
	uint64_t rank = (p->sum.calls * 99 + 99) / 100, seen = 0;

	for (unsigned int i = 0; i < LIVE_BUCKETS; i++) {
		seen += p->hist[i];
		if (seen >= rank)
			return MIN(bucket_middle(i), p->sum.max_lat_ns);
	}
	return p->sum.max_lat_ns;
}

/* The contribution of a row, computed once for all clients. */
struct item {
	const struct dlt_hdr *rec;
	uint64_t read_bytes, written_bytes, fetched_bytes;
	bool read, disk_read, failed;
};

static void rw_item(struct item *it, const struct dlt_vfs_rw *rec, struct files *files)
{
	uint64_t bytes = rec->returned > 0 ? (uint64_t)rec->returned : 0;
	const struct file_entry *entry = files ? files_find(files, &rec->id) : NULL;

	it->failed = rec->returned < 0 && rec->returned > -4096;
	if (rec->disk_bytes > 0)
		it->fetched_bytes = (uint64_t)rec->disk_bytes;
	if (rec->dir == DLT_RW_W)
		it->written_bytes = bytes;
	if (rec->dir != DLT_RW_R)
		return;
	it->read_bytes = bytes;
	it->read = bytes && entry && (S_ISREG(entry->file.mode) || S_ISBLK(entry->file.mode));
	it->disk_read = it->read && it->fetched_bytes;
}

static void add(struct live_process *process, const struct item *it)
{
	struct live_sum *sum = &process->sum;

	sum->calls++;
	sum->failed += it->failed;
	sum->read_bytes += it->read_bytes;
	sum->written_bytes += it->written_bytes;
	sum->fetched_bytes += it->fetched_bytes;
	sum->reads += it->read;
	sum->disk_reads += it->disk_read;
	sum->lat_ns += it->rec->lat_ns;
	sum->max_lat_ns = MAX(sum->max_lat_ns, it->rec->lat_ns);
	process->hist[bucket_of(it->rec->lat_ns)]++;
}

void lives_row(struct lives *ls, unsigned int probe, const struct dlt_hdr *rec, struct files *files)
{
	struct item it = { .rec = rec };

	if (!(probes[probe]->flags & PROBE_OF_CALLS) || (probe == DLT_open && rec->func == DLT_OPEN_SNAPSHOT) ||
	    (probe == DLT_mmap && rec->func == DLT_MMAP_SNAPSHOT))
		return;
	if (probe == DLT_vfs_rw)
		rw_item(&it, (const void *)rec, files);
	for (unsigned int i = 0; i < ls->n; i++) {
		struct live *l = ls->on[i];
		struct live_process *p = table_get(&l->processes, rec->tgid);

		add(&l->all, &it);
		if (!p)
			continue;
		p->sum.pid = rec->tgid;
		memcpy(p->sum.comm, rec->comm, sizeof(p->sum.comm));
		add(p, &it);
	}
}

static void add_sums(struct live_process *process, const struct dlt_vfs_rw_sums *rec, bool file)
{
	struct live_sum *sum = &process->sum;

	sum->calls += rec->sum.count;
	if (rec->dir == DLT_RW_W) {
		sum->written_bytes += rec->sum.bytes;
	} else {
		sum->read_bytes += rec->sum.bytes;
		sum->reads += file ? rec->sum.count - rec->sum.empty : 0;
	}
	sum->lat_ns += rec->sum.ns;
	sum->max_lat_ns = MAX(sum->max_lat_ns, rec->sum.max_ns);
	for (unsigned int i = 0; i < DLT_RW_BUCKETS; i++)
		process->hist[bucket_of((1ULL << i) + (1ULL << i) / 2)] += rec->sum.bucket[i];
}

void lives_sums(struct lives *ls, const struct dlt_vfs_rw_sums *rec, struct files *files)
{
	const struct file_entry *entry = files ? files_find(files, &rec->id) : NULL;

	for (unsigned int i = 0; i < ls->n; i++) {
		struct live *l = ls->on[i];
		struct live_process *p = table_get(&l->processes, rec->hdr.tgid);

		add_sums(&l->all, rec, entry);
		if (!p)
			continue;
		p->sum.pid = rec->hdr.tgid;
		memcpy(p->sum.comm, rec->hdr.comm, sizeof(p->sum.comm));
		add_sums(p, rec, entry);
	}
}

/* --- drain: calls and requests in flight ----------------------------------------------------------- */

struct oldest {
	struct live_call call[LIVE_CALLS_MAX];
	unsigned int n;
	uint64_t now_ns;
	struct files *files;
	const struct tracer *tracer;
};

static bool same(const struct live_call *a, const struct live_call *b)
{
	return a->start_ns == b->start_ns && a->tid == b->tid && a->name == b->name && a->addr == b->addr &&
	       a->fd == b->fd;
}

/* Keeps CALL if it is among the oldest, else frees it. */
static void place(struct oldest *oldest, struct live_call *call)
{
	unsigned int at;

	for (at = oldest->n; at && oldest->call[at - 1].start_ns > call->start_ns; at--)
		;
	if (at == LIVE_CALLS_MAX ||
	    (at && same(&oldest->call[at - 1], call))) { /* already listed: requests come twice */
		free(call->path);
		return;
	}
	if (oldest->n == LIVE_CALLS_MAX)
		free(oldest->call[--oldest->n].path);
	memmove(&oldest->call[at + 1], &oldest->call[at], (oldest->n++ - at) * sizeof(*call));
	oldest->call[at] = *call;
}

static bool is_old(const struct oldest *o, uint64_t start_ns)
{
	return start_ns && start_ns + LIVE_CALL_MIN_NS <= o->now_ns;
}

static char *path_of(const struct oldest *o, const struct dlt_file_id *id)
{
	const struct file_entry *e = id->ino ? files_find(o->files, id) : NULL;

	return e && e->path_len ? strndup(e->path, e->path_len) : NULL;
}

static void consider(struct oldest *oldest, const struct dlt_call *call, bool has_file)
{
	struct live_call c = {
		.start_ns = call->start_ns,
		.pid = call->tgid,
		.tid = call->tid,
		.probe = call->probe,
	};

	if (call->probe >= DLT_PROBES || !probes[call->probe] || call->func >= probes[call->probe]->n_calls ||
	    !is_old(oldest, call->start_ns))
		return;
	c.name = probes[call->probe]->calls[call->func].name;
	call_file(call, &c.fd, &c.addr);
	if (c.fd == DLT_NONE32) /* a file of the ring's own */
		c.fd = DLT_NONE;
	if (has_file)
		c.path = path_of(oldest, &call->id);
	place(oldest, &c);
}

static void consider_call(void *ctx, const struct dlt_call *running)
{
	struct dlt_call call = *running;

	/*
	 * It may have ended and another begun in its place meanwhile: one that mixes both is left out where
	 * that is noticed. Otherwise it stands in one view, and in no file.
	 */
	__asm__ volatile("" ::: "memory");
	if (call.tid && call.start_ns == __atomic_load_n(&running->start_ns, __ATOMIC_RELAXED) &&
	    call.tid == __atomic_load_n(&running->tid, __ATOMIC_RELAXED))
		consider(ctx, &call, call.probe == DLT_close);
}

/* An io_uring request: a copy, and it has had its file from the start. */
static void consider_request(void *ctx, const struct dlt_call *call)
{
	consider(ctx, call, true);
}

/* Returns the path that a record has as text: for opens, and for calls that make and remove names. */
static char *path_in(const struct dlt_hdr *rec)
{
	const struct probe *probe = probes[rec->probe];

	for (unsigned int i = 0; i < probe->n_fields; i++) {
		const struct field *f = &probe->fields[i];
		const char *text;
		size_t len;

		if (strcmp(f->name, "PATH") != 0)
			continue;
		text = record_seg(probe, rec, f->offset, f->arg, &len);
		return len ? strndup(text, len) : NULL;
	}
	return NULL;
}

static void describe_record(const struct oldest *oldest, const struct dlt_hdr *rec, struct live_call *call)
{
	static const char *const disk_names[] = { "bio:R", "bio:W", "bio:D", "bio:F", "bio:Z", "bio:O" };

	if (rec->probe == DLT_bio) {
		const struct dlt_bio *bio = (const void *)rec;

		call->name = bio->type < ARRAY_SIZE(disk_names) ? disk_names[bio->type] : disk_names[DLT_BIO_OTHER];
		call->addr = (uint64_t)bio->sector; /* for same() */
		call->path = strndup(bio->disk, sizeof(bio->disk));
	} else if (rec->probe == DLT_vfs_rw) {
		const struct dlt_vfs_rw *rw = (const void *)rec;

		call->fd = rw->fd;
		call->path = path_of(oldest, &rw->id);
	} else {
		call->path = path_in(rec);
	}
}

static void consider_record(void *ctx, const struct dlt_hdr *rec)
{
	struct oldest *oldest = ctx;
	struct live_call c = {
		.start_ns = oldest->now_ns - rec->lat_ns,
		.pid = rec->tgid,
		.tid = rec->tid,
		.probe = rec->probe,
		.fd = DLT_NONE,
	};

	if (rec->probe >= DLT_PROBES || !probes[rec->probe] || rec->lat_ns > oldest->now_ns ||
	    !is_old(oldest, c.start_ns) || !tracer_may_show(oldest->tracer, rec) ||
	    (rec->func >= probes[rec->probe]->n_calls && rec->probe != DLT_bio))
		return;
	if (rec->probe != DLT_bio)
		c.name = probes[rec->probe]->calls[rec->func].name;
	memcpy(c.comm, rec->comm, sizeof(c.comm));
	describe_record(oldest, rec, &c);
	place(oldest, &c);
}

static void look(struct oldest *o, struct tracer *t)
{
	tracer_running(t, consider_call, o);
	tracer_requests(t, o->now_ns, LIVE_LOOK_MAX, consider_request, consider_record, o);
}

static void fill_calls(struct live_view *v, const struct oldest *o)
{
	for (unsigned int i = 0; i < o->n; i++) {
		v->calls[i] = o->call[i];
		v->calls[i].path = o->call[i].path ? strdup(o->call[i].path) : NULL;
	}
	v->n_calls = o->n;
}

/* --- drain: live regions -------------------------------------------------------------------------- */

/* Keeps the region if it is among the oldest. */
static void consider_region(void *ctx, const struct dlt_hdr *begin, const struct dltraced_msg *msg)
{
	struct live_view *view = ctx;
	struct live_region *region;
	unsigned int at;

	for (at = view->n_regions; at && view->regions[at - 1].start_ns > msg->start_ns; at--)
		;
	if (at == LIVE_REGIONS_MAX)
		return;
	view->n_regions = MIN(view->n_regions + 1, LIVE_REGIONS_MAX);
	region = &view->regions[at];
	memmove(region + 1, region, (view->n_regions - 1 - at) * sizeof(*region));
	*region = (struct live_region){
		.start_ns = msg->start_ns,
		.pid = begin->tgid,
		.tid = begin->tid,
		.epoch = msg->epoch,
		.step = msg->step,
	};
	memcpy(region->comm, begin->comm, sizeof(region->comm));
	memcpy(region->name, msg->text, msg->name_len); /* regions_take() has checked its length */
}

/* --- drain: views ---------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	const struct live_sum *x = a, *y = b;
	uint64_t x_bytes = x->read_bytes + x->written_bytes, y_bytes = y->read_bytes + y->written_bytes;

	if (x_bytes != y_bytes)
		return x_bytes < y_bytes ? 1 : -1;
	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Room for all of them, since they are sorted there. Without memory: the total alone. */
static bool make_room(struct live_view *view, uint32_t n)
{
	struct live_sum *more;

	if (n <= view->room)
		return true;
	more = reallocarray(view->sums, n, sizeof(*more));
	if (!more)
		return false;
	view->sums = more;
	view->room = n;
	return true;
}

static void fill_sums(struct live_view *view, struct live *live)
{
	view->n = 0;
	view->processes = live->processes.n;
	view->all = live->all.sum;
	view->all.p99_ns = live->all.sum.calls ? p99_of(&live->all) : 0;
	if (!make_room(view, live->processes.n))
		return;
	for (uint32_t i = 0; i < live->processes.n; i++) {
		const struct live_process *p = table_at(&live->processes, i);

		view->sums[i] = p->sum;
		view->sums[i].p99_ns = p99_of(p);
	}
	if (live->processes.n)
		qsort(view->sums, live->processes.n, sizeof(*view->sums), compare);
	view->n = MIN(live->processes.n, live->max);
}

static void publish(struct live *live, uint64_t now_ns, const struct oldest *oldest, const struct live_regions *regions)
{
	struct live_view *view = &live->view;

	view->from_ns = live->from_ns;
	view->to_ns = now_ns;
	forget_calls(view);
	fill_sums(view, live);
	fill_calls(view, oldest);
	view->n_regions = 0;
	live_regions_each(regions, consider_region, view);
	table_free(&live->processes);
	memset(&live->all, 0, sizeof(live->all));
	live->from_ns = now_ns;
	live->due_ns = now_ns + live->interval_ns;
	atomic_store(&live->state, LIVE_FULL);
}

static void take_up(struct lives *ls, uint64_t now_ns)
{
	bool any = false;

	atomic_store(&ls->any, false);
	ls->n = 0;
	for (unsigned int i = 0; i < LIVE_PLACES; i++) {
		struct live *live = atomic_load(&ls->wanted[i]);

		if (!live)
			continue;
		if (atomic_load(&live->leave)) {
			atomic_store(&ls->wanted[i], NULL);
			atomic_store(&live->state, LIVE_GONE);
			continue;
		}
		any = true;
		ls->on[ls->n++] = live;
		if (!live->due_ns)
			live->from_ns = live->due_ns = now_ns; /* a view at once: of the calls in flight */
	}
	if (any)
		atomic_store(&ls->any, true);
}

static bool is_due(const struct live *l, uint64_t now_ns, bool end)
{
	return (end ? l->all.sum.calls > 0 : now_ns >= l->due_ns) && atomic_load(&l->state) == LIVE_EMPTY;
}

void lives_turn(struct lives *ls, uint64_t now_ns, bool end, struct files *files, const struct live_regions *regions,
		struct tracer *tracer)
{
	struct oldest o = { .now_ns = now_ns, .files = files, .tracer = tracer };
	bool looked = !tracer, handed = false;
	uint64_t one = 1;

	if (!atomic_load_explicit(&ls->any, memory_order_relaxed))
		return;
	take_up(ls, now_ns);
	for (unsigned int i = 0; i < ls->n; i++) {
		if (!is_due(ls->on[i], now_ns, end))
			continue;
		if (!looked)
			look(&o, tracer);
		looked = handed = true;
		publish(ls->on[i], now_ns, &o, regions);
	}
	for (unsigned int i = 0; i < o.n; i++)
		free(o.call[i].path);
	if (handed && ls->fd >= 0 && write(ls->fd, &one, sizeof(one)) < 0)
		return; /* the counter is at 2^64-2: a wake-up is pending */
}
