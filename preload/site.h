/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks as numbers, each defined once by an event. */
#ifndef PRELOAD_SITE_H
#define PRELOAD_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "dlt/alloc.h"

/*
 * Returns the number of the stack whose content has HASH, 0: there are too many. *DEFINED: an event has said what it
 * is; else the caller calls site_define(). Called while thread.busy.
 */
uint32_t site_of(uint64_t hash, bool *defined);
/* OP: DLT_ALLOC_SITE or DLT_ALLOC_LINES, whose N FRAMES these are. */
void site_define(enum dlt_alloc_op op, uint32_t number, const uint64_t *frames, uint32_t n);

#endif
