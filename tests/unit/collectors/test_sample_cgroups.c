/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of cgroups from made-up trees; tests/native/collectors/cgroup.sh has the kernel's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collectors/cgroup_values.h"
#include "collectors/sample.h"
#include "host/cgroup/cgroup.h"
#include "tree.h"

#define SECOND UINT64_C(1000000000)
#define HEADER                                                                                                 \
	"LEVEL SPAN_NS CPU_MAX CPU_NS PERIODS THROTTLED THROTTLED_NS MEM_BYTES MEM_MAX FILE_BYTES ANON_BYTES " \
	"REFAULT_FILE REFAULT_ANON MAJFAULT MAX_EVENTS OOM OOM_KILL R_BYTES W_BYTES R_IOS W_IOS CPU_SOME_NS "  \
	"CPU_FULL_NS MEM_SOME_NS MEM_FULL_NS IO_SOME_NS IO_FULL_NS CGROUP"

static char v2_dir[TEMP_MAX + 16], cpu_dir[TEMP_MAX + 16], memory_dir[TEMP_MAX + 16], pressure[TEMP_MAX + 16];
static struct cgroup_mount items[16];
static struct cgroup_mounts mounts = { items, 1 };
static struct cgroup_samples *samples;

static int set_up(void **state)
{
	if (tree_make(state))
		return -1;
	snprintf(v2_dir, sizeof(v2_dir), "%s/v2", tree);
	snprintf(cpu_dir, sizeof(cpu_dir), "%s/cpu", tree);
	snprintf(memory_dir, sizeof(memory_dir), "%s/memory", tree);
	snprintf(pressure, sizeof(pressure), "%s/pressure", tree);
	items[0] = (struct cgroup_mount){ v2_dir, (char *)"/", 0 };
	items[1] = (struct cgroup_mount){ cpu_dir, (char *)"/", 3 };
	items[2] = (struct cgroup_mount){ memory_dir, (char *)"/", 4 };
	mounts.n = 1;
	samples = cgroup_samples_new(&mounts, pressure);
	return samples ? 0 : -1;
}

static int tear_down(void **state)
{
	cgroup_samples_free(samples);
	return tree_remove(state);
}

/* Returns the rows of the sample at SECONDS, to be freed. */
static char *rows(const char *proc_cgroup, uint64_t seconds)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(cgroup_samples_take(samples, proc_cgroup, seconds * SECOND, out), 0);
	fclose(out);
	return text;
}

/* Copies into VALUE what the row of PATH in TEXT has in COLUMN; "none" without a row. */
static const char *value(const char *text, const char *path, const char *column)
{
	static char found[128];
	autofree char *columns = strdup(HEADER), *line = NULL;
	char *rest, *name;

	snprintf(found, sizeof(found), "none");
	for (const char *at = text; *at; at += strcspn(at, "\n") + 1) {
		free(line);
		line = strndup(at, strcspn(at, "\n"));
		if (!strcmp(strchr(line, '/'), path))
			break;
		line[0] = '\0';
	}
	if (!line || !*line)
		return found;
	rest = columns;
	for (char *at = line; (name = strsep(&rest, " "));) {
		const char *word = strsep(&at, " ");

		assert_non_null(word);
		if (!strcmp(name, column))
			snprintf(found, sizeof(found), "%s", word);
	}
	return found;
}

#define expect(text, path, column, wanted) assert_string_equal(value(text, path, column), wanted)

static void the_header_has_the_columns(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cgroup_samples_begin(out);
	fclose(out);
	assert_string_equal(text, "# " HEADER "\n");
	free(text);
}

static void put_job(const char *usage, const char *throttled)
{
	autofree char *stat = util_fmt("usage_usec %s\nuser_usec 1\nsystem_usec 1\nnr_periods 40\nnr_throttled 7\n"
				       "throttled_usec %s\nnr_bursts 0\n",
				       usage, throttled);

	tree_put("v2/a/job/cpu.stat", stat);
}

