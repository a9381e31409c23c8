/* SPDX-License-Identifier: BSD-2-Clause */
/* The waits of the main processes, as numbers and as evidence, for the rules of waits. */
#ifndef REPORT_RULES_WAITS_EVIDENCE_H
#define REPORT_RULES_WAITS_EVIDENCE_H

#include "report/files/datasets.h"
#include "report/rules/rules.h"
#include "report/why/why.h"

extern const char *const waits_state_texts[WHY_STATES];

/*
 * The first returns NS as a part of the windows, 0 without any; the second the part of them with waits because of state
 * S.
 */
double waits_share(const struct report *r, double ns);
double waits_part(const struct report *r, enum why_state s);

/* Adds how long the trainers waited, when, by which source, and for what; if FINDING is not the bottleneck, only
 * FINDING's part. */
void waits_show(struct report *report, struct finding *finding);
/* Adds the two longest calls of a state; WHAT introduces the first. */
void waits_show_longest(struct report *report, struct finding *finding, enum why_state s, const char *what);
/* Adds WHAT and the data set with the most BY, if there is one. */
void waits_show_dataset(const struct report *report, struct finding *finding, const char *what, enum dataset_by by);

#endif
