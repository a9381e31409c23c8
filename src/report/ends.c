/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/ends.h"

#include "report/scan/scan.h"

static void put(struct table *numbers, uint64_t number, uint64_t end_ns)
{
	uint64_t *at = table_get(numbers, number);

	if (at)
		*at = end_ns;
}

void report_ends_read(struct report_ends *ends, struct scan_folder *folder)
{
	struct scan s = { 0 };
	uint64_t pid, tid;

	table_init_pids(&ends->by_tid, sizeof(uint64_t), REPORT_ENDS_MAX);
	table_init_pids(&ends->by_pid, sizeof(uint64_t), REPORT_ENDS_MAX);
	if (scan_begin(&s, folder, "pids") < 0)
		return;
	while (scan_next(&s) > 0) {
		if (!scan_is(&s, COL_EVENT, "exit") || !scan_has_number(&s, COL_TIMESTAMP) ||
		    !scan_u64(&s, COL_PID, &pid) || !scan_u64(&s, COL_TID, &tid))
			continue;
		put(&ends->by_tid, tid, s.time_ns);
		if (!scan_is(&s, COL_STATUS, "-")) /* its last thread */
			put(&ends->by_pid, pid, s.time_ns);
	}
}

void report_ends_free(struct report_ends *ends)
{
	table_free(&ends->by_tid);
	table_free(&ends->by_pid);
}

uint64_t report_ends_behind_ns(const struct report_ends *ends, uint64_t pid, uint64_t tid, uint64_t at_ns,
			       uint64_t span_ns)
{
	const uint64_t *end_ns = table_find(&ends->by_tid, tid);

	if (!end_ns)
		end_ns = table_find(&ends->by_pid, pid);
	if (!end_ns || !*end_ns || *end_ns > at_ns || at_ns - *end_ns >= span_ns)
		return 0;
	return at_ns - *end_ns;
}
