/* SPDX-License-Identifier: BSD-2-Clause */
/* Which changes are understood, what they do, and when an epoch does not show it. */
#include "report/whatif/change.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "report/whatif/loader.h"

static struct whatif_batch batch;
static struct whatif_step step;
static struct whatif_base base;
static struct whatif_model model;

static int set_up(void **state)
{
	batch = (struct whatif_batch){ .reads = 4,
				       .requests = 2,
				       .disk_ns = 8e6,
				       .disk_bytes = 4e6,
				       .remote_ns = 2e6,
				       .net_ns = 6e6,
				       .cpu_ns = 10e6 };
	step = (struct whatif_step){ .cpu_ns = 1e6, .save_cpu_ns = 1e6, .save_wait_ns = 2e6, .save_bytes = 3 };
	model = (struct whatif_model){
		.loader = { .workers = 2, .prefetch = 2, .in_order = true },
		.batches = &batch,
		.steps = &step,
		.n = 1,
		.cpus = 4,
		.storage = { .kind = WHATIF_LIMIT, .rate = 1, .depth = 100, .fast = 10, .most = 2 },
	};
	base = (struct whatif_base){ .model = model,
				     .cpus = 8,
				     .quota = true,
				     .facts = { .work_ns = 26e6, .storage_ns = 10e6, .net_ns = 6e6, .save_ns = 3e6 } };
	return 0;
}

static struct whatif_change parsed(const char *text)
{
	struct whatif_change change;
	char why[512];
	const char *wrong = whatif_change_parse(&change, text, why, sizeof(why));

	if (wrong)
		fail_msg("%s: %s", text, wrong);
	assert_string_equal(change.text, text);
	return change;
}

static void apply(const char *text)
{
	const struct whatif_change change = parsed(text);

	assert_null(whatif_change_refused(&change, &base));
	whatif_change_apply(&change, &model, &base);
}

static void expect(double value, double wanted)
{
	if (fabs(value - wanted) > 1e-9 * fabs(wanted))
		fail_msg("%.3f, not %.3f", value, wanted);
}

static void storage_is_faster_in_all_its_numbers(void **state)
{
	apply("storage=2x");
	expect(model.storage.rate, 2);
	expect(model.storage.depth, 200);
	expect(batch.disk_ns, 4e6);
	expect(batch.remote_ns, 1e6);
	expect(batch.net_ns, 6e6);
	expect(batch.disk_bytes, 4e6);
}

static void a_latency_is_of_each_request(void **state)
{
	apply("latency=1.5ms");
	expect(batch.disk_ns + batch.remote_ns, 6e6);
	expect(batch.net_ns, 3e6);
	assert_int_equal(model.storage.kind, WHATIF_LATENCY);
	apply("latency=250us");
	expect(batch.disk_ns, 1e6);
	apply("latency=2s");
	expect(batch.net_ns, 4e9);
}

static void cached_reads_are_copies(void **state)
{
	apply("cached");
	expect(batch.disk_ns + batch.remote_ns + batch.disk_bytes, 0);
	expect(batch.cpu_ns, 11e6);
	batch.disk_bytes = 5e6;
	model.storage.served = true; /* no bytes, but a server's time */
	apply("cached");
	expect(batch.cpu_ns, 11e6);
	expect(batch.disk_bytes, 0);
}

static void loaders_change(void **state)
{
	apply("workers=8,prefetch=3,decode=4x");
	assert_int_equal(model.loader.workers, 8);
	assert_int_equal(model.loader.prefetch, 3);
	expect(batch.cpu_ns, 2.5e6);
	apply("workers=0");
	assert_int_equal(model.loader.workers, 0);
}

static void checkpoints_and_cpus_change(void **state)
{
	apply("checkpoint=async");
	assert_true(model.async_saves);
	expect(step.save_wait_ns, 2e6);
	apply("checkpoint=none");
	expect(step.save_wait_ns + step.save_cpu_ns, 0);
	expect(step.cpu_ns, 1e6);
	apply("cpus=2");
	expect(model.cpus, 2);
	apply("cpus=6"); /* under its quota */
	expect(model.cpus, 2);
	apply("quota=none");
	expect(model.cpus, 8);
}

static void ready_leaves_nothing_to_wait_for(void **state)
{
	apply("ready");
	expect(batch.cpu_ns + batch.disk_ns + batch.net_ns + batch.remote_ns + batch.sleep_ns, 0);
	expect(step.save_wait_ns, 2e6);
}

