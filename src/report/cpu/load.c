/* SPDX-License-Identifier: BSD-2-Clause */
/* From a trace folder to a struct report_cpu: the order in which files are read, and notes on missing ones. */
#include "report/cpu/load.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/cpu/scan.h"
#include "report/phases/read.h"
#include "report/scan/manifest_counts.h"

/* --- tables ----------------------------------------------------------------------------------------------- */

/* FIRST: the key of entry 0, which takes what exceeds MAX. Lives are numbered from it; in other tables it is no hash.
 */
static const struct {
	size_t at, value_size;
	uint32_t max;
	enum { BY_HASH, BY_PID, FROM_0, FROM_NONE } keys;
	const char *of; /* what it holds, for the note that there are too many */
} tables[] = {
#define TABLE(name, type, ...)                                               \
	{                                                                    \
		offsetof(struct report_cpu, name), sizeof(type), __VA_ARGS__ \
	}
	TABLE(tasks, struct cpu_task, CPU_TASKS_MAX, FROM_NONE, "names"),
	TABLE(groups, struct cpu_group, CPU_TASKS_MAX, FROM_NONE),
	TABLE(procs, struct cpu_proc, CPU_THREADS_MAX, FROM_0),
	TABLE(threads, struct cpu_thread, CPU_THREADS_MAX, FROM_0, "threads"),
	TABLE(roles, struct cpu_role, CPU_ROLES_MAX, FROM_0, "processes"),
	TABLE(calls, struct cpu_call, CPU_CELLS_MAX, FROM_NONE, "calls"),
	TABLE(task_cpus, struct cpu_cell, CPU_CELLS_MAX, FROM_NONE, "pairs of name and CPU"),
	TABLE(role_cpus, struct cpu_cell, CPU_CELLS_MAX, FROM_NONE),
	TABLE(pids, uint32_t, CPU_THREADS_MAX, BY_PID),
	TABLE(tids, uint32_t, CPU_THREADS_MAX, BY_PID),
	TABLE(role_threads, uint8_t, 2 * CPU_THREADS_MAX, BY_HASH),
	TABLE(group_pids, uint8_t, CPU_CELLS_MAX, BY_HASH),
	TABLE(phase_tasks, uint64_t, CPU_CELLS_MAX, BY_HASH),
	TABLE(folders, struct cpu_folder, CPU_CELLS_MAX, BY_HASH, "folders"),
	TABLE(files, uint32_t, CPU_FILES_MAX, BY_HASH, "files"),
};

static struct table *table_of(struct report_cpu *r, size_t i)
{
	return (struct table *)(void *)((char *)r + tables[i].at);
}

static bool begin_all(struct report_cpu *cpu)
{
	bool ok = true;

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		if (tables[i].keys == BY_PID)
			table_init_pids(table_of(cpu, i), tables[i].value_size, tables[i].max);
		else
			table_init(table_of(cpu, i), tables[i].value_size, tables[i].max);
		if (tables[i].keys >= FROM_0)
			ok &= table_get(table_of(cpu, i), tables[i].keys == FROM_0 ? 0 : UINT64_MAX) != NULL;
	}
	folders_init(&cpu->tree);
	cpu->cpus = calloc(CPU_CPUS_MAX, sizeof(*cpu->cpus));
	cpu->phases = calloc(CPU_PHASES_MAX, sizeof(*cpu->phases));
	if (!ok || !cpu->cpus || !cpu->phases)
		return false;
	report_cpu_task_at(cpu, 0)->kind = CPU_OTHER;
	strcpy(report_cpu_task_at(cpu, 0)->comm, "(more)");
	((struct cpu_proc *)table_at(&cpu->procs, 0))->kind = CPU_OTHER;
	return true;
}

