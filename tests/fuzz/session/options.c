/* SPDX-License-Identifier: BSD-2-Clause */
/* The arguments of `dltraced start', one a line. They are parsed; nothing is started. */
#include "fuzz.h"

#include <argp.h>

#include "cmd/cmd.h"
#include "trace/config.h"

#define ARGS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *text = fuzz_text(data, size);
	char *argv[ARGS_MAX + 2] = { "start" }, *rest = text, *arg;
	struct config cfg;
	int argc = 1;

	while (argc <= ARGS_MAX && (arg = strsep(&rest, "\n")) && (*arg || rest))
		argv[argc++] = arg;
	if (cmd_start_parse(argc, argv, ARGP_SILENT, &cfg))
		return 0;
	EXPECT(cfg.argv || cfg.n_pids || cfg.cgroups.n || cfg.containers.n || cfg.all);
	EXPECT(cfg.interval_ns && cfg.interval_ns % NSEC_PER_SEC == 0);
	EXPECT(memchr(cfg.experiment, '\0', sizeof(cfg.experiment)) && !strchr(cfg.experiment, '/'));
	return 0;
}
