/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The second pass over the calls, sorted by time, when trainers and loaders are known. Each call becomes a stretch of
 * its process's time in one state. A loader that is in no call after it has sent a result, and before it receives the
 * next order, waits for that order, in poll(2) or the like.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/why/walk.h"

#define ROLES_MAX (WHY_LOADERS_MAX + WHY_TRAINERS_MAX)

/* The calls of one file, positioned at the next one. */
struct stream {
	struct why_calls_stream calls;
	struct why_call_row row;
};

/* --- roles ------------------------------------------------------------------------------------------- */

static int make_roles(struct why_walk *walk)
{
	struct why *why = walk->why;

	walk->covers = calloc(why->n_trainers + 1ULL, sizeof(*walk->covers));
	if (!walk->covers)
		return -ENOMEM;
	table_init_pids(&walk->roles, sizeof(struct why_role), ROLES_MAX);
	for (uint32_t i = 0; i < why->loaders.n; i++) {
		struct why_loader *l = *(struct why_loader **)table_at(&why->loaders, i);
		struct why_role *role = l ? table_get(&walk->roles, l->pid) : NULL;

		if (role) {
			const struct report_proc *p = table_find(&walk->r->procs, l->pid);

			role->loader = l;
			l->bytes = p ? p->stored_read : 0;
		}
	}
	for (uint32_t i = 0; i < why->n_trainers; i++) {
		struct why_role *role = table_get(&walk->roles, why->trainer[i].pid);

		if (role)
			*role = (struct why_role){ .trainer = &why->trainer[i], .main = &walk->covers[i] };
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

void why_loader_stretch(void *stretch, uint64_t begin_ns, uint64_t end_ns)
{
	const struct why_stretch *x = stretch;
	struct why_loader *l = x->role->loader;
	struct why_trainer *t = &x->why->trainer[l->trainer];

	l->ns[x->state] += (double)(int64_t)why_looked_at(t, begin_ns, end_ns);
}

void why_trainer_stretch(void *stretch, uint64_t begin_ns, uint64_t end_ns)
{
	const struct why_stretch *why_stretch = stretch;
	struct why_trainer *trainer = why_stretch->role->trainer;
	const uint64_t all_ns = why_looked_at(trainer, begin_ns, end_ns);
	struct why_epoch *epoch;
	uint64_t outside_ns;

	trainer->own_ns[why_stretch->state] += all_ns;
	why_saves_call(trainer, why_stretch->state, begin_ns, end_ns);
	if (trainer->basis == WHY_BY_GPU || !why_waits_outside(trainer, why_stretch->state))
		return;
	outside_ns = all_ns - why_waited(why_stretch->why, trainer, begin_ns, end_ns);
	trainer->outside_ns += outside_ns;
	epoch = why_epoch_at(why_stretch->why, end_ns);
	if (epoch)
		epoch->own_ns[trainer - why_stretch->why->trainer] += outside_ns;
}

void why_add_io(const struct why_stretch *stretch, uint64_t begin_ns, uint64_t end_ns)
{
	static const enum step_io io_of[WHY_STATES] = {
		[WHY_DISK] = STEP_IO_DISK,
		[WHY_CACHE] = STEP_IO_CACHE,
		[WHY_META] = STEP_IO_NAMES,
		[WHY_WRITE] = STEP_IO_WRITE,
	};
	const struct why_role *role = stretch->role;
	struct why_trainer *t = role->trainer ? role->trainer : &stretch->why->trainer[role->loader->trainer];

	if (!t->steps || stretch->state > WHY_WRITE) /* no I/O: files in memory */
		return;
	spans_add(&t->io, MAX(begin_ns, t->steps->begin_ns), MIN(end_ns, t->steps->end_ns));
	phase_steps_io(&stretch->r->phases->steps, t->steps, io_of[stretch->state], begin_ns, end_ns);
}

/* --- calls ---------------------------------------------------------------------------------------------- */

/*
 * Adds a call that makes or sizes a file of shared memory. It is work of the CPU, of which the scheduler knows more:
 * the row has the time in which the loader waited for a CPU, too.
 */
static void loader_shares(struct why_stretch *stretch, uint64_t begin_ns, uint64_t end_ns)
{
	struct why_loader *l = stretch->role->loader;
	struct why_trainer *t = &stretch->why->trainer[l->trainer];

	l->shared_ns += (double)(int64_t)why_looked_at(t, begin_ns, end_ns);
	if (!stretch->why->has_sums)
		why_loader_add(stretch, begin_ns, end_ns);
}

static void loader_call(struct why_stretch *stretch, const struct why_call_row *row)
{
	const uint64_t begin_ns = row->begin_ns, end_ns = row->kept.end_ns;
	struct why_loader *loader = stretch->role->loader;

	if (why_call_is(row, WHY_CALL_RECEIVES) && loader->last_sent && loader->last_ns < begin_ns) {
		struct why_stretch between = *stretch;

		between.state = WHY_QUEUE;
		why_loader_add(&between, loader->last_ns, begin_ns);
	}
	if (why_call_is(row, WHY_CALL_SHARED))
		loader_shares(stretch, begin_ns, end_ns);
	else
		why_loader_add(stretch, begin_ns, end_ns);
	loader->last_ns = MAX(loader->last_ns, end_ns);
	loader->last_sent = why_call_is(row, WHY_CALL_SENDS);
}

/* Whether the process loads data, as a trainer without loaders does. */
static bool works(const struct why_role *role)
{
	return role->loader || (role->trainer && !role->trainer->loaders);
}

/* Takes a call of a loader or trainer. */
static void take_call(struct why_walk *walk, struct why_role *role, const struct why_call_row *row)
{
	const uint64_t pid = row->kept.pid, begin_ns = row->begin_ns, end_ns = row->kept.end_ns;
	const bool on_file = why_call_is(row, WHY_CALL_ON_FILE) && !why_call_is(row, WHY_CALL_SHARED);
	struct why_stretch x = { .r = walk->r, .why = walk->why, .role = role, .state = why_call_state(row) };
	struct why_epoch *epoch;

	if (on_file)
		why_add_io(&x, begin_ns, end_ns);
	if (role->loader)
		loader_call(&x, row);
	else if (on_file && row->kept.tid == pid)
		cover_add(role->main, begin_ns, end_ns, why_trainer_stretch, &x);
	if (!on_file || why_call_is(row, WHY_CALL_SOFTWARE) || !works(role))
		return;
	epoch = why_epoch_at(walk->why, end_ns);
	if (epoch)
		why_add_work(walk->why, epoch, pid, &role->work, end_ns - begin_ns, 0);
}

static void take_sample(struct why_walk *walk, struct why_role *role, const struct why_call_row *row)
{
	struct why_epoch *e = why_epoch_at(walk->why, row->kept.end_ns);

	if (role->loader)
		role->loader->samples++;
	if (!e)
		return;
	e->samples++;
	if (works(role))
		why_add_work(walk->why, e, row->kept.pid, &role->work, 0, 1);
}

static void take(struct why_walk *walk, struct why_role *role, const struct why_call_row *row)
{
	if (why_call_is(row, WHY_CALL_SAMPLE))
		take_sample(walk, role, row);
	if (!role->loader && !role->trainer)
		return;
	take_call(walk, role, row);
}

/* --- the merge ------------------------------------------------------------------------------------------ */

static const enum report_kind files[] = { REPORT_VFS_RW, REPORT_OPEN, REPORT_CLOSE, REPORT_SYNC, REPORT_CREATE_DEL };

#define AT_END UINT64_MAX

struct merge {
	struct stream stream[ARRAY_SIZE(files)];
	uint64_t next_ns[ARRAY_SIZE(files)]; /* when each file's next call ended; AT_END: it has none */
};

static inline int next(struct merge *m, unsigned int i)
{
	struct stream *s = &m->stream[i];
	int res = why_calls_next(&s->calls, &s->row);

	m->next_ns[i] = res > 0 ? MIN(s->row.kept.end_ns, AT_END - 1) : AT_END;
	return MIN(res, 0);
}

static int begin_merge(struct merge *merge, struct report *report)
{
	int res = 0;

	for (unsigned int i = 0; res == 0 && i < ARRAY_SIZE(files); i++) {
		res = why_calls_open(&merge->stream[i].calls, report, files[i]);
		if (res == 0)
			res = next(merge, i);
		else
			merge->next_ns[i] = AT_END;
		res = res == -ENOENT ? 0 : res;
	}
	return res;
}

/*
 * Returns the file with the call that ended first; of several, the first in order. Without branches, which the
 * processor could not predict.
 */
static inline unsigned int first_of(const struct merge *m)
{
	uint64_t first_ns = m->next_ns[0];
	unsigned int first = 0;

	for (unsigned int i = 1; i < ARRAY_SIZE(files); i++) {
		first = m->next_ns[i] < first_ns ? i : first;
		first_ns = MIN(first_ns, m->next_ns[i]);
	}
	return first;
}

/* Takes all rows by time: rows of the first of FILES before others of the same time, page faults last. */
static int merge(struct why_walk *walk, struct merge *m)
{
	struct why_fault_rows *faults = &walk->fault_rows;

	for (unsigned int i = first_of(m); m->next_ns[i] != AT_END; i = first_of(m)) {
		const struct why_call_row *row = &m->stream[i].row;
		int res;

		while (faults->more && faults->scan.time_ns < row->kept.end_ns)
			why_fault_rows_take(walk);
		take(walk, why_role_of(walk, row->kept.pid), row);
		res = next(m, i);
		if (res < 0)
			return res;
	}
	while (faults->more)
		why_fault_rows_take(walk);
	return 0;
}

int why_walk(struct report *report)
{
	struct why_walk *walk = calloc(1, sizeof(*walk));
	struct merge *m = calloc(1, sizeof(*m));
	int res = walk && m ? 0 : -ENOMEM;

	if (res == 0) {
		walk->r = report;
		walk->why = report->why;
		walk->last_pid = UINT64_MAX; /* which a row may have, too */
		walk->last_role = &walk->nobody;
		why_fault_rows_open(&walk->fault_rows, report);
		res = make_roles(walk);
	}
	if (res == 0)
		res = begin_merge(m, report);
	if (res == 0)
		res = merge(walk, m);
	for (size_t i = 0; m && i < ARRAY_SIZE(files); i++)
		why_calls_close(&m->stream[i].calls);
	if (walk) {
		table_free(&walk->roles);
		free(walk->covers);
	}
	free(walk);
	free(m);
	return res;
}