void report_cpu_free(struct report_cpu *cpu)
{
	if (!cpu)
		return;
	for (uint32_t i = 0; cpu->phases && i < cpu->n_phases; i++)
		free(cpu->phases[i].v);
	for (uint32_t i = 0; i < cpu->n_notes; i++)
		free(cpu->notes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		table_free(table_of(cpu, i));
	folders_free(&cpu->tree);
	free(cpu->call_files);
	free(cpu->callers);
	free(cpu->phases);
	gaps_free(&cpu->gaps);
	free(cpu->cpus);
	free(cpu->dir);
	free(cpu);
}

/* --- missing data ----------------------------------------------------------------------------------------- */

static void note_manifest(struct report_cpu *cpu, int error)
{
	const struct manifest_facts *facts = &cpu->manifest;

	if (error == -ENOENT)
		report_cpu_note(cpu, "manifest.json is missing: no command, no host, no losses");
	else if (error < 0)
		report_cpu_note(cpu, "manifest.json is not complete (%s)", strerror(-error));
	else if (!facts->complete)
		report_cpu_note(cpu, "the trace has no end: it is still running, or dltraced was killed; the last "
				     "interval is missing, and CPUs do not end together");
}

static void note_full(struct report_cpu *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		if (tables[i].of && table_of(r, i)->n == tables[i].max)
			report_cpu_note(r, "too many %s: beyond %u there are only sums", tables[i].of, tables[i].max);
	if (r->gaps.more)
		report_cpu_note(r, "too many gaps: %" PRIu64 " more, not listed", r->gaps.more);
}

static void note_late(struct report_cpu *r)
{
	const struct manifest_probe *p = manifest_probe(&r->manifest, "sched_switch");

	if (p && p->late)
		report_cpu_note(r, "sched_switch: %s left out",
				FMT_N(p->late, "row is out of time order and is",
				      "rows are out of time order and are"));
}

static void note_short(struct report_cpu *cpu, struct scan_folder *folder)
{
	static const char *const files[] = { "pids", "sched", "sched_switch" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		uint64_t counted, n = manifest_counts_bytes_short(&cpu->manifest, folder, files[i], &counted);

		if (!n)
			continue;
		cpu->damaged = true;
		report_cpu_note(cpu, "%s.out: %s of %s are not in the file: it was cut off, or is not there", files[i],
				FMT_BYTES(n), FMT_BYTES(counted));
	}
}

/* Sums up by CPU and by task, from different rows, so that both can be compared. The trace is as long as its longest
 * CPU. */
static void check_sums(struct report_cpu *cpu)
{
	for (uint32_t i = 0; i < cpu->n_cpus; i++) {
		const struct cpu_cpu *c = &cpu->cpus[i];

		cpu->by_cpu_ns += c->busy_ns + c->idle_ns;
		cpu->wall_ns = MAX(cpu->wall_ns, c->busy_ns + c->idle_ns);
		cpu->cpus_seen += c->busy_ns + c->idle_ns + c->switches != 0;
	}
	for (uint32_t i = 0; i < cpu->tasks.n; i++) {
		const struct cpu_task *t = table_at(&cpu->tasks, i);

		cpu->by_task_ns += t->sums.run_ns;
		cpu->kind_ns[t->kind] += t->sums.run_ns;
	}
	cpu->busy_ns = cpu->own_ns = cpu->by_task_ns - cpu->kind_ns[CPU_IDLE];
	for (uint32_t i = 0; i < cpu->groups.n; i++) {
		const struct cpu_group *g = table_at(&cpu->groups, i);

		cpu->own_ns -= g->workers ? g->sums.run_ns : 0;
	}
}

/* --- in order --------------------------------------------------------------------------------------------- */

/* Whether the folder has a file that most traces have, when there is no manifest. */
static bool has_other_files(struct scan_folder *folder)
{
	static const char *const files[] = { "files", "open", "pids", "time_align", "vfs_rw" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (scan_file(folder, files[i])->error == 0)
			return true;
	return false;
}

static int begin_report(struct report_cpu *cpu, const char *dir, struct scan_folder *folder, int manifest)
{
	int res;

	cpu->dir = strdup(dir);
	if (!cpu->dir || !begin_all(cpu))
		return -ENOMEM;
	res = report_cpu_rules(cpu);
	if (res < 0)
		return res;
	note_manifest(cpu, manifest);
	cpu->has_switches = scan_file(folder, "sched_switch")->error == 0;
	cpu->has_sums = scan_file(folder, "sched")->error == 0;
	return cpu->has_switches || cpu->has_sums ? 0 : -ENOMSG;
}

int report_cpu_begin(struct report_cpu **ret, const char *dir, struct scan_folder *folder,
		     const struct manifest_facts *facts, int manifest, const struct report_cpu_options *options)
{
	struct report_cpu *cpu = calloc(1, sizeof(*cpu));
	int res;

	if (!cpu)
		return -ENOMEM;
	cpu->options = *options;
	cpu->manifest = *facts;
	res = begin_report(cpu, dir, folder, manifest);
	if (res < 0) {
		report_cpu_free(cpu);
		return res;
	}
	*ret = cpu;
	return 0;
}

int report_cpu_sched(struct report_cpu *cpu, struct scan_folder *folder, const struct scan_taker *pids,
		     const struct phases *phases)
{
	int res = report_cpu_lives(cpu, scan_file(folder, "pids"), pids);

	if (res < 0)
		return res;
	report_cpu_phases(cpu, phases);
	if (cpu->has_sums)
		res = report_cpu_sums(cpu, folder);
	if (res == 0 && cpu->has_switches)
		res = report_cpu_switches(cpu, folder);
	return res < 0 ? res : report_cpu_folders_begin(cpu);
}

/* Adds the gaps in clocks and manifest; switches.c finds the others. */
static void known_gaps(struct report_cpu *cpu, const struct scan_clocks *clocks)
{
	static const char *const probes[] = { "sched", "sched_switch", "pids" };

	for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
		const struct manifest_probe *p = manifest_probe(&cpu->manifest, probes[i]);

		if (!p || !p->lost)
			continue;
		gaps_put(&cpu->gaps, &(struct gap){ .kind = GAP_LOST, .cpu = GAP_ALL_CPUS, .count = p->lost });
		report_cpu_note(cpu, "%s: %s lost: in no sum, or the time counts for the threads before and after",
				probes[i],
				FMT_N(p->lost, "row, or switch that the kernel did not report, is",
				      "rows, or switches that the kernel did not report, are"));
	}
	for (uint32_t i = 0; i < clocks->gaps.n; i++)
		gaps_put(&cpu->gaps, &clocks->gaps.v[i]);
	cpu->gaps.more += clocks->gaps.more;
}

void report_cpu_end(struct report_cpu *cpu, struct scan_folder *folder, const struct scan_taker *clocks)
{
	report_cpu_folders_end(cpu, folder);
	known_gaps(cpu, clocks->own);
	report_cpu_note_file(cpu, scan_file(folder, "time_align"), clocks->bad_rows);
	report_cpu_lives_end(cpu);
	report_cpu_phases_end(cpu);
	gaps_sort(&cpu->gaps);
	report_cpu_group(cpu);
	check_sums(cpu);
	note_late(cpu);
	note_short(cpu, folder);
	note_full(cpu);
}

static int read_all(struct report_cpu *cpu, int dirfd, struct scan_folder *folder, struct scan_clocks *clocks)
{
	struct scan_taker clock = { .take = scan_clocks_take, .own = clocks },
			  pids = { .take = report_cpu_pids_row, .own = cpu },
			  files = { .take = report_cpu_files_row, .own = cpu };
	struct phases *phases;
	int res;

	scan_walk(folder, "time_align", &clock);
	res = phases_read(&phases, dirfd, &cpu->manifest, cpu->options.phases, &clocks->phases);
	if (res < 0)
		return res;
	scan_walk(folder, "pids", &pids);
	res = report_cpu_sched(cpu, folder, &pids, phases);
	phases_free(phases);
	if (res < 0)
		return res;
	if (res > 0)
		report_cpu_files_end(cpu, scan_walk(folder, "files", &files), &files);
	report_cpu_folders_read(cpu, folder);
	report_cpu_end(cpu, folder, &clock);
	return 0;
}

static int load(struct report_cpu **ret, const char *dir, int dirfd, struct scan_folder *folder,
		const struct report_cpu_options *options)
{
	autofree struct manifest_facts *facts = calloc(1, sizeof(*facts));
	struct scan_clocks *clocks = calloc(1, sizeof(*clocks));
	int manifest = facts ? manifest_read_at(facts, dirfd) : 0, res = -ENOMEM;

	folder->window = options->window;
	if (facts && clocks)
		res = manifest_narrow(facts, &options->window);
	if (res == 0) {
		folder->part = manifest_part(facts);
		res = report_cpu_begin(ret, dir, folder, facts, manifest, options);
		if (res == -ENOMSG && strcmp(facts->tool, "dltraced") != 0 && !has_other_files(folder))
			res = manifest == -EACCES ? manifest : -ENODATA;
		if (res == 0) {
			res = read_all(*ret, dirfd, folder, clocks);
			if (res < 0)
				report_cpu_free(*ret);
		}
	}
	scan_clocks_free(clocks);
	return res;
}

int report_cpu_load(struct report_cpu **ret, const char *dir, const struct report_cpu_options *options)
{
	autoclose int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct scan_folder *folder;
	int res = -ENOMEM;

	if (dirfd < 0)
		return -errno;
	folder = scan_folder_new(dirfd);
	if (folder)
		res = load(ret, dir, dirfd, folder, options);
	scan_folder_free(folder);
	return res;
}
