/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/limits.h"

const struct path_limits path_limits_usual = {
	.waits = 4U << 20,
	.shorts = 2U << 20,
	.doings = 1U << 20,
	.pieces = 2U << 20,
	.samples = 1U << 15,
	.idle = 1U << 20,
};
