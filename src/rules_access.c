/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules about how files are read and written, whatever was waited for. Most are about counts of
 * which a few do not matter: MANY is the least.
 */
#include <math.h>
#include <stdlib.h>

#include "report.h"
#include "report_fmt.h"
#include "rules.h"
#include "util.h"
#include "why.h"

#define MANY 1000
#define MiB (1024.0 * 1024)
#define SMALL_SAMPLE (64U << 10)

static const struct why_sums *sums(const struct report *r)
{
	return &r->why->sums;
}

/* PART of WHOLE, where there are enough of them. */
static double part(uint64_t part, uint64_t whole, double least)
{
	return whole && (double)part >= least ? (double)part / (double)whole : 0;
}

static void tell_when(struct report *r, struct finding *f)
{
	finding_tell(f, "in all of the trace, %.3f s to %.3f s", rules_seconds(r, r->first_ns),
		     rules_seconds(r, r->last_ns));
}

enum side { READ, WRITTEN };

/* Of the files with the most bytes the one that is read, or written, most. */
static void tell_files(const struct report *r, struct finding *f, enum side side)
{
	const struct report_top_file *t = NULL;
	uint64_t most = 0;

	for (unsigned int i = 0; i < r->n_top_bytes; i++) {
		const struct report_file *sum = &r->top_bytes[i].sum;
		uint64_t bytes = side == READ ? sum->read_bytes : sum->write_bytes;

		if (bytes <= most || !r->top_bytes[i].path)
			continue;
		most = bytes;
		t = &r->top_bytes[i];
	}
	if (t)
		finding_tell(f, "most bytes: %s, %s read, %s written in %s calls", t->path,
			     FMT_BYTES(t->sum.read_bytes), FMT_BYTES(t->sum.write_bytes),
			     FMT_COUNT(t->sum.calls));
}

static void tell_counts(struct report *r, struct finding *f, enum side side, const char *what,
			uint64_t part, const char *of, uint64_t whole)
{
	finding_tell(f, "%s: %s of %s %s (%.1f %%)", what, FMT_COUNT(part), FMT_COUNT(whole), of,
		     rules_percent((double)part, (double)whole));
	tell_files(r, f, side);
	tell_when(r, f);
}

/* --- sizes ------------------------------------------------------------------------------------ */

static double small_reads(const struct report *r)
{
	return part(sums(r)->small_disk_reads, sums(r)->disk_reads, MANY);
}

static void tell_small_reads(struct report *r, struct finding *f)
{
	tell_counts(r, f, READ, "asked for less than 64 KiB", sums(r)->small_disk_reads,
		    "reads that went to a disk", sums(r)->disk_reads);
}

static double tiny_reads(const struct report *r)
{
	return part(sums(r)->tiny_reads, sums(r)->reads, MANY);
}

static void tell_tiny_reads(struct report *r, struct finding *f)
{
	tell_counts(r, f, READ, "asked for less than 4 KiB", sums(r)->tiny_reads, "reads of files",
		    sums(r)->reads);
}

static double small_writes(const struct report *r)
{
	return part(sums(r)->small_writes, sums(r)->writes, MANY);
}

static void tell_small_writes(struct report *r, struct finding *f)
{
	tell_counts(r, f, WRITTEN, "wrote less than 64 KiB", sums(r)->small_writes,
		    "writes of files", sums(r)->writes);
}

static double misaligned(const struct report *r)
{
	return part(sums(r)->misaligned, sums(r)->with_offset, MANY);
}

static void tell_misaligned(struct report *r, struct finding *f)
{
	tell_counts(r, f, READ, "not at a multiple of 4096 bytes", sums(r)->misaligned,
		    "reads and writes", sums(r)->with_offset);
	if (sums(r)->direct)
		finding_tell(f, "with O_DIRECT: %s of %s", FMT_COUNT(sums(r)->direct_misaligned),
			     FMT_COUNT(sums(r)->direct));
}

