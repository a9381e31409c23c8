/* SPDX-License-Identifier: BSD-2-Clause */
/* See trace.h: process 10 is the root, of one second, and on a CPU but for the waits that have rows. */
#include "report/path/way.h"

#include "trace.h"

#define LIFE (1000 * MS)

/* A trace needs a row in waits.out; that of a thread which is not known counts nowhere. */
static void put_computing_root(uint64_t life)
{
	put_root(10, "python", life);
	put_wait(.pid = 99, .from = 0, .to = MS);
}

#define SAMPLE .pid = 10, .fid = 1, .file = "sample_7.jpg"
#define MODULE .pid = 10, .fid = 2, .file = "os.py"

static void put_files(void)
{
	put_file(1, "/data/sample_7.jpg");
	put_file(2, "/usr/lib/python3/os.py");
	put_file(3, "/out/log.txt");
}

/* Returns the time of OWNER in which it loads its programs. */
static uint64_t starting_ns(const struct report *r, const char *owner)
{
	const struct path_sums *sums = &r->path->root[0].sums;
	uint64_t ns = 0;

	for (uint32_t i = 0; i < sums->n; i++)
		if (sums->v[i].leaf.starting &&
		    strcmp(path_name_text(&r->path->names, sums->v[i].leaf.process), owner) == 0)
			ns += sums->v[i].ns;
	return ns;
}

/* --- calls -------------------------------------------------------------------------------------------------- */

static void a_cached_read_has_the_name_of_its_file(void **state)
{
	struct report *r;

	put_computing_root(LIFE);
	put_files();
	put_read(SAMPLE, .from = 100 * MS, .to = 300 * MS);
	put_read(SAMPLE, .from = 400 * MS, .to = 450 * MS);
	r = path_loaded();
	expect_part(r, "cpu-read", "python", "sample_#.jpg", 250 * MS);
	expect_part(r, "cpu", "python", NULL, 750 * MS);
	expect_chain(r, "cpu-read", "python", "sample_#.jpg", 250 * MS);
	report_free(r);
}

static void writes_and_syncs_of_files_are_one_part(void **state)
{
	struct report *r;

	put_computing_root(LIFE);
	put_files();
	put_write(.pid = 10, .from = 100 * MS, .to = 150 * MS, .fid = 3, .file = "log.txt");
	put_sync(.pid = 10, .from = 150 * MS, .to = 300 * MS, .fid = 3, .file = "log.txt");
	r = path_loaded();
	expect_part(r, "cpu-write", "python", "log.txt", 200 * MS);
	expect_part(r, "cpu", "python", NULL, 800 * MS);
	report_free(r);
}

/* An open that creates its file has two rows, and one that was there before the trace is no call. */
static void opens_and_the_like_are_metadata(void **state)
{
	struct report *r;

	put_computing_root(LIFE);
	put_files();
	put_open(SAMPLE, .from = 0, .to = 90 * MS, .func = "snapshot");
	put_open(SAMPLE, .from = 100 * MS, .to = 200 * MS);
	put(CREATE_DEL, 200 * MS, "10\t10\tx\tcreate\t%llu\t0\t644\t0x0\t1\t/data/sample_7.jpg\t-\tkernel", 100 * MS);
	put(CREATE_DEL, 700 * MS, "10\t10\tx\tunlink\t%llu\t0\t-\t-\t1\t/data/sample_7.jpg\t-\tkernel", 50 * MS);
	put(CLOSE, 400 * MS, "10\t10\tx\tclose\t%llu\t0\t5\t-\t1\tsample_7.jpg", 20 * MS);
	r = path_loaded();
	expect_part(r, "cpu-metadata", "python", "sample_#.jpg", 170 * MS);
	expect_part(r, "cpu", "python", NULL, 830 * MS);
	report_free(r);
}

static void a_read_of_a_pipe_is_no_read_of_a_file(void **state)
{
	struct report *r;

	put_computing_root(LIFE);
	put(FILES, 0, "1\t0:13\t1\tfifo\tpipefs\t0\tok\tpipe:[1]");
	put_read(.pid = 10, .fid = 1, .file = "pipe:[1]", .from = 100 * MS, .to = 300 * MS);
	r = path_loaded();
	expect_part(r, "cpu", "python", NULL, LIFE);
	report_free(r);
}

