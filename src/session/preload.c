/* SPDX-License-Identifier: BSD-2-Clause */
/* See preload.h. What was preloaded before stays, behind ours: an allocator that comes first would hide calls from us.
 */
#include "session/preload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"
#include "dlt/alloc.h"
#include "drain/memory/ticks.h"
#include "host/installed.h"
#include "host/rights/workload_user.h"
#include "trace/config.h"
#include "trace/probe.h"

static int library_find(char **ret)
{
	*ret = installed_library(DLT_ALLOC_LIBRARY, "--probes +alloc");
	if (!*ret)
		return -ENOENT;
	/* ld.so(8) ends a name at either */
	if (strpbrk(*ret, " :")) {
		log_err("--probes +alloc: %s cannot be preloaded, as its path has a blank or a colon: install dltraced "
			"elsewhere (make install)",
			*ret);
		return -EINVAL;
	}
	return 0;
}

int preload_set(const struct config *cfg, struct workload_user *user)
{
	autofree char *library = NULL, *settings = NULL;
	int r;

	if (!(cfg->probes >> DLT_alloc & 1))
		return 0;
	r = library_find(&library);
	if (r < 0)
		return r;
	settings = util_fmt(DLT_ALLOC_VARIABLE "=min=%llu sites=%s clock=%s", (unsigned long long)cfg->alloc_min_bytes,
			    config_alloc_sites[cfg->alloc_sites], ticks_are_tsc() ? "tsc" : "monotonic");
	r = settings ? workload_user_setenv(user, settings) : -ENOMEM;
	if (!r)
		r = workload_user_prepend(user, "LD_PRELOAD=", library);
	/* else a program with AddressSanitizer ends at once, as its own library is not the first one */
	if (!r)
		r = workload_user_prepend(user, "ASAN_OPTIONS=", "verify_asan_link_order=0");
	return r < 0 ? log_err_r(r, "--probes +alloc") : 0;
}
