/* SPDX-License-Identifier: BSD-2-Clause */
/* A user's request to the service, which is root: entries behind NULs. Taken apart, and made a config of. */
#include "fuzz.h"

#include "trace/config.h"

#include "service/served.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *exact = malloc(size + !size);
	struct served sv = { .fd = -1 };
	struct config cfg;
	char why[256] = "";

	if (size)
		memcpy(exact, data, size);
	if (service_request_parse(&sv.rq, exact, size) == 0) {
		sv.rq.n_fds = 1 + (sv.rq.argv != NULL);
		sv.rq.fds[0] = sv.rq.fds[1] = -1;
		if (!configure(&cfg, &sv, why, sizeof(why))) {
			EXPECT(cfg.argv || cfg.n_pids);
			EXPECT(!cfg.all && !cfg.cgroups.n && !cfg.containers.n);
		}
	}
	service_request_free(&sv.rq);
	return 0;
}