/* sendfile(2) has a row for each file, of the same time. */
static void a_call_with_two_rows_counts_once(void **state)
{
	struct report *r;

	put_computing_root(LIFE);
	put_files();
	put_read(SAMPLE, .from = 100 * MS, .to = 300 * MS, .func = "sendfile");
	put_write(.pid = 10, .fid = 3, .file = "log.txt", .from = 100 * MS, .to = 300 * MS, .func = "sendfile");
	r = path_loaded();
	expect_part(r, "cpu", "python", NULL, 800 * MS);
	report_free(r);
}

/* It is on its way while the thread computes. */
static void a_request_of_a_ring_is_no_call_of_the_thread(void **state)
{
	struct report *r;

	put_computing_root(LIFE);
	put_files();
	put_read(SAMPLE, .from = 100 * MS, .to = 300 * MS, .func = "io_uring:read");
	put_read(SAMPLE, .from = 400 * MS, .to = 500 * MS, .func = "io_submit:pread");
	r = path_loaded();
	expect_part(r, "cpu", "python", NULL, LIFE);
	report_free(r);
}

/* The call's time in which the thread was off its CPU has a row of its own. */
static void a_wait_in_a_call_is_no_cpu_time_of_it(void **state)
{
	struct report *r;

	put_root(10, "python", LIFE);
	put_files();
	put_wait(SAMPLE, .from = 120 * MS, .to = 280 * MS, .call = "read", .state = "disk", .by = "disk");
	put_read(SAMPLE, .from = 100 * MS, .to = 300 * MS);
	r = path_loaded();
	expect_part(r, "disk-read", "python", "sample_#.jpg", 160 * MS);
	expect_part(r, "cpu-read", "python", "sample_#.jpg", 40 * MS);
	expect_part(r, "cpu", "python", NULL, 800 * MS);
	report_free(r);
}

static void put_sums(uint64_t run, uint64_t runq, uint64_t disk)
{
	put(SCHED, LIFE, "10\t10\tx\ttarget\t0\t-\t%llu\t9\t0\t%llu\t%llu\t-\t-\t-\t-\t-\t-\t-\t-", LIFE,
	    (unsigned long long)run, (unsigned long long)runq);
	put(SCHED, LIFE, "10\t10\tx\ttarget\t-\tread\t%llu\t900\t-\t-\t-\t%llu\t0\t0\t9\tdisk\t-\t-\t-", LIFE,
	    (unsigned long long)disk);
}

/* Reads of 500 ms in all, whose waits of 300 ms were too short for rows. */
static void short_waits_for_a_disk_are_no_cpu_time(void **state)
{
	struct report *r;

	put_computing_root(LIFE);
	put_files();
	put_sums(700 * MS, 0, 300 * MS);
	put_read(SAMPLE, .from = 100 * MS, .to = 600 * MS);
	r = path_loaded();
	expect_part(r, "disk-read", "python", NULL, 300 * MS);
	expect_part(r, "cpu-read", "python", "sample_#.jpg", 200 * MS);
	expect_part(r, "cpu", "python", NULL, 500 * MS);
	report_free(r);
}

/* Likewise, but for a fifth of the rest the thread waited for a CPU. */
static void short_waits_for_a_cpu_are_no_cpu_time(void **state)
{
	struct report *r;

	put_computing_root(LIFE);
	put_files();
	put_sums(640 * MS, 160 * MS, 200 * MS);
	put_read(SAMPLE, .from = 100 * MS, .to = 600 * MS);
	r = path_loaded();
	expect_part(r, "runq", "python", NULL, 160 * MS);
	expect_part(r, "disk-read", "python", NULL, 200 * MS);
	expect_part(r, "cpu-read", "python", "sample_#.jpg", 240 * MS);
	expect_part(r, "cpu", "python", NULL, 400 * MS);
	report_free(r);
}

