/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tracks of a Perfetto trace: hosts, processes, threads, disks, CPUs, counters. Each output file describes a track
 * before its first event there. The numbers of fields are those of protos/perfetto/trace/ of google/perfetto.
 */
#ifndef EXPORT_PERFETTO_TRACKS_H
#define EXPORT_PERFETTO_TRACKS_H

#include "export/out.h"
#include "export/perfetto/lanes.h"
#include "stats/table.h"

/* TracePacket */
enum {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60
};
#define TRACE_PACKET 1 /* of Trace */
#define SEQUENCE_ID 1 /* the same for all packets, as there is one writer */

enum track_kind {
	TRACK_PLAIN,
	TRACK_PROCESS,
	TRACK_THREAD,
	TRACK_COUNTER,
};

#define TRACKS_MAX (1U << 18)
#define TRACKS_NONE UINT32_MAX

struct track {
	enum track_kind kind;
	uint32_t parent; /* the parent's number; TRACKS_NONE: none */
	int32_t pid, tid;
	char *name;
	char comm[16]; /* begin of the escaped name in the row that named it last */
	const char *unit;
	struct lanes lanes; /* the first is the track itself */
	/* for a counter of sums: the time that they are taken in (a tenth of a second, of LEVEL a millisecond), the sum
	 * so far, and whether it has one that is not written */
	uint64_t bin;
	double sum;
	bool open;
	bool level; /* the sum is of all changes until now, the last one at */
	uint64_t changed_ns;
};

struct tracks {
	struct table by_key;
	uint64_t last_id;
	uint32_t part; /* number of the output file, from 1 */
	struct export_out *out;
};

void tracks_init(struct tracks *t, struct export_out *out);
void tracks_free(struct tracks *t);

/* Returns the number of the track KEY; *IS_NEW: it was made now, without name and parent. TRACKS_NONE: too many. */
uint32_t tracks_find(struct tracks *t, uint64_t key, bool *is_new);
/* The result is valid until the next tracks_find(). */
static inline struct track *tracks_at(const struct tracks *t, uint32_t i)
{
	return table_at(&t->by_key, i);
}

/* Gives the track a name, any text. It will be described again before its next event. */
void tracks_name(struct track *track, const char *name, size_t len);

/* Writes the description of a lane of track I, after that of its parent if needed. */
void tracks_describe(struct tracks *tracks, uint32_t i, uint32_t lane);
/* Returns the id of a lane of track I, after it has been described. */
static inline uint64_t tracks_id(struct tracks *t, uint32_t i, uint32_t lane)
{
	const struct lane *l = &tracks_at(t, i)->lanes.v[lane];

	if (l->part != t->part)
		tracks_describe(t, i, lane);
	return tracks_at(t, i)->lanes.v[lane].id;
}

/* To be called when another output file begins: it has no descriptions yet. */
static inline void tracks_next_part(struct tracks *t)
{
	t->part++;
}

#endif
