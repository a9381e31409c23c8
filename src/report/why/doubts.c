/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slow reads whose cause is not known yet. When two processes read the same pages at the same time, the kernel accounts
 * the bytes to one of them. The other read waits for these pages, too, but with zero bytes, and may end first. Its time
 * is moved from the page cache to the disk when the row of the read that fetched comes.
 */
#include "base/util.h"
#include "report/why/why_impl.h"

void why_doubt(struct why_doubts *d, const struct why_doubt *doubt)
{
	d->v[d->n++ % ARRAY_SIZE(d->v)] = *doubt;
	d->latest_ns = MAX(d->latest_ns, doubt->end_ns);
}

static void move(uint64_t v[WHY_STATES], double ns)
{
	uint64_t part = MIN((uint64_t)ns, v[WHY_CACHE]);

	v[WHY_CACHE] -= part;
	v[WHY_DISK] += part;
}

/* Moves the time in each sample of the trainer's GPU. */
static void move_samples(const struct why *why, struct why_trainer *trainer, const struct why_doubt *doubt)
{
	const struct spans *samples = why_samples(why, trainer);

	for (size_t i = trainer->own_samples ? trainer->at_sample + 1 : 0;
	     i-- > 0 && samples->v[i].end_ns > doubt->begin_ns;) {
		uint64_t from_ns = MAX(doubt->begin_ns, samples->v[i].begin_ns);
		uint64_t to_ns = MIN(doubt->end_ns, samples->v[i].end_ns);
		float *v = trainer->own_samples[i],
		      part = to_ns > from_ns ? MIN((float)(to_ns - from_ns), v[WHY_CACHE]) : 0;

		v[WHY_CACHE] -= part;
		v[WHY_DISK] += part;
	}
}

static void end(const struct why *why, struct why_doubt *doubt)
{
	struct why_loader *loader = doubt->loader;

	if (loader) {
		loader->ns[WHY_CACHE] -= doubt->ns;
		loader->ns[WHY_DISK] += doubt->ns;
		loader->idle_ns[WHY_CACHE] -= doubt->idle_ns;
		loader->idle_ns[WHY_DISK] += doubt->idle_ns;
	} else {
		move(doubt->trainer->own_ns, doubt->ns);
		move(doubt->trainer->own_idle_ns, doubt->idle_ns);
		move_samples(why, doubt->trainer, doubt);
	}
	doubt->fid = 0;
}

void why_doubts_end(const struct why *w, struct why_doubts *d, uint64_t fid, uint64_t begin_ns)
{
	for (unsigned int i = 0; i < MIN(d->n, ARRAY_SIZE(d->v)); i++) {
		struct why_doubt *doubt = &d->v[(d->n - 1 - i) % ARRAY_SIZE(d->v)];

		if (doubt->end_ns <= begin_ns)
			return; /* the doubts are in the order of their ends */
		if (doubt->fid == fid)
			end(w, doubt);
	}
}
