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
#include <stdint.h>

#include "stats/table.h"

#define PHASES_NAMES_MAX 1024
#define PHASES_MAX (1U << 16) /* as they are told, of every rank */
#define PHASE_NAME_MAX 128
#define PHASE_LABEL_MAX (PHASE_NAME_MAX + 24)
#define PHASE_NO_END UINT64_MAX /* until phases_end() */
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

/* Whence a phase is known; where several tell of a kind the first counts. */
enum phase_source {
	PHASE_MLLOG,	/* MLPerf's lines */
	PHASE_DLIO,	/* the DLIO benchmark's */
	PHASE_LOG,	/* other lines of a log */
	PHASE_MARKS,	/* marks.out */
	PHASE_INFERRED, /* what was read and written when */
	PHASE_SOURCES,
};

extern const char *const phase_kind_names[PHASE_KINDS];
extern const char *const phase_source_names[PHASE_SOURCES];

/* What phases have in common that are the same over and over. */
struct phase_name {
	char name[PHASE_NAME_MAX]; /* escaped as in the .out files */
	enum phase_kind kind;
	enum phase_source source;
	bool has_ends; /* an end of it was told, of whatever rank */
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

/* What the log or mark says at an instant. */
enum phase_event {
	PHASE_BEGINS, /* where no end of its name is told at all it lasts until the next; MLPerf's have one always */
	PHASE_ENDS,
	PHASE_LASTS, /* it begins, and lasts until its end or the next of this event, source and rank */
};

struct phase_entry {
	enum phase_event event;
	enum phase_source source;
	const char *name; /* unescaped, without event and number */
	uint32_t name_len;
	int64_t number, rank; /* -1: not told */
	uint64_t at_ns;
};

void phases_record(struct phases *p, const struct phase_entry *t);
/* A whole one, INFERRED or not; behind phases_close() too, which has to come once more then. */
void phases_add(struct phases *p, enum phase_source source, const char *name, uint64_t begin_ns, uint64_t end_ns,
		bool inferred);

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

/* --- inferring: infer.c -------------------------------------------------------------------- */

struct timeline;
/*
 * Where nothing was told: start-up, steady state and checkpoints by what was read and written when, in the
 * lists of P, marked as inferred. After phases_end(). No checkpoint begins before FROM_NS, nor, where it is not SURE
 * that this is when training began, before an inferred steady state does.
 */
void phases_infer(struct phases *p, const struct timeline *t, uint64_t from_ns, bool sure);

#endif
