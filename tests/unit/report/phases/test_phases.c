/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/phases/phases.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "report/phases/saves.h"
#include "stats/timeline.h"

#define S NSEC_PER_SEC

struct line {
	enum phase_event event;
	enum phase_source source;
	const char *name;
	int64_t number, rank;
	uint64_t at_s;
};

/* Returns the number of the phase of KIND at AT_NS. */
static uint32_t phase_at(const struct phases *p, enum phase_kind kind, uint64_t at_ns)
{
	for (uint32_t i = 0; i < phases_count(p, kind); i++)
		if (phases_get(p, kind, i)->begin_ns <= at_ns && at_ns < phases_get(p, kind, i)->end_ns)
			return i;
	return PHASES_NONE;
}

static struct phases *phases_of(const struct line *lines, size_t n)
{
	struct phases *p = phases_new();

	assert_non_null(p);
	for (size_t i = 0; i < n; i++)
		phases_record(p, &(struct phase_entry){
					 .event = lines[i].event,
					 .source = lines[i].source,
					 .name = lines[i].name,
					 .name_len = (uint32_t)strlen(lines[i].name),
					 .number = lines[i].number,
					 .rank = lines[i].rank,
					 .at_ns = lines[i].at_s * S,
				 });
	return p;
}

/* Expects all phases as "LABEL KIND BEGIN-END RANKS", a line each. */
static void expect(const struct phases *p, const char *want)
{
	char text[4096] = "", label[PHASE_LABEL_MAX];
	size_t len = 0;

	for (uint32_t i = 0; i < p->all.n; i++) {
		const struct phase *v = &p->all.v[i];

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s %s %g-%g x%u%s%s%s\n",
					phases_label(p, v, label), phase_kind_names[p->names[v->name].kind],
					(double)v->begin_ns / S, (double)v->end_ns / S, v->ranks,
					v->unfinished ? " unfinished" : "", v->cut ? " cut" : "",
					v->inferred ? " inferred" : "");
	}
	assert_string_equal(text, want);
}

static void begins_meet_their_ends(void **state)
{
	static const struct line lines[] = {
		{ PHASE_BEGINS, PHASE_MLLOG, "init", -1, 0, 1 },  { PHASE_ENDS, PHASE_MLLOG, "init", -1, 0, 2 },
		{ PHASE_BEGINS, PHASE_MLLOG, "run", -1, 0, 2 },   { PHASE_BEGINS, PHASE_MLLOG, "epoch", 1, 0, 3 },
		{ PHASE_ENDS, PHASE_MLLOG, "epoch", 1, 0, 5 },    { PHASE_BEGINS, PHASE_MLLOG, "eval", 1, 0, 5 },
		{ PHASE_ENDS, PHASE_MLLOG, "eval", -1, 0, 6 },    { PHASE_BEGINS, PHASE_MLLOG, "epoch", 2, 0, 6 },
		{ PHASE_ENDS, PHASE_MLLOG, "epoch", 2, 0, 8 },    { PHASE_ENDS, PHASE_MLLOG, "run", -1, 0, 9 },
		{ PHASE_ENDS, PHASE_MLLOG, "nothing", -1, 0, 9 },
	};
	struct phases *p = phases_of(lines, ARRAY_SIZE(lines));

	assert_int_equal(phases_close(p, 0), 0);
	expect(p,
	       "init init 1-2 x1\nrun training 2-9 x1\nepoch 1 epoch 3-5 x1\neval 1 eval 5-6 x1\nepoch 2 epoch 6-8 x1\n");
	assert_int_equal(p->unpaired, 1);
	assert_null(phases_at(p, S - 1));
	assert_ptr_equal(phases_at(p, 2 * S), &p->all.v[1]); /* not init, which has just ended */
	assert_ptr_equal(phases_at(p, 4 * S), &p->all.v[2]);
	assert_ptr_equal(phases_at(p, 5 * S), &p->all.v[3]);
	assert_ptr_equal(phases_at(p, 8 * S + 1), &p->all.v[1]);
	assert_null(phases_at(p, 9 * S));
	phases_free(p);
}

