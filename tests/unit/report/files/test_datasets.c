/* SPDX-License-Identifier: BSD-2-Clause */
/* Which folders are data sets, in made-up traces: files, and a few rows for each. */
#include "report/files/datasets.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/report.h"
#include "tree.h"

#define BEGIN 1000000000000ULL
#define TIME "2026-11-21T01:02:03.000000000Z"
#define KiB 1024ULL
#define MiB (1024 * KiB)
#define US 1000ULL

/* --- making one ------------------------------------------------------------------------------------------ */

enum { FAULT, FILES, OPEN, MMAP, RW, N_OUT };

static struct {
	FILE *out[N_OUT];
	uint64_t ns, fid;
} made;

static const struct {
	const char *name, *head;
} outs[N_OUT] = {
	[FAULT] = { "fault", "PID\tTID\tCOMM\tFUNC\tKIND\tLAT_NS\tADDR\tIP\tOFFSET\tDISK_BYTES\tFID\tFILE" },
	[FILES] = { "files", "FID\tDEV\tINO\tTYPE\tFSTYPE\tSIZE\tSTATE\tREALPATH" },
	[OPEN] = { "open", "PID\tTID\tCOMM\tFUNC\tLAT_NS\tVFS_LAT_NS\tRET\tFLAGS\tMODE\tFID\tFILE\tPATH\tREALPATH" },
	[MMAP] = { "mmap",
		   "PID\tTID\tCOMM\tFUNC\tLAT_NS\tRET\tADDR\tLEN\tPROT\tFLAGS\tFD\tOFFSET\tOLD_ADDR\tOLD_LEN\tFID\tFILE" },
	[RW] = { "vfs_rw",
		 "PID\tTID\tCOMM\tRW\tFUNC\tLAT_NS\tREQUESTED\tRETURNED\tOFFSET\tDISK_BYTES\tFD\tFLAGS\tFID\tFILE" },
};

static int begin(void **state)
{
	if (tree_make(state) < 0)
		return -1;
	made.ns = BEGIN;
	made.fid = 0;
	for (unsigned int i = 0; i < N_OUT; i++) {
		autofree char *name = util_fmt("%s.out", outs[i].name), *path = tree_path(name);

		made.out[i] = fopen(path, "we");
		if (!made.out[i])
			return -1;
		fprintf(made.out[i], "# dltraced %s 1\nTIMESTAMP\tTIME\t%s\n", outs[i].name, outs[i].head);
	}
	return 0;
}

static int end(void **state)
{
	return tree_remove(state);
}

static FILE *row(unsigned int file)
{
	fprintf(made.out[file], "%" PRIu64 "\t" TIME "\t", made.ns += 1000000);
	return made.out[file];
}

/* A file that no call has used yet. */
static uint64_t file(const char *type, const char *fstype, uint64_t size, const char *path)
{
	made.fid++;
	fprintf(row(FILES), "%" PRIu64 "\t8:1\t%" PRIu64 "\t%s\t%s\t%" PRIu64 "\tok\t%s\n", made.fid, made.fid, type,
		fstype, size, path);
	return made.fid;
}

static void rename_to(uint64_t fid, const char *state, const char *path)
{
	fprintf(row(FILES), "%" PRIu64 "\t8:1\t%" PRIu64 "\treg\text4\t1\t%s\t%s\n", fid, fid, state, path);
}

static void opened(uint64_t fid, uint64_t lat_ns)
{
	fprintf(row(OPEN), "7\t7\tpython\topenat\t%" PRIu64 "\t-\t3\tRDONLY\t-\t%" PRIu64 "\tx\tx\tx\n", lat_ns, fid);
}

static void mapped(uint64_t fid, uint64_t bytes)
{
	fprintf(row(MMAP),
		"7\t7\tpython\tmmap\t1000\t0x7f0000000000\t0\t%" PRIu64 "\tREAD\tSHARED\t3\t0\t-\t-\t%" PRIu64 "\tx\n",
		bytes, fid);
}

static void faulted(uint64_t fid, const char *func, uint64_t disk_bytes, uint64_t lat_ns)
{
	fprintf(row(FAULT), "7\t7\tpython\t%s\tfile\t%" PRIu64 "\t0x1000\t0x2000\t0\t%" PRIu64 "\t%" PRIu64 "\tx\n",
		func, lat_ns, disk_bytes, fid);
}

