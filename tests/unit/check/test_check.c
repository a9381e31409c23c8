/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of a check, each on a machine made of files. */
#include "check/check.h"

#include <dirent.h>
#include <stddef.h>
#include <stdlib.h>

#include "host/helper.h"
#include "kernel/backend.h"
#include "tree.h"

#define CLOCKS "sys/devices/system/clocksource/clocksource0/"
#define PREEMPT "sys/kernel/debug/sched/preempt"

static struct check check;

/* A new check, on the machine in the tree. */
static struct check *new_check(void)
{
	check = (struct check){ .root = tree, .min_free_bytes = UINT64_MAX };
	return &check;
}

/* One whose tools may take as long as a busy machine needs. */
static struct check *patient_check(void)
{
	new_check()->answer_ns = 300 * NSEC_PER_SEC;
	return &check;
}

/* Expects the last row: its state, a part of its finding, and a part of the remedy (NULL: none). */
static void expect(const char *need, enum check_state state, const char *found, const char *remedy)
{
	const struct check_row *row = &check.rows[check.n - 1];

	assert_true(check.n > 0);
	assert_string_equal(row->need, need);
	if (row->state != state || !strstr(row->found, found) ||
	    (remedy ? !strstr(row->remedy, remedy) : row->remedy[0]))
		fail_msg("state %d, found '%s', remedy '%s'", row->state, row->found, row->remedy);
}

static void put_link(const char *name, const char *to)
{
	autofree char *path = tree_path(name);

	unlink(path);
	assert_int_equal(symlink(to, path), 0);
}

static void put_caps(const char *hex)
{
	autofree char *text = util_fmt("Name:\tx\nCapPrm:\tffffffffffffffff\nCapEff:\t%s\nSeccomp:\t0\n", hex);

	tree_put("proc/self/status", text);
}

/* Writes an executable script NAME into the folder bin of the tree. */
static void put_tool(const char *name, const char *text)
{
	autofree char *file = util_fmt("bin/%s", name), *path = tree_path(file);

	tree_put(file, text);
	assert_int_equal(chmod(path, 0700), 0);
}

static void path_is_the_trees(void)
{
	autofree char *path = tree_path("bin");

	helper_trust_path();
	assert_int_equal(setenv("PATH", path, 1), 0);
}

/* --- rights ----------------------------------------------------------------------------------- */

static void rights_are_the_effective_capabilities(void **state)
{
	put_caps("0000000000200000");
	check_rights(new_check());
	expect("rights", CHECK_OK, "CAP_SYS_ADMIN", NULL);
	assert_true(check.has_caps);
	put_caps("000000c000000000");
	check_rights(new_check());
	expect("rights", CHECK_OK, "CAP_BPF and CAP_PERFMON", NULL);
	put_caps("0000008000000000");
	check_rights(new_check());
	expect("rights", CHECK_FAIL, "CAP_PERFMON lacks", "");
	put_caps("0000004000000000");
	check_rights(new_check());
	expect("rights", CHECK_FAIL, "CAP_BPF lacks", "");
	put_caps("0000000000000000");
	check_rights(new_check());
	expect("rights", CHECK_FAIL, "neither", geteuid() ? "sudo" : "docker run --privileged");
	assert_false(check.has_caps);
	assert_false(check_possible(&check));
}

static void rights_of_a_user_namespace_do_not_count(void **state)
{
	put_caps("000001ffffffffff");
	put_link("proc/self/ns/user", "user:[4026531837]");
	check_rights(new_check());
	expect("rights", CHECK_OK, "CAP_SYS_ADMIN", NULL);
	put_link("proc/self/ns/user", "user:[4026532123]");
	check_rights(new_check());
	expect("rights", CHECK_FAIL, "user namespace", "on the host");
}

static void rights_without_proc(void **state)
{
	check_rights(new_check());
	expect("rights", CHECK_FAIL, "/proc/self/status", "mount -t proc");
}

static void pid_namespace_is_the_initial_one(void **state)
{
	put_link("proc/self/ns/pid", "pid:[4026531836]");
	check_pid_namespace(new_check());
	expect("pid namespace", CHECK_OK, "initial", NULL);
	put_link("proc/self/ns/pid", "pid:[4026532999]");
	check_pid_namespace(new_check());
	expect("pid namespace", CHECK_FAIL, "container's own", "--pid=host");
	check_rights(new_check()); /* finds no /proc/self/status */
	check_pid_namespace(&check);
	expect("pid namespace", CHECK_NOTE, "not known: /proc is not mounted", NULL);
	check_other_traces(&check);
	expect("other traces", CHECK_NOTE, "not known: /proc is not mounted", NULL);
}

