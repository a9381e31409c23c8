/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Epochs from lines that do not name their begin or end, as training scripts and libraries print them, with and without
 * workers and reads around them. All jobs here train from 1002 s on, in a trace from 1000 to 1100 s.
 */
#include "report/phases/epochs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "applog/applog.h"
#include "base/util.h"
#include "report/phases/phases.h"
#include "stats/timeline.h"

#define S NSEC_PER_SEC

/* A line, and its time; NULL ends the list. */
struct printed {
	double at_s;
	const char *line;
};

/* The lives of workers. */
struct lived {
	double begin_s, end_s;
	uint32_t workers;
};

struct job {
	const struct printed *printed;
	const struct lived *lived; /* up to one with 0 workers; NULL: none */
	const double *read_s; /* from, to, from, to, ... 0: something was read then; NULL: rows were not read */
	bool part; /* the trace covers a part of the job */
};

static uint64_t ns_of(double s)
{
	return (uint64_t)(s * 1000) * NSEC_PER_MSEC;
}

static void say(struct phases *p, const struct printed *printed)
{
	for (; printed && printed->line; printed++) {
		struct applog_line l;

		if (applog_parse(&l, NULL, printed->line, strlen(printed->line)) != APPLOG_PHASE)
			continue;
		l.entry.at_ns = ns_of(printed->at_s);
		phases_record(p, &l.entry);
	}
}

static void live(struct phases *p, const struct lived *lived)
{
	struct phase_worker v[256];
	uint32_t n = 0;

	for (; lived && lived->workers; lived++)
		for (uint32_t i = 0; i < lived->workers; i++)
			v[n++] = (struct phase_worker){ 1, ns_of(lived->begin_s) + i, ns_of(lived->end_s) - i };
	assert_int_equal(phase_workers_of(&p->workers, v, n), 0);
}

static struct timeline *read_at(const double *read_s)
{
	struct timeline *t = timeline_new(1000 * S);

	for (; *read_s > 0; read_s += 2)
		for (uint64_t ns = ns_of(read_s[0]); ns < ns_of(read_s[1]); ns += 10 * NSEC_PER_MSEC) {
			t->data_ns = t->data_ns ? t->data_ns : ns;
			t->data[timeline_bin(t, ns)] += 1000;
		}
	timeline_bin(t, 1100 * S - 1);
	return t;
}

static struct phases *look_at(const struct job *job)
{
	struct timeline *t = job->read_s ? read_at(job->read_s) : NULL;
	struct phases *p = phases_new();

	phases_trace(p, 1000 * S, 1100 * S, !job->part, !job->part);
	live(p, job->lived);
	say(p, job->printed);
	assert_int_equal(phases_close(p, 1000 * S), 0);
	if (t)
		assert_int_equal(phases_settle(p, t), 0);
	phases_end(p, 1000 * S, 1100 * S);
	timeline_free(t);
	return p;
}

/* Expects all phases as "LABEL BEGIN-END"; * marks an inferred begin. */
static struct phases *expect(const struct job *job, const char *want)
{
	char text[4096] = "", label[PHASE_LABEL_MAX];
	struct phases *p = look_at(job);
	size_t len = 0;

	for (uint32_t i = 0; i < p->recorded.n; i++) {
		const struct phase *v = &p->recorded.v[i];

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %s%g-%g%s", i ? ", " : "",
					phases_label(p, v, label), v->since_start ? "*" : "", (double)v->begin_ns / S,
					(double)v->end_ns / S, v->unfinished ? "..." : "");
	}
	assert_string_equal(text, want);
	assert_int_equal(p->unpaired, 0);
	return p;
}

static void expect_side(const struct job *job, enum epoch_side side, bool assumed, const char *want)
{
	struct phases *p = expect(job, want);

	assert_true(p->has_score);
	assert_int_equal(p->score.side, side);
	assert_int_equal(p->score.assumed, assumed);
	phases_free(p);
}

static const struct lived three[] = { { 1002, 1011.5, 2 }, { 1012.5, 1021.5, 2 }, { 1022.5, 1031.5, 2 }, { 0 } };
#define THREE_ENDS "epoch 0 *1002-1012, epoch 1 1012-1022, epoch 2 1022-1032"

/* --- lines after their epochs ------------------------------------------------------------------------------- */

static void results_behind_workers_end_epochs(void **state)
{
	static const struct printed printed[] = { { 1012, "epoch 0: loss 1.23 acc 0.1" },
						  { 1022, "epoch 1: loss 0.9 acc 0.3" },
						  { 1032, "epoch 2: loss 0.5 acc 0.6" },
						  { 0 } };

	expect_side(&(struct job){ .printed = printed, .lived = three }, EPOCH_ENDS, false, THREE_ENDS);
	/* nothing is known of the job's course: the first epoch is everything before its line */
	expect_side(&(struct job){ .printed = printed }, EPOCH_ENDS, false,
		    "epoch 0 *1000-1012, epoch 1 1012-1022, epoch 2 1022-1032");
}