static void moved(uint64_t fid, char rw, uint64_t bytes, uint64_t disk_bytes, uint64_t lat_ns)
{
	fprintf(row(RW),
		"7\t7\tpython\t%c\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t0\t%" PRIu64 "\t3\t-\t%" PRIu64 "\tx\n",
		rw, rw == 'R' ? "read" : "write", lat_ns, bytes, bytes, disk_bytes, fid);
}

/* Files 0 to N - 1 of FORMAT, each of SIZE bytes, opened for 2 us and read whole for 10 us. */
static void many(unsigned int n, const char *format, uint64_t size)
{
	for (unsigned int i = 0; i < n; i++) {
		autofree char *path = NULL;
		uint64_t fid;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		assert_true(asprintf(&path, format, i) > 0);
#pragma GCC diagnostic pop
		fid = file("reg", "ext4", size, path);
		opened(fid, 2 * US);
		moved(fid, 'R', size, size, 10 * US);
	}
}

static uint64_t one(const char *path, uint64_t size)
{
	many(1, path, size);
	return made.fid;
}

static struct report *loaded_below(const char *path)
{
	struct report *r = NULL;

	for (unsigned int i = 0; i < N_OUT; i++)
		assert_int_equal(fclose(made.out[i]), 0);
	assert_int_equal(report_load(&r, tree, &(struct report_options){ .timed = true, .path = path }), 0);
	return r;
}

static struct report *loaded(void)
{
	return loaded_below(NULL);
}

/* --- the result ------------------------------------------------------------------------------------------ */

/* Returns the data set of PATH, the row of others for NULL; NULL: there is none. */
static const struct dataset *find(const struct report *r, const char *path)
{
	for (unsigned int i = 0; i < r->datasets->n; i++) {
		const struct dataset *d = &r->datasets->row[i];

		if (path ? d->path && strcmp(d->path, path) == 0 : d->kind == DATASET_OTHERS)
			return d;
	}
	return NULL;
}

static const struct dataset *has(const struct report *r, const char *path, enum dataset_kind kind, uint64_t files)
{
	const struct dataset *d = find(r, path);

	if (!d)
		for (unsigned int i = 0; i < r->datasets->n; i++)
			print_message("%s: %" PRIu64 "\n",
				      r->datasets->row[i].path ? r->datasets->row[i].path : "others",
				      r->datasets->row[i].sum[DATASET_FILES]);
	if (!d)
		fail_msg("no %s", path);
	assert_int_equal(d->kind, kind);
	assert_int_equal(d->sum[DATASET_FILES], files);
	return d;
}

/* Returns the total over all rows. */
static uint64_t total(const struct report *r, enum dataset_sum sum)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < r->datasets->n; i++)
		n += r->datasets->row[i].sum[sum];
	return n;
}

/* --- shapes ---------------------------------------------------------------------------------------------- */

static void classes_are_one_data_set(void **state)
{
	const struct dataset *d;
	struct report *r;

	for (unsigned int c = 0; c < 20; c++) {
		autofree char *format = util_fmt("/data/imagenet/train/n%05u/n_%%u.JPEG", c);

		many(100, format, 100 * KiB);
	}
	r = loaded();
	assert_int_equal(r->datasets->n, 1);
	d = has(r, "/data/imagenet/train", DATASET_DATA, 2000);
	assert_int_equal(d->sum[DATASET_OPENS], 2000);
	assert_int_equal(d->sum[DATASET_READ], 2000 * 100 * KiB);
	assert_int_equal(d->sum[DATASET_DISK], 2000 * 100 * KiB);
	assert_int_equal(d->sum[DATASET_TIME_NS], 2000 * 12 * US);
	assert_int_equal(d->sum[DATASET_RW_NS], 2000 * 10 * US);
	assert_int_equal(d->sum[DATASET_OPEN_NS], 2000 * 2 * US);
	report_free(r);
}

