/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last seconds of a trace that goes on: see trace.h. Process 10 is the root; sched.out has sums of each second; the
 * trace answers which waits are open.
 */
#include "report/path/recent.h"

#include "base/json.h"
#include "report/show/recent_json.h"
#include "trace.h"

#define S (1000 * MS)

static struct path_recent *recent;
static int dirfd = -1;

static int end(void **state)
{
	if (recent)
		path_recent_free(TAKE_PTR(recent));
	util_close(&dirfd);
	return tree_remove(state);
}

static void put_run(unsigned int tid, uint64_t at, uint64_t run)
{
	put(SCHED, at, "%u\t%u\tx\ttarget\t0\t-\t1000000000\t9\t0\t%llu\t0\t-\t-\t-\t-\t-\t-\t-\t-", tid, tid,
	    (unsigned long long)run);
}

/* Sums of each second in (FROM, TO], in which TID ran for RUN. */
static void put_runs(unsigned int tid, unsigned int from, unsigned int to, uint64_t run)
{
	for (unsigned int s = from + 1; s <= to; s++)
		put_run(tid, s * S, run);
}

static int opens(void)
{
	dirfd = open(tree, O_RDONLY | O_DIRECTORY);
	assert_true(dirfd >= 0);
	return path_recent_open(&recent, dirfd, 10);
}

/* A trace of the root, to which tests add. */
static void begin(void)
{
	put_event(0, "exec", 10, 10, 1, "python", NULL);
	put_file(1, "/data/a.bin");
	put_wait(.pid = 99, .from = 0, .to = 2 * MS);
}

/* The answer at AT: ROWS are those of waits, each "TID\tCALL\tSTATE\tLAT_NS". */
static int answer(uint64_t at, uint64_t flushed, unsigned int lost, const char *rows)
{
	autofree char *text =
		util_fmt("%llu %llu %u\n# dltraced waits 1\nTIMESTAMP\tTID\tCALL\tSTATE\tLAT_NS\tRUNQ_NS\tBY\tBY_PID"
			 "\tBY_TID\tBY_COMM\tPEER\tFID\tFILE\n%s",
			 BEGIN + at, BEGIN + flushed, lost, rows);

	return path_recent_waiting(recent, text);
}

static char *open_wait(uint64_t at, unsigned int tid, const char *call, const char *state, uint64_t since)
{
	return util_fmt("%llu\t%u\t%s\t%s\t%llu\t0\tend\t-\t-\t-\t-\t-\t-\n", BEGIN + at, tid, call, state,
			(unsigned long long)(at - since));
}

/* The root waits in CALL, in STATE, since a second after the begin; two looks later its rows are in the files. */
static void root_waits(const char *call, const char *state)
{
	autofree char *first = open_wait(12 * S + 300 * MS, 10, call, state, S);
	autofree char *second = open_wait(13 * S + 300 * MS, 10, call, state, S);

	assert_int_equal(answer(12 * S + 300 * MS, 11 * S, 0, first), 0);
	assert_int_equal(path_recent_look(recent), -EAGAIN);
	assert_int_equal(answer(13 * S + 300 * MS, 13 * S, 0, second), 0);
}

/* Expects NS of KIND; OWNER: with a quote at its end, a further thread. */
static const struct path_leaf *expect(const char *kind, const char *owner, uint64_t ns)
{
	const struct path_leaf *leaf = NULL;
	uint64_t got = 0, all = 0;

	for (uint32_t i = 0; i < recent->sums.n; i++) {
		const struct path_sum *sum = &recent->sums.v[i];
		const char *name = path_name_text(&recent->names, sum->leaf.process);
		const size_t len = strcspn(owner, "'");

		all += sum->ns;
		if (strcmp(path_kinds[sum->leaf.kind].name, kind) != 0 || strlen(or_dash(name)) != len ||
		    strncmp(or_dash(name), owner, len) != 0 || sum->leaf.thread != (owner[len] != '\0'))
			continue;
		got += sum->ns;
		leaf = &sum->leaf;
	}
	assert_int_equal(all, recent->end_ns - recent->begin_ns);
	if (got != ns)
		fail_msg("%s of %s: %llu and not %llu ms", kind, owner, (unsigned long long)(got / MS),
			 (unsigned long long)(ns / MS));
	return leaf;
}

