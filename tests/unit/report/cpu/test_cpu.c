/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/cpu/cpu.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/util.h"
#include "report/cpu/load.h"
#include "report/report.h"
#include "report/scan/model.h"
#include "report/show/show.h"
#include "trace/manifest_read.h"
#include "tree.h"

#define GOLDEN "tests/golden/"
#define SEC 1000000000ULL

static const struct report_cpu_options defaults = {
	.threshold_permille = CPU_THRESHOLD_PERMILLE,
	.gap_ns = CPU_GAP_NS,
};

static struct report_cpu *load(const char *dir, const struct report_cpu_options *o)
{
	struct report_cpu *r = NULL;

	assert_int_equal(report_cpu_load(&r, dir, o ? o : &defaults), 0);
	return r;
}

static char *rendered(const struct report_cpu *r)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	report_cpu_text(r, out);
	fclose(out);
	return text;
}

static const struct cpu_task *task(const struct report_cpu *r, const char *comm, enum cpu_kind kind)
{
	for (uint32_t i = 0; i < r->tasks.n; i++) {
		const struct cpu_task *t = table_at(&r->tasks, i);

		if (t->kind == kind && strcmp(t->comm, comm) == 0)
			return t;
	}
	fail_msg("there is no %s", comm);
	return NULL;
}

static const struct cpu_group *group(const struct report_cpu *r, const char *name)
{
	for (uint32_t i = 0; i < r->groups.n; i++) {
		const struct cpu_group *g = table_at(&r->groups, i);

		if (strcmp(g->name, name) == 0)
			return g;
	}
	return NULL;
}

static const struct cpu_thread *thread(const struct report_cpu *r, uint32_t tid)
{
	for (uint32_t i = 1; i < r->threads.n; i++) {
		const struct cpu_thread *t = table_at(&r->threads, i);

		if (t->tid == tid)
			return t;
	}
	fail_msg("there is no thread %u", tid);
	return NULL;
}

static const struct cpu_phase *phase(const struct report_cpu *r, const char *name)
{
	for (uint32_t i = 0; i < r->n_phases; i++)
		if (strcmp(r->phases[i].name, name) == 0)
			return &r->phases[i];
	fail_msg("there is no phase %s", name);
	return NULL;
}

static void text_is_that_of_the_golden_file(void **state)
{
	static const char *const names[] = { GOLDEN "trace-cpu", GOLDEN "trace-switches" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct report_cpu *r = load(names[i], NULL);
		autofree char *text = rendered(r), *want = NULL, *path = util_fmt("%s.report", names[i]);

		assert_int_equal(util_read_file(path, 1 << 20, &want, NULL), 0);
		assert_string_equal(text, want);
		report_cpu_free(r);
	}
}

/* Returns the sum of all numbers after "KEY": in TEXT between FROM and TO; each may be an array. */
static uint64_t sum_of(const char *text, const char *from, const char *to, const char *key)
{
	const char *at = strstr(text, from), *end = at ? strstr(at, to) : NULL;
	uint64_t sum = 0;

	assert_non_null(end);
	while ((at = strstr(at, key)) && at < end) {
		at += strlen(key);
		do {
			char *next;

			at += strspn(at, "[, ");
			sum += strtoull(at, &next, 10);
			at = next;
		} while (*at == ',' && at[strspn(at, ", ")] >= '0' && at[strspn(at, ", ")] <= '9');
	}
	return sum;
}

