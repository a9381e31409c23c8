/* SPDX-License-Identifier: BSD-2-Clause */
/* Who has limited the CPUs that the job may use, as far as the trace shows that. */
#include <inttypes.h>
#include <string.h>

#include "base/util.h"
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
