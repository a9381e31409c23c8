/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules about calls on files beside reads and writes: opens, metadata, syncs. */
#include "report/rules/rules_impl.h"

#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/files/uses.h"
#include "report/scan/lookup.h"
#include "report/why/names.h"

#define SMALL_SAMPLE (64U << 10)
#define FOLDERS_MAX (1U << 14)
#define LEAST_NS 1e8 /* if calls take less time in all, their cause does not matter */

static double open_storm(const struct report *r)
{
	const struct why_sums *s = sums(r);

	return s->opens_read >= MANY && s->read_bytes / s->opens_read < SMALL_SAMPLE ? (double)s->opens_peak : 0;
}

static struct finding_size size_of_opens(const struct report *r)
{
	return rules_size(r, WHY_OPENS, sums(r)->open_ns);
}

static void show_open_storm(struct report *report, struct finding *finding)
{
	const struct why_sums *s = sums(report);

	finding_add(finding,
		    "%s opens in the second from %.3f s on; %s in all, %s of them to read, %s for "
		    "each of these",
		    FMT_COUNT(s->opens_peak), rules_seconds(report, s->opens_peak_ns), FMT_COUNT(s->opens),
		    FMT_COUNT(s->opens_read), FMT_BYTES(s->read_bytes / s->opens_read));
	rules_show_files(report, finding, SIDE_READ);
	rules_show_when(report, finding);
}

static double failed_opens(const struct report *r)
{
	return part(sums(r)->opens_failed, sums(r)->opens, MANY);
}

static struct finding_size size_of_failed_opens(const struct report *r)
{
	return rules_size(r, WHY_OPENS, sums(r)->opens_failed_ns);
}

static void show_failed_opens(struct report *r, struct finding *f)
{
	rules_show_counts(r, f, SIDE_READ, "failed", sums(r)->opens_failed, "opens", sums(r)->opens);
}

static double metadata_time(const struct report *r)
{
	const struct why_sums *s = sums(r);
	uint64_t meta_ns = s->open_ns + s->meta_ns;

	return part(meta_ns, meta_ns + s->read_files_ns + s->write_files_ns + s->sync_ns, LEAST_NS);
}

static struct finding_size size_of_metadata(const struct report *r)
{
	return rules_size(r, WHY_OPENS, sums(r)->open_ns + sums(r)->meta_ns);
}

static void show_metadata_time(struct report *r, struct finding *f)
{
	const struct why_sums *s = sums(r);

	finding_add(f,
		    "opens took %s, closing, making, sizing and removing files %s; reads %s, writes %s, "
		    "syncs %s",
		    FMT_NS(s->open_ns), FMT_NS(s->meta_ns), FMT_NS(s->read_files_ns), FMT_NS(s->write_files_ns),
		    FMT_NS(s->sync_ns));
	rules_show_when(r, f);
}

static double sync_often(const struct report *r)
{
	const struct why_sums *s = sums(r);

	return part(s->sync_ns, s->sync_ns + s->open_ns + s->meta_ns + s->read_files_ns + s->write_files_ns, LEAST_NS);
}

static struct finding_size size_of_syncs(const struct report *r)
{
	return rules_size(r, WHY_WRITES, sums(r)->sync_ns);
}

static void show_sync_often(struct report *r, struct finding *f)
{
	finding_add(f, "%s syncs took %s; writes %s", FMT_COUNT(sums(r)->syncs), FMT_NS(sums(r)->sync_ns),
		    FMT_NS(sums(r)->write_files_ns));
	rules_show_when(r, f);
}

/* --- software --------------------------------------------------------------------------------- */

static bool imports(const struct report_proc *p)
{
	return p->interpreter || why_is_interpreter((struct reader_field){ p->comm, strlen(p->comm) });
}

/* The cost of a process's start, as far as the trace shows it. */
struct imports {
	const struct report_proc *p; /* NULL: of no process */
	double software_ns; /* opens, reads and closes of software */
	double fault_ns, stat_ns; /* by sched.out: asleep in page faults and in stat(2) before its data */
	double life_ns;
};