/* --- order ------------------------------------------------------------------------------------ */

static double random_reads(const struct report *r)
{
	return part(sums(r)->placed - sums(r)->sequential, sums(r)->placed, MANY);
}

static void tell_random_reads(struct report *r, struct finding *f)
{
	tell_counts(r, f, READ, "not where the process's last read of the file ended",
		    sums(r)->placed - sums(r)->sequential, "reads that could have been",
		    sums(r)->placed);
}

static double no_readahead(const struct report *r)
{
	return part(sums(r)->sequential_disk, sums(r)->sequential_small, MANY);
}

static void tell_no_readahead(struct report *r, struct finding *f)
{
	tell_counts(r, f, READ, "went to the disk all the same", sums(r)->sequential_disk,
		    "sequential reads of less than 128 KiB", sums(r)->sequential_small);
}

/* --- again ------------------------------------------------------------------------------------ */

static uint64_t again_in_epochs(const struct report *r, uint64_t *all)
{
	uint64_t again = 0;

	*all = 0;
	for (uint32_t i = 0; i < r->why->n_epochs; i++) {
		again += r->why->epoch[i].again_bytes;
		*all += r->why->epoch[i].read_bytes;
	}
	return again;
}

/* Where no epoch is known to be one, reading all once more is what epochs do. */
static double redundant_reads(const struct report *r)
{
	uint64_t all, again = again_in_epochs(r, &all);

	return r->why->by_epoch ? part(again, all, 16 * MiB) : 0;
}

static void tell_redundant_reads(struct report *r, struct finding *f)
{
	uint64_t all, again = again_in_epochs(r, &all);

	finding_tell(f, "%s of %s were read a second time within an epoch, of %u epochs",
		     FMT_BYTES(again), FMT_BYTES(all), r->why->n_epochs);
	tell_files(r, f, READ);
	tell_when(r, f);
}

static double cache_too_small(const struct report *r)
{
	return part(sums(r)->again_disk_bytes, sums(r)->disk_bytes, 16 * MiB);
}

static void tell_cache_too_small(struct report *r, struct finding *f)
{
	finding_tell(f, "%s of the %s that came from disk had come before, and were no longer in "
			"the page cache",
		     FMT_BYTES(sums(r)->again_disk_bytes), FMT_BYTES(sums(r)->disk_bytes));
	tell_files(r, f, READ);
	tell_when(r, f);
}

static double read_intensive(const struct report *r)
{
	return part(sums(r)->read_bytes, sums(r)->read_bytes + sums(r)->write_bytes, 100 * MiB);
}

static double write_intensive(const struct report *r)
{
	return part(sums(r)->write_bytes, sums(r)->read_bytes + sums(r)->write_bytes, 100 * MiB);
}

static void tell_balance(struct report *r, struct finding *f)
{
	finding_tell(f, "%s read in %s reads, %s written in %s writes, of files",
		     FMT_BYTES(sums(r)->read_bytes), FMT_COUNT(sums(r)->reads),
		     FMT_BYTES(sums(r)->write_bytes), FMT_COUNT(sums(r)->writes));
	tell_files(r, f, sums(r)->read_bytes >= sums(r)->write_bytes ? READ : WRITTEN);
	tell_when(r, f);
}

/* --- opens ------------------------------------------------------------------------------------ */

static double open_storm(const struct report *r)
{
	const struct why_sums *s = sums(r);

	return s->opens_read >= MANY && s->read_bytes / s->opens_read < SMALL_SAMPLE
		       ? (double)s->opens_peak
		       : 0;
}

static void tell_open_storm(struct report *r, struct finding *f)
{
	const struct why_sums *s = sums(r);

	finding_tell(f,
		     "%s opens in the second from %.3f s on; %s in all, %s of them to read, %s for "
		     "each of these",
		     FMT_COUNT(s->opens_peak), rules_seconds(r, s->opens_peak_ns),
		     FMT_COUNT(s->opens), FMT_COUNT(s->opens_read),
		     FMT_BYTES(s->read_bytes / s->opens_read));
	tell_files(r, f, READ);
	tell_when(r, f);
}

