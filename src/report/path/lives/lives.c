/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/lives/lives.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/scan/scan.h"

int path_lives_init(struct path_lives *lives, struct path_names *names)
{
	lives->names = names;
	table_init_pids(&lives->tids, sizeof(uint32_t), PATH_LIVES_MAX);
	table_init_pids(&lives->pids, sizeof(uint32_t), PATH_LIVES_MAX);
	lives->life = calloc(1, sizeof(*lives->life));
	lives->process = calloc(1, sizeof(*lives->process));
	lives->n = lives->n_processes = 1;
	return lives->life && lives->process ? 0 : -ENOMEM;
}

void path_lives_free(struct path_lives *lives)
{
	table_free(&lives->tids);
	table_free(&lives->pids);
	free(lives->life);
	free(lives->process);
	free(lives->by_tid);
}

static uint32_t newest(const struct table *numbers, uint64_t number)
{
	const uint32_t *n = table_find(numbers, number);

	return n ? *n : 0;
}

/* --- new ones ------------------------------------------------------------------------------------------ */

/* Returns 0 where there is no room. */
static uint32_t process_new(struct path_lives *lives, uint32_t pid, uint64_t begin_ns)
{
	uint32_t *last = table_get(&lives->pids, pid);

	if (!last || lives->n_processes > PATH_LIVES_MAX ||
	    util_room(&lives->process, lives->n_processes, sizeof(*lives->process)) < 0)
		return 0;
	lives->process[lives->n_processes] =
		(struct path_process){ .pid = pid, .begin_ns = begin_ns, .end_ns = UINT64_MAX };
	return *last = lives->n_processes++;
}

/* Adds a thread of PROCESS, which may be 0. Returns 0 where there is no room. */
static uint32_t life_new(struct path_lives *lives, uint32_t process, uint32_t tid, uint64_t begin_ns)
{
	uint32_t *last = process ? table_get(&lives->tids, tid) : NULL;
	struct path_process *of = &lives->process[process];

	if (!last || lives->n > PATH_LIVES_MAX || util_room(&lives->life, lives->n, sizeof(*lives->life)) < 0) {
		lives->left_out++;
		return 0;
	}
	if (*last && lives->life[*last].end_ns > begin_ns)
		lives->life[*last].end_ns = begin_ns; /* the row of its end is lost */
	lives->life[lives->n] = (struct path_life){
		.begin_ns = begin_ns,
		.end_ns = UINT64_MAX,
		.tid = tid,
		.process = process,
		.creator = of->main,
		.sibling = of->threads,
	};
	of->threads = lives->n;
	if (tid == of->pid && !of->main)
		of->main = lives->n;
	return *last = lives->n++;
}

/* --- rows ---------------------------------------------------------------------------------------------- */

struct row {
	uint32_t pid, tid, ppid;
	uint64_t at_ns;
	uint32_t cpus; /* how many it might use; 0: not known */
	bool ends; /* STATUS: the whole process does */
};

/* Returns the process of a row that may come late, after the one of its end; a new one where none is known. */
static uint32_t process_of(struct path_lives *lives, const struct row *row, uint64_t begin_ns)
{
	uint32_t process = newest(&lives->pids, row->pid);

	if (process)
		return process;
	process = process_new(lives, row->pid, begin_ns);
	if (process)
		lives->process[process].ppid = row->ppid;
	return process;
}

/* Likewise of a row that only a process that lives can have. */
static uint32_t living_process_of(struct path_lives *lives, const struct row *row, uint64_t begin_ns)
{
	const uint32_t process = newest(&lives->pids, row->pid);

	if (process && lives->process[process].end_ns != UINT64_MAX)
		process_new(lives, row->pid, begin_ns);
	return process_of(lives, row, begin_ns);
}

static void take_fork(struct path_lives *lives, const struct row *row)
{
	const uint32_t parent = newest(&lives->pids, row->ppid), process = process_new(lives, row->pid, row->at_ns);
	const uint32_t life = life_new(lives, process, row->tid, row->at_ns);

	if (!life)
		return;
	lives->process[process].ppid = row->ppid;
	lives->process[process].parent = parent;
	lives->life[life].creator = lives->process[parent].main;
}