static void what_has_no_end_lasts_until_the_trace_ends(void **state)
{
	static const struct line lines[] = {
		{ PHASE_BEGINS, PHASE_LOG, "epoch", 1, -1, 3 },
		{ PHASE_LASTS, PHASE_MARKS, "here", -1, -1, 4 },
	};
	struct phases *p = phases_of(lines, ARRAY_SIZE(lines));

	assert_int_equal(phases_close(p, 0), 0);
	assert_int_equal(phase_at(p, PHASE_EPOCH, 2 * S), PHASES_NONE);
	assert_int_equal(phase_at(p, PHASE_EPOCH, 3 * S), 0);
	assert_int_equal(phase_at(p, PHASE_EPOCH, 1000 * S), 0); /* rows still come */
	phases_end(p, 1 * S, 10 * S);
	expect(p, "epoch 1 epoch 3-10 x1 unfinished\nhere mark 4-10 x1 unfinished\n");
	assert_int_equal(p->unpaired, 0);
	phases_free(p);
}

static void without_an_end_the_next_begin_is_one(void **state)
{
	static const struct line lines[] = {
		{ PHASE_BEGINS, PHASE_LOG, "epoch", 1, 0, 3 },    { PHASE_BEGINS, PHASE_LOG, "epoch", 1, 1, 4 },
		{ PHASE_BEGINS, PHASE_MARKS, "epoch", 7, -1, 5 }, /* of another source: it ends nothing of the log's */
		{ PHASE_BEGINS, PHASE_LOG, "eval", -1, 0, 8 },    { PHASE_BEGINS, PHASE_LOG, "epoch", 2, 0, 9 },
		{ PHASE_BEGINS, PHASE_LOG, "epoch", 2, 1, 10 },   { PHASE_BEGINS, PHASE_LOG, "eval", -1, 0, 14 },
		{ PHASE_BEGINS, PHASE_LOG, "epoch", 3, 0, 15 },   { PHASE_BEGINS, PHASE_LOG, "checkpoint", -1, 0, 17 },
	};
	struct phases *p = phases_of(lines, ARRAY_SIZE(lines));

	assert_int_equal(phases_close(p, 0), 0);
	phases_end(p, 1 * S, 20 * S);
	/* an evaluation is within its epoch */
	expect(p, "epoch 1 epoch 3-10 x2\nepoch 7 epoch 5-20 x1 unfinished\neval eval 8-9 x1\n"
		  "epoch 2 epoch 9-20 x2 unfinished\neval eval 14-15 x1\nepoch 3 epoch 15-20 x1 unfinished\n"
		  "checkpoint checkpoint 17-20 x1 unfinished\n");
	assert_int_equal(p->unpaired, 0);
	phases_free(p);
}

/* If the end of a phase was lost, its time is not known. */
static void with_ends_the_next_begin_is_none(void **state)
{
	static const struct line lines[] = {
		{ PHASE_BEGINS, PHASE_LOG, "epoch", 1, -1, 1 },   { PHASE_BEGINS, PHASE_LOG, "epoch", 2, -1, 3 },
		{ PHASE_BEGINS, PHASE_LOG, "eval", 2, -1, 5 },    { PHASE_ENDS, PHASE_LOG, "epoch", 2, -1, 6 },
		{ PHASE_ENDS, PHASE_LOG, "eval", 2, -1, 8 }, /* beside the next epoch, but with its number */
		{ PHASE_BEGINS, PHASE_MLLOG, "epoch", 1, -1, 2 }, { PHASE_BEGINS, PHASE_MLLOG, "eval", 1, -1, 3 },
		{ PHASE_BEGINS, PHASE_MLLOG, "epoch", 2, -1, 4 }, /* these always have ends */
	};
	struct phases *p = phases_of(lines, ARRAY_SIZE(lines));

	assert_int_equal(phases_close(p, 0), 0);
	phases_end(p, 1 * S, 20 * S);
	expect(p,
	       "eval 1 eval 3-20 x1 unfinished\nepoch 2 epoch 3-6 x1\nepoch 2 epoch 4-20 x1 unfinished\neval 2 eval 5-8 x1\n");
	assert_int_equal(p->unpaired, 2);
	phases_free(p);
}

