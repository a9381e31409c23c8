/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/why/syscalls.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/scan/part.h"
#include "report/scan/scan.h"

static int part_new(struct report *r, const struct report_options *o)
{
	struct report_syscalls *s = r->syscalls = calloc(1, sizeof(*s));

	(void)o;
	if (!s)
		return -ENOMEM;
	table_init(&s->pairs, sizeof(struct report_syscalls_row), SYSCALLS_MAX);
	table_init(&s->calls, sizeof(struct report_syscalls_row), SYSCALLS_CALLS_MAX);
	return 0;
}

static void part_free(struct report *r)
{
	if (!r->syscalls)
		return;
	table_free(&r->syscalls->pairs);
	table_free(&r->syscalls->calls);
	free(r->syscalls);
}

static void add(struct report_syscalls_row *to, const struct report_syscalls_row *sums)
{
	to->count += sums->count;
	to->failed += sums->failed;
	to->ns += sums->ns;
	to->max_ns = MAX(to->max_ns, sums->max_ns);
}

/* Returns the entry of KEY; where there are MOST without it, that of all others. NULL: there is no memory. */
static struct report_syscalls_row *entry(struct table *table, uint32_t most, uint64_t key)
{
	if (table->n >= most - 1 && !table_find(table, key))
		key = table_key("", 0);
	return table_get(table, key);
}

static bool take(struct scan *scan, void *own)
{
	struct report_syscalls *to = own;
	const struct reader_field call = scan_field(scan, COL_CALL);
	const uint64_t by_call = table_key(call.p, call.len), pid = scan_number(scan, COL_PID),
		       key = table_key_more(by_call, (const char *)&pid, sizeof(pid));
	const struct report_syscalls_row sums = {
		.count = scan_number(scan, COL_COUNT),
		.failed = scan_number(scan, COL_FAILED),
		.ns = scan_number(scan, COL_TIME_NS),
		.max_ns = scan_number(scan, COL_MAX_NS),
	};
	struct report_syscalls_row *pair = entry(&to->pairs, SYSCALLS_MAX, key),
				   *of_all = entry(&to->calls, SYSCALLS_CALLS_MAX, by_call);

	if (!pair || !of_all)
		return false;
	if (!of_all->call[0] && table_find(&to->calls, by_call))
		report_copy(of_all->call, sizeof(of_all->call), call);
	if (!pair->call[0] && table_find(&to->pairs, key)) {
		pair->pid = pid;
		report_copy(pair->call, sizeof(pair->call), call);
		of_all->processes++;
	}
	if (pair->call[0])
		report_copy(pair->comm, sizeof(pair->comm), scan_field(scan, COL_COMM));
	add(pair, &sums);
	add(of_all, &sums);
	return true;
}

static void part_read(struct report *r)
{
	struct scan_taker taker = { .take = take, .own = r->syscalls };

	scan_walk(r->folder, "syscalls", &taker);
}

const struct report_part report_syscalls_part = {
	.new = part_new,
	.read = part_read,
	.free = part_free,
};
