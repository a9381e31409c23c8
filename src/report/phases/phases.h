/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The job's phases: when it set itself up, trained, evaluated, wrote checkpoints, by what its log and its
 * marks say, or inferred where nothing says it. Pure: knows neither files nor lines of logs. All instants
 * are CLOCK_MONOTONIC in ns, as TIMESTAMP is.
 *
 * Who reads rows has the phases before them: phases_close() comes ahead of the first row, phases_end() behind the last
 * one. Inferred phases are there behind the rows alone.
 */
#ifndef REPORT_PHASES_PHASES_H
#define REPORT_PHASES_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "applog/entry.h"
#include "report/phases/epochs.h"
#include "report/phases/workers.h"
#include "stats/table.h"

#define PHASES_NAMES_MAX 1024
#define PHASES_MAX (1U << 16) /* as they are told, of every rank */
#define PHASE_LABEL_MAX (PHASE_NAME_MAX + 24)
#define PHASES_NONE UINT32_MAX
#define PHASES_NOTES_MAX 64

enum phase_kind {
	PHASE_INIT,
	PHASE_EPOCH,
	PHASE_TRAINING,
	PHASE_EVAL,
	PHASE_CHECKPOINT,
	PHASE_MARK, /* of `dltraced mark', and none of the above by its name */
	PHASE_OTHER,
	PHASE_KINDS,
};

extern const char *const phase_kind_names[PHASE_KINDS];
extern const char *const phase_source_names[PHASE_SOURCES];

/* What phases have in common that are the same over and over. */
struct phase_name {
	char name[PHASE_NAME_MAX]; /* escaped as in the .out files */
	enum phase_kind kind;
	enum phase_source source;
	bool has_begins, has_ends; /* a begin, an end of it was told, of whatever rank */
	bool by_rule; /* the user has named its lines */
};

struct phase {
	uint64_t begin_ns, end_ns;
	int64_t number; /* of the epoch, the block; -1: not told */
	int64_t rank;	/* -1: not told, or of several */
	uint32_t ranks; /* it is made of the same phase of so many */
	uint32_t name;	/* index for phases.names */
	bool unfinished; /* no end was told: it lasts until the trace ends */
	bool cut;	 /* it began before the trace did */
	bool inferred;	 /* no line and no mark says so */
	bool derived;	 /* by derive.c: no two lines begin and end it */
	bool since_start; /* no line says its begin: it is that of workers, of reading or of the trace */
	bool heading;	 /* its begin is a heading: no line says that it is one */
	bool until_next; /* its end is the next one's begin: for phases_close(), which drops it where ends are told */
};

struct phase_list {
	struct phase *v;
	uint32_t n, room;
};

struct phases {
	struct phase_name *names;
	uint32_t n_names;
	/* As they were told, each rank's by itself; in the order in which they ended, open ones last. */
	struct phase_list recorded;
	/* All ranks together: from when the first began to when the last ended; by begin, longer ones first. */
	struct phase_list all;
	/* Of each kind, by the best source that tells of it, in order and none in another. */
	struct phase_list lanes[PHASE_KINDS];
	struct table by_name; /* 1 + index for names, by hash */
	struct table open;    /* what has begun and not ended: by name and rank */
	struct table lasting; /* what lasts until the next such: by source and rank */
	/* What derive.c makes phases of. */
	struct phase_list ends; /* that had no begin: their instant is end_ns */
	struct epoch_groups near;
	uint64_t near_lines; /* about epochs that name neither begin nor end */
	struct phase_workers workers;
	struct { uint64_t begin_ns, end_ns; bool begins, ends; } trace; /* 0: not known; whether the job began, ended in it */
	bool says_epochs;  /* something else than lines on one side of them tells of epochs */
	bool has_score;    /* epochs are by such lines */
	struct epoch_score score;
	bool has_other_end; /* before rows are read: where the lines are on the other side, this is an epoch too */
	struct phase other_end;
	bool closed;	    /* phases_close() has been */
	uint64_t lone_ends; /* ends that are none of a phase */

	struct phase_rule_lines {
		char *text; /* REGEX=NAME */
		uint64_t lines;
	} *rules; /* those of --phase, and how many lines each matched */
	unsigned int n_rules;

