/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums of CPU time of one trace folder. load.h fills a struct report_cpu from sched.out (sums), sched_switch.out
 * (single switches) and the files with names and phases; the renderers (text, CSV) only read it. Memory is bounded by
 * the limits below: what exceeds them is in entry 0 of its table, so that sums stay whole.
 *
 * All texts are escaped as in the .out files, all times ns, all instants CLOCK_MONOTONIC.
 */
#ifndef REPORT_CPU_CPU_H
#define REPORT_CPU_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "report/files/folders.h"
#include "report/scan/gaps.h"
#include "stats/table.h"
#include "trace/manifest_read.h"

#define CPU_CPUS_MAX (1U << 13)
#define CPU_TASKS_MAX (1U << 16)
#define CPU_THREADS_MAX (1U << 20)
#define CPU_ROLES_MAX (1U << 19)
#define CPU_CELLS_MAX (1U << 20) /* entries of each table with two keys */
#define CPU_FILES_MAX (2U << 20)
#define CPU_CALLS_MAX 512
#define CPU_PHASES_MAX 128
#define CPU_INTERVALS_MAX (1U << 16) /* in a phase */
#define CPU_IDLES_MAX (1U << 20) /* long slices without the target */
#define CPU_RULES_MAX 64
#define CPU_PATTERNS_MAX 16
#define CPU_NOTES_MAX 64

#define CPU_COMM_MAX 65 /* 16 bytes, each \ooo */
#define CPU_PHASE_NAME_MAX 128

struct phases_options;
/* The options of the command line. */
struct report_cpu_options {
	/* PREFIX,... in place of the default ones, +PREFIX in addition to them; NULL: the default ones */
	const char *merge;
	const char *pattern; /* GLOB,... of threads' names; NULL: python* */
	unsigned int threshold_permille; /* smaller parts are summed up as `other' */
	uint64_t gap_ns; /* the shortest gap that is listed */
	const struct phases_options *phases; /* how to find the job's phases; NULL: as the folder has them */
	struct window window; /* for report_cpu_load(): rows of this time alone; all zero: all */
};

#define CPU_PATTERN "python*"
#define CPU_THRESHOLD_PERMILLE 30
#define CPU_GAP_NS (100 * 1000000ULL)

/* Owners of CPU time; in the order of `kind_names' in tasks.c. */
enum cpu_kind { CPU_TARGET, CPU_KERNEL, CPU_SELF, CPU_OTHER, CPU_IDLE, CPU_KINDS };

struct cpu_sums {
	uint64_t run_ns, runq_ns, disk_ns, blocked_ns, sleep_ns;
	uint64_t switches, preempted; /* times that it was given the CPU; times that it was taken away */
};

/* All threads of one name. */
struct cpu_task {
	struct cpu_sums sums;
	uint64_t life_ns; /* of all its threads, under this name */
	uint32_t pids, threads;
	uint32_t group;
	uint8_t kind;
	char comm[CPU_COMM_MAX];
};

/* Tasks that a rule joins. */
struct cpu_group {
	struct cpu_sums sums;
	uint32_t tasks, pids, threads;
	uint8_t kind;
	bool workers; /* kernel threads, joined by a rule */
	char name[CPU_COMM_MAX];
};

void cpu_sums_add(struct cpu_sums *to, const struct cpu_sums *s);

/* The life of a process. */
struct cpu_proc {
	uint64_t start_ns, end_ns;
	uint32_t pid, before; /* BEFORE: the previous life with this PID; 0: none */
	uint32_t threads; /* the newest of its threads */
	uint8_t kind;
	bool born, ended; /* its begin was seen; its end was seen */
};

/* A process under one of its names. */
struct cpu_role {
	struct cpu_sums sums;
	uint64_t life_ns; /* the sum of its threads' lifetimes */
	uint32_t proc, task, threads;
};

/* The life of a thread. */
struct cpu_thread {
	struct cpu_sums sums;
	uint64_t start_ns, end_ns;
	uint64_t since_ns; /* since when it has its present name */
	/* from the timeline: */
	uint64_t left_ns; /* 0: it runs, or it is not known */
	char left_state;
	uint32_t tid, proc, task, first_task, before;
	uint32_t sibling; /* the previous thread of its process; 0: none */
	uint16_t patterns; /* bits of the patterns that any of its names matched */
	bool born, ended, has_life;
};

