/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the phases of a trace folder's job: from logs that the user names; without these from the job's output
 * (workload.out); without that from logs in collected/; and always from marks.out. Offline; trusts no byte of them;
 * memory is bounded.
 */
#ifndef REPORT_PHASES_READ_H
#define REPORT_PHASES_READ_H

#include "report/phases/clock.h"
#include "report/phases/options.h"
#include "report/phases/phases.h"
#include "trace/manifest_read.h"

/*
 * Reads the phases from the folder DIRFD with the manifest FACTS, and closes them. CLOCK has the readings of
 * time_align.out; OPTIONS may be NULL. Returns 0 or -ENOMEM.
 */
int phases_read(struct phases **ret, int dirfd, const struct manifest_facts *facts,
		const struct phases_options *options, const struct phase_clock *clock);

#endif