/* A sleep of a minute with a single row was not a minute in that second. */
static void a_long_wait_is_at_its_time(void **state)
{
	struct report *r = NULL;
	uint64_t sum = 0;
	char *wait;

	tree_put(
		"wait/manifest.json",
		"{\"tool\": \"dltraced\", \"start\": {\"monotonic_ns\": 1000000000}, \"probes\": [{\"name\": \"sched\", \"rows\": 1, \"lost\": 3}]}");
	tree_put(
		"wait/sched.out",
		"# dltraced sched 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tKIND\tCPU\tCALL\tSPAN_NS\tCOUNT\tPREEMPTED\tRUN_NS\tRUNQ_NS\t"
		"DISK_NS\tBLOCKED_NS\tSLEEP_NS\tMAX_NS\n"
		"61000000000\t-\t7\t7\ta\ttarget\t-\tread\t1000000000\t1\t-\t-\t-\t0\t0\t60000000000\t60000000000\n");
	wait = tree_path("wait");
	assert_int_equal(report_load(&r, wait, &(struct report_options){ .timed = true }), 0);
	free(wait);
	for (unsigned int i = 0; i < timeline_bins(r->timeline); i++) {
		assert_in_range(r->timeline->sum[TIMELINE_SLEEP][i], 0, r->timeline->bin_ns + 1000);
		sum += r->timeline->sum[TIMELINE_SLEEP][i];
	}
	assert_int_equal(sum, 60 * SEC);
	report_free(r);
}

/* The listed ones and the sums of the others are the whole. */
static void json_has_all_of_the_time(void **state)
{
	static const char *const names[] = { GOLDEN "trace-cpu", GOLDEN "trace-switches" };
	static struct manifest_facts m;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct json j = { 0 };
		struct report_cpu *r = load(names[i], NULL);
		autofree char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		report_cpu_json(r, &j);
		assert_int_equal(json_write(&j, out), 0);
		fclose(out);
		assert_int_equal(sum_of(text, "\"tasks\"", "\"cpus\"", "\"run_ns\": "), r->by_task_ns);
		assert_int_equal(sum_of(text, "\"tasks\"", "\"cpus\"", "\"by_cpu\": "), r->by_task_ns);
		assert_int_equal(sum_of(text, "\"cpus\"", "\"processes\"", "\"idle_ns\": ") +
					 sum_of(text, "\"cpus\"", "\"processes\"", "\"busy_ns\": "),
				 r->by_cpu_ns);
		assert_int_equal(sum_of(text, "\"processes\"", "\"threads\": [", "\"run_ns\": "),
				 r->by_task_ns - r->kind_ns[CPU_IDLE]);
		assert_int_equal(manifest_parse(&m, text), 0);
		report_cpu_free(r);
	}
}

static void sums_are_whole_on_every_way(void **state)
{
	static const char *const names[] = { GOLDEN "trace-cpu", GOLDEN "trace-switches" };
	static const uint64_t walls[] = { 10 * SEC, 9500000000 };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct report_cpu *r = load(names[i], NULL);
		uint64_t roles = 0, threads = 0, cells = 0;

		for (uint32_t k = 0; k < r->roles.n; k++)
			roles += ((const struct cpu_role *)table_at(&r->roles, k))->sums.run_ns;
		for (uint32_t k = 0; k < r->threads.n; k++)
			threads += ((const struct cpu_thread *)table_at(&r->threads, k))->sums.run_ns;
		for (uint32_t k = 0; k < r->task_cpus.n; k++)
			cells += ((const struct cpu_cell *)table_at(&r->task_cpus, k))->run_ns;
		assert_int_equal(r->cpus_seen, 2);
		assert_int_equal(r->wall_ns, walls[i]);
		assert_int_equal(r->by_cpu_ns, 2 * walls[i]);
		assert_int_equal(r->by_task_ns, 2 * walls[i]);
		assert_int_equal(roles, 2 * walls[i]);
		assert_int_equal(threads, 2 * walls[i]);
		assert_int_equal(cells, 2 * walls[i]);
		report_cpu_free(r);
	}
}

static void a_renamed_task_has_both_names(void **state)
{
	struct report_cpu *r = load(GOLDEN "trace-cpu", NULL);
	const struct cpu_task *before = task(r, "python3", CPU_TARGET), *after = task(r, "pt_data_worker", CPU_TARGET);

	assert_int_equal(before->pids, 2);
	assert_int_equal(before->threads, 2);
	assert_int_equal(before->sums.run_ns, 3400000000);
	assert_int_equal(after->pids, 1);
	assert_int_equal(after->threads, 2); /* one of them for a nanosecond */
	assert_int_equal(after->sums.run_ns, 2 * SEC);
	assert_int_equal(after->life_ns, 8 * SEC + 1);
	report_cpu_free(r);
}