/* The trainer waits for the loader from 500 on: only then its reads count. */
static void a_call_of_another_thread_counts_while_it_is_waited_for(void **state)
{
	struct report *r;

	put_root(10, "python", LIFE);
	put_process(20, 10, "loader", 0, LIFE);
	put_files();
	put_wait(.pid = 10, .from = 500 * MS, .to = 900 * MS, .by = "thread", .by_pid = 20);
	put_read(.pid = 20, .fid = 1, .file = "sample_7.jpg", .from = 300 * MS, .to = 600 * MS);
	r = path_loaded();
	expect_part(r, "cpu-read", "loader", "sample_#.jpg", 100 * MS);
	expect_part(r, "cpu", "loader", NULL, 300 * MS);
	expect_part(r, "cpu-read", "python", NULL, 0);
	report_free(r);
}

/* --- faults ------------------------------------------------------------------------------------------------- */

/* A write of OUT from a mapping of SAMPLE waits from 100 to 300 for a disk; a fault from FROM on has a row. */
static struct report *fault_in_a_write(unsigned int tid, uint64_t from)
{
	put_root(10, "python", LIFE);
	put_event(0, "thread", 10, 11, 1, "python", NULL);
	put_files();
	put_wait(.pid = 10, .from = 100 * MS, .to = 300 * MS, .call = "write", .state = "disk", .by = "disk", .fid = 3,
		 .file = "log.txt");
	put(FAULT, 301 * MS, "10\t%u\tx\tkernel\tfile\t%llu\t0x7f0000000000\t-\t0\t4096\t1\tsample_7.jpg", tid,
	    301 * MS - from);
	return path_loaded();
}

static void a_fault_in_a_write_has_the_name_of_the_mapped_file(void **state)
{
	struct report *r = fault_in_a_write(10, 99 * MS);

	expect_part(r, "disk-fault", "python", "sample_#.jpg", 200 * MS);
	expect_part(r, "disk-write", "python", NULL, 0);
	expect_chain(r, "disk-fault", "python", "sample_#.jpg", 200 * MS);
	report_free(r);
}

/* Most of the wait was before it. */
static void a_wait_before_a_fault_is_of_the_call(void **state)
{
	struct report *r = fault_in_a_write(10, 250 * MS);

	expect_part(r, "disk-write", "python", "log.txt", 200 * MS);
	expect_part(r, "disk-fault", "python", NULL, 0);
	report_free(r);
}

static void a_fault_of_another_thread_makes_no_difference(void **state)
{
	struct report *r = fault_in_a_write(11, 99 * MS);

	expect_part(r, "disk-write", "python", "log.txt", 200 * MS);
	report_free(r);
}

/* What is no wait for storage stays as it is, as when the fault's thread sleeps for memory. */
static void a_sleep_is_no_fault(void **state)
{
	struct report *r;

	put_root(10, "python", LIFE);
	put_files();
	put_wait(.pid = 10, .from = 100 * MS, .to = 300 * MS, .call = "nanosleep", .by = "timer");
	put(FAULT, 301 * MS, "10\t10\tx\tkernel\tfile\t%llu\t0x7f0000000000\t-\t0\t4096\t1\tsample_7.jpg", 202 * MS);
	r = path_loaded();
	expect_part(r, "sleep", "python", NULL, 200 * MS);
	report_free(r);
}

/* --- loading a program ---------------------------------------------------------------------------------------- */

static void a_process_loads_until_its_last_program(void **state)
{
	struct report *r;

	put_computing_root(LIFE);
	put_files();
	put_open(MODULE, .from = 10 * MS, .to = 20 * MS);
	put_open(MODULE, .from = 390 * MS, .to = 400 * MS);
	r = path_loaded();
	assert_int_equal(starting_ns(r, "python"), 400 * MS);
	expect_part(r, "cpu", "python", NULL, 980 * MS);
	report_free(r);
}

/* A module that is loaded when the data is read already is work. */
static void what_is_opened_after_the_data_is_not_loading(void **state)
{
	struct report *r;

	put_computing_root(LIFE);
	put_files();
	put_open(MODULE, .from = 10 * MS, .to = 20 * MS);
	put_read(SAMPLE, .from = 250 * MS, .to = 260 * MS, .bytes = 1 << 20);
	put_open(MODULE, .from = 390 * MS, .to = 400 * MS);
	r = path_loaded();
	assert_int_equal(starting_ns(r, "python"), 250 * MS);
	report_free(r);
}

