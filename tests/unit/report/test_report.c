/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/model.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fmt.h"
#include "base/json.h"
#include "base/util.h"
#include "report/disk/causes.h"
#include "report/report.h"
#include "report/show/show.h"
#include "report/why/why.h"
#include "tree.h"

#define GOLDEN "tests/golden/"
#define MiB (1024 * 1024)

static struct report *load(const char *dir)
{
	struct report *r = NULL;

	assert_int_equal(report_load(&r, dir, &(struct report_options){ .timed = true }), 0);
	return r;
}

static char *rendered(const char *dir, void (*render)(const struct report *r, FILE *out))
{
	struct report *r = load(dir);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	render(r, out);
	fclose(out);
	report_free(r);
	return text;
}

static void json(const struct report *r, FILE *out)
{
	struct json j = { 0 };

	report_json(r, &j);
	assert_int_equal(json_write(&j, out), 0);
}

static const struct report_proc *proc(const struct report *r, uint64_t pid)
{
	return table_find(&r->procs, pid);
}

static void calls_are_counted_by_probe(void **state)
{
	struct report *r = load(GOLDEN "trace-small");
	const struct report_op *rw = &r->op[REPORT_VFS_RW];

	assert_int_equal(rw->rows, 16);
	assert_int_equal(rw->failed, 1);
	assert_int_equal(rw->running, 2);
	assert_int_equal(r->rw[0].rows, 13);
	assert_int_equal(r->rw[1].rows, 3);
	assert_int_equal(rw->bytes, r->rw[0].bytes + r->rw[1].bytes);
	assert_int_equal(r->rw[1].bytes, 512 + 262144 + 4096);
	/* the two rows of a sendfile are one call; calls in flight have no latency yet */
	assert_int_equal(rw->lat.n, 16 - 1 - 2);
	assert_int_equal(r->rw[0].lat.n, 13 - 2);
	assert_int_equal(r->rw[1].lat.n, 3);
	assert_int_equal(rw->lat.max, 500000000);
	assert_int_equal(r->op[REPORT_MMAP].rows, 4);
	assert_int_equal(r->op[REPORT_MMAP].failed, 1); /* -12; addresses are not failures */
	assert_int_equal(r->op[REPORT_OPEN].failed, 1);
	assert_int_equal(r->op[REPORT_SYNC].lat.sum, 12000000);
	report_free(r);
}

static void reads_are_kept_apart_by_their_source(void **state)
{
	struct report *r = load(GOLDEN "trace-small");
	const struct report_source_sum *src = r->source;

	assert_int_equal(src[REPORT_BUFFERED].calls, 5);
	assert_int_equal(src[REPORT_BUFFERED].bytes, 131072 + 65536 + 4096 + 4096);
	assert_int_equal(src[REPORT_BUFFERED].disk_bytes, 131072);
	assert_int_equal(src[REPORT_BUFFERED].disk_calls, 1);
	assert_int_equal(src[REPORT_BUFFERED].unaccounted, 1);
	assert_int_equal(src[REPORT_DIRECT].bytes, MiB);
	assert_int_equal(src[REPORT_REMOTE].bytes, 10000);
	assert_int_equal(src[REPORT_NO_DISK].bytes, 100);
	assert_int_equal(src[REPORT_NO_TYPE].calls, 0);
	assert_int_equal(r->map_calls, 1);
	assert_int_equal(r->map_bytes, 8192);
	/* a submitted request without a result is in no sum, and a note says so */
	assert_int_equal(r->no_result, 1);
	assert_int_equal(r->no_result_bytes, 8192);
	report_free(r);
}

static void read_sizes_leave_pipes_out(void **state)
{
	struct report *r = load(GOLDEN "trace-small");

	assert_int_equal(r->read_size[0].calls, 1); /* end of file */
	assert_int_equal(r->read_size[10].calls, 0); /* 512 bytes: from a pipe */
	assert_int_equal(r->read_size[13].calls, 2); /* 4096 */
	assert_int_equal(r->read_size[13].bytes, 8192);
	assert_int_equal(r->read_size[21].calls, 1); /* 1 MiB */
	report_free(r);
}