static void v2_has_levels_and_what_came_since(void **state)
{
	autofree char *first = NULL, *second = NULL;

	put_job("1000", "200");
	tree_put("v2/a/job/cgroup.events", "populated 1\n");
	tree_put("v2/a/job/cpu.max", "150000 100000\n");
	tree_put("v2/a/job/memory.current", "9000\n");
	tree_put("v2/a/job/memory.max", "10000\n");
	tree_put("v2/a/job/memory.stat", "anon 11\nfile 22\nfile_mapped 3\nworkingset_refault_anon 5\n"
					 "workingset_refault_file 6\npgmajfault 9\n");
	tree_put("v2/a/job/memory.events", "low 0\nhigh 0\nmax 12\noom 2\noom_kill 1\noom_group_kill 0\n");
	tree_put("v2/a/job/io.stat", "8:0 rbytes=100 wbytes=10 rios=3 wios=1 dbytes=0 dios=0\n"
				     "8:16 rbytes=1 wbytes=2 rios=1 wios=1 dbytes=0 dios=0\n");
	tree_put("v2/a/job/memory.pressure", "some avg10=1.00 avg60=0.00 avg300=0.00 total=70\n"
					     "full avg10=0.50 avg60=0.00 avg300=0.00 total=50\n");
	tree_put("v2/a/memory.max", "max\n");
	tree_put("v2/a/memory.current", "9500\n");
	tree_put("v2/a/cgroup.events", "populated 1\n");
	tree_put("v2/cpu.stat", "usage_usec 5\n");
	tree_put("pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=8\nfull avg10=0.00 total=4\n");
	first = rows("0::/a/job\n", 10);
	assert_string_equal(first, "0 - - - - - - - - - - - - - - - - - - - - - - - - - - /\n"
				   "1 - - - - - - 9500 - - - - - - - - - - - - - - - - - - - /a\n"
				   "2 - 1.500 - - - - 9000 10000 22 11 - - - - - - - - - - - - - - - - /a/job\n");
	put_job("1500", "450");
	tree_put("v2/a/job/io.stat", "8:0 rbytes=200 wbytes=10 rios=4 wios=1 dbytes=0 dios=0\n"
				     "8:16 rbytes=31 wbytes=4 rios=2 wios=2 dbytes=0 dios=0\n");
	tree_put("v2/a/job/memory.stat", "anon 12\nfile 20\nworkingset_refault_anon 5\nworkingset_refault_file 106\n"
					 "pgmajfault 10\n");
	tree_put("v2/a/job/memory.events", "max 15\noom 3\noom_kill 3\n");
	tree_put("v2/a/job/memory.pressure", "some avg10=1.00 total=170\nfull avg10=0.50 total=80\n");
	tree_put("pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=28\nfull avg10=0.00 total=5\n");
	second = rows("0::/a/job\n", 12);
	expect(second, "/a/job", "LEVEL", "2");
	expect(second, "/a/job", "SPAN_NS", "2000000000");
	expect(second, "/a/job", "CPU_NS", "500000");
	expect(second, "/a/job", "PERIODS", "0");
	expect(second, "/a/job", "THROTTLED_NS", "250000");
	expect(second, "/a/job", "ANON_BYTES", "12");
	expect(second, "/a/job", "REFAULT_FILE", "100");
	expect(second, "/a/job", "REFAULT_ANON", "0");
	expect(second, "/a/job", "MAJFAULT", "1");
	expect(second, "/a/job", "MAX_EVENTS", "3");
	expect(second, "/a/job", "OOM", "1");
	expect(second, "/a/job", "OOM_KILL", "2");
	expect(second, "/a/job", "R_BYTES", "130");
	expect(second, "/a/job", "W_BYTES", "2");
	expect(second, "/a/job", "R_IOS", "2");
	expect(second, "/a/job", "W_IOS", "1");
	expect(second, "/a/job", "MEM_SOME_NS", "100000");
	expect(second, "/a/job", "MEM_FULL_NS", "30000");
	expect(second, "/a/job", "IO_SOME_NS", "-"); /* the machine's is the root's alone */
	expect(second, "/", "IO_SOME_NS", "20000");
	expect(second, "/", "IO_FULL_NS", "1000");
	expect(second, "/a", "CPU_NS", "-");
}

