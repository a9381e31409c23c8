/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the parts of why: roles, waits, sums, and their causes. */
#ifndef REPORT_WHY_WHY_IMPL_H
#define REPORT_WHY_WHY_IMPL_H

#include "report/scan/model.h"
#include "report/why/why.h"

void why_note(struct why *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* roles.c: the first finds the trainers, before the rows; the second the loaders of each, after the rows. */
void why_find_trainers(struct report *report);
void why_find_loaders(struct report *report);
struct why_loader *why_loader(const struct why *w, uint64_t pid);
/* Finds the surest sign that the job is training at all; after why_find_loaders(). */
void why_find_sight(struct report *r);
/* Returns the trainer PID; NULL: it is none. */
struct why_trainer *why_trainer(struct why *w, uint64_t pid);

/* Adds PROC, unless it is a trainer already, or there are WHY_TRAINERS_MAX. */
void why_add_trainer(struct report *report, const struct report_proc *proc);
/* Returns the process that P is a copy of; NULL: none. */
struct report_proc *why_copied_from(const struct report *r, const struct report_proc *p);

/*
 * launchers.c: the first adds possible trainers, before the rows; the second drops those that do not train, after the
 * rows.
 */
void why_add_ranks(struct report *report);
void why_drop_launchers(struct report *report);

/* fault_rows.c: whether fault.out is there, and has the times of page faults, or most of them by sched.out. */
bool why_faults_are_rows(struct report *r);

/*
 * sched.c: how busy each process was. Called only where no other sign of a trainer exists, since it reads all of
 * sched.out.
 */
void why_read_busy(struct report *r);
/* Finds when the trainers waited. */
void why_read_trainer_sched(struct report *report);

/* waits.c */
void why_find_windows(struct report *r); /* the window of each trainer */
void why_choose_bases(struct report *report);
/* Adds up how long the trainers waited; after why_walk(). */
void why_sum_waits(struct report *report);
/* Returns how long the GPUs of T, which has several, were idle on average. */
uint64_t why_gpus_idle(struct why *w, const struct why_trainer *t, uint64_t begin_ns, uint64_t end_ns);
/* Returns the trainer's waits in [BEGIN, END), by its basis. */
static inline uint64_t why_waited(struct why *why, struct why_trainer *trainer, uint64_t begin_ns, uint64_t end_ns)
{
	begin_ns = begin_ns > trainer->begin_ns ? begin_ns : trainer->begin_ns;
	end_ns = end_ns < trainer->end_ns ? end_ns : trainer->end_ns;
	if (begin_ns >= end_ns)
		return 0;
	switch (trainer->basis) {
	case WHY_BY_GPU:
		return trainer->n_gpus == 1 ? spans_within(&why->gpus->v[trainer->gpu[0]].idle, begin_ns, end_ns) :
					      why_gpus_idle(why, trainer, begin_ns, end_ns);
	case WHY_BY_REGIONS:
		return trainer->steps ? spans_within(&trainer->steps->spans[STEP_FETCH], begin_ns, end_ns) : 0;
	case WHY_BY_SUMS:
		return spans_within(&trainer->waits, begin_ns, end_ns);
	case WHY_BY_CALLS:
		return spans_within(&trainer->calls, begin_ns, end_ns);
	default:
		return 0;
	}
}

/*
 * Whether what T's main thread does in STATE counts as waiting even outside of its waits. Where regions show the
 * fetches of data, other reads do not count. But writes do, as the trainer does not train while it writes.
 */
static inline bool why_waits_outside(const struct why_trainer *t, enum why_state state)
{
	return t->basis != WHY_BY_REGIONS || state == WHY_WRITE;
}

/* Returns the part of [BEGIN, END) that lies in T's window. */
static inline uint64_t why_looked_at(const struct why_trainer *t, uint64_t begin_ns, uint64_t end_ns)
{
	begin_ns = begin_ns > t->begin_ns ? begin_ns : t->begin_ns;
	end_ns = end_ns < t->end_ns ? end_ns : t->end_ns;
	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

/*
 * epochs.c: sets up the epochs that are known before the rows, some still without an end. Returns 0 or -ENOMEM. Rows in
 * none of them count in W->outside.
 */
int why_epochs_begin(struct report *report);
/* Keeps the epochs within the trace, after the rows. Without any, the only epoch is WHY->outside, which is all of it.
 */
void why_epochs_settle(struct report *report);
struct why_epoch *why_epoch_find(struct why *why, uint64_t at_ns);
/* Returns the epoch at AT_NS, mostly that of the last call; NULL: between two epochs, or after the last one. */
static inline struct why_epoch *why_epoch_at(struct why *w, uint64_t at_ns)
{
	struct why_epoch *e = &w->epoch[w->at_epoch];

	return at_ns >= e->begin_ns && at_ns < e->end_ns ? e : why_epoch_find(w, at_ns);
}
/* Returns the trainer's window by the job's phases; false when they do not show it. */
bool why_training(const struct report *r, uint64_t *begin_ns, uint64_t *end_ns);
/* Returns the work of PID in E; NULL when there is no room. */
struct why_work *why_work_of(struct why *w, const struct why_epoch *e, uint64_t pid);
/*
 * Adds NS in calls on files and SAMPLES opened by loader PID. AT, 0 at first, caches its place in the table, for each
 * PID.
 */
static inline void why_add_work(struct why *why, const struct why_epoch *epoch, uint64_t pid, uint32_t *at, uint64_t ns,
				uint64_t samples)
{
	struct why_work *work = *at < why->work.n ? table_at(&why->work, *at) : NULL;

	if (!work || work->pid != pid || work->epoch != (uint32_t)(epoch - why->epoch)) {
		work = why_work_of(why, epoch, pid);
		if (!work)
			return;
		*at = (uint32_t)(work - (const struct why_work *)why->work.values);
	}
	work->ns += ns;
	work->samples += samples;
}
void why_epochs_end(struct report *report);

static inline void why_kind_took(void *busy_ns, uint64_t begin_ns, uint64_t end_ns)
{
	*(uint64_t *)busy_ns += end_ns - begin_ns;
}

/* Adds a call of KIND that has ended. */
static inline void why_kind_add(struct why *w, enum why_kind kind, uint64_t end_ns, uint64_t lat_ns)
{
	struct why_kind_sum *sum = &w->kind[kind];

	sum->ns += lat_ns;
	cover_add(&sum->cover, end_ns - lat_ns, end_ns, why_kind_took, &sum->busy_ns);
}

/* saves.c: finds the trainers' checkpoints, once the bases are chosen. */
void why_find_saves(struct report *report);
/* Adds a call of T's main thread. */
void why_saves_call(struct why_trainer *t, enum why_state state, uint64_t begin_ns, uint64_t end_ns);
/*
 * Returns the part of T's checkpoints in [BEGIN, END) that is not among its waits by regions: all but the writes and
 * syncs, which count as spread evenly over the checkpoints.
 */
uint64_t why_saves_beside(struct why_trainer *t, uint64_t begin_ns, uint64_t end_ns);

/* files.c, see files.h. Returns 0 or -ENOMEM. */
int why_files_begin(struct why *w);
/* To be called after the last row. */
void why_files_end(struct report *report);

/* walk.c: walks all calls again, by time. Returns 0 or -errno. */
int why_walk(struct report *report);

#endif