static void other_texts_are_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"fast",
		"storage",
		"storage=",
		"storage=0",
		"storage=-2x",
		"storage=2y",
		"storage=nanx",
		"storage=1e9x",
		"workers=-1",
		"workers=2x",
		"workers=257",
		"workers=",
		"prefetch=0",
		"cpus=0",
		"latency=2",
		"latency=ms",
		"latency=-2ms",
		"cached=1",
		"ready=no",
		"checkpoint",
		"checkpoint=no",
		"workers=2,",
		",",
		"quota=2",
		"decode",
		"workers=2,workers=3",
		"workers=99999999999999999999",
	};
	char why[512];

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct whatif_change change;

		if (!whatif_change_parse(&change, texts[i], why, sizeof(why)))
			fail_msg("'%s' is no change", texts[i]);
	}
}

static void expect_refused(const char *text, const char *because)
{
	const struct whatif_change change = parsed(text);
	const char *why = whatif_change_refused(&change, &base);

	if (!why || !strstr(why, because))
		fail_msg("%s: %s", text, why ? why : "not refused");
}

static void what_an_epoch_does_not_show_is_refused(void **state)
{
	expect_refused("workers=9", "four times");
	base.cpus_full = true;
	expect_refused("workers=1", "CPUs were full");
	assert_null(whatif_change_refused(&(struct whatif_change){ 0 }, &base));
	base.model.loader.iterable = true;
	expect_refused("workers=3", "iterable");
	base.model.loader.workers = 0;
	expect_refused("prefetch=3", "without workers");
	base.quota = false;
	expect_refused("quota=none", "no CPU quota");
	base.facts.save_ns = 0;
	expect_refused("checkpoint=async", "no checkpoint");
	base.facts.storage_ns = base.facts.net_ns = 0;
	expect_refused("storage=0.5x", "hardly anything waited");
	expect_refused("latency=1ms", "hardly anything waited");
	apply("storage=2x"); /* which is no faster, and known to be none */
	base.helpers = true;
	expect_refused("storage=2x", "threads of the workers");
	expect_refused("cached", "threads of the workers");
}

/* --- ARGS of dataloader.start ----------------------------------------------------------------------------------------
 */

static struct whatif_loader loader_of(const char *text)
{
	return whatif_loader_parse((struct reader_field){ text, strlen(text) });
}

static void loaders_are_parsed(void **state)
{
	struct whatif_loader loader = loader_of("workers=8\\012prefetch=4\\012persistent=1\\012in_order=0\\012"
						"method=fork\\012pin=1\\012iterable=1\\012batch=32");

	assert_true(loader.known && loader.persistent && loader.pin && loader.iterable && !loader.in_order);
	assert_int_equal(loader.workers, 8);
	assert_int_equal(loader.prefetch, 4);
	loader = loader_of("workers=0\\012pin=0\\012iterable=0");
	assert_true(loader.known && loader.in_order && !loader.workers);
	assert_int_equal(loader.prefetch, 2);
}

/* A program may write anything there. */
static void odd_loaders_are_not_known(void **state)
{
	static const char *const texts[] = { "-",          "",           "workers", "workers=",   "workers=x",
					     "xworkers=2", "workers=-1", "\\012",   "prefetch=3", "workers=2\\01" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (loader_of(texts[i]).known)
			fail_msg("'%s' has no number of workers", texts[i]);
	assert_int_equal(loader_of("workers=18446744073709551615").workers, UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(storage_is_faster_in_all_its_numbers, set_up),
		cmocka_unit_test_setup(a_latency_is_of_each_request, set_up),
		cmocka_unit_test_setup(cached_reads_are_copies, set_up),
		cmocka_unit_test_setup(loaders_change, set_up),
		cmocka_unit_test_setup(checkpoints_and_cpus_change, set_up),
		cmocka_unit_test_setup(ready_leaves_nothing_to_wait_for, set_up),
		cmocka_unit_test_setup(other_texts_are_refused, set_up),
		cmocka_unit_test_setup(what_an_epoch_does_not_show_is_refused, set_up),
		cmocka_unit_test_setup(loaders_are_parsed, set_up),
		cmocka_unit_test_setup(odd_loaders_are_not_known, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