/* A log that does not name the rank of each line; and the next log, which begins where the first one did. */
static void a_phase_marked_twice_is_one(void **state)
{
	static const struct line lines[] = {
		{ PHASE_BEGINS, PHASE_LOG, "epoch", 1, -1, 1 },  { PHASE_BEGINS, PHASE_LOG, "epoch", 1, -1, 2 },
		{ PHASE_BEGINS, PHASE_LOG, "epoch", 2, -1, 30 }, { PHASE_BEGINS, PHASE_LOG, "epoch", 2, -1, 31 },
		{ PHASE_BEGINS, PHASE_LOG, "epoch", 2, -1, 60 }, /* it has begun again */
		{ PHASE_BEGINS, PHASE_LOG, "epoch", 1, -1, 1 },
	};
	struct phases *p = phases_of(lines, ARRAY_SIZE(lines));

	assert_int_equal(phases_close(p, 0), 0);
	phases_end(p, 1 * S, 90 * S);
	expect(p, "epoch 1 epoch 1-90 x1 unfinished\nepoch 1 epoch 1-30 x1\nepoch 2 epoch 30-60 x1\n"
		  "epoch 2 epoch 60-90 x1 unfinished\n");
	phases_free(p);
}

static void what_lasts_ends_with_the_next_or_its_end(void **state)
{
	static const struct line lines[] = {
		{ PHASE_LASTS, PHASE_LOG, "epoch", 1, -1, 1 },      { PHASE_LASTS, PHASE_LOG, "epoch", 2, -1, 3 },
		{ PHASE_LASTS, PHASE_MARKS, "warm up", -1, -1, 2 }, /* of another source: it ends nothing of the log's
								     */
		{ PHASE_ENDS, PHASE_LOG, "epoch", -1, -1, 5 },      { PHASE_LASTS, PHASE_LOG, "epoch", 3, 7, 5 },
		{ PHASE_LASTS, PHASE_LOG, "epoch", 3, 8, 6 },       { PHASE_LASTS, PHASE_LOG, "save", -1, 7, 8 },
		{ PHASE_ENDS, PHASE_LOG, "epoch", -1, 8, 9 },       { PHASE_ENDS, PHASE_LOG, "save", -1, 7, 9 },
	};
	struct phases *p = phases_of(lines, ARRAY_SIZE(lines));

	assert_int_equal(phases_close(p, 0), 0);
	phases_end(p, 0, 20 * S);
	expect(p,
	       "epoch 1 epoch 1-3 x1\nwarm\\040up mark 2-20 x1 unfinished\nepoch 2 epoch 3-5 x1\nepoch 3 epoch 5-9 x2\n"
	       "save other 8-9 x1\n");
	assert_int_equal(p->unpaired, 0);
	phases_free(p);
}

/* From when the first rank is in it until the last has left; the next epoch of one may begin before. */
static void ranks_are_one(void **state)
{
	static const struct line lines[] = {
		{ PHASE_BEGINS, PHASE_MLLOG, "epoch", -1, 0, 10 }, { PHASE_BEGINS, PHASE_MLLOG, "epoch", -1, 1, 12 },
		{ PHASE_ENDS, PHASE_MLLOG, "epoch", -1, 0, 20 },   { PHASE_BEGINS, PHASE_MLLOG, "epoch", -1, 0, 21 },
		{ PHASE_ENDS, PHASE_MLLOG, "epoch", -1, 1, 23 },   { PHASE_BEGINS, PHASE_MLLOG, "epoch", -1, 1, 24 },
		{ PHASE_ENDS, PHASE_MLLOG, "epoch", -1, 0, 30 },   { PHASE_ENDS, PHASE_MLLOG, "epoch", -1, 1, 31 },
		{ PHASE_BEGINS, PHASE_MLLOG, "eval", 7, 1, 31 },   { PHASE_ENDS, PHASE_MLLOG, "eval", 7, 1, 32 },
		{ PHASE_BEGINS, PHASE_MLLOG, "eval", 7, 2, 40 },   { PHASE_ENDS, PHASE_MLLOG, "eval", 7, 2, 41 },
	};
	struct phases *p = phases_of(lines, ARRAY_SIZE(lines));

	assert_int_equal(phases_close(p, 0), 0);
	expect(p, "epoch epoch 10-23 x2\nepoch epoch 21-31 x2\neval 7 eval 31-32 x1\neval 7 eval 40-41 x1\n");
	assert_int_equal(p->all.v[0].rank, -1);
	assert_int_equal(p->all.v[2].rank, 1);
	assert_int_equal(p->recorded.n, 6); /* each rank's by itself */
	/* one after the other, so that each instant has one number */
	assert_int_equal(phases_count(p, PHASE_EPOCH), 2);
	assert_int_equal(phases_get(p, PHASE_EPOCH, 1)->begin_ns, 23 * S);
	assert_int_equal(phase_at(p, PHASE_EPOCH, 22 * S), 0);
	assert_int_equal(phase_at(p, PHASE_EPOCH, 23 * S), 1);
	assert_int_equal(phase_at(p, PHASE_EPOCH, 31 * S), PHASES_NONE);
	assert_int_equal(phase_at(p, PHASE_EPOCH, 9 * S), PHASES_NONE);
	phases_free(p);
}

