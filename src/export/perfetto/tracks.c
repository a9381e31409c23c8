/* SPDX-License-Identifier: BSD-2-Clause */
/* See tracks.h. */
#include "export/perfetto/tracks.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "export/perfetto/proto.h"

enum {
	DESCRIPTOR_UUID = 1,
	DESCRIPTOR_NAME = 2,
	DESCRIPTOR_PROCESS = 3,
	DESCRIPTOR_THREAD = 4,
	DESCRIPTOR_PARENT = 5,
	DESCRIPTOR_COUNTER = 8
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_UNIT_NAME = 6 };

void tracks_init(struct tracks *t, struct export_out *out)
{
	*t = (struct tracks){ .part = 1, .out = out };
	table_init(&t->by_key, sizeof(struct track), TRACKS_MAX);
}

void tracks_free(struct tracks *t)
{
	for (uint32_t i = 0; i < t->by_key.n; i++) {
		lanes_free(&tracks_at(t, i)->lanes);
		free(tracks_at(t, i)->name);
	}
	table_free(&t->by_key);
}

uint32_t tracks_find(struct tracks *t, uint64_t key, bool *is_new)
{
	const uint32_t n = t->by_key.n;
	struct track *track = table_get(&t->by_key, key);

	*is_new = t->by_key.n > n;
	if (*is_new)
		track->parent = TRACKS_NONE;
	return track ? (uint32_t)(((char *)track - (char *)t->by_key.values) / sizeof(*track)) : TRACKS_NONE;
}

void tracks_name(struct track *track, const char *name, size_t len)
{
	free(track->name);
	track->name = strndup(name, len);
	for (uint32_t i = 0; i < track->lanes.n; i++)
		track->lanes.v[i].part = 0;
}

/* Puts the fields that depend on the kind of track. */
static char *put_kind(char *p, const struct track *track)
{
	const char *name = track->name ? track->name : "";
	char *at;

	switch (track->kind) {
	case TRACK_PROCESS:
		p = proto_begin(p, DESCRIPTOR_PROCESS, &at);
		p = proto_s64(p, PROCESS_PID, track->pid);
		return proto_end(proto_text(p, PROCESS_NAME, name), at);
	case TRACK_THREAD:
		p = proto_begin(p, DESCRIPTOR_THREAD, &at);
		p = proto_s64(p, THREAD_PID, track->pid);
		p = proto_s64(p, THREAD_TID, track->tid);
		return proto_end(proto_text(p, THREAD_NAME, name), at);
	case TRACK_COUNTER:
		p = proto_text(p, DESCRIPTOR_NAME, name);
		p = proto_begin(p, DESCRIPTOR_COUNTER, &at);
		return proto_end(track->unit ? proto_text(p, COUNTER_UNIT_NAME, track->unit) : p, at);
	case TRACK_PLAIN:
		return proto_text(p, DESCRIPTOR_NAME, name);
	}
	return p;
}

static uint64_t parent_id(struct tracks *t, uint32_t parent)
{
	struct track *track = tracks_at(t, parent);

	/* a parent without an event of its own has no lane yet */
	if (!track->lanes.n && lanes_nest(&track->lanes, 0, 0) == LANES_NONE)
		return 0;
	return tracks_id(t, parent, 0);
}

void tracks_describe(struct tracks *tracks, uint32_t i, uint32_t lane)
{
	struct track *track = tracks_at(tracks, i);
	const size_t len = track->name ? strlen(track->name) : 0;
	uint64_t parent = 0;
	struct lane *l = &track->lanes.v[lane];
	char *p, *packet, *descriptor, number[32];

	if (lane)
		parent = tracks_id(tracks, i, 0);
	else if (track->parent != TRACKS_NONE)
		parent = parent_id(tracks, track->parent);
	l->part = tracks->part;
	if (!l->id)
		l->id = ++tracks->last_id;
	p = out_room(tracks->out, len + 256);
	if (!p)
		return;
	p = proto_begin(p, TRACE_PACKET, &packet);
	p = proto_u64(p, PACKET_SEQUENCE_ID, SEQUENCE_ID);
	p = proto_begin(p, PACKET_TRACK_DESCRIPTOR, &descriptor);
	p = proto_u64(p, DESCRIPTOR_UUID, l->id);
	if (parent)
		p = proto_u64(p, DESCRIPTOR_PARENT, parent);
	if (lane) {
		const int n =
			snprintf(number, sizeof(number), "%s %u", track->kind == TRACK_THREAD ? "lane" : "", lane + 1);

		p = proto_varint(proto_key(p, DESCRIPTOR_NAME, PROTO_BYTES),
				 (track->kind == TRACK_THREAD ? 0 : len) + (size_t)n);
		if (track->kind != TRACK_THREAD && len)
			p = mempcpy(p, track->name, len);
		p = mempcpy(p, number, (size_t)n);
	} else {
		p = put_kind(p, track);
	}
	out_put(tracks->out, proto_end(proto_end(p, descriptor), packet));
}
