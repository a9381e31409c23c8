/* SPDX-License-Identifier: BSD-2-Clause */
#include "applog/applog.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

/* The line ends where its memory does, so that ASan notices a read beyond it. */
static enum applog_found parse(struct applog_line *l, const struct applog_rules *rules, const char *line, size_t len)
{
	autofree char *copy = malloc(len ? len : 1);

	memcpy(copy, line, len);
	return applog_parse(l, rules, copy, len);
}

#define EIGHT 1795334401 /* 2026-11-22 08:00:01 as if it were UTC */

static void times_are_read_as_they_are_written(void **state)
{
	static const struct { const char *line; enum applog_clock clock; int64_t s; uint32_t ns; } cases[] = {
		{ "2026-11-22 08:00:01,123 - INFO - hello", APPLOG_LOCAL, EIGHT, 123000000 },
		{ "2026-11-22T08:00:01.123456 Starting", APPLOG_LOCAL, EIGHT, 123456000 },
		{ "[OUTPUT] 2026-11-22T08:00:01.123456789123 x", APPLOG_LOCAL, EIGHT, 123456789 },
		{ "2026-11-22T08:00:01Z x", APPLOG_UTC, EIGHT, 0 },
		{ "2026-11-22T08:00:01.5+01:00 x", APPLOG_UTC, EIGHT - 3600, 500000000 },
		{ "2026-11-22 08:00:01 -0530 x", APPLOG_UTC, EIGHT + 5 * 3600 + 1800, 0 },
		{ "2026/11/22 08:00:01 x", APPLOG_LOCAL, EIGHT, 0 },
		{ "[rank3]:[2026-11-22 08:00:01,000][root][INFO]", APPLOG_LOCAL, EIGHT, 0 },
		{ "1970-01-01T00:00:00Z", APPLOG_UTC, 0, 0 },
		{ "2000-02-29T23:59:59Z", APPLOG_UTC, 951868799, 0 },
		{ "2026-02-29 08:00:01 x", APPLOG_NO_TIME, 0, 0 },
		{ "2026-13-01 08:00:01 x", APPLOG_NO_TIME, 0, 0 },
		{ "2026-11-22 24:00:01 x", APPLOG_NO_TIME, 0, 0 },
		{ "2026-11-22 08:00", APPLOG_NO_TIME, 0, 0 },
		{ "2026-11-22 08:00:0", APPLOG_NO_TIME, 0, 0 },
		{ "12026-11-22 08:00:01", APPLOG_NO_TIME, 0, 0 },
		{ "08:00:01 x", APPLOG_NO_TIME, 0, 0 },
		{ "", APPLOG_NO_TIME, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct applog_time t;
		const char *end = applog_stamp(&t, cases[i].line, strlen(cases[i].line), NULL);

		assert_int_equal(t.clock, cases[i].clock);
		assert_int_equal(end != NULL, t.clock != APPLOG_NO_TIME);
		assert_int_equal(t.s, cases[i].s);
		assert_int_equal(t.ns, cases[i].ns);
	}
}

#define MLLOG(event, key, metadata)                                                                                    \
	":::MLLOG {\"namespace\": \"\", \"time_ms\": 1795334401123, \"event_type\": \"" event "\", \"key\": \"" key    \
	"\", \"value\": null, \"metadata\": {" metadata "}}"

static void lines_mark_phases(void **state)
{
	static const struct {
		const char *line;
		enum phase_source source;
		enum phase_event event;
		const char *name;
		int64_t number, rank;
		enum applog_clock clock;
	} cases[] = {
		{ MLLOG("INTERVAL_START", "epoch_start", "\"file\": \"t.py\", \"epoch_num\": 3"), PHASE_MLLOG, PHASE_BEGINS,
		  "epoch", 3, -1, APPLOG_UTC },
		{ "[1,4]<stdout>:" MLLOG("INTERVAL_END", "block_stop", "\"first_epoch_num\": 1, \"epoch_count\": 2"),
		  PHASE_MLLOG, PHASE_ENDS, "block", 1, 4, APPLOG_UTC },
		{ "0: " MLLOG("INTERVAL_END", "eval_stop", "\"epoch_num\": 1.5"), PHASE_MLLOG, PHASE_ENDS, "eval", -1, 0,
		  APPLOG_UTC },
		{ "[OUTPUT] 2026-11-22T08:00:01.123456 Starting epoch 3: 100 steps expected [/x/statscounter.py:200]", PHASE_DLIO,
		  PHASE_BEGINS, "epoch", 3, -1, APPLOG_LOCAL },
		{ "[OUTPUT] 2026-11-22T08:00:01.123456 Ending epoch 3 - 100 steps completed in 12.34 s", PHASE_DLIO, PHASE_ENDS,
		  "epoch", 3, -1, APPLOG_LOCAL },
		{ "[INFO] 2026-11-22T08:00:01.123456 Starting block 1 [/x/y.py:1]", PHASE_DLIO, PHASE_BEGINS, "block", 1, -1,
		  APPLOG_LOCAL },
		{ "2026-11-22T08:00:01.123456 Ending block 1 - 50 steps completed in 6.17 s", PHASE_DLIO, PHASE_ENDS, "block", 1, -1,
		  APPLOG_LOCAL },
		{ "[OUTPUT] 2026-11-22T08:00:01.123456 Starting eval - 7 steps expected", PHASE_DLIO, PHASE_BEGINS, "eval", -1, -1,
		  APPLOG_LOCAL },
		{ "[OUTPUT] 2026-11-22T08:00:01.123456 Starting checkpoint 1 after total step 50 for epoch 1", PHASE_DLIO,
		  PHASE_BEGINS, "checkpoint", 1, -1, APPLOG_LOCAL },
		{ "[OUTPUT] 2026-11-22T08:00:01.123456 Finished saving checkpoint 1 for epoch 1 in 0.5 s", PHASE_DLIO, PHASE_ENDS,
		  "checkpoint", 1, -1, APPLOG_LOCAL },
		{ "[rank2]: 2026-11-22 08:00:01,123 - train - INFO - Starting epoch 4", PHASE_LOG, PHASE_BEGINS, "epoch", 4, 2,
		  APPLOG_LOCAL },
		{ "2026-11-22T08:00:01+00:00 trainer: finished evaluation", PHASE_LOG, PHASE_ENDS, "eval", -1, -1, APPLOG_UTC },
		{ "Starting training", PHASE_LOG, PHASE_BEGINS, "training", -1, -1, APPLOG_NO_TIME },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct applog_line l;

		assert_int_equal(parse(&l, NULL, cases[i].line, strlen(cases[i].line)), APPLOG_PHASE);
		assert_int_equal(l.entry.source, cases[i].source);
		assert_int_equal(l.entry.event, cases[i].event);
		assert_string_equal(l.name, cases[i].name);
		assert_int_equal(l.entry.number, cases[i].number);
		assert_int_equal(l.entry.rank, cases[i].rank);
		assert_int_equal(l.time.clock, cases[i].clock);
	}
}

#define TIMED(event, key, value)                                                                                       \
	":::MLLOG {\"namespace\": \"\", \"time_ms\": 1795334401123, \"event_type\": \"" event "\", \"key\": \"" key    \
	"\", \"value\": " value ", \"metadata\": {\"epoch_num\": 3}}"

/* Of any key. Whole numbers are ns. */
static void a_line_with_a_duration_is_a_phase(void **state)
{
	static const struct { const char *line, *name; enum phase_event event; uint64_t lasted_ns, begin_ns; } cases[] = {
		{ TIMED("INTERVAL_END", "load_batch_mem", "{\"start\": 5000000000, \"duration\": 12345678}"), "load_batch_mem", PHASE_WHOLE,
		  12345678, 5000000000 },
		{ TIMED("POINT_IN_TIME", "own", "{\"duration\": 1.5}"), "own", PHASE_WHOLE, 1500000000, 0 },
		{ TIMED("POINT_IN_TIME", "own", "{\"duration\": 2e-3, \"start\": 1.5}"), "own", PHASE_WHOLE, 2000000, 0 },
		{ TIMED("INTERVAL_END", "epoch_stop", "{\"duration\": 0}"), "epoch", PHASE_WHOLE, 0, 0 },
		{ TIMED("INTERVAL_END", "own", "{\"duration\": -1.0}"), "own", PHASE_ENDS, 0, 0 },
		{ TIMED("INTERVAL_END", "own", "{\"duration\": null}"), "own", PHASE_ENDS, 0, 0 },
		{ TIMED("INTERVAL_START", "own", "{\"duration\": 5}"), "own", PHASE_BEGINS, 5, 0 },
	};
	struct applog_line l;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(parse(&l, NULL, cases[i].line, strlen(cases[i].line)), APPLOG_PHASE);
		assert_string_equal(l.name, cases[i].name);
		assert_int_equal(l.entry.event, cases[i].event);
		assert_int_equal(l.entry.lasted_ns, cases[i].lasted_ns);
		assert_int_equal(l.entry.begin_ns, cases[i].begin_ns);
		assert_int_equal(l.entry.number, 3);
	}
	for (unsigned int i = 0; i < 2; i++) {
		const char *line = i ? TIMED("POINT_IN_TIME", "own", "{\"duration\": \"1\"}") : TIMED("POINT_IN_TIME", "own", "3.0");

		assert_int_equal(parse(&l, NULL, line, strlen(line)), APPLOG_NOTHING);
	}
}