static void lives_are_those_of_pids_out(void **state)
{
	struct report_cpu *r = load(GOLDEN "trace-cpu", NULL);
	const struct cpu_thread *worker = thread(r, 101), *last = thread(r, 102), *root = thread(r, 100);

	assert_true(worker->born && worker->ended);
	assert_int_equal(worker->start_ns, 1001 * SEC);
	assert_int_equal(report_cpu_life_ns(worker), 8500000000);
	assert_int_equal(worker->sums.run_ns, 2400000000);
	assert_int_equal(worker->sums.disk_ns, 3200000000);
	/* the last thread of a process has no row of its own */
	assert_true(last->ended);
	assert_int_equal(last->end_ns, 1009500000000);
	assert_false(root->born);
	assert_int_equal(r->patterns[0].threads, 2); /* one had that name at first */
	assert_int_equal(r->patterns[0].cut, 1);
	assert_int_equal(r->patterns[0].idle_ns, 9650000000 + 8500000000 - 5400000000);
	report_cpu_free(r);
}

static void workers_are_merged_by_rules(void **state)
{
	struct report_cpu_options o = defaults;
	struct report_cpu *r = load(GOLDEN "trace-cpu", NULL);

	assert_int_equal(group(r, "kworker")->sums.run_ns, 700000000);
	assert_int_equal(group(r, "kworker")->tasks, 2);
	assert_true(group(r, "kworker")->workers);
	assert_int_equal(group(r, "(idle)")->sums.run_ns, 11750000000);
	assert_int_equal(group(r, "(dltraced itself)")->sums.run_ns, 50000000);
	report_cpu_free(r);

	o.merge = "none";
	r = load(GOLDEN "trace-cpu", &o);
	assert_null(group(r, "kworker"));
	assert_false(group(r, "kworker/0:1")->workers);
	report_cpu_free(r);

	o.merge = "+p"; /* in addition to the default ones, and for every kind */
	r = load(GOLDEN "trace-cpu", &o);
	assert_int_equal(group(r, "p")->tasks, 2);
	assert_int_equal(group(r, "p")->pids, 2);
	assert_non_null(group(r, "kworker"));
	report_cpu_free(r);

	o.merge = "0123456789abcdef"; /* longer than any name */
	assert_int_equal(report_cpu_load(&r, GOLDEN "trace-cpu", &o), -EINVAL);
}

static void phases_have_the_time_of_their_ranks(void **state)
{
	struct report_cpu *r = load(GOLDEN "trace-cpu", NULL);
	const struct cpu_phase *epoch = phase(r, "epoch");

	assert_int_equal(epoch->times, 2);
	assert_int_equal(epoch->n, 1); /* of two ranks, from the begin of the first to the end of the last */
	assert_int_equal(epoch->wall_ns, 2500000000);
	/* by the job's own time, not by that of a line from a buffer */
	assert_int_equal(epoch->v[0].start_ns, 1005 * SEC);
	assert_int_equal(phase(r, "eval")->open, 1);
	assert_int_equal(phase(r, "eval")->wall_ns, 1500000000);
	assert_int_equal(phase(r, "warm\\040up")->wall_ns, 4 * SEC); /* until the next mark without a begin or an end */
	assert_int_equal(phase(r, "load")->wall_ns, 2 * SEC);
	assert_int_equal(phase(r, "load")->n, 1);
	report_cpu_free(r);
}

