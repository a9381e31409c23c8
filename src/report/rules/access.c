/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules about how data is read and written, whether the job waited for it or not. */
#include "report/rules/rules_impl.h"

#include "base/fmt.h"
#include "report/disk/cache.h"

/* --- sizes ------------------------------------------------------------------------------------ */

static double small_reads(const struct report *r)
{
	return part(sums(r)->small_disk_reads, sums(r)->disk_reads, MANY);
}

static struct finding_size size_of_small_reads(const struct report *r)
{
	return rules_size(r, WHY_READS, sums(r)->small_disk_reads_ns);
}

static void show_small_reads(struct report *r, struct finding *f)
{
	rules_show_counts(r, f, SIDE_READ, "asked for less than 64 KiB", sums(r)->small_disk_reads,
			  "reads that went to a disk", sums(r)->disk_reads);
}

static double tiny_reads(const struct report *r)
{
	return part(sums(r)->tiny_reads, sums(r)->reads, MANY);
}

static struct finding_size size_of_tiny_reads(const struct report *r)
{
	return rules_size(r, WHY_READS, sums(r)->tiny_reads_ns);
}

static void show_tiny_reads(struct report *r, struct finding *f)
{
	rules_show_counts(r, f, SIDE_READ, "asked for less than 4 KiB", sums(r)->tiny_reads, "reads of files",
			  sums(r)->reads);
}

static double small_writes(const struct report *r)
{
	return part(sums(r)->small_writes, sums(r)->writes, MANY);
}

/* A write of a whole small file cannot be larger, so only the time of other small writes counts. */
static struct finding_size size_of_small_writes(const struct report *r)
{
	const struct why_sums *s = sums(r);
	const double counted = s->all_small_writes ? (double)s->small_writes / (double)s->all_small_writes : 0;

	return rules_size(r, WHY_WRITES, (uint64_t)(counted * (double)s->small_writes_ns));
}

static void show_small_writes(struct report *r, struct finding *f)
{
	rules_show_counts(r, f, SIDE_WRITTEN, "wrote less than 64 KiB", sums(r)->small_writes, "writes of files",
			  sums(r)->writes);
}

static double misaligned(const struct report *r)
{
	return part(sums(r)->misaligned, sums(r)->with_offset, MANY);
}

static struct finding_size size_of_misaligned(const struct report *r)
{
	return rules_size(r, WHY_READS, sums(r)->misaligned_ns);
}

static void show_misaligned(struct report *r, struct finding *f)
{
	rules_show_counts(r, f, SIDE_READ, "not at a multiple of 4096 bytes", sums(r)->misaligned, "reads and writes",
			  sums(r)->with_offset);
	if (sums(r)->direct)
		finding_add(f, "with O_DIRECT: %s of %s", FMT_COUNT(sums(r)->direct_misaligned),
			    FMT_COUNT(sums(r)->direct));
}

/* --- order ------------------------------------------------------------------------------------ */

static double random_reads(const struct report *r)
{
	return part(sums(r)->placed - sums(r)->sequential, sums(r)->placed, MANY);
}

static struct finding_size size_of_jumps(const struct report *r)
{
	return rules_size(r, WHY_READS, sums(r)->jumps_ns);
}

static void show_random_reads(struct report *r, struct finding *f)
{
	rules_show_counts(r, f, SIDE_READ, "not where the process's last read of the file ended",
			  sums(r)->placed - sums(r)->sequential, "reads that could have been", sums(r)->placed);
}

static double no_readahead(const struct report *r)
{
	return part(sums(r)->sequential_disk, sums(r)->sequential_small, MANY);
}

static struct finding_size size_of_no_readahead(const struct report *r)
{
	return rules_size(r, WHY_READS, sums(r)->sequential_disk_ns);
}

static void show_no_readahead(struct report *r, struct finding *f)
{
	rules_show_counts(r, f, SIDE_READ, "went to the disk anyway", sums(r)->sequential_disk,
			  "sequential reads of less than 128 KiB", sums(r)->sequential_small);
}

/* --- repeats ---------------------------------------------------------------------------------- */

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

/* Where no epochs are known, reading everything once more may be the next epoch, so it is not a problem. */
static double redundant_reads(const struct report *r)
{
	uint64_t all, again = again_in_epochs(r, &all);

	return r->why->by_epoch ? part(again, all, 16 * MiB) : 0;
}

static struct finding_size size_of_redundant_reads(const struct report *r)
{
	uint64_t all;

	return rules_size_of_bytes(r, WHY_READS, again_in_epochs(r, &all));
}