/* --- kernel ----------------------------------------------------------------------------------- */

static void btf_is_there_or_the_option_is_named(void **state)
{
	check_btf(new_check());
	expect("BTF", CHECK_FAIL, "/sys is not mounted", "mount -t sysfs");
	tree_put("sys/kernel/version", "x");
	check_btf(new_check());
	expect("BTF", CHECK_FAIL, "No such file", "CONFIG_DEBUG_INFO_BTF=y");
	assert_false(check.has_btf);
	tree_put("sys/kernel/btf/vmlinux", "x");
	check_btf(new_check());
	expect("BTF", CHECK_OK, "/sys/kernel/btf/vmlinux", NULL);
	assert_true(check.has_btf);
}

static void lockdown_by_its_mode(void **state)
{
	static const char file[] = "sys/kernel/security/lockdown";

	check_lockdown(new_check());
	expect("lockdown", CHECK_OK, "no /sys/kernel/security/lockdown", NULL);
	tree_put(file, "[none] integrity confidentiality\n");
	check_lockdown(new_check());
	expect("lockdown", CHECK_OK, "none", NULL);
	tree_put(file, "none [integrity] confidentiality\n");
	check_lockdown(new_check());
	expect("lockdown", CHECK_OK, "integrity: tracing is allowed", NULL);
	tree_put(file, "none integrity [confidentiality]\n");
	check_lockdown(new_check());
	expect("lockdown", CHECK_FAIL, "may not read the kernel's memory", "lockdown=integrity");
	tree_put(file, "none [integ");
	check_lockdown(new_check());
	expect("lockdown", CHECK_NOTE, "not understood", NULL);
}

static void preemption_by_what_knows_it_best(void **state)
{
	tree_put("proc/sys/kernel/version", "#1 SMP Mon Jan 1\n");
	check_preemption(new_check());
	expect("preemption", CHECK_OK, "none or voluntary", NULL);
	tree_put("proc/sys/kernel/version", "#1 SMP PREEMPT_RT Mon Jan 1\n");
	check_preemption(new_check());
	expect("preemption", CHECK_NOTE, "rt; whether", NULL);
	tree_put("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Mon Jan 1\n");
	check_preemption(new_check());
	expect("preemption", CHECK_NOTE, "only debugfs shows it", NULL);
	tree_put("proc/cmdline", "root=/dev/sda xpreempt=full preempt=none quiet\n");
	check_preemption(new_check());
	expect("preemption", CHECK_NOTE, "only debugfs shows it", NULL);
	tree_put("proc/cmdline", "root=/dev/sda preempt=voluntary quiet\n");
	check_preemption(new_check());
	expect("preemption", CHECK_OK, "voluntary", NULL);
	tree_put(PREEMPT, "none voluntary full (lazy) \n");
	check_preemption(new_check());
	expect("preemption", CHECK_NOTE, "lazy", NULL);
}

static void clock_source_is_fast_or_slow(void **state)
{
	check_clock_source(new_check());
	expect("clock source", CHECK_NOTE, "cannot be read", NULL);
	tree_put(CLOCKS "current_clocksource", "tsc\n");
	check_clock_source(new_check());
	expect("clock source", CHECK_OK, "tsc", NULL);
	tree_put(CLOCKS "current_clocksource", "hpet\n");
	tree_put(CLOCKS "available_clocksource", "hpet acpi_pm \n");
	check_clock_source(new_check());
	expect("clock source", CHECK_NOTE, "hpet: slow", "dmesg");
	tree_put(CLOCKS "available_clocksource", "hpet tsc acpi_pm \n");
	check_clock_source(new_check());
	expect("clock source", CHECK_NOTE, "hpet: slow", "echo tsc > /sys");
}

/* --- host ------------------------------------------------------------------------------------- */

static void install_command_is_the_distributions(void **state)
{
	static const struct {
		const char *text, *command;
	} cases[] = {
		{ "NAME=x\nID=debian\n", "apt-get install x" },
		{ "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", "apt-get install x" },
		{ "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "dnf install x" },
		{ "ID=opensuse-leap\nID_LIKE='suse opensuse'\n", "zypper install x" },
		{ "ID=debianoid\n", "install the package x" },
		{ "VERSION_ID=debian\nID", "install the package x" },
	};
	char buf[64];

	assert_string_equal(check_install(new_check(), "x", buf, sizeof(buf)), "install the package x");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		tree_put("etc/os-release", cases[i].text);
		assert_string_equal(check_install(new_check(), "x", buf, sizeof(buf)), cases[i].command);
	}
}

