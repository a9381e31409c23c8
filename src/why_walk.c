/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls once more, merged by time, when it is known who trains and who loads: each call becomes
 * a stretch of its process's time in one state, and is held against the trainer's waits. Who is in no call
 * between sending a result and receiving the next order waits for these, in poll(2) or the like.
 */
#include <errno.h>
#include <stdlib.h>

#include "util.h"
#include "why_calls.h"
#include "why_impl.h"

#define SLOW_NS 200000 /* reads of which it is not known: longer ones have come from storage */
#define ROLES_MAX (WHY_LOADERS_MAX + WHY_TRAINERS_MAX)
#define THREADS_MAX (1U << 16)
#define FAULTS_MAX 8192 /* threads, 1 KiB each */

enum column { TIMESTAMP, PREV_PID, PREV_TID, PREV_STATE, NEXT_PID, NEXT_TID, WAIT_NS, COLUMNS };

static const char *const column_names[COLUMNS] = {
	"TIMESTAMP", "PREV_PID", "PREV_TID", "PREV_STATE", "NEXT_PID", "NEXT_TID", "WAIT_NS",
};

struct walk;

/* sched_switch.out, at its next row. */
struct switches {
	struct reader rd;
	struct reader_row row;
	uint8_t at[COLUMNS];
	uint64_t time_ns;
	bool open, more;
};

/* The calls of one file, at the next one. */
struct stream {
	struct why_calls_stream calls;
	struct why_call_row row;
	bool more;
	void (*take)(struct walk *w, const struct why_call_row *row);
};

/* Who a PID is; neither: of the target, and of no part in this. */
struct role {
	struct why_loader *loader;
	struct why_trainer *trainer;
	struct cover *main, *others; /* the trainer's threads */
	uint32_t work;		     /* see why_add_work() */
};

struct walk {
	struct report *r;
	struct why *why;
	struct table roles;
	struct table threads; /* since when a loader's thread runs, by TID */
	struct table faults;  /* struct why_faults, by TID */
	uint64_t last_pid;
	struct role *last_role, nobody;
	struct cover *covers;
	struct why_doubts doubts;
};

/* A call, as far as it matters here. */
struct call {
	uint64_t pid, tid, begin_ns, end_ns, fid;
	enum why_state state;
	bool on_file, has_fid;
	bool receives, sends; /* on a pipe or the like */
};

static struct reader_field field(const struct switches *s, enum column c)
{
	return reader_field(&s->row, s->at[c]);
}

static bool number(const struct switches *s, enum column c, uint64_t *ret)
{
	return reader_row_u64(field(s, c), ret);
}

struct thread_faults {
	struct why_faults faults;
	uint64_t pid, tid;
};

/* --- roles ------------------------------------------------------------------------------------------- */

static int make_roles(struct walk *w)
{
	struct why *why = w->why;

	w->covers = calloc(2 * (size_t)why->n_trainers + 1, sizeof(*w->covers));
	if (!w->covers)
		return -ENOMEM;
	table_init_pids(&w->roles, sizeof(struct role), ROLES_MAX);
	table_init_pids(&w->threads, sizeof(uint64_t), THREADS_MAX);
	table_init_pids(&w->faults, sizeof(struct thread_faults), FAULTS_MAX);
	for (uint32_t i = 0; i < why->loaders.n; i++) {
		struct why_loader *l = *(struct why_loader **)table_at(&why->loaders, i);
		struct role *role = l ? table_get(&w->roles, l->pid) : NULL;

		if (role)
			role->loader = l;
	}
	for (uint32_t i = 0; i < why->n_trainers; i++) {
		struct role *role = table_get(&w->roles, why->trainer[i].pid);

		if (role)
			*role = (struct role){ .trainer = &why->trainer[i], .main = &w->covers[2 * (size_t)i],
					       .others = &w->covers[2 * (size_t)i + 1] };
	}
	return 0;
}

static struct role *role_of(struct walk *w, uint64_t pid)
{
	if (pid != w->last_pid) {
		struct role *role = table_find(&w->roles, pid);

		w->last_role = role ? role : &w->nobody;
		w->last_pid = pid;
	}
	return w->last_role;
}

