/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules about page faults that waited for a disk, about memory, and about what else the disks were busy with. */
#include "report/rules/rules_impl.h"

#include <math.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/disk/cache.h"
#include "report/disk/causes.h"
#include "report/disk/faults.h"
#include "report/path/path.h"
#include "report/scan/lookup.h"
#include "report/why/reclaims.h"

#define LEAST_PAGES 4096 /* of read-ahead */
#define LEAST_NS 1e8 /* less time in all is not worth a change */
#define LEAST_READS 100 /* beside writes, and as many without: the mean of fewer means little */

/* --- page faults ---------------------------------------------------------------------------------- */

static const struct report_faults *faults(const struct report *r)
{
	static const struct report_faults none;

	return r->faults ? r->faults : &none;
}

static double calls_ns(const struct report *r)
{
	double ns = 0;

	for (unsigned int k = 0; k < WHY_KINDS; k++)
		ns += (double)r->why->kind[k].ns;
	return ns;
}

/*
 * Returns the cost of NS of faults: a part of the waits for disks, or, where these are not known, of the time with
 * faults.
 */
static struct finding_size size_of_faults(const struct report *r, double ns)
{
	const struct report_faults *f = faults(r);
	const double faults_ns = (double)(f->file.ns + f->swap.ns), part = faults_ns > 0 ? MIN(ns / faults_ns, 1) : 0;
	const double whole = rules_path_part(r, 1ULL << PATH_DISK_FAULT, UINT32_MAX);

	if (!isnan(whole))
		return rules_size_of_share(r, part * whole);
	return rules_size_of_life(r, part * (double)f->busy_ns);
}

/* Shows the file whose pages were waited for longest. */
static void show_file(struct report *report, struct finding *finding)
{
	const struct table *files = &faults(report)->files;
	const struct report_fault_sum *most = NULL;
	autofree char *path = NULL;
	uint64_t fid = 0;

	for (uint32_t i = 0; i < files->n; i++) {
		const struct report_fault_sum *sum = table_at(files, i);

		if (most && sum->ns <= most->ns)
			continue;
		most = sum;
		fid = table_key_at(files, i);
	}
	if (!most)
		return;
	path = report_path_of(report, fid, NULL, 0);
	finding_add(finding, "longest for pages of %s: %s faults, %s in all, %s from disk", path ? path : "a file",
		    FMT_COUNT(most->n), FMT_NS(most->ns), FMT_BYTES(most->bytes));
}

static double fault_storm(const struct report *r)
{
	const struct report_fault_sum *sum = &faults(r)->file;
	const double ns = (double)sum->ns;

	return sum->n >= MANY && ns >= LEAST_NS ? ns / (ns + calls_ns(r)) : 0;
}

static struct finding_size size_of_storm(const struct report *r)
{
	return size_of_faults(r, (double)faults(r)->file.ns);
}

static void show_fault_storm(struct report *r, struct finding *f)
{
	const struct report_fault_sum *sum = &faults(r)->file;

	finding_add(f, "%s page faults on mapped files waited %s for the disk, %s each; calls on files took %s",
		    FMT_COUNT(sum->n), FMT_NS(sum->ns), FMT_NS(sum->ns / sum->n), FMT_NS((uint64_t)calls_ns(r)));
	show_file(r, f);
	rules_show_when(r, f);
}

static double random_faults(const struct report *r)
{
	return part(faults(r)->jumps, faults(r)->placed, MANY);
}

static struct finding_size size_of_random_faults(const struct report *r)
{
	return size_of_faults(r, (double)faults(r)->jumps_ns);
}

static void show_random_faults(struct report *r, struct finding *f)
{
	const struct report_faults *all = faults(r);

	finding_add(f, "%s of %s page faults were far from the process's previous fault of the same file (%.1f %%)",
		    FMT_COUNT(all->jumps), FMT_COUNT(all->placed),
		    rules_percent((double)all->jumps, (double)all->placed));
	show_file(r, f);
	rules_show_when(r, f);
}

static double swap(const struct report *r)
{
	const double life_ns = (double)report_duration_ns(r), ns = (double)faults(r)->swap.ns;

	return life_ns > 0 && ns >= LEAST_NS ? ns / life_ns : 0;
}

static struct finding_size size_of_swap(const struct report *r)
{
	return size_of_faults(r, (double)faults(r)->swap.ns);
}