static void files_have_their_newest_name(void **state)
{
	struct report *r = load(GOLDEN "trace-small");

	assert_int_equal(r->n_top_bytes, 6); /* without pipes, and without files that moved no bytes */
	assert_string_equal(r->top_bytes[0].path, "/data/raw.bin");
	assert_int_equal(r->top_bytes[0].sum.read_bytes, MiB);
	assert_string_equal(r->top_bytes[1].path, "/out/ckpt.pt");
	assert_int_equal(r->top_bytes[1].sum.write_bytes, 262144 + 4096);
	assert_string_equal(r->top_time[0].path, "/mnt/nfs/hung.bin");
	assert_string_equal(r->top_time[0].fstype, "nfs4");
	report_free(r);
}

static void processes_have_parents_and_names(void **state)
{
	struct report *r = load(GOLDEN "trace-small");
	const struct report_proc *worker = proc(r, 101), *trainer = proc(r, 100);

	assert_int_equal(r->n_procs, 2);
	assert_string_equal(worker->comm, "pt_data_worker");
	assert_int_equal(worker->ppid, 100); /* not the reaper in its exit row */
	assert_string_equal(worker->rank, "0");
	assert_int_equal(worker->reads, 4); /* by both its threads */
	assert_int_equal(worker->writes, 1);
	assert_int_equal(worker->read_bytes, 131072 + 65536 + 4096);
	assert_int_equal(worker->wait_ns, 3000);
	assert_int_equal(trainer->reads, 9);
	assert_int_equal(trainer->writes, 2);
	assert_int_equal(trainer->wait_ns, 500000000 + 800000000);
	report_free(r);
}

static void waits_do_not_hide_slow_files(void **state)
{
	struct report *r = load(GOLDEN "trace-small");

	assert_int_equal(r->slow.n, REPORT_TOP);
	assert_int_equal(r->slow.call[0].lat_ns, 12000000);
	assert_string_equal(r->slow.call[0].func, "fsync");
	assert_string_equal(r->slow.call[0].target, "/out/ckpt.pt");
	assert_int_equal(r->slow.call[0].pid, 100);
	for (unsigned int i = 1; i < r->slow.n; i++)
		assert_true(r->slow.call[i - 1].lat_ns >= r->slow.call[i].lat_ns);
	assert_int_equal(r->waits.seen, 2);
	assert_string_equal(r->waits.call[0].target, "pipe:[88]");
	assert_int_equal(r->running.seen, 1);
	assert_string_equal(r->running.call[0].target, "/mnt/nfs/hung.bin");
	assert_int_equal(r->running_waits.seen, 1);
	assert_int_equal(r->running_waits.call[0].tid, 103);
	report_free(r);
}

static void bytes_of_disks_count_once_at_the_lowest(void **state)
{
	struct report *r = load(GOLDEN "trace-small");
	const struct report_disk *dm = table_at(&r->disks, 0), *nvme = table_at(&r->disks, 1);

	assert_string_equal(dm->name, "dm-0");
	assert_true(dm->stacked);
	assert_string_equal(nvme->name, "nvme0n1");
	assert_int_equal(nvme->op[REPORT_R].requests, 2);
	assert_int_equal(nvme->op[REPORT_R].bytes, 131072 + MiB);
	assert_int_equal(nvme->op[REPORT_R].queue_ns * 10, nvme->op[REPORT_R].lat->sum);
	assert_int_equal(nvme->op[REPORT_W].bytes, 266240 + 4096);
	assert_int_equal(nvme->self_bytes, 4096);
	assert_int_equal(r->op[REPORT_BIO].rows, 7);
	assert_int_equal(r->op[REPORT_BIO].failed, 1);
	assert_int_equal(r->op[REPORT_BIO].bytes, 131072 + MiB + 266240 + 4096);
	report_free(r);
}