static double sum_of(const struct imports *i)
{
	return i->software_ns + i->fault_ns + i->stat_ns;
}

static double share_of(const struct imports *i)
{
	return i->p && i->life_ns > 0 ? MIN(sum_of(i) / i->life_ns, 1) : 0;
}

/*
 * Returns the imports of the interpreter that trains, or is most like a trainer. Of several, it is the one that spent
 * the largest part of its life in imports.
 */
static struct imports slowest_imports(const struct report *report)
{
	struct imports slowest = { NULL };

	for (uint32_t i = 0; i < report->why->n_trainers; i++) {
		const struct why_trainer *trainer = &report->why->trainer[i];
		const struct report_proc *proc = table_find(&report->procs, trainer->pid);
		uint64_t begin_ns, end_ns;
		struct imports one;

		if (!proc || !imports(proc))
			continue;
		begin_ns = proc->begin_ns ? proc->begin_ns : report->first_ns;
		end_ns = proc->end_ns > begin_ns ? proc->end_ns : report->last_ns;
		one = (struct imports){ .p = proc,
					.software_ns = (double)proc->software_ns,
					.life_ns = (double)(end_ns - MIN(begin_ns, end_ns)),
					.fault_ns = trainer->before.ns[SLEEP_FAULT],
					.stat_ns = trainer->before.ns[SLEEP_STAT] };
		if (sum_of(&one) >= LEAST_NS && share_of(&one) > share_of(&slowest))
			slowest = one;
	}
	return slowest;
}

static double slow_imports(const struct report *r)
{
	struct imports slowest = slowest_imports(r);

	return share_of(&slowest);
}

static struct finding_size size_of_imports(const struct report *r)
{
	struct imports slowest = slowest_imports(r);

	return rules_size_of_life(r, slowest.p ? sum_of(&slowest) : 0);
}

/* Files of one folder, as a process used them. */
struct folder_use {
	uint64_t ns, calls, files;
	uint64_t fid; /* of one of its files */
	size_t len; /* the folder's part of that file's path, bytes */
};

/* Returns the length of PATH's folder; in a package, of the package's. */
static size_t folder_len(const char *path)
{
	static const char *const packages[] = { "/site-packages/", "/dist-packages/" };
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; i < ARRAY_SIZE(packages); i++) {
		const char *package = strstr(path, packages[i]), *end;

		if (!package)
			continue;
		end = strchr(package + strlen(packages[i]), '/');
		return (size_t)((end ? end : package + strlen(packages[i]) - 1) - path);
	}
	return slash ? (size_t)(slash - path) : 0;
}

static void add_folder_use(struct report *report, struct table *folders, uint64_t fid, const struct report_use *use)
{
	autofree char *path = report_path_of(report, fid, NULL, 0);
	const size_t len = path ? folder_len(path) : 0;
	struct folder_use *f = len ? table_get(folders, table_key(path, len)) : NULL;

	if (!f)
		return;
	f->ns += use->time_ns;
	f->calls += use->calls;
	f->files++;
	f->fid = fid;
	f->len = len;
}

/*
 * Shows the folder of packages or programs in which PROC spent most time. The short report does not know which process
 * used a file.
 */
static void show_slowest_folder(struct report *report, const struct report_proc *proc, struct finding *finding)
{
	const struct table *uses = report->uses ? &report->uses->uses : NULL;
	const struct folder_use *most = NULL;
	autofree char *path = NULL;
	struct table folders;

	table_init(&folders, sizeof(struct folder_use), FOLDERS_MAX);
	for (uint32_t i = 0; uses && i < uses->n; i++) {
		const uint64_t fid = report_pair_fid(uses->keys[i]);
		const struct report_file *file =
			report_pair_pid(uses->keys[i]) == proc->pid ? table_find(&report->files, fid) : NULL;

		if (file && file->software)
			add_folder_use(report, &folders, fid, table_at(uses, i));
	}
	for (uint32_t i = 0; i < folders.n; i++) {
		const struct folder_use *u = table_at(&folders, i);

		most = !most || u->ns > most->ns ? u : most;
	}
	path = most ? report_path_of(report, most->fid, NULL, 0) : NULL;
	if (path)
		finding_add(finding, "the slowest folder: %.*s, %s in %s on %s", (int)most->len, path, FMT_NS(most->ns),
			    FMT_N(most->calls, "call", "calls"), FMT_N(most->files, "file", "files"));
	table_free(&folders);
}

