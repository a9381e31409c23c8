/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies of made-up folders: as many files as there are, sizes, rows that others refer to, stacks without names. */
#include "folder/copy.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../tree.h"
#include "folder/anonymize.h"
#include "folder/cut.h"
#include "folder/merge.h"

#define MANIFEST "{ \"tool\": \"dltraced\", \"probes\": [ { \"name\": \"marks\", \"rows\": 2, \"bytes\": 1 } ] }\n"

static bool attack; /* as soon as a folder is made, another program has a link to victim in its place */

int mkdirat(int at, const char *name, mode_t mode)
{
	const long r = syscall(SYS_mkdirat, at, name, mode);
	autofree char *made = util_fmt("%s/to", tree), *away = util_fmt("%s/away", tree);

	if (r == 0 && attack && !rename(made, away))
		assert_int_equal(symlink("victim", made), 0);
	return (int)r;
}

int mkdir(const char *path, mode_t mode)
{
	return mkdirat(AT_FDCWD, path, mode);
}

static const char sites[] = "# dltraced sites 1\nTIMESTAMP\tTIME\tFIRST_PID\tSITE\tKIND\tFRAMES\tBUILD_ID\n"
			    "10\t1970-01-01T00:00:00.000000010Z\t5\t1\tmodule\t/secret/lib.so\tdeadbeef\n"
			    "10\t1970-01-01T00:00:00.000000010Z\t5\t2\tnative\t1+0x1a2b;-+0x7f00\t-\n";

static void more_files_than_there_is_room_for_are_refused(void **state)
{
	autofree char *from = tree_path("from"), *to = tree_path("to");

	tree_put("from/manifest.json", MANIFEST);
	for (unsigned int i = 0; i < 100; i++) {
		autofree char *name = util_fmt("from/a_collector_of_ours_%u.out", i);
		autofree char *text = util_fmt("# dltraced a_collector_of_ours_%u 1\nTIMESTAMP\tTIME\n", i);

		tree_put(name, text);
	}
	assert_int_equal(merge_folder(from, to), -E2BIG);
}

static void what_others_put_in_its_place_stays(void **state)
{
	autofree char *from = tree_path("from"), *to = tree_path("to");

	tree_put("from/manifest.json", MANIFEST);
	tree_put("from/marks.out", "# dltraced marks 1\nTIMESTAMP\tTIME\tPID\tTEXT\n");
	tree_put("victim/marks.out", "text");
	tree_put("victim/precious", "text");
	attack = true;
	const int res = merge_folder(from, to);

	attack = false;
	assert_int_equal(res, -EAGAIN);
	autofree char *precious = tree_get("victim/precious"), *marks = tree_get("victim/marks.out");

	assert_string_equal(precious, "text");
	assert_string_equal(marks, "text");
}

static void put_nothing(void *ctx, struct json *j, uint64_t rows, uint64_t left_out)
{
}

/* One descriptor is left, for the folder that is read. */
static void a_folder_that_cannot_be_opened_is_not_left(void **state)
{
	static const struct copy_kind kind = { .key = "copied", .describe = put_nothing };
	autofree char *from = tree_path("from"), *to = tree_path("to");
	autofree struct manifest_facts *m = calloc(1, sizeof(*m));
	struct rlimit all, few;
	int free_fd;

	tree_put("from/manifest.json", MANIFEST);
	free_fd = dup(STDERR_FILENO);
	assert_true(free_fd >= 0);
	close(free_fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	few = (struct rlimit){ (rlim_t)free_fd + 1, all.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	const int res = copy_folder(from, to, m, &kind, NULL);

	assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
	assert_int_equal(res, -EMFILE);
	assert_int_equal(access(to, F_OK), -1);
}

static void the_manifest_has_the_size_of_the_copy(void **state)
{
	static const char text[] =
		"# dltraced marks 1\nTIMESTAMP\tTIME\tPID\tTEXT\n"
		"1\t1970-01-01T00:00:00.000000001Z\t7\ta\\040b\n2\t1970-01-01T00:00:00.000000002Z\t7\tc\n";
	autofree char *from = tree_path("from"), *to = tree_path("to");
	char bytes[32];

	tree_put("from/manifest.json", MANIFEST);
	tree_put("from/marks.out", text);
	assert_int_equal(merge_folder(from, to), 0);
	autofree char *copy = tree_get("to/marks.out"), *manifest = tree_get("to/manifest.json");

	assert_string_equal(copy, text);
	snprintf(bytes, sizeof(bytes), "\"bytes\": %zu ", strlen(text));
	assert_non_null(strstr(manifest, bytes));
}

/* A stack is in sites.out once, when a process first had it: rows of other times and processes refer to it. */
static void a_part_has_the_stacks_of_its_rows(void **state)
{
	autofree char *from = tree_path("from"), *to = tree_path("to");

	tree_put("from/manifest.json",
		 "{ \"tool\": \"dltraced\", \"start\": { \"monotonic_ns\": 5 }, \"end\": { \"monotonic_ns\": 90 } }");
	tree_put("from/sites.out", sites);
	tree_put("from/marks.out",
		 "# dltraced marks 1\nTIMESTAMP\tTIME\tPID\tTEXT\n"
		 "10\t1970-01-01T00:00:00.000000010Z\t7\ta\n40\t1970-01-01T00:00:00.000000040Z\t7\tb\n");
	tree_put("from/time_align.out",
		 "# dltraced time_align 1\nTIMESTAMP\tTIME\tREALTIME_NS\tBOOTTIME_NS\tERROR_NS\tEVENT\n"
		 "5\t1970-01-01T00:00:00.000000005Z\t5\t5\t0\tstart\n");
	const struct cut_options o = { .times.from = { .given = true, .ns = 30 }, .pids = { { 7 }, 1 } };

	assert_int_equal(cut_folder(from, to, &o), 0);
	autofree char *copy = tree_get("to/sites.out"), *marks = tree_get("to/marks.out");

	assert_string_equal(copy, sites);
	assert_null(strstr(marks, "\ta\n"));
	assert_non_null(strstr(marks, "\tb\n"));
}

static void stacks_stay_where_names_do_not(void **state)
{
	autofree char *from = tree_path("from"), *to = tree_path("to");
	struct names names;

	names_init(&names, "0123456789abcdef", 16);
	tree_put("from/manifest.json",
		 "{ \"tool\": \"dltraced\", \"host\": \"secrethost\", \"alloc\": { \"sites\": \"caller\" } }");
	tree_put("from/sites.out", sites);
	assert_int_equal(anonymize_folder(from, to, &names), 0);
	autofree char *copy = tree_get("to/sites.out"), *manifest = tree_get("to/manifest.json");

	assert_null(strstr(manifest, "secret"));
	assert_non_null(strstr(manifest, "\"sites\": \"caller\""));
	assert_non_null(strstr(copy, "\tnative\t1+0x1a2b;-+0x7f00\t-\n"));
	assert_non_null(strstr(copy, "\tmodule\t/"));
	assert_null(strstr(copy, "secret"));
	assert_null(strstr(copy, "deadbeef"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_folder_that_cannot_be_opened_is_not_left),    IN_TREE(a_part_has_the_stacks_of_its_rows),
		IN_TREE(more_files_than_there_is_room_for_are_refused), IN_TREE(stacks_stay_where_names_do_not),
		IN_TREE(the_manifest_has_the_size_of_the_copy),         IN_TREE(what_others_put_in_its_place_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