/* Output is read some time after it was written, when the next workers may already exist. */
static void lines_that_come_late_are_before_the_next_workers(void **state)
{
	static const struct printed printed[] = {
		{ 1012, "epoch 0: loss 1.23" }, { 1022.2, "epoch 1: loss 0.9" }, { 1032.4, "epoch 2: loss 0.5" }, { 0 }
	};
	static const struct lived lived[] = { { 1002, 1011.8, 2 }, { 1011.9, 1022, 2 }, { 1022.1, 1032.2, 2 }, { 0 } };

	expect_side(&(struct job){ .printed = printed, .lived = lived }, EPOCH_ENDS, false,
		    "epoch 0 *1002-1011.9, epoch 1 1011.9-1022.1, epoch 2 1022.1-1032.4");
}

/* Even without a word for a result. */
static void plain_lines_behind_workers_end_epochs(void **state)
{
	static const struct printed printed[] = {
		{ 1012, "epoch 0" }, { 1022, "epoch 1" }, { 1032, "epoch 2" }, { 0 }
	};

	expect_side(&(struct job){ .printed = printed, .lived = three }, EPOCH_ENDS, false, THREE_ENDS);
}

static void a_single_epoch_is_one(void **state)
{
	static const struct printed printed[] = { { 1092, "epoch 0: loss 1.23" }, { 0 } };
	static const struct lived one[] = { { 1002, 1091, 2 }, { 0 } };

	expect_side(&(struct job){ .printed = printed, .lived = one }, EPOCH_ENDS, false, "epoch 0 *1002-1092");
}

static void a_job_goes_on_with_its_running_epoch(void **state)
{
	static const struct printed printed[] = { { 1001, "resumed from epoch 6/10" },
						  { 1012, "Epoch 7/10 loss 1.2" },
						  { 1022, "Epoch 8/10 loss 1.1" },
						  { 1032, "Epoch 9/10 loss 1.0" },
						  { 0 } };

	expect_side(&(struct job){ .printed = printed, .lived = three }, EPOCH_ENDS, false,
		    "epoch 7 *1002-1012, epoch 8 1012-1022, epoch 9 1022-1032");
}

/* Each rank prints it, soon one after the other; the last one ends the epoch. */
static void several_ranks_say_it(void **state)
{
	static const struct printed printed[] = {
		{ 1012, "epoch 0: loss 1.2" }, { 1012.2, "epoch 0: loss 1.3" }, { 1022, "epoch 1: loss 0.9" },
		{ 1022.1, "[rank1] epoch 1: loss 0.8" }, { 1032, "epoch 2: loss 0.5" }, { 1032.25, "epoch 2: loss 0.4" }, { 0 },
	}, late[] = {
		{ 1012, "epoch 0: loss 1.2" }, { 1022, "epoch 1: loss 0.9" }, { 1022.1, "epoch 0: loss 1.3" }, { 0 },
	};
	static const struct lived two[] = { { 1002, 1011, 2 }, { 1012.5, 1021, 2 }, { 0 } };

	expect_side(&(struct job){ .printed = printed, .lived = three }, EPOCH_ENDS, false,
		    "epoch 0 *1002-1012.2, epoch 1 1012.2-1022.1, epoch 2 1022.1-1032.25");
	/* a rank that prints it when the others are an epoch further does not count: it should have come long before */
	expect_side(&(struct job){ .printed = late, .lived = two }, EPOCH_ENDS, false,
		    "epoch 0 *1002-1012, epoch 1 1012-1022, epoch 0 1022-1022.1");
}

static void a_validation_is_of_its_epoch(void **state)
{
	static const struct printed printed[] = {
		{ 1010, "epoch 0 train loss 1.2" }, { 1012, "epoch 0 val loss 1.3" },
		{ 1020, "epoch 1 train loss 0.9" }, { 1021, "Validation: epoch 1, acc 0.3" },
		{ 1022, "epoch 1 val_loss 0.8" },   { 1030, "epoch 2 train loss 0.5" },
		{ 1032, "epoch 2 val loss 0.4" },   { 0 },
	};
	static const struct lived lived[] = { { 1002, 1009.5, 4 },
					      { 1010, 1011.5, 2 },
					      { 1012.5, 1019.5, 4 },
					      { 1020, 1021.5, 2 },
					      { 1022.5, 1029.5, 4 },
					      { 1030, 1031.5, 2 },
					      { 0 } };

	expect_side(&(struct job){ .printed = printed, .lived = lived }, EPOCH_ENDS, false, THREE_ENDS);
}

