/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The job's phases: when it started up, trained, evaluated and wrote checkpoints. They come from its log and its marks,
 * or are inferred where neither shows them. Pure: knows neither files nor lines of logs. All instants are
 * CLOCK_MONOTONIC in ns, as TIMESTAMP is.
 *
 * The phases are known before the rows: phases_close() is called before the first row, phases_end() after the last.
 * Only inferred phases are known after the rows.
 */
#ifndef REPORT_PHASES_PHASES_H
#define REPORT_PHASES_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "applog/entry.h"
#include "report/phases/data_dirs.h"
#include "report/phases/epochs.h"
#include "report/phases/layers.h"
#include "report/phases/region_sums.h"
#include "report/phases/step_lines.h"
#include "report/phases/steps.h"
#include "report/phases/workers.h"
#include "stats/table.h"

#define PHASES_NAMES_MAX 1024
#define PHASES_MAX (1U << 16) /* recorded phases, each rank's own */
#define PHASE_LABEL_MAX (PHASE_NAME_MAX + 24)
#define PHASES_NONE UINT32_MAX
#define PHASES_NOTES_MAX 64

enum phase_kind {
	PHASE_INIT,
	PHASE_EPOCH,
	PHASE_TRAINING,
	PHASE_EVAL,
	PHASE_CHECKPOINT,
	PHASE_MARK, /* a mark of `dltraced mark' whose name is none of the above */
	PHASE_OTHER,
	PHASE_KINDS,
};

extern const char *const phase_kind_names[PHASE_KINDS];
extern const char *const phase_source_names[PHASE_SOURCES];

/* The properties that all phases of one name share. */
struct phase_name {
	char name[PHASE_NAME_MAX]; /* escaped as in the .out files */
	enum phase_kind kind;
	enum phase_source source;
	bool has_begins, has_ends; /* a begin was recorded, or an end, of any rank */
	bool by_rule; /* the user's --phase named its lines */
};

struct phase {
	uint64_t begin_ns, end_ns;
	int64_t number; /* of the epoch or block; -1: not known */
	int64_t rank; /* -1: not known, or several */
	uint32_t ranks; /* how many ranks' phases it joins */
	uint32_t name; /* index for phases.names */
	bool unfinished; /* no end was recorded: it lasts until the trace ends */
	bool cut; /* it began before the trace */
	bool inferred; /* no line and no mark shows it */
	bool derived; /* derive.c made it: no pair of lines begins and ends it */
	bool since_start; /* no line shows its begin, which is that of workers, of reading or of the trace */
	bool heading; /* its begin is a heading, which need not be a begin */
	bool until_next; /* its end is the next one's begin: phases_close() drops it where the log has ends */
};

struct phase_list {
	struct phase *v;
	uint32_t n;
};

struct phases {
	struct phase_name *names;
	uint32_t n_names;
	/* As they were recorded, each rank's own; in the order in which they ended, open ones last. */
	struct phase_list recorded;
	/* All ranks joined: from the first begin to the last end; by begin, longer ones first. */
	struct phase_list all;
	/* By kind, from the best source that has it, in order and without overlap. */
	struct phase_list lanes[PHASE_KINDS];
	struct table by_name; /* 1 + index for names, by hash */
	struct table open; /* begun and not ended: by name and rank */
	struct table lasting; /* lasting until the next one: by source and rank */
	/* Input of derive.c. */
	struct phase_list ends; /* ends without a begin, at end_ns */
	struct epoch_groups near;
	uint64_t near_lines; /* lines about epochs that name neither begin nor end */
	struct step_lines step_lines;
	struct phase_workers workers;
	struct phase_steps steps;
	struct region_sums region_sums;
	struct region_layers layers;
	struct data_dirs data_dirs;
	struct {
		uint64_t begin_ns, end_ns;
		bool begins, ends;
	} trace; /* 0: not known; whether the job began, ended in it */
	bool has_epochs; /* another source than such lines has epochs */
	bool has_score; /* the epochs are by such lines */
	struct epoch_score score;
	bool has_other_end; /* before rows are read: the epoch on the other side of the lines */
	struct phase other_end;
	bool closed; /* phases_close() was called */
	uint64_t lone_ends; /* ends that belong to no phase */

	uint64_t printed_lines; /* of the job's output, where none of them is about a phase; 0: not known */
	bool printed_kept; /* by --log */

	struct phase_rule_lines {
		char *text; /* REGEX=NAME */
		uint64_t lines;
	} * rules; /* those of --phase, with the number of lines that each matched */
	unsigned int n_rules;

	uint64_t unpaired; /* begins without an end, and ends without a begin */
	uint64_t outside; /* phases outside of the trace */
	uint64_t left_out; /* phases for which there was no room */
	char *notes[PHASES_NOTES_MAX]; /* oddities of the sources, a sentence each */
	unsigned int n_notes;
};

