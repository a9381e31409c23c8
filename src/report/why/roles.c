/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds which processes train, and which load data for them. The trainers are, by the first of these that there is:
 * - the processes that gpu.out names;
 * - processes that mark steps as regions;
 * - processes with children called pt_data_worker;
 * - processes with children that run their own program; or these children, if the parent only waits for them
 *   (launchers.c);
 * - processes of the busiest name, each with at least half of the busiest one's work: these need not train. Where they
 *   live only for moments of a script, the script.
 */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/phases/workers.h"
#include "report/why/names.h"
#include "report/why/why_impl.h"

#define LOADERS_LIVE 20 /* a loader lives for at least this part of its trainer's life: a 20th */
#define BRIEF \
	10 /* processes that together live for less than this part of their script's life, a tenth, are its errands */
#define DEPTH_MAX 4 /* processes between a trainer and a loader: servers that fork for the trainer */

static struct report_proc *proc_at(const struct report *r, uint32_t i)
{
	return table_at(&r->procs, i);
}

static bool is_worker(const struct report_proc *p)
{
	return phase_is_worker_name(p->comm, strlen(p->comm));
}

/* Whether P is a shell. A script has its own name as COMM, but arguments that begin with the shell. */
static bool is_shell(const struct report_proc *p)
{
	return p->shell || why_is_shell((struct reader_field){ p->comm, strlen(p->comm) });
}

/*
 * Whether P runs its parent's program: it was forked without an exec, or spawned as a worker. If P is older than the
 * trace, it is not known how it began, but its program is. Another run of the same program is another job.
 */
static bool is_copy(const struct report_proc *p, const struct report_proc *parent)
{
	if (p->forked || p->execs)
		return !p->execs || p->spawned;
	return p->spawned || (p->args ? p->args == parent->args : strcmp(p->comm, parent->comm) == 0);
}

/* --- trainers -------------------------------------------------------------------------------------- */

struct why_trainer *why_trainer(struct why *w, uint64_t pid)
{
	for (uint32_t i = 0; i < w->n_trainers; i++)
		if (w->trainer[i].pid == pid)
			return &w->trainer[i];
	return NULL;
}

void why_add_trainer(struct report *report, const struct report_proc *proc)
{
	struct why *w = report->why;
	struct why_trainer *t = why_trainer(w, proc->pid);

	if (t)
		return;
	if (w->n_trainers == WHY_TRAINERS_MAX) {
		w->more_trainers = true;
		return;
	}
	w->trainer[w->n_trainers++] = (struct why_trainer){ .pid = proc->pid };
}

static void by_gpu(struct report *r)
{
	for (uint32_t i = 0; i < r->procs.n; i++)
		if (proc_at(r, i)->on_gpu && proc_at(r, i)->named)
			why_add_trainer(r, proc_at(r, i));
}

static void by_regions(struct report *r)
{
	const struct phase_steps *s = r->phases ? &r->phases->steps : NULL;

	for (uint32_t i = 0; s && i < s->n_trainers; i++) {
		const struct report_proc *p = table_find(&r->procs, s->trainers[i].pid);

		if (p && p->named)
			why_add_trainer(r, p);
	}
}

static void by_workers(struct report *r)
{
	for (uint32_t i = 0; i < r->procs.n; i++) {
		const struct report_proc *p = proc_at(r, i), *parent = table_find(&r->procs, p->ppid);

		if (is_worker(p) && parent && !is_worker(parent) && parent->named)
			why_add_trainer(r, parent);
	}
}

struct report_proc *why_copied_from(const struct report *r, const struct report_proc *p)
{
	struct report_proc *parent = table_find(&r->procs, p->ppid);

	if (!parent || parent == p || !parent->named || !p->named || is_shell(parent) || is_shell(p) || p->aside ||
	    parent->aside)
		return NULL;
	return is_copy(p, parent) ? parent : NULL;
}

/* Returns the process that P is a copy of, perhaps through a server that forks for it and is its copy, too; NULL: none.
 */
static const struct report_proc *origin_of(const struct report *r, const struct report_proc *p)
{
	const struct report_proc *origin = why_copied_from(r, p);

	for (unsigned int depth = 0; origin && depth < DEPTH_MAX && why_copied_from(r, origin); depth++)
		origin = why_copied_from(r, origin);
	return origin;
}

