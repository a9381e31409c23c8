/* SPDX-License-Identifier: BSD-2-Clause */
/* `dltraced sample cpu|disk SECONDS': what a trace runs in place of mpstat and iostat, where they are not installed. */
#include <errno.h>
#include <stdlib.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "collectors/sample.h"

int cmd_sample(int argc, char **argv)
{
	const int r = argc == 3 ? sample_run(argv[1], strtoull(argv[2], NULL, 10)) : -EINVAL;

	if (r == -EINVAL)
		log_err("usage: dltraced sample cpu|disk SECONDS (`dltraced start' runs it)");
	else
		log_err_r(r, "samples of %s", argv[1]);
	return EXIT_DLTRACED;
}
