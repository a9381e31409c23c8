/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/phases/read.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "report/scan/clocks.h"
#include "stats/timeline.h"
#include "trace/unpack.h"
#include "tree.h"

#define S NSEC_PER_SEC
#define REAL 1795334400 /* 2026-11-22T08:00:00Z, when CLOCK_MONOTONIC is 1000 s */

static char notes[65536];

static const struct manifest_facts berlin = {
	.start_ns = 1000 * S,
	.end_ns = 2000 * S,
	.start_utc = "2026-11-22T08:00:00.000000000Z",
	.localtime = "/usr/share/zoneinfo/Nowhere/Unknown",
	.utc_offset_s = "3600",
};

static struct phases *read_with(const struct manifest_facts *m, const struct phases_options *o)
{
	autoclose int dirfd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct scan_clocks *clocks = calloc(1, sizeof(*clocks));
	struct scan_folder *folder = scan_folder_new(dirfd);
	struct phases *p = NULL;
	size_t len = 0;

	scan_walk(folder, "time_align", &(struct scan_taker){ .take = scan_clocks_take, .own = clocks });
	assert_int_equal(phases_read(&p, dirfd, m, o, &clocks->phases), 0);
	notes[0] = '\0';
	for (unsigned int i = 0; i < p->n_notes; i++)
		len += (size_t)snprintf(notes + len, sizeof(notes) - len, "%s\n", p->notes[i]);
	scan_folder_free(folder);
	scan_clocks_free(clocks);
	phases_end(p, m->start_ns, m->end_ns);
	return p;
}

/* Reads one log, named or in the folder. */
static struct phases *read_log(const char *text, const struct phases_options *o)
{
	autofree char *path = tree_path("log");
	const char *logs[] = { path };
	struct phases_options options = o ? *o : (struct phases_options){ 0 };

	tree_put("log", text);
	options.logs = logs;
	options.n_logs = 1;
	return read_with(&berlin, &options);
}

/* Expects all phases as "LABEL SOURCE BEGIN-END"; the first instant is 1000 s. */
static void expect(const struct phases *p, const char *want)
{
	char text[4096] = "", label[PHASE_LABEL_MAX];
	size_t len = 0;

	for (uint32_t i = 0; i < p->all.n; i++) {
		const struct phase *v = &p->all.v[i];

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s %s %g-%g%s\n", phases_label(p, v, label),
					phase_source_names[p->names[v->name].source],
					(double)(v->begin_ns - 1000 * S) / S, (double)(v->end_ns - 1000 * S) / S,
					v->inferred ? " inferred" : "");
	}
	assert_string_equal(text, want);
}

static void has_note(const char *text)
{
	if (!strstr(notes, text))
		fail_msg("\"%s\" is not said, but: %s", text, notes);
}

static uint64_t file_size(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (uint64_t)st.st_size;
}

#define DLIO                                                                                                        \
	"[OUTPUT] 2026-11-22T09:00:01.000000 Running DLIO [Training] with 1 process(es)\n"                          \
	"[OUTPUT] 2026-11-22T09:00:10.000000 Starting epoch 1: 10 steps expected\n"                                 \
	"[OUTPUT] 2026-11-22T09:00:10.500000 Starting block 1\n"                                                    \
	"[OUTPUT] 2026-11-22T09:00:20.250000 Ending block 1 - 10 steps completed in 9.75 s\n"                       \
	"[OUTPUT] 2026-11-22T09:00:20.250000 Epoch 1 - Block 1 [Training] Accelerator Utilization [AU] (%): 99.1\n" \
	"[OUTPUT] 2026-11-22T09:00:21.000000 Ending epoch 1 - 10 steps completed in 11.00 s\n"                      \
	"[OUTPUT] 2026-11-22T09:00:21.000000 Starting eval - 2 steps expected\n"                                    \
	"[OUTPUT] 2026-11-22T09:00:23.000000 Ending eval - 2 steps completed in 2.00 s\n"

/* The data base does not have the manifest's zone: the host's offset counts. */
static void a_dlio_log_is_of_the_hosts_zone(void **state)
{
	struct phases *p = read_log(DLIO, NULL);

	expect(p, "init dlio 1-10 inferred\nepoch 1 dlio 10-21\nblock 1 dlio 10.5-20.25\neval dlio 21-23\n");
	assert_string_equal(notes, "");
	phases_free(p);
}

static void the_option_has_another_zone(void **state)
{
	struct phases *p = read_log(DLIO, &(struct phases_options){ .zone = "+00:59" });

	expect(p, "init dlio 61-70 inferred\nepoch 1 dlio 70-81\nblock 1 dlio 70.5-80.25\neval dlio 81-83\n");
	phases_free(p);
	p = read_log(DLIO, &(struct phases_options){ .zone = "UTC" });
	assert_int_equal(p->all.n, 0);
	has_note("all of its lines about phases are outside of the trace, the first by 2610 s after it ended");
	has_note("--app-log-tz");
	phases_free(p);
}

#define EPOCHS                                                                                         \
	"2026-11-22 09:00:10,000 INFO Starting epoch 1\n2026-11-22 09:00:20,000 INFO Ending epoch 1\n" \
	"2026-11-22 09:00:20,000 INFO Starting epoch 2\n"

