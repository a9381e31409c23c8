/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/golden/trace-other was made for this test: a file that two processes share, shared memory, output, logs. */
#include "report/show/show.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/util.h"
#include "report/files/spreads.h"
#include "report/files/streams.h"
#include "report/files/uses.h"
#include "report/report.h"
#include "tree.h"

#define GOLDEN "tests/golden/"
#define MiB (1024 * 1024)

static struct report *load_path(const char *dir, const char *path)
{
	const struct report_options o = { .timed = true, .path = path };
	struct report *r = NULL;

	assert_int_equal(report_load(&r, dir, &o), 0);
	return r;
}

static struct report *load(void)
{
	return load_path(GOLDEN "trace-other", NULL);
}

static const struct report_file *file(const struct report *r, uint64_t fid)
{
	const struct report_file *f = table_find(&r->files, fid);

	assert_non_null(f);
	return f;
}

static const struct report_proc *proc(const struct report *r, uint64_t pid)
{
	const struct report_proc *p = table_find(&r->procs, pid);

	assert_non_null(p);
	return p;
}

static void opens_and_users_are_counted(void **state)
{
	struct report *r = load();
	const struct report_uses *u = r->uses;

	assert_int_equal(file(r, 1)->opens, 2); /* without snapshots and failed opens */
	assert_int_equal(file(r, 1)->users, 2); /* 203 has only closed it */
	assert_int_equal(file(r, 6)->opens, 0);
	assert_int_equal(file(r, 7)->users, 1);
	assert_int_equal(u->n_opened, 2);
	assert_string_equal(u->opened[0].path, "/data/img/0001.jpg");
	assert_int_equal(u->n_shared, 2); /* that file, and the one that two have mapped */
	assert_string_equal(u->shared[0].path, "/data/img/0001.jpg");
	assert_string_equal(u->shared[1].path, "/dev/shm/torch_200_1");
	assert_int_equal(u->n_written, 2); /* the log, the memfd; neither pipe nor terminal */
	assert_string_equal(u->written[0].path, "/out/train.log");
	assert_int_equal(u->written[0].sum.write_bytes, 200);
	report_free(r);
}

static void a_process_and_its_file_are_a_pair(void **state)
{
	struct report *r = load();
	const struct report_uses *u = r->uses;
	const struct report_use *use = table_find(&u->uses, report_pair_key(201, 1));

	assert_non_null(use);
	assert_int_equal(use->read_bytes, 131072 + 65536);
	assert_int_equal(use->calls, 4); /* with its open */
	assert_int_equal(use->time_ns, 8000 + 100000 + 10000 + 1000);
	use = table_find(&u->uses, report_pair_key(203, 1));
	assert_int_equal(use->calls, 1);
	assert_false(use->used);
	/* none for pipes, sockets, eventfds, terminals */
	assert_null(table_find(&u->uses, report_pair_key(201, 4)));
	assert_int_equal(u->by_bytes[0].pid, 201);
	assert_int_equal(u->by_bytes[0].sum.read_bytes, 196608);
	assert_int_equal(u->by_bytes[1].pid, 202);
	assert_string_equal(u->by_bytes[1].path, "/data/img/0001.jpg");
	assert_int_equal(u->by_time[0].sum.time_ns, 119000);
	assert_int_equal(u->left_out, 0);
	/* pairs are distinguished, and numbers that do not fit have none */
	assert_int_equal(report_pair_pid(report_pair_key(201, 7)), 201);
	assert_int_equal(report_pair_fid(report_pair_key(201, 7)), 7);
	assert_int_equal(report_pair_key(1ULL << 24, 1), 0);
	assert_int_equal(report_pair_key(1, 1ULL << 40), 0);
	report_free(r);
}

static void shared_memory_has_its_size_and_mappings(void **state)
{
	struct report *r = load();
	const struct report_shm *shm = r->uses->top_shm;

	assert_int_equal(r->uses->n_top_shm, 2);
	assert_string_equal(shm[0].path, "/dev/shm/torch_200_1");
	assert_int_equal(shm[0].size, MiB); /* by its truncation: it was empty when first seen */
	assert_int_equal(shm[0].maps, 2);
	assert_int_equal(shm[0].map_bytes, 2 * MiB);
	assert_int_equal(shm[0].calls, 3);
	assert_string_equal(shm[1].path, "/dev/shm/sem.mp-1");
	assert_int_equal(shm[1].size, 32);
	report_free(r);
}

static const struct report_class *class(const struct report *r, const char *name)
{
	for (unsigned int i = 0; i < r->streams->n_classes; i++)
		if (strcmp(r->streams->classes[i].name, name) == 0)
			return &r->streams->classes[i];
	fail_msg("no class %s", name);
	return NULL;
}

