/* SPDX-License-Identifier: BSD-2-Clause */
/* Layers of a job by its regions and calls, compared with a clock that knows what goes on at each instant. */
#include "report/phases/layers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

static struct region_layers layers;

static int make(void **state)
{
	memset(&layers, 0, sizeof(layers));
	region_layers_init(&layers);
	return 0;
}

static int drop(void **state)
{
	region_layers_free(&layers);
	return 0;
}

static void region(uint64_t tid, const char *cat, const char *name, enum step_part part, uint64_t begin, uint64_t end)
{
	region_layers_take(&layers,
			   &(struct step_region){ .cat = cat,
						  .cat_len = (uint32_t)strlen(cat),
						  .name = name,
						  .name_len = (uint32_t)strlen(name),
						  .pid = tid / 10,
						  .tid = tid,
						  .begin_ns = begin,
						  .end_ns = end,
						  .epoch = -1,
						  .number = -1,
						  .bytes = -1 },
			   part);
}

static void call(unsigned int source, uint64_t tid, uint64_t begin, uint64_t end, int64_t bytes)
{
	region_layers_call(&layers, &(struct layer_call){ .source = source,
							  .pid = tid / 10,
							  .tid = tid,
							  .begin_ns = begin,
							  .end_ns = end,
							  .bytes = bytes });
}

/* Which layer a region alone is in. */
static enum region_layer_id layer_of(const char *cat, const char *name, enum step_part part)
{
	enum region_layer_id found = LAYER_NONE;

	make(NULL);
	region(70, cat, name, part, 10, 20);
	for (unsigned int i = 0; i < LAYERS; i++)
		if (layers.v[i].n)
			found = (enum region_layer_id)i;
	drop(NULL);
	return found;
}

