/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Predictions from a base: what the epoch would take with a change. The base is replayed first; it must take what was
 * measured, within 10 %. A prediction is the ratio of two replays by what was measured. Its range has the replays under
 * what the trace leaves open (whether a disk is a limit, how deep it is, whether other programs stay), 10 % and the
 * base's own error.
 */
#ifndef REPORT_WHATIF_PREDICT_H
#define REPORT_WHATIF_PREDICT_H

#include "report/whatif/change.h"
#include "report/whatif/replay.h"

#define WHATIF_ERROR_MOST 0.10 /* of the base */
#define WHATIF_SURE 1.35 /* high / low below it: the time itself is known, else only the range */
#define WHATIF_LIMITED_MAX 96U

struct whatif_prediction {
	char change[WHATIF_TEXT_MAX];
	double ns, low_ns, high_ns; /* of the whole epoch */
	double times; /* as fast as measured */
	double exposed; /* share of the time that the trainer waits for batches */
	double late; /* the share of it in the steady state, beyond what taking them takes */
	bool sure; /* NS is to be shown; else the range only */
	uint32_t workers; /* then */
	char limited_by[WHATIF_LIMITED_MAX];
	const char *refused; /* why there is none; NULL: there is */
};

struct whatif_calibrated {
	struct whatif_base base;
	struct whatif_run run; /* of the base */
	double whole_ns; /* as measured */
	double error; /* of the base: replayed / measured - 1 */
	double stretch_most;
	bool fuse; /* file systems that processes of this machine serve */
};

/* Adjusts the model of CALIBRATED->base to its measured time. Returns 0, -ENOMEM or -EINVAL. */
int whatif_calibrate(struct whatif_calibrated *calibrated, double throttled_ns, double job_run_ns,
		     double others_run_ns);
/* Returns 0 with *PREDICTION, or -ENOMEM. */
int whatif_predict(const struct whatif_calibrated *calibrated, const struct whatif_change *change,
		   struct whatif_prediction *prediction);

/* The same without its range: LOW_NS and HIGH_NS are NS. */
int whatif_predict_alone(const struct whatif_calibrated *calibrated, const struct whatif_change *change,
			 struct whatif_prediction *prediction);

#endif
