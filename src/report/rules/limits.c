/* SPDX-License-Identifier: BSD-2-Clause */
/* What the job's cgroups say of limits: which of them was reached, and pressure. */
#include "report/limits/cgroups.h"
#include "report/rules/rules_impl.h"
#include "report/scan/model.h"

void rules_show_cgroups(struct report *report, struct finding *finding, bool (*reached)(const struct report_cgroup *),
			const char *(*text)(const struct report_cgroup *, char *, size_t))
{
	const struct report_cgroups *cgroups = report->cgroups;

	for (uint32_t i = 0; cgroups && i < cgroups->n; i++) {
		char buf[160];

		if (reached(&cgroups->v[i]))
			finding_add(finding, "cgroup %s: %s", cgroups->v[i].path,
				    text(&cgroups->v[i], buf, sizeof(buf)));
	}
}

static double pressure(const struct report *r, enum report_cgroup_sum sum)
{
	const struct report_cgroup *own = report_cgroups_own(r->cgroups, sum);

	return own ? report_cgroup_pressure(own, sum) : 0;
}

static double memory_pressure(const struct report *r)
{
	return pressure(r, CGROUP_SUM_MEM_FULL_NS);
}

static double io_pressure(const struct report *r)
{
	return pressure(r, CGROUP_SUM_IO_FULL_NS);
}

static struct finding_size size_of(const struct report *r, enum report_cgroup_sum sum)
{
	const struct report_cgroup *own = report_cgroups_own(r->cgroups, sum);

	return rules_size_of_life(r, own ? (double)own->sum[sum] : 0);
}

static struct finding_size size_of_memory(const struct report *r)
{
	return size_of(r, CGROUP_SUM_MEM_FULL_NS);
}

static struct finding_size size_of_io(const struct report *r)
{
	return size_of(r, CGROUP_SUM_IO_FULL_NS);
}

static void show(struct report *r, struct finding *finding, enum report_cgroup_sum full, enum report_cgroup_sum some)
{
	const struct report_cgroup *own = report_cgroups_own(r->cgroups, full);

	finding_add(finding, "cgroup %s: a thread of it waited in %.1f %% of the time, all that could run in %.1f %%",
		    own->path, 100 * report_cgroup_pressure(own, some), 100 * report_cgroup_pressure(own, full));
}

static void show_memory(struct report *r, struct finding *finding)
{
	show(r, finding, CGROUP_SUM_MEM_FULL_NS, CGROUP_SUM_MEM_SOME_NS);
	rules_show_cgroups(r, finding, report_cgroup_full, report_cgroup_memory_text);
}

static void show_io(struct report *r, struct finding *finding)
{
	show(r, finding, CGROUP_SUM_IO_FULL_NS, CGROUP_SUM_IO_SOME_NS);
}

const struct rule rules_of_limits[] = {
	{ .code = "memory-pressure",
	  .title = "All of the job waited for memory",
	  .number = "memory's PSI full, of the job's cgroup",
	  .threshold = CGROUPS_PRESSED,
	  .is_share = true,
	  .measure = memory_pressure,
	  .size = size_of_memory,
	  .is_fact = true,
	  .evidence = show_memory,
	  .advice = "Give the job more memory, or let it need less." },
	{ .code = "io-pressure",
	  .title = "All of the job waited for I/O",
	  .number = "I/O's PSI full, likewise",
	  .threshold = CGROUPS_PRESSED,
	  .is_share = true,
	  .measure = io_pressure,
	  .size = size_of_io,
	  .is_fact = true,
	  .evidence = show_io,
	  .advice = "Read ahead, or use a faster disk." },
	{ .code = NULL },
};