/* Otherwise, a phase that has begun would last over the whole trace. */
static void a_log_of_another_time_marks_nothing(void **state)
{
	static const char *const zones[] = { "+01:05", "-09:00" };
	struct phases *p;

	for (size_t i = 0; i < ARRAY_SIZE(zones); i++) {
		p = read_log(EPOCHS, &(struct phases_options){ .zone = zones[i] });

		assert_int_equal(p->recorded.n, 0);
		assert_int_equal(p->all.n, 0);
		assert_int_equal(p->unpaired, 0);
		has_note(
			i ? "the first by 35010 s after it ended, and are left out; if the log was written in another time zone" :
			    "the first by 290 s before it began, and are left out; if the log was written in another time zone");
		phases_free(p);
	}
	/* it is ignored: the next log may be the right one */
	tree_put("workload.log", "2026-11-22T00:00:10Z INFO Starting epoch 7\n");
	tree_put("collected/x.log", EPOCHS);
	p = read_with(&berlin, NULL);
	expect(p, "epoch 1 log 10-20\nepoch 2 log 20-1000\n");
	phases_free(p);
}

/* As Python's logging writes them when nobody adds lines for the ends. */
static void a_log_of_begins_alone_marks_all_epochs(void **state)
{
	struct phases *p = read_log(
		"2026-11-22 09:00:10,000 INFO Starting epoch 1\n2026-11-22 09:00:15,000 INFO Starting epoch 2\n"
		"2026-11-22 09:00:20,000 INFO Starting epoch 3\n",
		NULL);

	expect(p, "epoch 1 log 10-15\nepoch 2 log 15-20\nepoch 3 log 20-1000\n");
	assert_true(p->all.v[2].unfinished);
	assert_string_equal(notes, "");
	phases_free(p);
}

/* An epoch that ended early did so: the next begin is not its end. */
static void an_end_is_marked_behind_its_epoch(void **state)
{
	struct phases *p = read_log(
		"2026-11-22 09:00:10,000 INFO Starting epoch 1\n2026-11-22 09:00:14,000 INFO Epoch 1 finished\n"
		"2026-11-22 09:00:15,000 INFO Epoch 2/2\n2026-11-22 09:00:19,000 INFO Epoch 2/2 done: loss 0.1\n",
		NULL);

	expect(p, "epoch 1 log 10-14\nepoch 2 log 15-19\n");
	assert_string_equal(notes, "");
	phases_free(p);
}

/* The trace covers a part of an epoch, and no line is within it. */
static void a_log_around_the_trace_is_of_it(void **state)
{
	struct phases *p = read_log("2026-11-22 08:50:00,000 INFO Starting epoch 1\n"
				    "2026-11-22 10:10:00,000 INFO Ending epoch 1\n",
				    NULL);

	expect(p, "epoch 1 log 0-1000\n");
	assert_string_equal(notes, "");
	phases_free(p);
}

/* Only the last line is from the trace's own time. */
static void a_log_of_many_runs_is_read_from_its_begin(void **state)
{
	struct phases *p =
		read_log("2025-11-22 09:00:10,000 INFO Starting epoch 1\n2026-11-22 08:50:00,000 INFO Ending epoch 1\n"
			 "2026-11-22 08:50:00,000 INFO Starting epoch 2\n2026-11-22 09:00:05,000 INFO Ending epoch 2\n",
			 NULL);

	expect(p, "epoch 2 log 0-5\n");
	assert_int_equal(p->outside, 1);
	phases_free(p);
}

/* From 02:59:50 to 02:00:10: the hour comes twice, and the continuation is the second time. */
static void a_log_goes_through_the_end_of_summer(void **state)
{
	static const struct manifest_facts m = {
		.start_ns = 1000 * S,
		.end_ns = 9000 * S,
		.start_utc = "2026-10-25T00:30:00Z",
		.tz = "CET-1CEST,M3.5.0,M10.5.0/3",
	};
	autofree char *path = tree_path("log");
	const char *logs[] = { path };
	struct phases *p;

	tree_put("log", "2026-10-25 02:40:00,000 INFO Starting epoch 1\n"
			"2026-10-25 02:59:50,000 INFO Ending epoch 1\n"
			"2026-10-25 02:00:10,000 INFO Starting epoch 2\n"
			"2026-10-25 02:45:00,000 INFO Ending epoch 2\n");
	p = read_with(&m, &(struct phases_options){ .logs = logs, .n_logs = 1 });
	expect(p, "epoch 1 log 600-1790\nepoch 2 log 1810-4500\n");
	phases_free(p);
}

/* The clock is set back by 100 s at 1050 s. */
static void a_log_goes_through_a_set_clock(void **state)
{
	struct phases *p;

	tree_put("time_align.out",
		 "# dltraced time_align 1\nTIMESTAMP\tTIME\tREALTIME_NS\tBOOTTIME_NS\tERROR_NS\tEVENT\n"
		 "1000000000000\t-\t1795334400000000000\t1\t1\tstart\n"
		 "1050000000000\t-\t1795334350000000000\t1\t1\tstep\n");
	p = read_log("2026-11-22T08:00:10Z Starting epoch 1\n2026-11-22T08:00:49Z Ending epoch 1\n"
		     "2026-11-22T07:59:20Z Starting epoch 2\n2026-11-22T08:00:30Z Ending epoch 2\n",
		     NULL);
	expect(p, "epoch 1 log 10-49\nepoch 2 log 60-130\n");
	phases_free(p);
}

