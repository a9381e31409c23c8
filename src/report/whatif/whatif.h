/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the longest epoch of a PyTorch job would take with changes, by a replay of its batches and steps (replay.h), as
 * a part of a report. docs/what-if.md says what the replay knows, and how far it was off.
 */
#ifndef REPORT_WHATIF_WHATIF_H
#define REPORT_WHATIF_WHATIF_H

#include "report/whatif/predict.h"

struct report_part;

#define WHATIF_WANTED_MAX 32U

/* Changes of the command line. */
struct whatif_wanted {
	struct whatif_change change[WHATIF_WANTED_MAX];
	unsigned int n;
};

struct report_whatif {
	const struct whatif_wanted *wanted;
	struct whatif_epoch epoch;
	struct whatif_gather gather;
	bool gathering; /* rows of calls are taken */
	struct whatif_calibrated calibrated;
	/* The results: */
	bool present; /* there is a DataLoader with an epoch */
	const char *refused; /* why there is no prediction; NULL: there are */
	char because[160]; /* the text of REFUSED, where it has a number */
	double base_error;
	struct whatif_prediction row[WHATIF_WANTED_MAX]; /* as wanted */
	uint32_t n;
	struct whatif_prediction ready;
	/* The fewest workers that leave hardly a wait; and without, the single change that gains most. */
	struct whatif_prediction workers, helps;
	bool enough, any_helps;
};

extern const struct report_part report_whatif_part;

#endif
