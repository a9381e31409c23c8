/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets of the Perfetto format that belong to no row: clocks, names that have numbers (interned), slices and counters
 * by name.
 */
#include <string.h>

#include "export/perfetto/perfetto.h"
#include "export/text.h"

enum { CLOCKS = 1, PRIMARY_CLOCK = 2, CLOCK_ID = 1, CLOCK_TIME = 2 };
enum { BUILTIN_REALTIME = 1, BUILTIN_MONOTONIC = 3 };
enum { INTERNED_IID = 1, INTERNED_NAME = 2 };
enum { DEFAULTS_CLOCK_ID = 58 };

static char *put_clock(char *p, unsigned int id, uint64_t ns)
{
	char *at;

	p = proto_begin(p, CLOCKS, &at);
	p = proto_u64(p, CLOCK_ID, id);
	return proto_end(proto_u64(p, CLOCK_TIME, ns), at);
}

void perfetto_snapshot(struct export *export, uint64_t mono_ns, uint64_t realtime_ns)
{
	char *p = out_room(&export->out, 128), *packet, *snapshot;

	if (!p)
		return;
	p = proto_begin(p, TRACE_PACKET, &packet);
	p = proto_u64(p, PACKET_SEQUENCE_ID, SEQUENCE_ID);
	p = proto_begin(p, PACKET_CLOCK_SNAPSHOT, &snapshot);
	p = put_clock(p, BUILTIN_MONOTONIC, mono_ns);
	if (realtime_ns)
		p = put_clock(p, BUILTIN_REALTIME, realtime_ns);
	p = proto_u64(p, PRIMARY_CLOCK, BUILTIN_MONOTONIC);
	out_put(&export->out, proto_end(proto_end(p, snapshot), packet));
}

void perfetto_head(struct export *export, uint64_t ns)
{
	char *p, *packet, *defaults;

	perfetto_snapshot(export, ns, 0);
	p = out_room(&export->out, 64);
	if (!p)
		return;
	p = proto_begin(p, TRACE_PACKET, &packet);
	p = proto_u64(p, PACKET_SEQUENCE_ID, SEQUENCE_ID);
	p = proto_u64(p, PACKET_SEQUENCE_FLAGS, FLAG_CLEARED);
	p = proto_begin(p, PACKET_DEFAULTS, &defaults);
	p = proto_u64(p, DEFAULTS_CLOCK_ID, BUILTIN_MONOTONIC);
	out_put(&export->out, proto_end(proto_end(p, defaults), packet));
}

uint64_t perfetto_intern(struct export *export, unsigned int kind, struct reader_field text)
{
	struct perfetto *perfetto = export->state;
	const uint32_t n = perfetto->names[kind].n;
	struct interned *interned = table_get(&perfetto->names[kind], table_key(text.p, text.len));
	char *p, *packet, *data, *entry, *name;

	if (!interned)
		return 0;
	if (perfetto->names[kind].n > n)
		interned->iid = n + 1;
	if (interned->part == perfetto->tracks.part)
		return interned->iid;
	p = out_room(&export->out, 128 + TEXT_JSON_MAX(text.len));
	if (!p)
		return 0;
	interned->part = perfetto->tracks.part;
	p = proto_begin(p, TRACE_PACKET, &packet);
	p = proto_u64(p, PACKET_SEQUENCE_ID, SEQUENCE_ID);
	p = proto_begin(p, PACKET_INTERNED_DATA, &data);
	p = proto_begin(p, kind, &entry);
	p = proto_u64(p, INTERNED_IID, interned->iid);
	p = proto_begin(p, INTERNED_NAME, &name);
	p = proto_end(text_put_utf8(p, text, export->scratch), name);
	p = proto_end(proto_end(p, entry), data);
	p = proto_u64(p, PACKET_SEQUENCE_FLAGS, FLAG_NEEDS_STATE);
	out_put(&export->out, proto_end(p, packet));
	return interned->iid;
}

void perfetto_slice(struct export *export, uint32_t track, uint32_t lane, const char *name, uint64_t begin_ns,
		    uint64_t end_ns)
{
	struct perfetto *s = export->state;
	const uint64_t id = tracks_id(&s->tracks, track, lane);
	char *p = out_room(&export->out, 256 + strlen(name)), *packet, *event;

	if (!p)
		return;
	p = perfetto_begin_event(p, &packet, &event, perfetto_ns(export, begin_ns), TYPE_SLICE_BEGIN, id);
	p = proto_text(p, EVENT_NAME, name);
	p = proto_end(proto_end(p, event), packet);
	out_put(&export->out, perfetto_end_slice(p, perfetto_ns(export, end_ns), id));
}

void perfetto_counter(struct export *export, uint32_t track, uint64_t ns, double v)
{
	struct perfetto *perfetto = export->state;
	struct track *t = tracks_at(&perfetto->tracks, track);
	uint64_t id;
	char *p, *packet, *event;

	if (!t->lanes.n && lanes_put(&t->lanes, 0, 0) == LANES_NONE)
		return;
	id = tracks_id(&perfetto->tracks, track, 0);
	p = out_room(&export->out, 128);
	if (!p)
		return;
	p = perfetto_begin_event(p, &packet, &event, perfetto_ns(export, ns), TYPE_COUNTER, id);
	p = proto_double(p, EVENT_DOUBLE_COUNTER, v);
	out_put(&export->out, proto_end(proto_end(p, event), packet));
}
