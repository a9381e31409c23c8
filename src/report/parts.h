/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a report, in the order in which their hooks are called. */
#ifndef REPORT_PARTS_H
#define REPORT_PARTS_H

struct report_part;

extern const struct report_part *const report_parts[]; /* ended by NULL */

/* Calls the hook HOOK of all parts that have it. */
#define report_each_part(hook, ...)                                                          \
	do {                                                                                 \
		for (const struct report_part *const *part_ = report_parts; *part_; part_++) \
			if ((*part_)->hook)                                                  \
				(*part_)->hook(__VA_ARGS__);                                 \
	} while (0)

#endif
