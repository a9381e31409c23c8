/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules about files that several processes use, about writes that jump or repeat, and about how many calls there
 * are.
 */
#include "report/rules/rules_impl.h"

#include "base/fmt.h"
#include "base/util.h"
#include "report/files/uses.h"
#include "report/scan/lookup.h"

/* --- files of several processes --------------------------------------------------------------- */

static double small_shared(const struct report *r)
{
	return sums(r)->small_shared >= MANY ? part(sums(r)->small_shared, sums(r)->shared, MANY) : 0;
}

static struct finding_size size_of_small_shared(const struct report *r)
{
	return rules_size_of_all(r, (double)sums(r)->small_shared_ns);
}

static void show_small_shared(struct report *report, struct finding *finding)
{
	const struct report_uses *uses = report->uses;

	finding_add(finding,
		    "%s of %s reads and writes of files that several processes use in one epoch were of less than 64 "
		    "KiB (%.1f %%)",
		    FMT_COUNT(sums(report)->small_shared), FMT_COUNT(sums(report)->shared),
		    rules_percent((double)sums(report)->small_shared, (double)sums(report)->shared));
	for (unsigned int i = 0; uses && i < report->n_top_bytes; i++)
		if (report->top_bytes[i].sum.users > 1 && report->top_bytes[i].sum.data && report->top_bytes[i].path) {
			finding_add(finding, "such a file: %s, %u processes, %s read, %s written",
				    report->top_bytes[i].path, report->top_bytes[i].sum.users,
				    FMT_BYTES(report->top_bytes[i].sum.read_bytes),
				    FMT_BYTES(report->top_bytes[i].sum.write_bytes));
			break;
		}
	rules_show_when(report, finding);
}

/* Bytes of one file that processes of one role moved: loaders of a generation, or trainers. */
struct portion {
	uint64_t fid, most, least, most_pid, least_pid;
	uint32_t n;
};

/* Whether PID has a role in which others should do as much as it does; *ROLE is that role. */
static bool role_of(const struct why *w, uint64_t pid, uint64_t *role)
{
	const struct why_loader *const *l = table_find(&w->loaders, pid);

	*role = l && *l ? (*l)->generation + 1ULL : 0;
	for (uint32_t i = 0; !*role && i < w->n_trainers; i++)
		if (w->trainer[i].pid == pid)
			return true;
	return *role != 0;
}

static void add_portion(struct table *portions, uint64_t fid, uint64_t role, uint64_t pid, uint64_t bytes)
{
	struct portion *portion = table_get(portions, fid << 24 ^ role);

	if (!portion)
		return;
	portion->fid = fid;
	if (!portion->n || bytes > portion->most) {
		portion->most = bytes;
		portion->most_pid = pid;
	}
	if (!portion->n || bytes < portion->least) {
		portion->least = bytes;
		portion->least_pid = pid;
	}
	portion->n++;
}

static double unevenness(const struct portion *p)
{
	return p->n > 1 && (double)p->most >= 16 * MiB ? 1 - (double)p->least / (double)p->most : 0;
}

/* Returns the largest difference within a role, and its portion in *RET. */
static double most_uneven(const struct report *report, struct portion *ret)
{
	const struct table *uses = report->uses ? &report->uses->uses : NULL;
	struct table portions;
	double worst = 0;

	table_init(&portions, sizeof(struct portion), 1U << 16);
	for (uint32_t i = 0; uses && i < uses->n; i++) {
		const struct report_use *use = table_at(uses, i);
		uint64_t pid = report_pair_pid(uses->keys[i]), fid = report_pair_fid(uses->keys[i]), role;
		const struct report_file *file = table_find(&report->files, fid);
		uint64_t bytes = use->read_bytes + use->write_bytes;

		if (bytes && file && file->data && file->users > 1 &&
		    (double)(file->read_bytes + file->write_bytes) >= 16 * MiB && role_of(report->why, pid, &role))
			add_portion(&portions, fid, role, pid, bytes);
	}
	for (uint32_t i = 0; i < portions.n; i++) {
		const struct portion *p = table_at(&portions, i);

		if (unevenness(p) <= worst)
			continue;
		worst = unevenness(p);
		*ret = *p;
	}
	table_free(&portions);
	return worst;
}

static double file_imbalance(const struct report *r)
{
	struct portion p;

	return most_uneven(r, &p);
}

/* The cost of the bytes by which one process moved more than the other. */
static struct finding_size size_of_imbalance(const struct report *report)
{
	const struct why_sums *why_sums = sums(report);
	const double all = (double)(why_sums->read_bytes + why_sums->write_bytes),
		     ns = (double)(why_sums->read_files_ns + why_sums->write_files_ns);
	struct portion p = { 0 };
	struct finding_size size;
	double more;

	most_uneven(report, &p);
	more = (double)(p.most - p.least);
	size = rules_size_of_all(report, all > 0 ? ns * MIN(more / all, 1) : 0);
	size.bytes = more;
	return size;
}

static void show_file_imbalance(struct report *report, struct finding *finding)
{
	struct portion p;
	autofree char *path = NULL;

	if (most_uneven(report, &p) <= 0)
		return;
	path = report_path_of(report, p.fid, NULL, 0);
	finding_add(finding, "%s: process %u read and wrote %s of it, process %u only %s, of %u that do the same",
		    path ? path : "a file", (unsigned int)p.most_pid, FMT_BYTES(p.most), (unsigned int)p.least_pid,
		    FMT_BYTES(p.least), p.n);
	rules_show_when(report, finding);
}

