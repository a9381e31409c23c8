/* SPDX-License-Identifier: BSD-2-Clause */
/* What a trace, or whoever made a socket where those of traces are, answers to `dltraced status'. */
#include "fuzz.h"

#include "control/client.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *which = fuzz_piece(&data, &size, "===\n");
	struct traces ts = { .n = 1 };
	struct trace *t = &ts.t[0];

	t->words = fuzz_text(data, size);
	if (words_take(t)) {
		traces_pick(&ts, which);
		traces_pick(&ts, NULL);
	}
	traces_free(&ts);
	return 0;
}
