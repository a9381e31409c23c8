/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/rows/metrics.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "dlt/open.h"
#include "dlt/vfs_rw.h"
#include "dlt/vfs_rw_sums.h"
#include "drain/rows/counts.h"
#include "drain/rows/failed_calls.h"
#include "session/state.h"
#include "temp.h"
#include "trace/probe_mask.h"

static struct metrics m;
static struct counts counts;
static struct failed_calls failed;
static char *text;

static void put(const char *trace, const char *experiment)
{
	const struct metrics_now now = {
		.trace = trace,
		.experiment = experiment,
		.folder = "/f",
		.counts = &counts,
		.rows = &m,
		.failed = &failed,
		.probes = PROBE_BIT(DLT_vfs_rw) | PROBE_BIT(DLT_bio),
	};
	size_t len;
	FILE *out;

	free(TAKE_PTR(text));
	out = open_memstream(&text, &len);
	metrics_put(out, &now);
	fclose(out);
}

static void has(const char *line)
{
	if (!strstr(text, line))
		fail_msg("no '%s' in:\n%s", line, text);
}

static int clear(void **state)
{
	memset(&m, 0, sizeof(m));
	memset(&counts, 0, sizeof(counts));
	memset(&failed, 0, sizeof(failed));
	return 0;
}

static void read_row(uint64_t lat_ns, int64_t returned, int64_t disk_bytes)
{
	const struct dlt_vfs_rw rec = {
		.hdr = { .probe = DLT_vfs_rw, .lat_ns = lat_ns },
		.returned = returned,
		.disk_bytes = disk_bytes,
		.dir = DLT_RW_R,
	};

	failed_calls_row(&failed, DLT_vfs_rw, &rec.hdr);
	metrics_row(&m, DLT_vfs_rw, &rec.hdr);
}

static void disk_row(const char *name, uint32_t type, uint64_t lat_ns)
{
	struct dlt_bio rec = { .hdr = { .probe = DLT_bio, .lat_ns = lat_ns }, .bytes = 4096, .type = type };

	memcpy(rec.disk, name, strnlen(name, sizeof(rec.disk)));
	metrics_row(&m, DLT_bio, &rec.hdr);
}

static void a_bound_belongs_to_its_bucket(void **state)
{
	read_row(0, 1, 0);
	read_row(1000, 2, DLT_NONE);
	read_row(1001, 4, 8);
	read_row(100000000000, -5, DLT_UNKNOWN);
	read_row(100000000001, DLT_UNKNOWN, 0);
	put("t", "e");
	has("dltraced_operation_latency_seconds_bucket{trace=\"t\",experiment=\"e\",probe=\"vfs_rw\",le=\"1e-06\"} 2\n");
	has(",probe=\"vfs_rw\",le=\"2.5e-06\"} 3\n");
	has(",probe=\"vfs_rw\",le=\"50\"} 3\n");
	has(",probe=\"vfs_rw\",le=\"100\"} 4\n");
	has(",probe=\"vfs_rw\",le=\"+Inf\"} 5\n");
	has("dltraced_operation_latency_seconds_sum{trace=\"t\",experiment=\"e\",probe=\"vfs_rw\"} 200.000002002\n");
	has("dltraced_operation_latency_seconds_count{trace=\"t\",experiment=\"e\",probe=\"vfs_rw\"} 5\n");
	has("dltraced_read_bytes_total{trace=\"t\",experiment=\"e\"} 7\n");
	has("dltraced_fetched_bytes_total{trace=\"t\",experiment=\"e\"} 8\n");
}

/* Calls that are only in sums count with the rows, each with the middle of its bucket. */
static void sums_count_with_the_rows(void **state)
{
	const struct dlt_vfs_rw_sums rec = {
		.hdr.probe = DLT_vfs_rw_sums,
		.sum = { .count = 5, .bytes = 300, .ns = 7001, .bucket = { [9] = 3, [10] = 2 } },
		.dir = DLT_RW_R,
	};
	struct dlt_vfs_rw_sums written = rec;

	written.dir = DLT_RW_W;
	read_row(1000, 2, 0);
	metrics_sums(&m, &rec);
	metrics_sums(&m, &written);
	put("t", "e");
	has(",probe=\"vfs_rw\",le=\"1e-06\"} 7\n");
	has(",probe=\"vfs_rw\",le=\"2.5e-06\"} 11\n");
	has("dltraced_operation_latency_seconds_sum{trace=\"t\",experiment=\"e\",probe=\"vfs_rw\"} 0.000015002\n");
	has("dltraced_read_bytes_total{trace=\"t\",experiment=\"e\"} 302\n");
	has("dltraced_written_bytes_total{trace=\"t\",experiment=\"e\"} 300\n");
}

/* By the errors that the table has; a search, an address above the errors and a call without a result are none. */
static void failed_calls_have_their_errors(void **state)
{
	read_row(1, -28, 0);
	read_row(1, -28, 0);
	read_row(1, -2, 0);
	read_row(1, -4096, 0);
	read_row(1, DLT_UNKNOWN, 0);
	read_row(1, DLT_NONE, 0);
	put("t", "e");
	has("dltraced_failed_calls_total{trace=\"t\",experiment=\"e\",error=\"ENOSPC\"} 2\n");
	has("dltraced_failed_calls_total{trace=\"t\",experiment=\"e\",error=\"EIO\"} 0\n");
}