static uint64_t life_ns(const struct report *r, const struct report_proc *p)
{
	uint64_t end_ns = p->end_ns ? p->end_ns : r->last_ns;

	return end_ns > p->begin_ns ? end_ns - p->begin_ns : 0;
}

/* Adds the processes whose copies live for a while, over all epochs together; a copy that lives for a moment is a
 * helper. */
static void by_copies(struct report *report)
{
	struct table lives; /* how long the copies of a process lived together, ns, by its PID */

	table_init(&lives, sizeof(uint64_t), REPORT_PROCS_MAX);
	for (uint32_t i = 0; i < report->procs.n; i++) {
		const struct report_proc *p = proc_at(report, i), *origin = origin_of(report, p);
		uint64_t *sum = origin ? table_get(&lives, origin->pid) : NULL;

		if (sum)
			*sum += life_ns(report, p);
	}
	for (uint32_t i = 0; i < report->procs.n; i++) {
		const struct report_proc *p = proc_at(report, i);
		const uint64_t *sum = table_find(&lives, p->pid);

		if (sum && *sum >= life_ns(report, p) / LOADERS_LIVE)
			why_add_trainer(report, p);
	}
	table_free(&lives);
	if (report->why->n_trainers)
		why_add_ranks(report);
	report->why->by_copies = report->why->n_trainers > 0;
}

/* Returns P's work: its busy time, or its CPU time, or a thousandth of the length of its life: the first that is known.
 */
static uint64_t effort(const struct report_proc *p)
{
	uint64_t cpu_ns = p->user_ns + p->sys_ns;

	if (p->busy_ns)
		return p->busy_ns;
	if (cpu_ns)
		return cpu_ns;
	return p->end_ns ? (p->end_ns - p->begin_ns) / 1000 : 1000000;
}

/* --- containers ------------------------------------------------------------------------------------- */

static bool is_runtime(const struct report_proc *p)
{
	return why_is_runtime((struct reader_field){ p->comm, strlen(p->comm) });
}

/*
 * Sets aside the processes that the answer is not about, where the trace has some in containers: those that run the
 * containers, such as conmon; and, where containers were to be traced, those outside of them. dltraced may be in one
 * itself.
 */
static void set_aside(struct report *report)
{
	const struct report_proc *workload = table_find(&report->procs, report->manifest.workload_pid);
	const unsigned int outside = workload ? workload->containers : 0;
	bool any = false;

	for (uint32_t i = 0; i < report->procs.n; i++)
		any |= proc_at(report, i)->named && proc_at(report, i)->containers > outside &&
		       !is_runtime(proc_at(report, i));
	for (uint32_t i = 0; any && i < report->procs.n; i++) {
		struct report_proc *p = proc_at(report, i);

		p->aside = is_runtime(p) || (report->manifest.containers[0] && p->containers <= outside);
	}
}

/* --- the busiest processes ---------------------------------------------------------------------------- */

/* Whether P may be a trainer by its work. A shell's CPU time includes its children's; only sched.out has its own. */
static bool may_be_it(const struct report_proc *p)
{
	return p->named && !p->aside && (p->busy_ns || !is_shell(p));
}

/*
 * The work of all processes of one name, of which there may be many that live for a moment each. Shells of one name run
 * scripts that have nothing in common (as those of pyenv do before the python that they choose), so for them the
 * busiest process counts, not the sum.
 */
struct namesakes {
	uint64_t effort, most;
	const struct report_proc *busiest;
};

static const struct namesakes *busiest_name(const struct report *report, struct table *names)
{
	const struct namesakes *most = NULL;

	for (uint32_t i = 0; i < report->procs.n; i++) {
		const struct report_proc *p = proc_at(report, i);
		struct namesakes *n = may_be_it(p) ? table_get(names, table_key(p->comm, strlen(p->comm))) : NULL;

		if (!n)
			continue;
		n->effort = is_shell(p) ? MAX(n->effort, effort(p)) : n->effort + effort(p);
		if (!n->busiest || effort(p) > n->most) {
			n->most = effort(p);
			n->busiest = p;
		}
	}
	for (uint32_t i = 0; i < names->n; i++) {
		const struct namesakes *n = table_at(names, i);

		if (n->busiest && (!most || n->effort > most->effort))
			most = n;
	}
	return most;
}

