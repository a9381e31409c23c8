/* SPDX-License-Identifier: BSD-2-Clause */
/* See nvtx.h. NVTX passes ranges to one library alone, so one that is there already, such as that of nsys, keeps them.
 */
#include "job/nvtx.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "host/installed.h"
#include "host/rights/workload_user.h"
#include "os/env.h"
#include "trace/config.h"

#define LIBRARY "libdltraced-nvtx.so"
#define VARIABLE "NVTX_INJECTION64_PATH="

int nvtx_set(const struct config *cfg, struct workload_user *user)
{
	const char *other = env_find(user->environ ?: environ, VARIABLE);
	autofree char *library = NULL, *entry = NULL;
	int r;

	if (!cfg->nvtx)
		return 0;
	if (other && other[strlen(VARIABLE)]) {
		log_err("--regions nvtx: %s is in the environment, and NVTX passes ranges to one library alone: unset "
			"that "
			"variable, or leave out nvtx",
			other);
		return -EEXIST;
	}
	library = installed_library(LIBRARY, "--regions nvtx");
	if (!library)
		return -ENOENT;
	entry = util_fmt(VARIABLE "%s", library);
	r = entry ? workload_user_setenv(user, entry) : -ENOMEM;
	return r < 0 ? log_err_r(r, "--regions nvtx") : 0;
}