static void disks_work_for_files_and_their_writers(void **state)
{
	struct report *r = load(GOLDEN "trace-small");
	const struct report_causes *c = r->causes;
	const struct report_cause *file = table_find(&c->files, 5);
	const struct report_cause_process *python = table_find(&c->processes, 100),
					  *worker = table_find(&c->processes, 101);

	assert_int_equal(c->all.requests, 6); /* without those that dm-0 has passed on */
	assert_int_equal(c->all.read_bytes, 131072 + MiB);
	assert_int_equal(c->all.write_bytes, 266240 + 4096);
	assert_int_equal(c->no_file[CAUSE_JOURNAL].requests, 1);
	assert_int_equal(c->no_file[CAUSE_META].write_bytes, 4096);
	assert_int_equal(c->no_file[CAUSE_NO_DATA].requests, 1);
	assert_int_equal(file->write_bytes, 266240);
	assert_int_equal(file->requests, 1);
	/* another process dirtied its first page, and two pages of it; but its calls have written all of it */
	assert_int_equal(python->sum.write_bytes, 266240);
	assert_int_equal(python->sum.requests, 2);
	assert_int_equal(python->unsure_bytes, 0);
	assert_int_equal(worker->sum.write_bytes, 0);
	assert_int_equal(worker->sum.requests, 1);
	report_free(r);
}

static void text_is_that_of_the_golden_file(void **state)
{
	static const char *const dirs[] = { GOLDEN "trace-small", GOLDEN "trace-panels" };

	for (unsigned int i = 0; i < ARRAY_SIZE(dirs); i++) {
		autofree char *text = rendered(dirs[i], report_text), *path = NULL, *want = NULL;

		assert_true(asprintf(&path, "%s.report", dirs[i]) > 0);
		assert_int_equal(util_read_file(path, MiB, &want, NULL), 0);
		assert_string_equal(text, want);
	}
}

static void screen(const struct report *r, FILE *out)
{
	report_screen(r, 80, out);
}

/* No line is too wide, except commands to be typed. */
static void screen_fits_a_terminal(void **state)
{
	static const char *const dirs[] = { GOLDEN "trace-small",   GOLDEN "trace-panels", GOLDEN "trace-other",
					    GOLDEN "trace-hostile", GOLDEN "trace-cut",    GOLDEN "trace-untraced" };

	for (unsigned int i = 0; i < ARRAY_SIZE(dirs); i++) {
		autofree char *text = rendered(dirs[i], screen);
		unsigned int lines = 0;

		for (char *rest, *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), lines++)
			assert_true(strlen(line) <= 80 || strstr(line, "  dltraced report "));
		assert_in_range(lines, 4, 24);
	}
}

static void screen_has_the_answer_and_where_to_go_on(void **state)
{
	autofree char *text = rendered(GOLDEN "trace-small", screen),
		      *sentence = rendered(GOLDEN "trace-small", why_sentence);

	assert_string_equal(sentence, "This trace does not show what the job waited for");
	assert_ptr_equal(strstr(text, "unknown: This trace does not show what the job waited for (6.7 % of the calls"),
			 text);
	assert_non_null(strstr(text, "missing  2 of 30 calls (2 vfs_rw) were lost"));
	assert_non_null(strstr(text, "python train.py"));
	assert_non_null(strstr(text, "ended with status 3"));
	assert_non_null(strstr(text, "dltraced report --full tests/golden/trace-small\n"));
}

/* manifest_read.c did not write it, and reads JSON strictly enough. */
static void json_is_well_formed(void **state)
{
	static const char *const dirs[] = {
		GOLDEN "trace-cut",
		GOLDEN "trace-hostile",
		GOLDEN "trace-small",
	};
	static struct manifest_facts m;

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		autofree char *text = rendered(dirs[i], json);

		assert_int_equal(manifest_parse(&m, text), 0);
	}
	assert_string_equal(m.host, "node1");
	assert_false(m.complete); /* two rows are lost */
	assert_int_equal(manifest_probe(&m, "vfs_rw")->rows, 16);
	assert_int_equal(manifest_probe(&m, "vfs_rw")->lost, 2);
}

