/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds generations in pids.out. */
#include "report/phases/workers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "stats/table.h"
#include "trace/reader.h"

#define LIVES_MAX (1U << 20)
/* when the next generation starts, a 10th of this one may still live, because its loader is freed late */
#define OVERLAP 10
#define MINOR_PERCENT 60 /* of the length of the others, at most */
#define TURNS_LEAST 4 /* generations; with fewer, alternation is not recognized */

/* --- generations ---------------------------------------------------------------------------------------- */

static int by_parent(const void *a, const void *b)
{
	const struct phase_worker *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static bool is_next(const struct phase_generation *g, const struct phase_worker *l)
{
	return l->begin_ns >= g->end_ns - (g->end_ns - g->begin_ns) / OVERLAP;
}

/* Puts the generations of N workers of one parent into INTO, which may be NULL. Returns how many. */
static uint32_t generations(const struct phase_worker *lives, uint32_t n, struct phase_generation *into)
{
	struct phase_generation g = { 0 };
	uint32_t count = 0;

	for (uint32_t i = 0; i <= n; i++) {
		if (g.workers && (i == n || is_next(&g, &lives[i]))) {
			if (into)
				into[count] = g;
			if (++count == PHASE_GENERATIONS_MAX)
				return count;
			g = (struct phase_generation){ 0 };
		}
		if (i == n)
			break;
		g.begin_ns = g.workers ? g.begin_ns : lives[i].begin_ns;
		g.end_ns = MAX(g.end_ns, lives[i].end_ns);
		g.workers++;
	}
	return count;
}

static uint64_t length(const struct phase_generation *g)
{
	return g->end_ns - g->begin_ns;
}

/* Whether every second generation from FIRST on has fewer workers than each of the others, or is much shorter. */
static bool take_turns(const struct phase_workers *workers, uint32_t first)
{
	uint64_t longest = 0, shortest = UINT64_MAX;
	uint32_t most = 0, fewest = UINT32_MAX;

	for (uint32_t i = 0; i < workers->n; i++) {
		const struct phase_generation *g = &workers->v[i];

		if (i % 2 == first) {
			longest = MAX(longest, length(g));
			most = MAX(most, g->workers);
		} else if (i + 1 < workers->n) { /* the last one may be shorter, as the trace may have cut it off */
			shortest = MIN(shortest, length(g));
			fewest = MIN(fewest, g->workers);
		}
	}
	return most < fewest || longest * 100 <= shortest * MINOR_PERCENT;
}

/* Marks validations: their workers follow those of each epoch, and may precede the first epoch for a trial. */
static void find_minors(struct phase_workers *w)
{
	for (uint32_t first = 0; w->n >= TURNS_LEAST && first < 2 && !w->minors; first++) {
		if (!take_turns(w, first))
			continue;
		for (uint32_t i = first; i < w->n; i += 2) {
			w->v[i].minor = true;
			w->minors++;
		}
	}
}

int phase_workers_of(struct phase_workers *workers, struct phase_worker *lives, uint32_t n)
{
	uint32_t first = 0, count = 0, most = 0;

	*workers = (struct phase_workers){ 0 };
	if (n)
		qsort(lives, n, sizeof(*lives), by_parent);
	for (uint32_t i = 0, next; i < n; i = next) {
		uint32_t here;

		for (next = i + 1; next < n && lives[next].parent == lives[i].parent; next++)
			;
		here = generations(lives + i, next - i, NULL);
		if (here > most) {
			most = here;
			first = i;
			count = next - i;
		}
	}
	if (!most)
		return 0;
	workers->v = calloc(most, sizeof(*workers->v));
	if (!workers->v)
		return -ENOMEM;
	workers->n = generations(lives + first, count, workers->v);
	find_minors(workers);
	return 0;
}

void phase_workers_free(struct phase_workers *w)
{
	free(w->v);
	*w = (struct phase_workers){ 0 };
}

uint64_t phase_workers_within(const struct phase_workers *w, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		uint64_t from = MAX(w->v[i].begin_ns, begin_ns), to = MIN(w->v[i].end_ns, end_ns);

		sum += to > from ? to - from : 0;
	}
	return sum;
}

/* --- pids.out -------------------------------------------------------------------------------------------- */

/* A process, from one row of it to the next. */
struct life {
	uint64_t pid, ppid, begin_ns, end_ns;
	bool forked, execs, spawned, shell, worker;
};

struct lives {
	struct table by_pid; /* 1 + the index of the process that has the PID now */
	struct life *v;
	uint32_t n;
	bool attached;
};

static struct life *life_of(struct lives *all, uint64_t pid, bool is_new)
{
	uint32_t *at = table_get(&all->by_pid, pid);

	if (!at)
		return NULL;
	if (*at && !is_new)
		return &all->v[*at - 1];
	if (all->n == LIVES_MAX || util_room(&all->v, all->n, sizeof(*all->v)) < 0)
		return NULL;
	all->v[all->n] = (struct life){ .pid = pid };
	*at = ++all->n;
	return &all->v[*at - 1];
}