#define MLLOG(s, event, key)                                                                      \
	":::MLLOG {\"namespace\": \"\", \"time_ms\": " s "500, \"event_type\": \"INTERVAL_" event \
	"\", \"key\": \"" key "\", \"value\": null, \"metadata\": {\"epoch_num\": 2}}\n"

static void lines_without_enough_words_are_counted(void **state)
{
	struct phases *p =
		read_log("Starting epoch 1\n"
			 ":::MLLOG {\"key\": \"epoch_start\", \"event_type\": \"INTERVAL_START\"}\n"
			 ":::MLLOG {\"key\": \"epoch_st\n"
			 "1: " MLLOG("1795334410", "START",
				     "epoch_start") "2026-11-31 08:00:01,000 Starting epoch 7\n"
						    "1: " MLLOG("1795334420", "END", "epoch_stop") "1: " MLLOG(
							    "1795334430", "START", "epoch_start"),
			 NULL);

	expect(p, "epoch 2 mllog 10.5-20.5\nepoch 2 mllog 30.5-1000\n");
	assert_true(p->all.v[1].unfinished);
	assert_int_equal(p->all.v[1].rank, 1);
	has_note("log: 1 line about phases is incomplete and is left out");
	has_note("log: 3 lines about phases have no time and are left out");
	phases_free(p);
	p = read_log("2026-11-22T09:00:01.5 Starting epoch 1\n2026-11-22T09:00:02.5 Ending epoch 1\n"
		     "2026-11-22T09:00:03.5 Starting epoch 1",
		     NULL); /* of 12, perhaps */
	expect(p, "epoch 1 dlio 1.5-2.5\n");
	has_note("its last line is about a phase, is incomplete and is left out");
	phases_free(p);
	p = read_log("loss 0.1\n", NULL);
	has_note("no line marks a phase; name those that do with --phase REGEX=NAME");
	phases_free(p);
}

#define LASTED(s, key, value)                                                                                     \
	":::MLLOG {\"namespace\": \"\", \"time_ms\": " s "500, \"event_type\": \"INTERVAL_END\", \"key\": \"" key \
	"\", \"value\": " value ", \"metadata\": {\"epoch_num\": 2}}\n"

/* By the program's own begin if that is of the trace's clock; to the line's time if it is not; from a line that begins
 * it. */
static void lines_with_a_duration_are_phases(void **state)
{
	struct phases *p =
		read_log(LASTED("1795334410", "load_batch", "{\"start\": 1010000000000, \"duration\": 250000000}")
				 LASTED("1795334412", "compute", "{\"start\": 7, \"duration\": 1.5}")
					 MLLOG("1795334414", "START", "eval_start") LASTED("1795334418", "eval_stop",
											   "{\"duration\": 1.5}")
						 LASTED("1795334420", "load_batch", "{\"duration\": 1000000000}"),
			 NULL);

	expect(p,
	       "load_batch 2 mllog 10-10.25\ncompute 2 mllog 11-12.5\neval 2 mllog 14.5-18.5\nload_batch 2 mllog 19.5-20.5\n");
	assert_int_equal(p->unpaired, 0);
	phases_free(p);
}

/* NULs, a line of megabytes, no newline at all: everything else is read. */
static void garbage_is_passed_over(void **state)
{
	static const char line[] = "2026-11-22T08:00:05Z Starting epoch 1\n",
			  last[] = "2026-11-22T08:00:06Z Ending epoch 1\n";
	autofree char *path = tree_path("log");
	const char *logs[] = { path, path, path };
	size_t size = 5U << 20;
	autofree char *text = malloc(size);
	autoclose int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct phases *p;

	for (size_t i = 0; i < size; i++)
		text[i] = (char)(i * 2654435761U >> 13);
	memset(text + 100000, 'x', 3U << 20);
	memcpy(text + 200000, line, strlen(line) - 1); /* within a long line, beyond its examined part */
	text[50000] = '\n';
	memcpy(text + 50001, line, strlen(line));
	text[size - 2 - strlen(last)] = '\n';
	memcpy(text + size - 1 - strlen(last), last, strlen(last));
	text[size - 1] = '\n';
	assert_int_equal(util_write_all(fd, text, size), 0);
	p = read_with(&berlin, &(struct phases_options){ .logs = logs, .n_logs = 1 });
	expect(p, "epoch 1 log 5-6\n");
	phases_free(p);
	p = read_with(&berlin, &(struct phases_options){ .logs = logs, .n_logs = 3 });
	assert_int_equal(p->recorded.n, 3);
	phases_free(p);
}

static void no_file_is_noted(void **state)
{
	autofree char *fifo = tree_path("fifo"), *none = tree_path("none");
	const char *logs[] = { tree, fifo, none };
	struct phases *p;

	assert_int_equal(mkfifo(fifo, 0600), 0);
	p = read_with(&berlin, &(struct phases_options){ .logs = logs, .n_logs = 3 });
	assert_int_equal(p->all.n, 0);
	has_note("fifo: cannot be read: it is not a regular file");
	has_note("none: cannot be read: No such file");
	phases_free(p);
}

/* --- the folder ---------------------------------------------------------------------------------------- */