	uint64_t unpaired;    /* begins and ends that have no other side */
	uint64_t outside;     /* phases that are not within the trace */
	uint64_t left_out;    /* there was no room for them */
	char *notes[PHASES_NOTES_MAX]; /* what is odd about what tells of them, a sentence each */
	unsigned int n_notes;
};

/* NULL: no memory. */
struct phases *phases_new(void);
void phases_free(struct phases *p);

/* --- telling: before phases_close() -------------------------------------------------------------- */

void phases_record(struct phases *p, const struct phase_entry *t);
/* A whole one, INFERRED or not; behind phases_close() too, which has to come once more then. */
void phases_add(struct phases *p, enum phase_source source, const char *name, uint64_t begin_ns, uint64_t end_ns,
		bool inferred);

/* The trace was from BEGIN_NS to END_NS, 0 where that is not known; whether the job BEGINS and ENDS in it. */
void phases_trace(struct phases *p, uint64_t begin_ns, uint64_t end_ns, bool begins, bool ends);

/* All is told. What ended before BEGIN_NS, when the trace began, is left out; 0: not known. 0 or -ENOMEM. */
int phases_close(struct phases *p, uint64_t begin_ns);

/* --- looking: after phases_close() --------------------------------------------------------------- */

/* The phases of KIND, by number. */
static inline uint32_t phases_count(const struct phases *p, enum phase_kind kind)
{
	return p->lanes[kind].n;
}

static inline const struct phase *phases_get(const struct phases *p, enum phase_kind kind, uint32_t i)
{
	return &p->lanes[kind].v[i];
}

/*
 * Rows have been read, and T has when something was read: what no line tells of is looked at once more. Comes before
 * phases_end(). 0 or -ENOMEM.
 */
struct timeline;
int phases_settle(struct phases *p, const struct timeline *t);

/*
 * The trace was from BEGIN_NS to END_NS: what has no end lasts until then, and what is behind it goes, from
 * the ends of the lists.
 */
void phases_end(struct phases *p, uint64_t begin_ns, uint64_t end_ns);

/* "epoch 3": the name, and the number where there is one. BUF. */
const char *phases_label(const struct phases *p, const struct phase *phase, char buf[PHASE_LABEL_MAX]);

/* By its name, which may have more words: "Training loop" is training. */
enum phase_kind phase_kind_of(const char *name, enum phase_source source);

/* --- from afar: visible.c ------------------------------------------------------------------ */

/* One that is told, or several that are shown as one. */
struct phase_seen {
	struct phase phase; /* of several without number and rank */
	uint32_t times;
	bool by_kind; /* several names of a kind and source: the first one's stands for all */
};

/*
 * Those of p->all, MOST at most, but at least one of each kind and source: where they are more, short ones of a name
 * that lie close together are one, then those of a kind and source; ever wider, until it is enough. *N of them, by
 * their begins; free() them. NULL: no memory.
 */
struct phase_seen *phases_visible(const struct phases *p, uint32_t most, uint32_t *n);

/* --- what no two lines begin and end: derive.c ---------------------------------------------- */

/* Put into P->recorded, in place of those that were there before. T: NULL before rows are read. For phases.c. */
void phases_derive(struct phases *p, const struct timeline *t);
/* The index of NAME, made when it is new; PHASES_NONE: there are too many. */
uint32_t phases_name(struct phases *p, enum phase_source source, const char *name, size_t len);

/* --- lists.c --------------------------------------------------------------------------------- */

/* False: there are too many. */
bool phases_put(struct phase_list *l, const struct phase *phase);
/*
 * The lists of those recorded; what ended before BEGIN_NS goes, and is counted in *OUTSIDE, where that is not NULL. 0 or
 * -ENOMEM. For phases.c.
 */
int phases_make_lists(struct phases *p, uint64_t begin_ns, uint64_t *outside);

/* --- inferring: infer.c -------------------------------------------------------------------- */

struct phase_saves;
/*
 * Start-up and steady state where nothing was told, checkpoints where none was, by what was read and written when, in the
 * lists of P, marked as inferred. After phases_end(). No checkpoint begins before FROM_NS, nor, where it is not SURE
 * that this is when training began, before an inferred steady state does.
 */
void phases_infer(struct phases *p, const struct timeline *t, struct phase_saves *saves, uint64_t from_ns, bool sure);

#endif
