/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/workload_environ.h"

#include "job/nvtx.h"
#include "session/preload.h"
#include "job/python_path.h"

int workload_environ_set(const struct config *cfg, struct workload_user *u)
{
	int r = python_path_set(cfg, u);

	if (!r)
		r = preload_set(cfg, u);
	return r ? r : nvtx_set(cfg, u);
}