static void take_thread(struct path_lives *lives, const struct row *row)
{
	life_new(lives, process_of(lives, row, 0), row->tid, row->at_ns);
}

/* A thread that was there before the trace; one forked while the trace attaches may have a row already. */
static void take_snapshot(struct path_lives *lives, const struct row *row)
{
	const uint32_t process = living_process_of(lives, row, 0), life = newest(&lives->tids, row->tid);

	if (!life || lives->life[life].end_ns != UINT64_MAX || lives->life[life].process != process)
		life_new(lives, process, row->tid, 0);
}

/* A thread that is not the first one, and executes a program, takes over the number of the first, which has ended. */
static void take_exec(struct path_lives *lives, const struct row *row)
{
	const uint32_t process = living_process_of(lives, row, row->at_ns);
	const uint32_t main = lives->process[process].main;

	if (main)
		lives->life[main].end_ns = UINT64_MAX;
	else
		life_new(lives, process, row->tid, row->at_ns);
	if (process && !lives->process[process].exec_ns)
		lives->process[process].exec_ns = row->at_ns;
	if (process)
		lives->process[process].program_ns = row->at_ns;
}

/* A thread whose begin has no row. */
static void take_rename(struct path_lives *lives, const struct row *row)
{
	if (!newest(&lives->tids, row->tid))
		life_new(lives, process_of(lives, row, 0), row->tid, 0);
}

/* Ends all threads of PROCESS: the last one has no row of its own. */
static void process_ends(struct path_lives *lives, uint32_t process, uint64_t at_ns)
{
	for (uint32_t t = lives->process[process].threads; t; t = lives->life[t].sibling)
		lives->life[t].end_ns = MIN(lives->life[t].end_ns, at_ns);
	lives->process[process].end_ns = at_ns;
}

static void take_end(struct path_lives *lives, const struct row *row)
{
	uint32_t process, life;

	take_rename(lives, row);
	process = newest(&lives->pids, row->pid);
	life = newest(&lives->tids, row->tid);
	if (life && lives->life[life].process == process) {
		lives->life[life].end_ns = MAX(row->at_ns, lives->life[life].begin_ns);
		lives->life[life].cpus = row->cpus;
	}
	if (process && row->ends && lives->process[process].end_ns == UINT64_MAX)
		process_ends(lives, process, row->at_ns);
}

static const struct {
	const char *event;
	void (*take)(struct path_lives *lives, const struct row *row);
	bool ends; /* of the whole process, whatever STATUS is */
	bool named; /* COMM is the name from now on: the last thread to end reports its own */
} events[] = {
	{ "exec", take_exec, .named = true },
	{ "exit", take_end },
	{ "fork", take_fork, .named = true },
	{ "left", take_end, .ends = true },
	{ "rename", take_rename, .named = true },
	{ "snapshot", take_snapshot, .named = true },
	{ "thread", take_thread },
};

static void name(struct path_lives *lives, const struct scan *s, uint32_t pid)
{
	const uint32_t process = newest(&lives->pids, pid);
	struct path_process *p = &lives->process[process];
	uint64_t rank;

	if (!process)
		return;
	p->name = path_name(lives->names, scan_field(s, COL_COMM));
	if (scan_is(s, COL_EVENT, "fork"))
		p->born = p->name;
	else if (scan_is(s, COL_EVENT, "exec"))
		p->program = p->name;
	if (scan_u64(s, COL_RANK, &rank) && rank < UINT32_MAX)
		p->rank = (uint32_t)rank + 1;
}

/* Returns how many CPUs a thread that ends might use, by its ARGS ("... cpus=2 ..."); 0: they do not show it. */
static uint32_t cpus_in_args(struct reader_field args)
{
	static const char key[] = "\\040cpus=";
	const char *at = args.len ? memmem(args.p, args.len, key, strlen(key)) : NULL, *end = args.p + args.len;
	uint32_t cpus = 0;

	for (at = at ? at + strlen(key) : end; at < end && *at >= '0' && *at <= '9' && cpus < 100000; at++)
		cpus = 10 * cpus + (uint32_t)(*at - '0');
	return cpus;
}