/* --- stretches of time -------------------------------------------------------------------------------- */

struct stretch {
	struct report *r;
	struct why *why;
	const struct role *role;
	enum why_state state;
	bool main; /* the trainer's main thread */
};

static void loader_was(void *ctx, uint64_t begin_ns, uint64_t end_ns)
{
	const struct stretch *x = ctx;
	struct why_loader *l = x->role->loader;
	struct why_trainer *t = &x->why->trainer[l->trainer];

	l->ns[x->state] += (double)why_looked_at(t, begin_ns, end_ns);
	l->idle_ns[x->state] += (double)why_waited_then(x->why, t, begin_ns, end_ns);
}

/* The main thread's calls by the samples of its GPU: in each, they are in what this was idle. */
static void add_to_samples(struct why *w, struct why_trainer *t, enum why_state state, uint64_t begin_ns,
			   uint64_t end_ns)
{
	const struct spans *samples = why_samples(w, t);
	size_t i;

	begin_ns = MAX(begin_ns, t->begin_ns);
	end_ns = MIN(end_ns, t->end_ns);
	if (begin_ns >= end_ns || !t->own_samples || !samples->n)
		return;
	/* calls come in order of time: the sample is one of the last that were begun */
	i = MIN(t->at_sample, samples->n - 1);
	while (i > 0 && samples->v[i].begin_ns > begin_ns)
		i--;
	for (; i < samples->n && samples->v[i].begin_ns < end_ns; i++) {
		uint64_t from_ns = MAX(begin_ns, samples->v[i].begin_ns), to_ns = MIN(end_ns, samples->v[i].end_ns);

		t->at_sample = i;
		if (to_ns > from_ns)
			t->own_samples[i][state] += (float)(to_ns - from_ns);
	}
}

static void trainer_was(void *ctx, uint64_t begin_ns, uint64_t end_ns)
{
	const struct stretch *x = ctx;
	struct why_trainer *t = x->role->trainer;
	uint64_t all_ns = why_looked_at(t, begin_ns, end_ns), idle_ns = why_waited(x->why, t, begin_ns, end_ns);
	struct why_epoch *e;

	if (x->main)
		t->own_ns[x->state] += all_ns;
	if (t->basis == WHY_BY_GPU && x->main)
		add_to_samples(x->why, t, x->state, begin_ns, end_ns);
	else if (x->main || t->basis != WHY_BY_CALLS)
		t->own_idle_ns[x->state] += idle_ns;
	if (!x->main || t->basis == WHY_BY_GPU)
		return;
	e = why_epoch_at(x->r, end_ns);
	if (e)
		e->own_ns[t - x->why->trainer] += all_ns - idle_ns;
}

/* --- page faults ---------------------------------------------------------------------------------------- */

static void faulted(void *ctx, uint64_t begin_ns, uint64_t end_ns)
{
	struct stretch *x = ctx;

	if (x->role->loader)
		cover_add(&x->role->loader->cover, begin_ns, end_ns, loader_was, x);
	else if (x->role->trainer)
		cover_add(x->main ? x->role->main : x->role->others, begin_ns, end_ns, trainer_was, x);
}

static struct stretch faults_of(struct walk *w, const struct thread_faults *f)
{
	return (struct stretch){ .r = w->r, .why = w->why, .role = role_of(w, f->pid), .state = WHY_DISK,
				 .main = f->pid == f->tid };
}

/* Only who has mapped data, or was forked by who has, waits for them outside of calls. */
static bool maps_data(const struct walk *w, uint64_t pid, const struct role *role)
{
	const struct report_proc *p = table_find(&w->r->procs, pid), *trainer = NULL;

	if (!w->r->present[REPORT_MMAP])
		return role->loader || role->trainer;
	if (role->loader)
		trainer = table_find(&w->r->procs, w->why->trainer[role->loader->trainer].pid);
	return (role->loader || role->trainer) && ((p && p->data_maps) || (trainer && trainer->data_maps));
}