static void show_redundant_reads(struct report *r, struct finding *f)
{
	uint64_t all, again = again_in_epochs(r, &all);

	finding_add(f, "%s of %s were read a second time within an epoch, of %u epochs", FMT_BYTES(again),
		    FMT_BYTES(all), r->why->n_epochs);
	rules_show_files(r, f, SIDE_READ);
	rules_show_when(r, f);
}

static double cache_too_small(const struct report *r)
{
	const struct report_cache *c = r->cache;

	if (c && c->present)
		return part(c->all.again, report_cache_in(&c->all), 16 * MiB / (double)c->page_bytes);
	return part(sums(r)->again_disk_bytes, sums(r)->disk_bytes, 16 * MiB);
}

/* The cost of bytes that were fetched again: each takes the mean time of all bytes from disks. */
static struct finding_size size_of_disk_again(const struct report *r)
{
	const struct why_sums *s = sums(r);
	struct finding_size size = rules_size(r, WHY_READS, (uint64_t)(cache_too_small(r) * (double)s->disk_reads_ns));

	size.bytes = r->cache && r->cache->present ? (double)(r->cache->all.again * r->cache->page_bytes) :
						     (double)s->again_disk_bytes;
	return size;
}

static void show_cache_too_small(struct report *report, struct finding *finding)
{
	const struct report_cache *cache = report->cache;
	const bool exact = cache && cache->present;

	finding_add(finding,
		    "%s of the %s that came from disk had come before, and were no longer in "
		    "the page cache",
		    FMT_BYTES(exact ? cache->all.again * cache->page_bytes : sums(report)->again_disk_bytes),
		    FMT_BYTES(exact ? report_cache_in(&cache->all) * cache->page_bytes : sums(report)->disk_bytes));
	if (exact)
		finding_add(finding, "%.1f %% of the pages that calls read were in the page cache; %s left it",
			    rules_percent((double)cache->all.sum[CACHE_HIT],
					  (double)(cache->all.sum[CACHE_HIT] + cache->all.sum[CACHE_MISS])),
			    FMT_BYTES(cache->all.sum[CACHE_EVICTED] * cache->page_bytes));
	rules_show_files(report, finding, SIDE_READ);
	rules_show_when(report, finding);
}

static double read_intensive(const struct report *r)
{
	return part(sums(r)->read_bytes, sums(r)->read_bytes + sums(r)->write_bytes, 100 * MiB);
}

static double write_intensive(const struct report *r)
{
	return part(sums(r)->write_bytes, sums(r)->read_bytes + sums(r)->write_bytes, 100 * MiB);
}

static void show_balance(struct report *r, struct finding *f)
{
	finding_add(f, "%s read in %s, %s written in %s, of files", FMT_BYTES(sums(r)->read_bytes),
		    FMT_N(sums(r)->reads, "read", "reads"), FMT_BYTES(sums(r)->write_bytes),
		    FMT_N(sums(r)->writes, "write", "writes"));
	rules_show_files(r, f, sums(r)->read_bytes >= sums(r)->write_bytes ? SIDE_READ : SIDE_WRITTEN);
	rules_show_when(r, f);
}

/* --- standard output -------------------------------------------------------------------------- */

static double stdout_heavy(const struct report *r)
{
	return sums(r)->stdout_writes >= MANY ? part(sums(r)->stdout_bytes, sums(r)->written_bytes, 1) : 0;
}

static struct finding_size size_of_stdout(const struct report *r)
{
	struct finding_size size = rules_size_of_life(r, (double)sums(r)->stdout_ns);

	size.bytes = (double)sums(r)->stdout_bytes;
	return size;
}

static void show_stdout_heavy(struct report *r, struct finding *f)
{
	finding_add(f,
		    "%s of %s written went to standard output and error for people to read, in %s that "
		    "took %s",
		    FMT_BYTES(sums(r)->stdout_bytes), FMT_BYTES(sums(r)->written_bytes),
		    FMT_N(sums(r)->stdout_writes, "write", "writes"), FMT_NS(sums(r)->stdout_ns));
	rules_show_when(r, f);
}