static void what_is_no_file_has_a_class(void **state)
{
	struct report *r = load();

	assert_int_equal(class(r, "eventfd")->files, 1);
	assert_int_equal(class(r, "eventfd")->reads, 1);
	assert_int_equal(class(r, "eventfd")->writes, 1);
	assert_int_equal(class(r, "eventfd")->time_ns, 1600);
	assert_int_equal(class(r, "eventpoll")->calls, 0);
	assert_int_equal(class(r, "pipe")->write_bytes, 30);
	assert_int_equal(class(r, "socket")->write_bytes, 100);
	assert_int_equal(class(r, "terminal")->writes, 3);
	assert_int_equal(class(r, "terminal")->calls, 4); /* with the snapshot of its open */
	assert_int_equal(class(r, "/dev/null")->calls, 1);
	assert_int_equal(class(r, "memfd")->writes, 1);
	assert_int_equal(r->streams->n_classes, 7);
	report_free(r);
}

static void output_and_logs_have_a_cadence(void **state)
{
	struct report *r = load();
	const struct report_streams *u = r->streams;
	char how[48];

	assert_int_equal(u->n_top, 3);
	assert_string_equal(u->top[0].path, "/out/train.log");
	assert_int_equal(u->top[0].pid, 200);
	assert_int_equal(u->top[0].calls, 4);
	assert_int_equal(u->top[0].bytes, 200);
	assert_string_equal(report_log_how(u->top[0].how, how), "append,log");
	assert_true(report_log_rate(&u->top[0]) > 9.99 && report_log_rate(&u->top[0]) < 10.01);
	assert_in_range(spread_quantile(u->top[0].gaps, 500), 99999999, 100000001); /* all are equal: exact */
	assert_string_equal(u->top[1].path, "/dev/pts/0");
	assert_string_equal(report_log_how(u->top[1].how, how), "stdout");
	assert_string_equal(u->top[2].path, "pipe:[7]");
	assert_string_equal(report_log_how(u->top[2].how, how), "stderr");
	assert_true(report_log_rate(&u->top[2]) < 0); /* one write has no rate */
	assert_null(u->top[2].gaps);
	report_free(r);
}

static void processes_have_medians_of_their_own(void **state)
{
	struct report *r = load();
	const struct report_proc *p = proc(r, 201);

	assert_int_equal(p->spread[REPORT_READ_NS]->n, 3);
	assert_int_equal(p->spread[REPORT_READ_NS]->max, 100000);
	assert_in_range(spread_quantile(p->spread[REPORT_READ_NS], 500), 9375, 10625);
	assert_int_equal(spread_min(p->spread[REPORT_READ_BYTES]), 0);
	assert_int_equal(p->spread[REPORT_OPEN_NS]->n, 1);
	assert_null(p->spread[REPORT_WRITE_NS]); /* to an eventfd and a pipe, not to files */
	assert_int_equal(proc(r, 200)->spread[REPORT_WRITE_NS]->n, 5);
	assert_null(proc(r, 200)->spread[REPORT_OPEN_NS]); /* a snapshot is no call */
	report_free(r);
}

/* Two reads of each file; the second ones come after all first ones. */
static void the_first_processes_have_medians(void **state)
{
	const uint32_t n = REPORT_SPREADS_MAX + 3;
	autofree char *text = NULL;
	struct report *r;
	bool noted = false;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fprintf(out, "# dltraced vfs_rw 1\nTIMESTAMP\tPID\tTID\tRW\tLAT_NS\tRETURNED\n");
	for (uint32_t i = 0; i < 2 * n; i++)
		fprintf(out, "%u\t%u\t%u\tR\t10\t4096\n", 1000 + i, 1 + i % n, 1 + i % n);
	fclose(out);
	tree_put("vfs_rw.out", text);
	r = load_path(tree, NULL);
	assert_int_equal(r->n_procs, n);
	assert_int_equal(r->spreads.n, REPORT_SPREADS_MAX);
	assert_int_equal(proc(r, REPORT_SPREADS_MAX)->spread[REPORT_READ_NS]->n, 2);
	for (uint32_t pid = REPORT_SPREADS_MAX + 1; pid <= n; pid++)
		assert_null(proc(r, pid)->spread[REPORT_READ_NS]);
	for (unsigned int i = 0; i < r->n_notes; i++)
		noted |= strcmp(r->notes[i], "too many processes: 6 calls are in the medians of no process") == 0;
	assert_true(noted);
	report_free(r);
}

/* trace-small: the two rows of a sendfile are one call, each with its own size. */
static void histograms_add_up_with_the_rest(void **state)
{
	struct report *r = load_path(GOLDEN "trace-small", NULL);
	struct report_column columns[REPORT_COLUMNS_MAX];
	unsigned int n = report_columns(r, columns);

	for (unsigned int i = 0; i < n; i++) {
		uint64_t octaves[SPREAD_OCTAVES], sum = 0;

		if (!columns[i].lat)
			continue;
		spread_octaves_of_hist(columns[i].lat, octaves);
		for (unsigned int e = 0; e < SPREAD_OCTAVES; e++)
			sum += octaves[e];
		assert_int_equal(sum, columns[i].lat->n);
	}
	assert_int_equal(r->bio[0].rows + r->bio[1].rows, 5); /* without the flush and the upper disk's bio */
	assert_int_equal(r->bio[0].bytes, 131072 + MiB);
	assert_int_equal(r->rw[0].size.n, 9); /* of those that ended, succeeded, and have a result */
	assert_int_equal(r->rw[1].size.sum, r->rw[1].bytes);
	assert_int_equal(r->op[REPORT_MMAP].size.n, 1);
	report_free(r);
}

