/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tables of rules share: sums of all rows, and evidence of them. */
#ifndef REPORT_WHY_RULES_IMPL_H
#define REPORT_WHY_RULES_IMPL_H

#include <stdint.h>

#include "report/scan/model.h"
#include "report/why/rules.h"
#include "report/why/why.h"

#define MANY 1000 /* most rules count what does not matter in a few: the least that does */
#define MiB (1024.0 * 1024)

/* Which of the bytes a rule is about. */
enum rules_side { SIDE_READ, SIDE_WRITTEN };

/* Of all rows. */
static inline const struct why_sums *sums(const struct report *r)
{
	return &r->why->sums;
}

/* PART of WHOLE, where there are at least LEAST of them; else 0. */
static inline double part(uint64_t part, uint64_t whole, double least)
{
	return whole && (double)part >= least ? (double)part / (double)whole : 0;
}

/* --- how much of the job ------------------------------------------------------------------------- */

/* What a part of the calls of KIND took of the job's time: of what was waited for them, else of when a process was in one. */
struct finding_size rules_size(const struct report *r, enum why_kind kind, uint64_t part_ns);
/* The same of all kinds. */
struct finding_size rules_size_of_all(const struct report *r, double part_ns);
/* That of BYTES of so many that are read or written. */
struct finding_size rules_size_of_bytes(const struct report *r, enum why_kind kind, uint64_t bytes);
/* PART of what is looked at of trainers, or else of the job's time. */
struct finding_size rules_size_of_share(const struct report *r, double part);
/* That of all that is read, or written. */
struct finding_size rules_size_of_reads(const struct report *r);
struct finding_size rules_size_of_writes(const struct report *r);
/* NS of the time that the job took. */
struct finding_size rules_size_of_life(const struct report *r, double ns);
/* It is known when the job waited, and that it did not wait unseen. */
bool rules_know_all_waits(const struct report *r);

/* Evidence, a line each: from when to when the trace is; the file with the most bytes of SIDE. */
void rules_show_when(struct report *r, struct finding *f);
void rules_show_files(const struct report *r, struct finding *f, enum rules_side side);
/* "WHAT: PART of WHOLE OF", and the two above. */
void rules_show_counts(struct report *r, struct finding *f, enum rules_side side, const char *what,
		       uint64_t part, const char *of, uint64_t whole);

#endif