static void parts_of_a_data_set_stay_apart(void **state)
{
	struct report *r;

	for (unsigned int c = 0; c < 20; c++) {
		autofree char *train = util_fmt("/data/imagenet/train/n%05u/%%u.JPEG", c),
			      *val = util_fmt("/data/imagenet/val/n%05u/%%u.JPEG", c);

		many(30, train, 10 * KiB);
		many(5, val, 10 * KiB);
	}
	r = loaded();
	has(r, "/data/imagenet/train", DATASET_DATA, 600);
	has(r, "/data/imagenet/val", DATASET_DATA, 100);
	assert_int_equal(r->datasets->n, 2);
	report_free(r);
}

static void folders_that_are_numbered_are_one_data_set(void **state)
{
	struct report *r;

	for (unsigned int c = 0; c < 4; c++) {
		autofree char *images = util_fmt("/data/images/class-%02u/%%u.jpg", c * 7),
			      *set = util_fmt("/sets/v%u/%%u.jpg", c);

		many(60, images, KiB);
		if (c < 2)
			many(60, set, KiB);
	}
	many(60, "/other/one/%u.jpg", KiB);
	many(60, "/other/two/%u.jpg", KiB);
	many(60, "/other/three/%u.jpg", KiB);
	r = loaded();
	has(r, "/data/images", DATASET_DATA, 240);
	has(r, "/sets/v0", DATASET_DATA, 60);
	has(r, "/sets/v1", DATASET_DATA, 60);
	has(r, "/other/three", DATASET_DATA, 60);
	assert_int_equal(r->datasets->n, 6);
	report_free(r);
}

static void classes_of_which_a_few_are_large(void **state)
{
	struct report *r;

	many(400, "/data/places/abbey/%u.jpg", KiB);
	many(300, "/data/places/airport/%u.jpg", KiB);
	for (unsigned int c = 0; c < 60; c++) {
		autofree char *format = util_fmt("/data/places/rare%02u/%%u.jpg", c);

		many(10, format, KiB);
	}
	r = loaded();
	assert_int_equal(r->datasets->n, 1);
	has(r, "/data/places", DATASET_DATA, 1300);
	report_free(r);
}

static void two_data_sets_below_one_folder(void **state)
{
	struct report *r;

	many(300, "/data/coco/img/%u.jpg", 10 * KiB);
	many(200, "/data/wiki/part-%u.txt", 10 * KiB);
	one("/data/README", KiB);
	r = loaded();
	has(r, "/data/coco/img", DATASET_DATA, 300);
	has(r, "/data/wiki", DATASET_DATA, 200);
	has(r, "/data/README", DATASET_DATA, 1);
	report_free(r);
}

static void a_large_file_is_a_data_set(void **state)
{
	struct report *r;

	one("/data/tokens.bin", 200 * MiB);
	one("/home/me/corpus/train.bin", 900 * MiB);
	one("/home/me/corpus/meta.pkl", 4 * KiB);
	for (unsigned int c = 0; c < 20; c++) {
		autofree char *format = util_fmt("/data/img/c%u/%%u.jpg", c);

		many(20, format, KiB);
	}
	r = loaded();
	has(r, "/data/tokens.bin", DATASET_DATA, 1);
	has(r, "/data/img", DATASET_DATA, 400);
	has(r, "/home/me/corpus/train.bin", DATASET_DATA, 1);
	has(r, "/home/me/corpus/meta.pkl", DATASET_DATA, 1);
	assert_int_equal(total(r, DATASET_FILES), 403);
	report_free(r);
}

static void a_file_is_as_large_as_it_is(void **state)
{
	uint64_t fid;
	struct report *r;

	many(300, "/data/img/%u.jpg", KiB);
	fid = file("reg", "ext4", 5000 * MiB, "/data/tokens.bin");
	moved(fid, 'R', 4096, 4096, US);
	r = loaded();
	assert_int_equal(has(r, "/data/tokens.bin", DATASET_DATA, 1)->sum[DATASET_READ], 4096);
	has(r, "/data/img", DATASET_DATA, 300);
	report_free(r);
}

static void shards_are_their_folder(void **state)
{
	struct report *r;

	many(6, "/mnt/shards/train-%03u.tar", 400 * MiB);
	r = loaded();
	assert_int_equal(r->datasets->n, 1);
	has(r, "/mnt/shards", DATASET_DATA, 6);
	report_free(r);
}