static void the_best_source_is_looked_up(void **state)
{
	static const struct line lines[] = {
		{ PHASE_BEGINS, PHASE_MARKS, "epoch", 1, -1, 1 }, { PHASE_ENDS, PHASE_MARKS, "epoch", 1, -1, 9 },
		{ PHASE_BEGINS, PHASE_DLIO, "epoch", 5, -1, 2 },  { PHASE_ENDS, PHASE_DLIO, "epoch", 5, -1, 8 },
		{ PHASE_BEGINS, PHASE_MARKS, "eval", -1, -1, 3 }, { PHASE_ENDS, PHASE_MARKS, "eval", -1, -1, 4 },
	};
	struct phases *p = phases_of(lines, ARRAY_SIZE(lines));

	assert_int_equal(phases_close(p, 0), 0);
	assert_int_equal(p->all.n, 3);
	assert_int_equal(phases_count(p, PHASE_EPOCH), 1);
	assert_int_equal(phases_get(p, PHASE_EPOCH, 0)->number, 5);
	assert_int_equal(phases_count(p, PHASE_EVAL), 1);
	phases_free(p);
}

static void what_is_not_in_the_trace_goes(void **state)
{
	static const struct line lines[] = {
		{ PHASE_BEGINS, PHASE_DLIO, "epoch", 1, -1, 1 },  { PHASE_ENDS, PHASE_DLIO, "epoch", 1, -1, 5 },
		{ PHASE_BEGINS, PHASE_DLIO, "epoch", 2, -1, 5 },  { PHASE_ENDS, PHASE_DLIO, "epoch", 2, -1, 15 },
		{ PHASE_BEGINS, PHASE_DLIO, "epoch", 3, -1, 15 }, { PHASE_ENDS, PHASE_DLIO, "epoch", 3, -1, 25 },
		{ PHASE_BEGINS, PHASE_DLIO, "epoch", 4, -1, 25 },
	};
	struct phases *p = phases_of(lines, ARRAY_SIZE(lines));

	assert_int_equal(phases_close(p, 10 * S), 0);
	assert_int_equal(phase_at(p, PHASE_EPOCH, 16 * S), 1);
	phases_end(p, 10 * S, 20 * S);
	expect(p, "epoch 2 epoch 10-15 x1 cut\nepoch 3 epoch 15-20 x1\n");
	assert_int_equal(p->outside, 2);
	assert_int_equal(phase_at(p, PHASE_EPOCH, 16 * S), 1);
	phases_free(p);
}