/* The same workers all the time: the times of their reads decide. */
static void reading_says_when_the_first_began(void **state)
{
	static const struct printed printed[] = {
		{ 1012, "epoch 0: loss 1.23" }, { 1022, "epoch 1: loss 0.9" }, { 1032, "epoch 2: loss 0.5" }, { 0 }
	};
	static const double read_s[] = { 1002, 1011, 1012, 1021, 1022, 1031, 0 };
	static const struct lived all[] = { { 1001, 1099, 2 }, { 0 } };
	struct phases *p = look_at(&(struct job){ .printed = printed, .read_s = read_s });

	assert_int_equal(p->recorded.n, 3);
	assert_in_range(p->recorded.v[0].begin_ns, 1002 * S, 1002 * S + S * 3 / 10);
	phases_free(p);
	p = look_at(&(struct job){ .printed = printed, .lived = all, .read_s = read_s });
	assert_int_equal(p->score.side, EPOCH_ENDS);
	assert_int_equal(p->recorded.v[0].end_ns, 1012 * S);
	phases_free(p);
}

/* --- lines before their epochs ------------------------------------------------------------------------------ */

#define THREE_BEGIN "epoch 0 1002-1012, epoch 1 1012-1022, epoch 2 1022-1100..."

static void headings_before_workers_begin_epochs(void **state)
{
	static const struct printed printed[] = {
		{ 1002, "Epoch 0/2" }, { 1012, "Epoch 1/2" }, { 1022, "Epoch 2/2" }, { 0 }
	};
	static const struct lived lived[] = {
		{ 1002.1, 1011.9, 2 }, { 1012.1, 1021.9, 2 }, { 1022.1, 1031, 2 }, { 0 }
	};

	expect_side(&(struct job){ .printed = printed, .lived = lived }, EPOCH_BEGINS, false, THREE_BEGIN);
	/* by their words alone */
	expect_side(&(struct job){ .printed = printed }, EPOCH_BEGINS, false, THREE_BEGIN);
	expect_side(&(struct job){ .printed = printed, .part = true }, EPOCH_BEGINS, false, THREE_BEGIN);
}

/* They print results of the epoch before, or of the best one. */
static void results_before_workers_begin_epochs(void **state)
{
	static const struct printed printed[] = { { 1002, "Epoch 0, loss so far 99" },
						  { 1012, "Epoch 1, loss so far 1.2" },
						  { 1022, "Epoch 2, loss so far 0.9" },
						  { 0 } };
	static const struct lived lived[] = {
		{ 1002.1, 1011.5, 2 }, { 1012.1, 1021.5, 2 }, { 1022.1, 1031, 2 }, { 0 }
	};
	static const double read_s[] = { 1002.5, 1011, 1012.5, 1021, 1022.5, 1031, 0 };

	expect_side(&(struct job){ .printed = printed, .lived = lived }, EPOCH_BEGINS, false, THREE_BEGIN);
	/* with reads alone, the time after the last line counts as well */
	expect_side(&(struct job){ .printed = printed, .read_s = read_s }, EPOCH_BEGINS, false, THREE_BEGIN);
}

/* --- neither ------------------------------------------------------------------------------------------------- */

static void what_fits_both_sides_is_assumed(void **state)
{
	static const struct printed printed[] = { { 1030, "Epoch 0: loss 0.3" },
						  { 1050, "Epoch 1: nothing new" },
						  { 1070, "Epoch 2: loss 0.4" },
						  { 1090, "Epoch 3: nothing new" },
						  { 0 } };

	expect_side(&(struct job){ .printed = printed, .part = true }, EPOCH_BEGINS, true,
		    "epoch 0 1030-1050, epoch 1 1050-1070, epoch 2 1070-1090, epoch 3 1090-1100...");
}

/* Attached during an epoch: only results are known. */
static void of_a_part_of_the_job_words_decide(void **state)
{
	static const struct printed printed[] = {
		{ 1005, "epoch 41: loss 1.23" }, { 1035, "epoch 42: loss 1.22" }, { 1065, "epoch 43: loss 1.21" }, { 0 }
	};
	static const struct lived lived[] = {
		{ 1000, 1004, 2 }, { 1006, 1034, 2 }, { 1036, 1064, 2 }, { 1066, 1100, 2 }, { 0 }
	};

	expect_side(&(struct job){ .printed = printed, .lived = lived, .part = true }, EPOCH_ENDS, false,
		    "epoch 41 *1000-1005, epoch 42 1005-1035, epoch 43 1035-1065");
}

/* --- both ends ------------------------------------------------------------------------------------------------ */

static void a_heading_and_a_result_are_both_ends(void **state)
{
	static const struct printed printed[] = { { 1002, "Epoch 1/2" },
						  { 1011, "Epoch 1/2: loss 0.5" },
						  { 1012, "Epoch 2/2" },
						  { 1021, "Epoch 2/2: loss 0.4" },
						  { 0 } };

	expect_side(&(struct job){ .printed = printed }, EPOCH_LASTS, false, "epoch 1 1002-1012, epoch 2 1012-1021");
}

static void a_heading_and_an_end_are_both_ends(void **state)
{
	static const struct printed printed[] = { { 1002, "Epoch 1/2" },
						  { 1011, "Epoch 1 finished" },
						  { 1012, "Epoch 2/2" },
						  { 1021, "Epoch 2 finished" },
						  { 0 } };
	struct phases *p = look_at(&(struct job){ .printed = printed });

	assert_int_equal(p->recorded.n, 2);
	assert_int_equal(p->recorded.v[0].begin_ns, 1002 * S);
	assert_int_equal(p->recorded.v[0].end_ns, 1011 * S);
	assert_int_equal(p->recorded.v[1].begin_ns, 1012 * S);
	assert_int_equal(p->recorded.v[1].end_ns, 1021 * S);
	phases_free(p);
}

