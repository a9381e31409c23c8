/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What CPU scheduling tells of waits. sched_switch.out: a trainer waits while none of its threads runs or could
 * run, to the nanosecond. sched.out has sums of an interval, which count evenly for all of it: there a trainer waits while its
 * main thread sleeps in a call in which one waits for others.
 */
#include <stdlib.h>

#include "base/util.h"
#include "report/why/impl.h"

#define COLUMNS_MAX 12
#define THREADS_MAX (1U << 16)
/*
 * Rows of sched.out are a second apart, or more. Bins are shorter as long as these do, so that of waits hardly anything
 * goes to the time before who waits was there, or to the part of it that is not looked at.
 */
#define BINS 65536
#define FINE_BINS 16384
#define FINE_NS (NSEC_PER_SEC / 16)

struct rows {
	struct report *r;
	void *own;
	struct reader rd;
	struct reader_row row;
	unsigned int at[COLUMNS_MAX];
	uint64_t time_ns;
};

static struct reader_field field(const struct rows *x, unsigned int column)
{
	return reader_field(&x->row, x->at[column]);
}

/* 0 where there is no number. */
static uint64_t number(const struct rows *x, unsigned int column)
{
	uint64_t v;

	return reader_row_u64(field(x, column), &v) ? v : 0;
}

/* Each row of FILE to TAKE; false when it is not there. COLUMNS ends with NULL. */
static bool each(struct report *r, int dirfd, const char *file, const char *const *columns,
		 void (*take)(struct rows *x), void *own)
{
	autofree struct rows *x = calloc(1, sizeof(*x));
	unsigned int stamp;

	if (!x || reader_open(&x->rd, dirfd, file) < 0)
		return false;
	x->r = r;
	x->own = own;
	stamp = reader_column(&x->rd, "TIMESTAMP");
	for (unsigned int i = 0; columns[i]; i++)
		x->at[i] = reader_column(&x->rd, columns[i]);
	while (reader_next(&x->rd, &x->row) > 0)
		if (reader_row_u64(reader_field(&x->row, stamp), &x->time_ns))
			take(x);
	reader_close(&x->rd);
	return true;
}

/* --- sched_switch.out: trainers --------------------------------------------------------------------- */

enum { PREV_PID, PREV_TID, PREV_STATE, NEXT_PID, NEXT_TID, WAIT_NS };
static const char *const switch_columns[] = { "PREV_PID", "PREV_TID", "PREV_STATE", "NEXT_PID",
					      "NEXT_TID", "WAIT_NS",  NULL };

struct thread {
	uint64_t since_ns; /* it runs, or could run; 0: it does not */
	bool known;
	uint32_t trainer;
};

struct switches {
	struct table threads; /* struct thread, by TID */
	struct spans active[WHY_TRAINERS_MAX];
};

static struct thread *thread_of(struct rows *x, unsigned int pid_column, uint32_t *trainer)
{
	struct switches *sw = x->own;
	struct why_trainer *t = why_trainer(x->r->why, number(x, pid_column));
	uint64_t tid;

	if (!t || !reader_row_u64(field(x, pid_column + 1), &tid))
		return NULL;
	*trainer = (uint32_t)(t - x->r->why->trainer);
	return table_get(&sw->threads, tid);
}

static void take_switch(struct rows *x)
{
	struct switches *sw = x->own;
	struct thread *th;
	uint32_t t;

	th = thread_of(x, PREV_PID, &t);
	if (th) {
		if (!th->known)
			th->since_ns = x->r->first_ns;
		th->known = true;
		th->trainer = t;
		if (th->since_ns && field(x, PREV_STATE).p[0] != 'R') {
			spans_add(&sw->active[t], th->since_ns, x->time_ns);
			th->since_ns = 0;
		}
	}
	th = thread_of(x, NEXT_PID, &t);
	if (th && number(x, NEXT_TID) == number(x, NEXT_PID))
		x->r->why->trainer[t].runq_ns += (double)why_looked_at(
			&x->r->why->trainer[t], x->time_ns - MIN(number(x, WAIT_NS), x->time_ns), x->time_ns);
	if (th && !th->since_ns)
		th->since_ns = x->time_ns - MIN(number(x, WAIT_NS), x->time_ns - 1);
	if (th) {
		th->known = true;
		th->trainer = t;
	}
}