static void show_slow_imports(struct report *report, struct finding *finding)
{
	const struct imports slowest = slowest_imports(report);

	if (!slowest.p)
		return;
	finding_add(finding, "process %u spent %s of its %s in %s opens, reads and closes of programs and packages",
		    (unsigned int)slowest.p->pid, FMT_NS((uint64_t)slowest.software_ns),
		    FMT_NS((uint64_t)slowest.life_ns), FMT_COUNT(slowest.p->software_calls));
	if (report->why->has_sums)
		finding_add(finding,
			    "before it came to its data, it waited for %s in page faults and for %s in stat(2) and the "
			    "like, by sched.out",
			    FMT_NS((uint64_t)slowest.fault_ns), FMT_NS((uint64_t)slowest.stat_ns));
	else
		finding_add(finding, "stat(2) and page faults are not among these: sched.out is not there");
	show_slowest_folder(report, slowest.p, finding);
	rules_show_when(report, finding);
}

const struct rule rules_of_calls[] = {
	{ .code = "failed-opens",
	  .title = "Most opens fail",
	  .number = "failed opens, among all opens, those of software too",
	  .threshold = 0.5,
	  .needs = RULE_OPEN,
	  .is_share = true,
	  .measure = failed_opens,
	  .size = size_of_failed_opens,
	  .evidence = show_failed_opens,
	  .advice = "Shorten search paths (PYTHONPATH, LD_LIBRARY_PATH), above all on network file "
		    "systems." },
	{ .code = "metadata-time",
	  .title = "Much of the time on files goes to opens and metadata",
	  .number = "time in opens, closes, creating, removing and sizing, among the time in calls on files; at least "
		    "0.1 s",
	  .threshold = 0.3,
	  .needs = RULE_RW | RULE_OPEN,
	  .is_share = true,
	  .measure = metadata_time,
	  .size = size_of_metadata,
	  .within = "open-metadata",
	  .evidence = show_metadata_time,
	  .advice = "Pack small files into large ones, keep files open, cache listings of folders." },
	{ .code = "open-storm",
	  .title = "Many small files are opened",
	  .number = "opens to read in the busiest second, where less than 64 KiB are read for each such file",
	  .threshold = 1000,
	  .needs = RULE_OPEN | RULE_RW,
	  .measure = open_storm,
	  .size = size_of_opens,
	  .evidence = show_open_storm,
	  .advice = "Pack samples into shards of 100 MiB and more." },
	{ .code = "slow-imports",
	  .title = "Much of the time goes to opening and reading programs and packages",
	  .number = "time in opens, reads and closes of software, and asleep in page faults and stat(2) before the "
		    "first data, among the life of a main process that runs an interpreter; at least 0.1 s",
	  .threshold = 0.2,
	  .needs = RULE_RW | RULE_OPEN,
	  .is_share = true,
	  .measure = slow_imports,
	  .size = size_of_imports,
	  .within = "import",
	  .evidence = show_slow_imports,
	  .advice = "Keep the environment on a local disk, in memory, or in one image; import less, and start fewer "
		    "processes." },
	{ .code = "sync-often",
	  .title = "Much of the time on files goes to syncs",
	  .number = "time in syncs, among the time in calls on files; at least 0.1 s",
	  .threshold = 0.3,
	  .needs = RULE_SYNC | RULE_RW,
	  .is_share = true,
	  .measure = sync_often,
	  .size = size_of_syncs,
	  .within = "log-sync",
	  .evidence = show_sync_often,
	  .advice = "Sync once after the last write of a file, not after each." },
	{ .code = NULL },
};