/* By the calls that made the kernel fetch: 1 s of 1.25 s in train, though the longest call hit the cache. */
static void waits_for_disk_go_to_folders(void **state)
{
	struct report_cpu *r = load(GOLDEN "trace-cpu", NULL);
	uint64_t train_ns = 0, val_ns = 0, mapped_ns = 0, synced_ns = 0;

	for (uint32_t i = 0; i < r->folders.n; i++) {
		const struct cpu_folder *f = table_at(&r->folders, i);
		const char *call = r->call_names[(uint32_t)r->calls.keys[f->call]];
		const struct cpu_call *c = table_at(&r->calls, f->call);
		bool train = strcmp(folders_path(&r->tree, f->folder), "/data/train") == 0;
		uint64_t *sum = strcmp(call, "fault") == 0 ? &mapped_ns :
				strcmp(call, "fsync") == 0 ? &synced_ns :
				train                      ? &train_ns :
							     &val_ns;

		*sum += report_cpu_folder_ns(r, f, sum == &synced_ns ? c->blocked_ns : c->disk_ns);
	}
	assert_int_equal(train_ns, 2400000000);
	assert_int_equal(val_ns, 600000000);
	assert_int_equal(mapped_ns, 200000000);
	assert_int_equal(synced_ns, 500000000);
	report_cpu_free(r);
}

#define WAITS "# dltraced sched 1\nTIMESTAMP\tPID\tTID\tCOMM\tKIND\tCPU\tCALL\tSPAN_NS\tCOUNT\tDISK_NS\n"
#define CALLS "\nTIMESTAMP\tPID\tTID\tCOMM\tFUNC\tLAT_NS\tRET\tLEN\tFID\n"

static void put_folders(void)
{
	tree_put("files.out",
		 "# dltraced files 1\nTIMESTAMP\tFID\tTYPE\tREALPATH\n1\t1\treg\t/one/f\n1\t2\treg\t/two/f\n"
		 "1\t3\treg\t/three/f\n");
}

/* N rows of PID under COMM in CALL were counted for PATH; their weights add up to SUM. */
struct in_folder {
	uint32_t pid, n, sum;
	const char *comm, *call, *path;
};

static bool is_in(const struct report_cpu *r, const struct cpu_folder *f, const struct in_folder *want)
{
	const uint64_t key = r->calls.keys[f->call];
	const struct cpu_role *role = table_at(&r->roles, (uint32_t)(key >> 32));
	const struct cpu_proc *p = table_at(&r->procs, role->proc);
	const struct cpu_task *t = table_at(&r->tasks, role->task);

	return p->pid == want->pid && strcmp(t->comm, want->comm) == 0 &&
	       strcmp(r->call_names[(uint32_t)key], want->call) == 0 &&
	       strcmp(folders_path(&r->tree, f->folder), want->path) == 0 && f->calls == want->n &&
	       f->lat_ns == want->sum;
}

static void folders_are(const struct report_cpu *r, const struct in_folder *want, uint32_t n)
{
	assert_int_equal(r->folders.n, n);
	for (; n--; want++) {
		bool there = false;

		for (uint32_t i = 0; i < r->folders.n; i++)
			there |= is_in(r, table_at(&r->folders, i), want);
		if (!there)
			fail_msg("%u %s: not %u rows of %u in %s", want->pid, want->comm, want->n, want->sum,
				 want->path);
	}
}

/* Both reports have folders: that of CPU time, and the one of everything. */
static void both_have_folders(const struct in_folder *want, uint32_t n)
{
	const struct report_options o = { .cpu = &defaults };
	struct report_cpu *alone = load(tree, NULL);
	struct report *r;

	folders_are(alone, want, n);
	report_cpu_free(alone);
	assert_int_equal(report_load(&r, tree, &o), 0);
	folders_are(r->cpu, want, n);
	report_free(r);
}

/*
 * The result of a row is remembered by its PID and text: two names of a process, and PIDs that share a place in the
 * cache.
 */
