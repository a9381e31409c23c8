/* SPDX-License-Identifier: BSD-2-Clause */
/* References of rows to a file that has what they refer to, lacks it, and has lost rows. */
#include "validate/validate.h"

#include <stdlib.h>

#include "../tree.h"

#define ROW(time, site, old) \
	time "\t1970-01-01T00:00:00.0000000" time "Z\t7\t7\tpython\tmalloc\t0x10\t64\t-\t-\t-\t-\t" site "\t" old "\n"

/* Returns what is printed of a trace whose sites.out has lost LOST rows, and an allocation's stack is SITE. */
static char *printed_of(const char *lost, const char *rows)
{
	autofree char *dir = tree_path("t");
	autofree char *manifest =
		util_fmt("{ \"tool\": \"dltraced\", \"version\": \"0.1.0\", \"complete\": true, \"probes\": [ "
			 "{ \"name\": \"alloc\", \"rows\": 2 }, { \"name\": \"sites\", \"rows\": 1, \"lost\": %s, "
			 "\"lost_by\": { \"ring_full\": %s } } ] }",
			 lost, lost);
	autofree char *alloc = util_fmt(
		"# dltraced alloc 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tFUNC\tADDR\tSIZE\tOLD_ADDR\tOLD_SIZE\tLIFE_NS\t"
		"ALLOC_TID\tSITE\tOLD_SITE\n%s",
		rows);
	char *text = NULL;
	size_t len;
	FILE *out;

	tree_put("t/manifest.json", manifest);
	tree_put("t/alloc.out", alloc);
	tree_put("t/sites.out", "# dltraced sites 1\nTIMESTAMP\tTIME\tFIRST_PID\tSITE\tKIND\tFRAMES\tBUILD_ID\n"
				"10\t1970-01-01T00:00:00.000000010Z\t7\t1\tnative\t-+0x7f00\t-\n");
	out = open_memstream(&text, &len);
	assert_non_null(out);
	assert_true(validate_run(dir, out) >= 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void rows_refer_to_sites_that_exist(void **state)
{
	autofree char *good = printed_of("0", ROW("20", "1", "-") ROW("21", "-", "1")),
		      *bad = printed_of("0", ROW("20", "1", "-") ROW("21", "2", "-"));
	autofree char *old = printed_of("0", ROW("20", "1", "-") ROW("21", "1", "2"));
	autofree char *lost = printed_of("5", ROW("20", "1", "-") ROW("21", "2", "-"));

	assert_non_null(strstr(good, ": valid: "));
	assert_non_null(strstr(bad, "/alloc.out:4: the row's SITE or OLD_SITE is not in sites.out\n"));
	assert_non_null(strstr(old, "/alloc.out:4: the row's SITE or OLD_SITE is not in sites.out\n"));
	assert_null(strstr(lost, "SITE"));
}

static char *printed_of_sums(const char *brief, const char *lost)
{
	autofree char *dir = tree_path("t");
	autofree char *manifest =
		util_fmt("{ \"tool\": \"dltraced\", \"version\": \"0.1.0\", \"complete\": true, \"probes\": [ "
			 "{ \"name\": \"vfs_rw\", \"rows\": 0, \"brief\": %s }, { \"name\": \"vfs_rw_sums\", "
			 "\"rows\": 2, \"lost\": %s, \"lost_by\": { \"buffer\": %s } } ] }",
			 brief, lost, lost);
	char *text = NULL;
	size_t len;
	FILE *out;

	tree_put("t/manifest.json", manifest);
	tree_put("t/vfs_rw.out", "# dltraced vfs_rw 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tRW\tFUNC\tLAT_NS\tREQUESTED\t"
				 "RETURNED\tOFFSET\tDISK_BYTES\tFD\tFLAGS\tFID\tFILE\n");
	tree_put("t/vfs_rw_sums.out",
		 "# dltraced vfs_rw_sums 1\nTIMESTAMP\tTIME\tPID\tCOMM\tRW\tFUNC\tSPAN_NS\tCOUNT\tEMPTY\tBYTES\t"
		 "TIME_NS\tMAX_NS\tTIMES\tFID\tFILE\n"
		 "20\t1970-01-01T00:00:00.000000020Z\t7\tpython\tR\tread\t9\t7\t0\t7\t70\t10\t8=7\t-\t-\n"
		 "21\t1970-01-01T00:00:00.000000021Z\t7\tpython\tR\tread\t9\t5\t0\t7\t70\t10\t8=5\t-\t-\n");
	out = open_memstream(&text, &len);
	assert_non_null(out);
	assert_true(validate_run(dir, out) >= 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void sums_have_the_calls_without_rows(void **state)
{
	autofree char *good = printed_of_sums("12", "0"), *bad = printed_of_sums("13", "0");
	autofree char *lost = printed_of_sums("13", "1");

	assert_non_null(strstr(good, ": valid: "));
	assert_non_null(strstr(bad, "/vfs_rw_sums.out: the manifest's calls are not its rows, sums"));
	assert_null(strstr(lost, "the manifest's calls"));
}

/* The name of a folder is what somebody gave it, and this goes to a terminal. */
static void names_do_not_control_the_terminal(void **state)
{
	autofree char *dir = tree_path("t\033]0;owned\007\xc2\x9b");
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	tree_put("t\033]0;owned\007\xc2\x9b/manifest.json", "{ \"tool\": \"dltraced\", \"version\": \"0.1.0\" }");
	assert_true(validate_run(dir, out) > 0);
	assert_int_equal(fclose(out), 0);
	assert_non_null(strstr(text, "/t\\033]0;owned\\007\\302\\233/manifest.json: "));
	for (const char *c = text; *c; c++)
		assert_true((unsigned char)*c >= ' ' || *c == '\n');
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(names_do_not_control_the_terminal),
		IN_TREE(rows_refer_to_sites_that_exist),
		IN_TREE(sums_have_the_calls_without_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