static void says_what_is_missing(void **state)
{
	static const char *const notes[] = {
		"manifest.json is missing: no command, no host, no losses",
		"close.out is not a dltraced file",
		"open.out has no header yet",
		"vfs_rw.out: 2 rows could not be read and are left out",
		"vfs_rw.out: the last row is cut off and is left out",
		"files of the trace that are not in its folder: pids.out time_align.out bio.out create_del.out mmap.out sync.out",
		"files: 1 FID is not in files.out",
	};
	struct report *r = load(GOLDEN "trace-cut");

	assert_int_equal(r->n_notes, ARRAY_SIZE(notes));
	for (unsigned int i = 0; i < r->n_notes; i++)
		assert_string_equal(r->notes[i], notes[i]);
	assert_int_equal(r->op[REPORT_VFS_RW].rows, 3);
	assert_int_equal(r->source[REPORT_BUFFERED].bytes, 10);
	assert_int_equal(r->source[REPORT_REMOTE].bytes, 20); /* fuse.sshfs */
	assert_int_equal(r->source[REPORT_NO_TYPE].bytes, 30);
	assert_string_equal(r->first_time, "2026-11-21T01:02:03.001000000Z");
	report_free(r);
}

static void has_the_reason_of_a_probe_not_traced(void **state)
{
	static const char *const notes[] = {
		"open, pids: not traced: open: the kernel said no",
		"bio: not traced: no rings",
		"files: not traced: no reason given",
		"files of the trace that are not in its folder: close.out", /* its WHY is another backend's */
		"calls of create_del, mmap, sync, vfs_rw were not recorded (--probes): their number is not known",
	};
	struct report *r = load(GOLDEN "trace-untraced");

	assert_int_equal(r->n_notes, ARRAY_SIZE(notes));
	for (unsigned int i = 0; i < r->n_notes; i++)
		assert_string_equal(r->notes[i], notes[i]);
	report_free(r);
}

/* By BOOTTIME_NS and REALTIME_NS, which go on during sleep. */
static void says_for_how_long_the_machine_slept(void **state)
{
	static const char rows[] =
		"# dltraced time_align 1\n"
		"TIMESTAMP\tTIME\tREALTIME_NS\tBOOTTIME_NS\tERROR_NS\tEVENT\n"
		"1000000000\t2026-11-22T00:00:00.000000000Z\t1795305600000000000\t1000000000\t9\tstart\n"
		"2000000000\t2026-11-22T00:00:11.500000000Z\t1795305611500000000\t12500000000\t9\tstep\n"
		"3000000000\t2026-11-22T00:00:12.500000000Z\t1795305612500000000\t13500000000\t9\tend\n";
	autofree char *text = NULL, *js = NULL;

	tree_put("time_align.out", rows);
	text = rendered(tree, report_text);
	js = rendered(tree, json);
	assert_non_null(strstr(text, "UTC within 9 ns, steps: 1, the machine slept for 10.5 s\n"));
	assert_non_null(strstr(js, "\"asleep_ns\": 10500000000"));
}

/* Reads of 4096 bytes, of which 512 are fetched: four for each of COLUMNS; only the last of them has a number there. */
static void put_strange_numbers(void)
{
	static const char *const columns[] = { "PID", "TID", "LAT_NS", "RETURNED", "OFFSET", "DISK_BYTES", "FID" };
	static const char *const plain[] = { "7", "7", "1000", "4096", "0", "512", "1" };
	static const char *const values[] = { "-", "?", "-5", NULL };
	autofree char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fprintf(out, "# dltraced vfs_rw 1\nTIMESTAMP\tRW\tREQUESTED");
	for (size_t k = 0; k < ARRAY_SIZE(columns); k++)
		fprintf(out, "\t%s", columns[k]);
	for (size_t i = 0; i < ARRAY_SIZE(columns) * ARRAY_SIZE(values); i++) {
		fprintf(out, "\n%zu\tR\t4096", 1000000 + 5000 * i);
		for (size_t k = 0; k < ARRAY_SIZE(columns); k++) {
			const char *value = k == i / ARRAY_SIZE(values) ? values[i % ARRAY_SIZE(values)] : NULL;

			fprintf(out, "\t%s", value ? value : plain[k]);
		}
	}
	fprintf(out, "\n");
	fclose(out);
	tree_put("vfs_rw.out", text);
	tree_put("files.out",
		 "# dltraced files 1\nTIMESTAMP\tFID\tTYPE\tFSTYPE\tREALPATH\n1\t1\treg\text4\t/data/a.bin\n");
}