/* A container sees its own cgroup as the root, and the whole machine in /proc/pressure. */
static void a_containers_root_is_not_the_machine(void **state)
{
	autofree char *text = NULL;

	tree_put("v2/cgroup.events", "populated 1\n");
	tree_put("v2/memory.current", "5\n");
	tree_put("pressure/io", "some total=28\nfull total=5\n");
	free(rows("0::/\n", 1));
	tree_put("pressure/io", "some total=30\nfull total=5\n");
	text = rows("0::/\n", 2);
	expect(text, "/", "MEM_BYTES", "5");
	expect(text, "/", "IO_SOME_NS", "-");
}

/* In v1 the controllers have paths of their own; equal ones make one row. */
static void v1_has_a_row_for_each_path(void **state)
{
	autofree char *text = NULL;

	mounts.n = 3;
	tree_put("cpu/x/cpu.cfs_quota_us", "50000\n");
	tree_put("cpu/x/cpu.cfs_period_us", "100000\n");
	tree_put("cpu/x/cpu.stat", "nr_periods 1\nnr_throttled 1\nthrottled_time 10\n");
	tree_put("cpu/x/cpuacct.usage", "100\n");
	tree_put("cpu/cpu.cfs_quota_us", "-1\n");
	tree_put("cpu/cpu.cfs_period_us", "100000\n");
	tree_put("memory/y z/memory.usage_in_bytes", "4096\n");
	tree_put("memory/y z/memory.limit_in_bytes", "8192\n");
	tree_put("memory/y z/memory.failcnt", "3\n");
	tree_put("memory/y z/memory.stat", "cache 1\nrss 2\ntotal_cache 100\ntotal_rss 200\ntotal_pgmajfault 1\n");
	tree_put("memory/memory.limit_in_bytes", "9223372036854771712\n");
	tree_put("memory/memory.usage_in_bytes", "5000\n");
	free(rows("4:memory:/y z\n3:cpu,cpuacct:/x\n2:pids:/p\n1:name=systemd:/s\n0::/\n", 5));
	tree_put("cpu/x/cpu.stat", "nr_periods 5\nnr_throttled 3\nthrottled_time 1010\n");
	tree_put("cpu/x/cpuacct.usage", "350\n");
	tree_put("memory/y z/memory.failcnt", "5\n");
	text = rows("4:memory:/y z\n3:cpu,cpuacct:/x\n2:pids:/p\n1:name=systemd:/s\n0::/\n", 6);
	expect(text, "/x", "CPU_MAX", "0.500");
	expect(text, "/x", "CPU_NS", "250");
	expect(text, "/x", "PERIODS", "4");
	expect(text, "/x", "THROTTLED_NS", "1000");
	expect(text, "/x", "MEM_BYTES", "-");
	expect(text, "/", "CPU_MAX", "-");
	expect(text, "/", "MEM_BYTES", "5000");
	expect(text, "/", "MEM_MAX", "-");
	expect(text, "/p", "LEVEL", "none");
	assert_non_null(strstr(text, " 4096 8192 100 200 - - 0 2 - - "));
	assert_non_null(strstr(text, " /y z\n"));
}