static void a_row_is_a_line_with_a_time(void **state)
{
	struct phases *p;

	/* a line's own time counts if it is before the row; a time of another zone does not */
	tree_put("workload.out", "# dltraced workload 1\nTIMESTAMP\tTIME\tTEXT\n"
				 "1010000000000\t-\tStarting\\040epoch\\0401\n"
				 "1020000000000\t-\t2026-11-22\\04009:00:19,500\\040Ending\\040epoch\\0401\n"
				 "1030000000000\t-\t2026-11-22T08:00:29.5\\040Starting\\040epoch\\0402\n"
				 "1040000000000\t-\t2026-11-22T10:00:39\\040Ending\\040epoch\\0402\n");
	tree_put("marks.out", "# dltraced marks 1\nTIMESTAMP\tTIME\tPID\tTEXT\n"
			      "1005000000000\t-\t1\tload_start\n1006000000000\t-\t1\tload_stop\nhalf a ro");
	p = read_with(&berlin, NULL);
	expect(p, "load marks 5-6\nepoch 1 log 10-19.5\nepoch 2 dlio 30-40\n");
	has_note("marks.out: the last row is cut off");
	phases_free(p);
}

/* With --log, the rows are all of the output. */
static void printed_lines_count_where_there_is_no_log(void **state)
{
	struct manifest_facts m = berlin;
	struct phases *p;

	m.probes[0] = (struct manifest_probe){ .name = "printed", .unread = 1234 };
	m.n_probes = 1;
	tree_put("printed.out", "# dltraced printed 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tFD\tTEXT\n"
				"1010000000000\t-\t7\t7\tpython\t1\tStarting\\040epoch\\0401\n"
				"1020000000000\t-\t7\t7\tpython\t2\tEnding\\040epoch\\0401\n");
	p = read_with(&m, NULL);
	expect(p, "epoch 1 log 10-20\n");
	has_note("printed.out: 1234 writes to the job's output were too many or too long to be searched for");
	phases_free(p);
	tree_put("workload.out", "# dltraced workload 1\nTIMESTAMP\tTIME\tTEXT\n"
				 "1011000000000\t-\tStarting\\040epoch\\0401\n"
				 "1021000000000\t-\tEnding\\040epoch\\0401\n");
	p = read_with(&berlin, NULL);
	expect(p, "epoch 1 log 11-21\n");
	phases_free(p);
}

/* The bar itself shows how long before its row its state was; terminal escapes are skipped. */
static void a_bar_is_drawn_over_and_over_in_one_row(void **state)
{
	struct phases *p;

	tree_put("workload.out", "# dltraced workload 1\nTIMESTAMP\tTIME\tTEXT\n"
				 "1010000000000\t-\t\\015Epoch\\0400:\\040\\0400%|\\040\\040|\\0400/4\\040[00:00<?]"
				 "\\015Epoch\\0400:\\04050%|\\043\\040|\\0402/4\\040[00:04<00:04]\\033[A"
				 "\\015Epoch\\0400:\\040100%|\\043\\043|\\0404/4\\040[00:08<00:00]\n"
				 "1030000000000\t-\t\\015Epoch\\0401:\\040\\0400%|\\040\\040|\\0400/4\\040[00:00<?]"
				 "\\015\\033[2KEpoch\\0401:\\040100%|\\043\\043|\\0404/4\\040[00:09<00:00]"
				 "\\015Epoch\\0402:\\04050%|\\043\\040|\\0402/4\\040[00:04<00:04]"
				 "\\015Epoch\\0402:\\040100%|\\043\\043|\\0404/4\\040[00:08<00:00]\n");
	p = read_with(&berlin, NULL);
	assert_int_equal(p->score.side, EPOCH_LASTS);
	expect(p, "epoch 0 log 2-13\nepoch 1 log 13-22\nepoch 2 log 22-30\n");
	phases_free(p);
}

#define WORKER(pid, from, to)                                                                                        \
	from "000000000\t-\t" pid "\t" pid "\t50\tpython\tfork\t-\t" pid "\t0\t/\t-\t-\n" from "000000001\t-\t" pid  \
	     "\t" pid "\t50\tpt_data_worker\trename\t-\t" pid "\t0\t/\t-\tpython\n" to "000000000\t-\t" pid "\t" pid \
	     "\t50\tpt_data_worker\texit\t0\t" pid "\t0\t/\t-\t-\n"
#define PIDS                                                                                                        \
	"# dltraced pids 1\nTIMESTAMP\tTIME\tPID\tTID\tPPID\tCOMM\tEVENT\tSTATUS\tNSPID\tUID\tCGROUP\tRANK\tARGS\n" \
	"1000000000000\t-\t50\t50\t1\tpython\texec\t-\t50\t0\t/\t-\tpython\\000train.py\n"                          \
	"1001000000000\t-\t51\t51\t50\tpython\tfork\t-\t51\t0\t/\t-\t-\n"                                           \
	"1001000000001\t-\t51\t51\t50\tnvidia-smi\texec\t-\t51\t0\t/\t-\tnvidia-smi\n" WORKER("60", "1010", "1019") \
		WORKER("61", "1020", "1029") WORKER("60", "1030", "1039") /* the PID of the first again */

