/* SPDX-License-Identifier: BSD-2-Clause */
/* See window.h. */
#include "trace/window.h"

#include <string.h>

#include "base/util.h"
#include "trace/reader.h"

bool window_keeps_whole(const char *name)
{
	static const char *const whole[] = { "files", "pids", "sites", "sockets", "time_align" };

	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		if (strcmp(name, whole[i]) == 0)
			return true;
	return false;
}

void window_read(const struct window *w, struct reader *r)
{
	if (!w->end_ns || window_keeps_whole(r->base))
		return;
	r->begin_ns = w->begin_ns;
	r->end_ns = w->end_ns;
}