static void a_caller_is_a_process_and_a_name(void **state)
{
	static const struct in_folder want[] = {
		{ 7, 2, 11, "a", "fsync", "/one" },
		{ 7, 2, 22, "b", "fsync", "/two" },
		{ 1031, 2, 44, "a", "fsync", "/three" },
	};

	put_folders();
	tree_put("sched.out",
		 WAITS "9000\t7\t7\ta\ttarget\t-\tfsync\t8000\t1\t500\n9000\t7\t7\tb\ttarget\t-\tfsync\t8000\t1\t500\n"
		       "9000\t1031\t1031\ta\ttarget\t-\tfsync\t8000\t1\t500\n");
	tree_put("sync.out",
		 "# dltraced sync 1" CALLS "5000\t7\t7\ta\tfsync\t1\t0\t-\t1\n5001\t7\t7\tb\tfsync\t2\t0\t-\t2\n"
		 "5002\t1031\t1031\ta\tfsync\t4\t0\t-\t3\n5003\t7\t7\ta\tfsync\t10\t0\t-\t1\n"
		 "5004\t7\t7\tb\tfsync\t20\t0\t-\t2\n5005\t1031\t1031\ta\tfsync\t40\t0\t-\t3\n");
	both_have_folders(want, ARRAY_SIZE(want));
}

/* A process may have waited for files that were mapped when it was first seen, but not for those that were open. */
static void the_same_row_is_another_call_in_another_file(void **state)
{
	static const struct in_folder want[] = { { 7, 1, 8192, "a", "fault", "/two" } };

	put_folders();
	tree_put("sched.out", WAITS "9000\t7\t7\ta\ttarget\t-\tfault\t8000\t1\t500\n");
	tree_put("open.out", "# dltraced open 1" CALLS "5000\t7\t7\ta\tsnapshot\t0\t3\t-\t1\n");
	tree_put("mmap.out", "# dltraced mmap 1" CALLS "5000\t7\t7\ta\tsnapshot\t0\t0x7f0000000000\t8192\t2\n");
	both_have_folders(want, ARRAY_SIZE(want));
}

static bool is_noted(char *const *notes, uint32_t n, const char *note)
{
	while (n--)
		if (strcmp(notes[n], note) == 0)
			return true;
	return false;
}

/* The report of everything omits a row without a process, too; in that of CPU time this is no problem. */
static void rows_of_calls_without_a_time_are_noted(void **state)
{
	static const char one[] = "sync.out: 1 row could not be read and is left out";
	const struct report_options o = { .cpu = &defaults };
	struct report_cpu *alone;
	struct report *r;

	put_folders();
	tree_put("sched.out", WAITS "9000\t7\t7\ta\ttarget\t-\tfsync\t8000\t1\t500\n");
	tree_put("sync.out",
		 "# dltraced sync 1" CALLS "5000\t7\t7\ta\tfsync\t1\t0\t-\t1\n-\t7\t7\ta\tfsync\t1\t0\t-\t1\n"
		 "5002\t-\t7\ta\tfsync\t1\t0\t-\t1\n");
	alone = load(tree, NULL);
	assert_true(is_noted(alone->notes, alone->n_notes, one));
	report_cpu_free(alone);
	assert_int_equal(report_load(&r, tree, &o), 0);
	assert_true(is_noted(r->cpu->notes, r->cpu->n_notes, one));
	assert_true(is_noted(r->notes, r->n_notes, "sync.out: 2 rows could not be read and are left out"));
	report_free(r);
}

static void gaps_are_kept_apart(void **state)
{
	static const struct {
		enum gap_kind kind;
		uint64_t start_ns;
		int64_t ns;
	} sums[] = {
		{ GAP_LOST, 0, 0 },
		{ GAP_SUSPEND, 1001 * SEC, 5 * SEC },
		{ GAP_STEP, 1003 * SEC, -(int64_t)SEC },
		{ GAP_STALLED, 1005 * SEC, 4 * SEC },
	}, switches[] = {
		{ GAP_OFF, 1002 * SEC, SEC },
		{ GAP_IDLE, 1006 * SEC, 2 * SEC },
		{ GAP_LOST, 1008 * SEC, SEC },
	};
	struct report_cpu *r = load(GOLDEN "trace-cpu", NULL);

	assert_int_equal(r->gaps.n, ARRAY_SIZE(sums));
	for (size_t i = 0; i < ARRAY_SIZE(sums); i++) {
		assert_int_equal(r->gaps.v[i].kind, sums[i].kind);
		assert_int_equal(r->gaps.v[i].begin_ns, sums[i].start_ns);
		assert_true(r->gaps.v[i].ns == sums[i].ns);
	}
	assert_int_equal(r->gaps.v[0].count, 2);
	report_cpu_free(r);
	r = load(GOLDEN "trace-switches", NULL);
	assert_int_equal(r->gaps.n, ARRAY_SIZE(switches));
	for (size_t i = 0; i < ARRAY_SIZE(switches); i++) {
		assert_int_equal(r->gaps.v[i].kind, switches[i].kind);
		assert_int_equal(r->gaps.v[i].begin_ns, switches[i].start_ns);
		assert_true(r->gaps.v[i].ns == switches[i].ns);
	}
	report_cpu_free(r);
}

