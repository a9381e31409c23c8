/* SPDX-License-Identifier: BSD-2-Clause */
/* rollup.c: records have the same sums as the rows made of them. */
#include "drain/rows/rollup.h"

#include "dlt/bio.h"
#include "dlt/close.h"
#include "dlt/mmap.h"
#include "dlt/vfs_rw.h"
#include "records.h"

#define HEADER \
	"# dltraced rollup 1\nTIMESTAMP\tTIME\tMINUTE\tPROBE\tPID\tCOMM\tRW\tROWS\tFAILED\tBYTES\tLAT_NS\tMAX_LAT_NS\tSEGMENT\n"

static void emit_rw(uint32_t tgid, unsigned int dir, int64_t returned, uint64_t lat_ns)
{
	struct dlt_vfs_rw *rec = rec_begin(DLT_vfs_rw);

	rec->hdr.tgid = tgid;
	rec->hdr.lat_ns = lat_ns;
	rec->dir = dir;
	rec->returned = returned;
	rec->requested = 8192;
	rec_emit();
}

/* Across a minute: begins at 01:02:03, with a row each ms. */
static void emit_all(void)
{
	struct dlt_close *close;
	struct dlt_bio *bio;
	struct dlt_mmap *map;

	emit_rw(100, DLT_RW_R, 4096, 1000);
	emit_rw(100, DLT_RW_R, 100, 3000);
	emit_rw(100, DLT_RW_R, -11, 10);
	emit_rw(100, DLT_RW_R, DLT_UNKNOWN, 10);
	emit_rw(100, DLT_RW_W, 7, 20);
	emit_rw(4194304, DLT_RW_R, 1, 30);
	map = rec_begin(DLT_mmap);
	map->ret = 0x7f0000000000;
	rec_emit();
	map = rec_begin(DLT_mmap);
	map->ret = -12;
	rec_emit();
	bio = rec_begin(DLT_bio);
	bio->type = DLT_BIO_WRITE;
	bio->bytes = 512;
	rec_emit();
	bio = rec_begin(DLT_bio);
	bio->type = DLT_BIO_WRITE;
	bio->bytes = 512;
	bio->status = -5;
	rec_emit();
	record.hdr.ts_ns += 60 * NSEC_PER_SEC;
	close = rec_begin(DLT_close);
	close->ret = 0;
	rec_emit();
}