static double failed_opens(const struct report *r)
{
	return part(sums(r)->opens_failed, sums(r)->opens, MANY);
}

static void tell_failed_opens(struct report *r, struct finding *f)
{
	tell_counts(r, f, READ, "failed", sums(r)->opens_failed, "opens", sums(r)->opens);
}

static double metadata_time(const struct report *r)
{
	const struct why_sums *s = sums(r);
	uint64_t meta_ns = s->open_ns + s->meta_ns;

	return part(meta_ns, meta_ns + s->read_files_ns + s->write_files_ns + s->sync_ns,
		    NSEC_PER_SEC);
}

static void tell_metadata_time(struct report *r, struct finding *f)
{
	const struct why_sums *s = sums(r);

	finding_tell(f,
		     "opens took %s, closing, making and removing files %s; reads %s, writes %s, "
		     "syncs %s",
		     FMT_NS(s->open_ns), FMT_NS(s->meta_ns), FMT_NS(s->read_files_ns),
		     FMT_NS(s->write_files_ns), FMT_NS(s->sync_ns));
	tell_when(r, f);
}

/* --- loaders ---------------------------------------------------------------------------------- */

static const struct why_loader *loader_at(const struct report *r, uint32_t i)
{
	return *(struct why_loader **)table_at(&r->why->loaders, i);
}

/* The loader that has read the most, compared with the mean of the others of its generation. */
static double unequal_data(const struct report *r, const struct why_loader **most)
{
	double worst = 0;

	for (uint32_t i = 0; i < r->why->loaders.n; i++) {
		const struct why_loader *l = loader_at(r, i);
		double others = 0;
		uint32_t n = 0;

		if (!l || l->number) /* once for each generation */
			continue;
		for (uint32_t k = 0; k < r->why->loaders.n; k++) {
			const struct why_loader *other = loader_at(r, k);

			if (!other || other->generation != l->generation)
				continue;
			if (other->bytes > l->bytes)
				l = other;
			others += (double)other->bytes;
			n++;
		}
		others -= (double)l->bytes;
		if (n > 1 && others > 0 && (double)l->bytes >= 16 * MiB &&
		    (double)l->bytes * (n - 1) / others > worst) {
			worst = (double)l->bytes * (n - 1) / others;
			*most = l;
		}
	}
	return worst;
}

static double straggler_data(const struct report *r)
{
	const struct why_loader *l = NULL;

	return unequal_data(r, &l);
}

static void tell_straggler_data(struct report *r, struct finding *f)
{
	const struct why_loader *l = NULL;
	double times = unequal_data(r, &l);

	if (l)
		finding_tell(
			f,
			"loader %u of its generation, process %u, read %s from %.3f s to %.3f s: "
			"%.1f times as much as the others on average",
			l->number + 1, (unsigned int)l->pid, FMT_BYTES(l->bytes),
			rules_seconds(r, l->begin_ns), rules_seconds(r, l->end_ns), times);
}

static const struct why_epoch *worst_epoch(const struct report *r, double *ratio)
{
	const struct why_epoch *worst = NULL;

	*ratio = 0;
	for (uint32_t i = 0; i < r->why->n_epochs; i++) {
		const struct why_epoch *e = &r->why->epoch[i];

		if (e->workers < 2 || e->median_worker_ns <= 0 ||
		    e->slow_worker_ns / e->median_worker_ns <= *ratio)
			continue;
		*ratio = e->slow_worker_ns / e->median_worker_ns;
		worst = e;
	}
	return worst;
}

static double slow_worker(const struct report *r)
{
	double ratio;

	worst_epoch(r, &ratio);
	return ratio;
}