/* What is not in ACTIVE, from BEGIN to END. */
static void complement(struct spans *ret, const struct spans *active, uint64_t begin_ns, uint64_t end_ns)
{
	for (size_t i = 0; i < active->n; i++) {
		if (active->v[i].begin_ns > begin_ns)
			spans_add(ret, begin_ns, active->v[i].begin_ns);
		begin_ns = MAX(begin_ns, active->v[i].end_ns);
	}
	spans_add(ret, begin_ns, end_ns);
}

static bool trainers_by_switches(struct report *r, int dirfd)
{
	struct switches *sw = calloc(1, sizeof(*sw));
	struct why *w = r->why;
	bool there;

	if (!sw)
		return false;
	table_init(&sw->threads, sizeof(struct thread), THREADS_MAX);
	for (uint32_t i = 0; i < w->n_trainers; i++)
		sw->active[i].max = w->trainer[i].waits.max;
	there = each(r, dirfd, "sched_switch.out", switch_columns, take_switch, sw) && sw->threads.n;
	for (uint32_t i = 0; i < sw->threads.n; i++) {
		const struct thread *th = table_at(&sw->threads, i);

		if (th->since_ns)
			spans_add(&sw->active[th->trainer], th->since_ns, r->last_ns);
	}
	for (uint32_t i = 0; i < w->n_trainers; i++) {
		if (there && sw->active[i].n)
			complement(&w->trainer[i].waits, &sw->active[i], r->first_ns, r->last_ns);
		spans_free(&sw->active[i]);
	}
	table_free(&sw->threads);
	free(sw);
	return there;
}

/* --- sched.out -------------------------------------------------------------------------------------- */

enum { PID, TID, KIND, CPU, CALL, SPAN_NS, RUN_NS, RUNQ_NS, DISK_NS, BLOCKED_NS, SLEEP_NS };
static const char *const sum_columns[] = { "PID",    "TID",	"KIND",	   "CPU",	 "CALL",     "SPAN_NS",
					   "RUN_NS", "RUNQ_NS", "DISK_NS", "BLOCKED_NS", "SLEEP_NS", NULL };