/* As training scripts and their libraries print it. */
static void ends_have_many_forms(void **state)
{
	static const struct { const char *line; enum phase_event event; const char *name; int64_t number; } cases[] = {
		{ "Epoch 1 finished", PHASE_ENDS, "epoch", 1 },
		{ "INFO:root:Epoch 1 Finished in 5.2 s", PHASE_ENDS, "epoch", 1 },
		{ "finished epoch 1", PHASE_ENDS, "epoch", 1 },
		{ "Epoch 1 completed", PHASE_ENDS, "epoch", 1 },
		{ "Epoch 12/90: done (loss 0.1)", PHASE_ENDS, "epoch", 12 },
		{ "epoch [3/10] is complete", PHASE_ENDS, "epoch", 3 },
		{ "Epoch: 4 - ended", PHASE_ENDS, "epoch", 4 },
		{ "EPOCH 5 OF 9 FINISHED", PHASE_ENDS, "epoch", 5 },
		{ "Epoch 1 done, accuracy 98.1 %", PHASE_ENDS, "epoch", 1 },
		{ "done with epoch 2", PHASE_ENDS, "epoch", 2 },
		{ "Completed epoch #2", PHASE_ENDS, "epoch", 2 },
		{ "| fairseq_cli.train | end of epoch 1 (average epoch stats below)", PHASE_ENDS, "epoch", 1 },
		{ "| fairseq.trainer | begin training epoch 1", PHASE_BEGINS, "epoch", 1 },
		{ "| fairseq_cli.train | begin validation on \"valid\" subset", PHASE_BEGINS, "eval", -1 },
		{ "Training completed. Do not forget to share your model", PHASE_ENDS, "training", -1 },
		{ "Training started", PHASE_BEGINS, "training", -1 },
		{ "Starting training epoch 3", PHASE_BEGINS, "epoch", 3 },
		{ "Starting validation epoch 3", PHASE_BEGINS, "eval", 3 },
		{ "epoch 3 validation has finished", PHASE_ENDS, "eval", 3 },
		{ "Beginning of epoch 7", PHASE_BEGINS, "epoch", 7 },
		{ "saving checkpoint 3 done", PHASE_ENDS, "checkpoint", 3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autofree char *stamped = util_fmt("2026-11-22 08:00:01,000 %s", cases[i].line);
		const char *lines[] = { cases[i].line, stamped };

		for (size_t k = 0; k < ARRAY_SIZE(lines); k++) {
			struct applog_line l;

			if (parse(&l, NULL, lines[k], strlen(lines[k])) != APPLOG_PHASE)
				fail_msg("\"%s\" tells of nothing", lines[k]);
			assert_string_equal(l.name, cases[i].name);
			assert_int_equal(l.entry.event, cases[i].event);
			assert_int_equal(l.entry.number, cases[i].number);
			assert_int_equal(l.entry.source, PHASE_LOG);
		}
	}
}

/* Lines about an epoch whose words name neither its begin nor its end. */
static void lines_near_an_epoch_say_how_far_it_is(void **state)
{
	static const struct { const char *line; int64_t number; bool results, heading; int percent; int elapsed_s, run_s; } cases[] = {
		/* headings */
		{ "Epoch 1/10", 1, false, true, -1, -1, 0 },
		{ "INFO Epoch 2/10:", 2, false, true, -1, -1, 0 },
		{ "train.py:12] Epoch [3/10]", 3, false, true, -1, -1, 0 },
		{ "===== Epoch 4 =====", 4, false, true, -1, -1, 0 },
		{ "Training epoch 5 ...", 5, false, true, -1, -1, 0 },
		{ "epoch=1 lr=0.1", 1, false, false, -1, -1, 0 },
		{ "Epoch 2, best loss 0.3", 2, false, false, -1, -1, 0 },
		{ "Epoch 1: computing the loss", 1, false, false, -1, -1, 0 },
		/* results */
		{ "epoch 0: loss 1.23 acc 0.45", 0, true, false, -1, -1, 0 },
		{ "Epoch 1/10 loss 0.3", 1, true, false, -1, -1, 0 },
		{ "[12:00:01] Epoch 7 | train_loss=0.31 | val_acc=0.8", 7, true, false, -1, -1, 0 },
		{ "INFO:root:Epoch: 3 - 12.5s", 3, true, false, -1, -1, 0 },
		{ "Epoch [2/5], Loss: 0.5123", 2, true, false, -1, -1, 0 },
		{ "Epoch 4: loss 0.4 (best acc 0.9)", 4, true, false, -1, -1, 0 },
		{ "Epoch 4: best acc 0.9, loss 0.4", 4, true, false, -1, -1, 0 },
		{ "Epoch 4 took 12.1 seconds", 4, true, false, -1, -1, 0 },
		{ "epoch 6, Acc@1 76.1 Acc@5 92.8", 6, true, false, -1, -1, 0 },
		{ "epoch=2 train_loss=0.1 top1=76.1", 2, true, false, -1, -1, 0 },
		/* how much of it */
		{ "Epoch 1: 45 % done", 1, false, false, 45, -1, 0 },
		{ "Epoch 1 completed 10 of 500 steps", 1, false, false, -1, -1, 0 },
		{ "Epoch: [0][  10/500]\tTime  0.320 ( 0.400)\tLoss 6.9 (7.0)", 0, true, false, 2, -1, 0 },
		{ "Epoch: [0]  [ 10/100]  eta: 0:00:12", 0, false, false, 10, -1, 0 },
		{ "Train Epoch: 1 [640/6400 (10%)]\tLoss: 2.300000", 1, true, false, 10, -1, 0 },
		{ "Epoch 0:   0%|          | 0/100 [00:00<?, ?it/s]", 0, false, false, 0, 0, 0 },
		{ "Epoch 3/10: 100%|##########| 50/50 [00:12<00:00,  4.10it/s]", 3, false, false, 100, 12, 0 },
		{ "Epoch 3: 100%|\xe2\x96\x88\xe2\x96\x88| 50/50 [1:02:03<00:00,  4.10it/s, v_num=0, train_loss=0.5]", 3, true, false,
		  100, 3723, 0 },
		/* the trainer of Hugging Face counts completed epochs */
		{ "{'loss': 0.5, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch': 1.0}", 1, true, false, 100, -1, 0 },
		{ "{'loss': 0.5, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch': 1.25}", 2, true, false, 25, -1, 0 },
		{ "{'eval_loss': 0.4, 'eval_runtime': 1.5, 'epoch': 2.0}", 2, true, false, 100, -1, 0 },
		{ "{'train_runtime': 30.5, 'train_loss': 0.4, 'epoch': 3.0}", 3, true, false, 100, -1, 30 },
		{ "{\"epoch\": 4, \"train_loss\": 0.3}", 4, true, false, -1, -1, 0 },
		/* bars of Keras, below a heading */
		{ "50/50 [==============================] - 3s 60ms/step - loss: 0.3", -1, true, false, 100, -1, 0 },
		{ "12/50 [=====>........................] - ETA: 2s 60ms/step", -1, true, false, 24, -1, 0 },
		{ "50/50 - 3s - 60ms/step - loss: 0.3100", -1, true, false, 100, -1, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct phase_words *w;
		struct applog_line l;

		if (parse(&l, NULL, cases[i].line, strlen(cases[i].line)) != APPLOG_PHASE || l.entry.event != PHASE_NEAR)
			fail_msg("\"%s\" is near no epoch", cases[i].line);
		w = &l.entry.words;
		assert_string_equal(l.name, "epoch");
		assert_int_equal(l.entry.number, cases[i].number);
		if (w->results != cases[i].results || w->heading != cases[i].heading)
			fail_msg("\"%s\" has %s", cases[i].line, w->results ? "results" : w->heading ? "nothing" : "words");
		assert_int_equal(w->part < 0 ? -1 : (int)(w->part * 100 + 0.5F), cases[i].percent);
		assert_int_equal(w->has_elapsed ? (int64_t)(w->elapsed_ns / NSEC_PER_SEC) : -1, cases[i].elapsed_s);
		assert_int_equal(w->run_ns / NSEC_PER_SEC, cases[i].run_s);
	}
}

static void other_lines_do_not(void **state)
{
	static const char *const none[] = {
		"Training complete: 45.5 %", "resumed from epoch 3/10", "Early stop, best was epoch 3", "epochs 3", "Epoch",
		"Epoch 1 not finished", "epoch 0.5: loss 0.1", "Start epoch: 0", "on_epoch done", "Epoch 3 [Eval] acc 0.5",
		"Validation: epoch 3, acc 0.5", "epoch 2 validation loss 0.3", "{'epoch': 10, 'lr': 0.1}", "{'epochs': 10, 'loss': 'l1'}",
		"{'loss': 0.5}", " 33%|###  | 50/150 [00:12<00:24,  4.1it/s]", "50/50 of the files", "3/10 - done", "***** Running Evaluation *****", "Saving checkpoint 3", "value 1",
		"", "loss 0.1", "2026-11-22 08:00:01,123 INFO step 3", "Restarting epoch 3", "Starting epochs",
		"2026-11-22T08:00:01.1 Epoch 1 [Eval] Accelerator Utilization [AU] (%): 99", "Starting", "Ending ", "Starting saving",
		MLLOG("POINT_IN_TIME", "seed", ""), "2026-11-22 08:00:01 Starting server", "understarting epoch 3",
	};
	static const char *const broken[] = {
		":::MLLOG {\"namespace\": \"\", \"time_ms\": 17", ":::MLLOG", "x :::MLLOG {\"key\": \"a_start\"",
	};
	struct applog_line l;

	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		if (parse(&l, NULL, none[i], strlen(none[i])) != APPLOG_NOTHING)
			fail_msg("\"%s\" tells of %s", none[i], l.name);
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++)
		assert_int_equal(parse(&l, NULL, broken[i], strlen(broken[i])), APPLOG_BROKEN);
	assert_int_equal(parse(&l, NULL, "a\0Starting epoch\0", 17), APPLOG_PHASE);
}

static void long_lines_are_looked_at_up_to_a_length(void **state)
{
	size_t len = 3 * APPLOG_LINE_MAX;
	autofree char *line = malloc(len);
	static const char phrase[] = " Starting epoch 1";
	struct applog_line l;

	memset(line, 'x', len);
	memcpy(line + APPLOG_LINE_MAX - 8, phrase, strlen(phrase));
	assert_int_equal(parse(&l, NULL, line, len), APPLOG_NOTHING);
	memcpy(line + 100, phrase, strlen(phrase));
	assert_int_equal(parse(&l, NULL, line, len), APPLOG_PHASE);
}

/* --- rules ---------------------------------------------------------------------------------------------- */

static void rules_name_the_lines_of_a_phase(void **state)
{
	static const struct { const char *line; enum phase_event event; const char *name; int64_t number, rank; } cases[] = {
		{ "Epoch 12/90", PHASE_LASTS, "epoch", 12, -1 },
		{ "2: Epoch 13/90", PHASE_LASTS, "epoch", 13, 2 },
		{ "08:00:01 Epoch 14/90", PHASE_LASTS, "epoch", 14, -1 },
		{ "training is over", PHASE_ENDS, "epoch", -1, -1 },
		{ "saving weights to /x", PHASE_BEGINS, "checkpoint", -1, -1 },
		{ "weights saved", PHASE_ENDS, "checkpoint", -1, -1 },
		{ "key=value", PHASE_LASTS, "value", -1, -1 },
	};
	struct applog_rules rules = { .n = 0 };
	char error[128];
	struct applog_line l;

	assert_int_equal(applog_add_rule(&rules, "Epoch ([0-9]+)/=epoch \\1", error, sizeof(error)), 0);
	assert_int_equal(applog_add_rule(&rules, "over$=epoch_end", error, sizeof(error)), 0);
	assert_int_equal(applog_add_rule(&rules, "^saving (weights|state)=checkpoint start", error, sizeof(error)), 0);
	assert_int_equal(applog_add_rule(&rules, "(weights|state) saved=checkpoint-stop", error, sizeof(error)), 0);
	assert_int_equal(applog_add_rule(&rules, "key=(.*)=\\1", error, sizeof(error)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(parse(&l, &rules, cases[i].line, strlen(cases[i].line)), APPLOG_PHASE);
		assert_string_equal(l.name, cases[i].name);
		assert_int_equal(l.entry.event, cases[i].event);
		assert_int_equal(l.entry.number, cases[i].number);
		assert_int_equal(l.entry.rank, cases[i].rank);
		assert_int_equal(l.entry.source, PHASE_LOG);
	}
	assert_int_equal(parse(&l, &rules, "key=", 4), APPLOG_BROKEN); /* without a name */
	assert_int_equal(parse(&l, &rules, "loss 0.1", 8), APPLOG_NOTHING);
	applog_free_rules(&rules);
	assert_int_equal(rules.n, 0);
}

static void rules_that_are_none_are_refused(void **state)
{
	static const char *const bad[] = { "", "=", "x", "x=", "=x", "(=x", "[z-a]=x" };
	static const struct { const char *text, *error; } beyond[] = {
		{ "Starting epoch=e \\1", "\\1 has no group: the pattern has 0 ( )" },
		{ "epoch ([0-9]+)=e \\2", "\\2 has no group: the pattern has 1 ( )" },
		{ "epoch ([0-9]+)=\\1 \\9", "\\9 has no group: the pattern has 1 ( )" },
		{ "epoch \\(([0-9]+)=e \\2", "\\2 has no group: the pattern has 1 ( )" },
	};
	struct applog_rules rules = { .n = 0 };
	autofree char *name = calloc(1, 1024);
	char error[128];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		error[0] = '\0';
		assert_int_equal(applog_add_rule(&rules, bad[i], error, sizeof(error)), -EINVAL);
		assert_true(error[0]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(beyond); i++) {
		assert_int_equal(applog_add_rule(&rules, beyond[i].text, error, sizeof(error)), -EINVAL);
		assert_string_equal(error, beyond[i].error);
	}
	assert_int_equal(applog_add_rule(&rules, "(a)(b(c))=\\0 \\3 \\1 \\x", error, sizeof(error)), 0);
	applog_free_rules(&rules);
	memset(name, 'x', 1000);
	name[1] = '=';
	assert_int_equal(applog_add_rule(&rules, name, error, sizeof(error)), -EINVAL);
	for (unsigned int i = 0; i < APPLOG_RULES_MAX; i++)
		assert_int_equal(applog_add_rule(&rules, "x=y", error, sizeof(error)), 0);
	assert_int_equal(applog_add_rule(&rules, "x=y", error, sizeof(error)), -E2BIG);
	applog_free_rules(&rules);
}

static void words_behind_a_name_begin_and_end_it(void **state)
{
	static const struct { const char *text; size_t len; enum phase_event event; } cases[] = {
		{ "train start", 5, PHASE_BEGINS }, { "train_stop", 5, PHASE_ENDS }, { "a.begin", 1, PHASE_BEGINS },
		{ "a-end", 1, PHASE_ENDS },	    { "end", 3, PHASE_LASTS },	     { "legend", 6, PHASE_LASTS },
		{ "", 0, PHASE_LASTS },		    { " end", 4, PHASE_LASTS },
	};
	enum phase_event event;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(applog_event(cases[i].text, strlen(cases[i].text), &event), cases[i].len);
		assert_int_equal(event, cases[i].event);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_read_as_they_are_written),
		cmocka_unit_test(lines_mark_phases),
		cmocka_unit_test(a_line_with_a_duration_is_a_phase),
		cmocka_unit_test(ends_have_many_forms),
		cmocka_unit_test(lines_near_an_epoch_say_how_far_it_is),
		cmocka_unit_test(other_lines_do_not),
		cmocka_unit_test(long_lines_are_looked_at_up_to_a_length),
		cmocka_unit_test(rules_name_the_lines_of_a_phase),
		cmocka_unit_test(rules_that_are_none_are_refused),
		cmocka_unit_test(words_behind_a_name_begin_and_end_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