/* By pids.out: also workers about which nothing is printed. */
static void workers_have_generations(void **state)
{
	struct timeline *t;
	struct phases *p;

	tree_put("pids.out", PIDS);
	p = read_with(&berlin, NULL);
	expect(p, "epoch 0 workers 10-19 inferred\nepoch 1 workers 20-29 inferred\nepoch 2 workers 30-39 inferred\n");
	phases_free(p);
	tree_put("workload.out",
		 "# dltraced workload 1\nTIMESTAMP\tTIME\tTEXT\n1019500000000\t-\tepoch\\0407:\\040loss\\0401.0\n"
		 "1029500000000\t-\tepoch\\0408:\\040loss\\0400.9\n1039500000000\t-\tepoch\\0409:\\040loss\\0400.8\n");
	p = read_with(&berlin, NULL);
	t = timeline_new(1000 * S); /* rows have been read */
	assert_int_equal(phases_settle(p, t), 0);
	timeline_free(t);
	expect(p, "epoch 7 log 10-19.5\nepoch 8 log 19.5-29.5\nepoch 9 log 29.5-39.5\n");
	phases_free(p);
}

/* The log of a run on the day before: its lines do not count, other sources do. */
static void lines_of_another_run_are_no_epochs(void **state)
{
	struct phases *p;

	tree_put("pids.out", PIDS);
	p = read_log("2026-11-21 09:00:10,000 INFO epoch 0: loss 1.2\n2026-11-21 09:10:10,000 INFO epoch 1: loss 1.1\n",
		     NULL);
	assert_false(p->has_score);
	assert_int_equal(phases_count(p, PHASE_EPOCH), 3);
	has_note("all of its lines about phases are outside of the trace");
	phases_free(p);
}

static void rules_say_how_many_lines_they_matched(void **state)
{
	struct applog_rules rules = { .n = 0 };
	const struct phases_options o = { .rules = &rules };
	struct phases *p;
	char error[128];

	assert_int_equal(applog_add_rule(&rules, "model ([0-9]+) is done=epoch \\1 end", error, sizeof(error)), 0);
	assert_int_equal(applog_add_rule(&rules, "modle=epoch", error, sizeof(error)), 0);
	p = read_log("2026-11-22 09:00:10,000 model 1 is done\n2026-11-22 09:00:20,000 model 2 is done\n", &o);
	expect(p, "epoch 1 log 0-10\nepoch 2 log 10-20\n");
	assert_int_equal(p->n_rules, 2);
	assert_int_equal(p->rules[0].lines, 2);
	assert_int_equal(p->rules[1].lines, 0);
	assert_int_equal(rules.rule[0].lines, 2);
	assert_string_equal(notes, "--phase modle=epoch: no line of a log matched\n");
	phases_free(p);
	applog_free_rules(&rules);
}

static void logs_of_the_folder_are_read_where_the_output_says_nothing(void **state)
{
	autofree char *link = tree_path("collected/link.log"), *target = tree_path("secret");
	struct phases *p;

	tree_put("secret", DLIO);
	tree_put("collected/results/x/dlio.log", DLIO);
	tree_put("collected/results/x/dlio.txt", DLIO);
	assert_int_equal(symlink(target, link), 0);
	p = read_with(&berlin, NULL);
	assert_int_equal(p->recorded.n, 4);
	phases_free(p);
	tree_put("workload.log", "2026-11-22T08:00:05Z Starting epoch 1\n2026-11-22T08:00:06Z Ending epoch 1\n");
	p = read_with(&berlin, NULL);
	expect(p, "epoch 1 log 5-6\n");
	phases_free(p);
}

/* Writes NAME with TEXT packed as P, as one member after the existing content. */
static void put_packed(const char *name, const char *text, enum pack p)
{
	autofree char *path = tree_path(name);
	autoclose int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	char buf[16384];
	size_t len = 0;

	if (p == PACK_GZIP) {
		z_stream z = { .next_in = (unsigned char *)text,
			       .avail_in = (uInt)strlen(text),
			       .next_out = (unsigned char *)buf,
			       .avail_out = sizeof(buf) };

		assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
		assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
		len = z.total_out;
		deflateEnd(&z);
	}
#ifdef HAVE_ZSTD
	if (p == PACK_ZSTD)
		len = ZSTD_compress(buf, sizeof(buf), text, strlen(text), 3);
#endif
	assert_in_range(len, 1, sizeof(buf));
	assert_int_equal(util_write_all(fd, buf, len), 0);
}

static void a_packed_log_is_read(void **state)
{
	static const char *const parts[] = {
		"2026-11-22T08:00:05Z Starting epoch 1\n2026-11-22T08:00:06Z End",
		"ing epoch 1\n2026-11-22T08:00:07Z Starting epoch 2\n2026-11-22T08:00:09Z Ending epoch 2\n"
	};

	for (enum pack p = PACK_GZIP; p < PACKS; p++) {
		autofree char *path = tree_path(p == PACK_GZIP ? "log-a" : "log-b.zst"); /* whatever its name */
		const char *logs[] = { path };
		const struct phases_options named = { .logs = logs, .n_logs = 1 };
		struct phases *ph;

		if (!unpack_knows(p))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
			put_packed(path + strlen(tree) + 1, parts[i], p);
		ph = read_with(&berlin, &named);
		expect(ph, "epoch 1 log 5-6\nepoch 2 log 7-9\n");
		assert_string_equal(notes, "");
		phases_free(ph);
		/* without its end: the first member is whole, of the second as much as possible */
		assert_int_equal(truncate(path, (off_t)file_size(path) - 6), 0);
		ph = read_with(&berlin, &named);
		has_note("it is compressed and cut off: the rest was read");
		assert_int_not_equal(ph->all.n, 0);
		phases_free(ph);
		put_packed(path + strlen(tree) + 1, "behind what is cut off", p);
		ph = read_with(&berlin, &named);
		has_note("it is compressed and damaged: the part before the damage was read");
		phases_free(ph);
	}
}