static void thread_left(struct walk *w, const struct switches *s, uint64_t pid)
{
	const struct role *role = role_of(w, pid);
	struct thread_faults *f;
	uint64_t tid;

	if (field(s, PREV_STATE).p[0] != 'D' || !number(s, PREV_TID, &tid) || !maps_data(w, pid, role))
		return;
	f = table_get(&w->faults, tid);
	if (!f)
		return;
	f->pid = pid;
	f->tid = tid;
	f->faults.left_ns = s->time_ns;
}

static void thread_came(struct walk *w, const struct switches *s, uint64_t pid)
{
	uint64_t tid, wait_ns = 0;
	struct thread_faults *f;
	struct stretch x;

	if (!number(s, NEXT_TID, &tid) || !(f = table_find(&w->faults, tid)) || f->pid != pid)
		return;
	number(s, WAIT_NS, &wait_ns);
	x = faults_of(w, f);
	why_faults_came(&f->faults, s->time_ns - MIN(wait_ns, s->time_ns), faulted, &x);
}

static void thread_called(struct walk *w, const struct call *c)
{
	struct thread_faults *f = w->faults.n ? table_find(&w->faults, c->tid) : NULL;
	struct stretch x;

	if (!f || f->pid != c->pid || !f->faults.n)
		return;
	x = faults_of(w, f);
	why_faults_call(&f->faults, c->begin_ns, faulted, &x);
}

static void end_faults(struct walk *w, struct thread_faults *f)
{
	struct stretch x = faults_of(w, f);

	why_faults_end(&f->faults, faulted, &x);
}

/* --- calls ---------------------------------------------------------------------------------------------- */

static void keep_longest(struct why_longest *top, const struct call *c)
{
	uint64_t lat_ns = c->end_ns - c->begin_ns;
	unsigned int i;

	if (top->n == WHY_LONGEST && lat_ns <= top->call[WHY_LONGEST - 1].lat_ns)
		return;
	if (top->n < WHY_LONGEST)
		top->n++;
	for (i = top->n - 1; i > 0 && top->call[i - 1].lat_ns < lat_ns; i--)
		top->call[i] = top->call[i - 1];
	top->call[i] = (struct why_call){ .fid = c->has_fid ? c->fid : 0, .end_ns = c->end_ns, .lat_ns = lat_ns,
					  .pid = (uint32_t)c->pid };
}

static void loader_call(struct stretch *x, const struct call *c)
{
	struct why_loader *l = x->role->loader;

	if (c->receives && l->last_sent && l->last_ns < c->begin_ns) {
		struct stretch between = *x;

		between.state = WHY_QUEUE;
		cover_add(&l->cover, l->last_ns, c->begin_ns, loader_was, &between);
	}
	cover_add(&l->cover, c->begin_ns, c->end_ns, loader_was, x);
	l->last_ns = MAX(l->last_ns, c->end_ns);
	l->last_sent = c->sends;
}

/* Loads data: a trainer does when nobody does it for it. */
static bool works(const struct role *role)
{
	return role->loader || (role->trainer && !role->trainer->loaders);
}

static void take_call(struct walk *w, const struct call *c)
{
	struct role *role = role_of(w, c->pid);
	struct stretch x = { .r = w->r, .why = w->why, .role = role, .state = c->state, .main = c->tid == c->pid };
	struct why_epoch *e;

	if (!role->loader && !role->trainer)
		return;
	thread_called(w, c);
	if (c->on_file && why_looked_at(role->trainer ? role->trainer : &w->why->trainer[role->loader->trainer],
					c->begin_ns, c->end_ns))
		keep_longest(&w->why->longest[c->state], c);
	if (role->loader)
		loader_call(&x, c);
	else if (c->on_file)
		cover_add(x.main ? role->main : role->others, c->begin_ns, c->end_ns, trainer_was, &x);
	if (!c->on_file || !works(role))
		return;
	e = why_epoch_at(w->r, c->end_ns);
	if (e)
		why_add_work(w->r, e, c->pid, &role->work, c->end_ns - c->begin_ns, 0);
}