static void descriptors_open_before_are_no_calls(void **state)
{
	const struct dlt_open rec = { .hdr = { .probe = DLT_open, .func = DLT_OPEN_SNAPSHOT } };

	metrics_row(&m, DLT_open, &rec.hdr);
	assert_int_equal(m.calls[DLT_open].n[0], 0);
}

static void names_cannot_forge_a_series(void **state)
{
	put("a\"} 1\nb \\ \xff\x1b[2J \xc3\xa9", "");
	has("dltraced_tracing{trace=\"a\\\"} 1\\nb \\\\ \\\\377\\\\033[2J \xc3\xa9\",experiment=\"\"} 0\n");
	assert_null(strchr(text, '\033'));
	assert_null(strstr(text, "\nb "));
}

static void disks_are_kept_apart_up_to_a_number(void **state)
{
	char name[DLT_DISK_LEN + 1];

	disk_row("sda", DLT_BIO_READ, 5);
	disk_row("sda", DLT_BIO_WRITE, 5);
	disk_row("sda", 77, 5);
	for (int i = 0; i < 2 * METRICS_DISKS_MAX; i++) {
		snprintf(name, sizeof(name), "disk%d", i);
		disk_row(name, DLT_BIO_READ, 5);
	}
	disk_row("a_name_of_all_32_bytes_has_no_end", DLT_BIO_READ, 5);
	put("t", "e");
	has("dltraced_disk_bytes_total{trace=\"t\",experiment=\"e\",disk=\"sda\",op=\"read\"} 4096\n");
	has("disk=\"sda\",op=\"write\",le=\"1e-06\"} 1\n");
	has("dltraced_disk_bytes_total{trace=\"t\",experiment=\"e\",disk=\"sda\",op=\"other\"} 4096\n");
	/* sda and 62 others have their own series */
	has("disk=\"disk61\",op=\"read\",le=\"1e-06\"} 1\n");
	assert_null(strstr(text, "disk=\"disk62\""));
	has("disk=\"(others)\",op=\"read\",le=\"1e-06\"} 67\n");
	assert_int_equal(m.n_disks, METRICS_DISKS_MAX);
}

/* --- the file ---------------------------------------------------------------------------------------- */

static char folder[TEMP_MAX];

static void holds(const char *name, const char *wanted)
{
	char buf[256] = "";
	FILE *f = fopen(name, "r");

	assert_non_null(f);
	buf[fread(buf, 1, sizeof(buf) - 1, f)] = '\0';
	fclose(f);
	assert_string_equal(buf, wanted);
}

static void write_text(const char *name, const char *what)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fputs(what, f);
	fclose(f);
}

static void a_file_is_replaced_whole(void **state)
{
	static const char one[] = "# HELP dltraced_one\n", two[] = "# HELP dltraced_two\n";
	struct new_file f;
	struct stat before, after;

	assert_int_equal(metrics_file_open(&f, "m.prom"), 0);
	assert_int_equal(access("m.prom", F_OK), -1); /* not before there are numbers */
	assert_int_equal(metrics_file_write(&f, one, strlen(one)), 0);
	assert_int_equal(stat("m.prom", &before), 0);
	assert_int_equal(before.st_mode, S_IFREG | 0644);
	assert_int_equal(metrics_file_write(&f, two, strlen(two)), 0);
	assert_int_equal(stat("m.prom", &after), 0);
	assert_true(before.st_ino != after.st_ino);
	holds("m.prom", two);
	new_file_drop(&f);

	/* of an earlier trace */
	assert_int_equal(metrics_file_open(&f, "./m.prom"), 0);
	/* in the meantime another user puts a file there */
	write_text("m.prom", "mine\n");
	assert_int_equal(metrics_file_write(&f, one, strlen(one)), -EEXIST);
	holds("m.prom", "mine\n");
	new_file_drop(&f);
	assert_int_equal(unlink("m.prom"), 0);
}

static void nothing_else_is_replaced(void **state)
{
	struct new_file f;

	write_text("foreign", "precious\n");
	assert_int_equal(metrics_file_open(&f, "foreign"), -EEXIST);
	assert_int_equal(symlink("foreign", "link"), 0);
	assert_int_equal(metrics_file_open(&f, "link"), -EEXIST);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(metrics_file_open(&f, "fifo"), -EEXIST);
	assert_int_equal(metrics_file_open(&f, "."), -EISDIR);
	assert_int_equal(metrics_file_open(&f, "sub/"), -EISDIR);
	assert_int_equal(metrics_file_open(&f, "sub/m"), -ENOENT);
	holds("foreign", "precious\n");
	assert_true(!unlink("foreign") && !unlink("link") && !unlink("fifo"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_bound_belongs_to_its_bucket, clear),
		cmocka_unit_test_setup(failed_calls_have_their_errors, clear),
		cmocka_unit_test_setup(sums_count_with_the_rows, clear),
		cmocka_unit_test_setup(descriptors_open_before_are_no_calls, clear),
		cmocka_unit_test_setup(names_cannot_forge_a_series, clear),
		cmocka_unit_test_setup(disks_are_kept_apart_up_to_a_number, clear),
		cmocka_unit_test(a_file_is_replaced_whole),
		cmocka_unit_test(nothing_else_is_replaced),
	};
	int failed;

	if (!mkdtemp(temp_template(folder, "metrics")) || chdir(folder) < 0)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(text);
	if (chdir("/") == 0)
		failed += rmdir(folder) < 0; /* fails unless it is empty */
	return failed;
}
