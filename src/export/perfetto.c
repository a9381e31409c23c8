/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace for ui.perfetto.dev: hosts, processes and threads are tracks, calls are slices that nest by time, requests get
 * lanes of their own where they overlap, numbers of collectors are counters. The format is written by hand: the numbers of
 * fields are those of protos/perfetto/trace/ of google/perfetto. Times are CLOCK_MONOTONIC; of several hosts, the first
 * host's.
 */
#include "export/perfetto.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "base/log.h"
#include "export/text.h"

enum { CLOCKS = 1, PRIMARY_CLOCK = 2, CLOCK_ID = 1, CLOCK_TIME = 2 };
enum { BUILTIN_REALTIME = 1, BUILTIN_MONOTONIC = 3 };
enum { ANNOTATION_NAME_IID = 1, ANNOTATION_UINT = 3, ANNOTATION_INT = 4, ANNOTATION_STRING = 6 };
enum { INTERNED_IID = 1, INTERNED_NAME = 2 };
enum { DEFAULTS_CLOCK_ID = 58 };
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };

#define NAMES_MAX (1U << 16)
#define CPUS_NAME 16

static const struct perfetto *state(const struct export *x)
{
	return x->state;
}

/* --- packets ------------------------------------------------------------------------------------------------- */

static char *put_clock(char *p, unsigned int id, uint64_t ns)
{
	char *at;

	p = proto_begin(p, CLOCKS, &at);
	p = proto_u64(p, CLOCK_ID, id);
	return proto_end(proto_u64(p, CLOCK_TIME, ns), at);
}

/* Puts the clocks of one moment. REALTIME_NS 0: not known. */
static void put_snapshot(struct export *x, uint64_t mono_ns, uint64_t realtime_ns)
{
	char *p = out_room(&x->out, 128), *packet, *snapshot;

	if (!p)
		return;
	p = proto_begin(p, TRACE_PACKET, &packet);
	p = proto_u64(p, PACKET_SEQUENCE_ID, SEQUENCE_ID);
	p = proto_begin(p, PACKET_CLOCK_SNAPSHOT, &snapshot);
	p = put_clock(p, BUILTIN_MONOTONIC, mono_ns);
	if (realtime_ns)
		p = put_clock(p, BUILTIN_REALTIME, realtime_ns);
	p = proto_u64(p, PRIMARY_CLOCK, BUILTIN_MONOTONIC);
	out_put(&x->out, proto_end(proto_end(p, snapshot), packet));
}

/* Puts the first packets of a file: the clock of all later packets, and that none depends on packets before. */
static void put_head(struct export *x, uint64_t ns)
{
	char *p, *packet, *defaults;

	put_snapshot(x, ns, 0);
	p = out_room(&x->out, 64);
	if (!p)
		return;
	p = proto_begin(p, TRACE_PACKET, &packet);
	p = proto_u64(p, PACKET_SEQUENCE_ID, SEQUENCE_ID);
	p = proto_u64(p, PACKET_SEQUENCE_FLAGS, FLAG_CLEARED);
	p = proto_begin(p, PACKET_DEFAULTS, &defaults);
	p = proto_u64(p, DEFAULTS_CLOCK_ID, BUILTIN_MONOTONIC);
	out_put(&x->out, proto_end(proto_end(p, defaults), packet));
}

uint64_t perfetto_intern(struct export *x, unsigned int kind, struct reader_field text)
{
	struct perfetto *s = x->state;
	const uint32_t n = s->names[kind].n;
	struct interned *i = table_get(&s->names[kind], table_key(text.p, text.len));
	char *p, *packet, *data, *entry, *name;

	if (!i)
		return 0;
	if (s->names[kind].n > n)
		i->iid = n + 1;
	if (i->part == s->tracks.part)
		return i->iid;
	p = out_room(&x->out, 128 + TEXT_JSON_MAX(text.len));
	if (!p)
		return 0;
	i->part = s->tracks.part;
	p = proto_begin(p, TRACE_PACKET, &packet);
	p = proto_u64(p, PACKET_SEQUENCE_ID, SEQUENCE_ID);
	p = proto_begin(p, PACKET_INTERNED_DATA, &data);
	p = proto_begin(p, kind, &entry);
	p = proto_u64(p, INTERNED_IID, i->iid);
	p = proto_begin(p, INTERNED_NAME, &name);
	p = proto_end(text_put_utf8(p, text, x->scratch), name);
	p = proto_end(proto_end(p, entry), data);
	p = proto_u64(p, PACKET_SEQUENCE_FLAGS, FLAG_NEEDS_STATE);
	out_put(&x->out, proto_end(p, packet));
	return i->iid;
}

