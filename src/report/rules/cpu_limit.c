/* SPDX-License-Identifier: BSD-2-Clause */
/* Who has limited the CPUs that the job may use, as far as the trace shows that. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/limits/cgroups.h"
#include "report/rules/rules_impl.h"
#include "report/scan/model.h"

static const struct {
	const char *by, *words; /* of the manifest */
} limiters[] = {
	{ "affinity", "somebody has set this for it while it ran (taskset -p, sched_setaffinity)" },
	{ "cgroup", "by the cpuset of its cgroup (Slurm, Kubernetes, docker --cpuset-cpus)" },
	{ "inherited", "as dltraced itself when it was started (taskset, numactl, Slurm, CPUAffinity= of systemd)" },
};

void rules_show_cpu_limit(struct report *report, struct finding *finding)
{
	const struct manifest_facts *facts = &report->manifest;
	const struct manifest_allowed *allowed = &facts->allowed;

	if (!allowed->n_cpus)
		return;
	if (allowed->n_cpus >= facts->cpus) {
		finding_add(finding,
			    "its first process might use all %" PRIu64
			    " CPUs, the threads that waited, fewer: the job itself has limited them",
			    facts->cpus);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(limiters); i++)
		if (strcmp(limiters[i].by, allowed->cpus_by) == 0)
			finding_add(finding, "its first process might use %" PRIu64 " of %" PRIu64 " CPUs (%s), %s",
				    allowed->n_cpus, facts->cpus, allowed->cpus, limiters[i].words);
}

/* Returns how many CPUs the quota LIMIT gives; 0: it is none. NEXT: of v1, the period stands in a file of its own. */
static double cpus_of(const struct manifest_limit *limit, const struct manifest_limit *next)
{
	uint64_t quota_us, period_us = 100000; /* the kernel's default */

	if (strcmp(limit->file, "cpu.max") == 0) {
		if (sscanf(limit->value, "%" SCNu64 " %" SCNu64, &quota_us, &period_us) < 1)
			return 0;
	} else if (strcmp(limit->file, "cpu.cfs_quota_us") == 0) {
		if (sscanf(limit->value, "%" SCNu64, &quota_us) != 1)
			return 0;
		if (next && strcmp(next->file, "cpu.cfs_period_us") == 0)
			period_us = strtoull(next->value, NULL, 10);
	} else {
		return 0;
	}
	return period_us ? (double)quota_us / (double)period_us : 0;
}

void rules_show_cpu_quota(struct report *report, struct finding *finding)
{
	const struct manifest_allowed *allowed = &report->manifest.allowed;
	const struct manifest_limit *least = NULL;
	double least_cpus = 0;

	for (unsigned int i = 0; i < allowed->n_limits; i++) {
		const struct manifest_limit *limit = &allowed->limits[i];
		const double cpus = cpus_of(limit, i + 1 < allowed->n_limits ? limit + 1 : NULL);

		if (cpus > 0 && (!least || cpus < least_cpus)) {
			least = limit;
			least_cpus = cpus;
		}
	}
	if (least)
		finding_add(finding, "when the job began its quota was %.4g of %" PRIu64 " CPUs, by %s of cgroup %s",
			    least_cpus, report->manifest.cpus, least->file, least->cgroup);
	rules_show_cgroups(report, finding, report_cgroup_throttled, report_cgroup_cpu_text);
}