static void show_swap(struct report *r, struct finding *f)
{
	const struct report_fault_sum *sum = &faults(r)->swap;

	finding_add(f, "%s page faults of memory that was swapped out waited %s for the disk", FMT_COUNT(sum->n),
		    FMT_NS(sum->ns));
	if (r->causes && r->causes->no_file[CAUSE_SWAP].requests)
		finding_add(f, "the disks read %s of swap and wrote %s, of all processes of the machine",
			    FMT_BYTES(r->causes->no_file[CAUSE_SWAP].read_bytes),
			    FMT_BYTES(r->causes->no_file[CAUSE_SWAP].write_bytes));
	rules_show_when(r, f);
}

/* --- reclaim -------------------------------------------------------------------------------------- */

/*
 * Returns the larger one of the main processes' part and of the loaders'; without main processes, the part of the trace
 * in which any process was in a direct reclaim.
 */
static double reclaim(const struct report *r)
{
	const struct why_reclaims *m = &r->why->reclaims;
	const double life_ns = (double)report_duration_ns(r);

	if ((double)(m->machine.ns + m->cgroup.ns) < LEAST_NS)
		return 0;
	if (m->trainers_life_ns > 0)
		return MAX(why_trainers_reclaim(m), why_loaders_reclaim(m));
	return life_ns > 0 ? (double)m->busy_ns / life_ns : 0;
}

/* The cost: the main processes' own time in it, and the loaders' part of their time on the path. */
static struct finding_size size_of_reclaim(const struct report *r)
{
	const struct why_reclaims *m = &r->why->reclaims;

	const double served = rules_path_part(r, UINT64_MAX, 1U << PATH_WORKER);

	if (isnan(served))
		return rules_size_of_life(r, (double)m->busy_ns);
	return rules_size_of_share(r, why_trainers_reclaim(m) + why_loaders_reclaim(m) * served);
}

static void show_reclaim_sum(struct finding *f, const char *why, const struct why_reclaim_sum *sum)
{
	if (sum->n)
		finding_add(f, "%s: %s times, %s each, %s in all, %s pages freed", why, FMT_COUNT(sum->n),
			    FMT_NS(sum->ns / sum->n), FMT_NS(sum->ns), FMT_COUNT(sum->pages));
}

static void show_reclaim(struct report *r, struct finding *f)
{
	const struct why_reclaims *m = &r->why->reclaims;

	if (m->trainers_life_ns > 0)
		finding_add(
			f,
			"main processes freed memory themselves in %.1f %% of their time, loaders in %.1f %% of theirs",
			100 * why_trainers_reclaim(m), 100 * why_loaders_reclaim(m));
	show_reclaim_sum(f, "at a cgroup's limit of memory (KIND cgroup)", &m->cgroup);
	show_reclaim_sum(f, "as the machine had too little free memory (KIND machine)", &m->machine);
	rules_show_when(r, f);
}

/* --- read-ahead ------------------------------------------------------------------------------------- */

static double waste(const struct report *r)
{
	const struct report_cache_row *all = &r->cache->all;

	return part(all->sum[CACHE_WASTED], all->sum[CACHE_AHEAD], 0) * (all->sum[CACHE_AHEAD] >= LEAST_PAGES);
}

/* The cost of wasted pages: each takes the mean time of all pages that came in. */
static struct finding_size size_of_waste(const struct report *r)
{
	const struct report_cache_row *all = &r->cache->all;
	const uint64_t in = report_cache_in(all);
	const double wasted = in ? (double)all->sum[CACHE_WASTED] / (double)in : 0;
	struct finding_size size = rules_size(r, WHY_READS, (uint64_t)(wasted * (double)sums(r)->disk_reads_ns));

	size.bytes = (double)(all->sum[CACHE_WASTED] * r->cache->page_bytes);
	return size;
}

