/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/untraced.h"

#include <string.h>

#include "base/log.h"
#include "base/util.h"
#include "trace/config.h"

static const struct {
	const char *name;
	const char *starts;
	const char *remedy;
} programs[] = {
	{ "docker", "containers are children of containerd", "--container new" },
	{ "kubectl", "pods are started by the kubelet", "--container new on their node" },
	{ "nerdctl", "containers are children of containerd", "--container new" },
	{ "podman", "a container's monitor leaves the tree", "--container new" },
	{ "ray", "tasks run under the raylet", "--pid of the raylet, or --cgroup" },
	{ "sbatch", "the job runs later, under slurmstepd", "dltraced inside the job script" },
	{ "screen", "windows belong to its server", "dltraced inside the window" },
	{ "srun", "tasks are children of slurmstepd", "srun dltraced start ..., or --cgroup" },
	{ "tmux", "windows belong to its server", "dltraced inside the window" },
};
_Static_assert(ARRAY_SIZE(programs) <= UNTRACED_MAX, "UNTRACED_MAX");

void untraced_note(struct untraced *e, const char comm[DLT_COMM_LEN])
{
	for (unsigned int i = 0; i < ARRAY_SIZE(programs); i++)
		if (!strncmp(comm, programs[i].name, DLT_COMM_LEN))
			atomic_fetch_or(&e->seen, 1U << i);
}

void untraced_report(struct untraced *untraced, const struct config *cfg)
{
	unsigned int fresh = atomic_load(&untraced->seen) & ~untraced->reported;

	untraced->reported |= fresh;
	if (cfg->all || cfg->cgroups.n || cfg->containers.n)
		return;
	for (unsigned int i = 0; i < ARRAY_SIZE(programs); i++)
		if (fresh >> i & 1)
			log_warn("the workload runs %s: %s, so what it starts is not traced; use %s", programs[i].name,
				 programs[i].starts, programs[i].remedy);
}