static void packed_logs_of_the_folder_are_read(void **state)
{
	struct phases *p;

	put_packed("collected/results/dlio.log.gz", DLIO, PACK_GZIP);
	put_packed("collected/results/dlio.txt.gz", DLIO, PACK_GZIP);
	p = read_with(&berlin, NULL);
	expect(p, "init dlio 1-10 inferred\nepoch 1 dlio 10-21\nblock 1 dlio 10.5-20.25\neval dlio 21-23\n");
	assert_string_equal(notes, "");
	phases_free(p);
	put_packed("workload.log.gz", "2026-11-22T08:00:05Z Starting epoch 1\n2026-11-22T08:00:06Z Ending epoch 1\n",
		   PACK_GZIP);
	p = read_with(&berlin, NULL);
	expect(p, "epoch 1 log 5-6\n");
	phases_free(p);
}

static void without_a_zone_no_time_is_guessed(void **state)
{
	static const struct manifest_facts m = { .start_ns = 1000 * S,
						 .end_ns = 2000 * S,
						 .start_utc = "2026-11-22T08:00:00Z" };
	autofree char *path = tree_path("log");
	const char *logs[] = { path };
	struct phases *p;

	tree_put("log", DLIO);
	p = read_with(&m, &(struct phases_options){ .logs = logs, .n_logs = 1 });
	assert_int_equal(p->all.n, 0);
	has_note(
		"log: 6 lines about phases have no time, or a time in an unknown time zone (give it with --app-log-tz), and are "
		"left out");
	phases_free(p);
	p = read_with(&m, &(struct phases_options){ .logs = logs, .n_logs = 1, .zone = "Mars/Olympus" });
	has_note("--app-log-tz Mars/Olympus: this machine knows no such time zone");
	phases_free(p);
}

#define REGION_ARGS(end_s, pid, cat, name, lat_s, ret, epoch, args)                                                \
#end_s "000000000\t-\t" #pid "\t" #pid "\tpython\t" cat "\t" name "\t" #lat_s "000000000\t" ret "\t" epoch \
	       "\t-\t-\t-\tapi\t" args "\n"
#define REGION_ROW(end_s, pid, cat, name, lat_s, ret, epoch) REGION_ARGS(end_s, pid, cat, name, lat_s, ret, epoch, "-")
#define REGION_HEAD \
	"# dltraced regions 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tCAT\tNAME\tLAT_NS\tRET\tEPOCH\tSTEP\tBYTES\tLANE\tSOURCE\tARGS\n"

/* Two ranks with equal epochs; regions count more than a log. */
static void the_programs_own_regions_are_phases(void **state)
{
	struct phases *p;

	tree_put("regions.out",
		 REGION_HEAD REGION_ROW(1012, 7, "compute", "step", 1, "0", "1")
			 REGION_ROW(1020, 7, "pipeline", "epoch", 10, "0", "1")
				 REGION_ROW(1021, 8, "pipeline", "epoch", 10, "0", "1")
					 REGION_ROW(1023, 7, "checkpoint", "save", 2, "0", "-")
						 REGION_ROW(1030, 7, "pipeline", "evaluate", 5, "-1", "-")
							 REGION_ROW(1040, 8, "pipeline", "epoch", 9, "?", "2")
								 REGION_ROW(1050, 8, "other", "epoch", 9, "0", "2"));
	p = read_log(EPOCHS, NULL);
	expect(p, "epoch 1 regions 10-21\nepoch 1 log 10-20\nepoch 2 log 20-1000\ncheckpoint regions 21-23\n"
		  "evaluation regions 25-30\nepoch 2 regions 31-40\n");
	assert_int_equal(phases_count(p, PHASE_EPOCH), 2);
	assert_true(phases_get(p, PHASE_EPOCH, 1)->begin_ns == 1031 * S && phases_get(p, PHASE_EPOCH, 1)->unfinished);
	assert_int_equal(phases_get(p, PHASE_EPOCH, 0)->ranks, 2);
	phases_free(p);
}

static void epochs_last_from_their_first_step_to_their_last(void **state)
{
	struct phases *p;

	tree_put("regions.out",
		 REGION_HEAD REGION_ROW(1012, 7, "dataloader", "fetch", 2, "0", "0") REGION_ROW(
			 1013, 7, "compute", "step", 1, "0", "0") REGION_ROW(1022, 8, "compute", "step", 1, "0", "1")
			 REGION_ROW(1031, 7, "compute", "step", 1, "0", "1")
				 REGION_ROW(1040, 7, "mine", "step", 1, "0", "2") "1041000000000\t-\tx\n" REGION_ROW(
					 1042, 7, "compute", "step", 2000, "0", "0") "10");
	p = read_with(&berlin, NULL);
	expect(p, "epoch 0 regions 10-13\nepoch 1 regions 21-31\n");
	has_note("regions.out: 2 rows could not be read");
	has_note("the last row is cut off");
	phases_free(p);
}