/* Hierarchies without anything to read take no place, however many they are. */
static void other_hierarchies_do_not_matter(void **state)
{
	char proc_cgroup[512] = "", *at = proc_cgroup;
	autofree char *text = NULL;

	for (unsigned int i = 0; i < 15; i++)
		items[i] = (struct cgroup_mount){ memory_dir, (char *)"/", 20 + i };
	items[15] = (struct cgroup_mount){ cpu_dir, (char *)"/", 3 };
	mounts.n = ARRAY_SIZE(items);
	for (unsigned int i = 0; i < 15; i++)
		at += sprintf(at, "%u:name=n%u:/x\n", 20 + i, i);
	strcpy(at, "3:cpu:/x\n");
	tree_put("cpu/x/cpu.stat", "nr_periods 7\n");
	free(rows(proc_cgroup, 1));
	text = rows(proc_cgroup, 2);
	expect(text, "/x", "PERIODS", "0");
}

/* The job moves; the root goes on counting, the new cgroup begins. One that is made again begins at 0. */
static void a_move_is_followed(void **state)
{
	autofree char *moved = NULL, *gone = NULL, *again = NULL, *outside = NULL;

	tree_put("v2/cpu.stat", "usage_usec 5\n");
	tree_put("v2/old/cpu.stat", "usage_usec 5\n");
	tree_put("v2/new/cpu.stat", "usage_usec 70\n");
	free(rows("0::/old\n", 1));
	tree_put("v2/cpu.stat", "usage_usec 9\n");
	moved = rows("0::/new\n", 2);
	assert_string_equal(value(moved, "/", "CPU_NS"), "4000");
	expect(moved, "/new", "CPU_NS", "-");
	expect(moved, "/old", "LEVEL", "none");
	tree_put("v2/new/cpu.stat", "usage_usec 3\n");
	again = rows(NULL, 3);
	expect(again, "/new", "CPU_NS", "3000");
	{
		autofree char *path = tree_path("v2/new/cpu.stat");

		assert_int_equal(remove(path), 0);
	}
	gone = rows(NULL, 4);
	expect(gone, "/new", "LEVEL", "none");
	expect(gone, "/", "CPU_NS", "0");
	outside = rows("0::/../other\n", 5);
	assert_string_equal(outside, "");
}

static void texts_of_any_form_do_no_harm(void **state)
{
	autofree char *text = NULL;

	tree_put("v2/j/cpu.max", "max 100000\n");
	tree_put("v2/j/cpu.stat", "");
	tree_put("v2/j/memory.current", "none");
	tree_put("v2/j/memory.stat", "file\nanon 5");
	tree_put("v2/j/io.stat", "\n");
	text = rows("0::/j\nx\n::\n9\n0:\n", 1);
	assert_string_equal(text, "1 - - - - - - - - - 5 - - - - - - - - - - - - - - - - /j\n");
	free(text);
	text = rows(NULL, 2);
	expect(text, "/j", "R_BYTES", "0"); /* no disk has done anything yet */
}

/* A file whose read took too long is left out of ten samples. */
static void slow_files_are_left_out(void **state)
{
	struct cgroup_reads *reads = cgroup_samples_reads(samples);
	autofree char *text = NULL;

	tree_put("v2/j/memory.current", "5\n");
	tree_put("v2/j/memory.max", "7\n");
	for (unsigned int i = 0; i < CGROUP_FILES_MAX; i++)
		reads->left_out[i] = i == 2 ? 3 : 0; /* the third file */
	for (unsigned int i = 1; i <= 3; i++) {
		free(text);
		text = rows("0::/j\n", i);
		assert_string_equal(value(text, "/j", "MEM_BYTES"), i < 3 ? "-" : "5");
		expect(text, "/j", "MEM_MAX", "7");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_header_has_the_columns, set_up, tear_down),
		cmocka_unit_test_setup_teardown(v2_has_levels_and_what_came_since, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_containers_root_is_not_the_machine, set_up, tear_down),
		cmocka_unit_test_setup_teardown(v1_has_a_row_for_each_path, set_up, tear_down),
		cmocka_unit_test_setup_teardown(other_hierarchies_do_not_matter, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_move_is_followed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(texts_of_any_form_do_no_harm, set_up, tear_down),
		cmocka_unit_test_setup_teardown(slow_files_are_left_out, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