static inline char *begin_event(char *p, char **packet, char **event, uint64_t ns, unsigned int type, uint64_t track)
{
	p = proto_begin(p, TRACE_PACKET, packet);
	p = proto_u64(p, PACKET_TIMESTAMP, ns);
	p = proto_u64(p, PACKET_SEQUENCE_ID, SEQUENCE_ID);
	p = proto_u64(p, PACKET_SEQUENCE_FLAGS, FLAG_NEEDS_STATE);
	p = proto_begin(p, PACKET_TRACK_EVENT, event);
	p = proto_u64(p, EVENT_TYPE, type);
	return proto_u64(p, EVENT_TRACK_UUID, track);
}

static inline char *put_end(char *p, uint64_t ns, uint64_t track)
{
	char *packet, *event;

	p = begin_event(p, &packet, &event, ns, TYPE_SLICE_END, track);
	return proto_end(proto_end(p, event), packet);
}

void perfetto_slice(struct export *x, uint32_t track, uint32_t lane, const char *name, uint64_t begin_ns, uint64_t end_ns)
{
	struct perfetto *s = x->state;
	const uint64_t id = tracks_id(&s->tracks, track, lane);
	char *p = out_room(&x->out, 256 + strlen(name)), *packet, *event;

	if (!p)
		return;
	p = begin_event(p, &packet, &event, perfetto_ns(x, begin_ns), TYPE_SLICE_BEGIN, id);
	p = proto_text(p, EVENT_NAME, name);
	p = proto_end(proto_end(p, event), packet);
	out_put(&x->out, put_end(p, perfetto_ns(x, end_ns), id));
}

void perfetto_counter(struct export *x, uint32_t track, uint64_t ns, double v)
{
	struct perfetto *s = x->state;
	struct track *t = tracks_at(&s->tracks, track);
	uint64_t id;
	char *p, *packet, *event;

	if (!t->lanes.n && lanes_put(&t->lanes, 0, 0) == LANES_NONE)
		return;
	id = tracks_id(&s->tracks, track, 0);
	p = out_room(&x->out, 128);
	if (!p)
		return;
	p = begin_event(p, &packet, &event, perfetto_ns(x, ns), TYPE_COUNTER, id);
	p = proto_double(p, EVENT_DOUBLE_COUNTER, v);
	out_put(&x->out, proto_end(proto_end(p, event), packet));
}

/* --- plans --------------------------------------------------------------------------------------------------- */

uint8_t perfetto_column(const struct export_table *t, const char *name)
{
	const unsigned int i = export_table_column(t, name);

	return i ? (uint8_t)(i - 1) : COLUMNS_NONE;
}

static enum plan_kind kind_of(const struct export_table *t)
{
#define HAS(name) (perfetto_column(t, name) != COLUMNS_NONE)
	if (export_table_is_numbers(t))
		return PLAN_NUMBERS;
	if (HAS("REALTIME_NS"))
		return PLAN_CLOCK;
	if (HAS("PREV_TID") && HAS("RUN_NS"))
		return PLAN_CPUS;
	if (HAS("LAT_NS") && HAS("DISK"))
		return PLAN_DISKS;
	if (HAS("LAT_NS") && HAS("TID"))
		return PLAN_CALLS;
	return HAS("EVENT") || HAS("TEXT") ? PLAN_INSTANTS : PLAN_NONE;
#undef HAS
}

