/* SPDX-License-Identifier: BSD-2-Clause */
/* The state while the phases of one folder are read: shared by read.c and log.c. */
#ifndef REPORT_PHASES_READ_IMPL_H
#define REPORT_PHASES_READ_IMPL_H

#include "base/util.h"
#include "report/phases/clock.h"
#include "report/phases/options.h"
#include "report/phases/phases.h"

struct phase_reader {
	struct phases *phases;
	const struct phases_options *options;
	struct phase_clock clock;
	const struct window *window; /* of whose rows are read */
	uint64_t entries; /* lines about phases */
	char text[4 * APPLOG_LINE_MAX];
};

/* Adds a note, a sentence. */
void phase_note(const struct phase_reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