static bool is_shell(struct reader_field comm)
{
	static const char *const shells[] = { "sh",   "bash", "dash",    "ksh", "zsh",
					      "tmux", "sudo", "timeout", "env", "dltraced" };

	for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
		if (reader_is(comm, shells[i]))
			return true;
	return false;
}

enum { AT_TIMESTAMP, AT_PID, AT_TID, AT_PPID, AT_COMM, AT_EVENT, AT_ARGS, ATS };

static void take(struct lives *all, const struct reader_row *row, const unsigned int at[ATS])
{
	struct reader_field comm = reader_field(row, at[AT_COMM]), event = reader_field(row, at[AT_EVENT]),
			    args = reader_field(row, at[AT_ARGS]);
	uint64_t ns, pid, tid;
	bool fork = reader_is(event, "fork");
	struct life *life;

	if (!reader_u64(reader_field(row, at[AT_TIMESTAMP]), &ns) || !reader_u64(reader_field(row, at[AT_PID]), &pid) ||
	    !reader_u64(reader_field(row, at[AT_TID]), &tid) || pid != tid)
		return;
	life = life_of(all, pid, fork);
	if (!life)
		return;
	if (!life->begin_ns) {
		life->begin_ns = ns;
		reader_u64(reader_field(row, at[AT_PPID]), &life->ppid);
	}
	life->forked |= fork;
	all->attached |= reader_is(event, "snapshot");
	life->worker |= phase_is_worker_name(comm.p, comm.len);
	life->shell = is_shell(comm);
	if (reader_is(event, "exec")) {
		life->execs = true;
		/* a worker that is spawned, not forked, runs the program anew; a resource tracker only tidies up */
		life->spawned = memmem(args.p, args.len, "multiprocessing", 15) &&
				!memmem(args.p, args.len, "resource_tracker", 16);
	}
	if (reader_is(event, "exit"))
		life->end_ns = ns;
}

static int read_lives(struct lives *all, int dirfd)
{
	static const char *const columns[ATS] = {
		[AT_TIMESTAMP] = "TIMESTAMP", [AT_PID] = "PID",     [AT_TID] = "TID",   [AT_PPID] = "PPID",
		[AT_COMM] = "COMM",           [AT_EVENT] = "EVENT", [AT_ARGS] = "ARGS",
	};
	unsigned int at[ATS];
	struct reader_row row;
	struct reader rd;

	if (reader_open(&rd, dirfd, "pids.out") < 0)
		return -ENOENT;
	for (unsigned int i = 0; i < ATS; i++)
		at[i] = reader_column(&rd, columns[i]);
	while (reader_next(&rd, &row) > 0)
		take(all, &row, at);
	reader_close(&rd);
	return 0;
}

static uint64_t end_of(const struct life *l, uint64_t end_ns)
{
	return MAX(l->end_ns ? l->end_ns : end_ns, l->begin_ns);
}

/*
 * Whether L was forked from its parent's program, which is no shell. One that lives as long as its parent is a helper.
 */
static bool is_copy(const struct lives *all, const struct life *l, uint64_t end_ns)
{
	const uint32_t *at = table_find(&all->by_pid, l->ppid);
	const struct life *parent = at && *at ? &all->v[*at - 1] : NULL;

	if (!parent || parent->shell || l->shell || !(l->forked || l->spawned) || (l->execs && !l->spawned))
		return false;
	return 2 * (end_of(l, end_ns) - l->begin_ns) <= end_of(parent, end_ns) - parent->begin_ns;
}

/* Puts into INTO the processes that have a loader's name (NAMED), or all copies of their parents. Returns how many. */
static uint32_t pick(const struct lives *all, uint64_t end_ns, bool named, struct phase_worker *into)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->n; i++) {
		const struct life *l = &all->v[i];

		if (named ? l->worker : is_copy(all, l, end_ns))
			into[n++] = (struct phase_worker){ l->ppid, l->begin_ns, end_of(l, end_ns) };
	}
	return n;
}

int phase_workers_read(struct phase_workers *phase_workers, int dirfd, uint64_t end_ns)
{
	struct lives all = { .n = 0 };
	struct phase_worker *workers = NULL;
	int res = 0;

	*phase_workers = (struct phase_workers){ 0 };
	table_init(&all.by_pid, sizeof(uint32_t), LIVES_MAX);
	if (read_lives(&all, dirfd) == 0 && all.n) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < all.n; i++)
			end_ns = MAX(end_ns, MAX(all.v[i].begin_ns, all.v[i].end_ns));
		workers = calloc(all.n, sizeof(*workers));
		if (workers && !(n = pick(&all, end_ns, true, workers)))
			n = pick(&all, end_ns, false, workers);
		res = workers ? phase_workers_of(phase_workers, workers, n) : -ENOMEM;
	}
	phase_workers->attached = all.attached;
	free(workers);
	free(all.v);
	table_free(&all.by_pid);
	return res;
}