/* --- rows --------------------------------------------------------------------------------------------- */

static struct call call_of(const struct why_call_row *row)
{
	return (struct call){ .pid = row->pid, .tid = row->tid, .begin_ns = row->end_ns - row->lat_ns, .end_ns = row->end_ns,
			      .fid = row->fid, .has_fid = row->flags & WHY_CALL_FID };
}

static void count_opens(struct why_sums *s, uint64_t at_ns)
{
	if (at_ns - s->opens_second_ns >= NSEC_PER_SEC) {
		s->opens_second_ns = at_ns;
		s->opens_second = 0;
	}
	if (++s->opens_second > s->opens_peak) {
		s->opens_peak = s->opens_second;
		s->opens_peak_ns = s->opens_second_ns;
	}
}

static void count_sample(struct walk *w, const struct call *c)
{
	struct role *role = role_of(w, c->pid);
	struct why_epoch *e = why_epoch_at(w->r, c->end_ns);

	w->why->sums.opens_read++;
	if (role->loader)
		role->loader->samples++;
	if (!e)
		return;
	e->samples++;
	if (works(role))
		why_add_work(w->r, e, c->pid, &role->work, 0, 1);
}

static void take_open(struct walk *w, const struct why_call_row *row)
{
	const struct report_file *f = row->file;
	struct why_sums *sums = &w->why->sums;
	struct call c = call_of(row);
	struct why_trainer *t = row->flags & WHY_CALL_NVIDIA ? role_of(w, c.pid)->trainer : NULL;

	c.state = WHY_META;
	c.on_file = true;
	if (t)
		t->uses_gpu = true;
	sums->opens++;
	sums->opens_failed += (row->flags & WHY_CALL_FAILED) != 0;
	sums->open_ns += row->lat_ns;
	count_opens(sums, c.end_ns);
	if (f && f->type == REPORT_REG && f->medium != REPORT_MEMORY && row->flags & WHY_CALL_RDONLY)
		count_sample(w, &c);
	take_call(w, &c);
}

static void take_meta(struct walk *w, const struct why_call_row *row)
{
	struct call c = call_of(row);

	c.on_file = !row->file || report_is_file(row->file->type);
	c.state = c.on_file ? WHY_META : WHY_OTHER;
	if (c.on_file)
		w->why->sums.meta_ns += row->lat_ns;
	take_call(w, &c);
}

static void take_sync(struct walk *w, const struct why_call_row *row)
{
	struct call c = call_of(row);

	c.state = WHY_WRITE;
	c.on_file = true;
	w->why->sums.syncs++;
	w->why->sums.sync_ns += row->lat_ns;
	take_call(w, &c);
}

static bool is_slow(const struct why_transfer *x)
{
	return x->lat_ns >= SLOW_NS + x->bytes; /* 1 GB/s */
}

/* Of a read or write of a file. */
static enum why_state state_of(const struct report *r, const struct report_file *f, const struct why_transfer *x)
{
	if (x->write)
		return f->medium == REPORT_MEMORY || f->type != REPORT_REG ? WHY_CPU : WHY_WRITE;
	if (f->medium == REPORT_MEMORY || (f->type != REPORT_REG && f->type != REPORT_BLK))
		return WHY_CACHE;
	if (x->disk_bytes || x->direct)
		return WHY_DISK;
	if (!is_slow(x))
		return WHY_CACHE;
	/* what a read before, of this process or of another, had begun to fetch is waited for in this one */
	return !x->accounted || f->medium == REPORT_NETWORK || why_fetched_lately(r, f, x->end_ns) ? WHY_DISK
												    : WHY_CACHE;
}

/* How much its process has read from the page cache, of all and of the waits for it. */
static void cached(const struct role *role, double *ns, double *idle_ns)
{
	*ns = role->loader ? role->loader->ns[WHY_CACHE] : role->trainer ? (double)role->trainer->own_ns[WHY_CACHE] : 0;
	*idle_ns = role->loader	 ? role->loader->idle_ns[WHY_CACHE] :
		   role->trainer ? (double)role->trainer->own_idle_ns[WHY_CACHE] :
				   0;
}

