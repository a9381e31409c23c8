/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the tables of rules: sums of all rows, sizes and evidence. */
#ifndef REPORT_RULES_RULES_IMPL_H
#define REPORT_RULES_RULES_IMPL_H

#include <stdint.h>

#include "report/rules/rules.h"
#include "report/scan/model.h"
#include "report/why/why.h"

#define MANY 1000 /* for most rules, fewer calls do not matter */
#define MiB (1024.0 * 1024)

/* When an answer has the code failed. */
#define RULES_FAILED_NUMBER                                                                                 \
	"the job ended by an error within 0.5 s, with status 126 or 127, or right after a failure; or 0.1 " \
	"of the time, else unexplained, were sleeps behind failing calls or waits behind a failed process"

/* Which of the bytes a rule is about. */
enum rules_side { SIDE_READ, SIDE_WRITTEN };

/* The sums of all rows. */
static inline const struct why_sums *sums(const struct report *r)
{
	return &r->why->sums;
}

/* Returns PART / WHOLE when PART is at least LEAST, else 0. */
static inline double part(uint64_t part, uint64_t whole, double least)
{
	return whole && (double)part >= least ? (double)part / (double)whole : 0;
}

/* --- how much of the job ------------------------------------------------------------------------- */

/*
 * Returns the job's time that PART_NS of calls of KIND cost: a part of the path's time in such calls, or, where that is
 * not known, of the time with such a call.
 */
struct finding_size rules_size(const struct report *r, enum why_kind kind, uint64_t part_ns);
/* Returns the cost of PART_NS of calls of all kinds. */
struct finding_size rules_size_of_all(const struct report *report, double part_ns);
/* Returns the cost of BYTES, as a part of all bytes that were read or written. */
struct finding_size rules_size_of_bytes(const struct report *r, enum why_kind kind, uint64_t bytes);
/* Returns PART of the path's time, or, without a path, of the job's. */
struct finding_size rules_size_of_share(const struct report *report, double part);
/* Returns the cost of all reads; of all writes. */
struct finding_size rules_size_of_reads(const struct report *r);
struct finding_size rules_size_of_writes(const struct report *r);
/* Returns NS as a part of the job's duration. */
struct finding_size rules_size_of_life(const struct report *r, double ns);
/*
 * Returns the part of the path's time in leaves of KINDS, bits, in processes of ROLES, likewise; NAN: there is no path,
 * or too much of it is not known.
 */
double rules_path_part(const struct report *report, uint64_t kinds, uint32_t roles);

/* Returns the disk from which the job's reads took the most time, whatever others read; NULL: it read from none. */
const struct report_disk *rules_disk_of_reads(const struct report *r);
/* Whether the job's reads of a disk waited behind its own writes to it (own_writes.c); adds the file with most of them.
 */
bool rules_own_writes(const struct report *report);
void rules_show_own_writes(struct report *report, struct finding *finding);

/* Shows how long the GPU that the others wait for was idle, and what the job did meanwhile, by its path (gpu.c). */
void rules_show_gpu(struct report *report, struct finding *finding);
struct shares;
struct cause;
/*
 * Returns by how much the job would be shorter if none of its loaders was slower than the others of its generation, ns,
 * if that is most of CAUSE, else 0 (straggler.c); shows the slow one.
 */
uint64_t rules_straggler_ns(const struct shares *shares, const struct cause *cause);
void rules_show_straggler(struct report *report, struct finding *finding);
/* Shows who has limited the CPUs that the job may use (cpu_limit.c). */
void rules_show_cpu_limit(struct report *report, struct finding *finding);
struct report_cgroup;
/* Adds a line for each of the job's cgroups that has REACHED a limit, with its TEXT, by the samples of cgroup.out. */
void rules_show_cgroups(struct report *report, struct finding *finding, bool (*reached)(const struct report_cgroup *),
			const char *(*text)(const struct report_cgroup *, char *, size_t));
/* Shows the smallest quota of the job's cgroups, as far as the trace has it (cpu_limit.c). */
void rules_show_cpu_quota(struct report *report, struct finding *finding);
/* Returns how long of WALL_NS a disk was at its limit, if that is most of it, else 0 (saturated.c); shows that disk. */
uint64_t rules_saturated_ns(const struct report *report, uint64_t wall_ns);
void rules_show_saturated(struct report *report, struct finding *finding);

/* Add a line of evidence: the time of the trace; the file with the most bytes of SIDE. */
void rules_show_when(struct report *r, struct finding *f);
void rules_show_files(const struct report *report, struct finding *finding, enum rules_side side);
/* Adds the line "WHAT: PART of WHOLE OF", then the time of the trace and the file with the most bytes of SIDE. */
void rules_show_counts(struct report *r, struct finding *f, enum rules_side side, const char *what, uint64_t part,
		       const char *of, uint64_t whole);

#endif