static void tracefs_where_it_is_mounted(void **state)
{
	check_tracefs(new_check());
	expect("tracefs", CHECK_OK, "not needed", NULL);
	new_check();
	check.may_bpf = check.has_btf = true;
	check_tracefs(&check);
	expect("tracefs", CHECK_MISSING, "not mounted", "mount -t tracefs");
	check.hooks = 1U << BACKEND_TP_BTF;
	check_tracefs(&check);
	expect("tracefs", CHECK_OK, "not needed", NULL);
	tree_put("proc/self/mounts", "proc /proc proc rw 0 0\nbroken\ntracefs /sys/kernel/tracing tracefs rw 0 0\n");
	check_tracefs(new_check());
	expect("tracefs", CHECK_OK, "/sys/kernel/tracing", NULL);
}

static void cgroups_by_version(void **state)
{
	static const char v1[] = "30 20 0:25 / /c/cpu rw - cgroup cgroup rw,cpu\n";
	static const char v2[] = "31 20 0:26 / /c/unified rw - cgroup2 cgroup2 rw\n";
	autofree char *both = util_fmt("%s%s", v1, v2);

	check_cgroups(new_check());
	expect("cgroups", CHECK_MISSING, "none mounted", "mount -t cgroup2");
	tree_put("proc/self/cgroup", "4:cpu:/\n0::/\n");
	tree_put("proc/self/mountinfo", v2);
	check_cgroups(new_check());
	expect("cgroups", CHECK_OK, "v2", NULL);
	tree_put("proc/self/mountinfo", v1);
	check_cgroups(new_check());
	expect("cgroups", CHECK_OK, "v1, 1 hierarchy", NULL);
	tree_put("proc/self/mountinfo", both);
	check_cgroups(new_check());
	expect("cgroups", CHECK_OK, "hybrid", NULL);
}

static const struct check_row *row_of(const char *need)
{
	for (unsigned int i = 0; i < check.n; i++)
		if (!strcmp(check.rows[i].need, need))
			return &check.rows[i];
	fail_msg("no row %s", need);
	return NULL;
}

/* Controllers of v2 are those of our own cgroup, of v1 those that are mounted. */
static void what_cgroups_have_no_numbers_of(void **state)
{
	static const char v1[] = "30 20 0:25 / /c/cpu rw - cgroup cgroup rw,cpu\n";
	static const char v2[] = "31 20 0:26 / /c/unified rw - cgroup2 cgroup2 rw\n";
	autofree char *both = util_fmt("%s%s", v1, v2);

	tree_put("proc/self/cgroup", "4:cpu:/\n0::/a\n");
	tree_put("proc/self/mountinfo", both);
	check_cgroups(new_check());
	assert_int_equal(row_of("cgroup.out")->state, CHECK_NOTE);
	assert_non_null(strstr(row_of("cgroup.out")->found, "no numbers of memory, io:"));
	assert_non_null(strstr(row_of("cgroup.out")->found, "no pressure"));
	tree_put("c/unified/a/cgroup.controllers", "cpuset memory io\n");
	check_cgroups(new_check());
	assert_int_equal(row_of("cgroup.out")->state, CHECK_NOTE);
	assert_non_null(strstr(row_of("cgroup.out")->found, "no pressure"));
	tree_put("proc/pressure/io", "some avg10=0.00 total=0\n");
	check_cgroups(new_check());
	assert_int_equal(row_of("cgroup.out")->state, CHECK_OK);
	tree_put("c/unified/a/cgroup.controllers", "cpuset iox\n");
	check_cgroups(new_check());
	assert_non_null(strstr(row_of("cgroup.out")->found, "no numbers of memory, io:"));
}

