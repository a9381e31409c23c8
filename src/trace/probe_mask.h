/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of probes, by their numbers in the registry. */
#ifndef TRACE_PROBE_MASK_H
#define TRACE_PROBE_MASK_H

#include <stdint.h>

#include "dlt/dlt.h"

typedef uint64_t probe_mask;
_Static_assert(DLT_PROBES <= 8 * sizeof(probe_mask), "a bit for each probe");

#define PROBE_BIT(probe) ((probe_mask)1 << (probe))
#define PROBE_ALL (~(probe_mask)0)

#endif