/* Cuts off TIMESTAMP, TIME and SEGMENT, and sorts the rows. */
static char *sums_of(const char *text)
{
	autofree char *copy = strdup(text);
	char *rest = copy, *line, *lines[64], *out = calloc(1, strlen(text) + 1);
	size_t n = 0;

	while ((line = strsep(&rest, "\n")) && *line) {
		if (*line == '#' || !strncmp(line, "TIMESTAMP", 9))
			continue;
		line = strchr(strchr(line, '\t') + 1, '\t') + 1;
		*strrchr(line, '\t') = '\0';
		lines[n++] = line;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			if (strcmp(lines[j], lines[i]) < 0) {
				line = lines[i];
				lines[i] = lines[j];
				lines[j] = line;
			}
	for (size_t i = 0; i < n; i++)
		strcat(strcat(out, lines[i]), "\n");
	return out;
}

static const char want[] = "2026-11-21T01:02:00Z\tbio\t100\tpython\tW\t2\t1\t512\t3000\t1500\n"
			   "2026-11-21T01:02:00Z\tmmap\t100\tpython\t-\t2\t1\t0\t3000\t1500\n"
			   "2026-11-21T01:02:00Z\tvfs_rw\t100\tpython\tR\t4\t1\t4196\t4020\t3000\n"
			   "2026-11-21T01:02:00Z\tvfs_rw\t100\tpython\tW\t1\t0\t7\t20\t20\n"
			   "2026-11-21T01:02:00Z\tvfs_rw\t4194304\tpython\tR\t1\t0\t1\t30\t30\n"
			   "2026-11-21T01:03:00Z\tclose\t100\tpython\t-\t1\t0\t0\t1500\t1500\n";

static int make_rollup(void **state)
{
	if (decoder_make(state) < 0)
		return -1;
	config.probes = UINT32_MAX;
	return 0;
}

static int make_rollup_only(void **state)
{
	const struct clock_reading start = { .mono_ns = START_NS, .real_ns = START_REAL_NS };

	if (make_rollup(state) < 0)
		return -1;
	decode_free(&decode);
	config.rollup_only = true;
	if (decode_init(&decode, &config) < 0)
		return -1;
	clock_map_init(&decode.clock, &start);
	return 0;
}

static void records_are_summed_up_instead_of_written(void **state)
{
	autofree char *path = tree_path("sums"), *text = NULL, *got = NULL;
	autoclose int dir = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(sink_open(&decode.sinks[DLT_rollup], dir, "sums"), 0);
	emit_all();
	assert_int_equal(decode.counts[DLT_vfs_rw].summed, 6);
	/* the current minute stays */
	rollup_write(decode.rollup, &decode.sinks[DLT_rollup], 0, START_REAL_NS / NSEC_PER_SEC / 60 + 1);
	sink_flush(&decode.sinks[DLT_rollup]);
	assert_int_equal(decode.sinks[DLT_rollup].rows, 5);
	rollup_write(decode.rollup, &decode.sinks[DLT_rollup], 0, ROLLUP_ALL);
	rollup_write(decode.rollup, &decode.sinks[DLT_rollup], 0, ROLLUP_ALL);
	sink_flush(&decode.sinks[DLT_rollup]);
	assert_int_equal(util_read_file(path, 1 << 20, &text, NULL), 0);
	got = sums_of(text);
	expect_lines(got, want);
	/* TIMESTAMP is that of the last row that was summed up, and TIME is by its own clock */
	assert_non_null(strstr(text, "\t2026-11-21T01:03:03.010000000Z\t2026-11-21T01:02:00Z"));
	assert_non_null(strstr(text, "\t-\n"));
	assert_int_equal(decode.sinks[DLT_rollup].late, 0);
}

static void rows_give_the_same_sums(void **state)
{
	static const unsigned int files[] = { DLT_bio, DLT_close, DLT_mmap, DLT_vfs_rw };
	autofree char *text = NULL, *got = NULL;
	struct rollup r;

	emit_all();
	rollup_init(&r);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		autofree char *path = tree_path(probes[files[i]]->name), *rows = rows_of(files[i]);
		char header[4096];
		autofree char *whole = malloc(sizeof(header) + strlen(rows));
		struct reader rd;
		int64_t summed;

		strcpy(record_put_header(whole, probes[files[i]]), rows);
		tree_put("text.out", whole);
		free(TAKE_PTR(path));
		path = tree_path("text.out");
		assert_int_equal(reader_open_fd(&rd, open(path, O_RDONLY), PACK_NONE, strlen(whole)), 0);
		summed = rollup_rows(&r, &rd, &decode.sinks[DLT_rollup], 7);
		assert_int_equal(summed, rd.rows);
		reader_close(&rd);
	}
	rollup_free(&r);
	text = rows_of(DLT_rollup);
	got = sums_of(text);
	expect_lines(got, want);
	assert_non_null(strstr(text, "\t7\n"));
	assert_int_equal(decode.sinks[DLT_rollup].late, 0);
}

/* Another tool's columns are unknown: rows are counted, without a process. */
static void rows_of_collectors_are_counted(void **state)
{
	autofree char *path = NULL, *text = NULL, *got = NULL;
	const char *file = "# dltraced cpu 1 command=\"mpstat\"\nTIMESTAMP\tTIME\tCPU\t%usr\n"
			   "1000\t2026-11-21T01:02:03.000000000Z\tall\t1.00\n# a comment\n"
			   "2000\t2026-11-21T01:02:04.000000000Z\tall\t2.00\n";
	struct reader rd;
	struct rollup r;

	tree_put("cpu.out", file);
	path = tree_path("cpu.out");
	rollup_init(&r);
	assert_int_equal(reader_open_fd(&rd, open(path, O_RDONLY), PACK_NONE, strlen(file)), 0);
	assert_int_equal(rollup_rows(&r, &rd, &decode.sinks[DLT_rollup], 1), 2);
	reader_close(&rd);
	rollup_free(&r);
	text = rows_of(DLT_rollup);
	got = sums_of(text);
	expect_lines(got, "2026-11-21T01:02:00Z\tcpu\t-\t-\t-\t2\t0\t0\t0\t0\n");
}

static void operations_are_taken_and_nothing_else(void **state)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		assert_int_equal(rollup_takes(probes[i]),
				 i != DLT_bio_map && i != DLT_files && i != DLT_marks && i != DLT_memory &&
					 i != DLT_meta_sums && i != DLT_net && i != DLT_sockets && i != DLT_pids &&
					 i != DLT_printed && i != DLT_rollup && i != DLT_sites && i != DLT_time_align &&
					 i != DLT_workload && i != DLT_sched && !(probes[i]->flags & PROBE_ON_DEMAND));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_are_taken_and_nothing_else),
		cmocka_unit_test_setup_teardown(records_are_summed_up_instead_of_written, make_rollup_only,
						decoder_remove),
		cmocka_unit_test_setup_teardown(rows_give_the_same_sums, make_rollup, decoder_remove),
		cmocka_unit_test_setup_teardown(rows_of_collectors_are_counted, make_rollup, decoder_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