/* Samples that are read by page faults. */
static void what_is_opened_after_the_data_is_mapped_is_not_loading(void **state)
{
	struct report *r;

	put_computing_root(LIFE);
	put_files();
	put_open(MODULE, .from = 10 * MS, .to = 20 * MS);
	put_map(SAMPLE, .from = 250 * MS, .to = 251 * MS, .bytes = 1 << 20);
	put_open(MODULE, .from = 390 * MS, .to = 400 * MS);
	r = path_loaded();
	assert_int_equal(starting_ns(r, "python"), 250 * MS);
	report_free(r);
}

/* Opens COUNT modules from AT on, one each 10 ms. */
static void put_imports(uint64_t at, unsigned int count)
{
	for (uint64_t begin = at; begin < at + count * 10 * MS; begin += 10 * MS)
		put_open(MODULE, .from = begin, .to = begin + 10 * MS);
}

/* Imports compute between two files, and go on, but not for more than 3 s. */
static void a_long_break_ends_the_loading(void **state)
{
	struct report *r;

	put_computing_root(10000 * MS);
	put_files();
	put_imports(1000 * MS, 4);
	put_imports(4000 * MS, 16);
	put_imports(7200 * MS, 16);
	r = path_loaded();
	assert_int_equal(starting_ns(r, "python"), 4160 * MS);
	report_free(r);
}

/* A late import, at the end of a job that has computed all the time. */
static void a_break_before_few_modules_ends_the_loading(void **state)
{
	struct report *r;

	put_computing_root(5000 * MS);
	put_files();
	put_imports(10 * MS, 10);
	put_imports(2500 * MS, 3);
	r = path_loaded();
	assert_int_equal(starting_ns(r, "python"), 110 * MS);
	report_free(r);
}

/* A monitor that looks at a file of the system once a second. */
static void modules_in_large_intervals_are_not_loading(void **state)
{
	struct report *r;

	put_computing_root(30000 * MS);
	put_files();
	put_imports(10 * MS, 10);
	for (uint64_t at = 1000 * MS; at < 29000 * MS; at += 1000 * MS)
		put_open(MODULE, .from = at, .to = at + MS);
	r = path_loaded();
	assert_int_equal(starting_ns(r, "python"), 110 * MS);
	report_free(r);
}

static void a_process_without_programs_loads_nothing(void **state)
{
	struct report *r;

	put_computing_root(LIFE);
	put_files();
	put_open(SAMPLE, .from = 10 * MS, .to = 20 * MS);
	r = path_loaded();
	assert_int_equal(starting_ns(r, "python"), 0);
	report_free(r);
}

/* A loader, which is waited for all the time, loads its own. Its waits in that time are a part of it. */
static void each_process_loads_its_own_programs(void **state)
{
	struct report *r;

	put_root(10, "python", LIFE);
	put_process(20, 10, "loader", 100 * MS, LIFE);
	put_files();
	put_open(MODULE, .from = 40 * MS, .to = 50 * MS);
	put_open(.pid = 20, .fid = 2, .file = "os.py", .from = 390 * MS, .to = 400 * MS);
	put_wait(.pid = 20, .from = 200 * MS, .to = 300 * MS, .call = "openat", .state = "disk", .by = "disk", .fid = 2,
		 .file = "os.py");
	put_wait(.pid = 10, .from = 100 * MS, .to = 900 * MS, .by = "thread", .by_pid = 20);
	r = path_loaded();
	assert_int_equal(starting_ns(r, "python"), 50 * MS);
	assert_int_equal(starting_ns(r, "loader"), 300 * MS);
	assert_true(part_of(r, "disk-metadata", "loader", "os.py").leaf.starting);
	report_free(r);
}

/* --- epochs --------------------------------------------------------------------------------------------------- */

/* The root's time is one piece, which the marks cut. */
static void a_piece_is_cut_where_an_epoch_ends(void **state)
{
	static const uint64_t marks[] = { 200 * MS, 500 * MS, 500 * MS, 600 * MS, 700 * MS, 900 * MS };
	static const uint64_t wants[PATH_WHENS] = { 200 * MS, 300 * MS, 400 * MS, 100 * MS };
	struct path_sum cpu;
	struct report *r;

	put_workload(10, LIFE);
	put_computing_root(LIFE);
	for (unsigned int i = 0; i < ARRAY_SIZE(marks); i++)
		put(MARKS, marks[i], "10\tepoch_%s", i % 2 ? "stop" : "start");
	r = path_loaded_with(&(struct report_options){ .timed = true });
	assert_int_equal(r->path->epochs, 3);
	cpu = r->path->root[0].sums.v[0];
	assert_int_equal(cpu.leaf.kind, PATH_CPU);
	for (unsigned int when = 0; when < PATH_WHENS; when++)
		assert_int_equal(cpu.when_ns[when], wants[when]);
	report_free(r);
}

