/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/roots.h"

#include "base/util.h"
#include "stats/top.h"

/* Returns the first process that had PID; 0: none. */
static uint32_t workload(const struct path_lives *lives, uint64_t pid)
{
	for (uint32_t i = 1; pid && i < lives->n_processes; i++)
		if (lives->process[i].pid == pid && lives->process[i].main)
			return i;
	return 0;
}

static uint64_t length(const struct path_root *root)
{
	return root->end_ns - root->begin_ns;
}

static struct path_root root_of(const struct path_process *p, uint64_t begin_ns, struct path_times trace)
{
	struct path_root root = { .life = p->main, .begin_ns = MAX(begin_ns, trace.begin_ns) };

	root.end_ns = MAX(MIN(p->end_ns, trace.end_ns), root.begin_ns);
	return root;
}

unsigned int path_roots(const struct path_lives *lives, uint64_t workload_pid, struct path_times trace,
			struct path_root *ret)
{
	const uint32_t known = workload(lives, workload_pid);
	unsigned int n = 0;

	if (known) {
		const struct path_process *p = &lives->process[known];

		ret[0] = root_of(p, p->exec_ns ? p->exec_ns : p->begin_ns, trace);
		return length(&ret[0]) > 0;
	}
	for (uint32_t i = 1; i < lives->n_processes; i++) {
		const struct path_process *p = &lives->process[i];
		const struct path_root root = root_of(p, p->begin_ns, trace);
		struct path_root *place = NULL;

		if (p->main && !p->parent && length(&root))
			place = TOP_PLACE(ret, n, PATH_ROOTS_MAX, e, length(e), length(&root));
		if (place)
			*place = root;
	}
	return n;
}
