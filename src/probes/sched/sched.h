/* SPDX-License-Identifier: BSD-2-Clause */
/* What the probes of the scheduler share: properties of the kernel, names, and the waits that have not ended. */
#ifndef PROBES_SCHED_SCHED_H
#define PROBES_SCHED_SCHED_H

#include <errno.h>

#include <bpf/btf.h>

#include "dlt/sched.h"
#include "kernel/btf.h"
#include "trace/field.h"

struct probe_object;

/* Values of CALL and BY. */
extern const struct field_name sched_call_names[], wait_by_names[];

/*
 * Does tracepoint sched_switch (preempt, prev, next) also pass prev's state, after these? 0 or 1.
 * -EOPNOTSUPP where it comes before them (5.18 without commit 9c2136be0878).
 */
static inline int sched_state_is_given(const struct kernel_btf *kernel)
{
	const struct btf_type *second = btf_tp_arg(kernel, "sched_switch", 1);

	if (!second || !btf_is_ptr(second))
		return -EOPNOTSUPP;
	return btf_tp_arg(kernel, "sched_switch", 3) != NULL;
}

#define SCHED_WAITING_MAX 16384U /* waits; those of more threads are not looked at */

/*
 * Calls TAKE for each thread of the target that has been off its CPU for as long as a row of waits.out needs, as of
 * NOW_NS, with BY end unless it has been woken, and without its process, name, file and peer. SCHED is the object of
 * that probe. Returns 0; -ENOENT: it is not loaded; -errno.
 */
int sched_waiting(const struct probe_object *sched, uint64_t now_ns,
		  void (*take)(void *ctx, const struct dlt_waits *wait), void *ctx);

#endif