static void path_restricts_calls_on_files(void **state)
{
	struct report *r = load_path(GOLDEN "trace-other", "//data/img/");

	assert_string_equal(r->only.path, "/data/img");
	assert_int_equal(r->only.rows, 6 + 2 + 2 + 1 + 17);
	assert_int_equal(r->op[REPORT_VFS_RW].rows, 4); /* not those of /data/imgs */
	assert_int_equal(r->rw[0].bytes, 2 * 196608);
	assert_int_equal(r->rw[1].rows, 0);
	assert_int_equal(r->op[REPORT_OPEN].rows, 3); /* a failed one counts by its path as passed */
	assert_int_equal(r->op[REPORT_CLOSE].rows, 1);
	assert_int_equal(r->op[REPORT_MMAP].rows, 0);
	assert_int_equal(r->only.left_out, r->only.rows - 4 - 3 - 1);
	assert_int_equal(r->n_procs, 3);
	assert_int_equal(r->uses->n_top_shm, 0);
	assert_int_equal(r->streams->n_classes, 0);
	assert_int_equal(r->streams->n_top, 0);
	assert_int_equal(r->n_notes, 2); /* the reason for waits is not computed, and probes were off */
	report_free(r);
}

static void path_is_tidied(void **state)
{
	static const char *const paths[][2] = {
		{ "/data/img/.", "/data/img" },
		{ "/./data//x/../img/", "/data/img" },
		{ "/../..", "" },
		{ "/a/b/../..", "" },
		{ "/..a/...", "/..a/..." },
		{ "/.a", "/.a" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct report *r = load_path(GOLDEN "trace-other", paths[i][0]);

		assert_string_equal(r->only.path, paths[i][1]);
		report_free(r);
	}
}

static void path_of_one_file_and_of_all(void **state)
{
	struct report *r = load_path(GOLDEN "trace-other", "/out/train.log");

	assert_int_equal(r->rw[1].bytes, 200);
	assert_int_equal(r->streams->n_top, 1);
	report_free(r);
	r = load_path(GOLDEN "trace-other", "/");
	assert_string_equal(r->only.path, "");
	assert_int_equal(r->rw[1].rows, 4 + 3 + 1); /* without pipe, socket, eventfd */
	report_free(r);
	/* a file is listed under its newest name */
	r = load_path(GOLDEN "trace-small", "/out/ckpt.pt");
	assert_int_equal(r->rw[1].bytes, 262144 + 4096);
	report_free(r);
	r = load_path(GOLDEN "trace-small", "/no/such");
	assert_int_equal(r->only.left_out, r->only.rows);
	assert_non_null(strstr(r->notes[r->n_notes - 1], "--path /no/such: no row"));
	report_free(r);
}

static void path_is_compared_as_it_is_escaped(void **state)
{
	const struct report_options relative = { .path = "data" };
	struct report *r = load_path(GOLDEN "trace-hostile", "/d/\033[2Jnew\nline\ttab\\\"#");

	assert_true(r->only.left_out < r->only.rows);
	report_free(r);
	/* in the printed form */
	r = load_path(GOLDEN "trace-hostile", "/d/\\033[2Jnew\\012line\\011tab\\134\\042\\043");
	assert_true(r->only.left_out < r->only.rows);
	assert_string_equal(r->only.path, "/d/\\033[2Jnew\\012line\\011tab\\134\\042\\043");
	report_free(r);
	/* a text that is no printed form is taken as the name itself */
	r = load_path(GOLDEN "trace-other", "/w\\040 \\101");
	assert_string_equal(r->only.path, "/w\\134040\\040\\134101");
	report_free(r);
	assert_int_equal(report_load(&r, GOLDEN "trace-other", &relative), -EINVAL);
}

static void hostile_names_are_escaped(void **state)
{
	struct report *r = load_path(GOLDEN "trace-hostile", NULL);
	autofree char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	report_text(r, out);
	fclose(out);
	assert_non_null(strstr(text, "line\\011tab"));
	for (const unsigned char *p = (unsigned char *)text; *p; p++)
		assert_true(*p == '\n' || (*p >= ' ' && *p != 0x7f));
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_and_its_file_are_a_pair),
		cmocka_unit_test(histograms_add_up_with_the_rest),
		cmocka_unit_test(hostile_names_are_escaped),
		cmocka_unit_test(opens_and_users_are_counted),
		cmocka_unit_test(output_and_logs_have_a_cadence),
		cmocka_unit_test(path_is_compared_as_it_is_escaped),
		cmocka_unit_test(path_is_tidied),
		cmocka_unit_test(path_of_one_file_and_of_all),
		cmocka_unit_test(path_restricts_calls_on_files),
		cmocka_unit_test(processes_have_medians_of_their_own),
		cmocka_unit_test(shared_memory_has_its_size_and_mappings),
		IN_TREE(the_first_processes_have_medians),
		cmocka_unit_test(what_is_no_file_has_a_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
