/* SPDX-License-Identifier: BSD-2-Clause */
/* What the main processes waited, in numbers and in words: for the rules about that. */
#ifndef REPORT_WHY_WAITS_EVIDENCE_H
#define REPORT_WHY_WAITS_EVIDENCE_H

#include "report/scan/datasets.h"
#include "report/why/rules.h"
#include "report/why/why.h"

extern const char *const waits_state_texts[WHY_STATES];

/* NS as a part of the time that is looked at, 0 where there is none; and what was waited for in state S. */
double waits_share(const struct report *r, double ns);
double waits_part(const struct report *r, enum why_state s);

/* How much was waited, when, by what that is known, and for what; of a finding that is not the bottleneck its part alone. */
void waits_show(struct report *r, struct finding *f);
/* The two longest calls of a state, the first behind WHAT. */
void waits_show_longest(struct report *r, struct finding *f, enum why_state s, const char *what);
/* WHAT and the data set with the most BY; nothing where there is none. */
void waits_show_dataset(const struct report *r, struct finding *f, const char *what, enum dataset_by by);

#endif