/* --- writes ----------------------------------------------------------------------------------- */

static double random_writes(const struct report *r)
{
	return part(sums(r)->placed_writes - sums(r)->sequential_writes, sums(r)->placed_writes, MANY);
}

static struct finding_size size_of_write_jumps(const struct report *r)
{
	return rules_size(r, WHY_WRITES, sums(r)->write_jumps_ns);
}

static void show_random_writes(struct report *r, struct finding *f)
{
	rules_show_counts(r, f, SIDE_WRITTEN, "not where the process's last write of the file ended",
			  sums(r)->placed_writes - sums(r)->sequential_writes, "writes that could have been",
			  sums(r)->placed_writes);
}

/* As redundant_reads(): where no epochs are known, a checkpoint may replace the last one, so that is not a problem. */
static double redundant_writes(const struct report *r)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < r->why->n_epochs; i++)
		all += r->why->epoch[i].write_bytes;
	return r->why->by_epoch ? part(sums(r)->rewritten_bytes, all, 16 * MiB) : 0;
}

static struct finding_size size_of_rewritten(const struct report *r)
{
	return rules_size_of_bytes(r, WHY_WRITES, sums(r)->rewritten_bytes);
}

static void show_redundant_writes(struct report *r, struct finding *f)
{
	finding_add(f, "%s were written a second time within an epoch, of %u epochs",
		    FMT_BYTES(sums(r)->rewritten_bytes), r->why->n_epochs);
	rules_show_files(r, f, SIDE_WRITTEN);
	rules_show_when(r, f);
}

/* --- how many calls --------------------------------------------------------------------------- */

static double read_often(const struct report *r)
{
	return part(sums(r)->reads, sums(r)->reads + sums(r)->writes, MANY);
}

static double write_often(const struct report *r)
{
	return part(sums(r)->writes, sums(r)->reads + sums(r)->writes, MANY);
}

static void show_calls(struct report *r, struct finding *f)
{
	finding_add(f, "%s of %s on average, %s of %s, of files", FMT_N(sums(r)->reads, "read", "reads"),
		    FMT_BYTES(sums(r)->reads ? sums(r)->read_bytes / sums(r)->reads : 0),
		    FMT_N(sums(r)->writes, "write", "writes"),
		    FMT_BYTES(sums(r)->writes ? sums(r)->write_bytes / sums(r)->writes : 0));
	rules_show_when(r, f);
}

const struct rule rules_of_sharing[] = {
	{ .code = "file-imbalance",
	  .title = "One process moved much more of a shared file than another",
	  .number = "of a file that several loaders or trainers share: 1 less the bytes of the process that moved "
		    "least, as a part of those of the process that moved most; at least 16 MiB",
	  .threshold = 0.3,
	  .needs = RULE_RW | RULE_TRAINS,
	  .is_share = false,
	  .measure = file_imbalance,
	  .size = size_of_imbalance,
	  .evidence = show_file_imbalance,
	  .advice = "Deal the parts of shared files out evenly, or give each process files of its own." },
	{ .code = "random-writes",
	  .title = "Writes jump within files",
	  .number = "writes that continue neither where the descriptor's last write ended nor at the file's end, "
		    "among those that could",
	  .threshold = 0.2,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = random_writes,
	  .size = size_of_write_jumps,
	  .evidence = show_random_writes,
	  .advice = "Write a file from beginning to end, or gather what belongs together in memory first." },
	{ .code = "read-often",
	  .title = "Nearly all calls that move bytes are reads",
	  .number = "reads, among all reads and writes",
	  .threshold = 0.9,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = read_often,
	  .size = rules_size_of_reads,
	  .is_fact = true,
	  .evidence = show_calls,
	  .advice = "Most training does so. Fewer and larger reads cost less: read samples whole, or map files." },
	{ .code = "redundant-writes",
	  .title = "The same bytes are written more than once in an epoch",
	  .number = "bytes written beyond the highest byte that was written of a file in an epoch, among all written "
		    "in it; at least 16 MiB; where epochs are known",
	  .threshold = 0.1,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = redundant_writes,
	  .size = size_of_rewritten,
	  .evidence = show_redundant_writes,
	  .advice = "Write what changed once it is complete; look for headers and indexes that are written again for "
		    "each part." },
	{ .code = "small-shared",
	  .title = "Files that several processes share are read and written in small pieces",
	  .number = "reads and writes of less than 64 KiB, among those of files in which several processes take turns "
		    "in an epoch; not of whole files",
	  .threshold = 0.1,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = small_shared,
	  .size = size_of_small_shared,
	  .evidence = show_small_shared,
	  .advice =
		  "Read and write shared files in pieces of 1 MiB and more, or let one process do it for the others." },
	{ .code = "write-often",
	  .title = "There are more writes than reads",
	  .number = "writes, among all reads and writes",
	  .threshold = 0.6,
	  .needs = RULE_RW,
	  .is_share = true,
	  .measure = write_often,
	  .size = rules_size_of_writes,
	  .is_fact = true,
	  .evidence = show_calls,
	  .advice = "Write through a larger buffer, and less often." },
	{ .code = NULL },
};