static void tell_slow_worker(struct report *r, struct finding *f)
{
	double ratio;
	const struct why_epoch *e = worst_epoch(r, &ratio);

	finding_tell(
		f,
		"process %u was %s in calls on files for each file that it opened to read, the "
		"median of %u is %s, from %.3f s to %.3f s",
		(unsigned int)e->slow_worker, FMT_NS((uint64_t)e->slow_worker_ns), e->workers,
		FMT_NS((uint64_t)e->median_worker_ns), rules_seconds(r, e->begin_ns),
		rules_seconds(r, e->end_ns));
}

static double loader_cpu(const struct report *r, uint64_t *cpu_ns, uint64_t *life_ns)
{
	*cpu_ns = *life_ns = 0;
	for (uint32_t i = 0; i < r->why->loaders.n; i++) {
		const struct why_loader *l = loader_at(r, i);
		const struct report_proc *p = l ? table_find(&r->procs, l->pid) : NULL;

		if (!p || !(p->user_ns + p->sys_ns))
			continue;
		*cpu_ns += p->user_ns + p->sys_ns;
		*life_ns += l->end_ns - l->begin_ns;
	}
	return *life_ns ? (double)*cpu_ns / (double)*life_ns : 0;
}

static double loader_cpu_bound(const struct report *r)
{
	uint64_t cpu_ns, life_ns;

	return loader_cpu(r, &cpu_ns, &life_ns);
}

static void tell_loader_cpu_bound(struct report *r, struct finding *f)
{
	uint64_t cpu_ns, life_ns;

	loader_cpu(r, &cpu_ns, &life_ns);
	finding_tell(f, "loaders used %s of CPU time in %s of their lives", FMT_NS(cpu_ns),
		     FMT_NS(life_ns));
	tell_when(r, f);
}

/* Waits, of which loaders computed in most, and CPUs that nobody used. */
static double too_few_workers(const struct report *r)
{
	const struct why *w = r->why;
	double busy_ns = w->blame_ns[WHY_CPU] + w->blame_ns[WHY_CACHE] + w->blame_ns[WHY_DISK] +
			 w->blame_ns[WHY_META];

	return w->loaders.n && w->waited_ns >= 0.1 * w->window_ns && busy_ns >= 0.5 * w->waited_ns
		       ? w->cpu_idle_percent / 100
		       : 0;
}

static void tell_too_few_workers(struct report *r, struct finding *f)
{
	const struct why *w = r->why;

	finding_tell(
		f,
		"%.0f %% of the machine's CPU time was not used, while trainers waited %.1f %% of "
		"theirs and loaders were busy",
		w->cpu_idle_percent, rules_percent(w->waited_ns, w->window_ns));
	tell_when(r, f);
}

/* --- the trainer ------------------------------------------------------------------------------ */

static double checkpoint_blocks(const struct report *r)
{
	const struct why *w = r->why;
	double own_ns = 0;

	for (uint32_t i = 0; i < w->n_trainers; i++)
		own_ns += (double)w->trainer[i].own_ns[WHY_WRITE];
	return w->window_ns > 0 ? own_ns / w->window_ns : 0;
}

static void tell_checkpoint_blocks(struct report *r, struct finding *f)
{
	const struct why_longest *top = &r->why->longest[WHY_WRITE];

	finding_tell(f, "main threads that train wrote and synced files in %.1f %% of the time "
			"that is looked at",
		     100 * checkpoint_blocks(r));
	for (unsigned int i = 0; i < top->n; i++) {
		autofree char *path = top->call[i].fid ? report_path(r, top->call[i].fid) : NULL;

		finding_tell(f, "%s from %.3f s on, process %u, %s", FMT_NS(top->call[i].lat_ns),
			     rules_seconds(r, top->call[i].end_ns - top->call[i].lat_ns),
			     top->call[i].pid, path ? path : "no file");
	}
}