static void kinds_are_by_the_words_of_a_name(void **state)
{
	static const struct {
		const char *name;
		enum phase_source source;
		enum phase_kind kind;
	} cases[] = {
		{ "init", PHASE_MLLOG, PHASE_INIT },
		{ "Initialization", PHASE_LOG, PHASE_INIT },
		{ "epoch 3", PHASE_MARKS, PHASE_EPOCH },
		{ "train epoch", PHASE_LOG, PHASE_EPOCH },
		{ "block", PHASE_DLIO, PHASE_TRAINING },
		{ "blocked", PHASE_LOG, PHASE_OTHER },
		{ "training_loop", PHASE_LOG, PHASE_TRAINING },
		{ "run", PHASE_MLLOG, PHASE_TRAINING },
		{ "prune", PHASE_LOG, PHASE_OTHER },
		{ "validation", PHASE_LOG, PHASE_EVAL },
		{ "retrieval", PHASE_LOG, PHASE_OTHER },
		{ "save_checkpoint", PHASE_MLLOG, PHASE_CHECKPOINT },
		{ "ckpt-1", PHASE_LOG, PHASE_CHECKPOINT },
		{ "coffee", PHASE_MARKS, PHASE_MARK },
		{ "", PHASE_LOG, PHASE_OTHER },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(phase_kind_of(cases[i].name, cases[i].source), cases[i].kind);
}

/* Names, ranks and phases beyond the limits are counted, and the memory for them is limited. */
static void too_many_are_left_out(void **state)
{
	struct phases *p = phases_new();
	char name[32];

	for (unsigned int i = 0; i < PHASES_NAMES_MAX + 10; i++) {
		int len = snprintf(name, sizeof(name), "n%u", i);

		phases_record(p, &(struct phase_entry){ .event = PHASE_BEGINS,
							.source = PHASE_LOG,
							.name = name,
							.name_len = (uint32_t)len,
							.number = -1,
							.rank = -1,
							.at_ns = i });
	}
	assert_int_equal(p->left_out, 10);
	for (uint64_t i = 0; i < PHASES_MAX + 5; i++)
		phases_add(p, PHASE_LOG, "n1", i, i + 1, false);
	assert_int_equal(p->left_out, 15);
	assert_int_equal(phases_close(p, 0), 0);
	assert_int_equal(p->left_out, 15 + PHASES_NAMES_MAX); /* there is no room for those without an end either */
	phases_free(p);
}

/* --- inferred -------------------------------------------------------------------------------------- */

/* 100 s: 10 s of start, with reads; 80 s of strong reads with checkpoints at 40 and 70; nothing. */
static struct timeline *job(bool checkpoints, bool steady)
{
	struct timeline *t = timeline_new(1000 * S);

	for (uint64_t ms = 0; ms < 100000; ms += 10) {
		uint64_t at = 1000 * S + ms * NSEC_PER_MSEC;
		bool writes = checkpoints && (ms / 1000 == 40 || ms / 1000 == 70);

		timeline_add(t, TIMELINE_READS, at, 1);
		timeline_add(t, TIMELINE_READ_BYTES, at,
			     ms < 10000 || !steady ? 100 :
			     ms < 90000 && !writes ? 1000000 :
						     0);
	}
	return t;
}

/* A second of writes to a new file. */
static void save(struct phase_saves *s, uint64_t fid, uint64_t at_s)
{
	phase_saves_mark(s, fid, PHASE_OPENED, at_s * S, 10);
	for (uint64_t ms = 10; ms < 1000; ms += 10)
		phase_saves_write(s, fid, at_s * S + ms * NSEC_PER_MSEC, NSEC_PER_MSEC, 1 << 20);
}

/* The saves of that job, and a log that is written all the time. */
static struct phase_saves *saved(bool checkpoints)
{
	struct phase_saves *s = phase_saves_new();

	if (checkpoints) {
		save(s, 1, 1040);
		save(s, 2, 1070);
	}
	for (uint64_t ms = 0; ms < 100000; ms += 10)
		phase_saves_write(s, 9, 1000 * S + ms * NSEC_PER_MSEC, 100, 100);
	return s;
}

/* Within a second of AT. */
#define NEAR(ns, at) assert_true((ns) > (at)*S - S && (ns) < (at)*S + S)

static void what_stands_out_is_inferred(void **state)
{
	struct timeline *t = job(true, true);
	struct phase_saves *s = saved(true);
	struct phases *p = phases_new();

	assert_int_equal(phases_close(p, 1000 * S), 0);
	phases_infer(p, t, s, 0, false);
	assert_int_equal(p->all.n, 4);
	for (uint32_t i = 0; i < p->all.n; i++)
		assert_true(p->all.v[i].inferred);
	assert_int_equal(phases_count(p, PHASE_INIT), 1);
	NEAR(phases_get(p, PHASE_INIT, 0)->end_ns, 1010);
	assert_int_equal(phases_count(p, PHASE_TRAINING), 1);
	NEAR(phases_get(p, PHASE_TRAINING, 0)->end_ns, 1090);
	assert_int_equal(phases_count(p, PHASE_CHECKPOINT), 2);
	NEAR(phases_get(p, PHASE_CHECKPOINT, 0)->begin_ns, 1040);
	NEAR(phases_get(p, PHASE_CHECKPOINT, 1)->end_ns, 1071);
	phases_free(p);
	phase_saves_free(s);
	timeline_free(t);
}

static void what_does_not_stand_out_is_not(void **state)
{
	struct timeline *t = job(false, false), *empty = timeline_new(5);
	struct phase_saves *s = saved(false);
	struct phases *p = phases_new();

	assert_int_equal(phases_close(p, 0), 0);
	phases_infer(p, empty, s, 0, false);
	assert_int_equal(p->all.n, 0);
	phases_infer(p, t, s, 0, false); /* the same all the time: that is steady, from the begin on */
	assert_int_equal(p->all.n, 1);
	assert_string_equal(p->names[p->all.v[0].name].name, "steady");
	phases_free(p);
	timeline_free(t);
	timeline_free(empty);
	phase_saves_free(s);
}

/* The data set is written before it is read: a second of writes during the start, and a checkpoint of the same size. */
static void what_is_written_before_training_is_no_checkpoint(void **state)
{
	static const struct {
		uint64_t from_ns;
		bool sure;
		uint32_t checkpoints;
	} cases[] = {
		{ 0, false, 2 }, /* of the three: none before the steady state */
		{ 1001 * S, false, 2 }, /* nor before that, whatever was read at first */
		{ 1001 * S, true, 3 }, /* unless loaders existed from then on */
		{ 1060 * S, true, 1 },  { UINT64_MAX, false, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct timeline *t = job(true, true);
		struct phase_saves *s = saved(true);
		struct phases *p = phases_new();

		save(s, 3, 1002);
		assert_int_equal(phases_close(p, 1000 * S), 0);
		phases_infer(p, t, s, cases[i].from_ns, cases[i].sure);
		assert_int_equal(phases_count(p, PHASE_CHECKPOINT), cases[i].checkpoints);
		phases_free(p);
		timeline_free(t);
		phase_saves_free(s);
	}
}

/* Checkpoints are inferred where other phases are marked; start-up and steady state are not. */
static void a_marked_phase_is_not_inferred(void **state)
{
	static const struct line mark[] = { { PHASE_LASTS, PHASE_MARKS, "x", -1, -1, 1050 } },
				 save[] = { { PHASE_BEGINS, PHASE_LOG, "checkpoint", -1, -1, 1030 },
					    { PHASE_ENDS, PHASE_LOG, "checkpoint", -1, -1, 1031 } };
	static const struct {
		const struct line *lines;
		size_t n;
		uint32_t checkpoints, all;
	} cases[] = {
		{ mark, 1, 2, 3 },
		{ save, 2, 1, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct phases *p = phases_of(cases[i].lines, cases[i].n);
		struct timeline *t = job(true, true);
		struct phase_saves *s = saved(true);

		assert_int_equal(phases_close(p, 1000 * S), 0);
		phases_end(p, 1000 * S, 1100 * S);
		phases_infer(p, t, s, 0, false);
		assert_int_equal(phases_count(p, PHASE_CHECKPOINT), cases[i].checkpoints);
		assert_int_equal(p->all.n, cases[i].all);
		phases_free(p);
		timeline_free(t);
		phase_saves_free(s);
	}
}

/* Returns the sum of the numbers of phases that each entry stands for. */
static uint64_t times(const struct phase_seen *v, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += v[i].times;
	return sum;
}

/* 60 000 steps in an hour of ten epochs: at a distance, epochs are visible, and steps are blocks. */
static void what_is_too_short_to_be_seen_is_merged(void **state)
{
	struct phases *p = phases_new();
	autofree struct phase_seen *v = NULL;
	uint32_t n = 0, epochs = 0;

	for (uint64_t i = 0; i < 60000; i++)
		phases_add(p, PHASE_LOG, "step", 1000 * S + i * S / 20, 1000 * S + (i + 1) * S / 20, false);
	for (uint64_t i = 0; i < 10; i++)
		phases_add(p, PHASE_LOG, "epoch", (1000 + i * 300) * S, (1300 + i * 300) * S, false);
	assert_int_equal(phases_close(p, 0), 0);
	v = phases_visible(p, 4096, &n);
	assert_in_range(n, 500, 4096);
	assert_int_equal(times(v, n), 60010);
	for (uint32_t i = 0; i < n; i++) {
		epochs += v[i].times == 1;
		assert_true(i == 0 || v[i].phase.begin_ns >= v[i - 1].phase.begin_ns);
		assert_true(v[i].times == 1 || v[i].phase.end_ns - v[i].phase.begin_ns < 8 * S);
	}
	assert_int_equal(epochs, 10);
	phases_free(p);
}

/* Regions have a warm-up, the first epoch of the log, but for a few seconds, and half of its second one. */
static void what_two_sources_have_is_seen_once(void **state)
{
	struct phases *p = phases_new();
	autofree struct phase_seen *v = NULL;
	uint32_t n = 0, logged = 0;

	phases_add(p, PHASE_MLLOG, "epoch", 1000 * S, 1100 * S, false);
	phases_add(p, PHASE_MLLOG, "epoch", 1100 * S, 1200 * S, false);
	phases_add(p, PHASE_REGIONS, "epoch", 1004 * S, 1098 * S, false);
	phases_add(p, PHASE_REGIONS, "epoch", 900 * S, 990 * S, false);
	phases_add(p, PHASE_REGIONS, "epoch", 1100 * S, 1150 * S, false);
	assert_int_equal(phases_close(p, 0), 0);
	v = phases_visible(p, 100, &n);
	assert_int_equal(n, 4);
	for (uint32_t i = 0; i < n; i++)
		if (p->names[v[i].phase.name].source == PHASE_MLLOG) {
			assert_int_equal(v[i].phase.begin_ns, 1100 * S);
			logged++;
		}
	assert_int_equal(logged, 1);
	phases_free(p);
}

/* A thousand names, all at the same time. */
static void names_beyond_number_are_one_of_their_kind(void **state)
{
	struct phases *p = phases_new();
	struct phase_seen *v;
	uint32_t n = 0;

	for (uint64_t i = 0; i < 20000; i++) {
		char name[PHASE_NAME_MAX];

		snprintf(name, sizeof(name), "%u \"</script>\n", (unsigned int)(i % 1000));
		phases_add(p, i % 2 ? PHASE_LOG : PHASE_MARKS, name, (1000 + i) * S, 90000 * S, false);
	}
	assert_int_equal(phases_close(p, 0), 0);
	v = phases_visible(p, 100, &n);
	assert_in_range(n, 2, 100);
	assert_int_equal(times(v, n), 20000);
	assert_true(v[0].by_kind);
	free(v);
	/* no fewer than there are kinds, and lists that fit are unchanged */
	v = phases_visible(p, 1, &n);
	assert_in_range(n, 2, PHASE_KINDS * PHASE_SOURCES);
	free(v);
	v = phases_visible(p, 20000, &n);
	assert_int_equal(n, 20000);
	free(v);
	phases_free(p);
	p = phases_new();
	assert_int_equal(phases_close(p, 0), 0);
	v = phases_visible(p, 10, &n);
	assert_non_null(v);
	assert_int_equal(n, 0);
	free(v);
	phases_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_meet_their_ends),
		cmocka_unit_test(what_has_no_end_lasts_until_the_trace_ends),
		cmocka_unit_test(without_an_end_the_next_begin_is_one),
		cmocka_unit_test(with_ends_the_next_begin_is_none),
		cmocka_unit_test(a_phase_marked_twice_is_one),
		cmocka_unit_test(what_lasts_ends_with_the_next_or_its_end),
		cmocka_unit_test(ranks_are_one),
		cmocka_unit_test(the_best_source_is_looked_up),
		cmocka_unit_test(what_is_not_in_the_trace_goes),
		cmocka_unit_test(kinds_are_by_the_words_of_a_name),
		cmocka_unit_test(too_many_are_left_out),
		cmocka_unit_test(what_stands_out_is_inferred),
		cmocka_unit_test(what_does_not_stand_out_is_not),
		cmocka_unit_test(what_is_written_before_training_is_no_checkpoint),
		cmocka_unit_test(a_marked_phase_is_not_inferred),
		cmocka_unit_test(what_is_too_short_to_be_seen_is_merged),
		cmocka_unit_test(names_beyond_number_are_one_of_their_kind),
		cmocka_unit_test(what_two_sources_have_is_seen_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
