/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows in the Perfetto format: slices of threads, disks and CPUs, instants, clocks; their columns are annotations. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "export/perfetto/perfetto.h"
#include "export/text.h"

enum { ANNOTATION_NAME_IID = 1, ANNOTATION_UINT = 3, ANNOTATION_INT = 4, ANNOTATION_STRING = 6 };

#define CPUS_NAME 16

static inline uint64_t number(const struct perfetto_row *r, uint8_t column)
{
	uint64_t v = 0;

	reader_u64(perfetto_of(r, column), &v);
	return v;
}

void perfetto_row_times(struct perfetto_row *r)
{
	r->end_ns = number(r, 0);
	r->begin_ns = r->end_ns - MIN(number(r, r->plan->lat), r->end_ns);
}

static inline char *put_annotation(struct export *export, char *p, uint64_t iid, enum column_type type,
				   struct reader_field v)
{
	char *at, *text;
	uint64_t u;
	int64_t n;

	p = proto_begin(p, EVENT_ANNOTATIONS, &at);
	p = proto_u64(p, ANNOTATION_NAME_IID, iid);
	if (type == COLUMN_UINT && reader_u64(v, &u))
		return proto_end(proto_u64(p, ANNOTATION_UINT, u), at);
	if (type == COLUMN_INT && text_s64(v, &n))
		return proto_end(proto_s64(p, ANNOTATION_INT, n), at);
	p = proto_begin(p, ANNOTATION_STRING, &text);
	return proto_end(proto_end(text_put_utf8(p, v, export->scratch), text), at);
}

static inline char *put_annotations(struct export *export, char *p, const struct perfetto_row *row)
{
	const struct plan *plan = row->plan;

	for (unsigned int i = 0; i < plan->n_more; i++) {
		const struct reader_field v = perfetto_of(row, plan->more[i]);

		if (!export_is_none(v))
			p = put_annotation(export, p, plan->more_iid[i], row->f->table->column[plan->more[i]].type, v);
	}
	return p;
}

/* Returns the number of NAME; 0: it has none. Successive rows often have the same name, so the last one is kept. */
static inline uint64_t name_iid(struct export *x, struct plan *p, struct reader_field name)
{
	if (name.len == p->last_len && !memcmp(name.p, p->last, name.len))
		return p->last_iid;
	p->last_iid = perfetto_intern(x, INTERNED_EVENT_NAMES, name);
	p->last_len = name.len <= sizeof(p->last) ? name.len : 0;
	memcpy(p->last, name.p, p->last_len);
	return p->last_iid;
}

/* Puts the row onto a lane of TRACK: as a SLICE from its begin to its end, or as an instant. */
static int put_event(struct export *export, struct perfetto_row *row, uint32_t track, uint32_t lane, bool slice)
{
	struct perfetto *perfetto = export->state;
	struct plan *plan = row->plan;
	const struct reader_field name =
		plan->name == COLUMNS_NONE ? perfetto_text(row->f->table->name) : perfetto_of(row, plan->name);
	const uint64_t category = plan->category == COLUMNS_NONE ? plan->table_iid :
								   perfetto_intern(export, INTERNED_CATEGORIES,
										   perfetto_of(row, plan->category));
	const uint64_t iid = name_iid(export, plan, name), id = tracks_id(&perfetto->tracks, track, lane);
	const size_t len = row->row->stop[row->f->in.reader.n_columns] - row->row->stop[0];
	char *p = out_room(&export->out, 512 + 32 * (size_t)plan->n_more + 2 * TEXT_JSON_MAX(len)), *packet, *event,
	     *text;

	if (!p)
		return -ENOMEM;
	p = perfetto_begin_event(p, &packet, &event, perfetto_ns(export, slice ? row->begin_ns : row->end_ns),
				 slice ? TYPE_SLICE_BEGIN : TYPE_INSTANT, id);
	if (iid) {
		p = proto_u64(p, EVENT_NAME_IID, iid);
	} else {
		p = proto_begin(p, EVENT_NAME, &text);
		p = proto_end(text_put_utf8(p, name, export->scratch), text);
	}
	if (category)
		p = proto_u64(p, EVENT_CATEGORY_IIDS, category);
	p = put_annotations(export, p, row);
	p = proto_end(proto_end(p, event), packet);
	if (slice)
		p = perfetto_end_slice(p, perfetto_ns(export, row->end_ns), id);
	out_put(&export->out, p);
	return 0;
}

/* Whether the row may overlap others of its thread: a request of io_uring or libaio, or a region in a lane of its own.
 */
static bool is_async(const struct perfetto_row *r)
{
	const struct reader_field name = perfetto_of(r, r->plan->name), lane = perfetto_of(r, r->plan->lane);

	return (name.len > 3 && name.p[0] == 'i' && name.p[1] == 'o' && name.p[2] == '_' &&
		memchr(name.p, ':', name.len)) ||
	       (!export_is_none(lane) && !(lane.len == 1 && lane.p[0] == '0'));
}

/* Returns the track below THREAD for such rows: "io_uring", for example, or "regions". */
static uint32_t async_track(struct export *x, const struct perfetto_row *r, uint32_t thread)
{
	const struct perfetto *s = x->state;
	const struct reader_field func = perfetto_of(r, r->plan->name);
	const char *colon = memchr(func.p, ':', func.len);
	const struct reader_field kind = colon && export_is_none(perfetto_of(r, r->plan->lane)) ?
						 (struct reader_field){ func.p, (size_t)(colon - func.p) } :
						 perfetto_text("regions");
	const uint64_t key[2] = { thread, table_key(kind.p, kind.len) };

	return perfetto_track(x, perfetto_key(s, 'a', key, sizeof(key)), TRACK_PLAIN, thread, kind);
}