static void small_folders_are_one(void **state)
{
	struct report *r;

	for (unsigned int c = 0; c < 5; c++) {
		autofree char *format = util_fmt("/home/me/set/c%u/%%u.txt", c);

		many(1, format, KiB);
	}
	r = loaded();
	assert_int_equal(r->datasets->n, 1);
	has(r, "/home/me/set", DATASET_DATA, 5);
	report_free(r);
}

/* Unrelated files of a job with hardly any: the root is not a data set. */
static void the_root_is_no_data_set(void **state)
{
	struct report *r;

	one("/home/me/a.txt", KiB);
	one("/tmp/b.txt", KiB);
	one("/swap", KiB);
	r = loaded();
	has(r, "/home/me/a.txt", DATASET_DATA, 1);
	has(r, "/tmp/b.txt", DATASET_DATA, 1);
	has(r, "/swap", DATASET_DATA, 1);
	assert_int_equal(r->datasets->n, 3);
	report_free(r);
}

static void there_are_twenty_at_most(void **state)
{
	struct report *r;
	const struct dataset *others;

	for (unsigned int i = 0; i < 40; i++) {
		autofree char *format = util_fmt("/mnt%02u/x/%%u.jpg", i);

		many(10 + i, format, KiB);
	}
	r = loaded();
	assert_int_equal(r->datasets->n, DATASETS_MAX);
	has(r, "/mnt39/x", DATASET_DATA, 49);
	has(r, "/mnt21/x", DATASET_DATA, 31);
	assert_null(find(r, "/mnt20/x"));
	others = find(r, NULL);
	assert_ptr_equal(others, &r->datasets->row[DATASETS_MAX - 1]);
	assert_null(others->path);
	assert_int_equal(total(r, DATASET_FILES), 40 * 10 + 39 * 40 / 2);
	assert_int_equal(total(r, DATASET_READ), (40 * 10 + 39 * 40 / 2) * KiB);
	report_free(r);
}

/* --- kinds ----------------------------------------------------------------------------------------------- */

static void software_is_apart(void **state)
{
	struct report *r;

	many(100, "/opt/conda/lib/python3.11/site-packages/torch/%u.py", KiB);
	many(100, "/opt/conda/lib/python3.11/site-packages/numpy/%u.so", KiB);
	many(100, "/usr/lib/x86_64-linux-gnu/lib%u.so.1", KiB);
	one("/opt/conda/bin/python3.11", 20 * MiB);
	many(80, "/opt/conda/data/%u.npy", KiB);
	one("/opt/x/lib/libtorch_cuda.so", 900 * MiB);
	one("/opt/x/lib/libc10.so", KiB);
	one("/home/me/run/train.py", KiB);
	many(70, "/home/me/run/sample%u.npy", KiB);
	r = loaded();
	has(r, "/opt/conda/lib/python3.11", DATASET_SOFTWARE, 200);
	has(r, "/usr/lib/x86_64-linux-gnu", DATASET_SOFTWARE, 100);
	has(r, "/opt/conda/bin/python3.11", DATASET_SOFTWARE, 1);
	/* a small file among many is not listed */
	assert_null(find(r, "/home/me/run/train.py"));
	assert_int_equal(find(r, NULL)->sum[DATASET_FILES], 1);
	has(r, "/opt/x/lib", DATASET_SOFTWARE, 2);
	has(r, "/opt/conda/data", DATASET_DATA, 80);
	has(r, "/home/me/run", DATASET_DATA, 70);
	report_free(r);
}

static void files_that_are_only_written_are_output(void **state)
{
	struct report *r;
	uint64_t fid;

	for (unsigned int i = 0; i < 3; i++) {
		autofree char *path = util_fmt("/run1/ckpt/step%u.pt", i);

		fid = file("reg", "ext4", 0, path);
		moved(fid, 'W', 100 * MiB, 0, 50 * US);
	}
	/* beside it, files that are read as well: a resumed checkpoint, a mapped file */
	fid = file("reg", "ext4", 0, "/run1/ckpt/last.pt");
	moved(fid, 'W', 40 * MiB, 0, 50 * US);
	moved(fid, 'R', 40 * MiB, 0, 50 * US);
	fid = file("reg", "ext4", 0, "/run1/cache.npy");
	moved(fid, 'W', 30 * MiB, 0, 50 * US);
	mapped(fid, 30 * MiB);
	r = loaded();
	assert_int_equal(has(r, "/run1/ckpt", DATASET_OUTPUT, 3)->sum[DATASET_WRITTEN], 300 * MiB);
	has(r, "/run1/ckpt/last.pt", DATASET_DATA, 1);
	assert_int_equal(has(r, "/run1/cache.npy", DATASET_DATA, 1)->sum[DATASET_MAPPED], 30 * MiB);
	report_free(r);
}

