/* SPDX-License-Identifier: BSD-2-Clause */
/* See advice.h. */
#include "report/whatif/advice.h"

#include <stdio.h>

#include "base/util.h"

#define LATE_LITTLE 0.02 /* of the steady state: such a wait is none */
#define GAIN_LEAST 1.05 /* times as fast: less is no gain */

/* Tried beside more workers; the ones that cost nothing first: of equal gains the first one is named. */
static const char *const others[] = { "quota=none", "prefetch=8", "checkpoint=async",
				      "cached",     "storage=2x", "decode=2x" };

static int predict_text(const struct report_whatif *whatif, const char *text, struct whatif_prediction *prediction)
{
	struct whatif_change change;
	char why[16];

	if (whatif_change_parse(&change, text, why, sizeof(why))) /* our own */
		return -1;
	return whatif_predict(&whatif->calibrated, &change, prediction);
}

/* Looks for the fewest workers that leave hardly a wait, or gain most. */
static int find_workers(struct report_whatif *whatif)
{
	static const uint32_t numbers[] = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256 };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct whatif_prediction prediction;
		char text[32];
		int r;

		snprintf(text, sizeof(text), "workers=%u", numbers[i]);
		r = predict_text(whatif, text, &prediction);
		if (r < 0)
			return r;
		if (prediction.refused)
			continue;
		if (prediction.late < LATE_LITTLE) {
			whatif->workers = prediction;
			whatif->enough = true;
			return 0;
		}
		if (!whatif->workers.change[0] || prediction.ns < 0.99 * whatif->workers.ns)
			whatif->workers = prediction;
	}
	return 0;
}

static int find_other(struct report_whatif *whatif)
{
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct whatif_prediction prediction;
		const int r = predict_text(whatif, others[i], &prediction);

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
	int r = predict_text(whatif, "ready", &whatif->ready);

	if (r == 0)
		r = find_workers(whatif);
	if (r == 0 && !whatif->enough)
		r = find_other(whatif);
	return r;
}
