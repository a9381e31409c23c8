/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/fmt.h"
#include "base/util.h"

static const struct limit {
	int r;
	__rlimit_resource_t resource;
	const char *most, *remedy;
} limits[] = {
	{ -EFBIG, RLIMIT_FSIZE, "this process may write files of at most",
	  "ulimit -f unlimited, LimitFSIZE= in a unit of systemd" },
	{ -ENOMEM, RLIMIT_AS, "this process may have an address space of at most",
	  "ulimit -v unlimited, LimitAS= in a unit of systemd" },
	{ -ENOMEM, RLIMIT_DATA, "this process may have data of at most",
	  "ulimit -d unlimited, LimitDATA= in a unit of systemd" },
};

const char *limits_strerror(int r)
{
	static _Thread_local char text[256];
	struct rlimit now;

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		if (limits[i].r != r || getrlimit(limits[i].resource, &now) < 0 || now.rlim_cur == RLIM_INFINITY)
			continue;
		snprintf(text, sizeof(text), "%s: %s %s (%s)", strerror(-r), limits[i].most, FMT_BYTES(now.rlim_cur),
			 limits[i].remedy);
		return text;
	}
	return strerror(-r);
}
