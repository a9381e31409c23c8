/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/clip.h"

#include "base/util.h"

struct scan_clip clip_of(const struct window *part, uint64_t all_ns, uint64_t end_ns)
{
	const uint64_t most_ns = MIN(all_ns, end_ns), begin_ns = end_ns - most_ns;

	return (struct scan_clip){
		.from_ns = MIN(MAX(begin_ns, part->begin_ns) - begin_ns, most_ns),
		.to_ns = MAX(MIN(end_ns, part->end_ns), begin_ns) - begin_ns,
		.all_ns = most_ns,
	};
}

/* A difference of two sums since the row's begin: the end of one part's sum is the begin of the next one's. */
uint64_t clip_share(const struct scan_clip *clip, uint64_t number)
{
	const double each = (double)number / (double)MAX(clip->all_ns, 1);

	if (clip_is_all(clip))
		return number;
	if (clip->from_ns >= clip->to_ns)
		return 0;
	return (clip->to_ns == clip->all_ns ? number : (uint64_t)(each * (double)clip->to_ns)) -
	       (uint64_t)(each * (double)clip->from_ns);
}