/* NULL when memory is out. */
struct phases *phases_new(void);
void phases_free(struct phases *phases);

/* --- recording: before phases_close() ----------------------------------------------------------- */

void phases_record(struct phases *phases, const struct phase_entry *entry);
/* Adds a whole phase, INFERRED or not; after phases_close() it has to be called again. */
void phases_add(struct phases *p, enum phase_source source, const char *name, uint64_t begin_ns, uint64_t end_ns,
		bool inferred);

/* Sets the extent of the trace, 0 where it is not known, and whether the job BEGINS and ENDS in it. */
void phases_trace(struct phases *p, uint64_t begin_ns, uint64_t end_ns, bool begins, bool ends);

/*
 * Ends the recording. Phases that ended before the trace began at BEGIN_NS are left out; 0: not known. Returns 0 or
 * -ENOMEM.
 */
int phases_close(struct phases *phases, uint64_t begin_ns);

/* --- reading: after phases_close() --------------------------------------------------------------- */

/* Returns the number of phases of KIND. */
static inline uint32_t phases_count(const struct phases *p, enum phase_kind kind)
{
	return p->lanes[kind].n;
}

static inline const struct phase *phases_get(const struct phases *p, enum phase_kind kind, uint32_t i)
{
	return &p->lanes[kind].v[i];
}

/* Derives phases again with T, which knows when data was read; after the rows, before phases_end(). Returns 0 or
 * -ENOMEM. */
struct timeline;
int phases_settle(struct phases *p, const struct timeline *t);

/* Ends phases without an end at END_NS, and removes those after it from the ends of the lists. */
void phases_end(struct phases *p, uint64_t begin_ns, uint64_t end_ns);

/* Returns the phase that NS is in, the one that begins last; NULL: none. After phases_end(). */
const struct phase *phases_at(const struct phases *p, uint64_t ns);

/* Whether the job printed lines, and neither these nor anything else names an epoch or another phase. */
bool phases_are_unnamed(const struct phases *p);

/* Puts the name, and the number where there is one, into BUF: "epoch 3". Returns BUF. */
const char *phases_label(const struct phases *p, const struct phase *phase, char buf[PHASE_LABEL_MAX]);

/* Whether NAME is the label of PHASE ("epoch 3"), its name, or the name of its kind. */
bool phases_is_called(const struct phases *phases, const struct phase *phase, const char *name);

/* Returns the kind of a name, which may have further words: "Training loop" is training. */
enum phase_kind phase_kind_of(const char *name, enum phase_source source);

/* --- as shown: visible.c ------------------------------------------------------------------- */

/* A phase, or several that are shown as one. */
struct phase_seen {
	struct phase phase; /* without number and rank when it is several */
	uint32_t times;
	bool by_kind; /* it joins several names of a kind and source, and has the first one's */
};

/*
 * Returns at most MOST of p->all, but at least one of each kind and source, by their begins, to be freed; *N: how many.
 * Where there are more, short phases of a name that lie close together are joined, then those of a kind and source,
 * ever wider until they fit. NULL when memory is out.
 */
struct phase_seen *phases_visible(const struct phases *phases, uint32_t most, uint32_t *n);

/* --- phases without pairs of lines: derive.c ------------------------------------------------ */

/* For phases.c: puts derived phases into PHASES->recorded, in place of earlier ones. T: NULL before rows are read. */
void phases_derive(struct phases *phases, const struct timeline *t);
/* Returns the index of NAME, added when new; PHASES_NONE: there are too many. */
uint32_t phases_name(struct phases *phases, enum phase_source source, const char *name, size_t len);

/* --- lists.c --------------------------------------------------------------------------------- */

/* False when there are too many. */
bool phases_put(struct phase_list *l, const struct phase *phase);
/*
 * For phases.c: makes the lists of the recorded phases. Leaves out those that ended before BEGIN_NS, and counts them in
 * *OUTSIDE, which may be NULL. Returns 0 or -ENOMEM.
 */
int phases_make_lists(struct phases *phases, uint64_t begin_ns, uint64_t *outside);

/* --- inference: infer.c -------------------------------------------------------------------- */

struct phase_saves;
/*
 * To be called after phases_end(): adds phases to the lists of PHASES, marked as inferred, by the times of reads and
 * writes. Start-up and steady state are added where no phase was recorded, checkpoints where no checkpoint was. No
 * checkpoint begins before FROM_NS; and, unless it is SURE that training began then, none before an inferred steady
 * state.
 */
void phases_infer(struct phases *phases, const struct timeline *timeline, struct phase_saves *saves, uint64_t from_ns,
		  bool sure);

#endif