/* --- all at once ------------------------------------------------------------------------------------------------ */

/* Returns a number below N: the same in each run. */
static unsigned int any(unsigned int n)
{
	static uint32_t v = 4711;

	v = v * 1664525U + 1013904223U;
	return (v >> 8) % n;
}

static struct put_call any_call(void)
{
	const uint64_t to = any(1000000) * 1000ULL;

	return (struct put_call){
		.from = to - MIN(to, any(100) * MS),
		.to = to,
		.pid = 10 + 10 * any(2),
		.fid = 1 + any(3),
		.file = "x",
		.bytes = any(1000),
	};
}

/* However the calls of a thread overlap, the parts add up, as path_loaded() asserts. */
static void calls_at_random_add_up(void **state)
{
	for (unsigned int turn = 0; turn < 20; turn++) {
		struct report *r;

		for (unsigned int f = 0; f < TRACE_FILES; f++) {
			autofree char *path = tree_path(trace_names[f]);

			unlink(path);
		}
		put_root(10, "python", LIFE);
		put_process(20, 10, "loader", 0, LIFE);
		put_files();
		put_sums(any(1000) * MS, any(1000) * MS, any(1000) * MS);
		for (unsigned int i = 0; i < 30; i++) {
			const struct put_call c = any_call();

			put_wait(.pid = c.pid, .from = c.from, .to = c.to, .runq = any(10) * MS, .call = "write",
				 .state = "disk", .by = any(2) ? "disk" : "thread", .by_pid = 30 - c.pid);
		}
		for (unsigned int i = 0; i < 100; i++) {
			const struct put_call c = any_call();

			put_open_row(&c);
			put_rw_row(any(2) ? 'R' : 'W', &c);
			put_sync_row(&c);
			put(FAULT, c.to, "%u\t%u\tx\tuser\tfile\t%llu\t0x7f0000000000\t-\t0\t4096\t1\tx", c.pid, c.pid,
			    (unsigned long long)(c.to - c.from));
		}
		r = path_loaded();
		report_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_cached_read_has_the_name_of_its_file),
		IN_TREE(writes_and_syncs_of_files_are_one_part),
		IN_TREE(opens_and_the_like_are_metadata),
		IN_TREE(a_read_of_a_pipe_is_no_read_of_a_file),
		IN_TREE(a_call_with_two_rows_counts_once),
		IN_TREE(a_request_of_a_ring_is_no_call_of_the_thread),
		IN_TREE(a_wait_in_a_call_is_no_cpu_time_of_it),
		IN_TREE(short_waits_for_a_disk_are_no_cpu_time),
		IN_TREE(short_waits_for_a_cpu_are_no_cpu_time),
		IN_TREE(a_call_of_another_thread_counts_while_it_is_waited_for),
		IN_TREE(a_fault_in_a_write_has_the_name_of_the_mapped_file),
		IN_TREE(a_wait_before_a_fault_is_of_the_call),
		IN_TREE(a_fault_of_another_thread_makes_no_difference),
		IN_TREE(a_sleep_is_no_fault),
		IN_TREE(a_process_loads_until_its_last_program),
		IN_TREE(modules_in_large_intervals_are_not_loading),
		IN_TREE(what_is_opened_after_the_data_is_not_loading),
		IN_TREE(what_is_opened_after_the_data_is_mapped_is_not_loading),
		IN_TREE(a_break_before_few_modules_ends_the_loading),
		IN_TREE(a_long_break_ends_the_loading),
		IN_TREE(a_process_without_programs_loads_nothing),
		IN_TREE(each_process_loads_its_own_programs),
		IN_TREE(a_piece_is_cut_where_an_epoch_ends),
		IN_TREE(calls_at_random_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
