/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptions of events, as the kernel has them in sysfs on several machines; no machine with a PMU has run this. */
#include "kernel/access/pmu.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "tree.h"

static struct cpu_event found[PMU_EVENTS];
static char why[256];

static void put(const char *name, const char *text)
{
	autofree char *path = util_fmt("sys/bus/event_source/devices/%s", name);

	tree_put(path, text);
}

static int find(unsigned int hz)
{
	why[0] = '\0';
	return pmu_events_find(found, tree, hz, why, sizeof(why));
}

static void refuse(unsigned int hz, int error, const char *reason)
{
	assert_int_equal(find(hz), error);
	if (!strstr(why, reason))
		fail_msg("'%s' is not in '%s'", reason, why);
}

static void expect(int i, const char *name, uint32_t type, uint64_t config, uint64_t config1, uint64_t beside,
		   unsigned int precise)
{
	const struct perf_event_attr *a = &found[i].attr;

	assert_string_equal(found[i].name, name);
	assert_int_equal(a->type, type);
	assert_int_equal(a->config, config);
	assert_int_equal(a->config1, config1);
	assert_int_equal(a->config2, 0);
	assert_int_equal(found[i].beside, beside);
	assert_int_equal(a->precise_ip, precise);
	assert_int_equal(a->sample_type, PERF_SAMPLE_ADDR);
	assert_true(a->freq);
	assert_false(a->exclude_kernel);
}

/* Intel's core: the folder PMU. */
static void put_core(const char *pmu, const char *type, const char *loads, const char *stores)
{
	static const struct {
		const char *name, *text;
	} formats[] = { { "event", "config:0-7\n" }, { "umask", "config:8-15\n" }, { "ldlat", "config1:0-15\n" } };
	autofree char *type_path = util_fmt("%s/type", pmu), *loads_path = util_fmt("%s/events/mem-loads", pmu),
		      *stores_path = util_fmt("%s/events/mem-stores", pmu);

	put(type_path, type);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		autofree char *path = util_fmt("%s/format/%s", pmu, formats[i].name);

		put(path, formats[i].text);
	}
	if (loads)
		put(loads_path, loads);
	if (stores)
		put(stores_path, stores);
}

/* Skylake to Ice Lake. */
static void intel_has_loads_and_stores(void **state)
{
	put_core("cpu", "4\n", "event=0xcd,umask=0x1,ldlat=3\n", "event=0xd0,umask=0x82\n");
	assert_int_equal(find(1000), 2);
	expect(0, "cpu/mem-loads", 4, 0x1cd, 3, 0, 3);
	expect(1, "cpu/mem-stores", 4, 0x82d0, 0, 0, 3);
	assert_int_equal(found[0].attr.sample_freq, 1000);
}

/* Sapphire Rapids: loads need an event beside them. */
static void an_auxiliary_event_is_found(void **state)
{
	put_core("cpu", "4\n", "event=0xcd,umask=0x1,ldlat=3\n", "event=0xcd,umask=0x2\n");
	put("cpu/events/mem-loads-aux", "event=0x03,umask=0x82\n");
	assert_int_equal(find(1), 2);
	expect(0, "cpu/mem-loads", 4, 0x1cd, 3, 0x8203, 3);
	expect(1, "cpu/mem-stores", 4, 0x2cd, 0, 0, 3);
}

/* Alder Lake: two kinds of CPUs, of which one needs the auxiliary event. */
static void each_kind_of_cpu_has_its_events(void **state)
{
	put_core("cpu_core", "4\n", "event=0xcd,umask=0x1,ldlat=3\n", "event=0xcd,umask=0x2\n");
	put("cpu_core/events/mem-loads-aux", "event=0x03,umask=0x82\n");
	put_core("cpu_atom", "10\n", "event=0xd0,umask=0x5,ldlat=3\n", "event=0xd0,umask=0x6\n");
	assert_int_equal(find(1000), 4);
	expect(0, "cpu_atom/mem-loads", 10, 0x5d0, 3, 0, 3);
	expect(1, "cpu_atom/mem-stores", 10, 0x6d0, 0, 0, 3);
	expect(2, "cpu_core/mem-loads", 4, 0x1cd, 3, 0x8203, 3);
	expect(3, "cpu_core/mem-stores", 4, 0x2cd, 0, 0, 3);
}

/* AMD: its core PMU has no such events; IBS counts operations where it can. */
static void amd_has_ibs(void **state)
{
	put("cpu/type", "4\n");
	put("cpu/format/event", "config:0-7,32-35\n");
	put("ibs_fetch/type", "10\n");
	put("ibs_op/type", "11\n");
	assert_int_equal(find(1000), 1);
	expect(0, "ibs_op", 11, 0, 0, 0, 0);
	put("ibs_op/format/cnt_ctl", "config:19\n");
	assert_int_equal(find(1000), 1);
	expect(0, "ibs_op", 11, 1 << 19, 0, 0, 0);
}

/* Bits need not be beside one another. */
static void a_term_may_be_in_several_places(void **state)
{
	put_core("cpu", "4\n", "event=0x1cd,umask=0x1,inv\n", NULL);
	put("cpu/format/event", "config:0-7,32-35\n");
	put("cpu/format/inv", "config:23\n");
	assert_int_equal(find(1000), 1);
	expect(0, "cpu/mem-loads", 4, 0x1008001cd, 0, 0, 3);
}

static void unknown_descriptions_are_refused(void **state)
{
	static const char *const events[] = {
		"event=0xcd,moon=1\n", "event=?\n", "event=\n", "event=0xcdx\n", "event=0x1cd\n", "ldlat=0x10000\n",
	};
	static const char *const formats[] = { "config\n",      "config:\n",     "config:x\n",   "config:7-0\n",
					       "config:0-64\n", "config:0-7,\n", "config9:0-7\n" };

	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		put_core("cpu", "4\n", events[i], NULL);
		assert_true(find(1000) < 0);
		assert_non_null(strstr(why, "cpu/mem-loads"));
	}
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		put_core("cpu", "4\n", "event=1\n", NULL);
		put("cpu/format/event", formats[i]);
		assert_true(find(1000) < 0);
	}
	put_core("cpu", "four\n", "event=1\n", NULL);
	refuse(1000, -EINVAL, "in a way that is not known");
}

static void a_machine_without_one_is_refused(void **state)
{
	put("software/type", "1\n");
	put("cpu/type", "4\n");
	refuse(1000, -ENOENT, "as in most virtual machines");
	put("arm_spe_0/type", "8\n");
	refuse(1000, -ENOENT, "Arm's SPE");
}

static void the_kernel_limits_the_rate(void **state)
{
	put("ibs_op/type", "11\n");
	tree_put("proc/sys/kernel/perf_event_max_sample_rate", "25000\n");
	assert_int_equal(find(25000), 1);
	refuse(25001, -ERANGE, "allows 25000 samples a second, not 25001");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(intel_has_loads_and_stores),       IN_TREE(an_auxiliary_event_is_found),
		IN_TREE(each_kind_of_cpu_has_its_events),  IN_TREE(amd_has_ibs),
		IN_TREE(a_term_may_be_in_several_places),  IN_TREE(unknown_descriptions_are_refused),
		IN_TREE(a_machine_without_one_is_refused), IN_TREE(the_kernel_limits_the_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