bool path_lives_take(struct scan *s, void *own)
{
	const uint64_t pid = scan_number(s, COL_PID), tid = scan_number(s, COL_TID);
	struct row row = {
		.pid = (uint32_t)pid,
		.tid = (uint32_t)tid,
		.ppid = (uint32_t)scan_number(s, COL_PPID),
		.at_ns = s->time_ns,
		.ends = !scan_is(s, COL_STATUS, "-"),
	};
	struct path_lives *lives = own;

	if (!pid || !tid || pid > INT32_MAX || tid > INT32_MAX)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		if (!scan_is(s, COL_EVENT, events[i].event))
			continue;
		row.ends |= events[i].ends;
		row.cpus = events[i].take == take_end ? cpus_in_args(scan_field(s, COL_ARGS)) : 0;
		events[i].take(lives, &row);
		if (events[i].named && pid == tid)
			name(lives, s, (uint32_t)pid);
	}
	return true;
}

/* --- after all rows ------------------------------------------------------------------------------------ */

/* A snapshot has processes in any order, so their parents are looked up now. */
static void find_parents(struct path_lives *lives)
{
	for (uint32_t i = 1; i < lives->n_processes; i++) {
		struct path_process *p = &lives->process[i];
		const uint32_t parent = p->parent ? 0 : newest(&lives->pids, p->ppid);

		if (parent && parent != i && lives->process[parent].begin_ns <= p->begin_ns)
			p->parent = parent;
	}
}

static void link_children(struct path_lives *lives)
{
	for (uint32_t i = 1; i < lives->n_processes; i++)
		lives->process[i].child = lives->process[i].next = 0;
	for (uint32_t i = 1; i < lives->n_processes; i++) {
		struct path_process *p = &lives->process[i];

		if (!p->parent)
			continue;
		p->next = lives->process[p->parent].child;
		lives->process[p->parent].child = i;
	}
}

static int by_tid(const void *a, const void *b)
{
	const struct path_life_at *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x->life > y->life) - (x->life < y->life);
}

int path_lives_end(struct path_lives *lives)
{
	free(lives->by_tid);
	lives->by_tid = calloc(lives->n, sizeof(*lives->by_tid));
	if (!lives->by_tid)
		return -ENOMEM;
	find_parents(lives);
	link_children(lives);
	for (uint32_t i = 0; i < lives->n; i++)
		lives->by_tid[i] = (struct path_life_at){ lives->life[i].begin_ns, lives->life[i].tid, i };
	qsort(lives->by_tid, lives->n, sizeof(*lives->by_tid), by_tid);
	return 0;
}

/* Returns the index of the first entry that is after TID at AT. */
static uint32_t after(const struct path_lives *lives, uint64_t tid, uint64_t at_ns)
{
	uint32_t low = 0, high = lives->n;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;
		const struct path_life_at *at = &lives->by_tid[mid];

		if (at->tid < tid || (at->tid == tid && at->begin_ns <= at_ns))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

uint32_t path_lives_find(const struct path_lives *lives, uint64_t tid, uint64_t at_ns)
{
	const uint32_t i = after(lives, tid, at_ns);

	if (!tid)
		return 0;
	if (i && lives->by_tid[i - 1].tid == tid)
		return lives->by_tid[i - 1].life;
	return i < lives->n && lives->by_tid[i].tid == tid ? lives->by_tid[i].life : 0;
}

uint32_t path_lives_child(const struct path_lives *lives, uint32_t process, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t most_ns = 0, all_ns = 0;
	uint32_t most = 0;

	for (uint32_t i = lives->process[process].child; i; i = lives->process[i].next) {
		const struct path_process *p = &lives->process[i];
		const uint64_t from_ns = MAX(p->begin_ns, begin_ns), to_ns = MIN(p->end_ns, end_ns);

		if (!p->main || to_ns <= from_ns)
			continue;
		all_ns += to_ns - from_ns;
		if (to_ns - from_ns > most_ns) {
			most_ns = to_ns - from_ns;
			most = p->main;
		}
	}
	return all_ns - most_ns <= most_ns / PATH_OTHERS_PART ? most : 0;
}

bool path_lives_is_below(const struct path_lives *lives, uint32_t process, uint32_t root)
{
	for (unsigned int i = 0; process && process != root && i < PATH_GENERATIONS_MAX; i++)
		process = lives->process[process].parent;
	return process == root;
}
