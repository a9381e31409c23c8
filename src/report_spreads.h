/* SPDX-License-Identifier: BSD-2-Clause */
/* How long the calls of each process on files took, and how much they moved. Bounded, see below. */
#ifndef REPORT_SPREADS_H
#define REPORT_SPREADS_H

#include "report_scan.h"
#include "spread.h"

#define REPORT_SPREADS_MAX 4096 /* processes: the first that come; 48 MiB where each has all six */

enum report_spread {
	REPORT_READ_NS, REPORT_READ_BYTES, REPORT_WRITE_NS, REPORT_WRITE_BYTES, REPORT_OPEN_NS, REPORT_OTHER_NS,
	REPORT_SPREADS,
};

struct report_proc_spreads {
	struct spread *of[REPORT_SPREADS]; /* NULL: no such call */
};

struct report_spreads {
	struct table procs; /* struct report_proc_spreads, by PID */
	uint64_t left_out;  /* calls of processes that found no room */
	uint64_t last_pid;  /* the row before was of it */
	struct report_proc_spreads *last;
};

struct report_spreads *report_spreads_new(void);
void report_spreads_free(struct report_spreads *u);

/* The spreads of PID; NULL where there are none. */
const struct report_proc_spreads *report_spreads_of(const struct report *r, uint64_t pid);
/* "read", "write", "open", "other". */
extern const char *const report_spread_names[REPORT_SPREADS];

/* The columns of sizes and latencies of all calls: what they are of, NULL where the trace has none. */
struct report_column {
	const char *probe, *of; /* OF: a side of the probe, or NULL */
	const struct hist *lat, *size;
};
#define REPORT_COLUMNS_MAX 16
/* Returns how many; the first N of COLUMNS. */
unsigned int report_columns(const struct report *r, struct report_column columns[REPORT_COLUMNS_MAX]);

/* --- what is done for most rows of a trace: here, to be compiled into where they are taken ------------- */

/* NULL: no memory. */
struct spread *report_spreads_make(struct spread **s);

static inline void report_spreads_add(struct report_proc_spreads *p, enum report_spread what, uint64_t value)
{
	struct spread *s = p->of[what] ? p->of[what] : report_spreads_make(&p->of[what]);

	if (s)
		spread_add(s, value);
}

static inline struct report_proc_spreads *report_spreads_proc(struct report_spreads *u, uint64_t pid)
{
	if (!u->last || pid != u->last_pid) {
		u->last = table_get(&u->procs, pid);
		u->last_pid = pid;
	}
	return u->last;
}

static inline void report_spreads_call(const struct scan *s, const struct report_call_facts *c)
{
	struct report_spreads *u = s->report->spreads;
	const enum report_spread ns = c->rw ? (c->write ? REPORT_WRITE_NS : REPORT_READ_NS) :
				      s->kind == REPORT_OPEN ? REPORT_OPEN_NS : REPORT_OTHER_NS;
	struct report_proc_spreads *p;

	if (c->running || !c->on_file || (!c->rw && scan_is(s, COL_FUNC, "snapshot")))
		return;
	p = report_spreads_proc(u, c->pid);
	if (!p) {
		u->left_out++;
		return;
	}
	if (!c->again_side)
		report_spreads_add(p, ns, c->lat_ns);
	if (c->done)
		report_spreads_add(p, c->write ? REPORT_WRITE_BYTES : REPORT_READ_BYTES, c->bytes);
}

#endif