/* tqdm: one epoch, however often its bar is drawn. */
static void a_bar_is_one_epoch(void **state)
{
	static const struct printed printed[] = {
		{ 1002, "Epoch 0:   0%|          | 0/50 [00:00<?, ?it/s]" },
		{ 1004, "Epoch 0:  20%|##        | 10/50 [00:02<00:08,  5.00it/s]" },
		{ 1008, "Epoch 0:  60%|######    | 30/50 [00:06<00:04,  5.00it/s]" },
		{ 1012, "Epoch 0: 100%|##########| 50/50 [00:10<00:00,  5.00it/s, v_num=0]" },
		{ 1012, "Epoch 0: 100%|##########| 50/50 [00:10<00:00,  5.00it/s, v_num=0]" },
		{ 1013, "Epoch 1:   0%|          | 0/50 [00:00<?, ?it/s, v_num=0]" },
		{ 1023, "Epoch 1: 100%|##########| 50/50 [00:10<00:00,  5.00it/s, v_num=0]" }, { 0 },
	}, ends[] = { /* only the final state of each bar is in the log */
		{ 1012, "Epoch 0: 100%|##########| 50/50 [00:10<00:00,  5.00it/s]" },
		{ 1023, "Epoch 1: 100%|##########| 50/50 [00:10<00:00,  5.00it/s]" }, { 0 },
	};

	expect_side(&(struct job){ .printed = printed }, EPOCH_LASTS, false, "epoch 0 1002-1013, epoch 1 1013-1023");
	expect_side(&(struct job){ .printed = ends }, EPOCH_ENDS, false, "epoch 0 1002-1012, epoch 1 1012-1023");
}

/* Every ten steps, from the tenth on: the time before is extrapolated. */
static void lines_within_an_epoch_are_of_it(void **state)
{
	static const struct printed printed[] = {
		{ 1004, "Epoch: [0][ 10/50] Time 0.2 Loss 6.9" },
		{ 1006, "Epoch: [0][ 20/50] Time 0.2 Loss 6.8" },
		{ 1008, "Epoch: [0][ 30/50] Time 0.2 Loss 6.7" },
		{ 1010, "Epoch: [0][ 40/50] Time 0.2 Loss 6.6" },
		{ 1014, "Epoch: [1][ 10/50] Time 0.2 Loss 6.5" },
		{ 1016, "Epoch: [1][ 20/50] Time 0.2 Loss 6.4" },
		{ 1018, "Epoch: [1][ 30/50] Time 0.2 Loss 6.3" },
		{ 1020, "Epoch: [1][ 40/50] Time 0.2 Loss 6.2" },
		{ 0 },
	};

	expect_side(&(struct job){ .printed = printed }, EPOCH_LASTS, false, "epoch 0 1002-1012, epoch 1 1012-1020");
}

static void bars_below_a_heading_are_of_its_epoch(void **state)
{
	static const struct printed printed[] = {
		{ 1002, "Epoch 1/2" },
		{ 1007, "25/50 [===============>..............] - ETA: 2s - loss: 0.4" },
		{ 1012, "50/50 [==============================] - 10s 200ms/step - loss: 0.3 - val_loss: 0.3" },
		{ 1012, "Epoch 2/2" },
		{ 1022, "50/50 [==============================] - 10s 200ms/step - loss: 0.2" },
		{ 1030, "10/10 [==============================] - 1s 90ms/step - loss: 0.2" },
		{ 0 }, /* from evaluate() */
	};

	expect_side(&(struct job){ .printed = printed }, EPOCH_LASTS, false, "epoch 1 1002-1012, epoch 2 1012-1022");
}

static void a_trainer_counts_epochs_that_are_done(void **state)
{
	static const struct printed each[] = {
		{ 1012, "{'loss': 0.9, 'learning_rate': 5e-05, 'epoch': 1.0}" }, { 1022, "{'loss': 0.5, 'learning_rate': 5e-05, 'epoch': 2.0}" },
		{ 1032, "{'loss': 0.4, 'learning_rate': 5e-05, 'epoch': 3.0}" },
		{ 1032, "{'train_runtime': 30.0, 'train_loss': 0.6, 'epoch': 3.0}" }, { 0 },
	}, odd[] = { /* every 0.4 epochs */
		{ 1006, "{'loss': 0.9, 'epoch': 0.4}" }, { 1010, "{'loss': 0.8, 'epoch': 0.8}" }, { 1014, "{'loss': 0.7, 'epoch': 1.2}" },
		{ 1018, "{'loss': 0.6, 'epoch': 1.6}" }, { 1022, "{'loss': 0.5, 'epoch': 2.0}" }, { 0 },
	};

	expect_side(&(struct job){ .printed = each }, EPOCH_ENDS, false,
		    "epoch 1 1002-1012, epoch 2 1012-1022, epoch 3 1022-1032");
	expect_side(&(struct job){ .printed = odd }, EPOCH_LASTS, false, "epoch 1 1002-1012, epoch 2 1012-1022");
}