struct cpu_cpu {
	uint64_t busy_ns, idle_ns, switches;
};

struct cpu_cell {
	uint64_t run_ns, switches;
};

/* The waits of a role in one call. */
struct cpu_call {
	uint64_t disk_ns, blocked_ns, sleep_ns, waits, max_ns;
	/* from the rows of that call in other files: */
	uint64_t lat_ns, disk_lat_ns;
	uint32_t last_folder,
		last_at; /* the folder of the latest row, and 1 + its index in the table of folders; 0: none */
};

/* The calls of a role on the files of one folder. */
struct cpu_folder {
	uint64_t calls, lat_ns, disk_calls, disk_lat_ns, disk_bytes;
	uint32_t call, folder;
};

struct cpu_interval {
	uint64_t start_ns, end_ns;
};

struct cpu_phase {
	char name[CPU_PHASE_NAME_MAX];
	const char *source; /* as in phase_source_names[] */
	struct cpu_interval *v; /* in order; after the last row no two touch */
	uint32_t n;
	uint32_t times; /* how often the phase is recorded */
	uint32_t open; /* without an end: they last until the trace ends */
	uint64_t wall_ns, run_ns;
};

/* The threads of which a name matches. */
struct cpu_pattern {
	char glob[CPU_COMM_MAX];
	uint64_t threads, cut; /* CUT: threads whose begin or end was not seen */
	uint64_t life_ns, run_ns, idle_ns;
};

struct cpu_rule {
	char prefix[CPU_COMM_MAX];
	bool any; /* the rule is not for kernel threads alone */
};

struct report_cpu {
	char *dir;
	struct report_cpu_options options;
	struct manifest_facts manifest;
	bool has_sums, has_switches, has_pids;
	uint64_t begin_ns, end_ns; /* of the rows; 0: no row */
	uint64_t span_max_ns; /* the longest interval that a row of sums covers */

	struct table tasks, groups, procs, pids, threads, tids, roles, calls, folders;
	struct table task_cpus, role_cpus, role_threads, group_pids, phase_tasks;
	struct table files; /* FID to folder */
	struct folders tree; /* numbers the folders */
	struct cpu_cpu *cpus; /* CPU_CPUS_MAX */
	uint32_t n_cpus, cpus_seen; /* 1 + the highest number of a CPU; how many CPUs have rows */
	char call_names[CPU_CALLS_MAX][32];
	uint32_t n_calls;

	/* sums over CPUs and over tasks, each from other rows */
	uint64_t wall_ns, by_cpu_ns, by_task_ns;
	uint64_t busy_ns, own_ns; /* of tasks: without idle time; also without the kernel's workers */
	uint64_t kind_ns[CPU_KINDS];

	struct cpu_phase *phases;
	uint32_t n_phases;
	struct gaps gaps;
	struct cpu_pattern patterns[CPU_PATTERNS_MAX];
	uint32_t n_patterns;
	struct cpu_rule rules[CPU_RULES_MAX];
	uint32_t n_rules;

	unsigned int thin; /* how often lists of JSON were halved: report_fit() */
	bool damaged; /* a file is shorter than the manifest says; a note says so */
	char *notes[CPU_NOTES_MAX];
	uint32_t n_notes;
	struct cpu_calls *call_files; /* from folders.c; NULL: no rows of calls are needed */
	struct cpu_caller *callers; /* NULL: as call_files */
};

extern const char *const report_cpu_kind_names[CPU_KINDS];

/* Returns the number of the value V in T. */
static inline uint32_t report_cpu_number(const struct table *t, const void *v)
{
	return (uint32_t)((size_t)((const char *)v - (const char *)t->values) / t->value_size);
}

static inline struct cpu_task *report_cpu_task_at(const struct report_cpu *r, uint32_t i)
{
	return table_at(&r->tasks, i);
}

/* Returns the key of A and B for tables with two keys. */
static inline uint64_t report_cpu_pair(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

uint64_t report_cpu_life_ns(const struct cpu_thread *t);
/* Returns all its known time: running, ready to run, and waiting. */
uint64_t report_cpu_known_ns(const struct cpu_sums *s);
/* Returns F's part of WAIT_NS, the waits in its call, by the latencies of the folder's rows. */
uint64_t report_cpu_folder_ns(const struct report_cpu *r, const struct cpu_folder *f, uint64_t wait_ns);

#endif