/* Fewer rows than are read at a time, so that rows without a number are among those with one. */
static void a_number_that_is_none_is_in_no_sum(void **state)
{
	const struct report_source_sum *src;
	struct report *r;

	put_strange_numbers();
	r = load(tree);
	src = &r->source[REPORT_BUFFERED];
	assert_string_equal(r->notes[1],
			    "vfs_rw.out: 9 rows could not be read and are left out"); /* PID, TID, LAT_NS */
	assert_int_equal(r->rw[0].rows, 7 + 4 * 3);
	/* RETURNED: not known, in flight, failed */
	assert_int_equal(r->no_result, 1);
	assert_int_equal(r->no_result_bytes, 4096);
	assert_int_equal(r->rw[0].running, 1);
	assert_int_equal(r->rw[0].failed, 1);
	assert_int_equal(r->rw[0].lat.n, 7 + 4 * 3 - 1);
	assert_int_equal(r->rw[0].size.n, 7 + 3 * 3);
	assert_int_equal(r->rw[0].bytes, (7 + 3 * 3) * 4096);
	/* FID: without a file, which is not a file that files.out lacks */
	assert_int_equal(r->files.n, 1);
	assert_int_equal(r->unknown_files, 0);
	assert_int_equal(src->calls, 7 + 2 * 3);
	/* DISK_BYTES */
	assert_int_equal(src->unaccounted, 3);
	assert_int_equal(src->disk_calls, 7 + 3);
	assert_int_equal(src->disk_bytes, (7 + 3) * 512);
	/* OFFSET */
	assert_int_equal(r->why->sums.with_offset, 7 + 3);
	report_free(r);
}

#define CLOSE "# dltraced close 1\nTIMESTAMP\tTIME\tPID\tTID\tLAT_NS\n"

static void it_starts_with_the_earliest_row_that_is_one(void **state)
{
	struct report *r;

	tree_put("close.out", CLOSE "1000\tno process\t-\t1\t0\n3000\tthird\t1\t1\t0\n2000\tsecond\t1\t1\t0\n"
				    "5000\tfifth\t1\t1\t0\n4000\tfourth\t1\t1\t0\n9000\tno process\t-\t1\t0\n");
	r = load(tree);
	assert_int_equal(r->op[REPORT_CLOSE].rows, 4);
	assert_int_equal(r->first_ns, 2000);
	assert_string_equal(r->first_time, "second");
	assert_int_equal(r->last_ns, 5000);
	report_free(r);
	/* even at the latest possible time */
	tree_put("close.out", CLOSE "-\tnone\t1\t1\t0\n4611686018427387903\tthe last\t1\t1\t0\n");
	r = load(tree);
	assert_int_equal(r->first_ns, (1ULL << 62) - 1);
	assert_string_equal(r->first_time, "the last");
	report_free(r);
}