static void a_wait_that_has_not_ended_is_no_time_on_a_cpu(void **state)
{
	const struct path_leaf *leaf;

	begin();
	put_run(10, S, S);
	put_runs(99, 0, 13, S);
	assert_int_equal(opens(), 0);
	root_waits("read", "sleep");
	assert_int_equal(path_recent_look(recent), 0);
	assert_int_equal(recent->begin_ns, BEGIN + 2 * S);
	assert_int_equal(recent->end_ns, BEGIN + 12 * S);
	assert_int_equal(recent->pid, 10);
	leaf = expect("unended", "python", 10 * S);
	assert_true(leaf->open && !leaf->inferred);
	/* the same again */
	assert_int_equal(path_recent_look(recent), 0);
	expect("unended", "python", 10 * S);
}

static void what_others_did_meanwhile_is_inferred(void **state)
{
	begin();
	put_event(S, "thread", 10, 11, 1, "python", NULL);
	put_run(10, S, S);
	put_runs(11, 1, 13, S);
	assert_int_equal(opens(), 0);
	root_waits("futex", "sleep");
	assert_int_equal(path_recent_look(recent), 0);
	assert_true(expect("cpu", "python'", 10 * S)->inferred);
}

/* It computed for half a minute, and reads since: only what it did in these seconds counts. */
static void what_others_did_before_does_not_count(void **state)
{
	autofree char *first = open_wait(40 * S + 300 * MS, 10, "futex", "sleep", S);
	autofree char *second = open_wait(41 * S + 300 * MS, 10, "futex", "sleep", S);

	begin();
	put_event(S, "thread", 10, 11, 1, "python", NULL);
	put_run(10, S, S);
	put_runs(11, 1, 30, S);
	for (unsigned int s = 30; s < 41; s++)
		put_wait(.pid = 10, .tid = 11, .from = s * S, .to = (s + 1) * S, .call = "pread64", .state = "disk",
			 .by = "disk", .fid = 1, .file = "a.bin");
	put_runs(99, 30, 41, S);
	assert_int_equal(opens(), 0);
	assert_int_equal(answer(40 * S + 300 * MS, 40 * S, 0, first), 0);
	assert_int_equal(answer(41 * S + 300 * MS, 41 * S, 0, second), 0);
	assert_int_equal(path_recent_look(recent), 0);
	assert_int_equal(recent->begin_ns, BEGIN + 30 * S);
	assert_true(expect("disk-read", "python'", 10 * S)->inferred);
}

static void sleeps_and_reads_are_known_before_they_end(void **state)
{
	static const struct {
		const char *call, *state, *kind;
	} cases[] = { { "nanosleep", "sleep", "sleep" },
		      { "pread64", "disk", "disk-read" },
		      { "fsync", "disk", "disk-sync" },
		      { "-", "runq", "runq" },
		      { "stopped", "sleep", "stopped" } };

	begin();
	put_run(10, S, S);
	put_runs(99, 0, 13, S);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(opens(), 0);
		root_waits(cases[i].call, cases[i].state);
		assert_int_equal(path_recent_look(recent), 0);
		expect(cases[i].kind, "python", 10 * S);
		path_recent_free(TAKE_PTR(recent));
		util_close(&dirfd);
	}
}

/* It ended after the moment, so its row, which came later, shows by whom. */
static void the_row_of_a_wait_counts_before_the_open_one(void **state)
{
	begin();
	put_event(S, "thread", 10, 11, 1, "python", NULL);
	put_run(10, S, S);
	put_runs(11, 1, 13, S);
	put_wait(.pid = 10, .from = S, .to = 12 * S + 800 * MS, .call = "futex", .by = "thread", .by_pid = 10,
		 .by_tid = 11);
	assert_int_equal(opens(), 0);
	root_waits("futex", "sleep");
	assert_int_equal(path_recent_look(recent), 0);
	assert_false(expect("cpu", "python'", 10 * S)->inferred);
}