static void names_have_their_layer(void **state)
{
	static const struct {
		const char *cat, *name;
		enum step_part part;
		enum region_layer_id layer;
	} names[] = {
		{ "pipeline", "train", STEP_OTHER, LAYER_TRAINING },
		{ "Pipeline", "epoch", STEP_OTHER, LAYER_EPOCH },
		{ "pipeline", "test", STEP_OTHER, LAYER_NONE },
		{ "compute", "forward", STEP_COMPUTE, LAYER_COMPUTE },
		{ "my", "own.step", STEP_COMPUTE, LAYER_COMPUTE },
		{ "comm", "all_reduce", STEP_COMM, LAYER_COMM },
		{ "device", "transfer", STEP_COMPUTE, LAYER_DEVICE },
		{ "dataloader", "fetch", STEP_FETCH, LAYER_FETCH },
		{ "dataloader", "start", STEP_FETCH, LAYER_LOADER },
		{ "data", "batch", STEP_FETCH, LAYER_LOADER },
		{ "data", "item", STEP_FETCH, LAYER_READER },
		{ "checkpoint", "save", STEP_CHECKPOINT, LAYER_CHECKPOINT },
		/* DLIO's */
		{ "dlio_benchmark", "DLIOBenchmark.run", STEP_OTHER, LAYER_TRAINING },
		{ "dlio_benchmark", "DLIOBenchmark._train", STEP_OTHER, LAYER_EPOCH },
		{ "dlio_benchmark", "DLIOBenchmark._eval", STEP_OTHER, LAYER_NONE },
		{ "ai_framework", "TorchFramework.compute", STEP_COMPUTE, LAYER_COMPUTE },
		{ "data_loader", "loop.iter", STEP_FETCH, LAYER_FETCH },
		{ "data_loader", "loop.yield", STEP_OTHER, LAYER_NONE },
		{ "data_loader", "TorchDataset.__getitem__", STEP_OTHER, LAYER_LOADER },
		{ "reader", "NPZReader.open", STEP_OTHER, LAYER_READER },
		{ "checkpoint", "PyTorchCheckpointing.save_state", STEP_CHECKPOINT, LAYER_CHECKPOINT },
		{ "config", "ConfigArguments.validate", STEP_OTHER, LAYER_NONE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (layer_of(names[i].cat, names[i].name, names[i].part) != names[i].layer)
			fail_msg("%s.%s", names[i].cat, names[i].name);
	make(NULL);
}

static void a_layer_whose_parent_has_no_region_belongs_to_the_next_above(void **state)
{
	region(70, "reader", "read", STEP_OTHER, 10, 30);
	region(71, "pipeline", "epoch", STEP_OTHER, 20, 60);
	region_layers_regions_end(&layers);
	region_layers_end(&layers);
	assert_string_equal(layers.v[LAYER_READER].parent, "epoch");
	assert_int_equal(layers.v[LAYER_READER].in_parent_ns, 10);
	assert_null(layers.v[LAYER_EPOCH].parent);
	assert_null(layers.v[LAYER_CALLS].parent);
}

static void calls_belong_to_the_regions_of_their_own_thread(void **state)
{
	region(70, "reader", "read", STEP_OTHER, 100, 200);
	region(80, "checkpoint", "save", STEP_CHECKPOINT, 150, 250);
	region_layers_regions_end(&layers);
	call(0, 70, 110, 120, 4096);
	call(0, 70, 195, 200, 0); /* to the region's last instant */
	call(0, 70, 205, 210, 1); /* behind it */
	call(0, 71, 110, 130, 100); /* another thread's */
	call(1, 70, 115, 125, -1); /* of another file; the calls' times begin anew */
	call(1, 80, 160, 170, 10);
	region_layers_end(&layers);
	assert_int_equal(layers.v[LAYER_CALLS].n, 6);
	assert_int_equal(layers.v[LAYER_CALLS].processes, 2);
	assert_int_equal(layers.v[LAYER_CALLS].total_ns, 10 + 5 + 5 + 20 + 10 + 10);
	assert_int_equal(layers.v[LAYER_CALLS].covered_ns, 20 + 5 + 5 + 10);
	assert_int_equal(layers.v[LAYER_READER_CALLS].n, 3);
	assert_int_equal(layers.v[LAYER_READER_CALLS].bytes, 4096);
	assert_int_equal(layers.v[LAYER_READER_CALLS].with_bytes, 2);
	assert_int_equal(layers.v[LAYER_READER_CALLS].covered_ns, 15 + 5);
	assert_int_equal(layers.v[LAYER_READER_CALLS].in_parent_ns, 20);
	assert_int_equal(layers.v[LAYER_CHECKPOINT_CALLS].n, 1);
	assert_int_equal(layers.left_out, 0);
}

#define CLOCK 4096

/* Regions of random layers on many threads, against a clock with a mark for each instant and layer. */
static void overlaps_are_those_of_a_clock(void **state)
{
	static const struct {
		const char *cat, *name;
		enum step_part part;
		enum region_layer_id id;
	} kinds[] = {
		{ "pipeline", "epoch", STEP_OTHER, LAYER_EPOCH },
		{ "compute", "step", STEP_COMPUTE, LAYER_COMPUTE },
		{ "dataloader", "fetch", STEP_FETCH, LAYER_FETCH },
		{ "reader", "read", STEP_OTHER, LAYER_READER },
	};
	static bool at[LAYERS][CLOCK];
	uint64_t end = 0, covered[LAYERS] = { 0 }, in_fetch = 0, computing = 0;

	memset(at, 0, sizeof(at));
	srand(45);
	while (end < CLOCK - 10) {
		const size_t i = (size_t)rand() % ARRAY_SIZE(kinds);
		const uint64_t begin = end - MIN(end, (uint64_t)rand() % 40);

		end += (uint64_t)rand() % 9;
		region(70 + (uint64_t)rand() % 50, kinds[i].cat, kinds[i].name, kinds[i].part, begin, end);
		for (uint64_t t = begin; t < end; t++)
			at[kinds[i].id][t] = true;
	}
	region_layers_regions_end(&layers);
	region_layers_end(&layers);
	for (uint64_t t = 0; t < CLOCK; t++) {
		for (unsigned int i = 0; i < LAYERS; i++)
			covered[i] += at[i][t];
		in_fetch += at[LAYER_READER][t] && at[LAYER_FETCH][t];
		computing += at[LAYER_READER][t] && at[LAYER_COMPUTE][t];
	}
	for (unsigned int i = 0; i < LAYERS; i++)
		assert_int_equal(layers.v[i].covered_ns, covered[i]);
	assert_string_equal(layers.v[LAYER_READER].parent, "fetch");
	assert_int_equal(layers.v[LAYER_READER].in_parent_ns, in_fetch);
	assert_int_equal(layers.v[LAYER_READER].with_compute_ns, computing);
	assert_true(in_fetch && computing && computing < covered[LAYER_READER]);
}

static void threads_without_room_are_counted(void **state)
{
	for (uint64_t tid = 1; tid <= 5000; tid++)
		region(tid, "reader", "read", STEP_OTHER, tid, tid + 1);
	assert_true(layers.left_out > 0 && layers.left_out < 5000);
	assert_int_equal(layers.v[LAYER_READER].n, 5000);
}

#define test(name) cmocka_unit_test_setup_teardown(name, make, drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(names_have_their_layer),
		test(a_layer_whose_parent_has_no_region_belongs_to_the_next_above),
		test(calls_belong_to_the_regions_of_their_own_thread),
		test(overlaps_are_those_of_a_clock),
		test(threads_without_room_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