/*
 * Returns the traced command, if the processes called COMM together live for only a small part of its life: what it did
 * in the rest, and not these, is the answer. NULL: they live for longer.
 */
static const struct report_proc *script_of(const struct report *r, const char *comm)
{
	const struct report_proc *script = table_find(&r->procs, r->manifest.workload_pid);
	uint64_t ns = 0;

	for (uint32_t i = 0; i < r->procs.n; i++)
		ns += strcmp(proc_at(r, i)->comm, comm) == 0 ? life_ns(r, proc_at(r, i)) : 0;
	return script && script->named && !script->aside && script->busy_ns && ns < life_ns(r, script) / BRIEF ?
		       script :
		       NULL;
}

static void by_effort(struct report *report)
{
	const struct report_proc *script;
	const struct namesakes *most;
	struct table names;

	why_read_busy(report);
	table_init(&names, sizeof(*most), REPORT_PROCS_MAX);
	most = busiest_name(report, &names);
	script = most ? script_of(report, most->busiest->comm) : NULL;
	if (script)
		why_add_trainer(report, script);
	for (uint32_t i = 0; most && !script && i < report->procs.n; i++) {
		const struct report_proc *p = proc_at(report, i);

		if (may_be_it(p) && strcmp(p->comm, most->busiest->comm) == 0 && effort(p) >= most->most / 2)
			why_add_trainer(report, p);
	}
	table_free(&names);
}

void why_find_trainers(struct report *report)
{
	static void (*const ways[])(struct report * r) = { by_gpu, by_regions, by_workers, by_copies, by_effort };
	struct why *why = report->why;

	set_aside(report);
	for (size_t i = 0; i < ARRAY_SIZE(ways) && !why->n_trainers; i++)
		ways[i](report);
	for (uint32_t i = 0; i < why->n_trainers; i++) {
		struct why_trainer *t = &why->trainer[i];
		struct report_proc *p = table_find(&report->procs, t->pid);

		t->calls.max = t->waits.max = WHY_WAITS_MAX / 2 / why->n_trainers;
		p->waits = &t->calls;
	}
}

/* --- loaders --------------------------------------------------------------------------------------- */

struct why_loader *why_loader(const struct why *w, uint64_t pid)
{
	struct why_loader **l = table_find(&w->loaders, pid);

	return l ? *l : NULL;
}

/* Returns the index of the trainer that PROC loads for, or -1. */
static int trainer_of(const struct report *report, const struct report_proc *proc)
{
	const struct report_proc *up = proc;
	struct why_trainer *trainer;
	bool copy = true;

	for (unsigned int depth = 0; depth < DEPTH_MAX; depth++) {
		const struct report_proc *parent = table_find(&report->procs, up->ppid);

		if (!parent || parent == up)
			return -1;
		copy = copy && is_copy(up, parent);
		trainer = why_trainer(report->why, parent->pid);
		if (trainer)
			return is_worker(proc) || (copy && !is_shell(parent)) ? (int)(trainer - report->why->trainer) :
										-1;
		up = parent;
	}
	return -1;
}

static void add_loader(struct report *report, const struct report_proc *proc, uint32_t trainer)
{
	struct why *why = report->why;
	struct why_loader **at = table_get(&why->loaders, proc->pid), *l = at ? calloc(1, sizeof(*l)) : NULL;

	if (!l)
		return;
	*at = l;
	l->pid = proc->pid;
	l->trainer = trainer;
	l->begin_ns = MAX(proc->begin_ns, report->first_ns);
	l->end_ns = MAX(proc->end_ns ? proc->end_ns : report->last_ns, l->begin_ns);
	why->trainer[trainer].loaders++;
}

