/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/loss.h"

#include <stdio.h>

#include "base/fmt.h"

const struct loss_kind loss_kinds[LOSSES] = {
	[LOSS_BUFFER] = { "buffer", "the ring buffers were full (use a larger --buffer)" },
	[LOSS_IN_FLIGHT] = { "in_flight", "more calls and requests were in flight than dltraced has room for (trace "
					  "fewer processes)" },
	[LOSS_UNSEEN] = { "unseen", "the kernel did not report when they began or ended (no option changes that)" },
	[LOSS_SKIPPED] = { "skipped", "the kernel skipped runs of dltraced's hooks (no option changes that)" },
	/* a trace of the service has its folder by a key of the config, and not by -o */
	[LOSS_DISK] = { "disk", "the disk was full, refused them, or had less than --min-free left (put the trace on "
				"another disk)" },
	[LOSS_STALLED] = { "stalled", "the disk did not answer when the trace ended (put the trace on another disk)" },
	[LOSS_UNMATCHED] = { "unmatched",
			     "they were seen but not written, for an unknown reason (please report this)" },
};

char *loss_text(const uint64_t by[LOSSES])
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	const char *between = "";
	unsigned int kinds = 0;

	if (!out)
		return NULL;
	for (enum loss i = 0; i < LOSSES; i++)
		kinds += by[i] != 0;
	for (enum loss i = 0; i < LOSSES; i++) {
		if (!by[i])
			continue;
		fprintf(out, "%s%s", between, loss_kinds[i].why);
		if (kinds > 1)
			fprintf(out, " [%s]", FMT_COUNT(by[i]));
		between = "; ";
	}
	fclose(out);
	return text;
}
