/* SPDX-License-Identifier: BSD-2-Clause */
#include "lost.h"

#include <stdbool.h>
#include <string.h>

#include "label.h"
#include "pushed.h"
#include "started.h"

#define STRING_(n) #n
#define STRING(n) STRING_(n)

void lost(enum lost why)
{
	static const char *const reasons[] = {
		[LOST_PUSHED] = "ranges pushed within " STRING(PUSHED_MAX) " others of their thread",
		[LOST_STARTED] = "ranges started while " STRING(STARTED_MAX) " others had not ended",
	};
	static bool said[LOST_N];

	if (!__atomic_exchange_n(&said[why], true, __ATOMIC_RELAXED))
		label_fact("nvtx.not_recorded", reasons[why], strlen(reasons[why]));
}