static int by_begin(const void *a, const void *b)
{
	const struct why_loader *x = *(void *const *)a, *y = *(void *const *)b;

	if (x->trainer != y->trainer)
		return x->trainer < y->trainer ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Numbers the generations: loaders of one trainer that live at the same time. Each epoch may have its own. */
static void find_generations(struct why *why)
{
	struct why_loader **all = calloc(why->loaders.n + 1, sizeof(void *));
	uint32_t n = 0, generation = 0, number = 0;
	uint64_t end_ns = 0;

	for (uint32_t i = 0; all && i < why->loaders.n; i++) {
		all[n] = *(struct why_loader **)table_at(&why->loaders, i);
		n += all[n] != NULL;
	}
	if (n)
		qsort(all, n, sizeof(void *), by_begin);
	for (uint32_t i = 0; i < n; i++) {
		bool next = i && (all[i]->trainer != all[i - 1]->trainer || all[i]->begin_ns >= end_ns);

		if (next) {
			generation++;
			number = 0;
			end_ns = 0;
		}
		all[i]->generation = generation;
		all[i]->number = number++;
		end_ns = MAX(end_ns, all[i]->end_ns);
	}
	free(all);
}

/* The bytes of data that all possible loaders of one trainer read, and those of the one that read most. */
struct loads {
	uint64_t sum, most;
};

static void sum_loads(const struct report *report, struct loads loads[WHY_TRAINERS_MAX])
{
	for (uint32_t i = 0; i < report->procs.n; i++) {
		const struct report_proc *p = proc_at(report, i);
		int trainer = p->named && !why_trainer(report->why, p->pid) ? trainer_of(report, p) : -1;

		if (trainer < 0)
			continue;
		loads[trainer].sum += p->data_read;
		loads[trainer].most = MAX(loads[trainer].most, p->data_read);
	}
}

/*
 * Whether P reads enough data for a loader. Helpers read only a small part of what loaders, or the trainer itself,
 * read.
 */
static bool loads_data(const struct report_proc *p, const struct report_proc *trainer, const struct loads *loads)
{
	if (loads->sum < trainer->data_read / 100)
		return false;
	return p->data_read ? p->data_read >= loads->most / 100 : p->data_maps && !loads->most;
}

void why_find_loaders(struct report *report)
{
	struct loads loads[WHY_TRAINERS_MAX] = { 0 };

	sum_loads(report, loads);
	for (uint32_t i = 0; i < report->procs.n; i++) {
		const struct report_proc *p = proc_at(report, i);
		int nr = p->named && !why_trainer(report->why, p->pid) ? trainer_of(report, p) : -1;

		if (nr < 0 || !p->calls)
			continue;
		if (is_worker(p) || loads_data(p, table_find(&report->procs, report->why->trainer[nr].pid), &loads[nr]))
			add_loader(report, p, (uint32_t)nr);
	}
	find_generations(report->why);
}

/* --- signs of training ------------------------------------------------------------------------------ */

#define LEAST_DATA                                                                                        \
	(1U << 20) /* bytes that a trainer without loaders reads at least, over half of the trace or more \
		    */

const char *const why_sight_names[WHY_SIGHTS] = {
	[WHY_SEEN_PHASES] = "phases",
	[WHY_SEEN_LOADERS] = "loaders",
	[WHY_SEEN_REGIONS] = "regions",
	[WHY_SEEN_GPU] = "gpu",
};

/* Whether P reads data over half of the trace or more, and does not write most of them out again. */
static bool is_reader(const struct report *r, const struct report_proc *p)
{
	uint64_t begin_ns = MAX(p->begin_ns, r->first_ns), end_ns = p->end_ns ? p->end_ns : r->last_ns;

	return p->data_read >= LEAST_DATA && p->data_written < p->data_read / 2 && end_ns > begin_ns &&
	       end_ns - begin_ns >= (r->last_ns - r->first_ns) / 2;
}

static enum why_sight sight_of(const struct report *report, const struct why_trainer *trainer)
{
	const struct report_proc *proc = table_find(&report->procs, trainer->pid);
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;

	if (proc->on_gpu)
		return WHY_SEEN_GPU;
	if (report->phases && phase_steps_trainer(&report->phases->steps, trainer->pid))
		return WHY_SEEN_REGIONS;
	if (trainer->loaders)
		return WHY_SEEN_LOADERS;
	if (why_training(report, &begin_ns, &end_ns))
		return WHY_SEEN_PHASES;
	return is_reader(report, proc) ? WHY_SEEN_READING : WHY_SEEN_NOT;
}

void why_find_sight(struct report *r)
{
	for (uint32_t i = 0; i < r->why->n_trainers; i++)
		r->why->seen = MAX(r->why->seen, sight_of(r, &r->why->trainer[i]));
}
