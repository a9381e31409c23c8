/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread's uninterruptible waits outside of calls. Switches do not show what a thread waits in; the rows of its calls
 * do, but they come when the calls end. So waits are kept until the thread's next call ends: those within the call
 * belong to it, and those before it were page faults, for pages on a disk. Pure. All times ns.
 */
#include <string.h>

#include "base/util.h"
#include "report/why/why_impl.h"

static void give(struct why_faults *f, unsigned int n, cover_fn take, void *ctx)
{
	for (unsigned int i = 0; i < n; i++)
		take(ctx, f->v[i].begin_ns, f->v[i].end_ns);
	f->n -= n;
	memmove(f->v, f->v + n, f->n * sizeof(*f->v));
}

void why_faults_woke(struct why_faults *f, uint64_t end_ns, cover_fn take, void *ctx)
{
	if (!f->left_ns || end_ns <= f->left_ns)
		return;
	if (f->n == ARRAY_SIZE(f->v)) /* so many waits without an end of a call are in one long call */
		give(f, f->n / 2, take, ctx);
	f->v[f->n].begin_ns = f->left_ns;
	f->v[f->n++].end_ns = end_ns;
	f->left_ns = 0;
}

void why_faults_call(struct why_faults *f, uint64_t begin_ns, cover_fn take, void *ctx)
{
	unsigned int n = 0;

	while (n < f->n && f->v[n].end_ns <= begin_ns)
		n++;
	give(f, n, take, ctx);
	f->n = 0;
}

void why_faults_end(struct why_faults *f, cover_fn take, void *ctx)
{
	give(f, f->n, take, ctx);
}