static double sync_often(const struct report *r)
{
	const struct why_sums *s = sums(r);

	return part(s->sync_ns,
		    s->sync_ns + s->open_ns + s->meta_ns + s->read_files_ns + s->write_files_ns,
		    NSEC_PER_SEC);
}

static void tell_sync_often(struct report *r, struct finding *f)
{
	finding_tell(f, "%s syncs took %s; writes %s", FMT_COUNT(sums(r)->syncs),
		     FMT_NS(sums(r)->sync_ns), FMT_NS(sums(r)->write_files_ns));
	tell_when(r, f);
}

static double stdout_heavy(const struct report *r)
{
	return sums(r)->stdout_writes >= MANY
		       ? part(sums(r)->stdout_bytes, sums(r)->written_bytes, 1)
		       : 0;
}

static void tell_stdout_heavy(struct report *r, struct finding *f)
{
	finding_tell(f, "%s of %s written went to standard output and error, in %s writes that "
			"took %s",
		     FMT_BYTES(sums(r)->stdout_bytes), FMT_BYTES(sums(r)->written_bytes),
		     FMT_COUNT(sums(r)->stdout_writes), FMT_NS(sums(r)->stdout_ns));
	tell_when(r, f);
}

const struct rule rules_of_access[] = {
	{ .code = "cache-too-small",
	  .title = "Data was read from disk again",
	  .threshold = 0.1,
	  .needs = RULE_RW | RULE_ACCOUNT,
	  .is_share = true,
	  .measure = cache_too_small,
	  .tell = tell_cache_too_small,
	  .advice = "The data set is larger than the page cache: shard it over nodes, shrink it, "
		    "or keep a copy on a local disk." },
	{ .code = "checkpoint-blocks",
	  .title = "Training stands still while a checkpoint is written",
	  .threshold = 0.05,
	  .needs = RULE_RW | RULE_WAITS | RULE_TRAINS,
	  .is_share = true,
	  .measure = checkpoint_blocks,
	  .tell = tell_checkpoint_blocks,
	  .advice = "Write checkpoints from another thread or process, to memory or a local disk "
		    "first." },
	{ .code = "failed-opens",
	  .title = "Most opens fail",
	  .threshold = 0.5,
	  .needs = RULE_OPEN,
	  .is_share = true,
	  .measure = failed_opens,
	  .tell = tell_failed_opens,
	  .advice = "Shorten search paths (PYTHONPATH, LD_LIBRARY_PATH), above all on network file "
		    "systems." },
	{ .code = "loader-cpu-bound",
	  .title = "Data loaders are short of CPU",
	  .threshold = 0.8,
	  .needs = 0,
	  .is_share = true,
	  .measure = loader_cpu_bound,
	  .tell = tell_loader_cpu_bound,
	  .advice = "More workers where CPUs are idle; a faster decoder, smaller samples, or "
		    "decoding on the GPU where they are not." },
	{ .code = "metadata-time",
	  .title = "Much of the time on files goes to opens and metadata",
	  .threshold = 0.3,
	  .needs = RULE_RW | RULE_OPEN,
	  .is_share = true,
	  .measure = metadata_time,
	  .tell = tell_metadata_time,
	  .advice =
		  "Pack small files into large ones, keep files open, cache listings of folders." },
	{ .code = "misaligned",
	  .title = "Reads and writes do not begin at pages",
	  .threshold = 0.1,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = misaligned,
	  .tell = tell_misaligned,
	  .advice = "Pad records to 4096 bytes where reads are random, direct, or of a parallel "
		    "file system." },
	{ .code = "no-readahead",
	  .title = "Sequential reads gain nothing from read-ahead",
	  .threshold = 0.5,
	  .needs = RULE_RW | RULE_ACCOUNT,
	  .is_share = true,
	  .measure = no_readahead,
	  .tell = tell_no_readahead,
	  .advice = "Look at read_ahead_kb of the disk, and for POSIX_FADV_RANDOM or O_DIRECT in "
		    "the loader; read more at a time." },
	{ .code = "open-storm",
	  .title = "Many small files are opened",
	  .threshold = 1000,
	  .needs = RULE_OPEN | RULE_RW,
	  .measure = open_storm,
	  .tell = tell_open_storm,
	  .advice = "Pack samples into shards of 100 MiB and more." },
	{ .code = "random-reads",
	  .title = "Reads jump within files",
	  .threshold = 0.2,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = random_reads,
	  .tell = tell_random_reads,
	  .advice = "Shuffle shards and within a buffer rather than single records; or read "
		    "records whole and large." },
	{ .code = "read-intensive",
	  .title = "Nearly all bytes are read",
	  .threshold = 0.9,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = read_intensive,
	  .tell = tell_balance,
	  .advice = "As training goes. What helps is what reads profit from: page cache, "
		    "read-ahead, local copies." },
	{ .code = "redundant-reads",
	  .title = "The same bytes are read more than once in an epoch",
	  .threshold = 0.1,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = redundant_reads,
	  .tell = tell_redundant_reads,
	  .advice = "Keep what is read in memory, share it between workers, and look for headers "
		    "and indexes that are read for each sample." },
	{ .code = "slow-worker",
	  .title = "One worker takes longer for a sample than the others",
	  .threshold = 2,
	  .needs = RULE_RW | RULE_OPEN,
	  .measure = slow_worker,
	  .tell = tell_slow_worker,
	  .advice = "See what its files have in common: size, folder, disk." },
	{ .code = "small-reads",
	  .title = "Reads that go to the disk are small",
	  .threshold = 0.1,
	  .needs = RULE_RW | RULE_ACCOUNT,
	  .is_share = true,
	  .measure = small_reads,
	  .tell = tell_small_reads,
	  .advice = "Read samples whole, or records of many samples; buffers of 1 MiB are not too "
		    "large." },
	{ .code = "small-writes",
	  .title = "Writes are small",
	  .threshold = 0.1,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = small_writes,
	  .tell = tell_small_writes,
	  .advice = "Write through a larger buffer." },
	{ .code = "stdout-heavy",
	  .title = "Much is written to standard output",
	  .threshold = 0.1,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = stdout_heavy,
	  .tell = tell_stdout_heavy,
	  .advice = "Log less often, or to a buffered file." },
	{ .code = "straggler-data",
	  .title = "One worker reads more than the others",
	  .threshold = 1.5,
	  .needs = RULE_RW,
	  .measure = straggler_data,
	  .tell = tell_straggler_data,
	  .advice = "Deal samples out by their size." },
	{ .code = "sync-often",
	  .title = "Much of the time on files goes to syncs",
	  .threshold = 0.3,
	  .needs = RULE_SYNC | RULE_RW,
	  .is_share = true,
	  .measure = sync_often,
	  .tell = tell_sync_often,
	  .advice = "Sync once behind the last write of a file, not behind each." },
	{ .code = "tiny-reads",
	  .title = "Reads are tiny",
	  .threshold = 0.1,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = tiny_reads,
	  .tell = tell_tiny_reads,
	  .advice = "Open files with a buffer, or map them." },
	{ .code = "too-few-workers",
	  .title = "CPUs are idle while training waits for loaders",
	  .threshold = 0.3,
	  .needs = RULE_CPU | RULE_WAITS | RULE_TRAINS,
	  .is_share = true,
	  .measure = too_few_workers,
	  .tell = tell_too_few_workers,
	  .advice = "Use more loaders (num_workers), and let them prefetch more." },
	{ .code = "write-intensive",
	  .title = "More is written than read",
	  .threshold = 0.5,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = write_intensive,
	  .tell = tell_balance,
	  .advice = "Write checkpoints and logs less often, or smaller." },
	{ .code = NULL },
};