/* Only a whole number under exactly this key counts. */
static void samples_are_an_argument_of_a_region(void **state)
{
	struct phases *p;

	tree_put("regions.out",
		 REGION_HEAD REGION_ARGS(1011, 7, "compute", "backward", 1, "0", "0", "worker=1\\012samples=32")
			 REGION_ARGS(1012, 7, "compute", "step", 1, "0", "0", "samples=8\\012x=samples=9")
				 REGION_ARGS(1013, 7, "compute", "step", 1, "0", "0",
					     "samples=x\\012samples\\012resamples=5\\012samples=")
					 REGION_ARGS(1014, 7, "compute", "step", 1, "0", "0", "?")
						 REGION_ARGS(1015, 7, "dataloader", "fetch", 1, "0", "0", "samples=7"));
	p = read_with(&berlin, NULL);
	assert_int_equal(p->steps.n_sums, 1);
	assert_int_equal(p->steps.sums[0].n, 3);
	assert_int_equal(p->steps.sums[0].samples, 40);
	phases_free(p);
}

#define PFW(pid, cat, name, ts, dur, args)                                                                          \
	"{\"id\":1,\"name\":\"" name "\",\"cat\":\"" cat "\",\"pid\":" #pid ",\"tid\":" #pid ",\"ts\":17953344" #ts \
	"00000,\"dur\":" #dur "00000,\"ph\":\"X\",\"args\":{" args "}}\n"

/* As DFTracer's two halves of an iterator, in a container, where the process has another number; and not with
 * regions.out. */
static void a_pfw_has_regions(void **state)
{
	autofree char *path = tree_path("job.pfw");
	const char *logs[] = { path };
	const struct phases_options options = { .logs = logs, .n_logs = 1 };
	struct phases *p;

	tree_put(
		"pids.out",
		"# dltraced pids 1\nTIMESTAMP\tTIME\tPID\tTID\tPPID\tCOMM\tEVENT\tSTATUS\tNSPID\tUID\tCGROUP\tRANK\tARGS\n"
		"1000000000000\t-\t4711\t4711\t1\tpython\tfork\t-\t7\t0\t-\t-\t-\n"
		"1000000000000\t-\t4712\t4712\t1\tpython\tfork\t-\t8\t0\t-\t-\t-\n"
		"1000000000000\t-\t4713\t4713\t1\tpython\tfork\t-\t8\t0\t-\t-\t-\n");
	tree_put("job.pfw",
		 "[\n" PFW(7, "compute", "step", 136, 10, "\"epoch\":0,\"step\":5,\"samples\":32") PFW(
			 7, "dataloader", "fetch.iter", 110, 10,
			 "\"epoch\":\"0\"") PFW(7, "dataloader", "fetch.block", 120, 30,
						"") PFW(7, "POSIX", "read", 111, 1, "") PFW(7, "pipeline", "epoch.iter",
											    105, 1, "")
			 PFW(7, "pipeline", "epoch.block", 106, 60, "\"epoch\":0") PFW(
				 7, "checkpoint", "capture",
				 150, 10, "") PFW(8, "compute", "step", 130, 10,
						  "") PFW(9, "compute", "step", 130, 10, "")
				 PFW(7, "compute", "step", 0, 10,
				     "") "{\"name\":\"x\",\n"
					 "{\"name\":\"CM\",\"ph\":\"M\",\"args\":{\"name\":\"key\",\"value\":\"NS\"}}\n]");
	p = read_with(&berlin, &options);
	expect(p, "epoch 0 regions 10.6-16.6\ncheckpoint regions 15-16\n");
	assert_int_equal(p->steps.n_sums, 1);
	assert_int_equal(p->steps.sums[0].pid, 4711);
	assert_int_equal(p->steps.sums[0].n, 1);
	assert_int_equal(p->steps.sums[0].samples, 32);
	assert_int_equal(p->steps.sums[0].part_ns[STEP_FETCH], S);
	assert_int_equal(p->steps.slowest[0].number, 5);
	assert_int_equal(p->steps.slowest[0].begin_ns, 1011 * S);
	assert_int_equal(p->steps.slowest[0].wall_ns, S * 36 / 10);
	has_note("job.pfw: 1 line is malformed");
	has_note("job.pfw: 2 regions are of processes that the trace does not have");
	has_note("job.pfw: 1 region is outside of the trace");
	phases_free(p);
	tree_put("regions.out", REGION_HEAD REGION_ROW(1012, 7, "compute", "step", 1, "0", "1"));
	p = read_with(&berlin, &options);
	assert_int_equal(p->steps.sums[0].pid, 7);
	has_note("job.pfw: it is left out, as regions.out has the job's steps");
	phases_free(p);
}

static void a_pfw_that_cannot_be_joined_is_noted(void **state)
{
	autofree char *path = tree_path("job.pfw"), *none = tree_path("none.pfw.gz");
	const char *logs[] = { path, none };
	const struct phases_options options = { .logs = logs, .n_logs = 2 };
	struct phases *p;

	tree_put("job.pfw", "[\n" PFW(7, "compute", "step", 136, 10, "") "]");
	p = read_with(&berlin, &options);
	assert_int_equal(p->steps.n_sums, 0);
	has_note("job.pfw: 1 region is of processes that the trace does not have"); /* it has no pids.out */
	has_note("job.pfw: it has no region of this trace");
	has_note("none.pfw.gz: cannot be read: No such file or directory");
	phases_free(p);
}

#define PIDS_ROW(pid) "1000000000000\t-\t" #pid "\t" #pid "\t1\tpython\tfork\t-\t" #pid "\t0\t-\t-\t-\n"