static void show_waste(struct report *report, struct finding *finding)
{
	const struct report_cache *cache = report->cache;
	const struct report_cache_row *most = &cache->row[0];

	finding_add(finding, "%s of %s that were read ahead left the page cache before a call touched them (%.1f %%)",
		    FMT_BYTES(cache->all.sum[CACHE_WASTED] * cache->page_bytes),
		    FMT_BYTES(cache->all.sum[CACHE_AHEAD] * cache->page_bytes),
		    rules_percent((double)cache->all.sum[CACHE_WASTED], (double)cache->all.sum[CACHE_AHEAD]));
	for (unsigned int i = 1; i < cache->n; i++)
		if (cache->row[i].fid && cache->row[i].sum[CACHE_WASTED] > most->sum[CACHE_WASTED])
			most = &cache->row[i];
	if (cache->n && most->fid)
		finding_add(finding, "most of %s: %s of %s, for %s that calls read", most->path ? most->path : "a file",
			    FMT_BYTES(most->sum[CACHE_WASTED] * cache->page_bytes),
			    FMT_BYTES(most->sum[CACHE_AHEAD] * cache->page_bytes), FMT_BYTES(most->sum[CACHE_READ]));
	rules_show_when(report, finding);
}

/* --- what else the disks do ------------------------------------------------------------------------- */

static double mean(const struct report_cause_reads *reads)
{
	return reads->n ? (double)reads->ns / (double)reads->n : 0;
}

/* Returns the part of the job's time in reads of disks that these took longer beside writes. */
static double interference(const struct report *r)
{
	const struct report_causes *c = r->causes;
	const double all_ns = c ? (double)c->beside.ns + (double)c->alone.ns : 0;

	if (!c || c->beside.n < LEAST_READS || c->alone.n < LEAST_READS || mean(&c->beside) <= mean(&c->alone))
		return 0;
	return (mean(&c->beside) - mean(&c->alone)) * (double)c->beside.n / all_ns;
}

static struct finding_size size_of_interference(const struct report *r)
{
	return rules_size(r, WHY_READS, (uint64_t)(interference(r) * (double)sums(r)->disk_reads_ns));
}

/* Returns the row of ROWS that is one file or process with the most bytes written; NULL: none. */
static const struct report_cause_row *most_written(const struct report_cause_row *rows, unsigned int n)
{
	const struct report_cause_row *most = NULL;

	for (unsigned int i = 0; i < n; i++)
		if (rows[i].id && rows[i].sum.write_bytes > (most ? most->sum.write_bytes : 0))
			most = &rows[i];
	return most;
}

static void show_interference(struct report *report, struct finding *finding)
{
	const struct report_causes *causes = report->causes;
	const struct report_cause_row *process = most_written(causes->process, causes->n_processes),
				      *file = most_written(causes->file, causes->n_files);

	finding_add(finding, "a read of the disk took %s while it also wrote (%s of them), else %s (%s)",
		    FMT_NS((uint64_t)mean(&causes->beside)), FMT_COUNT(causes->beside.n),
		    FMT_NS((uint64_t)mean(&causes->alone)), FMT_COUNT(causes->alone.n));
	if (process)
		finding_add(finding, "most was written by process %u (%s)%s: %s of %s", (unsigned int)process->id,
			    process->comm, process->of_job ? "" : ", not of the job",
			    FMT_BYTES(process->sum.write_bytes), FMT_BYTES(causes->all.write_bytes));
	if (file)
		finding_add(finding, "most was written to %s: %s", file->path ? file->path : "a file",
			    FMT_BYTES(file->sum.write_bytes));
	rules_show_when(report, finding);
}

static uint64_t own_writes(const struct report_causes *c)
{
	return c->no_file[CAUSE_META].write_bytes + c->no_file[CAUSE_JOURNAL].write_bytes +
	       c->no_file[CAUSE_SUPER].write_bytes;
}

static double journal(const struct report *r)
{
	const struct report_causes *c = r->causes;

	return c ? part(own_writes(c), c->all.write_bytes, 4 * MiB) : 0;
}

/* The cost of the journal: a part of the time in syncs, as calls wait for the journal there. */
static struct finding_size size_of_journal(const struct report *r)
{
	return rules_size(r, WHY_WRITES, (uint64_t)(journal(r) * (double)sums(r)->sync_ns));
}

static void show_journal(struct report *r, struct finding *f)
{
	const struct report_causes *c = r->causes;

	finding_add(f, "of %s that the disks wrote, %s were journals and %s metadata; %s syncs took %s",
		    FMT_BYTES(c->all.write_bytes), FMT_BYTES(c->no_file[CAUSE_JOURNAL].write_bytes),
		    FMT_BYTES(c->no_file[CAUSE_META].write_bytes), FMT_COUNT(sums(r)->syncs), FMT_NS(sums(r)->sync_ns));
	rules_show_when(r, f);
}

