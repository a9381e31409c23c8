/* SPDX-License-Identifier: BSD-2-Clause */
/* report --compare: the measures of several traces side by side, with ratios to the first. */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

#include "report/scan/model.h"

#define COMPARE_MAX 64 /* traces */

struct rules;

struct compare_measure {
	char section[32], name[PHASE_LABEL_MAX + 32];
	const char *unit; /* ns, B, % or "" for a count */
	double value[COMPARE_MAX]; /* NAN: the trace does not have it */
};

struct compare {
	struct report *const *trace;
	unsigned int n; /* traces */
	struct compare_measure *measure; /* sorted by section */
	size_t n_measures;
};

/* Takes the measures of N traces, to be compared with the first; R must outlive C. Returns 0 or -ENOMEM. */
int compare_init(struct compare *compare, struct report *const *r, unsigned int n);
void compare_free(struct compare *c);

/* Returns the findings on trace R's job; NULL when it was not analyzed. */
const struct rules *compare_rules(const struct report *r);

/* Returns the ratio of trace I to the first; NAN where either is not known, or the first is 0. */
double compare_ratio(const struct compare_measure *m, unsigned int i);

void compare_text(const struct compare *compare, FILE *out);
struct json;
void compare_json(const struct compare *compare, struct json *json);
/*
 * As compare_json(), and with the timelines of all traces, which must have been loaded with theirs, on one axis that
 * counts from the begin of each: until a page with them fits into PAGE_BYTES_MAX, their bins become longer.
 */
void compare_fit(const struct compare *compare, struct json *json);

#endif