static uint8_t first_of(const struct export_table *t, const char *const *names)
{
	uint8_t c = COLUMNS_NONE;

	for (; *names && c == COLUMNS_NONE; names++)
		c = perfetto_column(t, *names);
	return c;
}

static void make_plan(struct plan *p, const struct export_table *t)
{
	static const char *const names[] = { "NAME", "FUNC", "T", "PREV_COMM", "EVENT", "TEXT", NULL };
	static const char *const pids[] = { "PID", "PREV_PID", NULL }, *const tids[] = { "TID", "PREV_TID", NULL };
	static const char *const comms[] = { "COMM", "PREV_COMM", NULL }, *const lats[] = { "LAT_NS", "RUN_NS", NULL };
	static const char *const bytes[] = { "RETURNED", "BYTES", NULL }, *const sides[] = { "RW", "T", NULL };

	p->kind = kind_of(t);
	p->pid = first_of(t, pids);
	p->tid = first_of(t, tids);
	p->comm = first_of(t, comms);
	p->lat = first_of(t, lats);
	p->name = first_of(t, names);
	p->category = perfetto_column(t, "CAT");
	p->lane = perfetto_column(t, "LANE");
	p->disk = perfetto_column(t, "DISK");
	p->cpu = perfetto_column(t, "CPU");
	p->bytes = first_of(t, bytes);
	p->rw = first_of(t, sides);
	for (unsigned int i = 2; i < t->n; i++) /* after TIMESTAMP and TIME */
		if (i != p->lat && i != p->name && i != p->category &&
		    (p->kind != PLAN_CALLS || (i != p->pid && i != p->tid && i != p->comm)))
			p->more[p->n_more++] = (uint8_t)i;
}

static struct reader_field text_field(const char *s)
{
	return (struct reader_field){ s, strlen(s) };
}

/* Writes the names of T's columns, unless the output file has them. */
static void write_plan(struct export *x, struct plan *p, const struct export_table *t)
{
	if (p->part == state(x)->tracks.part)
		return;
	p->part = state(x)->tracks.part;
	p->last_len = 0;
	for (unsigned int i = 0; i < p->n_more; i++)
		p->more_iid[i] = perfetto_intern(x, INTERNED_ANNOTATION_NAMES, text_field(t->column[p->more[i]].name));
	p->table_iid = perfetto_intern(x, INTERNED_CATEGORIES, text_field(t->name));
}

/* --- tracks -------------------------------------------------------------------------------------------------- */

uint64_t perfetto_key(const struct perfetto *s, char kind, const void *of, size_t len)
{
	return table_key_more(table_key_more(table_key(&kind, 1), (const char *)&s->host, sizeof(s->host)), of, len);
}

/* Names T with the texts BEFORE, OF and AFTER; OF is escaped as in a row. */
static void name_track(struct export *x, struct track *t, const char *before, struct reader_field of, const char *after)
{
	const size_t len = strlen(before);
	autofree char *text = malloc(len + TEXT_JSON_MAX(of.len) + strlen(after) + 1);

	if (!text)
		return;
	char *end = text_put_utf8(mempcpy(text, before, len), of, x->scratch);

	end = stpcpy(end, after);
	tracks_name(t, text, (size_t)(end - text));
}

uint32_t perfetto_track(struct export *x, uint64_t key, enum track_kind kind, uint32_t parent, struct reader_field name)
{
	struct perfetto *s = x->state;
	bool is_new;
	const uint32_t i = tracks_find(&s->tracks, key, &is_new);

	if (i == TRACKS_NONE || !is_new)
		return i;
	tracks_at(&s->tracks, i)->kind = kind;
	tracks_at(&s->tracks, i)->parent = parent;
	name_track(x, tracks_at(&s->tracks, i), "", name, "");
	return i;
}

/* Returns the number of a process for the viewer, which knows one machine only: each host gets a range of numbers. */
static int32_t number_of(const struct perfetto *s, uint64_t pid)
{
	return (int32_t)((pid + ((uint64_t)s->host << 22)) & INT32_MAX);
}