const struct rule rules_of_disks[] = {
	{ .code = "fault-storm",
	  .title = "Mapped files are read by page faults, one after the other",
	  .number = "time in page faults on mapped files that waited for a disk, among that and the time in calls on "
		    "files; at least 1000 faults and 0.1 s",
	  .threshold = 0.3,
	  .needs = RULE_FAULT,
	  .is_share = true,
	  .measure = fault_storm,
	  .size = size_of_storm,
	  .evidence = show_fault_storm,
	  .advice = "Map with MAP_POPULATE, call madvise(MADV_WILLNEED) or MADV_POPULATE_READ ahead of use, or read() "
		    "what is needed: a fault fetches little, and its thread waits." },
	{ .code = "journal-writes",
	  .title = "Much of what the disks write is journals and metadata",
	  .number = "bytes of journals, metadata and superblocks, among all bytes that disks wrote; at least 4 MiB",
	  .threshold = 0.3,
	  .needs = RULE_BIO,
	  .is_share = true,
	  .measure = journal,
	  .size = size_of_journal,
	  .evidence = show_journal,
	  .advice = "Write fewer and larger files, and sync once after the last of them." },
	{ .code = "random-faults",
	  .title = "Page faults jump within mapped files",
	  .number = "page faults of mapped files that waited for a disk neither within what the process's last one of "
		    "the file fetched nor right behind it, among those that could",
	  .threshold = 0.5,
	  .needs = RULE_FAULT,
	  .is_share = true,
	  .measure = random_faults,
	  .size = size_of_random_faults,
	  .evidence = show_random_faults,
	  .advice = "Shuffle blocks and within a buffer rather than single samples; madvise(MADV_RANDOM) where samples "
		    "are small, or read() from several threads, which fetch at the same time." },
	{ .code = "read-ahead-waste",
	  .title = "Much is read ahead and never used",
	  .number = "pages read ahead that left the cache before a call used them, among all pages read ahead; at "
		    "least 4096",
	  .threshold = 0.3,
	  .needs = RULE_CACHE | RULE_RW,
	  .is_share = true,
	  .measure = waste,
	  .size = size_of_waste,
	  .evidence = show_waste,
	  .advice = "posix_fadvise(POSIX_FADV_RANDOM) on files that are read in parts, or a smaller read_ahead_kb of "
		    "the disk." },
	{ .code = "reclaim",
	  .title = "The job had to free memory before it got some",
	  .number = "time in which a main process, or loaders, had to free memory themselves (direct reclaims), among "
		    "their time; at least 0.1 s",
	  .threshold = RECLAIMS_MATTER,
	  .needs = RULE_RECLAIM,
	  .is_share = false,
	  .measure = reclaim,
	  .size = size_of_reclaim,
	  .evidence = show_reclaim,
	  .advice = "At a cgroup's limit: a higher limit (memory.max), fewer workers, less prefetching. On the whole "
		    "machine: also POSIX_FADV_DONTNEED or O_DIRECT for files that are read once, and a larger "
		    "vm.min_free_kbytes." },
	{ .code = "swap",
	  .title = "The job waited for memory that was swapped out",
	  .number = "time in page faults of memory that was swapped out, among the length of the trace; at least 0.1 "
		    "s",
	  .threshold = 0.01,
	  .needs = RULE_FAULT,
	  .is_share = false,
	  .measure = swap,
	  .size = size_of_swap,
	  .evidence = show_swap,
	  .advice = "The job needs more memory than it has: fewer workers, less prefetching, smaller caches, or a "
		    "higher limit." },
	{ .code = "write-back-interference",
	  .title = "Reads waited while the disk also wrote",
	  .number = "time that reads took longer within 10 ms of a write of the same disk than without, among the "
		    "time of all reads of disks; at least 100 of either",
	  .threshold = 0.2,
	  .needs = RULE_BIO | RULE_RW,
	  .is_share = true,
	  .measure = interference,
	  .size = size_of_interference,
	  .evidence = show_interference,
	  .advice = "Write checkpoints and logs to another disk than the data's, or in smaller parts (sync_file_range, "
		    "O_DIRECT)." },
	{ .code = NULL },
};
