/* SPDX-License-Identifier: BSD-2-Clause */
/* Properties of the kernel that both probes of the scheduler need. */
#ifndef PROBES_SCHED_H
#define PROBES_SCHED_H

#include <errno.h>

#include <bpf/btf.h>

#include "kernel/btf.h"
#include "trace/field.h"

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

#endif
