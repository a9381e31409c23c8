/* SPDX-License-Identifier: BSD-2-Clause */
/* dltraced.conf, and what is read after it from conf.d/. */
#include "fuzz.h"

#include "service/daemon_conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *file = util_fmt("%s/dltraced.conf", fuzz_folder());
	autofree char *text = fuzz_piece(&data, &size, "===\n");
	struct daemon_conf c;

	fuzz_put("dltraced.conf", text, strlen(text));
	fuzz_put("conf.d/10.conf", data, size);
	if (daemon_conf_read(&c, file, false) == 0) {
		EXPECT(c.socket && c.group && c.state && c.n_traces <= DAEMON_TRACES_MAX);
		for (unsigned int i = 0; i < c.n_traces; i++)
			EXPECT(daemon_trace_same(&c.traces[i], &c.traces[i]));
	}
	daemon_conf_free(&c);
	return 0;
}
