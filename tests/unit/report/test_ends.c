/* SPDX-License-Identifier: BSD-2-Clause */
/* report/ends.c: the CPU time of a lane ends where its thread ended, not with the interval that the row covers. */
#include "report/ends.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "report/report.h"
#include "report/show/timeline/timeline_json.h"
#include "tree.h"

#define MS 1000000ULL
#define SECOND (1000 * MS)
#define PIDS "# dltraced pids 1\nTIMESTAMP\tTIME\tPID\tTID\tPPID\tCOMM\tEVENT\tSTATUS\n"
#define SCHED                                                                                                     \
	"# dltraced sched 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tKIND\tCPU\tCALL\tSPAN_NS\tCOUNT\tRUN_NS\tRUNQ_NS\t" \
	"DISK_NS\tBLOCKED_NS\tSLEEP_NS\n"

/* Thread 8 of process 7 ends at 1.2 s, the process at 1.4 s; both have rows of 1 s to 2 s. Process 9 goes on. */
static struct report *loaded(void)
{
	struct report *r = NULL;

	tree_put("manifest.json", "{\"schema\": 1, \"complete\": true, \"start\": {\"monotonic_ns\": 1000000000}}");
	tree_put("pids.out", PIDS "1000000000\t-\t7\t7\t1\tpython\tfork\t-\n"
				  "1000000000\t-\t9\t9\t1\tother\tfork\t-\n"
				  "1000000001\t-\t7\t8\t1\tpython\tthread\t-\n"
				  "1200000000\t-\t7\t8\t1\tpython\texit\t-\n"
				  "1400000000\t-\t7\t7\t1\tpython\texit\t0\n");
	tree_put("sched.out", SCHED "2000000000\t-\t7\t7\tpython\ttarget\t0\t-\t1000000000\t1\t100000000\t0\t-\t-\t-\n"
				    "2000000000\t-\t7\t8\tpython\ttarget\t0\t-\t1000000000\t1\t60000000\t0\t-\t-\t-\n"
				    "2000000000\t-\t9\t9\tother\ttarget\t1\t-\t1000000000\t1\t500000000\t0\t-\t-\t-\n"
				    "3000000000\t-\t9\t9\tother\ttarget\t1\t-\t1000000000\t1\t500000000\t0\t-\t-\t-\n");
	assert_int_equal(report_load(&r, tree, &(struct report_options){ .timed = true }), 0);
	return r;
}

/* Returns the CPU time of PID's lane from BEGIN to END, in ms since the trace's begin. */
static uint64_t cpu_ms(const struct report *r, uint64_t pid, uint64_t begin, uint64_t end)
{
	const struct timeline_lane *lane = timeline_lane(r->timeline, pid);
	const uint64_t bin_ns = r->timeline->bin_ns * TIMELINE_LANE_FOLD;
	double ns = 0;

	for (uint64_t i = begin * MS / bin_ns; i < end * MS / bin_ns; i++)
		ns += (double)lane->busy_ns[TIMELINE_B_CPU][i];
	return (uint64_t)(ns / MS + 0.5);
}

static void cpu_time_ends_with_its_thread(void **state)
{
	struct report *r = loaded();

	(void)state;
	assert_int_equal(r->timeline->begin_ns, SECOND);
	/* that of 8 in the first 200 ms, that of 7 in 400 ms: half of its by 200 ms */
	assert_int_equal(cpu_ms(r, 7, 0, 200), 60 + 50);
	assert_int_equal(cpu_ms(r, 7, 200, 400), 50);
	assert_int_equal(cpu_ms(r, 7, 400, 2000), 0);
	assert_int_equal(cpu_ms(r, 9, 0, 2000), 1000);
	report_free(r);
}

static void lanes_end_with_their_process(void **state)
{
	struct report *r = loaded();
	struct json j = { 0 };
	const char *lane;

	(void)state;
	json_object(&j, NULL);
	report_timeline_json(r, &j);
	json_end(&j);
	assert_int_equal(j.error, 0);
	lane = strstr(j.buf, "\"pid\": 7,");
	assert_non_null(lane);
	assert_memory_equal(strstr(lane, "\"end_ns\": "), "\"end_ns\": 1400000000,", strlen("\"end_ns\": 1400000000,"));
	lane = strstr(j.buf, "\"pid\": 9,");
	assert_non_null(lane);
	assert_memory_equal(strstr(lane, "\"end_ns\": "), "\"end_ns\": 3000000000,", strlen("\"end_ns\": 3000000000,"));
	json_free(&j);
	report_free(r);
}

static void only_an_end_within_the_time_counts(void **state)
{
	struct report_ends ends = { 0 };
	uint64_t *end_ns;

	(void)state;
	table_init_pids(&ends.by_tid, sizeof(uint64_t), 4);
	table_init_pids(&ends.by_pid, sizeof(uint64_t), 4);
	end_ns = table_get(&ends.by_tid, 8);
	assert_non_null(end_ns);
	*end_ns = 100;
	assert_int_equal(report_ends_behind_ns(&ends, 7, 8, 130, 50), 30);
	assert_int_equal(report_ends_behind_ns(&ends, 7, 8, 100, 50), 0);
	assert_int_equal(report_ends_behind_ns(&ends, 7, 8, 99, 50), 0);
	assert_int_equal(report_ends_behind_ns(&ends, 7, 8, 150, 50), 0); /* another thread of that number */
	assert_int_equal(report_ends_behind_ns(&ends, 7, 9, 130, 50), 0);
	/* without a row of the thread, the process's */
	end_ns = table_get(&ends.by_pid, 7);
	assert_non_null(end_ns);
	*end_ns = 110;
	assert_int_equal(report_ends_behind_ns(&ends, 7, 9, 130, 50), 20);
	assert_int_equal(report_ends_behind_ns(&ends, 7, 8, 130, 50), 30);
	assert_int_equal(report_ends_behind_ns(&ends, 6, 9, 130, 50), 0);
	report_ends_free(&ends);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(cpu_time_ends_with_its_thread),
		IN_TREE(lanes_end_with_their_process),
		cmocka_unit_test(only_an_end_within_the_time_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