/* Names the track of a process; of several hosts, also by the host that it is on. */
static void name_process(struct export *x, struct track *t, struct reader_field comm)
{
	autofree char *before = x->n_hosts > 1 ? util_fmt("%s: ", x->host->name) : NULL;

	name_track(x, t, before ? before : "", comm, "");
}

static void remember_comm(struct track *t, struct reader_field comm)
{
	memset(t->comm, 0, sizeof(t->comm));
	memcpy(t->comm, comm.p, MIN(comm.len, sizeof(t->comm)));
}

static bool has_comm(const struct track *t, struct reader_field comm)
{
	return !memcmp(t->comm, comm.p, MIN(comm.len, sizeof(t->comm))) && (comm.len >= sizeof(t->comm) || !t->comm[comm.len]);
}

static uint32_t process_track(struct export *x, uint64_t pid, struct reader_field comm, bool is_leader)
{
	struct perfetto *s = x->state;
	bool is_new;
	const uint32_t i = tracks_find(&s->tracks, perfetto_key(s, 'p', &pid, sizeof(pid)), &is_new);
	struct track *t;

	if (i == TRACKS_NONE)
		return i;
	t = tracks_at(&s->tracks, i);
	if (is_new) {
		t->kind = TRACK_PROCESS;
		t->pid = number_of(s, pid);
	}
	if (is_new || (is_leader && !has_comm(t, comm))) {
		remember_comm(t, comm);
		name_process(x, t, comm);
	}
	return i;
}

/* Returns the track of a thread, which gets the name of the thread's last row. */
static uint32_t thread_track(struct export *x, uint64_t pid, uint64_t tid, struct reader_field comm)
{
	struct perfetto *s = x->state;
	const uint64_t key[2] = { pid, tid };
	struct track *t;
	uint32_t i = s->last_track, process;
	bool is_new = false;

	if (i == TRACKS_NONE || pid != s->last_pid || tid != s->last_tid)
		i = tracks_find(&s->tracks, perfetto_key(s, 't', key, sizeof(key)), &is_new);
	if (i == TRACKS_NONE)
		return i;
	s->last_pid = pid;
	s->last_tid = tid;
	s->last_track = i;
	t = tracks_at(&s->tracks, i);
	if (!is_new && has_comm(t, comm))
		return i;
	t->kind = TRACK_THREAD;
	t->pid = number_of(s, pid);
	t->tid = number_of(s, tid);
	remember_comm(t, comm);
	name_track(x, t, "", comm, "");
	process = process_track(x, pid, comm, pid == tid);
	tracks_at(&s->tracks, i)->parent = process;
	return i;
}

/* --- rows ----------------------------------------------------------------------------------------------------- */

struct row {
	const struct export_file *f;
	const struct reader_row *row;
	struct plan *plan;
	uint64_t begin_ns, end_ns;
};

static inline struct reader_field of(const struct row *r, uint8_t column)
{
	return column == COLUMNS_NONE ? reader_absent() : export_field(r->f, r->row, column);
}

static inline uint64_t number(const struct row *r, uint8_t column)
{
	uint64_t v = 0;

	reader_u64(of(r, column), &v);
	return v;
}

static inline char *put_annotation(struct export *x, char *p, uint64_t iid, enum column_type type, struct reader_field v)
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
	return proto_end(proto_end(text_put_utf8(p, v, x->scratch), text), at);
}

