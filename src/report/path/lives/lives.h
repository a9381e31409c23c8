/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lives of the job's threads and processes, from pids.out: when each began and ended, and which thread had a TID at
 * a given time, as TIDs are reused. Lives and processes have numbers from 1. Knows nothing of waits.
 */
#ifndef REPORT_PATH_LIVES_LIVES_H
#define REPORT_PATH_LIVES_LIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "report/path/sums/names.h"
#include "stats/table.h"

struct scan;

#define PATH_LIVES_MAX (1U << 20)
#define PATH_GENERATIONS_MAX 1024 /* a damaged trace may have processes that are each other's parents */
/* Children that lived for this part of the time of another one, all together, are beside it for a moment. */
#define PATH_OTHERS_PART 5

struct path_life {
	uint64_t begin_ns; /* 0: before the trace */
	uint64_t end_ns; /* UINT64_MAX: after it */
	uint32_t tid, process;
	uint32_t creator; /* the first thread of the process that created it, as the row does not show which; 0: none */
	uint32_t sibling; /* the one before it in its process; 0: none */
	uint32_t cpus; /* how many CPUs it might use when it ended; 0: not known */
	uint32_t few; /* the name "1 of 2 CPUs" where it might not use all of the machine (cpus.h); 0: it might */
};

struct path_process {
	uint64_t begin_ns, end_ns; /* as those of a thread; END: of its last thread */
	uint64_t exec_ns; /* when it executed its first program; 0: never */
	uint64_t program_ns; /* when it executed its last one; 0: likewise */
	uint64_t loaded_ns; /* when it had loaded its programs and packages; 0: it has loaded none */
	uint64_t opened_ns; /* when it opened the last of OPENED more, after a break */
	uint32_t opened; /* since LOADED */
	uint32_t pid, ppid;
	uint32_t parent; /* a process; 0: it is not of the job */
	uint32_t child, next; /* its newest child, and the one before it of its parent; 0: none */
	uint32_t main, threads; /* its first thread, 0: not known; the newest one */
	uint32_t name;
	uint32_t born, program; /* its names when it was forked, and when it executed its last program; 0: never */
	bool aside; /* it only runs the job's containers, or is outside of them */
	uint32_t rank; /* 1 + its rank, by its environment, which those that it starts inherit; 0: it has none */
};

struct path_lives {
	struct path_names *names;
	struct path_life *life; /* [0] is of no thread */
	struct path_process *process; /* likewise */
	uint32_t n, n_processes;
	uint64_t left_out; /* rows of lives without room */
	struct table tids, pids; /* the newest life of a number, uint32_t */
	struct path_life_at {
		uint64_t begin_ns;
		uint32_t tid, life;
	} * by_tid; /* after path_lives_end(), in order */
};

int path_lives_init(struct path_lives *lives, struct path_names *names);
void path_lives_free(struct path_lives *lives);

/* Takes a row of pids.out, of a struct path_lives. A scan_taker's. */
bool path_lives_take(struct scan *s, void *own);
/* All rows so far have been taken; more may follow, and this again. Returns 0 or -ENOMEM. */
int path_lives_end(struct path_lives *lives);

/* Returns the thread that had TID at AT, the first one where all began later; 0: none has had it. */
uint32_t path_lives_find(const struct path_lives *lives, uint64_t tid, uint64_t at_ns);
/* Returns the first thread of the one child of PROCESS in [BEGIN, END); 0: there is none, or others lived as long. */
uint32_t path_lives_child(const struct path_lives *lives, uint32_t process, uint64_t begin_ns, uint64_t end_ns);
/* Whether PROCESS is ROOT, or one of its children's children. */
bool path_lives_is_below(const struct path_lives *lives, uint32_t process, uint32_t root);

/* Whether a launcher started PROCESS as a rank: its parent is none, or another one. */
static inline bool path_lives_is_rank(const struct path_lives *lives, uint32_t process)
{
	const struct path_process *p = &lives->process[process];

	return p->rank && p->rank != lives->process[p->parent].rank;
}

static inline const struct path_process *path_lives_process(const struct path_lives *lives, uint32_t life)
{
	return &lives->process[lives->life[life].process];
}

#endif
