/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the Perfetto format share. */
#ifndef EXPORT_PERFETTO_PERFETTO_H
#define EXPORT_PERFETTO_PERFETTO_H

#include <string.h>

#include "export/exporter.h"
#include "export/perfetto/proto.h"
#include "export/perfetto/tracks.h"
#include "export/walk.h"

/* TrackEvent */
enum {
	EVENT_CATEGORY_IIDS = 3,
	EVENT_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_NAME = 23,
	EVENT_DOUBLE_COUNTER = 44
};
enum { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
/* InternedData */
enum { INTERNED_CATEGORIES = 1, INTERNED_EVENT_NAMES = 2, INTERNED_ANNOTATION_NAMES = 3, INTERNED_KINDS };

/* TracePacket.sequence_flags */
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };

#define COLUMNS_NONE 0xff

/* How the rows of a file are shown. That follows from its columns, so that a new probe needs no code here. */
enum plan_kind {
	PLAN_NEW,
	PLAN_NONE, /* sums, tables of files */
	PLAN_CALLS, /* LAT_NS and TID: slices of threads */
	PLAN_DISKS, /* LAT_NS and DISK: slices of disks */
	PLAN_CPUS, /* PREV_TID and RUN_NS: slices of CPUs */
	PLAN_BLOCKS, /* ADDR, SIZE and LIFE_NS: counters of the bytes that processes have in use */
	PLAN_INSTANTS, /* EVENT or TEXT */
	PLAN_CLOCK, /* REALTIME_NS */
	PLAN_NUMBERS, /* samples of the machine: counters */
};

struct plan {
	enum plan_kind kind;
	/* indices of the table's columns, or COLUMNS_NONE */
	uint8_t pid, tid, comm, lat, name, category, lane, disk, cpu, bytes, rw, addr, size, old_size, life;
	/* the other columns: annotations of the slice */
	uint8_t more[READER_COLUMNS_MAX];
	uint64_t more_iid[READER_COLUMNS_MAX];
	unsigned int n_more;
	uint32_t part; /* the last output file that has their names */
	uint64_t table_iid; /* the number of the trace file's name, a category */
	/* the name of the last row */
	char last[64];
	size_t last_len;
	uint64_t last_iid;
};

struct interned {
	uint64_t iid;
	uint32_t part;
};

struct perfetto {
	struct tracks tracks;
	struct plan plan[WALK_FILES_MAX];
	struct table names[INTERNED_KINDS]; /* from a text's hash to struct interned */
	unsigned int host; /* number of the current host */
	uint32_t host_track;
	bool begun; /* the output file has its first packet */
	/* the thread of the last row */
	uint64_t last_pid, last_tid;
	uint32_t last_track;
	uint64_t blocks_ns; /* of the host's first row of a block; 0: none yet */
	uint64_t left_out; /* rows for which there is no track */
};

static inline struct reader_field perfetto_text(const char *s)
{
	return (struct reader_field){ s, strlen(s) };
}

/* --- perfetto_plan.c ------------------------------------------------------------------------------------------- */

/* Returns the index of T's column NAME, or COLUMNS_NONE. */
uint8_t perfetto_column(const struct export_table *t, const char *name);
void plan_make(struct plan *plan, const struct export_table *table);
/* Writes the names of TABLE's columns, unless the output file has them. */
void plan_write(struct export *export, struct plan *plan, const struct export_table *table);

/* --- perfetto_tracks.c ----------------------------------------------------------------------------------------- */

/* Returns a key for a track of the current host. */
uint64_t perfetto_key(const struct perfetto *s, char kind, const void *of, size_t len);
/* Returns the track KEY. A new one is made below PARENT, with the NAME, which is escaped as in a row. */
uint32_t perfetto_track(struct export *export, uint64_t key, enum track_kind kind, uint32_t parent,
			struct reader_field name);
/* Returns the track of a thread, which gets the name of the thread's last row. */
uint32_t perfetto_thread(struct export *export, uint64_t pid, uint64_t tid, struct reader_field comm);