static void tools_with_their_versions(void **state)
{
	path_is_the_trees();
	tree_put("etc/os-release", "ID=debian\n");
	put_tool("mpstat", "#!/bin/sh\n[ \"$1\" = -V ] && echo sysstat version 12.6.1 && echo more\n");
	check_collectors(patient_check());
	assert_int_equal(row_of("mpstat")->state, CHECK_OK);
	assert_non_null(strstr(row_of("mpstat")->found, "/mpstat, sysstat version 12.6.1"));
	assert_int_equal(row_of("iostat")->state, CHECK_OK);
	assert_string_equal(row_of("iostat")->found, "not in PATH: dltraced itself takes the samples");
	assert_int_equal(row_of("nvidia-smi")->state, CHECK_OK); /* a machine without such a GPU needs none */
	assert_non_null(strstr(row_of("nvidia-smi")->found, "no GPU of NVIDIA"));
	assert_int_equal(check.n, 3);

	tree_put("sys/bus/pci/devices/0000:00:01.0/vendor", "0x10de\n"); /* its audio or its bridge */
	tree_put("sys/bus/pci/devices/0000:00:01.0/class", "0x040300\n");
	tree_put("sys/bus/pci/devices/0000:00:02.0/vendor", "0x1002\n"); /* another maker's */
	tree_put("sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n");
	check_collectors(patient_check());
	assert_int_equal(row_of("nvidia-smi")->state, CHECK_OK);
	tree_put("sys/bus/pci/devices/0000:00:03.0/vendor", "0x10de\n");
	tree_put("sys/bus/pci/devices/0000:00:03.0/class", "0x030200\n");
	check_collectors(patient_check());
	assert_int_equal(row_of("nvidia-smi")->state, CHECK_MISSING);
	assert_non_null(strstr(row_of("nvidia-smi")->found, "the driver of this GPU"));

	tree_put("sys/module/nvidia/version", "535.129.03\n");
	check_collectors(patient_check());
	assert_non_null(strstr(row_of("nvidia-smi")->found, "though driver 535.129.03 is loaded"));
	put_tool("nvidia-smi", "#!/bin/sh\nexit 9\n");
	check_collectors(patient_check());
	assert_int_equal(row_of("nvidia-smi")->state, CHECK_OK);
	assert_non_null(strstr(row_of("nvidia-smi")->found, "driver 535.129.03"));
}

static void tools_that_do_not_answer_are_ended(void **state)
{
	uint64_t start_ns = clock_now_ns(CLOCK_MONOTONIC);

	path_is_the_trees();
	put_tool("mpstat", "#!/bin/sh\n" NEVER_ANSWERS "\n");
	put_tool("iostat", "#!/bin/sh\nexit 1\n");
	new_check()->answer_ns = NSEC_PER_SEC / 2;
	check_collectors(&check);
	assert_int_equal(row_of("mpstat")->state, CHECK_NOTE);
	assert_int_equal(row_of("iostat")->state, CHECK_NOTE);
	assert_true(clock_now_ns(CLOCK_MONOTONIC) - start_ns < 300 * NSEC_PER_SEC);
}

static void container_engines_that_are_found(void **state)
{
	path_is_the_trees();
	check_containers(new_check());
	expect("containers", CHECK_OK, "no docker", NULL);
	put_tool("podman", "");
	put_tool("docker", "");
	check_containers(new_check());
	expect("containers", CHECK_OK, "docker, podman", NULL);
}

static void other_traces_are_those_that_hold_maps(void **state)
{
	check_other_traces(new_check());
	expect("other traces", CHECK_OK, "none", NULL);
	tree_put("proc/41/comm", "dltraced\n");
	put_link("proc/41/fd/3", "/dev/null");
	tree_put("proc/42/comm", "dltraced-not\n");
	put_link("proc/42/fd/3", "anon_inode:bpf-map");
	check_other_traces(new_check());
	expect("other traces", CHECK_OK, "none", NULL);
	tree_put("proc/43/comm", "dltraced\n");
	put_link("proc/43/fd/3", "/dev/null");
	put_link("proc/43/fd/4", "anon_inode:bpf-map");
	check_other_traces(new_check());
	expect("other traces", CHECK_NOTE, "1 of dltraced, process 43", NULL);
}

/* --- folder ----------------------------------------------------------------------------------- */