static void mapped_bytes_count(void **state)
{
	const struct dataset *d;
	struct report *r;
	uint64_t fid = file("reg", "ext4", 200 * MiB, "/data/tokens.bin");

	opened(fid, 3 * US);
	mapped(fid, 200 * MiB);
	mapped(fid, 200 * MiB);
	r = loaded();
	d = has(r, "/data/tokens.bin", DATASET_DATA, 1);
	assert_int_equal(d->sum[DATASET_MAPPED], 400 * MiB);
	assert_int_equal(d->sum[DATASET_OPENS], 1);
	/* the bytes of page faults are not known: nothing is invented */
	assert_int_equal(d->sum[DATASET_READ], 0);
	assert_true(report_dataset_disk_share(d) < 0);
	report_free(r);
}

static void software_in_small_folders_is_among_the_others(void **state)
{
	struct report *r;

	for (unsigned int i = 0; i < 12; i++) {
		autofree char *path = util_fmt("/x%u/bin/tool.so", i);

		one(path, KiB);
	}
	r = loaded();
	assert_int_equal(r->datasets->n, 1);
	assert_int_equal(find(r, NULL)->sum[DATASET_FILES], 12);
	report_free(r);
}

static void shared_memory_that_is_only_mapped(void **state)
{
	struct report *r;
	uint64_t fid;

	for (unsigned int i = 0; i < 70; i++) {
		autofree char *path = util_fmt("/dev/shm/torch_7_%u", i);

		fid = file("shm", "tmpfs", 0, path);
		mapped(fid, MiB);
		if (i < 10) /* as sem_open() does */
			moved(fid, 'W', 32, 0, US);
	}
	fid = file("shm", "tmpfs", 100 * MiB, "/dev/shm/staged/train.bin");
	moved(fid, 'R', 100 * MiB, 0, US);
	r = loaded();
	has(r, "/dev/shm", DATASET_SHM, 70);
	has(r, "/dev/shm/staged/train.bin", DATASET_DATA, 1);
	report_free(r);
}

static void pipes_and_devices_are_in_none(void **state)
{
	static const char *const types[] = { "anon", "chr", "fifo", "memfd", "sock" };
	struct report *r;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		moved(file(types[i], "x", 0, "/x/y"), 'R', MiB, 0, US);
	one("/data/x", KiB);
	r = loaded();
	assert_int_equal(r->datasets->n, 1);
	has(r, "/data/x", DATASET_DATA, 1);
	report_free(r);
}

static void folders_are_no_files_but_are_opened(void **state)
{
	const struct dataset *d;
	struct report *r;

	many(100, "/data/set/%u.jpg", KiB);
	opened(file("dir", "ext4", 4096, "/data/set"), 500 * US);
	r = loaded();
	d = has(r, "/data/set", DATASET_DATA, 100);
	assert_int_equal(d->sum[DATASET_OPENS], 101);
	assert_int_equal(d->sum[DATASET_OPEN_NS], (500 + 100 * 2) * US);
	report_free(r);
}

static void only_files_that_are_called_count(void **state)
{
	struct report *r;

	file("reg", "ext4", 100 * MiB, "/data/set/never.bin");
	many(20, "/data/set/%u.jpg", KiB);
	r = loaded();
	has(r, "/data/set", DATASET_DATA, 20);
	report_free(r);
}

/* --- the medium ------------------------------------------------------------------------------------------ */