/* Numbers have quotes around them since version 5. */
static void a_trainer_that_quotes_its_numbers_is_understood(void **state)
{
	static const struct printed printed[] = {
		{ 1012, "{'loss': '0.6948', 'grad_norm': '0.7523', 'learning_rate': '3.389e-05', 'epoch': '1'}" },
		{ 1022, "{'loss': '0.6923', 'grad_norm': '1.005', 'learning_rate': '1.722e-05', 'epoch': '2'}" },
		{ 1032, "{'loss': '0.6917', 'grad_norm': '1.277', 'learning_rate': '5.556e-07', 'epoch': '3'}" },
		{ 1032,
		  "{'train_runtime': '30', 'train_samples_per_second': '812.6', 'train_loss': '0.6929', 'epoch': '3'}" },
		{ 0 },
	};

	expect_side(&(struct job){ .printed = printed }, EPOCH_ENDS, false,
		    "epoch 1 1002-1012, epoch 2 1012-1022, epoch 3 1022-1032");
}

/* Lightning without a terminal: only the last epoch's bar, at the very end. */
static void a_bar_that_is_drawn_once_is_the_last_of_the_workers_epochs(void **state)
{
	static const struct printed
		last[] = { { 1032, "Epoch 2/2  ━━━━━━━ 30/30 0:00:00 • 0:00:00 57.06it/s train_loss: 0.700" }, { 0 } },
		only[] = { { 1032, "Epoch 0/0  ━━━━━━━ 30/30 0:00:00 • 0:00:00 57.06it/s train_loss: 0.700" }, { 0 } };

	phases_free(expect(&(struct job){ .printed = last, .lived = three },
			   "epoch 0 1002-1011.5, epoch 1 1012.5-1021.5, epoch 2 1022.5-1031.5"));
	/* with one epoch it is that one */
	expect_side(&(struct job){ .printed = only, .lived = three }, EPOCH_ENDS, false, "epoch 0 *1022.5-1032");
}

/* --- programs with a form of their own ------------------------------------------------------------------------- */

/* A line each 25 steps of 50, and a validation that belongs to its epoch, also to the last one. */
static void a_validation_does_not_shift_the_begin_of_its_epoch(void **state)
{
	static const struct printed mmengine[] = {
		{ 1007, "INFO - Epoch(train) [1][25/50]  lr: 1.0e-03  eta: 0:00:15  loss: 1.4" }, { 1012, "INFO - Epoch(train) [1][50/50]  loss: 1.3" },
		{ 1013, "INFO - Saving checkpoint at 1 epochs" }, { 1016, "INFO - Epoch(val) [1][5/5]    accuracy: 7.5  time: 0.0146" },
		{ 1021, "INFO - Epoch(train) [2][25/50]  loss: 1.2" }, { 1026, "INFO - Epoch(train) [2][50/50]  loss: 1.1" },
		{ 1030, "INFO - Epoch(val) [2][5/5]    accuracy: 8.5  time: 0.0146" }, { 1090, "INFO - Epoch(test) [5/5]    accuracy: 8.5" }, { 0 },
	}, timm[] = {
		{ 1002, "Train: 0 [   0/50 (  0%)]  Loss: 6.9 (6.9)" }, { 1012, "Train: 0 [  50/50 (100%)]  Loss: 6.8 (6.8)" },
		{ 1013, "Test: [   0/4]  Time: 1.0 (1.0)  Loss:  6.9" }, { 1016, "Test: [   4/4]  Time: 1.0 (1.0)  Loss:  6.9" },
		{ 1016, "Train: 1 [   0/50 (  0%)]  Loss: 6.7 (6.7)" }, { 1026, "Train: 1 [  50/50 (100%)]  Loss: 6.6 (6.6)" },
		{ 1030, "Test: [   4/4]  Time: 1.0 (1.0)  Loss:  6.9" }, { 1090, "Test: [   4/4]  Time: 1.0 (1.0)  Loss:  6.9" }, { 0 },
	};

	expect_side(&(struct job){ .printed = mmengine }, EPOCH_LASTS, false, "epoch 1 1002-1016, epoch 2 1016-1030");
	expect_side(&(struct job){ .printed = timm }, EPOCH_LASTS, false, "epoch 0 1002-1016, epoch 1 1016-1030");
}

#define YOLO(epoch, percent, done, clock)                                                                  \
	"        " epoch "         0G      1.222      1.679          5        512: " percent "%|##| " done \
	"/4 [00:" clock "<00:01,  1.68it/s]"
#define YOLO_CLASS \
	"                 Class     Images  Instances          P          R      mAP50   mAP50-95: 100%|##| 2/2 [00:02<00:00,  1.5it/s]"

