/* SPDX-License-Identifier: BSD-2-Clause */
/* The role of a process in one word, for a page that shows all of them: also where no wait was found. */
#include <string.h>

#include "base/util.h"
#include "report/phases/workers.h"
#include "report/scan/model.h"
#include "report/why/why.h"

static bool is_worker(const struct report_proc *p)
{
	return p && phase_is_worker_name(p->comm, strlen(p->comm));
}

/* Whether a child of PID has a loader's name. Not used where gpu.out names the processes that train. */
static bool is_parent_of_workers(const struct report *r, uint64_t pid)
{
	for (uint32_t i = 0; i < r->procs.n; i++) {
		const struct report_proc *p = table_at(&r->procs, i);

		if (p->ppid == pid && is_worker(p))
			return true;
	}
	return false;
}

static bool any_on_gpu(const struct report *r)
{
	for (uint32_t i = 0; i < r->procs.n; i++)
		if (((const struct report_proc *)table_at(&r->procs, i))->on_gpu)
			return true;
	return false;
}

const char *why_role_name(const struct report *report, const struct report_proc *proc)
{
	const struct report_proc *parent = proc ? table_find(&report->procs, proc->ppid) : NULL;
	const struct why *why = report->why;

	if (!proc)
		return "other";
	if (why && why->n_trainers && why->seen) {
		for (uint32_t i = 0; i < why->n_trainers; i++)
			if (why->trainer[i].pid == proc->pid)
				return "trainer";
		return table_find(&why->loaders, proc->pid) ? "loader" : "other";
	}
	if (any_on_gpu(report) ? proc->on_gpu : is_parent_of_workers(report, proc->pid))
		return "trainer";
	if (is_worker(proc) || (parent && parent->on_gpu && proc->reads))
		return "loader";
	return "other";
}