static unsigned int files_in(const char *path)
{
	DIR *d = opendir(path);
	unsigned int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void folder_is_measured_where_it_would_be_made(void **state)
{
	autofree char *out = util_fmt("%s/a/b", tree);

	new_check();
	check.out = out;
	check.min_free_bytes = 0;
	check_folder(&check);
	assert_int_equal(check.n, 2);
	assert_int_equal(row_of("space")->state, CHECK_OK);
	assert_non_null(strstr(row_of("space")->found, tree));
	assert_null(strstr(row_of("space")->found, out));
	assert_non_null(strstr(row_of("write speed")->found, "rows/s"));
	assert_int_equal(files_in(tree), 0);
}

static void folder_without_the_space_to_leave(void **state)
{
	new_check();
	check.out = tree;
	check.min_free_bytes = UINT64_MAX - 1;
	check_folder(&check);
	expect("space", CHECK_FAIL, tree, "--min-free");
	assert_int_equal(check.n, 1);
}

static void folder_that_is_none(void **state)
{
	autofree char *file = tree_path("file"), *below = util_fmt("%s/x/y", file);

	tree_put("file", "");
	new_check();
	check.out = file;
	check_folder(&check);
	expect("space", CHECK_FAIL, "is not a folder", "-o DIR");
	check.out = below;
	check_folder(&check);
	expect("space", CHECK_FAIL, "is not a folder", "-o DIR");
}

/* --- rings and the whole ---------------------------------------------------------------------- */

static void rings_have_the_stall_that_they_ride_out(void **state)
{
	new_check();
	check.buffer_bytes = 4096;
	check_rings(&check);
	expect("rings", CHECK_NOTE, "1 of 4.00 KiB", "--buffer SIZE");
	assert_non_null(strstr(check.rows[0].found, "0.00 s"));
	check.buffer_bytes = 4ULL << 30; /* of more than 64 MiB each on up to 64 CPUs */
	check_rings(&check);
	assert_null(strstr(check.rows[1].found, " 0.00 s"));
}

/* A machine with nothing at all: every need has its row, and nothing is tried. */
static void everything_lacks(void **state)
{
	path_is_the_trees();
	new_check();
	check.out = tree;
	check.min_free_bytes = 0;
	check_run(&check);
	assert_int_equal(row_of("rights")->state, CHECK_FAIL);
	assert_int_equal(row_of("BTF")->state, CHECK_FAIL);
	assert_int_equal(row_of("probes")->state, CHECK_NOTE);
	assert_non_null(strstr(row_of("probes")->found, "not tried"));
	assert_false(check_possible(&check));
}

static void the_verdict_is_one_sentence(void **state)
{
	new_check();
	check_verdict(&check);
	expect("verdict", CHECK_FAIL, "This machine cannot be traced: no probe can be attached", NULL);
	assert_false(check_possible(&check));
	new_check();
	strcpy(check.by, "tp_btf");
	check_put(&check, "a", CHECK_NOTE, "x");
	check_verdict(&check);
	expect("verdict", CHECK_OK, "This machine can be traced, by tp_btf.", NULL);
	strcpy(check.without, "sched, cache");
	check_verdict(&check);
	expect("verdict", CHECK_OK, "This machine can be traced, by tp_btf, without sched, cache.", NULL);
	check_put(&check, "space", CHECK_FAIL, "1 B free");
	check_put(&check, "limit", CHECK_FAIL, "none");
	check_verdict(&check);
	expect("verdict", CHECK_FAIL,
	       "can be traced, by tp_btf, without sched, cache, but not like this: space: 1 B free", NULL);
	check.by[0] = '\0';
	check_verdict(&check);
	expect("verdict", CHECK_FAIL, "This machine cannot be traced: space: 1 B free", NULL);
}

static void only_fail_makes_it_impossible(void **state)
{
	new_check();
	check_put(&check, "a", CHECK_OK, "x");
	check_put(&check, "b", CHECK_NOTE, "x");
	check_put(&check, "c", CHECK_MISSING, "x");
	assert_true(check_possible(&check));
	check_put(&check, "d", CHECK_FAIL, "x");
	assert_false(check_possible(&check));
}

static void too_many_rows_stay_in_their_array(void **state)
{
	new_check();
	for (int i = 0; i < 3 * CHECK_ROWS_MAX; i++)
		check_put(&check, "a need with a name that is much too long", CHECK_OK, "%01000d", i);
	assert_int_equal(check.n, CHECK_ROWS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(btf_is_there_or_the_option_is_named),
		IN_TREE(cgroups_by_version),
		IN_TREE(what_cgroups_have_no_numbers_of),
		IN_TREE(clock_source_is_fast_or_slow),
		IN_TREE(container_engines_that_are_found),
		IN_TREE(everything_lacks),
		IN_TREE(folder_is_measured_where_it_would_be_made),
		IN_TREE(folder_that_is_none),
		IN_TREE(folder_without_the_space_to_leave),
		IN_TREE(install_command_is_the_distributions),
		IN_TREE(lockdown_by_its_mode),
		IN_TREE(only_fail_makes_it_impossible),
		IN_TREE(the_verdict_is_one_sentence),
		IN_TREE(other_traces_are_those_that_hold_maps),
		IN_TREE(pid_namespace_is_the_initial_one),
		IN_TREE(preemption_by_what_knows_it_best),
		IN_TREE(rights_are_the_effective_capabilities),
		IN_TREE(rights_of_a_user_namespace_do_not_count),
		IN_TREE(rights_without_proc),
		IN_TREE(rings_have_the_stall_that_they_ride_out),
		IN_TREE(too_many_rows_stay_in_their_array),
		IN_TREE(tools_that_do_not_answer_are_ended),
		IN_TREE(tools_with_their_versions),
		IN_TREE(tracefs_where_it_is_mounted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