static void the_medium_is_known(void **state)
{
	struct report *r;
	uint64_t fid;

	fid = file("reg", "nfs4", 50 * MiB, "/nfs/a.bin");
	moved(fid, 'R', 50 * MiB, 0, US);
	fid = file("reg", "tmpfs", 50 * MiB, "/ram/b.bin");
	moved(fid, 'R', 50 * MiB, 0, US);
	fid = file("reg", "xfs", 50 * MiB, "/disk/c.bin");
	moved(fid, 'R', 50 * MiB, 60 * MiB, US);
	fid = file("blk", "devtmpfs", 0, "/dev/sdb");
	moved(fid, 'R', 50 * MiB, 0, US);
	r = loaded();
	assert_string_equal(report_dataset_medium(find(r, "/nfs/a.bin")), "network");
	assert_true(report_dataset_disk_share(find(r, "/nfs/a.bin")) < 0);
	assert_string_equal(report_dataset_medium(find(r, "/ram/b.bin")), "memory");
	assert_true(report_dataset_disk_share(find(r, "/ram/b.bin")) == 0);
	assert_string_equal(report_dataset_medium(find(r, "/disk/c.bin")), "disk");
	/* read-ahead fetches more than is read, but the share is at most 1 */
	assert_true(report_dataset_disk_share(find(r, "/disk/c.bin")) == 1);
	assert_true(report_dataset_disk_share(find(r, "/dev/sdb")) < 0);
	report_free(r);
}

static void below_a_path_only(void **state)
{
	struct report *r;

	many(100, "/data/a/%u.jpg", KiB);
	many(100, "/data/b/%u.jpg", KiB);
	r = loaded_below("/data/b");
	assert_int_equal(r->datasets->n, 1);
	/* the fetched bytes are known if the report says why the job waited, which a part does not */
	assert_true(report_dataset_disk_share(has(r, "/data/b", DATASET_DATA, 100)) < 0);
	report_free(r);
}

static char *printed(const struct dataset *d, enum dataset_by by)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	report_dataset_print(d, by, out);
	fclose(out);
	return text;
}

static void most_time_has_an_answer(void **state)
{
	const struct dataset *reads, *opens;
	autofree char *first = NULL, *second = NULL;
	struct report *r;
	uint64_t fid;

	many(100, "/data/img/%u.jpg", KiB);
	for (unsigned int i = 0; i < 80; i++) {
		autofree char *path = util_fmt("/opt/x/site-packages/m%u.py", i);

		fid = file("reg", "ext4", 100, path);
		opened(fid, 1000 * US);
		opened(fid, 1000 * US);
	}
	fid = file("reg", "ext4", 0, "/out/model.pt");
	moved(fid, 'W', 100 * MiB, 0, 90000 * US);
	r = loaded();
	reads = report_dataset_most(r, DATASET_BY_READS);
	opens = report_dataset_most(r, DATASET_BY_OPENS);
	assert_string_equal(reads->path, "/data/img"); /* its writes took longer */
	assert_string_equal(opens->path, "/opt/x/site-packages");
	assert_string_equal(report_dataset_most(r, DATASET_BY_CALLS)->path, "/opt/x/site-packages");
	first = printed(reads, DATASET_BY_READS);
	assert_string_equal(first, "/data/img: 100 files, 100 KiB read, 100 % from disk, 1.00 ms in reads");
	second = printed(opens, DATASET_BY_OPENS);
	assert_string_equal(second, "/opt/x/site-packages: 80 files, 160 opens, 160 ms in opens");
	report_free(r);
}

static void no_call_has_none(void **state)
{
	struct report *r = loaded();

	assert_int_equal(r->datasets->n, 0);
	assert_null(report_dataset_most(r, DATASET_BY_READS));
	assert_null(report_dataset_most(r, DATASET_BY_CALLS));
	report_free(r);
}

/* --- names ----------------------------------------------------------------------------------------------- */

