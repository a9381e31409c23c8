/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls once more, merged by time, when it is known who trains and who loads: each call becomes
 * a stretch of its process's time in one state, and is held against the trainer's waits. Who is in no call
 * between sending a result and receiving the next order waits for these, in poll(2) or the like.
 */
#include <errno.h>
#include <stdlib.h>

#include "util.h"
#include "why_walk.h"

#define SLOW_NS 200000 /* reads of which it is not known: longer ones have come from storage */
#define ROLES_MAX (WHY_LOADERS_MAX + WHY_TRAINERS_MAX)

/* The calls of one file, at the next one. */
struct stream {
	struct why_calls_stream calls;
	struct why_call_row row;
	bool more;
	void (*take)(struct why_walk *w, struct why_role *role, const struct why_call_row *row);
};

/* A call, as far as it matters here. */
struct call {
	const struct why_call_row *row;
	enum why_state state;
	bool on_file;
	bool receives, sends; /* on a pipe or the like */
};

/* --- roles ------------------------------------------------------------------------------------------- */

static int make_roles(struct why_walk *w)
{
	struct why *why = w->why;

	w->covers = calloc(2 * (size_t)why->n_trainers + 1, sizeof(*w->covers));
	if (!w->covers)
		return -ENOMEM;
	table_init_pids(&w->roles, sizeof(struct why_role), ROLES_MAX);
	for (uint32_t i = 0; i < why->loaders.n; i++) {
		struct why_loader *l = *(struct why_loader **)table_at(&why->loaders, i);
		struct why_role *role = l ? table_get(&w->roles, l->pid) : NULL;

		if (role)
			role->loader = l;
	}
	for (uint32_t i = 0; i < why->n_trainers; i++) {
		struct why_role *role = table_get(&w->roles, why->trainer[i].pid);

		if (role)
			*role = (struct why_role){ .trainer = &why->trainer[i], .main = &w->covers[2 * (size_t)i],
					       .others = &w->covers[2 * (size_t)i + 1] };
	}
	return 0;
}

struct why_role *why_role_of(struct why_walk *w, uint64_t pid)
{
	if (pid != w->last_pid) {
		struct why_role *role = table_find(&w->roles, pid);

		w->last_role = role ? role : &w->nobody;
		w->last_pid = pid;
	}
	return w->last_role;
}

/* --- stretches of time -------------------------------------------------------------------------------- */

