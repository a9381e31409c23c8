/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The live regions of the target: those that have a message at their begin, and have not ended. Bounded, whatever
 * programs send: a region that finds no room is left out. Drain thread.
 */
#ifndef DRAIN_ROWS_LIVE_REGIONS_H
#define DRAIN_ROWS_LIVE_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "dlt/dlt.h"
#include "dltraced.h"

struct live_regions;

typedef void (*live_region_fn)(void *ctx, const struct dlt_hdr *begin, const struct dltraced_msg *m);

struct live_regions *live_regions_new(void); /* NULL: no memory. free(3) ends it */

/* Keeps the region that began with M. Returns false where its process has one with that id, and where there is no room.
 */
bool live_regions_add(struct live_regions *r, const struct dlt_hdr *begin, const struct dltraced_msg *m);
/* Returns whether TGID had region ID, which has ended. R may be NULL here and below. */
bool live_regions_remove(struct live_regions *r, uint32_t tgid, uint64_t id);
/* Calls TAKE for each, in no order. */
void live_regions_each(const struct live_regions *r, live_region_fn take, void *ctx);
/* Removes each of TGID, 0: of all, and calls TAKE for it. */
void live_regions_end(struct live_regions *r, uint32_t tgid, live_region_fn take, void *ctx);

#endif
