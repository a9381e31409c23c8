/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/lives/roots.h"

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

/* Whether P belongs to nobody of the job: it has no parent there, or one that is no part of it, or that ended early. */
static bool is_first(const struct path_lives *lives, const struct path_process *p, const struct path_root *root)
{
	const struct path_process *parent = &lives->process[p->parent];

	return !p->parent || parent->aside || parent->end_ns < root->begin_ns + length(root) / 2;
}

/* Whether the workload's first process is there for the trace: it has not only started others, or runs a container. */
static bool is_job(const struct path_process *p, const struct path_root *root, struct path_times trace)
{
	return !p->aside && length(root) >= (trace.end_ns - trace.begin_ns) / 2;
}

unsigned int path_roots(const struct path_lives *lives, uint64_t workload_pid, struct path_times trace,
			struct path_root *ret)
{
	const uint32_t known = workload(lives, workload_pid);
	const struct path_process *first = &lives->process[known];
	struct path_root own = { 0 };
	unsigned int n = 0;

	if (known)
		own = root_of(first, first->exec_ns ? first->exec_ns : first->begin_ns, trace);
	for (uint32_t i = 1; !(known && is_job(first, &own, trace)) && i < lives->n_processes; i++) {
		const struct path_process *p = &lives->process[i];
		const struct path_root root = root_of(p, p->begin_ns, trace);
		struct path_root *place = NULL;

		if (p->main && !p->aside && i != known && length(&root) && is_first(lives, p, &root))
			place = TOP_PLACE(ret, n, PATH_ROOTS_MAX, e, length(e), length(&root));
		if (place)
			*place = root;
	}
	if (!known || (n && (first->aside || length(&ret[0]) > length(&own))))
		return n;
	ret[0] = own;
	return length(&own) > 0;
}