/* The last validation, of the best weights, is of no epoch. */
static void rows_of_a_table_that_are_bars_are_epochs(void **state)
{
	static const struct printed printed[] = {
		{ 1001, "      Epoch    GPU_mem   box_loss   cls_loss  Instances       Size" }, { 1002, YOLO("1/2", "  0", "0", "00") },
		{ 1007, YOLO("1/2", " 50", "2", "05") }, { 1012, YOLO("1/2", "100", "4", "10") }, { 1014, YOLO_CLASS },
		{ 1014, "                   all        128        929      0.64      0.53" }, { 1014, YOLO("2/2", "  0", "0", "00") },
		{ 1024, YOLO("2/2", "100", "4", "10") },
		{ 1026, YOLO_CLASS }, { 1030, "2 epochs completed in 0.007 hours." }, { 1040, YOLO_CLASS }, { 0 },
	}, ends[] = { /* a log without bars */
		{ 1012, "        0/1       3.2G      1.123      0.456      0.789        128       640" },
		{ 1024, "        1/1       3.2G      1.123      0.456      0.789        128       640" }, { 0 },
	};

	expect_side(&(struct job){ .printed = printed }, EPOCH_LASTS, false, "epoch 1 1002-1014, epoch 2 1014-1026");
	expect_side(&(struct job){ .printed = ends }, EPOCH_ENDS, false, "epoch 0 *1000-1012, epoch 1 1012-1024");
}

#define FASTAI_BAR(epoch, percent, done, clock) \
	"Epoch " epoch "/2 : |##--| " percent "% [" done "/38 00:" clock "<00:05 1.10]"
#define FASTAI_ROW(epoch) epoch "         1.102223    0.367693    0.916667  00:12"

/* On a terminal, bars count from 1 above a table that counts from 0; elsewhere there is the table alone. */
static void a_table_below_bars_numbers_their_epochs(void **state)
{
	static const struct printed table[] = { { 1001, "epoch     train_loss  valid_loss  accuracy  time" },
						{ 1012, FASTAI_ROW("0") },
						{ 1022, FASTAI_ROW("1") },
						{ 0 } };
	static const struct printed bars[] = {
		{ 1001, "epoch     train_loss  valid_loss  accuracy  time" },
		{ 1002, FASTAI_BAR("1", "0.00", "0", "00") },
		{ 1010, FASTAI_BAR("1", "100.00", "38", "08") },
		{ 1012, FASTAI_BAR("1", "100.00", "38", "01") },
		{ 1012, FASTAI_ROW("0") },
		{ 1012, FASTAI_BAR("2", "0.00", "0", "00") },
		{ 1020, FASTAI_BAR("2", "100.00", "38", "08") },
		{ 1022, FASTAI_BAR("2", "100.00", "38", "01") },
		{ 1022, FASTAI_ROW("1") },
		{ 0 },
	};

	expect_side(&(struct job){ .printed = table }, EPOCH_ENDS, false, "epoch 0 *1000-1012, epoch 1 1012-1022");
	expect_side(&(struct job){ .printed = bars }, EPOCH_LASTS, false, "epoch 0 1002-1012, epoch 1 1012-1022");
}

static void begins_and_results_in_one_word_are_epochs(void **state)
{
	static const struct printed printed[] = {
		{ 1002, "(trainer:318) INFO: 1/2epoch started" },
		{ 1007, "(trainer:793) INFO: 1epoch:train:1-50batch: iter_time=0.003, loss=80.856" },
		{ 1012, "(trainer:374) INFO: 1epoch results: [train] iter_time=0.003, loss=80.856, [valid] loss=70" },
		{ 1013, "(trainer:318) INFO: 2/2epoch started. Estimated time to finish: 10 seconds" },
		{ 1018, "(trainer:793) INFO: 2epoch:train:1-50batch: iter_time=0.003, loss=70.856" },
		{ 1023, "(trainer:374) INFO: 2epoch results: [train] iter_time=0.003, loss=60.856, [valid] loss=60" },
		{ 0 },
	};

	phases_free(expect(&(struct job){ .printed = printed }, "epoch 1 1002-1012, epoch 2 1013-1023"));
}

static void a_number_before_a_bar_is_an_epoch(void **state)
{
	static const struct printed printed[] = {
		{ 1002, "1|1|Loss: 0.95:   2%|          | 1/50 [00:00<00:10,  5.00it/s]" },
		{ 1012, "1|50|Loss: 0.85: 100%|##########| 50/50 [00:10<00:00,  5.00it/s]" },
		{ 1014, "2|51|Loss: 0.84:   2%|          | 1/50 [00:00<00:10,  5.00it/s]" },
		{ 1024, "2|100|Loss: 0.75: 100%|##########| 50/50 [00:10<00:00,  5.00it/s]" },
		{ 0 },
	};

	expect_side(&(struct job){ .printed = printed }, EPOCH_LASTS, false, "epoch 1 1002-1014, epoch 2 1014-1024");
}

/* --- steps ------------------------------------------------------------------------------------------------------ */