static void the_timeline_has_the_same_begin_and_end_on_all_cpus(void **state)
{
	struct report_cpu *r = load(GOLDEN "trace-switches", NULL);

	assert_int_equal(r->begin_ns, 1000500000000); /* by how long the first thread on CPU 1 had run */
	assert_int_equal(r->end_ns, 1010 * SEC);
	assert_int_equal(r->cpus[0].busy_ns + r->cpus[0].idle_ns, 9500000000);
	assert_int_equal(r->cpus[1].busy_ns + r->cpus[1].idle_ns, 9500000000);
	/* 1 + 1 + .5 s on CPU 1, and from its last switch to its end */
	assert_int_equal(task(r, "pt_data_worker", CPU_TARGET)->sums.run_ns, 2750000000);
	assert_int_equal(task(r, "python3", CPU_TARGET)->sums.blocked_ns, 875000000);
	report_cpu_free(r);
}

static void csv_files_have_their_columns(void **state)
{
	static const struct {
		const char *file, *header;
	} files[] = {
		{ "cpus.csv", "cpu,busy_s,idle_s,switches" },
		{ "gaps.csv", "kind,start_s,end_s" },
		{ "phases.csv", "phase,comm,cpu_s,share" },
		{ "processes.csv", "pid,comm,cpu_s,runq_s,disk_wait_s,sleep_s,switches,share" },
		{ "task_by_cpu.csv", "comm,cpu,cpu_s,share" },
		{ "tasks.csv", "comm,pids,threads,cpu_s,share" },
		{ "threads.csv", "tid,pid,comm,start_s,end_s,cpu_s,runq_s,disk_wait_s,sleep_s" },
	};
	struct report_cpu *r = load(GOLDEN "trace-cpu", NULL);
	autofree char *dir = util_fmt("%s/csv", tree);

	assert_int_equal(report_cpu_csv(r, dir), 0);
	assert_int_equal(report_cpu_csv(r, dir), 0); /* and over existing files */
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		autofree char *path = util_fmt("%s/%s", dir, files[i].file), *text = NULL;

		assert_int_equal(util_read_file(path, 1 << 20, &text, NULL), 0);
		assert_memory_equal(text, files[i].header, strlen(files[i].header));
	}
	assert_int_equal(report_cpu_csv(r, "/dev/null"), -ENOTDIR);
	report_cpu_free(r);
}

#define SCHED \
	"# dltraced sched 1\nTIMESTAMP\tPID\tTID\tCOMM\tKIND\tCPU\tCALL\tSPAN_NS\tCOUNT\tPREEMPTED\tRUN_NS\tRUNQ_NS\n"
#define PIDS "# dltraced pids 1\nTIMESTAMP\tPID\tTID\tCOMM\tEVENT\tSTATUS\n"

/* A thread goes on for a while after the event of its exit. */
static void nobody_has_run_for_longer_than_it_lived(void **state)
{
	struct report_cpu *r;

	tree_put("short/sched.out", SCHED "9000\t7\t7\ta\ttarget\t0\t-\t4000\t1\t0\t500\t20\n");
	tree_put("short/pids.out", PIDS "5000\t7\t7\ta\tfork\t-\n5100\t7\t7\ta\texit\t0\n");
	autofree char *dir = util_fmt("%s/short", tree);
	r = load(dir, NULL);
	assert_int_equal(report_cpu_life_ns(thread(r, 7)), 520);
	assert_int_equal(task(r, "a", CPU_TARGET)->life_ns, 520);
	report_cpu_free(r);
}