void why_loader_was(void *stretch, uint64_t begin_ns, uint64_t end_ns)
{
	const struct why_stretch *x = stretch;
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

void why_trainer_was(void *stretch, uint64_t begin_ns, uint64_t end_ns)
{
	const struct why_stretch *x = stretch;
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

/* --- calls ---------------------------------------------------------------------------------------------- */

static bool is_among_longest(const struct why_longest *top, const struct call *c)
{
	return top->n < WHY_LONGEST || c->row->kept.lat_ns > top->call[WHY_LONGEST - 1].lat_ns;
}

static void keep_longest(struct why_longest *top, const struct call *c)
{
	const uint64_t lat_ns = c->row->kept.lat_ns;
	unsigned int i;

	if (top->n < WHY_LONGEST)
		top->n++;
	for (i = top->n - 1; i > 0 && top->call[i - 1].lat_ns < lat_ns; i--)
		top->call[i] = top->call[i - 1];
	top->call[i] = (struct why_call){ .fid = c->row->fid, .end_ns = c->row->kept.end_ns, .lat_ns = lat_ns,
					  .pid = (uint32_t)c->row->kept.pid };
}

static void loader_call(struct why_stretch *x, const struct call *c)
{
	const uint64_t begin_ns = c->row->begin_ns, end_ns = c->row->kept.end_ns;
	struct why_loader *l = x->role->loader;

	if (c->receives && l->last_sent && l->last_ns < begin_ns) {
		struct why_stretch between = *x;

		between.state = WHY_QUEUE;
		cover_add(&l->cover, l->last_ns, begin_ns, why_loader_was, &between);
	}
	cover_add(&l->cover, begin_ns, end_ns, why_loader_was, x);
	l->last_ns = MAX(l->last_ns, end_ns);
	l->last_sent = c->sends;
}

/* Loads data: a trainer does when nobody does it for it. */
static bool works(const struct why_role *role)
{
	return role->loader || (role->trainer && !role->trainer->loaders);
}

static void take_call(struct why_walk *w, struct why_role *role, const struct call *c)
{
	const uint64_t pid = c->row->kept.pid, begin_ns = c->row->begin_ns, end_ns = c->row->kept.end_ns;
	struct why_stretch x = { .r = w->r, .why = w->why, .role = role, .state = c->state, .main = c->row->kept.tid == pid };
	struct why_epoch *e;

	if (!role->loader && !role->trainer)
		return;
	why_switches_call(w, c->row);
	if (c->on_file && is_among_longest(&w->why->longest[c->state], c) &&
	    why_looked_at(role->trainer ? role->trainer : &w->why->trainer[role->loader->trainer], begin_ns, end_ns))
		keep_longest(&w->why->longest[c->state], c);
	if (role->loader)
		loader_call(&x, c);
	else if (c->on_file)
		cover_add(x.main ? role->main : role->others, begin_ns, end_ns, why_trainer_was, &x);
	if (!c->on_file || !works(role))
		return;
	e = why_epoch_at(w->r, end_ns);
	if (e)
		why_add_work(w->r, e, pid, &role->work, end_ns - begin_ns, 0);
}

/* --- rows --------------------------------------------------------------------------------------------- */

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

static void count_sample(struct why_walk *w, struct why_role *role, const struct why_call_row *row)
{
	struct why_epoch *e = why_epoch_at(w->r, row->kept.end_ns);

	w->why->sums.opens_read++;
	if (role->loader)
		role->loader->samples++;
	if (!e)
		return;
	e->samples++;
	if (works(role))
		why_add_work(w->r, e, row->kept.pid, &role->work, 0, 1);
}

static void take_open(struct why_walk *w, struct why_role *role, const struct why_call_row *row)
{
	const struct report_file *f = row->file;
	struct why_sums *sums = &w->why->sums;

	if (role->trainer && why_call_is(row, WHY_CALL_NVIDIA))
		role->trainer->uses_gpu = true;
	sums->opens++;
	sums->opens_failed += why_call_is(row, WHY_CALL_FAILED);
	sums->open_ns += row->kept.lat_ns;
	count_opens(sums, row->kept.end_ns);
	if (f && f->type == REPORT_REG && f->medium != REPORT_MEMORY && why_call_is(row, WHY_CALL_RDONLY))
		count_sample(w, role, row);
	take_call(w, role, &(struct call){ .row = row, .state = WHY_META, .on_file = true });
}

static void take_meta(struct why_walk *w, struct why_role *role, const struct why_call_row *row)
{
	bool on_file = !row->file || report_is_file(row->file->type);

	if (on_file)
		w->why->sums.meta_ns += row->kept.lat_ns;
	take_call(w, role, &(struct call){ .row = row, .state = on_file ? WHY_META : WHY_OTHER, .on_file = on_file });
}

static void take_sync(struct why_walk *w, struct why_role *role, const struct why_call_row *row)
{
	w->why->sums.syncs++;
	w->why->sums.sync_ns += row->kept.lat_ns;
	take_call(w, role, &(struct call){ .row = row, .state = WHY_WRITE, .on_file = true });
}

static bool is_slow(const struct why_call_row *x)
{
	return x->kept.lat_ns >= SLOW_NS + x->kept.bytes; /* 1 GB/s */
}

/* Of a read or write of a file. */
static enum why_state state_of(const struct report *r, const struct why_call_row *x)
{
	const struct report_file *f = x->file;

	if (why_call_is(x, WHY_CALL_WRITE))
		return f->medium == REPORT_MEMORY || f->type != REPORT_REG ? WHY_CPU : WHY_WRITE;
	if (f->medium == REPORT_MEMORY || (f->type != REPORT_REG && f->type != REPORT_BLK))
		return WHY_CACHE;
	if (x->kept.disk_bytes || why_call_is(x, WHY_CALL_DIRECT))
		return WHY_DISK;
	if (!is_slow(x))
		return WHY_CACHE;
	/* what a read before, of this process or of another, had begun to fetch is waited for in this one */
	return !why_call_is(x, WHY_CALL_ACCOUNTED) || f->medium == REPORT_NETWORK ||
			       why_fetched_lately(r, f, x->kept.end_ns) ?
		       WHY_DISK :
		       WHY_CACHE;
}

/* How much its process has read from the page cache, of all and of the waits for it. */
static void cached(const struct why_role *role, double *ns, double *idle_ns)
{
	*ns = role->loader ? role->loader->ns[WHY_CACHE] : role->trainer ? (double)role->trainer->own_ns[WHY_CACHE] : 0;
	*idle_ns = role->loader	 ? role->loader->idle_ns[WHY_CACHE] :
		   role->trainer ? (double)role->trainer->own_idle_ns[WHY_CACHE] :
				   0;
}

/* A slow read that fetched nothing may have waited for what another fetches: that is known when this one's has ended. */
static void take_slow_read(struct why_walk *w, struct why_role *role, const struct call *c)
{
	struct why_doubt doubt = {
		.fid = c->row->fid, .begin_ns = c->row->begin_ns, .end_ns = c->row->kept.end_ns,
		.loader = role->loader, .trainer = role->trainer,
	};
	double ns, idle_ns;

	cached(role, &ns, &idle_ns);
	take_call(w, role, c);
	cached(role, &doubt.ns, &doubt.idle_ns);
	doubt.ns -= ns;
	doubt.idle_ns -= idle_ns;
	if (role->loader || role->trainer)
		why_doubt(&w->doubts, &doubt);
}

static void take_read(struct why_walk *w, struct why_role *role, const struct call *c)
{
	if (c->row->kept.disk_bytes)
		why_doubts_end(w->why, &w->doubts, c->row->fid, c->row->begin_ns);
	if (c->state == WHY_CACHE && is_slow(c->row))
		take_slow_read(w, role, c);
	else
		take_call(w, role, c);
}

static void count_stdout(struct why_sums *s, const struct why_call_row *x, bool is_stdout)
{
	s->written_bytes += x->kept.bytes;
	if (!is_stdout)
		return;
	s->stdout_writes++;
	s->stdout_bytes += x->kept.bytes;
	s->stdout_ns += x->kept.lat_ns;
}

static void take_rw(struct why_walk *w, struct why_role *role, const struct why_call_row *row)
{
	const bool write = why_call_is(row, WHY_CALL_WRITE), standard = why_call_is(row, WHY_CALL_STANDARD);
	struct why_sums *sums = &w->why->sums;
	const struct report_file *f = row->file;
	struct call c = { .row = row };

	if (write)
		count_stdout(sums, row, standard);
	c.on_file = f && report_is_file(f->type);
	if (!c.on_file) {
		c.state = WHY_QUEUE;
		c.receives = !write;
		c.sends = write && !standard;
		take_call(w, role, &c);
		return;
	}
	c.state = state_of(w->r, row);
	if (write)
		take_call(w, role, &c);
	else
		take_read(w, role, &c);
	if (f->type != REPORT_REG || f->medium == REPORT_MEMORY)
		return;
	*(write ? &sums->write_files_ns : &sums->read_files_ns) += row->kept.lat_ns;
	if (f->medium == REPORT_NETWORK)
		sums->network_ns += row->kept.lat_ns;
	if (!why_call_is(row, WHY_CALL_DONE))
		return;
	if (!write && role->loader)
		role->loader->bytes += row->kept.bytes;
	why_add_transfer(w->r, why_epoch_at(w->r, row->kept.end_ns), row);
}

/* --- the merge ------------------------------------------------------------------------------------------ */

static int next(struct stream *s)
{
	int res = why_calls_next(&s->calls, &s->row);

	s->more = res > 0;
	return MIN(res, 0);
}

static const struct {
	enum report_kind kind;
	void (*take)(struct why_walk *w, struct why_role *role, const struct why_call_row *row);
} files[] = {
	{ REPORT_VFS_RW, take_rw }, { REPORT_OPEN, take_open },		  { REPORT_CLOSE, take_meta },
	{ REPORT_SYNC, take_sync }, { REPORT_CREATE_DEL, take_meta },
};

struct merge {
	struct stream stream[ARRAY_SIZE(files)];
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
	return res;
}

/* That with the first row; NULL: there is none. Its rows that end before *LIMIT_NS come before any of the others. */
static struct stream *first_of(struct merge *m, uint64_t *limit_ns)
{
	struct stream *first = NULL;

	*limit_ns = UINT64_MAX;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct stream *s = &m->stream[i];

		if (!s->more)
			continue;
		if (!first || s->row.kept.end_ns < first->row.kept.end_ns) {
			*limit_ns = first ? first->row.kept.end_ns : UINT64_MAX;
			first = s;
		} else {
			*limit_ns = MIN(*limit_ns, s->row.kept.end_ns);
		}
	}
	return first;
}

/* All rows by time: those of the first of FILES before others of the same time, switches last. */
static int merge(struct why_walk *w, struct merge *m)
{
	struct why_switches *switches = &w->switches;
	uint64_t limit_ns;
	struct stream *s;
	int res;

	while ((s = first_of(m, &limit_ns)))
		do {
			while (switches->more && switches->time_ns < s->row.kept.end_ns)
				why_switches_take(w);
			s->take(w, why_role_of(w, s->row.kept.pid), &s->row);
			res = next(s);
			if (res < 0)
				return res;
		} while (s->more && s->row.kept.end_ns < limit_ns);
	while (switches->more)
		why_switches_take(w);
	return 0;
}

int why_walk(struct report *r, int dirfd)
{
	struct why_walk *w = calloc(1, sizeof(*w));
	struct merge *m = calloc(1, sizeof(*m));
	int res = w && m ? 0 : -ENOMEM;

	if (res == 0) {
		w->r = r;
		w->why = r->why;
		w->last_pid = UINT64_MAX;
		why_switches_open(&w->switches, dirfd);
		res = make_roles(w);
	}
	if (res == 0)
		res = begin_merge(m, r, dirfd);
	if (res == 0)
		res = merge(w, m);
	for (size_t i = 0; m && i < ARRAY_SIZE(files); i++)
		why_calls_close(&m->stream[i].calls);
	if (w) {
		why_switches_end(w);
		table_free(&w->roles);
		free(w->covers);
	}
	free(w);
	free(m);
	return res;
}
