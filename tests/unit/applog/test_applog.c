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
	static const struct {
		const char *line;
		enum applog_clock clock;
		int64_t s;
		uint32_t ns;
	} cases[] = {
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

#define MLLOG(event, key, metadata)                                                                                 \
	":::MLLOG {\"namespace\": \"\", \"time_ms\": 1795334401123, \"event_type\": \"" event "\", \"key\": \"" key \
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
		{ MLLOG("INTERVAL_START", "epoch_start", "\"file\": \"t.py\", \"epoch_num\": 3"), PHASE_MLLOG,
		  PHASE_BEGINS, "epoch", 3, -1, APPLOG_UTC },
		{ "[1,4]<stdout>:" MLLOG("INTERVAL_END", "block_stop", "\"first_epoch_num\": 1, \"epoch_count\": 2"),
		  PHASE_MLLOG, PHASE_ENDS, "block", 1, 4, APPLOG_UTC },
		{ "0: " MLLOG("INTERVAL_END", "eval_stop", "\"epoch_num\": 1.5"), PHASE_MLLOG, PHASE_ENDS, "eval", -1,
		  0, APPLOG_UTC },
		{ "[OUTPUT] 2026-11-22T08:00:01.123456 Starting epoch 3: 100 steps expected [/x/statscounter.py:200]",
		  PHASE_DLIO, PHASE_BEGINS, "epoch", 3, -1, APPLOG_LOCAL },
		{ "[OUTPUT] 2026-11-22T08:00:01.123456 Ending epoch 3 - 100 steps completed in 12.34 s", PHASE_DLIO,
		  PHASE_ENDS, "epoch", 3, -1, APPLOG_LOCAL },
		{ "[INFO] 2026-11-22T08:00:01.123456 Starting block 1 [/x/y.py:1]", PHASE_DLIO, PHASE_BEGINS, "block",
		  1, -1, APPLOG_LOCAL },
		{ "2026-11-22T08:00:01.123456 Ending block 1 - 50 steps completed in 6.17 s", PHASE_DLIO, PHASE_ENDS,
		  "block", 1, -1, APPLOG_LOCAL },
		{ "[OUTPUT] 2026-11-22T08:00:01.123456 Starting eval - 7 steps expected", PHASE_DLIO, PHASE_BEGINS,
		  "eval", -1, -1, APPLOG_LOCAL },
		{ "[OUTPUT] 2026-11-22T08:00:01.123456 Starting checkpoint 1 after total step 50 for epoch 1",
		  PHASE_DLIO, PHASE_BEGINS, "checkpoint", 1, -1, APPLOG_LOCAL },
		{ "[OUTPUT] 2026-11-22T08:00:01.123456 Finished saving checkpoint 1 for epoch 1 in 0.5 s", PHASE_DLIO,
		  PHASE_ENDS, "checkpoint", 1, -1, APPLOG_LOCAL },
		{ "[rank2]: 2026-11-22 08:00:01,123 - train - INFO - Starting epoch 4", PHASE_LOG, PHASE_BEGINS,
		  "epoch", 4, 2, APPLOG_LOCAL },
		{ "2026-11-22T08:00:01+00:00 trainer: finished evaluation", PHASE_LOG, PHASE_ENDS, "eval", -1, -1,
		  APPLOG_UTC },
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

#define TIMED(event, key, value)                                                                                    \
	":::MLLOG {\"namespace\": \"\", \"time_ms\": 1795334401123, \"event_type\": \"" event "\", \"key\": \"" key \
	"\", \"value\": " value ", \"metadata\": {\"epoch_num\": 3}}"

/* Of any key. Whole numbers are ns. */
static void a_line_with_a_duration_is_a_phase(void **state)
{
	static const struct {
		const char *line, *name;
		enum phase_event event;
		uint64_t lasted_ns, begin_ns;
	} cases[] = {
		{ TIMED("INTERVAL_END", "load_batch_mem", "{\"start\": 5000000000, \"duration\": 12345678}"),
		  "load_batch_mem", PHASE_WHOLE, 12345678, 5000000000 },
		{ TIMED("POINT_IN_TIME", "own", "{\"duration\": 1.5}"), "own", PHASE_WHOLE, 1500000000, 0 },
		{ TIMED("POINT_IN_TIME", "own", "{\"duration\": 2e-3, \"start\": 1.5}"), "own", PHASE_WHOLE, 2000000,
		  0 },
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
		const char *line = i ? TIMED("POINT_IN_TIME", "own", "{\"duration\": \"1\"}") :
				       TIMED("POINT_IN_TIME", "own", "3.0");

		assert_int_equal(parse(&l, NULL, line, strlen(line)), APPLOG_NOTHING);
	}
}

/* As training scripts and their libraries print it. */
static void ends_have_many_forms(void **state)
{
	static const struct {
		const char *line;
		enum phase_event event;
		const char *name;
		int64_t number;
	} cases[] = {
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
	static const struct {
		const char *line;
		int64_t number;
		bool results, heading;
		int percent;
		int elapsed_s, run_s;
	} cases[] = {
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
		{ "Epoch 3: 100%|\xe2\x96\x88\xe2\x96\x88| 50/50 [1:02:03<00:00,  4.10it/s, v_num=0, train_loss=0.5]",
		  3, true, false, 100, 3723, 0 },
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

		if (parse(&l, NULL, cases[i].line, strlen(cases[i].line)) != APPLOG_PHASE ||
		    l.entry.event != PHASE_NEAR)
			fail_msg("\"%s\" is near no epoch", cases[i].line);
		w = &l.entry.words;
		assert_string_equal(l.name, "epoch");
		assert_int_equal(l.entry.number, cases[i].number);
		if (w->results != cases[i].results || w->heading != cases[i].heading)
			fail_msg("\"%s\" has %s", cases[i].line,
				 w->results ? "results" :
				 w->heading ? "nothing" :
					      "words");
		assert_int_equal(w->part < 0 ? -1 : (int)(w->part * 100 + 0.5F), cases[i].percent);
		assert_int_equal(w->has_elapsed ? (int64_t)(w->elapsed_ns / NSEC_PER_SEC) : -1, cases[i].elapsed_s);
		assert_int_equal(w->run_ns / NSEC_PER_SEC, cases[i].run_s);
	}
}

/* The bytes of tqdm's and ultralytics's bars. */
#define BAR "\xe2\x96\x88\xe2\x96\x88"

/* As programs with a form of their own print them; PERCENT and ELAPSED_S: -1 where the line has none. */
static void lines_of_known_programs_name_an_epoch(void **state)
{
	static const struct {
		const char *line;
		enum phase_event event;
		int64_t number;
		int percent, elapsed_s;
		bool validates, row;
	} cases[] = {
		/* mmengine, and mmcv before it */
		{ "04/15 16:50:26 - mmengine - INFO - Epoch(train) [1][ 50/100]  lr: 1.9820e-03  eta: 0:00:15  time: 0.3082  "
		  "data_time: 0.0042  memory: 3312  loss: 1.4919",
		  PHASE_NEAR, 1, 50, -1, false, false },
		{ "2022/08/22 15:51:56 - mmengine - INFO - Epoch(train)  [12][1563/1563]  lr: 1.0000e-03  eta: 0:18:23",
		  PHASE_NEAR, 12, 100, -1, false, false },
		{ "08/18 20:27:23 - mmengine - INFO - Epoch(val) [1][5/5]    accuracy: 7.5000  data_time: 0.0044  time: 0.0146",
		  PHASE_NEAR, 1, -1, -1, true, false },
		{ "2023-02-10 17:46:31,214 - mmdet - INFO - Epoch(val) [1][9947]\tbbox_mAP: 0.0592", PHASE_NEAR, 1, -1,
		  -1, true, false },
		{ "2022-05-07 16:43:08,063 - mmdet - INFO - Epoch [1][50/1175]\tlr: 1.978e-03, eta: 1:53:59, loss: 0.4",
		  PHASE_NEAR, 1, 4, -1, false, false },
		/* YOLOv5, and YOLOv8 with the old bar and the new one; a redirected log may have the row alone */
		{ "       0/49      6.16G    0.04115    0.06202    0.01698        150        640:   0%|          | 0/1849 [00:00<?, ?it/s]",
		  PHASE_NEAR, 0, 0, 0, false, false },
		{ "       0/49      6.16G    0.04115    0.06202    0.01698        150        640: 100%|" BAR
		  "| 1849/1849 [51:50<00:00,  1.68s/it]",
		  PHASE_NEAR, 0, 100, 3110, false, false },
		{ "        1/3         0G      1.222        nan      1.368          5        512:  25%|" BAR
		  "| 1/4 [00:02<00:06,  1.68it/s]",
		  PHASE_NEAR, 1, 25, 2, false, false },
		{ "       1/25     0.721G      1.222      1.679      1.368          5        512: 100% \xe2\x94\x81\xe2\x94\x81 1126/1126 9.1it/s 2:04",
		  PHASE_NEAR, 1, 100, -1, false, false },
		{ "        2/5     0.5G      2.31                                    :  50%|" BAR
		  "| 5/10 [00:01<00:01,  4.0it/s]",
		  PHASE_NEAR, 2, 50, 1, false, false },
		{ "      1/100     3.2G      1.123      0.456      0.789        128       640", PHASE_NEAR, 1, -1, -1,
		  false, false },
		{ "                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%|" BAR
		  "| 2/2 [00:01<00:00,  1.5it/s]",
		  PHASE_NEAR, -1, 100, 1, true, false },
		/* fastai's table, and the bar that it draws above on a terminal */
		{ "0         1.102223    0.367693    0.916667  00:12", PHASE_NEAR, 0, -1, -1, false, true },
		{ "12        0.453252    None        1:02:03  ", PHASE_NEAR, 12, -1, -1, false, true },
		{ "Epoch 1/3 : |" BAR "----| 26.32% [10/38 00:12<00:34 1.1022]", PHASE_NEAR, 1, 26, 12, false, false },
		/* timm */
		{ "Train: 0 [   0/1251 (  0%)]  Loss:  6.926911 (6.9269)  Time: 23.170s,    5.52/s", PHASE_NEAR, 0, 0,
		  -1, false, false },
		{ "Train: 17 [ 1250/1251 (100%)]  Loss: 6.93 (6.93)", PHASE_NEAR, 17, 100, -1, false, false },
		{ "Test: [  24/48]  Time: 2.1 (2.1)  Loss:  6.9 (6.9)  Acc@1: 0.1 (0.1)", PHASE_NEAR, -1, 50, -1, true,
		  false },
		/* ESPnet, and FunASR */
		{ "[host] 2020-04-05 16:34:54,278 (trainer:192) INFO: 2/40epoch started. Estimated time to finish: 7 minutes and 58.63 seconds",
		  PHASE_BEGINS, 2, -1, -1, false, false },
		{ "[host] 2026-04-23 04:59:09,396 (trainer:318) INFO: 1/30epoch started", PHASE_BEGINS, 1, -1, -1,
		  false, false },
		{ "3/25 epoch started. Estimated time to finish: 6 hours", PHASE_BEGINS, 3, -1, -1, false, false },
		{ "[host] 2026-04-23 04:59:25,764 (trainer:793) INFO: 1epoch:train:1-90batch: iter_time=0.003, loss=80.856",
		  PHASE_NEAR, 1, -1, -1, false, false },
		{ "2epoch:train:1-50batch:50num_updates: iter_time=0.008, loss=0.192", PHASE_NEAR, 2, -1, -1, false,
		  false },
		{ "[host] 2020-09-17 18:14:26,464 (trainer:243) INFO: 1epoch results: [train] iter_time=0.164, loss=480.386, time=1 minute",
		  PHASE_ENDS, 1, -1, -1, false, false },
		/* torchtune */
		{ "1|20|Loss: 0.8484776020050049:  10%|#         | 20/200 [00:10<01:30,  2.00it/s]", PHASE_NEAR, 1, 10,
		  10, false, false },
		{ "2025-01-06 20:14:23,782 - ERROR - 2|57|Loss: nan: 100%|" BAR "| 57/57 [20:46<00:00, 21.88s/it]",
		  PHASE_NEAR, 2, 100, 1246, false, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct phase_words *w;
		struct applog_line l;

		if (parse(&l, NULL, cases[i].line, strlen(cases[i].line)) != APPLOG_PHASE ||
		    l.entry.event != cases[i].event)
			fail_msg("\"%s\" is not seen", cases[i].line);
		w = &l.entry.words;
		assert_string_equal(l.name, "epoch");
		assert_int_equal(l.entry.number, cases[i].number);
		assert_int_equal(l.entry.source, PHASE_LOG);
		if (cases[i].event != PHASE_NEAR)
			continue;
		if ((w->part < 0 ? -1 : (int)(w->part * 100 + 0.5F)) != cases[i].percent)
			fail_msg("\"%s\" is at %.0f %%", cases[i].line, 100 * (double)w->part);
		assert_int_equal(w->has_elapsed ? (int64_t)(w->elapsed_ns / NSEC_PER_SEC) : -1, cases[i].elapsed_s);
		assert_int_equal(w->validates, cases[i].validates);
		assert_int_equal(w->row, cases[i].row);
		assert_false(w->heading);
	}
}

static void lines_of_programs_without_epochs_name_a_step(void **state)
{
	static const struct {
		const char *line;
		int64_t step;
	} cases[] = {
		{ "INFO:tensorflow:loss = 2.36026, step = 0", 0 },
		{ "INFO:tensorflow:loss = 76982.47, step = 101 (1.080 sec)", 101 },
		{ "I1122 10:00:00.000000 1234 basic_session_run_hooks.py:260] loss = 4.8e-03, step = 208 (7.759 sec)",
		  208 },
		{ "INFO:tensorflow:global step 10: loss = 2.8785 (0.253 sec/step)", 10 },
		{ "[11/24 17:17:38 d2.utils.events]:  eta: 0:03:49  iter: 19  total_loss: 5.922  time: 0.8241  data_time: 0.8461",
		  19 },
		{ "[04/13 23:50:15 d2.utils.events]:  eta: 3 days, 0:25:58  iter: 279  total_loss: 59.2", 279 },
		{ "04/15 16:50:26 - mmengine - INFO - Iter(train) [ 50/100]  lr: 1.9820e-03  eta: 0:00:15  loss: 1.5",
		  50 },
		{ " iteration      100/     500 | consumed samples:        12800 | elapsed time per iteration (ms): 123.4",
		  100 },
		{ "Step 100: loss", -1 }, /* no number */
		{ "Step 100: loss = 2.3", 100 },
		{ "Step 100/1000, train loss: 2.3", 100 },
		{ "[rank0] step 7 | loss nan", 7 },
		{ "iter 20: loss 2.3456, time 12.34ms, mfu 3.45%", 20 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct applog_line l;
		enum applog_found found = parse(&l, NULL, cases[i].line, strlen(cases[i].line));

		if (cases[i].step < 0) {
			assert_int_equal(found, APPLOG_NOTHING);
			continue;
		}
		if (found != APPLOG_PHASE || l.entry.event != PHASE_STEP)
			fail_msg("\"%s\" is no step", cases[i].line);
		assert_string_equal(l.name, "training");
		assert_int_equal(l.entry.number, -1);
		assert_int_equal(l.entry.words.step, cases[i].step);
	}
}

/* Each differs from a line above by what makes that one's form. */
static void lines_that_resemble_those_of_known_programs_do_not_count(void **state)
{
	static const char *const none[] = {
		/* mmengine */
		"Epoch(train) took 5 s",
		"Epoch(train) [1]",
		"Epoch(train) [1][50]",
		"Epoch(train) [1][60/50]  loss: 1",
		"Epoch(test) [5/5]    acc: 7.5",
		"MyEpoch(train) [1][ 50/100]  loss: 1",
		"resumed at Epoch(train) [1][ 50/100]  loss: 1",
		"Epoch(train) [99999999999][1/2]  loss: 1",
		"The best checkpoint with 0.1701 acc/top1 at 1 epoch is saved to best_acc_top1_epoch_1.pth.",
		"Saving checkpoint at 1 epochs",
		/* YOLO */
		"      Epoch    GPU_mem   box_loss   obj_loss   cls_loss  Instances       Size",
		"       1/3     0.5G",
		"       1/3     0.5G      2.1      3.1",
		"       1/3     0.5G      used      3.1     4      5",
		"       1/3     0.5M    0.04  0.06  0.01  150  640",
		"       13     0.5G    0.04  0.06  0.01  150  640",
		"  x    1/3     0.5G    0.04  0.06  0.01  150  640",
		"       1/3     0.5G    0.04  0.06  0.01  150  640 files",
		"       1/3     0.5G: 100%|##| 4/4 [00:02<00:00]",
		"                   all        128        929      0.64      0.53",
		"Class 3 of 10 Images: 100 %",
		/* fastai */
		"epoch     train_loss  valid_loss  accuracy  time",
		"1         3.269541    3.451855    0.387471",
		"0 1.102223    0.367693    0.916667  00:12",
		"0         1.1022    0.3676    0.9166  00:12",
		"0         1.102223    0.367693    0.916667  12",
		"0         1.102223  00:12",
		"0         1.102223    0.367693    0.916667  00:12 x",
		"10.0.0.1  1.102223    0.367693  00:12",
		"Total time: 02:58",
		/* timm */
		"Train: 10 samples",
		"Train: 0 [10%]",
		"Train: 0 [   5/3 (  0%)]  Loss: 1",
		"Test: [   0/48] passed",
		"Unit tests: [ 3/48]  Time: 2.1",
		/* ESPnet */
		"v1.2/20epoch started",
		"20epoch started",
		"1epoch:valid:1-90batch: loss=1",
		"1epoch:train:90batch: loss=1",
		"x1epoch results: loss=1",
		"There are no improvements in this epoch",
		"The training was finished at 20 epochs",
		"epoch results: 3",
		/* torchtune */
		"1|Loss: 0.8",
		"|20|Loss: 0.8",
		"1|20|Loss: high",
		"3|1|20|Loss: 0.8",
		"| 1 | 20 |Loss: 0.8",
		/* steps */
		"INFO:tensorflow:global_step/sec: 92.7017",
		"INFO:tensorflow:Loss for final step: 0.553216.",
		"INFO:tensorflow:Saving checkpoints for 300 into /tmp/x/model.ckpt.",
		"loss = 2.3, steps = 100",
		"xloss = 2.3, step = 100",
		"[09/17 18:14:26 d2.engine.hooks]: Total training time: 0:00:00 (0:00:00 on hooks)",
		"[09/17 18:14:26 d2.utils.events]:  eta: 0:00:15",
		"Step 1: download the loss function",
		"Step 1: loss of 5 files",
		"Step 2 of 5",
		"Steps 100: loss 2.3",
		"Footstep 100: loss 2.3",
		"see step 100: loss 2.3",
		"iteration 5 | done",
		"iterate 5: loss 2",
		"Step 9999999999: loss 2.3",
		"step -1: loss 2.3",
	};
	struct applog_line l;

	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		if (parse(&l, NULL, none[i], strlen(none[i])) != APPLOG_NOTHING)
			fail_msg("\"%s\" shows %s %lld", none[i], l.name, (long long)l.entry.number);
}

/* A mark may be in the line before; a line full of marks is not searched to its end. */
static void the_first_marks_of_a_line_are_tried(void **state)
{
	static const char later[] = "Step A, Step B: Step 100: loss 2.3",
			  last[] = "Step, Step, Step, Step, Step 100: loss 2.3";
	struct applog_line l;

	assert_int_equal(parse(&l, NULL, later, strlen(later)), APPLOG_PHASE);
	assert_int_equal(l.entry.words.step, 100);
	assert_int_equal(parse(&l, NULL, last, strlen(last)), APPLOG_NOTHING);
}

static void other_lines_do_not(void **state)
{
	static const char *const none[] = {
		"Training complete: 45.5 %",
		"resumed from epoch 3/10",
		"Early stop, best was epoch 3",
		"epochs 3",
		"Epoch",
		"Epoch 1 not finished",
		"epoch 0.5: loss 0.1",
		"Start epoch: 0",
		"on_epoch done",
		"Epoch 3 [Eval] acc 0.5",
		"Validation: epoch 3, acc 0.5",
		"epoch 2 validation loss 0.3",
		"{'epoch': 10, 'lr': 0.1}",
		"{'epochs': 10, 'loss': 'l1'}",
		"{'loss': 0.5}",
		" 33%|###  | 50/150 [00:12<00:24,  4.1it/s]",
		"50/50 of the files",
		"3/10 - done",
		"***** Running Evaluation *****",
		"Saving checkpoint 3",
		"value 1",
		"",
		"loss 0.1",
		"2026-11-22 08:00:01,123 INFO step 3",
		"Restarting epoch 3",
		"Starting epochs",
		"2026-11-22T08:00:01.1 Epoch 1 [Eval] Accelerator Utilization [AU] (%): 99",
		"Starting",
		"Ending ",
		"Starting saving",
		MLLOG("POINT_IN_TIME", "seed", ""),
		"2026-11-22 08:00:01 Starting server",
		"understarting epoch 3",
	};
	static const char *const broken[] = {
		":::MLLOG {\"namespace\": \"\", \"time_ms\": 17",
		":::MLLOG",
		"x :::MLLOG {\"key\": \"a_start\"",
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
	static const struct {
		const char *line;
		enum phase_event event;
		const char *name;
		int64_t number, rank;
	} cases[] = {
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
	static const struct {
		const char *text, *error;
	} beyond[] = {
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
	static const struct {
		const char *text;
		size_t len;
		enum phase_event event;
	} cases[] = {
		{ "train start", 5, PHASE_BEGINS },
		{ "train_stop", 5, PHASE_ENDS },
		{ "a.begin", 1, PHASE_BEGINS },
		{ "a-end", 1, PHASE_ENDS },
		{ "end", 3, PHASE_LASTS },
		{ "legend", 6, PHASE_LASTS },
		{ "", 0, PHASE_LASTS },
		{ " end", 4, PHASE_LASTS },
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
		cmocka_unit_test(lines_of_known_programs_name_an_epoch),
		cmocka_unit_test(lines_of_programs_without_epochs_name_a_step),
		cmocka_unit_test(lines_that_resemble_those_of_known_programs_do_not_count),
		cmocka_unit_test(the_first_marks_of_a_line_are_tried),
		cmocka_unit_test(other_lines_do_not),
		cmocka_unit_test(long_lines_are_looked_at_up_to_a_length),
		cmocka_unit_test(rules_name_the_lines_of_a_phase),
		cmocka_unit_test(rules_that_are_none_are_refused),
		cmocka_unit_test(words_behind_a_name_begin_and_end_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
