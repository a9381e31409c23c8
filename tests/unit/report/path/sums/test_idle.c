/* SPDX-License-Identifier: BSD-2-Clause */
/* A path cut by the samples of a GPU: times in ns from 0. */
#include "report/path/sums/idle.h"

#include "base/util.h"
#include "report/gpu/gpus.h"
#include "tree.h"

#define LEAVES 4
#define UNBOUNDED 1000

struct cut {
	struct gpu gpu;
	struct path_sums sums;
	struct path_idle idle;
};

/* A GPU with N samples of 100, which is idle for 10 of each, unused in the last UNUSED of them. */
static void begin(struct cut *cut, unsigned int n, unsigned int unused, uint32_t max, uint32_t parts_max)
{
	*cut = (struct cut){ .gpu.pid = 1 };
	for (unsigned int i = 0; i < n; i++) {
		struct spans *to = i + unused < n ? &cut->gpu.idle : &cut->gpu.unused;

		assert_int_equal(spans_append(to, i * 100ULL, (i + 1) * 100ULL, to == &cut->gpu.idle ? 0.1 : 1), 0);
	}
	path_sums_init(&cut->sums);
	assert_int_equal(path_idle_init(&cut->idle, &cut->gpu, 50, n * 100ULL, max, parts_max), 0);
}

static void add(struct cut *cut, uint32_t detail, uint64_t from, uint64_t to)
{
	const struct path_leaf leaf = { .kind = PATH_CPU, .detail = detail };

	path_idle_add(&cut->idle, path_sums_add(&cut->sums, &leaf, from, to, PATH_WHENS), from, to);
}

static uint64_t end(struct cut *cut)
{
	uint64_t ns = 0;

	assert_int_equal(path_sums_end(&cut->sums), 0);
	assert_int_equal(path_idle_end(&cut->idle, &cut->sums), 0);
	for (uint32_t i = 0; i < cut->idle.n_parts; i++)
		ns += cut->idle.part[i].ns;
	return ns;
}

static void done(struct cut *cut)
{
	path_idle_free(&cut->idle);
	path_sums_free(&cut->sums);
	spans_free(&cut->gpu.idle);
	spans_free(&cut->gpu.unused);
}

static void leaves_are_cut_where_samples_end(void **state)
{
	struct cut cut;

	begin(&cut, 3, 1, UNBOUNDED, UNBOUNDED);
	add(&cut, 1, 50, 80);
	add(&cut, 2, 80, 250);
	add(&cut, 1, 250, 300);
	assert_int_equal(end(&cut), 250);
	assert_int_equal(cut.idle.n, 3);
	assert_int_equal(cut.idle.sample[0].idle_ns, 5); /* the root begins in its middle */
	assert_int_equal(cut.idle.sample[2].idle_ns, 100);
	assert_int_equal(cut.idle.n_parts, 5);
	assert_int_equal(cut.idle.part[2].sample, 1);
	assert_int_equal(cut.idle.part[2].ns, 100);
	assert_int_equal(cut.sums.v[cut.idle.part[2].sum].leaf.detail, 2); /* the largest sum comes first now */
	done(&cut);
}

static void samples_that_are_too_many_are_joined(void **state)
{
	struct cut cut;
	uint64_t idle_ns = 0;

	begin(&cut, 100, 0, 10, UNBOUNDED);
	for (uint64_t at = 50; at < 10000; at += 50)
		add(&cut, at / 50 % LEAVES + 1, at, at + 50);
	assert_int_equal(end(&cut), 9950);
	assert_in_range(cut.idle.n, 2, 10);
	for (uint32_t i = 0; i < cut.idle.n; i++)
		idle_ns += cut.idle.sample[i].idle_ns;
	assert_int_equal(idle_ns, 995);
	done(&cut);
}

static void leaves_that_are_too_many_have_no_sample(void **state)
{
	struct cut cut;

	begin(&cut, 100, 0, UNBOUNDED, 6);
	for (uint64_t at = 50; at < 10000; at += 50)
		add(&cut, at / 50 % 2 + 1, at, at + 50);
	assert_int_equal(cut.idle.all.n, 6);
	assert_int_equal(end(&cut), 300); /* of 100 in each sample but the first, which has 50 */
	done(&cut);
}

static void a_job_without_a_gpu_has_no_samples(void **state)
{
	struct cut cut = { .gpu.pid = 0 };

	path_sums_init(&cut.sums);
	assert_int_equal(path_idle_init(&cut.idle, NULL, 0, 100, UNBOUNDED, UNBOUNDED), 0);
	add(&cut, 1, 0, 100);
	assert_int_equal(end(&cut), 0);
	assert_int_equal(cut.idle.n, 0);
	done(&cut);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_are_cut_where_samples_end),
		cmocka_unit_test(samples_that_are_too_many_are_joined),
		cmocka_unit_test(leaves_that_are_too_many_have_no_sample),
		cmocka_unit_test(a_job_without_a_gpu_has_no_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