/* A slow read that fetched nothing may have waited for what another fetches: that is known when this one's has ended. */
static void take_read(struct walk *w, const struct call *c, const struct why_transfer *x)
{
	struct why_doubt doubt = { .fid = c->fid, .begin_ns = c->begin_ns, .end_ns = c->end_ns };
	const struct role *role = role_of(w, c->pid);
	double ns, idle_ns;

	if (x->disk_bytes)
		why_doubts_end(w->why, &w->doubts, c->fid, c->begin_ns);
	cached(role, &ns, &idle_ns);
	take_call(w, c);
	if (c->state != WHY_CACHE || !is_slow(x) || (!role->loader && !role->trainer))
		return;
	cached(role, &doubt.ns, &doubt.idle_ns);
	doubt.ns -= ns;
	doubt.idle_ns -= idle_ns;
	doubt.loader = role->loader;
	doubt.trainer = role->trainer;
	why_doubt(&w->doubts, &doubt);
}

static void count_stdout(struct why_sums *s, const struct why_transfer *x, bool is_stdout)
{
	s->written_bytes += x->bytes;
	if (!is_stdout)
		return;
	s->stdout_writes++;
	s->stdout_bytes += x->bytes;
	s->stdout_ns += x->lat_ns;
}

static struct why_transfer transfer_of(const struct why_call_row *row)
{
	return (struct why_transfer){
		.file = row->file, .pid = row->pid, .fid = row->fid, .end_ns = row->end_ns, .lat_ns = row->lat_ns,
		.bytes = row->bytes, .offset = row->offset, .requested = row->requested, .disk_bytes = row->disk_bytes,
		.has_offset = row->flags & WHY_CALL_OFFSET, .accounted = row->flags & WHY_CALL_ACCOUNTED,
		.direct = row->flags & WHY_CALL_DIRECT, .write = row->flags & WHY_CALL_WRITE,
	};
}

static void take_rw(struct walk *w, const struct why_call_row *row)
{
	bool standard = row->flags & WHY_CALL_STANDARD;
	struct why_transfer x = transfer_of(row);
	struct why_sums *sums = &w->why->sums;
	const struct report_file *f = row->file;
	struct call c = call_of(row);

	if (x.write)
		count_stdout(sums, &x, standard);
	c.on_file = f && report_is_file(f->type);
	if (!c.on_file) {
		c.state = WHY_QUEUE;
		c.receives = !x.write;
		c.sends = x.write && !standard;
		take_call(w, &c);
		return;
	}
	c.state = state_of(w->r, f, &x);
	if (x.write)
		take_call(w, &c);
	else
		take_read(w, &c, &x);
	if (f->type != REPORT_REG || f->medium == REPORT_MEMORY)
		return;
	*(x.write ? &sums->write_files_ns : &sums->read_files_ns) += x.lat_ns;
	if (f->medium == REPORT_NETWORK)
		sums->network_ns += x.lat_ns;
	if (!(row->flags & WHY_CALL_DONE))
		return;
	x.epoch = why_epoch_at(w->r, c.end_ns);
	if (!x.write && role_of(w, c.pid)->loader)
		role_of(w, c.pid)->loader->bytes += x.bytes;
	why_add_transfer(w->r, &x);
}

/* --- switches ------------------------------------------------------------------------------------------ */

static void loader_ran(struct walk *w, const struct role *role, enum why_state state, uint64_t begin_ns,
		       uint64_t end_ns)
{
	struct stretch x = { .r = w->r, .why = w->why, .role = role, .state = state };

	cover_add(&role->loader->cover, begin_ns, end_ns, loader_was, &x);
}