static inline char *put_annotations(struct export *x, char *p, const struct row *r)
{
	const struct plan *plan = r->plan;

	for (unsigned int i = 0; i < plan->n_more; i++) {
		const struct reader_field v = of(r, plan->more[i]);

		if (!export_is_none(v))
			p = put_annotation(x, p, plan->more_iid[i], r->f->table->column[plan->more[i]].type, v);
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
static int put_event(struct export *x, struct row *r, uint32_t track, uint32_t lane, bool slice)
{
	struct perfetto *s = x->state;
	struct plan *plan = r->plan;
	const struct reader_field name = plan->name == COLUMNS_NONE ? text_field(r->f->table->name) : of(r, plan->name);
	const uint64_t category = plan->category == COLUMNS_NONE ? plan->table_iid :
								    perfetto_intern(x, INTERNED_CATEGORIES, of(r, plan->category));
	const uint64_t iid = name_iid(x, plan, name), id = tracks_id(&s->tracks, track, lane);
	const size_t len = r->row->stop[r->f->in.reader.n_columns] - r->row->stop[0];
	char *p = out_room(&x->out, 512 + 32 * (size_t)plan->n_more + 2 * TEXT_JSON_MAX(len)), *packet, *event, *text;

	if (!p)
		return -ENOMEM;
	p = begin_event(p, &packet, &event, perfetto_ns(x, slice ? r->begin_ns : r->end_ns), slice ? TYPE_SLICE_BEGIN : TYPE_INSTANT, id);
	if (iid) {
		p = proto_u64(p, EVENT_NAME_IID, iid);
	} else {
		p = proto_begin(p, EVENT_NAME, &text);
		p = proto_end(text_put_utf8(p, name, x->scratch), text);
	}
	if (category)
		p = proto_u64(p, EVENT_CATEGORY_IIDS, category);
	p = put_annotations(x, p, r);
	p = proto_end(proto_end(p, event), packet);
	if (slice)
		p = put_end(p, perfetto_ns(x, r->end_ns), id);
	out_put(&x->out, p);
	return 0;
}

/* Whether the row may overlap others of its thread: a request of io_uring or libaio, or a region in a lane of its own. */
static bool is_async(const struct row *r)
{
	const struct reader_field name = of(r, r->plan->name), lane = of(r, r->plan->lane);

	return (name.len > 3 && name.p[0] == 'i' && name.p[1] == 'o' && name.p[2] == '_' && memchr(name.p, ':', name.len)) ||
	       (!export_is_none(lane) && !(lane.len == 1 && lane.p[0] == '0'));
}

/* Returns the track below THREAD for such rows: "io_uring", for example, or "regions". */
static uint32_t async_track(struct export *x, const struct row *r, uint32_t thread)
{
	const struct perfetto *s = x->state;
	const struct reader_field func = of(r, r->plan->name);
	const char *colon = memchr(func.p, ':', func.len);
	const struct reader_field kind = colon && export_is_none(of(r, r->plan->lane)) ?
					 (struct reader_field){ func.p, (size_t)(colon - func.p) } : text_field("regions");
	const uint64_t key[2] = { thread, table_key(kind.p, kind.len) };

	return perfetto_track(x, perfetto_key(s, 'a', key, sizeof(key)), TRACK_PLAIN, thread, kind);
}

static int put_call(struct export *x, struct row *r)
{
	struct perfetto *s = x->state;
	const bool async = is_async(r);
	uint32_t track = thread_track(x, number(r, r->plan->pid), number(r, r->plan->tid), of(r, r->plan->comm)), lane = LANES_NONE;

	if (track != TRACKS_NONE && async) {
		/* their track is below the thread's first lane, so there must be one */
		if (!tracks_at(&s->tracks, track)->lanes.n)
			lanes_nest(&tracks_at(&s->tracks, track)->lanes, 0, 0);
		track = async_track(x, r, track);
	}
	if (track != TRACKS_NONE)
		lane = (async ? lanes_put : lanes_nest)(&tracks_at(&s->tracks, track)->lanes, r->begin_ns, r->end_ns);
	if (lane == LANES_NONE) {
		s->left_out++;
		return 0;
	}
	return put_event(x, r, track, lane, true);
}

/* Puts a row of a disk or a CPU onto its track below the host, which has as many lanes as it needs. */
static int put_in_lane(struct export *x, struct row *r, char kind, struct reader_field name)
{
	struct perfetto *s = x->state;
	const uint32_t track = perfetto_track(x, perfetto_key(s, kind, name.p, name.len), TRACK_PLAIN, s->host_track, name);
	const uint32_t lane = track == TRACKS_NONE ? LANES_NONE :
						     lanes_put(&tracks_at(&s->tracks, track)->lanes, r->begin_ns, r->end_ns);

	if (lane == LANES_NONE) {
		s->left_out++;
		return 0;
	}
	return put_event(x, r, track, lane, true);
}

/* Puts a slice for the time that the thread which leaves the CPU has run. The idle task gets none. */
static int put_switch(struct export *x, struct row *r)
{
	char name[CPUS_NAME];
	int n;

	if (!number(r, r->plan->tid) || export_is_none(of(r, r->plan->lat)))
		return 0;
	n = snprintf(name, sizeof(name), "CPU %" PRIu64, number(r, r->plan->cpu) % 1000000);
	return put_in_lane(x, r, 'c', (struct reader_field){ name, (size_t)n });
}

static int put_instant(struct export *x, struct row *r)
{
	struct perfetto *s = x->state;
	const uint64_t pid = number(r, r->plan->pid);
	const bool of_thread = r->plan->tid != COLUMNS_NONE;
	uint32_t track = of_thread ? thread_track(x, pid, number(r, r->plan->tid), of(r, r->plan->comm)) :
				     perfetto_track(x, perfetto_key(s, 'i', r->f->table->name, strlen(r->f->table->name)),
						    TRACK_PLAIN, s->host_track, text_field(r->f->table->name));

	if (track == TRACKS_NONE) {
		s->left_out++;
		return 0;
	}
	if (!tracks_at(&s->tracks, track)->lanes.n)
		lanes_nest(&tracks_at(&s->tracks, track)->lanes, 0, 0);
	return put_event(x, r, track, 0, false);
}

/* Puts clocks of the first host only, as the axis of time is that host's. */
static int put_clock_row(struct export *x, struct row *r)
{
	const uint64_t realtime_ns = number(r, perfetto_column(r->f->table, "REALTIME_NS"));

	if (!state(x)->host && realtime_ns)
		put_snapshot(x, r->end_ns, realtime_ns);
	return 0;
}

static void add_rates(struct export *x, const struct row *r)
{
	const struct plan *p = r->plan;
	const struct reader_field side = of(r, p->rw), disk = of(r, p->disk);
	uint64_t bytes;

	if (p->bytes == COLUMNS_NONE || side.len != 1 || (side.p[0] != 'R' && side.p[0] != 'W') || !reader_u64(of(r, p->bytes), &bytes))
		return;
	perfetto_rate(x, p->disk == COLUMNS_NONE ? text_field("calls") : disk, side.p[0] == 'R' ? " read" : " written", r->end_ns, (double)bytes);
}

static int put_row(struct export *x, struct row *r)
{
	switch (r->plan->kind) {
	case PLAN_CALLS:
		add_rates(x, r);
		return put_call(x, r);
	case PLAN_DISKS:
		add_rates(x, r);
		return put_in_lane(x, r, 'd', of(r, r->plan->disk));
	case PLAN_CPUS:
		return put_switch(x, r);
	case PLAN_INSTANTS:
		return put_instant(x, r);
	case PLAN_CLOCK:
		return put_clock_row(x, r);
	case PLAN_NUMBERS:
		perfetto_numbers(x, r->f, r->plan, r->row, r->end_ns);
		return 0;
	case PLAN_NEW:
	case PLAN_NONE:
		break;
	}
	return 0;
}

/* --- files ---------------------------------------------------------------------------------------------------- */

/* Returns the name of the output file: -o, and for further files with their number before the suffix. */
static char *path_of(const struct export *x)
{
	const char *path = x->o->out, *slash = strrchr(path, '/'), *dot = strchr(slash ? slash + 1 : path, '.');
	const uint32_t part = state(x)->tracks.part;

	if (part == 1)
		return strdup(path);
	return dot ? util_fmt("%.*s-%u%s", (int)(dot - path), path, part, dot) : util_fmt("%s-%u", path, part);
}

static int open_part(struct export *x)
{
	autofree char *path = path_of(x);
	int res = path ? out_open(&x->out, path) : -ENOMEM;

	if (res == -EISDIR)
		log_err("%s is a folder: name a file with -o, or - for standard output", path);
	else if (res < 0)
		log_err_r(res, "%s: cannot be made", path ? path : x->o->out);
	return res < 0 ? -ECANCELED : 0;
}

/* Begins another output file if this one is large: a viewer in a browser takes several times a file's size of memory. */
static int split(struct export *x)
{
	struct perfetto *s = x->state;
	int res;

	if (!x->o->split_bytes || x->out.bytes + x->out.len < x->o->split_bytes || x->out.stream == stdout)
		return 0;
	res = out_close(&x->out);
	if (res < 0)
		return res;
	tracks_next_part(&s->tracks);
	s->begun = false;
	s->last_track = TRACKS_NONE;
	return open_part(x);
}

static int put_rows(struct export *x, const struct export_file *f, const struct reader_row *rows, unsigned int n)
{
	struct perfetto *s = x->state;
	struct plan *plan = &s->plan[f->index];
	int res = split(x);

	if (plan->kind == PLAN_NEW)
		make_plan(plan, f->table);
	if (plan->kind == PLAN_NONE)
		return res;
	for (unsigned int i = 0; i < n && res == 0; i++) {
		struct row r = { .f = f, .row = &rows[i], .plan = plan };
		uint64_t lat;

		r.end_ns = r.begin_ns = number(&r, 0);
		lat = number(&r, plan->lat);
		r.begin_ns -= MIN(lat, r.end_ns);
		if (!s->begun)
			put_head(x, perfetto_ns(x, r.begin_ns));
		s->begun = true;
		write_plan(x, plan, f->table);
		res = put_row(x, &r);
		if (res == 0)
			res = out_record(&x->out);
	}
	return res;
}

static int host(struct export *x)
{
	struct perfetto *s = x->state;
	autofree char *name = util_fmt("host %s", x->host->name);

	s->host = (unsigned int)(x->host - x->hosts);
	s->last_track = TRACKS_NONE;
	s->host_track = name ? perfetto_track(x, perfetto_key(s, 'h', "", 0), TRACK_PLAIN, TRACKS_NONE, (struct reader_field){ "", 0 }) : TRACKS_NONE;
	if (s->host_track == TRACKS_NONE)
		return -ENOMEM;
	tracks_name(tracks_at(&s->tracks, s->host_track), name, strlen(name));
	return 0;
}

static int host_end(struct export *x)
{
	struct perfetto *s = x->state;

	if (!s->begun)
		return 0;
	perfetto_end_rates(x);
	return perfetto_phases(x);
}

static int begin(struct export *x)
{
	struct perfetto *s = x->state;

	tracks_init(&s->tracks, &x->out);
	for (unsigned int i = 0; i < INTERNED_KINDS; i++)
		table_init(&s->names[i], sizeof(struct interned), NAMES_MAX);
	return open_part(x);
}

static int end(struct export *x)
{
	const struct perfetto *s = x->state;

	if (s->left_out)
		log_warn("%s rows are left out: there are too many threads, or too many of their calls overlap", FMT_COUNT(s->left_out));
	if (s->tracks.part > 1)
		log_info("%u files, each as large as a browser can show; `trace_processor --httpd' shows larger ones (--split)",
			 s->tracks.part);
	return out_close(&x->out);
}

static void close_all(struct export *x)
{
	struct perfetto *s = x->state;

	out_drop(&x->out);
	if (!s->tracks.out)
		return;
	tracks_free(&s->tracks);
	for (unsigned int i = 0; i < INTERNED_KINDS; i++)
		table_free(&s->names[i]);
}

const struct exporter export_perfetto = {
	.name = "perfetto",
	.help = "for ui.perfetto.dev: hosts, processes, threads, disks and CPUs on one axis of time",
	.order = EXPORT_BY_TIME,
	.state_size = sizeof(struct perfetto),
	.own_out = true,
	.begin = begin,
	.host = host,
	.rows = put_rows,
	.host_end = host_end,
	.end = end,
	.close = close_all,
};