static void steps_without_epochs_are_training(void **state)
{
	static const struct printed from_0[] = {
		{ 1002, "INFO:tensorflow:loss = 2.3, step = 0" }, { 1003, "INFO:tensorflow:global_step/sec: 10.1" },
		{ 1012, "INFO:tensorflow:loss = 2.2, step = 100 (10.0 sec)" }, { 1022, "INFO:tensorflow:loss = 2.1, step = 200 (10.0 sec)" }, { 0 },
	}, from_19[] = { /* 19 of 20 steps were before the first line */
		{ 1021, "[11/24 17:17:38 d2.utils.events]:  eta: 0:03:49  iter: 19  total_loss: 5.9" },
		{ 1041, "[11/24 17:17:58 d2.utils.events]:  eta: 0:03:29  iter: 39  total_loss: 5.8" },
		{ 1061, "[11/24 17:18:18 d2.utils.events]:  eta: 0:03:09  iter: 59  total_loss: 5.7" }, { 0 },
	}, resumed[] = { { 1012, "Step 12100: loss 2.3" }, { 1022, "Step 12200: loss 2.2" }, { 0 } },
	  once[] = { { 1012, "Step 100: loss 2.3" }, { 0 } };

	phases_free(expect(&(struct job){ .printed = from_0 }, "training 1002-1022"));
	phases_free(expect(&(struct job){ .printed = from_19 }, "training 1002-1061"));
	phases_free(expect(&(struct job){ .printed = resumed }, "training 1002-1022"));
	phases_free(expect(&(struct job){ .printed = once }, "training *1000-1012"));
}

static void steps_are_no_training_where_epochs_are_known(void **state)
{
	static const struct printed printed[] = { { 1005, "Step 10: loss 2.3" },
						  { 1012, "epoch 0: loss 1.23" },
						  { 1015, "Step 20: loss 2.3" },
						  { 1022, "epoch 1: loss 0.9" },
						  { 0 } };
	static const struct printed steps[] = { { 1005, "Step 10: loss 2.3" }, { 1015, "Step 20: loss 2.3" }, { 0 } };
	static const struct printed named[] = { { 1001, "Starting training from iteration 0" },
						{ 1005, "Step 10: loss 2.3" },
						{ 1015, "Step 20: loss 2.3" },
						{ 0 } };

	phases_free(expect(&(struct job){ .printed = printed }, "epoch 0 *1000-1012, epoch 1 1012-1022"));
	phases_free(expect(&(struct job){ .printed = steps, .lived = three },
			   "epoch 0 1002-1011.5, epoch 1 1012.5-1021.5, epoch 2 1022.5-1031.5"));
	phases_free(expect(&(struct job){ .printed = named }, "training 1001-1100..."));
}

/* --- no lines ------------------------------------------------------------------------------------------------- */

static void generations_of_workers_are_epochs(void **state)
{
	static const struct lived turns[] = { { 1001, 1001.5, 2 },   { 1002, 1009.5, 4 }, { 1010, 1011.5, 2 },
					      { 1012.5, 1019.5, 4 }, { 1020, 1021.5, 2 }, { 0 } };
	static const struct lived late[] = { { 1002, 1012.5, 2 },
					     { 1012, 1022.5, 2 },
					     { 0 } }; /* these end after the next begin */
	static const struct lived all[] = { { 1002, 1090, 4 }, { 0 } };
	static const struct printed other[] = { { 1011, "saving checkpoint 3 done" }, { 1020, "epochs: 3" }, { 0 } };
	struct phases *p = expect(&(struct job){ .lived = three },
				  "epoch 0 1002-1011.5, epoch 1 1012.5-1021.5, epoch 2 1022.5-1031.5");

	assert_false(p->has_score);
	for (uint32_t i = 0; i < p->recorded.n; i++) {
		assert_true(p->recorded.v[i].inferred);
		assert_int_equal(p->names[p->recorded.v[i].name].source, PHASE_WORKERS);
	}
	phases_free(p);
	phases_free(expect(&(struct job){ .lived = turns }, "eval 1001-1001.5, epoch 0 1002-1011.5, eval 1010-1011.5, "
							    "epoch 1 1012.5-1021.5, eval 1020-1021.5"));
	phases_free(expect(&(struct job){ .lived = late }, "epoch 0 1002-1012.5, epoch 1 1012-1022.5"));
	phases_free(expect(&(struct job){ .lived = all }, "")); /* for all epochs together, or for one */
	p = look_at(&(struct job){ .lived = three, .printed = other });
	assert_int_equal(phases_count(p, PHASE_EPOCH), 3);
	phases_free(p);
}

static void what_a_line_says_is_no_epoch_of_workers(void **state)
{
	static const struct printed printed[] = { { 1005, "Starting epoch 5" }, { 1030, "Ending epoch 5" }, { 0 } };

	phases_free(expect(&(struct job){ .lived = three, .printed = printed }, "epoch 5 1005-1030"));
}