/* Calls in which a thread waits for other processes; in all others it sleeps for itself. */
static bool is_wait_for_others(struct reader_field call)
{
	static const char *const calls[] = {
		"accept", "accept4", "epoll_pwait", "epoll_wait", "futex", "poll", "ppoll", "pselect6", "read",
		"readv", "recvfrom", "recvmsg", "select", "semop", "semtimedop", "sendmsg", "sendto", "wait4", "waitid",
		"write", "writev",
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (reader_is(call, calls[i]))
			return true;
	return false;
}

/*
 * When it was what the row tells of: not before its process began, nor when that had ended. A wait is told when it is
 * over, and may have begun long before the row's interval.
 */
static struct span span_of(const struct rows *x)
{
	const struct report_proc *p = table_find(&x->r->procs, number(x, PID));
	uint64_t least_ns = 0, span_ns;
	struct span s;

	for (unsigned int column = RUN_NS; column <= SLEEP_NS; column++)
		least_ns += number(x, column);
	span_ns = MAX(number(x, SPAN_NS), least_ns);
	s = (struct span){ .begin_ns = x->time_ns - MIN(span_ns, x->time_ns), .end_ns = x->time_ns };

	s.begin_ns = MAX(s.begin_ns, x->r->first_ns);
	if (p && p->end_ns > s.begin_ns && p->end_ns < s.end_ns)
		s.end_ns = p->end_ns;
	if (p && p->begin_ns > s.begin_ns && p->begin_ns < s.end_ns)
		s.begin_ns = p->begin_ns;
	return s;
}

struct sums {
	uint64_t bin_ns;
	float *waits[WHY_TRAINERS_MAX]; /* BINS each */
};

/* SHARE of the interval is looked at. */
static void did(const struct rows *x, double share)
{
	struct why_did *d = &x->r->why->did;

	if (!reader_is(field(x, CALL), "-")) {
		why_did(d, field(x, CALL),
			share * (double)(number(x, DISK_NS) + number(x, BLOCKED_NS) + number(x, SLEEP_NS)));
		return;
	}
	d->run_ns += share * (double)number(x, RUN_NS);
	d->runq_ns += share * (double)number(x, RUNQ_NS);
}

static void take_trainer_sum(struct rows *x)
{
	struct why_trainer *t = why_trainer(x->r->why, number(x, PID));
	const uint64_t first_ns = x->r->first_ns;
	struct sums *s = x->own;
	double sleep_ns, looked_at;
	struct span span;
	float *waits;

	if (!t || number(x, TID) != t->pid)
		return;
	span = span_of(x);
	if (span.begin_ns >= span.end_ns)
		return;
	looked_at = (double)why_looked_at(t, span.begin_ns, span.end_ns) / (double)(span.end_ns - span.begin_ns);
	did(x, looked_at);
	if (!x->r->why->has_switches && reader_is(field(x, CALL), "-"))
		t->runq_ns += looked_at * (double)number(x, RUNQ_NS);
	if (!x->r->why->has_switches && reader_is(field(x, CALL), "fault"))
		t->own_ns[WHY_DISK] += (uint64_t)(looked_at * (double)number(x, DISK_NS));
	if (!is_wait_for_others(field(x, CALL)))
		return;
	waits = s->waits[t - x->r->why->trainer];
	sleep_ns = (double)number(x, SLEEP_NS);
	for (uint64_t at_ns = span.begin_ns; waits && at_ns < span.end_ns;) {
		uint64_t bin = (at_ns - first_ns) / s->bin_ns;
		uint64_t end_ns = MIN(first_ns + (bin + 1) * s->bin_ns, span.end_ns);

		if (bin >= BINS || end_ns <= at_ns)
			break;
		waits[bin] += (float)(sleep_ns * (double)(end_ns - at_ns) / (double)(span.end_ns - span.begin_ns));
		at_ns = end_ns;
	}
}

/* MOST: bins that a trainer has room for. */
static uint64_t bin_length(uint64_t all_ns, uint64_t most)
{
	uint64_t fine_ns = MAX(all_ns / (FINE_BINS - 1) + 1, FINE_NS);

	return MAX(all_ns / (MIN(most, BINS) - 1) + 1, MIN(fine_ns, NSEC_PER_SEC));
}

static bool trainers_by_sums(struct report *r, int dirfd)
{
	struct why *w = r->why;
	uint64_t all_ns = r->last_ns - r->first_ns;
	struct sums s = { .bin_ns = bin_length(all_ns, w->n_trainers ? w->trainer[0].waits.max : BINS) };
	bool there;

	for (uint32_t i = 0; i < w->n_trainers; i++)
		s.waits[i] = calloc(BINS, sizeof(float));
	there = each(r, dirfd, "sched.out", sum_columns, take_trainer_sum, &s);
	for (uint32_t i = 0; i < w->n_trainers; i++) {
		struct why_trainer *t = &w->trainer[i];

		for (uint64_t bin = 0; there && s.waits[i] && bin * s.bin_ns < all_ns && !w->has_switches; bin++) {
			uint64_t length_ns = MIN(s.bin_ns, all_ns - bin * s.bin_ns);
			double waits = (double)s.waits[i][bin] / (double)length_ns;

			spans_append(&t->waits, r->first_ns + bin * s.bin_ns, r->first_ns + bin * s.bin_ns + length_ns,
				     MIN(waits, 1));
		}
		free(s.waits[i]);
	}
	return there;
}

void why_read_trainer_sched(struct report *r, int dirfd)
{
	struct why *w = r->why;

	if (!r->first_ns || r->last_ns <= r->first_ns)
		return;
	w->has_switches = trainers_by_switches(r, dirfd);
	w->has_sums = trainers_by_sums(r, dirfd);
	for (uint32_t i = 0; i < w->n_trainers; i++)
		spans_close(&w->trainer[i].waits);
}

static void take_loader_sum(struct rows *x)
{
	struct why_loader *l = why_loader(x->r->why, number(x, PID));
	struct span span;
	double share;

	if (!l)
		return;
	span = span_of(x);
	if (span.begin_ns >= span.end_ns)
		return;
	share = (double)why_waited(x->r->why, &x->r->why->trainer[l->trainer], span.begin_ns, span.end_ns) /
		(double)(span.end_ns - span.begin_ns);
	if (reader_is(field(x, CALL), "-")) {
		l->run_ns += (double)number(x, RUN_NS);
		l->run_idle_ns += share * (double)number(x, RUN_NS);
		l->runq_idle_ns += share * (double)number(x, RUNQ_NS);
		return;
	}
	if (number(x, TID) != l->pid)
		return;
	if (reader_is(field(x, CALL), "fault"))
		l->fault_idle_ns += share * (double)number(x, DISK_NS);
	else if (is_wait_for_others(field(x, CALL)))
		l->sleep_idle_ns += share * (double)number(x, SLEEP_NS);
}

void why_read_loader_sched(struct report *r, int dirfd)
{
	if (r->why->has_sums && !r->why->has_switches)
		each(r, dirfd, "sched.out", sum_columns, take_loader_sum, NULL);
}
