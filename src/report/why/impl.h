/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the parts of why: who, when, what, and what it means. */
#ifndef REPORT_WHY_IMPL_H
#define REPORT_WHY_IMPL_H

#include "report/scan/model.h"
#include "report/why/why.h"

void why_note(struct why *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* roles.c: who trains, before the rows; who loads for whom, behind them. */
void why_find_trainers(struct report *r);
void why_find_loaders(struct report *r);
struct why_loader *why_loader(const struct why *w, uint64_t pid);
/* Behind these: how it is known that it is training at all. */
void why_find_sight(struct report *r);
/* NULL: it does not train. */
struct why_trainer *why_trainer(struct why *w, uint64_t pid);

/* Unless it is one, or there are WHY_TRAINERS_MAX. */
void why_add_trainer(struct report *r, const struct report_proc *p);
/* Of which P is a copy; NULL: of nobody. */
struct report_proc *why_copied_from(const struct report *r, const struct report_proc *p);

/* launchers.c: trainers that may be found to train before the rows; and those that do not train, behind them. */
void why_add_ranks(struct report *r);
void why_drop_launchers(struct report *r);

/* gpu.c: when GPUs of the target were idle; marks processes that use one. */
void why_read_gpu(struct report *r);

/* sched.c. How busy each process was: asked only where nothing else shows who trains, since it reads all of sched.out. */
void why_read_busy(struct report *r);
/* For trainers: when they waited. */
void why_read_trainer_sched(struct report *r);
/* What the loaders did in sched.out while they were waited for; after why_walk(). */
void why_read_loader_sched(struct report *r);

/* waits.c */
void why_find_windows(struct report *r); /* what is looked at */
void why_choose_bases(struct report *r);
/* How long T's GPUs, which are several, were idle on average. */
uint64_t why_gpus_idle(struct why *w, const struct why_trainer *t, uint64_t begin_ns, uint64_t end_ns);
/* The trainer's waits in [BEGIN, END). */
static inline uint64_t why_waited_by(enum why_basis basis, struct why *w, struct why_trainer *t, uint64_t begin_ns,
				     uint64_t end_ns)
{
	begin_ns = begin_ns > t->begin_ns ? begin_ns : t->begin_ns;
	end_ns = end_ns < t->end_ns ? end_ns : t->end_ns;
	if (begin_ns >= end_ns)
		return 0;
	switch (basis) {
	case WHY_BY_GPU:
		return t->n_gpus == 1 ? spans_within(&w->gpu[t->gpu[0]].idle, begin_ns, end_ns) :
					why_gpus_idle(w, t, begin_ns, end_ns);
	case WHY_BY_SWITCHES:
	case WHY_BY_SUMS:
		return spans_within(&t->waits, begin_ns, end_ns);
	case WHY_BY_CALLS:
		return spans_within(&t->calls, begin_ns, end_ns);
	default:
		return (uint64_t)((double)(end_ns - begin_ns) * t->cpu_wait);
	}
}

/* By what is known best. */
static inline uint64_t why_waited(struct why *w, struct why_trainer *t, uint64_t begin_ns, uint64_t end_ns)
{
	return why_waited_by(t->basis, w, t, begin_ns, end_ns);
}

/* The same, for what loaders did meanwhile. */
static inline uint64_t why_waited_then(struct why *w, struct why_trainer *t, uint64_t begin_ns, uint64_t end_ns)
{
	return why_waited_by(t->then, w, t, begin_ns, end_ns);
}

/* The samples of T's first GPU; NULL: none. */
const struct spans *why_samples(const struct why *w, const struct why_trainer *t);
/* The part of [BEGIN, END) that is looked at. */
static inline uint64_t why_looked_at(const struct why_trainer *t, uint64_t begin_ns, uint64_t end_ns)
{
	begin_ns = begin_ns > t->begin_ns ? begin_ns : t->begin_ns;
	end_ns = end_ns < t->end_ns ? end_ns : t->end_ns;
	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

/*
 * epochs.c: the epochs as they are known before the rows, all but the ends of those that have none; 0 or -ENOMEM. What
 * is in none of them counts in W->outside.
 */
int why_epochs_begin(struct report *r);
/* All rows are in: those that are within the trace. Where none is, outside is all of it, and the only one. */
void why_epochs_settle(struct report *r);
struct why_epoch *why_epoch_find(struct why *w, uint64_t at_ns);
/* That of AT_NS, mostly the same as before; NULL: between two, or behind the last. */
static inline struct why_epoch *why_epoch_at(struct why *w, uint64_t at_ns)
{
	struct why_epoch *e = &w->epoch[w->at_epoch];

	return at_ns >= e->begin_ns && at_ns < e->end_ns ? e : why_epoch_find(w, at_ns);
}
/* The trainer's window by the job's phases; false when these do not tell it. */
bool why_training(const struct report *r, uint64_t *begin_ns, uint64_t *end_ns);
/* What PID does in E; NULL: there is no room. */
struct why_work *why_work_of(struct why *w, const struct why_epoch *e, uint64_t pid);
/* A loader was NS in calls on files, and opened SAMPLES. AT, 0 at first and one for each PID, is where it was last. */
static inline void why_add_work(struct why *w, const struct why_epoch *e, uint64_t pid, uint32_t *at, uint64_t ns,
				uint64_t samples)
{
	struct why_work *work = *at < w->work.n ? table_at(&w->work, *at) : NULL;

	if (!work || work->pid != pid || work->epoch != (uint32_t)(e - w->epoch)) {
		work = why_work_of(w, e, pid);
		if (!work)
			return;
		*at = (uint32_t)(work - (const struct why_work *)w->work.values);
	}
	work->ns += ns;
	work->samples += samples;
}
void why_epochs_end(struct report *r);

static inline void why_kind_took(void *busy_ns, uint64_t begin_ns, uint64_t end_ns)
{
	*(uint64_t *)busy_ns += end_ns - begin_ns;
}

/* A call of KIND has ended. */
static inline void why_kind_add(struct why *w, enum why_kind kind, uint64_t end_ns, uint64_t lat_ns)
{
	struct why_kind_sum *sum = &w->kind[kind];

	sum->ns += lat_ns;
	cover_add(&sum->cover, end_ns - lat_ns, end_ns, why_kind_took, &sum->busy_ns);
}

/* files.c, see files.h: 0 or -ENOMEM. */
int why_files_begin(struct why *w);
/* All rows are in. */
void why_files_end(struct report *r);

/* doubts.c: reads that took long and fetched nothing, as long as it may turn out that another did just then. */
struct why_doubts {
	struct why_doubt {
		uint64_t fid, begin_ns, end_ns;
		struct why_loader *loader; /* whose they are; one of both */
		struct why_trainer *trainer;
		double ns, idle_ns; /* what has been added to its WHY_CACHE */
	} v[256];
	unsigned int n; /* in all; those before the last 256 are forgotten */
	uint64_t latest_ns; /* what began later is not about any of them */
};
void why_doubt(struct why_doubts *d, const struct why_doubt *doubt);
/* Whether a read that began at BEGIN can end any: few can. */
static inline bool why_doubts_any(const struct why_doubts *d, uint64_t begin_ns)
{
	return begin_ns < d->latest_ns;
}
/* A read of FID that began at BEGIN fetches from disk: those that were on then waited for it, and not for the cache. */
void why_doubts_end(const struct why *w, struct why_doubts *d, uint64_t fid, uint64_t begin_ns);

/* faults.c: a thread's uninterruptible waits since its last call, until it is known whether they were in one. */
struct why_faults {
	uint64_t left_ns; /* it waits like that since then; 0: it does not */
	unsigned int n;
	struct {
		uint64_t begin_ns, end_ns;
	} v[64];
};
/* It could run again at END. TAKE is called for what was in no call. */
void why_faults_woke(struct why_faults *f, uint64_t end_ns, cover_fn take, void *ctx);
/* A call of it that began at BEGIN has ended. */
void why_faults_call(struct why_faults *f, uint64_t begin_ns, cover_fn take, void *ctx);
/* There is no more. */
void why_faults_end(struct why_faults *f, cover_fn take, void *ctx);

/* did.c: a main thread that may train waited for NS in CALL. */
void why_did(struct why_did *d, struct reader_field call, double ns);

/* walk.c: all calls once more, by time. 0 or -errno. */
int why_walk(struct report *r);

/* blame.c: what the waits were for. */
void why_blame(struct report *r);

#endif