static void put_pids(void)
{
	tree_put(
		"pids.out",
		"# dltraced pids 1\nTIMESTAMP\tTIME\tPID\tTID\tPPID\tCOMM\tEVENT\tSTATUS\tNSPID\tUID\tCGROUP\tRANK\tARGS\n" PIDS_ROW(
			7) PIDS_ROW(8));
}

/* Two processes, and a second file of one of them, later: as after an exec. One is named: then it alone counts. */
static void a_collected_pfw_has_regions(void **state)
{
	autofree char *path = tree_path("collected/out/7.pfw");
	const char *logs[] = { path };
	const struct phases_options options = { .logs = logs, .n_logs = 1 };
	struct phases *p;

	put_pids();
	tree_put("collected/out/7.pfw", "[\n" PFW(7, "compute", "step", 110, 10, "\"epoch\":0"));
	tree_put("collected/out/7-again.pfw", "[\n" PFW(7, "compute", "step", 130, 10, "\"epoch\":0"));
	tree_put("collected/8.pfw", "[\n" PFW(8, "compute", "step", 110, 10, "\"epoch\":0"));
	p = read_with(&berlin, NULL);
	assert_int_equal(p->n_notes, 0);
	assert_int_equal(p->steps.n_sums, 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(p->steps.sums[i].n, p->steps.sums[i].pid == 7 ? 2 : 1);
	phases_free(p);
	p = read_with(&berlin, &options);
	assert_int_equal(p->steps.n_sums, 1);
	assert_int_equal(p->steps.sums[0].n, 1);
	phases_free(p);
	tree_put("regions.out", REGION_HEAD REGION_ROW(1012, 9, "compute", "step", 1, "0", "1"));
	p = read_with(&berlin, NULL);
	assert_int_equal(p->n_notes, 0);
	assert_int_equal(p->steps.n_sums, 1);
	assert_int_equal(p->steps.sums[0].pid, 9);
	phases_free(p);
}

/* A copy, and what a tool put together from both: which one is right? */
static void collected_pfws_of_one_time_are_left_out(void **state)
{
	struct phases *p;

	put_pids();
	tree_put("collected/7.pfw", "[\n" PFW(7, "compute", "step", 110, 10, ""));
	tree_put("collected/8.pfw", "[\n" PFW(8, "compute", "step", 110, 10, ""));
	tree_put("collected/all.pfw",
		 "[\n" PFW(7, "compute", "step", 105, 10, "") PFW(7, "compute", "step", 119, 10, ""));
	p = read_with(&berlin, NULL);
	assert_int_equal(p->steps.n_sums, 1);
	assert_int_equal(p->steps.sums[0].pid, 8);
	assert_int_equal(p->n_notes, 2);
	has_note("collected/7.pfw: it is left out, as another .pfw has regions of its process at the same time");
	has_note("collected/all.pfw: it is left out");
	phases_free(p);
}

static void a_pfw_that_is_too_large_is_noted(void **state)
{
	autofree char *path = tree_path("job.pfw");
	const char *logs[] = { path };
	const struct phases_options options = { .logs = logs, .n_logs = 1 };
	struct phases *p;

	put_pids();
	tree_put("job.pfw", "[\n" PFW(7, "compute", "step", 136, 10, ""));
	assert_int_equal(truncate(path, (1LL << 34) + 1), 0); /* a hole */
	p = read_with(&berlin, &options);
	assert_int_equal(p->steps.n_sums, 0);
	assert_int_equal(p->n_notes, 1);
	has_note("job.pfw: cannot be read: File too large");
	phases_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_dlio_log_is_of_the_hosts_zone),
		IN_TREE(the_option_has_another_zone),
		IN_TREE(a_log_of_another_time_marks_nothing),
		IN_TREE(a_log_of_begins_alone_marks_all_epochs),
		IN_TREE(an_end_is_marked_behind_its_epoch),
		IN_TREE(a_log_around_the_trace_is_of_it),
		IN_TREE(a_log_of_many_runs_is_read_from_its_begin),
		IN_TREE(a_log_goes_through_the_end_of_summer),
		IN_TREE(a_log_goes_through_a_set_clock),
		IN_TREE(lines_without_enough_words_are_counted),
		IN_TREE(lines_with_a_duration_are_phases),
		IN_TREE(garbage_is_passed_over),
		IN_TREE(no_file_is_noted),
		IN_TREE(a_row_is_a_line_with_a_time),
		IN_TREE(printed_lines_count_where_there_is_no_log),
		IN_TREE(a_bar_is_drawn_over_and_over_in_one_row),
		IN_TREE(workers_have_generations),
		IN_TREE(the_programs_own_regions_are_phases),
		IN_TREE(epochs_last_from_their_first_step_to_their_last),
		IN_TREE(samples_are_an_argument_of_a_region),
		IN_TREE(a_pfw_has_regions),
		IN_TREE(a_collected_pfw_has_regions),
		IN_TREE(collected_pfws_of_one_time_are_left_out),
		IN_TREE(a_pfw_that_cannot_be_joined_is_noted),
		IN_TREE(a_pfw_that_is_too_large_is_noted),
		IN_TREE(lines_of_another_run_are_no_epochs),
		IN_TREE(rules_say_how_many_lines_they_matched),
		IN_TREE(logs_of_the_folder_are_read_where_the_output_says_nothing),
		IN_TREE(a_packed_log_is_read),
		IN_TREE(packed_logs_of_the_folder_are_read),
		IN_TREE(without_a_zone_no_time_is_guessed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
