/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `dltraced sample cpu|disk SECONDS': what a trace runs in place of mpstat and iostat, where they are not installed.
 * `dltraced sample cgroup SECONDS PID|PATH': the samples of the job's cgroups.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "collectors/sample.h"

int cmd_sample(int argc, char **argv)
{
	const bool cgroup = argc == 4 && strcmp(argv[1], "cgroup") == 0;
	int r = -EINVAL;

	if (cgroup)
		r = sample_cgroups_run(argv[3], strtoull(argv[2], NULL, 10));
	else if (argc == 3)
		r = sample_run(argv[1], strtoull(argv[2], NULL, 10));
	if (r == -EINVAL)
		log_err("usage: dltraced sample cpu|disk SECONDS, or cgroup SECONDS PID|PATH (`dltraced start' runs "
			"it)");
	else
		log_err_r(r, "samples of %s", argv[1]);
	return EXIT_DLTRACED;
}