/* --- perfetto_packets.c ---------------------------------------------------------------------------------------- */

/* Puts the clocks of one moment. REALTIME_NS 0: not known. */
void perfetto_snapshot(struct export *export, uint64_t mono_ns, uint64_t realtime_ns);
/* Puts the first packets of a file: the clock of all later packets, and that none depends on packets before. */
void perfetto_head(struct export *export, uint64_t ns);
/* Returns TEXT's number for KIND, after writing TEXT if the output file lacks it; 0: there is no room for more. */
uint64_t perfetto_intern(struct export *export, unsigned int kind, struct reader_field text);
static inline uint64_t perfetto_ns(const struct export *x, uint64_t ns)
{
	return ns + (uint64_t)x->host->shift_ns;
}
/* Writes a slice with the plain text NAME and no annotations. */
void perfetto_slice(struct export *export, uint32_t track, uint32_t lane, const char *name, uint64_t begin_ns,
		    uint64_t end_ns);
void perfetto_counter(struct export *export, uint32_t track, uint64_t ns, double v);

static inline char *perfetto_begin_event(char *p, char **packet, char **event, uint64_t ns, unsigned int type,
					 uint64_t track)
{
	p = proto_begin(p, TRACE_PACKET, packet);
	p = proto_u64(p, PACKET_TIMESTAMP, ns);
	p = proto_u64(p, PACKET_SEQUENCE_ID, SEQUENCE_ID);
	p = proto_u64(p, PACKET_SEQUENCE_FLAGS, FLAG_NEEDS_STATE);
	p = proto_begin(p, PACKET_TRACK_EVENT, event);
	p = proto_u64(p, EVENT_TYPE, type);
	return proto_u64(p, EVENT_TRACK_UUID, track);
}

static inline char *perfetto_end_slice(char *p, uint64_t ns, uint64_t track)
{
	char *packet, *event;

	p = perfetto_begin_event(p, &packet, &event, ns, TYPE_SLICE_END, track);
	return proto_end(proto_end(p, event), packet);
}

/* --- perfetto_rows.c ------------------------------------------------------------------------------------------- */

struct perfetto_row {
	const struct export_file *f;
	const struct reader_row *row;
	struct plan *plan;
	uint64_t begin_ns, end_ns;
};

/* Takes the times of R from its other members. */
void perfetto_row_times(struct perfetto_row *r);
/* Returns R's field of a column of the plan; absent where the plan has COLUMNS_NONE. */
static inline struct reader_field perfetto_of(const struct perfetto_row *r, uint8_t column)
{
	return column == COLUMNS_NONE ? reader_absent() : export_field(r->f, r->row, column);
}
/* Writes ROW. Returns 0 or -errno. */
int perfetto_row(struct export *export, struct perfetto_row *row);

/* --- perfetto_blocks.c ----------------------------------------------------------------------------------------- */

/* Adds the block that ROW begins to what its process has in use, and takes away the one that it ends. */
void perfetto_block(struct export *export, const struct perfetto_row *row);

/* --- perfetto_counters.c --------------------------------------------------------------------------------------- */

void perfetto_numbers(struct export *export, const struct export_file *file, struct plan *plan,
		      const struct reader_row *row, uint64_t ns);
/* Adds V at NS to the counter with the name AB, which shows sums over short times. */
void perfetto_rate(struct export *export, struct reader_field a, const char *b, uint64_t ns, double v);
/* Adds V at NS to what the counter TRACK shows: its value at the end of each millisecond with changes. */
void perfetto_change(struct export *export, uint32_t track, uint64_t ns, int64_t v);
void perfetto_end_sums(struct export *x);

/* --- perfetto_phases.c ----------------------------------------------------------------------------------------- */

/* Writes the phases of the host's job. Returns 0 or -ENOMEM. */
int perfetto_phases(struct export *x);

#endif