static void helpers_that_live_for_a_moment_are_none(void **state)
{
	static const struct lived moments[] = { { 1002, 1002.1, 1 }, { 1040, 1040.1, 1 }, { 1090, 1090.1, 1 }, { 0 } };

	phases_free(expect(&(struct job){ .lived = moments }, ""));
}

/* --- only ends, by rules ----------------------------------------------------------------------------------------- */

static void rules_for_ends_alone_begin_at_the_end_before(void **state)
{
	static const struct printed printed[] = {
		{ 1012, "done 0 in 5" }, { 1022, "done 1 in 5" }, { 1030, "model written" }, { 0 }
	};
	struct applog_rules rules = { .n = 0 };
	struct phases *p = phases_new();
	char error[128];

	assert_int_equal(applog_add_rule(&rules, "^done ([0-9]+)=epoch \\1 end", error, sizeof(error)), 0);
	assert_int_equal(applog_add_rule(&rules, "written=export_end", error, sizeof(error)), 0);
	phases_trace(p, 1000 * S, 1100 * S, true, true);
	live(p, three);
	for (const struct printed *s = printed; s->line; s++) {
		struct applog_line l;

		assert_int_equal(applog_parse(&l, &rules, s->line, strlen(s->line)), APPLOG_PHASE);
		assert_int_equal(l.rule, s->line[0] == 'd' ? 1 : 2);
		l.entry.at_ns = ns_of(s->at_s);
		phases_record(p, &l.entry);
	}
	assert_int_equal(phases_close(p, 1000 * S), 0);
	assert_int_equal(p->recorded.n, 3);
	assert_int_equal(p->recorded.v[0].begin_ns, 1002 * S);
	assert_int_equal(p->recorded.v[0].number, 0);
	assert_int_equal(p->recorded.v[1].begin_ns, 1012 * S);
	assert_int_equal(p->recorded.v[1].end_ns, 1022 * S);
	assert_int_equal(p->recorded.v[2].end_ns, 1030 * S);
	assert_int_equal(p->unpaired, 0);
	phases_free(p);
	applog_free_rules(&rules);
}

static void hostile_lines_are_bounded(void **state)
{
	struct phases *p = phases_new();
	char line[64];

	for (unsigned int i = 0; i < EPOCH_GROUPS_MAX + 10; i++) {
		struct applog_line l;

		snprintf(line, sizeof(line), "epoch %u: loss 1", i);
		assert_int_equal(applog_parse(&l, NULL, line, strlen(line)), APPLOG_PHASE);
		l.entry.at_ns = i % 7 * S; /* and times that go back */
		phases_record(p, &l.entry);
	}
	assert_int_equal(p->near.left_out, 10);
	assert_int_equal(phases_close(p, 0), 0);
	phases_end(p, 0, 100 * S);
	phases_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_behind_workers_end_epochs),
		cmocka_unit_test(lines_that_come_late_are_before_the_next_workers),
		cmocka_unit_test(plain_lines_behind_workers_end_epochs),
		cmocka_unit_test(a_single_epoch_is_one),
		cmocka_unit_test(a_job_goes_on_with_its_running_epoch),
		cmocka_unit_test(several_ranks_say_it),
		cmocka_unit_test(a_validation_is_of_its_epoch),
		cmocka_unit_test(reading_says_when_the_first_began),
		cmocka_unit_test(headings_before_workers_begin_epochs),
		cmocka_unit_test(results_before_workers_begin_epochs),
		cmocka_unit_test(what_fits_both_sides_is_assumed),
		cmocka_unit_test(of_a_part_of_the_job_words_decide),
		cmocka_unit_test(a_heading_and_a_result_are_both_ends),
		cmocka_unit_test(a_heading_and_an_end_are_both_ends),
		cmocka_unit_test(a_bar_is_one_epoch),
		cmocka_unit_test(lines_within_an_epoch_are_of_it),
		cmocka_unit_test(bars_below_a_heading_are_of_its_epoch),
		cmocka_unit_test(a_trainer_counts_epochs_that_are_done),
		cmocka_unit_test(a_trainer_that_quotes_its_numbers_is_understood),
		cmocka_unit_test(a_bar_that_is_drawn_once_is_the_last_of_the_workers_epochs),
		cmocka_unit_test(a_validation_does_not_shift_the_begin_of_its_epoch),
		cmocka_unit_test(rows_of_a_table_that_are_bars_are_epochs),
		cmocka_unit_test(a_table_below_bars_numbers_their_epochs),
		cmocka_unit_test(begins_and_results_in_one_word_are_epochs),
		cmocka_unit_test(a_number_before_a_bar_is_an_epoch),
		cmocka_unit_test(steps_without_epochs_are_training),
		cmocka_unit_test(steps_are_no_training_where_epochs_are_known),
		cmocka_unit_test(generations_of_workers_are_epochs),
		cmocka_unit_test(what_a_line_says_is_no_epoch_of_workers),
		cmocka_unit_test(helpers_that_live_for_a_moment_are_none),
		cmocka_unit_test(rules_for_ends_alone_begin_at_the_end_before),
		cmocka_unit_test(hostile_lines_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
