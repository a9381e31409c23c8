/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/drain_impl.h"

#include <errno.h>
#include <stdio.h>

#include "base/util.h"
#include "collectors/collectors.h"
#include "drain/archiver.h"
#include "host/machine/space.h"
#include "trace/probe.h"

#define PART_OF_FREE 16
/* Rows in the buffer for which there is room next to names, processes and the manifest. */
#define LAST_BYTES (RESERVE_USE_BYTES / 16)

/* Returns the first open file behind number *I, which starts at 0, and sets *I to it; NULL: there is none. */
static struct sink *sink_next(struct drain *drain, unsigned int *i)
{
	const unsigned int n = DLT_PROBES + (drain->collectors ? drain->collectors->n : 0);

	while (++*i < n) {
		struct sink *sink =
			*i < DLT_PROBES ? &drain->decode.sinks[*i] : &drain->collectors->c[*i - DLT_PROBES].sink;

		if (sink->fd >= 0)
			return sink;
	}
	return NULL;
}

static void each_sink(struct drain *drain, void (*fn)(struct sink *sink))
{
	struct sink *sink;

	for (unsigned int i = 0; (sink = sink_next(drain, &i));)
		fn(sink);
}

/* --- opening ---------------------------------------------------------------------------------------- */

static int open_all(struct drain *drain, probe_mask mask, int dirfd)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		struct sink *sink = &drain->decode.sinks[i];
		char name[64], header[4096];
		int r;

		if (!(mask >> i & 1) || drain->decode.summed >> i & 1 ||
		    (drain->archiver && archiver_own(drain->archiver, i)))
			continue;
		snprintf(name, sizeof(name), "%s.out", probes[i]->name);
		r = sink_open(sink, dirfd, name);
		if (r < 0)
			return r;
		if (drain->archiver) {
			sink_split_by(sink, &drain->split);
			archiver_add(drain->archiver, sink, probes[i]->flags & PROBE_REFERENCE);
		}
		sink_header(sink, header, (size_t)(record_put_header(header, probes[i]) - header));
		r = sink_flush(sink);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Where little is free, little is kept: the manifest and the first rows still have to be written. */
static void keep_space(struct drain *drain, int dirfd)
{
	struct space space = {};
	uint64_t most = space_look(&space, dirfd, 0) < 0 ? 0 : space.free_bytes / PART_OF_FREE;

	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (probes[i]->ahead_bytes && drain->decode.sinks[i].fd >= 0) {
			sink_keep_ahead(&drain->decode.sinks[i], MIN(probes[i]->ahead_bytes, most));
			sink_hold_rows(&drain->decode.sinks[i]);
		}
	reserve_take(&drain->last, dirfd, MIN(most, RESERVE_LAST_BYTES));
	reserve_take(&drain->reserve, dirfd, most);
}

int drain_sinks_open(struct drain *drain, probe_mask mask, int dirfd)
{
	int r = open_all(drain, mask, dirfd);

	if (!r)
		keep_space(drain, dirfd);
	return r;
}

/* --- while rows come -------------------------------------------------------------------------------- */

void drain_sinks_flush(struct drain *drain)
{
	struct sink *sink;

	/* names before the rows that use them */
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (probes[i]->flags & PROBE_REFERENCE && drain->decode.sinks[i].fd >= 0)
			sink_flush(&drain->decode.sinks[i]);
	for (unsigned int i = 0; (sink = sink_next(drain, &i));)
		sink_flush(sink);
}

void drain_sinks_check_disk(struct drain *drain)
{
	each_sink(drain, sink_check_disk);
}

void drain_sinks_split_by_time(struct drain *d)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
	bool due = d->next_split_ns && now >= d->next_split_ns;

	if (!d->archiver || !(archiver_wants_split(d->archiver) || due))
		return;
	each_sink(d, sink_split_now);
	while (due && d->next_split_ns <= now)
		d->next_split_ns += d->split_ns;
}

void drain_pause(struct drain *d, bool pause)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (!(probes[i]->flags & PROBE_NEVER_PAUSED))
			__atomic_store_n(&d->decode.sinks[i].paused, pause, __ATOMIC_RELAXED);
	for (unsigned int i = 0; d->collectors && i < d->collectors->n; i++)
		__atomic_store_n(&d->collectors->c[i].sink.paused, pause, __ATOMIC_RELAXED);
}

/* --- the end ---------------------------------------------------------------------------------------- */

static bool is_full(const struct sink *s)
{
	return s->error == -ENOSPC || s->error == -EDQUOT;
}

static bool any_is_full(const struct drain *d)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (d->decode.sinks[i].fd >= 0 && is_full(&d->decode.sinks[i]))
			return true;
	return false;
}

/* Gives the reserve back, for which the largest buffers do not compete. */
static void make_room(struct drain *d)
{
	if (d->reserve.fd < 0 || !any_is_full(d))
		return;
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (!probes[i]->ahead_bytes && d->decode.sinks[i].len > LAST_BYTES)
			sink_drop_rows(&d->decode.sinks[i]);
	reserve_give_back(&d->reserve);
}

/* Rows wait until it is known whether there is space: it may have come back. */
void drain_sinks_flush_last(struct drain *d)
{
	each_sink(d, sink_hold_rows);
	drain_sinks_flush(d);
	make_room(d);
	drain_sinks_flush(d);
}

void drain_sinks_give_up(struct drain *d)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (d->decode.sinks[i].fd >= 0 && is_full(&d->decode.sinks[i]))
			sink_drop_rows(&d->decode.sinks[i]);
	reserve_give_back(&d->reserve);
	reserve_give_back(&d->last);
	each_sink(d, sink_cut_back);
}

uint64_t drain_sinks_to_disk(struct drain *drain, uint64_t until_ns)
{
	uint64_t left = 0;
	struct sink *sink;

	for (unsigned int i = 0; (sink = sink_next(drain, &i));)
		left += sink_to_disk(sink, until_ns);
	return left;
}

void drain_sinks_end(struct drain *drain)
{
	each_sink(drain, sink_end);
}