static int put_call(struct export *export, struct perfetto_row *row)
{
	struct perfetto *perfetto = export->state;
	const bool async = is_async(row);
	uint32_t track = perfetto_thread(export, number(row, row->plan->pid), number(row, row->plan->tid),
					 perfetto_of(row, row->plan->comm)),
		 lane = LANES_NONE;

	if (track != TRACKS_NONE && async) {
		/* their track is below the thread's first lane, so there must be one */
		if (!tracks_at(&perfetto->tracks, track)->lanes.n)
			lanes_nest(&tracks_at(&perfetto->tracks, track)->lanes, 0, 0);
		track = async_track(export, row, track);
	}
	if (track != TRACKS_NONE)
		lane = (async ? lanes_put : lanes_nest)(&tracks_at(&perfetto->tracks, track)->lanes, row->begin_ns,
							row->end_ns);
	if (lane == LANES_NONE) {
		perfetto->left_out++;
		return 0;
	}
	return put_event(export, row, track, lane, true);
}

/* Puts a row of a disk or a CPU onto its track below the host, which has as many lanes as it needs. */
static int put_in_lane(struct export *export, struct perfetto_row *row, char kind, struct reader_field name)
{
	struct perfetto *s = export->state;
	const uint32_t track =
		perfetto_track(export, perfetto_key(s, kind, name.p, name.len), TRACK_PLAIN, s->host_track, name);
	const uint32_t lane = track == TRACKS_NONE ?
				      LANES_NONE :
				      lanes_put(&tracks_at(&s->tracks, track)->lanes, row->begin_ns, row->end_ns);

	if (lane == LANES_NONE) {
		s->left_out++;
		return 0;
	}
	return put_event(export, row, track, lane, true);
}

/* Puts a slice for the time that the thread which leaves the CPU has run. The idle task gets none. */
static int put_switch(struct export *x, struct perfetto_row *r)
{
	char name[CPUS_NAME];
	int n;

	if (!number(r, r->plan->tid) || export_is_none(perfetto_of(r, r->plan->lat)))
		return 0;
	n = snprintf(name, sizeof(name), "CPU %" PRIu64, number(r, r->plan->cpu) % 1000000);
	return put_in_lane(x, r, 'c', (struct reader_field){ name, (size_t)n });
}

static int put_instant(struct export *export, struct perfetto_row *row)
{
	struct perfetto *perfetto = export->state;
	const uint64_t pid = number(row, row->plan->pid);
	const bool of_thread = row->plan->tid != COLUMNS_NONE;
	uint32_t track =
		of_thread ?
			perfetto_thread(export, pid, number(row, row->plan->tid), perfetto_of(row, row->plan->comm)) :
			perfetto_track(export,
				       perfetto_key(perfetto, 'i', row->f->table->name, strlen(row->f->table->name)),
				       TRACK_PLAIN, perfetto->host_track, perfetto_text(row->f->table->name));

	if (track == TRACKS_NONE) {
		perfetto->left_out++;
		return 0;
	}
	if (!tracks_at(&perfetto->tracks, track)->lanes.n)
		lanes_nest(&tracks_at(&perfetto->tracks, track)->lanes, 0, 0);
	return put_event(export, row, track, 0, false);
}

/* Puts clocks of the first host only, as the axis of time is that host's. */
static int put_clock_row(struct export *x, struct perfetto_row *r)
{
	const uint64_t realtime_ns = number(r, perfetto_column(r->f->table, "REALTIME_NS"));

	if (!((const struct perfetto *)x->state)->host && realtime_ns)
		perfetto_snapshot(x, r->end_ns, realtime_ns);
	return 0;
}

static void add_rates(struct export *x, const struct perfetto_row *r)
{
	const struct plan *p = r->plan;
	const struct reader_field side = perfetto_of(r, p->rw), disk = perfetto_of(r, p->disk);
	uint64_t bytes;

	if (p->bytes == COLUMNS_NONE || side.len != 1 || (side.p[0] != 'R' && side.p[0] != 'W') ||
	    !reader_u64(perfetto_of(r, p->bytes), &bytes))
		return;
	perfetto_rate(x, p->disk == COLUMNS_NONE ? perfetto_text("calls") : disk,
		      side.p[0] == 'R' ? " read" : " written", r->end_ns, (double)bytes);
}

int perfetto_row(struct export *export, struct perfetto_row *row)
{
	switch (row->plan->kind) {
	case PLAN_CALLS:
		add_rates(export, row);
		return put_call(export, row);
	case PLAN_DISKS:
		add_rates(export, row);
		return put_in_lane(export, row, 'd', perfetto_of(row, row->plan->disk));
	case PLAN_CPUS:
		return put_switch(export, row);
	case PLAN_BLOCKS:
		perfetto_block(export, row);
		return 0;
	case PLAN_INSTANTS:
		return put_instant(export, row);
	case PLAN_CLOCK:
		return put_clock_row(export, row);
	case PLAN_NUMBERS:
		perfetto_numbers(export, row->f, row->plan, row->row, row->end_ns);
		return 0;
	case PLAN_NEW:
	case PLAN_NONE:
		break;
	}
	return 0;
}
