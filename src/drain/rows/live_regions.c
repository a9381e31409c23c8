/* SPDX-License-Identifier: BSD-2-Clause */
/* See live_regions.h. */
#include "drain/rows/live_regions.h"

#include <stdlib.h>

#define SETS 512U
#define WAYS 8U /* live regions that meet in a set: a later one finds no room */

struct live_region_kept {
	struct dlt_hdr begin;
	struct dltraced_msg msg;
};

struct live_region_key {
	uint64_t id;
	uint32_t tgid; /* 0: free */
};

/* Keys are apart from what they are keys of: a search touches little memory, whatever a program sends. */
struct live_regions {
	struct live_region_key keys[SETS * WAYS];
	struct live_region_kept kept[SETS * WAYS];
	unsigned int in_use;
};

struct live_regions *live_regions_new(void)
{
	return calloc(1, sizeof(struct live_regions));
}

/* Returns the slot of TGID's region ID, else one for it: negative where there is none. */
static int slot_find(const struct live_regions *regions, uint32_t tgid, uint64_t id, bool *found_ret)
{
	unsigned int set = (unsigned int)((id ^ tgid) * 0x9e3779b97f4a7c15ULL >> 32) % SETS * WAYS;
	int spare = -1;

	for (unsigned int i = set; i < set + WAYS; i++) {
		*found_ret = regions->keys[i].tgid == tgid && regions->keys[i].id == id;
		if (*found_ret)
			return (int)i;
		if (!regions->keys[i].tgid)
			spare = (int)i;
	}
	return spare;
}

static void slot_free(struct live_regions *r, unsigned int slot)
{
	r->keys[slot].tgid = 0;
	r->in_use--;
}

bool live_regions_add(struct live_regions *r, const struct dlt_hdr *begin, const struct dltraced_msg *m)
{
	bool found = false;
	int slot = begin->tgid ? slot_find(r, begin->tgid, m->id, &found) : -1;

	if (slot < 0 || found)
		return false;
	r->keys[slot] = (struct live_region_key){ m->id, begin->tgid };
	r->kept[slot] = (struct live_region_kept){ *begin, *m };
	r->in_use++;
	return true;
}

bool live_regions_remove(struct live_regions *r, uint32_t tgid, uint64_t id)
{
	bool found = false;
	int slot = r && r->in_use && tgid ? slot_find(r, tgid, id, &found) : -1;

	if (slot < 0 || !found)
		return false;
	slot_free(r, (unsigned int)slot);
	return true;
}

void live_regions_each(const struct live_regions *r, live_region_fn take, void *ctx)
{
	for (unsigned int i = 0; r && r->in_use && i < SETS * WAYS; i++)
		if (r->keys[i].tgid)
			take(ctx, &r->kept[i].begin, &r->kept[i].msg);
}

void live_regions_end(struct live_regions *r, uint32_t tgid, live_region_fn take, void *ctx)
{
	for (unsigned int i = 0; r && r->in_use && i < SETS * WAYS; i++) {
		if (!r->keys[i].tgid || (tgid && r->keys[i].tgid != tgid))
			continue;
		take(ctx, &r->kept[i].begin, &r->kept[i].msg);
		slot_free(r, i);
	}
}