const struct rule rules_of_access[] = {
	{ .code = "cache-too-small",
	  .title = "Data was read from disk again",
	  .number = "bytes that came from disk more than once, among all bytes from disk, without O_DIRECT; with "
		    "cache.out pages, those of page faults too; at least 16 MiB",
	  .threshold = 0.1,
	  .needs = RULE_RW | RULE_ACCOUNT,
	  .is_share = true,
	  .measure = cache_too_small,
	  .size = size_of_disk_again,
	  .evidence = show_cache_too_small,
	  .advice = "The data set is larger than the page cache: shard it over nodes, shrink it, "
		    "or keep a copy on a local disk." },
	{ .code = "misaligned",
	  .title = "Reads and writes do not begin at page boundaries",
	  .number = "reads and writes that do not begin at a multiple of 4096 bytes (with O_DIRECT, or do not have "
		    "such a size), among those with an offset",
	  .threshold = 0.1,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = misaligned,
	  .size = size_of_misaligned,
	  .evidence = show_misaligned,
	  .advice = "Pad records to 4096 bytes where reads are random, direct, or of a parallel "
		    "file system." },
	{ .code = "no-readahead",
	  .title = "Sequential reads gain nothing from read-ahead",
	  .number = "sequential reads below 128 KiB that fetched exactly what they asked for, among all sequential "
		    "reads below 128 KiB",
	  .threshold = 0.5,
	  .needs = RULE_RW | RULE_ACCOUNT,
	  .is_share = true,
	  .measure = no_readahead,
	  .size = size_of_no_readahead,
	  .evidence = show_no_readahead,
	  .advice = "Look at read_ahead_kb of the disk, and for POSIX_FADV_RANDOM or O_DIRECT in "
		    "the loader; read more at a time." },
	{ .code = "random-reads",
	  .title = "Reads jump within files",
	  .number = "reads that do not begin where the descriptor's last read of the file ended, among those that "
		    "could",
	  .threshold = 0.2,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = random_reads,
	  .size = size_of_jumps,
	  .evidence = show_random_reads,
	  .advice = "Shuffle shards and within a buffer rather than single records; or read "
		    "records whole and large." },
	{ .code = "read-intensive",
	  .title = "Nearly all bytes are read",
	  .number = "bytes read, among all bytes; at least 100 MiB",
	  .threshold = 0.9,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = read_intensive,
	  .size = rules_size_of_reads,
	  .is_fact = true,
	  .evidence = show_balance,
	  .advice = "Most training does so. What helps is what reads profit from: page cache, "
		    "read-ahead, local copies." },
	{ .code = "redundant-reads",
	  .title = "The same bytes are read more than once in an epoch",
	  .number = "bytes read beyond the highest byte that was read of a file in an epoch, among all read in it; at "
		    "least 16 MiB; where epochs are known",
	  .threshold = 0.1,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = redundant_reads,
	  .size = size_of_redundant_reads,
	  .evidence = show_redundant_reads,
	  .advice = "Keep what is read in memory, share it between workers, and look for headers "
		    "and indexes that are read for each sample." },
	{ .code = "small-reads",
	  .title = "Reads that go to the disk are small",
	  .number = "reads that asked for less than 64 KiB and fetched less, among reads that fetched from disk; not "
		    "of whole files",
	  .threshold = 0.1,
	  .needs = RULE_RW | RULE_ACCOUNT,
	  .is_share = true,
	  .measure = small_reads,
	  .size = size_of_small_reads,
	  .evidence = show_small_reads,
	  .advice = "Read samples whole, or records of many samples; buffers of 1 MiB are not too "
		    "large." },
	{ .code = "small-writes",
	  .title = "Writes are small",
	  .number = "writes of less than 64 KiB, among all writes; not of whole files",
	  .threshold = 0.1,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = small_writes,
	  .size = size_of_small_writes,
	  .evidence = show_small_writes,
	  .advice = "Write through a larger buffer." },
	{ .code = "stdout-heavy",
	  .title = "Much is written to standard output",
	  .number = "bytes in writes of at most 8 KiB to descriptors 1 and 2 (not a pipe that the job reads, nor a "
		    "file other than a log), among all bytes written",
	  .threshold = 0.1,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = stdout_heavy,
	  .size = size_of_stdout,
	  .evidence = show_stdout_heavy,
	  .advice = "Log less often, or to a buffered file." },
	{ .code = "tiny-reads",
	  .title = "Reads are tiny",
	  .number = "reads that asked for less than 4 KiB, among all reads; not of whole files",
	  .threshold = 0.1,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = tiny_reads,
	  .size = size_of_tiny_reads,
	  .within = "small-reads",
	  .evidence = show_tiny_reads,
	  .advice = "Open files with a buffer, or map them." },
	{ .code = "write-intensive",
	  .title = "More is written than read",
	  .number = "bytes written, among all bytes; at least 100 MiB",
	  .threshold = 0.5,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = write_intensive,
	  .size = rules_size_of_writes,
	  .is_fact = true,
	  .evidence = show_balance,
	  .advice = "Write checkpoints and logs less often, or smaller." },
	{ .code = NULL },
};