static void folder_that_is_no_trace(void **state)
{
	autoclose int fd = open("tests/golden", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct report *r;

	assert_int_equal(report_load(&r, "tests/golden", &(struct report_options){ .timed = false }), -ENODATA);
	assert_int_equal(report_load(&r, "tests/golden/none-of-that-name", &(struct report_options){ .timed = false }),
			 -ENOENT);
	assert_int_equal(report_load(&r, GOLDEN "trace-small/vfs_rw.out", &(struct report_options){ .timed = false }),
			 -ENOTDIR);
	assert_int_equal(report_load_at(&r, "tests/golden", fd, &(struct report_options){ .timed = true }), -ENODATA);
}

/* trace-hostile: names that are escaped correctly, and others without escapes. */
static void no_name_reaches_the_terminal_unescaped(void **state)
{
	autofree char *text = rendered(GOLDEN "trace-hostile", report_text);

	for (const unsigned char *p = (unsigned char *)text; *p; p++) {
		assert_true(*p == '\n' || (*p >= ' ' && *p != 0x7f));
		assert_false(p[0] == 0xc2 && p[1] < 0xa0);
		assert_false(p[0] == 0xe2 && p[1] == 0x80 && p[2] == 0xae);
		assert_int_not_equal(*p, 0xff);
	}
	assert_non_null(strstr(text, "  /d/\\033[2Jnew\\012line\\011tab\\\"#\n"));
	assert_non_null(strstr(text, "\\033[31m\\302\\23331m\\342\\200\\256abc\\377\xc3\xa4\n"));
}

static void numbers_have_three_digits_and_a_unit(void **state)
{
	assert_string_equal(FMT_BYTES(0), "0 B");
	assert_string_equal(FMT_BYTES(1023), "1023 B");
	assert_string_equal(FMT_BYTES(1024), "1.00 KiB");
	assert_string_equal(FMT_BYTES(MiB - 1), "1.00 MiB");
	assert_string_equal(FMT_BYTES(UINT64_MAX), "16.0 EiB");
	/* as the page rounds, too (tests/page): halves to even, and to the next unit when the result needs it */
	assert_string_equal(FMT_BYTES(1152), "1.12 KiB");
	assert_string_equal(FMT_BYTES(1408), "1.38 KiB");
	assert_string_equal(FMT_BYTES(1048063), "1023 KiB");
	assert_string_equal(FMT_BYTES(1048064), "1.00 MiB");
	assert_string_equal(FMT_NS(10250), "10.2 us");
	assert_string_equal(FMT_NS(999), "999 ns");
	assert_string_equal(FMT_NS(1000), "1.00 us");
	assert_string_equal(FMT_NS(9996), "10.0 us");
	assert_string_equal(FMT_NS(99960), "100 us");
	assert_string_equal(FMT_NS(999999), "1.00 ms");
	assert_string_equal(FMT_NS(4294967296000000000), "4294967296 s");
	assert_string_equal(FMT_COUNT(UINT64_MAX), "18446744073709551615");
}

/* `-', N/A, a lost GPU, two processes on one: nvidia-smi's lines as the collectors write them. */
static void gpus_have_the_values_of_their_samples(void **state)
{
	static const unsigned int samples[8] = { 8, 8, 8, 8, 0, 8, 5, 0 };
	struct report *r = load(GOLDEN "trace-gpus");

	for (unsigned int gpu = 0; gpu < 8; gpu++) {
		autofree char *panel = util_fmt("gpu:%u", gpu), *fb = util_fmt("gpu_fb:%u", gpu);
		struct timeline_points *sm = timeline_points(r->timeline, panel, "sm", "%");
		struct timeline_points *fill = timeline_points(r->timeline, fb, "fb", "MiB");
		unsigned int n = 0, with = 0;

		for (unsigned int i = 0; i < TIMELINE_BINS; i++) {
			n += sm->n[i];
			with += fill->n[i];
		}
		assert_int_equal(n, samples[gpu]);
		assert_int_equal(with, gpu == 6 ? 5 : 8);
		assert_int_equal(proc(r, 1000 + gpu)->on_gpu, true);
	}
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_number_that_is_none_is_in_no_sum),
		cmocka_unit_test(bytes_of_disks_count_once_at_the_lowest),
		cmocka_unit_test(calls_are_counted_by_probe),
		cmocka_unit_test(files_have_their_newest_name),
		cmocka_unit_test(gpus_have_the_values_of_their_samples),
		cmocka_unit_test(has_the_reason_of_a_probe_not_traced),
		cmocka_unit_test(folder_that_is_no_trace),
		IN_TREE(it_starts_with_the_earliest_row_that_is_one),
		cmocka_unit_test(json_is_well_formed),
		cmocka_unit_test(no_name_reaches_the_terminal_unescaped),
		cmocka_unit_test(numbers_have_three_digits_and_a_unit),
		cmocka_unit_test(processes_have_parents_and_names),
		cmocka_unit_test(read_sizes_leave_pipes_out),
		cmocka_unit_test(reads_are_kept_apart_by_their_source),
		IN_TREE(says_for_how_long_the_machine_slept),
		cmocka_unit_test(says_what_is_missing),
		cmocka_unit_test(screen_fits_a_terminal),
		cmocka_unit_test(screen_has_the_answer_and_where_to_go_on),
		cmocka_unit_test(disks_work_for_files_and_their_writers),
		cmocka_unit_test(text_is_that_of_the_golden_file),
		cmocka_unit_test(waits_do_not_hide_slow_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