static void take_switch(struct walk *w, const struct switches *s)
{
	uint64_t pid, tid, wait_ns, *since;
	const struct role *role;

	if (number(s, PREV_PID, &pid))
		thread_left(w, s, pid);
	if (number(s, NEXT_PID, &pid))
		thread_came(w, s, pid);
	if (number(s, PREV_PID, &pid) && (role = role_of(w, pid))->loader && number(s, PREV_TID, &tid)) {
		since = table_get(&w->threads, tid);
		if (since && *since)
			loader_ran(w, role, WHY_CPU, *since, s->time_ns);
		if (since)
			*since = 0;
	}
	if (number(s, NEXT_PID, &pid) && (role = role_of(w, pid))->loader && number(s, NEXT_TID, &tid)) {
		since = table_get(&w->threads, tid);
		if (since)
			*since = s->time_ns;
		if (number(s, WAIT_NS, &wait_ns))
			loader_ran(w, role, WHY_RUNQ, s->time_ns - MIN(wait_ns, s->time_ns), s->time_ns);
	}
}

/* --- the merge ------------------------------------------------------------------------------------------ */

static int next(struct stream *s)
{
	int res = why_calls_next(&s->calls, &s->row);

	s->more = res > 0;
	return MIN(res, 0);
}

static void next_switch(struct switches *s)
{
	s->more = false;
	while (s->open && reader_next(&s->rd, &s->row) > 0)
		if (number(s, TIMESTAMP, &s->time_ns)) {
			s->more = true;
			return;
		}
}

static void open_switches(struct switches *s, int dirfd)
{
	s->open = reader_open(&s->rd, dirfd, "sched_switch.out") == 0;
	for (unsigned int c = 0; s->open && c < COLUMNS; c++)
		s->at[c] = (uint8_t)reader_column(&s->rd, column_names[c]);
	next_switch(s);
}

static const struct {
	enum report_kind kind;
	void (*take)(struct walk *w, const struct why_call_row *row);
} files[] = {
	{ REPORT_VFS_RW, take_rw }, { REPORT_OPEN, take_open },		  { REPORT_CLOSE, take_meta },
	{ REPORT_SYNC, take_sync }, { REPORT_CREATE_DEL, take_meta },
};

struct merge {
	struct stream stream[ARRAY_SIZE(files)];
	struct switches switches;
};

static int begin_merge(struct merge *m, struct report *r, int dirfd)
{
	int res = 0;

	for (size_t i = 0; res == 0 && i < ARRAY_SIZE(files); i++) {
		struct stream *s = &m->stream[i];

		s->take = files[i].take;
		res = why_calls_open(&s->calls, r, dirfd, files[i].kind);
		res = res == 0 ? next(s) : res == -ENOENT ? 0 : res;
	}
	open_switches(&m->switches, dirfd);
	return res;
}

/* All rows by time: those of the first of FILES before others of the same time, switches last. */
static int merge(struct walk *w, struct merge *m)
{
	for (int res = 0;;) {
		struct stream *first = NULL;

		for (size_t i = 0; i < ARRAY_SIZE(files); i++)
			if (m->stream[i].more && (!first || m->stream[i].row.end_ns < first->row.end_ns))
				first = &m->stream[i];
		if (m->switches.more && (!first || m->switches.time_ns < first->row.end_ns)) {
			take_switch(w, &m->switches);
			next_switch(&m->switches);
			continue;
		}
		if (!first)
			return 0;
		first->take(w, &first->row);
		res = next(first);
		if (res < 0)
			return res;
	}
}

int why_walk(struct report *r, int dirfd)
{
	struct walk w = { .r = r, .why = r->why, .last_pid = UINT64_MAX };
	struct merge *m = calloc(1, sizeof(*m));
	int res = m ? make_roles(&w) : -ENOMEM;

	if (res == 0)
		res = begin_merge(m, r, dirfd);
	if (res == 0)
		res = merge(&w, m);
	for (size_t i = 0; m && i < ARRAY_SIZE(files); i++)
		why_calls_close(&m->stream[i].calls);
	if (m)
		reader_close(&m->switches.rd);
	for (uint32_t i = 0; i < w.faults.n; i++)
		end_faults(&w, table_at(&w.faults, i));
	table_free(&w.roles);
	table_free(&w.threads);
	table_free(&w.faults);
	free(w.covers);
	free(m);
	return res;
}