/* Rows of two threads with one number; the second began before the first one's sums were sent. */
static void numbers_are_used_again(void **state)
{
	struct report_cpu *r;

	tree_put("again/sched.out", SCHED
		 "9000\t7\t7\ta\ttarget\t0\t-\t4000\t1\t0\t500\t20\n"
		 "9000\t7\t7\tb\ttarget\t0\t-\t1000\t1\t0\t300\t0\n9000\t8\t7\tk\tkernel\t0\t-\t4000\t1\t0\t7\t0\n");
	tree_put("again/pids.out", PIDS "4000\t7\t7\ta\tfork\t-\n7000\t7\t7\ta\texit\t0\n"
					"7500\t7\t7\tb\tfork\t-\n8900\t7\t7\tb\texit\t0\n");
	autofree char *dir = util_fmt("%s/again", tree);
	r = load(dir, NULL);
	assert_int_equal(r->roles.n, 4); /* entry 0, and each of the three */
	assert_int_equal(thread(r, 7)->sums.run_ns, 500); /* the first one's */
	assert_int_equal(report_cpu_life_ns(thread(r, 7)), 3000);
	assert_int_equal(task(r, "b", CPU_TARGET)->sums.run_ns, 300);
	assert_int_equal(task(r, "b", CPU_TARGET)->life_ns, 1400);
	assert_int_equal(task(r, "k", CPU_KERNEL)->sums.run_ns, 7);
	report_cpu_free(r);
}

static void without_pids_out_a_life_is_that_of_its_rows(void **state)
{
	struct report_cpu *r;

	tree_put("bare/sched.out", SCHED "5000\t7\t7\ta\ttarget\t0\t-\t1000\t1\t0\t500\t20\n"
					 "6000\t7\t7\tb\ttarget\t0\t-\t1000\t1\t0\t500\t0\nnot a row\n9");
	autofree char *dir = util_fmt("%s/bare", tree);
	r = load(dir, NULL);
	assert_int_equal(thread(r, 7)->start_ns, 4000);
	assert_int_equal(thread(r, 7)->end_ns, 6000);
	assert_int_equal(task(r, "a", CPU_TARGET)->life_ns, 1000);
	assert_int_equal(task(r, "b", CPU_TARGET)->life_ns, 1000);
	assert_int_equal(r->n_notes, 4); /* no manifest, no pids.out, a bad row, a partial one */
	report_cpu_free(r);
}

static void folder_without_scheduling(void **state)
{
	struct report_cpu *r;

	assert_int_equal(report_cpu_load(&r, GOLDEN "trace-small", &defaults), -ENOMSG);
	assert_int_equal(report_cpu_load(&r, "tests", &defaults), -ENODATA);
	assert_int_equal(report_cpu_load(&r, "no-such-folder", &defaults), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(csv_files_have_their_columns),
		cmocka_unit_test(folder_without_scheduling),
		cmocka_unit_test(gaps_are_kept_apart),
		cmocka_unit_test(lives_are_those_of_pids_out),
		IN_TREE(nobody_has_run_for_longer_than_it_lived),
		IN_TREE(numbers_are_used_again),
		cmocka_unit_test(phases_have_the_time_of_their_ranks),
		IN_TREE(a_long_wait_is_at_its_time),
		cmocka_unit_test(json_has_all_of_the_time),
		IN_TREE(rows_of_calls_without_a_time_are_noted),
		cmocka_unit_test(sums_are_whole_on_every_way),
		cmocka_unit_test(text_is_that_of_the_golden_file),
		IN_TREE(the_same_row_is_another_call_in_another_file),
		cmocka_unit_test(the_timeline_has_the_same_begin_and_end_on_all_cpus),
		cmocka_unit_test(waits_for_disk_go_to_folders),
		cmocka_unit_test(a_renamed_task_has_both_names),
		IN_TREE(a_caller_is_a_process_and_a_name),
		IN_TREE(without_pids_out_a_life_is_that_of_its_rows),
		cmocka_unit_test(workers_are_merged_by_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
