/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines about steps of the training ("loss = 2.3, step = 100"), of programs that count no epochs: they show when the
 * job trained. Pure.
 */
#ifndef REPORT_PHASES_STEP_LINES_H
#define REPORT_PHASES_STEP_LINES_H

#include <stdint.h>

struct phase_entry;

struct step_lines {
	uint64_t n;
	uint64_t first_ns, last_ns; /* of the first line, and of the last */
	int64_t first, last, each; /* their steps, and the steps between the first two lines; 0: not known */
};

void step_lines_add(struct step_lines *lines, const struct phase_entry *entry);

/*
 * Returns when training began, by the time that the steps took of which the first line is the last; 0: no two lines
 * show that time.
 */
uint64_t step_lines_begin(const struct step_lines *l);

#endif