/* What is appended after the first look, with a thread that was not there. */
static void rows_that_come_later_are_read(void **state)
{
	autofree char *later = open_wait(16 * S + 300 * MS, 12, "nanosleep", "sleep", 13 * S);

	begin();
	put_run(10, S, S);
	put_runs(99, 0, 13, S);
	assert_int_equal(opens(), 0);
	root_waits("read", "sleep");
	assert_int_equal(path_recent_look(recent), 0);
	put_event(13 * S, "thread", 10, 12, 1, "python", NULL);
	put_wait(.pid = 10, .from = S, .to = 13 * S, .call = "read", .by = "thread", .by_pid = 20);
	put_runs(10, 13, 17, S);
	assert_int_equal(answer(16 * S + 300 * MS, 16 * S, 0, later), 0);
	assert_int_equal(answer(17 * S + 300 * MS, 17 * S, 0, ""), 0);
	assert_int_equal(path_recent_look(recent), 0);
	assert_int_equal(recent->end_ns, BEGIN + 16 * S);
	expect("cpu", "python", 3 * S);
}

static void rows_that_were_lost_or_split_off_are_waited_for(void **state)
{
	autofree char *from = NULL, *to = NULL;

	begin();
	put_runs(10, 0, 14, S);
	assert_int_equal(opens(), 0);
	assert_int_equal(answer(12 * S + 300 * MS, 12 * S, 7, ""), 0);
	assert_int_equal(answer(13 * S + 300 * MS, 13 * S, 7, ""), 0);
	assert_int_equal(path_recent_look(recent), 0); /* lost before anybody looked */
	assert_int_equal(answer(14 * S + 300 * MS, 14 * S, 8, ""), 0);
	assert_int_equal(path_recent_look(recent), -EAGAIN);
	put_runs(10, 14, 18, S);
	assert_int_equal(answer(17 * S + 300 * MS, 17 * S, 8, ""), 0);
	assert_int_equal(answer(18 * S + 300 * MS, 18 * S, 8, ""), 0);
	assert_int_equal(path_recent_look(recent), 0);
	assert_int_equal(recent->begin_ns, BEGIN + 15 * S); /* of the interval after */
	/* a new file */
	from = tree_path("sched.out");
	to = tree_path("sched.000001.out");
	assert_int_equal(rename(from, to), 0);
	put_runs(10, 18, 19, S);
	assert_int_equal(answer(19 * S + 300 * MS, 19 * S, 8, ""), 0);
	assert_int_equal(path_recent_look(recent), -EAGAIN);
	put_runs(10, 19, 24, S);
	assert_int_equal(answer(23 * S + 300 * MS, 23 * S, 8, ""), 0);
	assert_int_equal(answer(24 * S + 300 * MS, 24 * S, 8, ""), 0);
	assert_int_equal(path_recent_look(recent), 0);
	assert_int_equal(recent->begin_ns, BEGIN + 20 * S);
	expect("cpu", "python", 3 * S);
}

/* Attached at the eighth second to a process that has waited for long. */
static void nothing_is_known_before_the_trace_began(void **state)
{
	autofree char *wait = open_wait(12 * S + 300 * MS, 10, "read", "sleep", 8 * S);

	put_event(8 * S, "snapshot", 10, 10, 1, "python", NULL);
	put_file(1, "/data/a.bin");
	put_wait(.pid = 99, .from = 8 * S, .to = 8 * S + 2 * MS);
	put_runs(99, 8, 13, S);
	assert_int_equal(opens(), 0);
	assert_int_equal(answer(12 * S + 300 * MS, 12 * S, 0, wait), 0);
	assert_int_equal(answer(13 * S + 300 * MS, 13 * S, 0, ""), 0);
	recent->workload_pid = 0;
	assert_int_equal(path_recent_look(recent), 0);
	assert_int_equal(recent->begin_ns, BEGIN + 8 * S);
	expect("unended", "python", 4 * S);
}

/* The new file has no rows yet, so waits before it may lack theirs. */
static void a_new_file_of_waits_may_lack_earlier_ones(void **state)
{
	autofree char *from = tree_path("waits.out"), *to = tree_path("waits.000001.out");
	autofree char *wait = open_wait(20 * S + 300 * MS, 10, "read", "sleep", 13 * S);

	begin();
	put_run(10, S, S);
	put_runs(99, 0, 21, S);
	assert_int_equal(opens(), 0);
	root_waits("read", "sleep");
	assert_int_equal(rename(from, to), 0);
	tree_put("waits.out", "# dltraced waits 1 segment=2\nTIMESTAMP\tTIME\tPID\tTID\tCALL\tSTATE\tLAT_NS\n");
	assert_int_equal(path_recent_look(recent), -EAGAIN);
	assert_int_equal(answer(20 * S + 300 * MS, 20 * S, 0, wait), 0);
	assert_int_equal(answer(21 * S + 300 * MS, 21 * S, 0, ""), 0);
	assert_int_equal(path_recent_look(recent), 0);
	assert_int_equal(recent->begin_ns, BEGIN + 15 * S);
	expect("unended", "python", 5 * S);
}