static void hostile_names_are_names(void **state)
{
	char deep[100 * 5 + 1] = "", component[256], *p = deep;
	autofree char *wide = NULL, *narrow = NULL;
	struct report *r;

	for (unsigned int i = 0; i < 100; i++)
		p += sprintf(p, "/d%03u", i);
	memset(component, 'x', 255);
	component[255] = '\0';
	wide = util_fmt("/%s/%s/%%u.jpg", component, component);
	many(20, wide, KiB);
	narrow = util_fmt("%s/%%u.jpg", deep);
	many(20, narrow, KiB);
	many(20, "/mnt/new\\012line/%u.jpg", KiB);
	many(20, "/mnt/a\\040b/%u.jpg", KiB);
	many(20, "/mnt/a\\134040b/%u.jpg", KiB);
	many(20, "/x/../y/%u.jpg", KiB);
	many(20, "/z//y/%u.jpg", KiB);
	r = loaded();
	has(r, deep, DATASET_DATA, 20);
	*strrchr(wide, '/') = '\0';
	has(r, wide, DATASET_DATA, 20);
	has(r, "/mnt/new\\012line", DATASET_DATA, 20);
	has(r, "/mnt/a\\040b", DATASET_DATA, 20);
	has(r, "/mnt/a\\134040b", DATASET_DATA, 20);
	has(r, "/x/../y", DATASET_DATA, 20);
	has(r, "/z//y", DATASET_DATA, 20);
	assert_int_equal(r->datasets->n, 7);
	report_free(r);
}

static void files_without_a_path_are_among_the_others(void **state)
{
	struct report *r;

	moved(file("reg", "ext4", 0, "-"), 'R', KiB, 0, US);
	moved(file("reg", "ext4", 0, "relative/x"), 'R', KiB, 0, US);
	moved(++made.fid, 'R', KiB, 0, US); /* not in files.out */
	r = loaded();
	assert_int_equal(r->datasets->n, 1);
	assert_int_equal(find(r, NULL)->sum[DATASET_FILES], 3);
	assert_int_equal(find(r, NULL)->sum[DATASET_READ], 3 * KiB);
	report_free(r);
}

static void the_newest_name_counts(void **state)
{
	struct report *r;
	uint64_t fid;

	many(20, "/tmp/part/%u", KiB);
	for (unsigned int i = 1; i <= 20; i++) {
		autofree char *path = util_fmt("/data/set/%u", i);

		rename_to(i, "ok", path);
	}
	fid = one("/data/gone.bin", 3 * MiB);
	rename_to(fid, "deleted", "/data/gone.bin");
	r = loaded();
	has(r, "/data/set", DATASET_DATA, 20);
	has(r, "/data/gone.bin", DATASET_DATA, 1);
	assert_int_equal(r->datasets->n, 2);
	report_free(r);
}

/* --- the tree -------------------------------------------------------------------------------------------- */

static struct reader_field text(const char *s)
{
	return (struct reader_field){ s, strlen(s) };
}

static void folders_have_those_above_before_them(void **state)
{
	struct folders f;
	uint32_t c, b;

	folders_init(&f);
	c = folders_number_above(&f, text("/a/b/c/file"));
	assert_string_equal(folders_path(&f, c), "/a/b/c");
	b = folders_at(&f, c)->parent;
	assert_string_equal(folders_path(&f, b), "/a/b");
	assert_int_equal(folders_number(&f, text("/a/b")), b);
	assert_true(b < c);
	assert_int_equal(folders_number_above(&f, text("/file")), 1);
	assert_string_equal(folders_path(&f, 1), "/");
	assert_int_equal(folders_name(&f, c).len, 1);
	assert_int_equal(folders_name(&f, 1).len, 0);
	assert_int_equal(folders_number(&f, text("")), 0);
	assert_int_equal(folders_number(&f, text("a/b")), 0);
	assert_int_equal(folders_number_above(&f, text("file")), 0);
	assert_null(folders_path(&f, 0));
	assert_null(folders_path(&f, 1000));
	folders_free(&f);
}

static void folders_without_room_are_those_above(void **state)
{
	struct folders f;
	char path[64];

	folders_init(&f);
	for (unsigned int i = 0; i < FOLDERS_MAX + 100; i++) {
		sprintf(path, "/a/%u", i);
		folders_number(&f, text(path));
	}
	assert_int_equal(folders_count(&f), FOLDERS_MAX + 1);
	assert_string_equal(folders_path(&f, folders_number(&f, text(path))), "/a");
	assert_string_equal(folders_path(&f, folders_number(&f, text("/a/5/more"))), "/a/5");
	folders_free(&f);
}

