/* SPDX-License-Identifier: BSD-2-Clause */
/* See advice.h. */
#include "report/whatif/advice.h"

#include <errno.h>
#include <stdio.h>

#include "base/util.h"

#define LATE_LITTLE 0.02 /* of the steady state: such a wait is none */
#define GAIN_LEAST 1.05 /* times as fast: less is no gain */

/* Tried beside more workers; the ones that cost nothing first: of equal gains the first one is named. */
static const char *const others[] = { "quota=none", "prefetch=8", "checkpoint=async",
				      "cached",     "storage=2x", "decode=2x" };

typedef int predict_fn(const struct whatif_calibrated *calibrated, const struct whatif_change *change,
		       struct whatif_prediction *prediction);

static int predict_text(const struct report_whatif *whatif, const char *text, predict_fn *predict,
			struct whatif_prediction *prediction)
{
	struct whatif_change change;
	char why[16];

	if (whatif_change_parse(&change, text, why, sizeof(why))) /* our own */
		return -EINVAL;
	return predict(&whatif->calibrated, &change, prediction);
}

/* Looks for the fewest workers that leave hardly a wait, or gain most. */
static int find_workers(struct report_whatif *whatif)
{
	static const uint32_t numbers[] = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256 };
	struct whatif_prediction best = { .refused = NULL };

	for (size_t i = 0; i < ARRAY_SIZE(numbers) && !whatif->enough; i++) {
		struct whatif_prediction prediction;
		char text[32];
		int r;

		snprintf(text, sizeof(text), "workers=%u", numbers[i]);
		r = predict_text(whatif, text, whatif_predict_alone, &prediction);
		if (r < 0)
			return r;
		if (prediction.refused)
			continue;
		whatif->enough = prediction.late < LATE_LITTLE;
		if (whatif->enough || !best.change[0] || prediction.ns < 0.99 * best.ns)
			best = prediction;
	}
	return best.change[0] ? predict_text(whatif, best.change, whatif_predict, &whatif->workers) : 0;
}

static int find_other(struct report_whatif *whatif)
{
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct whatif_prediction prediction;
		const int r = predict_text(whatif, others[i], whatif_predict, &prediction);

		if (r < 0)
			return r;
		if (prediction.refused || !prediction.sure || prediction.times < GAIN_LEAST)
			continue;
		if (!whatif->any_helps || prediction.ns < 0.99 * whatif->helps.ns)
			whatif->helps = prediction;
		whatif->any_helps = true;
	}
	return 0;
}

int whatif_advise(struct report_whatif *whatif)
{
	int r = predict_text(whatif, "ready", whatif_predict, &whatif->ready);

	if (r == 0)
		r = find_workers(whatif);
	if (r == 0 && !whatif->enough)
		r = find_other(whatif);
	return r;
}