static void a_root_that_has_ended_has_no_last_seconds(void **state)
{
	begin();
	put_event(3 * S / 2, "exit", 10, 10, 1, "python", "0");
	put_runs(99, 0, 13, S);
	assert_int_equal(opens(), 0);
	root_waits("read", "sleep");
	assert_int_equal(path_recent_look(recent), -ENODATA);
}

static void answers_of_others_are_refused(void **state)
{
	begin();
	put_runs(10, 0, 1, S);
	assert_int_equal(opens(), 0);
	assert_int_equal(path_recent_waiting(recent, ""), -EBADMSG);
	assert_int_equal(path_recent_waiting(recent, "1 2\n"), -EBADMSG);
	assert_int_equal(path_recent_waiting(recent, "x\n# dltraced waits 1\n"), -EBADMSG);
	/* a moment that is not later */
	assert_int_equal(answer(2 * S, S, 0, ""), 0);
	assert_int_equal(answer(2 * S, S, 0, ""), -EBADMSG);
	/* no rows, but a moment that is known */
	assert_int_equal(path_recent_waiting(recent, "5000000000000 5100000000000 0\nnothing\n"), 0);
	assert_true(path_recent_look(recent) < 0);
}

static void a_trace_without_waits_is_not_opened(void **state)
{
	put_event(0, "exec", 10, 10, 1, "python", NULL);
	assert_int_equal(opens(), -ENOENT);
}

/* Nine children: the five that took most have parts, the others share one. */
static void at_most_six_parts_are_all_of_the_time(void **state)
{
	struct json json = { .flat = true };
	autofree char *text = NULL;
	unsigned int parts = 0;

	begin();
	put_run(10, S, S);
	put_runs(99, 0, 13, S);
	for (unsigned int i = 1; i <= 9; i++) {
		autofree char *name = util_fmt("\\033%c", 'a' + (int)i);

		put_event(i * S, "fork", 10 + i, 10 + i, 10, name, NULL);
		put_wait(.pid = 10, .from = i * S, .to = (i + 1) * S - i * MS, .call = "read", .by = "thread",
			 .by_pid = 10 + i);
	}
	assert_int_equal(opens(), 0);
	assert_int_equal(answer(12 * S + 300 * MS, 12 * S, 0, ""), 0);
	assert_int_equal(answer(13 * S + 300 * MS, 13 * S, 0, ""), 0);
	assert_int_equal(path_recent_look(recent), 0);
	recent_json(recent, NULL, &json);
	text = json_text(&json);
	assert_non_null(text);
	for (const char *at = text; (at = strstr(at, "\"kind\"")); at++)
		parts++;
	assert_int_equal(parts, RECENT_PARTS_MAX);
	assert_non_null(strstr(text, "\"who\": \"\\\\033d\"")); /* its backslash */
	assert_non_null(strstr(text, "{\"kind\": \"other\""));
	assert_non_null(strstr(text, "\"wall_ns\": 10000000000"));
}

#define IN_TRACE(test) cmocka_unit_test_setup_teardown(test, tree_make, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TRACE(a_new_file_of_waits_may_lack_earlier_ones),
		IN_TRACE(a_root_that_has_ended_has_no_last_seconds),
		IN_TRACE(a_trace_without_waits_is_not_opened),
		IN_TRACE(a_wait_that_has_not_ended_is_no_time_on_a_cpu),
		IN_TRACE(answers_of_others_are_refused),
		IN_TRACE(at_most_six_parts_are_all_of_the_time),
		IN_TRACE(nothing_is_known_before_the_trace_began),
		IN_TRACE(rows_that_come_later_are_read),
		IN_TRACE(rows_that_were_lost_or_split_off_are_waited_for),
		IN_TRACE(sleeps_and_reads_are_known_before_they_end),
		IN_TRACE(the_row_of_a_wait_counts_before_the_open_one),
		IN_TRACE(what_others_did_before_does_not_count),
		IN_TRACE(what_others_did_meanwhile_is_inferred),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