static void paths_have_bounds(void **state)
{
	static char path[16384];
	struct folders f;
	uint32_t n;

	folders_init(&f);
	for (size_t i = 0; i + 2 < sizeof(path); i += 2)
		memcpy(path + i, "/d", 2);
	n = folders_number(&f, text(path));
	assert_int_equal(strlen(folders_path(&f, n)), 2 * FOLDERS_DEPTH_MAX);
	/* many paths, which take all the memory that they may */
	for (unsigned int i = 0; i < 10000; i++) {
		memset(path, 'x', 8000);
		path[0] = '/';
		path[8000] = '\0';
		sprintf(path + 7000, "%u", i);
		path[strlen(path)] = 'x';
		n = folders_number(&f, text(path));
	}
	assert_true(f.text <= FOLDERS_TEXT_MAX);
	assert_string_equal(folders_path(&f, n), "/");
	folders_free(&f);
}

#define MADE(test) cmocka_unit_test_setup_teardown(test, begin, end)

/* Faults that the kernel had for a call are in the call's time. */
static void page_faults_are_of_the_files_that_are_mapped(void **state)
{
	const uint64_t tokens = file("reg", "ext4", 64 * MiB, "/data/tokens.bin");
	const struct timeline_lane *lane;
	const struct dataset *d;
	uint64_t bytes = 0, n = 0;
	struct report *r;

	(void)state;
	opened(tokens, 2 * US);
	mapped(tokens, 64 * MiB);
	faulted(tokens, "user", 128 * KiB, 300 * US);
	faulted(tokens, "user", 0, 100 * US);
	faulted(tokens, "kernel", 4 * KiB, 50 * US);
	many(200, "/images/%u.jpg", 100 * KiB);
	r = loaded();
	d = has(r, "/data/tokens.bin", DATASET_DATA, 1);
	assert_int_equal(d->sum[DATASET_MAPPED], 64 * MiB);
	assert_int_equal(d->sum[DATASET_FAULTS], 3);
	assert_int_equal(d->sum[DATASET_FAULT_BYTES], 132 * KiB);
	assert_int_equal(d->sum[DATASET_FAULT_NS], 400 * US);
	assert_int_equal(total(r, DATASET_FAULT_BYTES), 132 * KiB);
	assert_ptr_equal(report_dataset_most(r, DATASET_BY_FAULTS), d);
	for (unsigned int i = 0; i < TIMELINE_BINS; i++) {
		bytes += r->timeline->sum[TIMELINE_FAULT_BYTES][i];
		for (unsigned int row = 0; row < TIMELINE_HEAT_ROWS; row++)
			n += r->timeline->heat[TIMELINE_H_FAULT][i][row];
	}
	assert_int_equal(bytes, 132 * KiB);
	assert_int_equal(n, 2);
	lane = timeline_lane(r->timeline, 7);
	assert_int_equal(lane->busy_ns[TIMELINE_B_FAULT][0] + lane->busy_ns[TIMELINE_B_FAULT][1], 400 * US);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MADE(classes_are_one_data_set),
		MADE(parts_of_a_data_set_stay_apart),
		MADE(folders_that_are_numbered_are_one_data_set),
		MADE(classes_of_which_a_few_are_large),
		MADE(two_data_sets_below_one_folder),
		MADE(a_large_file_is_a_data_set),
		MADE(a_file_is_as_large_as_it_is),
		MADE(shards_are_their_folder),
		MADE(small_folders_are_one),
		MADE(the_root_is_no_data_set),
		MADE(there_are_twenty_at_most),
		MADE(software_is_apart),
		MADE(files_that_are_only_written_are_output),
		MADE(mapped_bytes_count),
		MADE(software_in_small_folders_is_among_the_others),
		MADE(shared_memory_that_is_only_mapped),
		MADE(pipes_and_devices_are_in_none),
		MADE(folders_are_no_files_but_are_opened),
		MADE(only_files_that_are_called_count),
		MADE(the_medium_is_known),
		MADE(below_a_path_only),
		MADE(most_time_has_an_answer),
		MADE(no_call_has_none),
		MADE(hostile_names_are_names),
		MADE(files_without_a_path_are_among_the_others),
		MADE(the_newest_name_counts),
		cmocka_unit_test(folders_have_those_above_before_them),
		cmocka_unit_test(folders_without_room_are_those_above),
		cmocka_unit_test(paths_have_bounds),
		MADE(page_faults_are_of_the_files_that_are_mapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
