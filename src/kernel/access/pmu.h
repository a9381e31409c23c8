/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of the CPU's performance monitoring unit (PMU) whose samples have the address of the accessed memory, as
 * sysfs describes them: loads and stores by Intel's PEBS, operations by AMD's IBS.
 */
#ifndef KERNEL_ACCESS_PMU_H
#define KERNEL_ACCESS_PMU_H

#include <stddef.h>

#include "kernel/access/cpu_events.h"

#define PMU_EVENTS 9 /* at most: two for each kind of CPU */

/*
 * Puts the events that sysfs below ROOT describes into RET, named as "cpu/mem-loads", to be sampled HZ times a second.
 * Returns how many, or -errno with the reason in WHY; -ERANGE: HZ is too much.
 */
int pmu_events_find(struct cpu_event ret[PMU_EVENTS], const char *root, unsigned int hz, char *why, size_t size);

/* The same on this machine, of those that this process may have, with the most exact instruction that the CPU can give.
 */
int pmu_events_try(struct cpu_event ret[PMU_EVENTS], unsigned int hz, char *why, size_t size);

#endif
