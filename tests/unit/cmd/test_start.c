/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/cmd.h"

#include <argp.h>
#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "kernel/backend.h"
#include "session/start_options.h"
#include "trace/config.h"
#include "trace/outdir.h"
#include "trace/probe.h"

#define ARGS(...) ((char *[]){ "dltraced start", __VA_ARGS__, NULL })

static struct config cfg;
static char messages[8192]; /* on stderr, by the last parse() */

static int parse(char **argv)
{
	autoclose int file = memfd_create("stderr", MFD_CLOEXEC), old = dup(STDERR_FILENO);
	int argc = 0, r;
	ssize_t n;

	while (argv[argc])
		argc++;
	dup2(file, STDERR_FILENO);
	r = cmd_start_parse(argc, argv, ARGP_NO_EXIT, &cfg);
	dup2(old, STDERR_FILENO);
	n = pread(file, messages, sizeof(messages) - 1, 0);
	messages[n < 0 ? 0 : n] = '\0';
	return r;
}

static void accept(char **argv)
{
	if (parse(argv) != 0 || *messages)
		fail_msg("%s was refused: %s", argv[1], messages);
}

static void refuse(char **argv, const char *reason)
{
	if (parse(argv) != EINVAL || !strstr(messages, reason))
		fail_msg("%s: not \"%s\" but \"%s\"", argv[1], reason, messages);
}

static void has_defaults(void **state)
{
	accept(ARGS("--all"));
	assert_true(cfg.all);
	assert_null(cfg.argv);
	assert_null(cfg.out);
	assert_null(cfg.user);
	assert_null(cfg.collectors);
	assert_string_equal(cfg.experiment, "all");
	assert_int_equal(cfg.probes,
			 PROBES_DEFAULT & ~(PROBE_BIT(DLT_net) | PROBE_BIT(DLT_sched) | PROBE_BIT(DLT_sockets) |
					    PROBE_BIT(DLT_waits) | PROBE_BIT(DLT_printed)));
	assert_int_equal(cfg.backends, 0);
	assert_int_equal(cfg.interval_ns, NSEC_PER_SEC);
	assert_int_equal(cfg.cpu_each_ns, 0);
	assert_int_equal(cfg.buffer_bytes, 0);
	assert_true(cfg.min_free_bytes == UINT64_MAX);
	assert_int_equal(cfg.log_level, LOG_LEVEL_INFO);
	assert_false(cfg.log);
}

static void workload_is_run_by_a_shell(void **state)
{
	accept(ARGS("--workload", "a b; c"));
	assert_string_equal(cfg.shell_cmd, "a b; c");
	assert_string_equal(cfg.argv[0], "/bin/sh");
	assert_string_equal(cfg.argv[1], "-c");
	assert_string_equal(cfg.argv[2], "a b; c");
	assert_null(cfg.argv[3]);
}

static void command_behind_dashes_keeps_its_own_options(void **state)
{
	char **argv = ARGS("-q", "--", "cmd", "--all", "-v", "--", "x");

	accept(argv);
	assert_ptr_equal(cfg.argv, argv + 3);
	assert_null(cfg.shell_cmd);
	assert_false(cfg.all);
	assert_int_equal(cfg.log_level, LOG_LEVEL_WARN);
}

static void command_without_dashes_is_refused(void **state)
{
	refuse(ARGS("python", "train.py"), "unexpected argument 'python'");
	refuse(ARGS("--all", "x", "--", "y"), "unexpected argument 'x'");
}

static void only_one_workload_is_taken(void **state)
{
	refuse(ARGS("--workload", "a", "--", "b"), "not both");
	refuse(ARGS("--workload", "a", "--workload", "b"), "given twice");
	refuse(ARGS("--"), "no command behind --");
	refuse(ARGS("--workload", "a", "--"), "no command behind --");
	refuse(ARGS("--all", "--"), "no command behind --");
}

static void no_target_shows_how_to_give_one(void **state)
{
	refuse(ARGS("-q"), "nothing to trace: give --workload");
	refuse(ARGS("--user", "0"), "nothing to trace");
}

static void names_of_threads_select_nothing(void **state)
{
	refuse(ARGS("--comm", "python*"), "narrows a target");
	refuse(ARGS("--comm", "!x"), "narrows a target");
	refuse(ARGS("--comm", "!", "--all"), "no pattern behind the !");
	accept(ARGS("--comm", "pt_*", "--comm", "python", "--comm", "!x", "--all"));
	assert_int_equal(cfg.comm.n, 2);
	assert_string_equal(cfg.comm.items[1], "python");
	assert_string_equal(cfg.exclude_comm.items[0], "x");
}

static void targets_add_up(void **state)
{
	char self[32], both[64];

	snprintf(self, sizeof(self), "%d", getpid());
	snprintf(both, sizeof(both), "%d,%d", getpid(), getppid());
	accept(ARGS("-p", self, "--cgroup", "/a", "--cgroup", "/b", "--container", "new", "-p", both, "--", "x"));
	assert_int_equal(cfg.n_pids, 3);
	assert_int_equal(cfg.pids[0], getpid());
	assert_int_equal(cfg.pids[2], getppid());
	assert_int_equal(cfg.cgroups.n, 2);
	assert_string_equal(cfg.containers.items[0], "new");
	assert_non_null(cfg.argv);
}

static void values_reach_the_config(void **state)
{
	accept(ARGS("--all", "--duration", "1h30m", "--delay", "500ms", "--linger", "30", "--interval", "2m,cpu=30",
		    "--buffer", "64M", "--min-free", "1G", "-o", "%h/%%", "--collectors", "cpu,gpu", "--backend",
		    "tracepoint", "-P", "open,sync", "-v", "--collect", "*.log", "--report", "screen"));
	assert_int_equal(cfg.duration_ns, 5400 * NSEC_PER_SEC);
	assert_int_equal(cfg.delay_ns, 500 * NSEC_PER_MSEC);
	assert_int_equal(cfg.linger_ns, 30 * NSEC_PER_SEC);
	assert_int_equal(cfg.interval_ns, 120 * NSEC_PER_SEC);
	assert_int_equal(cfg.cpu_each_ns, 30 * NSEC_PER_SEC);
	assert_int_equal(cfg.buffer_bytes, 64 << 20);
	assert_int_equal(cfg.min_free_bytes, 1 << 30);
	assert_string_equal(cfg.out, "%h/%%");
	assert_string_equal(cfg.collectors, "cpu,gpu");
	assert_int_equal(cfg.backends, 1U << BACKEND_TP_BTF | 1U << BACKEND_TP);
	assert_int_equal(cfg.probes, 1 << DLT_open | 1 << DLT_sync);
	assert_int_equal(cfg.log_level, LOG_LEVEL_DEBUG);
	assert_string_equal(cfg.collect.items[0], "*.log");
	assert_int_equal(cfg.report, REPORT_SCREEN);
	accept(ARGS("--all", "--report=none", "-P", "-open"));
	assert_int_equal(cfg.report, REPORT_NONE);
	assert_int_equal(cfg.probes, PROBES_DEFAULT & ~PROBE_BIT(DLT_open) & ~PROBE_BIT(DLT_net) &
					     ~PROBE_BIT(DLT_sched) & ~PROBE_BIT(DLT_sockets) & ~PROBE_BIT(DLT_waits) &
					     ~PROBE_BIT(DLT_printed));
}

static void scheduling_is_summed_up_for_a_target(void **state)
{
	const probe_mask sums = PROBE_BIT(DLT_sched), timeline = sums | PROBE_BIT(DLT_sched_switch);
	const probe_mask may = probe_mask_of(PROBE_MAY_LACK, PROBE_ON_DEMAND);

	accept(ARGS("--", "x"));
	assert_int_equal(cfg.probes & timeline, sums);
	assert_int_equal(cfg.may_lack, sums | may);
	accept(ARGS("-P", "-mmap", "--", "x"));
	assert_int_equal(cfg.probes & timeline, sums);
	accept(ARGS("-P", "-sched", "--", "x"));
	assert_int_equal(cfg.probes & timeline, 0);
	accept(ARGS("-P", "bio", "--", "x"));
	assert_int_equal(cfg.probes & timeline, 0);
	accept(ARGS("-P", "+sched_switch", "--", "x"));
	assert_int_equal(cfg.probes & timeline, timeline);
	accept(ARGS("-P", "bio,sched,sched_switch", "--", "x"));
	assert_int_equal(cfg.probes & timeline, timeline);
	accept(ARGS("--all", "-P", "+sched,+sched_switch"));
	assert_int_equal(cfg.probes & timeline, timeline);
	accept(ARGS("--all"));
	assert_int_equal(cfg.probes & timeline, 0);
}

/* A probe that was requested is there, or there is no trace. */
static void requested_scheduling_is_not_optional(void **state)
{
	const probe_mask sums = PROBE_BIT(DLT_sched), may = probe_mask_of(PROBE_MAY_LACK, PROBE_ON_DEMAND) & ~sums;

	accept(ARGS("-P", "+sched", "--", "x"));
	assert_int_equal(cfg.may_lack, may);
	accept(ARGS("--all", "-P", "+sched"));
	assert_int_equal(cfg.probes & sums, sums);
}

static void lines_are_kept_of_a_target_whose_writes_are_traced(void **state)
{
	const probe_mask printed = PROBE_BIT(DLT_printed);

	accept(ARGS("--", "x"));
	assert_true(cfg.probes & printed);
	accept(ARGS("-P", "-printed", "--", "x"));
	assert_false(cfg.probes & printed);
	accept(ARGS("-P", "-vfs_rw", "--", "x"));
	assert_false(cfg.probes & printed);
	accept(ARGS("-P", "bio,printed", "--", "x"));
	assert_true(cfg.probes & printed);
	accept(ARGS("--all"));
	assert_false(cfg.probes & printed);
	accept(ARGS("--all", "-P", "+printed"));
	assert_true(cfg.probes & printed);
	accept(ARGS("--log", "--", "x"));
	assert_true(cfg.probes & printed);
	accept(ARGS("--background", "--", "x"));
	assert_true(cfg.probes & printed);
	accept(ARGS("--phase", "step ([0-9]+)=step \\1", "--phase", "x=y", "--", "x"));
	assert_int_equal(cfg.phases.n, 2);
	accept(ARGS("--all"));
	accept(ARGS("--", "x"));
	assert_true(cfg.regions_auto && !cfg.nvtx);
	accept(ARGS("--regions", "auto", "--", "x"));
	assert_true(cfg.regions_auto);
	accept(ARGS("--regions", "auto", "--regions", "off", "--", "x"));
	assert_false(cfg.regions_auto);
	refuse(ARGS("--regions", "always", "--", "x"), "not one of auto, nvtx, off");
	refuse(ARGS("--regions", "auto", "--all"), "needs a workload");
	accept(ARGS("--regions", "nvtx", "--", "x"));
	assert_true(cfg.nvtx && !cfg.regions_auto);
	accept(ARGS("--regions", "auto,nvtx", "--", "x"));
	assert_true(cfg.nvtx && cfg.regions_auto);
	refuse(ARGS("--regions", "nvtx", "--all"), "needs a workload");
	refuse(ARGS("--regions", "nvtx,auto", "-P", "open", "--", "x"), "leaves regions out");
	refuse(ARGS("--phase", "step", "--", "x"), "not REGEX=NAME");
	refuse(ARGS("--phase", "(=x", "--", "x"), "'(=x'");
}

static void brief_calls_need_reads_and_writes_and_no_threads(void **state)
{
	const probe_mask sums = PROBE_BIT(DLT_vfs_rw_sums);

	accept(ARGS("--", "x"));
	assert_true(!cfg.min_latency_ns && !(cfg.probes & sums));
	accept(ARGS("--min-latency", "100us", "-P", "vfs_rw,open", "--", "x"));
	assert_int_equal(cfg.min_latency_ns, 100000);
	assert_true(cfg.probes & sums);
	accept(ARGS("--min-latency", "1s", "--all"));
	assert_int_equal(cfg.min_latency_ns, 1000000000);
	accept(ARGS("--min-latency", "1ms", "--min-latency", "0", "--", "x"));
	assert_true(!cfg.min_latency_ns && !(cfg.probes & sums));
	refuse(ARGS("--min-latency", "1ms", "-P", "open", "--", "x"), "which --probes leaves out");
	refuse(ARGS("--min-latency", "1ms", "--comm", "x*", "--", "x"), "give one of them");
	refuse(ARGS("--min-latency", "1ms", "--comm", "!x*", "--", "x"), "give one of them");
	refuse(ARGS("-P", "+vfs_rw_sums", "--", "x"), "give both");
}

static void flags_reach_the_config(void **state)
{
	accept(ARGS("--wait-all", "--drop-caches", "--log", "--best-effort", "--force", "--no-args", "--", "x"));
	assert_true(cfg.wait_all && cfg.drop_caches && cfg.log);
	assert_true(cfg.best_effort && cfg.force && cfg.no_args);
}

static void a_folder_may_have_an_archive_beside_it(void **state)
{
	accept(ARGS("-o", "%e.tar.gz", "--", "x"));
	assert_true(cfg.archive);
	assert_int_equal(outdir_stem(cfg.out), 2);
	accept(ARGS("-o", "x.tar.gz", "-o", "x.tar", "--", "x"));
	assert_false(cfg.archive);
	accept(ARGS("-o", "a/.tar.gz", "--", "x"));
	assert_false(cfg.archive);
}

/* What earlier versions called an option is refused, with the option that does its work now. */
static void gone_options_name_the_new_ones(void **state)
{
	static const struct {
		char *old;
		const char *use;
	} gone[] = {
		{ "--access-block=4K", "--access=HOW,block=SIZE" },
		{ "--access-budget", "--access=HOW,budget=PERCENT" },
		{ "--access-interval", "--access=HOW,interval=T" },
		{ "--alloc-min", "--alloc=min=SIZE" },
		{ "--alloc-sites", "--alloc=sites=HOW" },
		{ "--archive", "--output=DIR.tar.gz" },
		{ "--cpu-each", "--interval=S,cpu=T" },
		{ "--dry", "scripts/recipes/matrix" },
		{ "--exclude-comm=x", "--comm=!GLOB" },
		{ "--mem-node", "numactl --membind=NODE" },
		{ "--no-report", "--report=none" },
		{ "--nvtx", "--regions=nvtx" },
		{ "--rollup-only", "--keep=sums" },
		{ "--sched", "--probes=-sched" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(gone); i++) {
		char text[128];

		snprintf(text, sizeof(text), "dltraced start: %.*s is gone: use %s", (int)strcspn(gone[i].old, "="),
			 gone[i].old, gone[i].use);
		refuse(ARGS("--all", gone[i].old), text);
		assert_string_equal(start_gone[i].name, strndupa(gone[i].old + 2, strcspn(gone[i].old, "=") - 2));
		assert_null(option_find(start_options, start_gone[i].name));
	}
	assert_null(start_gone[ARRAY_SIZE(gone)].name);
	refuse(ARGS("--report", "--", "x"), "not one of none, screen, verdict");
	accept(ARGS("--", "x", "--archive"));
	accept(ARGS("--workload", "--dry"));
}

static void background_logs_the_workload(void **state)
{
	accept(ARGS("--background", "--", "x"));
	assert_true(cfg.background && cfg.log);
	accept(ARGS("--background", "--all"));
	assert_true(cfg.background && !cfg.log);
}

static void what_needs_a_workload_says_so(void **state)
{
	refuse(ARGS("--all", "--log"), "--log keeps a workload's output");
	refuse(ARGS("--all", "--wait-all"), "--wait-all waits");
}

static void bad_values_are_named(void **state)
{
	static const struct {
		char *option, *value;
		const char *reason;
	} bad[] = {
		{ "--backend", "magic", "not one of auto" },
		{ "--buffer", "4095", "less than a page" },
		{ "--buffer", "-1", "not a size" },
		{ "--collectors", "cpu,", "no such collector: ''" },
		{ "--collectors", "cpu,none", "no such collector: 'none'" },
		{ "--collectors", "cp", "no such collector: 'cp'" },
		{ "--compress", "lz4", "not one of gzip, zstd" },
		{ "--compress", "none", "not one of gzip, zstd" },
		{ "--delay", "1.5x", "not a time" },
		{ "--disk", "no_such_disk", "no such disk" },
		{ "--disk", "..", "no such disk" },
		{ "--disk", "../../kernel", "no such disk" },
		{ "--disk", "/dev/", "no such disk" },
		{ "--duration", "0", "not more than zero" },
		{ "--duration", "5x", "not a time" },
		{ "--experiment", "a/b", "a name has letters" },
		{ "--experiment", "..", "a name has letters" },
		{ "--interval", "0", "whole seconds" },
		{ "--interval", "1,cpu=0", "cpu: not a number of whole seconds" },
		{ "--interval", "1,cpus=2", "not a time" },
		{ "--interval", "1500ms", "whole seconds" },
		{ "--interval", "x", "not a time" },
		{ "--keep", "1048575", "less than 1M" },
		{ "--keep", "1h", "not a size" },
		{ "--linger", "", "empty" },
		{ "--min-free", "2 G", "not a size" },
		{ "--min-latency", "1.1s", "more than 1 s" },
		{ "--min-latency", "1ns", "not a time" },
		{ "--output", "", "empty" },
		{ "--output", "a/%z", "% stands before h, j, n, e" },
		{ "--output", "100%", "% stands before h, j, n, e" },
		{ "--pid", "0", "not a process ID" },
		{ "--pid", "-1", "not a process ID" },
		{ "--pid", " 1", "not a process ID" },
		{ "--pid", "1,", "not a process ID" },
		{ "--pid", "1;2", "not a process ID" },
		{ "--pid", "99999999999999999999", "not a process ID" },
		{ "--pid", "2147483647", "2147483647: No such process" },
		{ "--probes", "open,nope", "no such probe: 'nope'" },
		{ "--rotate", "0", "not a size (64M, 1G) nor a time" },
		{ "--rotate", "0s", "less than a second" },
		{ "--rotate", "3x", "not a size (64M, 1G) nor a time" },
		{ "--rotate", "63K", "less than 64K" },
		{ "--rotate", "64", "not a size (64M, 1G) nor a time" },
		{ "--user", "no such user", "no such user" },
		{ "--workload", "", "empty" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char start[128];

		refuse(ARGS("--all", bad[i].option, bad[i].value), bad[i].reason);
		snprintf(start, sizeof(start), "dltraced start: %s '%s': ", bad[i].option, bad[i].value);
		assert_memory_equal(messages, start, strlen(start));
	}
}

static void extents_are_kept_where_requests_have_rows(void **state)
{
	const probe_mask map = PROBE_BIT(DLT_bio_map);

	accept(ARGS("--all"));
	assert_true(cfg.probes & map);
	accept(ARGS("--all", "-P", "-bio"));
	assert_false(cfg.probes & map);
	accept(ARGS("--all", "-P", "bio_map"));
	assert_int_equal(cfg.probes, map);
	accept(ARGS("--all", "--keep=sums"));
	assert_int_equal(cfg.probes & (map | PROBE_BIT(DLT_bio)), PROBE_BIT(DLT_bio));
	accept(ARGS("--all", "--keep=sums", "-P", "-bio_map"));
	assert_false(cfg.probes & map);
	refuse(ARGS("--all", "--keep=sums", "-P", "bio,bio_map"), "--keep sums writes no rows");
}

static void what_is_stored_how_goes_together(void **state)
{
	refuse(ARGS("--all", "--keep=sums", "--compress", "gzip"), "--keep sums writes no rows");
	refuse(ARGS("--all", "--keep=sums", "--rotate", "1h"), "--keep sums writes no rows");
	refuse(ARGS("--all", "--keep", "1M", "--rotate", "2M"), "--keep is less than --rotate");
	accept(ARGS("--all", "--keep", "1M", "--rotate", "1M"));
	accept(ARGS("--all", "--keep=sums"));
	assert_true(cfg.rollup_only);
	assert_int_equal(cfg.rotate_bytes, 0);
	accept(ARGS("--all", "--keep=sums", "--keep", "1G")); /* the last one counts */
	assert_false(cfg.rollup_only);
	accept(ARGS("--all", "--keep", "1G", "--keep=sums"));
	assert_int_equal(cfg.keep_bytes, 0);
}

static void accesses_are_seen_in_ways_that_there_are(void **state)
{
	accept(ARGS("-P", "+access", "--", "true"));
	assert_int_equal(cfg.access, ACCESS_AUTO);
	assert_int_equal(cfg.access_budget, 1);
	assert_int_equal(cfg.access_block_bytes, 65536);
	assert_true(cfg.probes >> DLT_access & 1);
	accept(ARGS("-P", "open", "--access", "budget=2", "--", "true")); /* options of a probe select it */
	assert_int_equal(cfg.probes & (PROBE_BIT(DLT_access) | PROBE_BIT(DLT_alloc)), PROBE_BIT(DLT_access));
	accept(ARGS("-P", "+access", "--access", "pages,budget=50%,block=2M,interval=10ms", "--", "true"));
	assert_int_equal(cfg.access, ACCESS_PAGES);
	assert_int_equal(cfg.access_budget, 50);
	assert_int_equal(cfg.access_block_bytes, 2 << 20);
	assert_int_equal(cfg.access_interval_ns, 10 * NSEC_PER_MSEC);
	accept(ARGS("--access", "block=4K", "--access", "pages", "--", "true")); /* they add up */
	assert_int_equal(cfg.access, ACCESS_PAGES);
	assert_int_equal(cfg.access_block_bytes, 4096);
	accept(ARGS("-P", "+access", "--access", "interval=0", "--", "true"));
	assert_int_equal(cfg.access, ACCESS_FAULTS); /* a row of each needs events */
	refuse(ARGS("--access", "pages,interval=0", "--", "true"), "needs --access faults");
	accept(ARGS("--access", "pmu,interval=0", "--", "true"));
	assert_int_equal(cfg.access, ACCESS_PMU);
	assert_int_equal(cfg.access_hz, 1000);
	accept(ARGS("--access", "pmu:5000", "--", "true"));
	assert_int_equal(cfg.access, ACCESS_PMU);
	assert_int_equal(cfg.access_hz, 5000);
	refuse(ARGS("--access", "pmu:", "--", "true"), "not a number of samples");
	refuse(ARGS("--access", "pmu:0", "--", "true"), "not a number of samples");
	refuse(ARGS("--access", "pmu:5k", "--", "true"), "not a number of samples");
	refuse(ARGS("--access", "pmu:123456789", "--", "true"), "not a number of samples");
	refuse(ARGS("--access", "pmus", "--", "true"), "not one of");
	accept(ARGS("-P", "+access", "--access", "watch=0x7f0000001000:4,4096,interval=20ms", "--", "true"));
	assert_int_equal(cfg.access, ACCESS_WATCH);
	assert_int_equal(cfg.access_watch[0].addr, 0x7f0000001000);
	assert_int_equal(cfg.access_watch[0].len, 4);
	assert_int_equal(cfg.access_watch[1].addr, 4096);
	assert_int_equal(cfg.access_watch[1].len, 8);
	assert_int_equal(cfg.access_watch[2].len, 0);
	refuse(ARGS("--access", "watch", "--", "true"), "watch=ADDR");
	refuse(ARGS("--access", "watch=", "--", "true"), "not an address");
	refuse(ARGS("--access", "watch=1x", "--", "true"), "not an address");
	refuse(ARGS("--access", "watch=0x1000:3", "--", "true"), "1, 2, 4 or 8");
	refuse(ARGS("--access", "watch=0x1000:16", "--", "true"), "1, 2, 4 or 8");
	refuse(ARGS("--access", "watch=0x1001:8", "--", "true"), "multiple");
	refuse(ARGS("--access", "watch=0xffffffff81000000", "--", "true"), "not an address");
	refuse(ARGS("--access", "watch=8,16,24,32,40", "--", "true"), "more than 4");
	accept(ARGS("--access", "writes", "--", "true"));
	assert_int_equal(cfg.access, ACCESS_WRITES);
	refuse(ARGS("--access", "interval=0,writes", "--", "true"), "needs --access faults");
	accept(ARGS("--access", "watch=train.py:42", "--", "true"));
	assert_int_equal(cfg.access, ACCESS_WATCH);
	assert_string_equal(cfg.access_site, "train.py:42");
	for (unsigned int i = 0; i < DLT_WATCHES; i++)
		assert_true(!cfg.access_watch[i].addr && cfg.access_watch[i].len == 8);
	assert_true(cfg.probes >> DLT_alloc & 1 && cfg.probes >> DLT_access & 1);
	accept(ARGS("--access", "watch=train.py:42", "--access", "watch=0x1000", "--", "true"));
	assert_string_equal(cfg.access_site, "");
	assert_int_equal(cfg.access_watch[1].len, 0);
	refuse(ARGS("--access", "watch=train.py:42", "--alloc", "sites=native", "--", "true"), "--alloc sites");
	refuse(ARGS("--access", "watch=train.py:42", "--pid", "1"), "needs a workload");
	refuse(ARGS("--access", "all", "--", "true"), "not one of auto, pages, faults");
	refuse(ARGS("--access", "budget=0", "--", "true"), "percentage");
	refuse(ARGS("--access", "budget=101", "--", "true"), "percentage");
	refuse(ARGS("--access", "budget=1.5", "--", "true"), "percentage");
	refuse(ARGS("--access", "block=12K", "--", "true"), "power of two");
	refuse(ARGS("--access", "block=4M", "--", "true"), "power of two");
	refuse(ARGS("--access", "interval=5ms", "--", "true"), "less than 10ms");
	refuse(ARGS("-P", "+access", "--keep=sums", "--", "true"), "nothing for alloc, access");
}

static void alloc_needs_a_workload_from_its_start_on(void **state)
{
	accept(ARGS("--alloc", "min=0", "--", "true"));
	assert_true(cfg.probes >> DLT_alloc & 1 && cfg.probes >> DLT_sites & 1);
	accept(ARGS("--alloc", "sites=none", "--", "true"));
	assert_true(cfg.probes >> DLT_alloc & 1);
	accept(ARGS("-P", "+alloc", "--alloc", "min=0,sites=caller", "--", "true"));
	assert_int_equal(cfg.alloc_min_bytes, 0);
	refuse(ARGS("-P", "+alloc", "--all"), "needs a workload");
	refuse(ARGS("-P", "+alloc", "--delay", "5s", "--", "true"), "cannot begin later");
	refuse(ARGS("-P", "+alloc", "--keep=sums", "--", "true"), "nothing for alloc");
	refuse(ARGS("--alloc", "sites=all", "--", "true"), "not one of auto, python, native, caller, none");
	refuse(ARGS("--alloc", "min=big", "--", "true"), "min: not a size");
	refuse(ARGS("--alloc", "max=1", "--", "true"), "neither min=SIZE nor sites=HOW");
	refuse(ARGS("-P", "sites", "--", "true"), "sites");
}

static void segments_have_a_size_where_they_are_needed(void **state)
{
	accept(ARGS("--all"));
	assert_int_equal(cfg.rotate_bytes + cfg.rotate_ns + cfg.keep_bytes + cfg.pack, 0);
	accept(ARGS("--all", "--compress", "gzip"));
	assert_int_equal(cfg.pack, PACK_GZIP);
	assert_int_equal(cfg.rotate_bytes, CONFIG_ROTATE_BYTES);
	accept(ARGS("--all", "--compress", "gzip", "--rotate", "10m"));
	assert_int_equal(cfg.rotate_bytes, 0);
	assert_int_equal(cfg.rotate_ns, 600 * NSEC_PER_SEC);
	accept(ARGS("--all", "--rotate", "10m", "--rotate", "1G"));
	assert_int_equal(cfg.rotate_bytes, 1 << 30);
	assert_int_equal(cfg.rotate_ns, 600 * NSEC_PER_SEC);
	accept(ARGS("--all", "--keep", "100G"));
	assert_int_equal(cfg.rotate_bytes, CONFIG_ROTATE_BYTES);
	accept(ARGS("--all", "--keep", "16M"));
	assert_int_equal(cfg.rotate_bytes, 1 << 20);
	accept(ARGS("--all", "--keep", "1M"));
	assert_int_equal(cfg.rotate_bytes, 64 << 10);
}

static void misspelt_options_are_named(void **state)
{
	refuse(ARGS("--all", "--durations", "5"), "unrecognized option '--durations'");
	refuse(ARGS("--all", "--duration"), "'--duration' requires an argument");
	refuse(ARGS("--all", "--log=x"), "'--log' doesn't allow an argument");
	refuse(ARGS("--all", "-Z"), "invalid option -- 'Z'");
}

static void lists_have_an_end(void **state)
{
	char *argv[2 * CONFIG_LIST_MAX + 5] = { "dltraced start", "--all" };

	for (int i = 0; i < CONFIG_LIST_MAX; i++) {
		argv[2 + 2 * i] = "--comm";
		argv[3 + 2 * i] = "x";
	}
	accept(argv);
	assert_int_equal(cfg.comm.n, CONFIG_LIST_MAX);
	argv[2 + 2 * CONFIG_LIST_MAX] = "--comm";
	argv[3 + 2 * CONFIG_LIST_MAX] = "x";
	refuse(argv, "given more than 32 times");
}

static void *parse_own_tid(void *arg)
{
	char tid[32];

	snprintf(tid, sizeof(tid), "%ld", syscall(SYS_gettid));
	refuse(ARGS("--pid", tid), "is a thread, not a process");
	return NULL;
}

static void thread_is_no_process(void **state)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, parse_own_tid, NULL), 0);
	pthread_join(thread, NULL);
}

/* Returns the base name of the first path that PATTERN matches, or skips the test. */
static void first_block_device(const char *pattern, unsigned int strip, char *name, size_t size)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found) != 0) {
		print_message("skipped: no %s\n", pattern);
		skip();
	}
	for (; strip; strip--)
		*strrchr(found.gl_pathv[0], '/') = '\0';
	snprintf(name, size, "%s", strrchr(found.gl_pathv[0], '/') + 1);
	globfree(&found);
}

static void disk_may_be_given_by_its_device(void **state)
{
	char name[256], device[300];

	first_block_device("/sys/class/block/*/queue", 1, name, sizeof(name));
	snprintf(device, sizeof(device), "/dev/%s", name);
	accept(ARGS("--all", "--disk", name, "--disk", device));
	assert_string_equal(cfg.disks.items[0], name);
	assert_string_equal(cfg.disks.items[1], name);
}

static void partition_is_no_disk(void **state)
{
	char name[256];

	first_block_device("/sys/class/block/*/partition", 1, name, sizeof(name));
	refuse(ARGS("--all", "--disk", name), "a partition");
}

static void experiment_is_named_after_the_script(void **state)
{
	static const struct {
		char *command;
		const char *name;
	} cases[] = {
		{ "python train.py", "train" },
		{ "python3 -u /data/lr=0.1/train.v2.py --config x.py", "train.v2" },
		{ "./start.sh", "start" },
		{ "torchrun --nproc 2 x.py", "x" },
		{ "OMP_NUM_THREADS=4 CONFIG=a.py ./bench -n 3", "bench" },
		{ "cd work && python 'my train.py'", "my_train" },
		{ "python3 \"train it.py\" --name 'a b.c'", "train_it" },
		{ "python3 train\\ it.py", "train_it" },
		{ "python3 'unfinished train.py", "unfinished_train" },
		{ "'' \"\" bash -lc \"exec 'my run.sh' 2>&1\"", "my_run" },
		{ "sh -c \"sh -c 'sh -c \\\"python x.py\\\"'\"", "x" },
		{ "ssh host 'cd /data; python3 train.py'", "train" },
		{ "/usr/bin/fio --output=a.sh job.fio", "fio" },
		{ "(/opt/app/bin/)", "bin" },
		{ "./.hidden", "_hidden" },
		{ "./na\xc3\xafve", "na__ve" },
		{ "python .py", "python" },
		{ ";;", "trace" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		accept(ARGS("--workload", cases[i].command));
		assert_string_equal(cfg.experiment, cases[i].name);
	}
	accept(ARGS("--", "bash", "-c", "exec ./run_all.sh --fast"));
	assert_string_equal(cfg.experiment, "run_all");
	accept(ARGS("--", "python3", "/data/train it.py"));
	assert_string_equal(cfg.experiment, "train_it");
	accept(ARGS("--", "/usr/bin/dd", "if=/dev/zero", "of=x.sh"));
	assert_string_equal(cfg.experiment, "dd");
}

static void experiment_is_named_after_the_target(void **state)
{
	char self[32], name[40];

	snprintf(self, sizeof(self), "%d", getpid());
	snprintf(name, sizeof(name), "pid%d", getpid());
	accept(ARGS("--pid", self, "--all"));
	assert_string_equal(cfg.experiment, name);
	accept(ARGS("--cgroup", "/sys/fs/cgroup/slurm/job_7/"));
	assert_string_equal(cfg.experiment, "job_7");
	accept(ARGS("--container", "mlperf/unet3d"));
	assert_string_equal(cfg.experiment, "mlperf_unet3d");
	accept(ARGS("--container", "x", "-e", "mine"));
	assert_string_equal(cfg.experiment, "mine");
}

static void help_has_a_line_for_each_option(void **state)
{
	static char *argv[] = { "dltraced start", "--help", NULL };
	char text[16384] = "", *copy, *line, *rest;
	int file = memfd_create("stdout", 0), status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		dup2(file, STDOUT_FILENO);
		cmd_start_parse(2, argv, 0, &cfg);
		_exit(1); /* argp has exited */
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(pread(file, text, sizeof(text) - 1, 0) > 0);
	close(file);
	for (const struct option_row *o = start_options; o->help; o++) {
		char option[64];

		if (!o->name)
			continue;
		snprintf(option, sizeof(option), "--%s%s", o->name, o->arg ? "=" : " ");
		copy = strdup(text);
		for (line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
			if (strstr(line, option))
				break;
		if (!line || !strstr(line, o->help) || strlen(line) > 79)
			fail_msg("%s has no line of its own: %s", option, line ? line : "");
		free(copy);
	}
}

/* An option that does not exist, or a value, is refused with the one that the user may have meant. */
static void similar_names_are_proposed(void **state)
{
	refuse(ARGS("--workloda", "x"), "start: unrecognized option '--workloda': did you mean --workload?\n");
	refuse(ARGS("--probs=open", "--", "true"), "unrecognized option '--probs': did you mean --probes?\n");
	refuse(ARGS("-q", "-workload", "x"), "unrecognized option '-workload': did you mean --workload?\n");
	refuse(ARGS("-o", "--force", "--fource"), "'--fource': did you mean --force?\n");
	refuse(ARGS("--halp"), "'--halp': did you mean --help?\n");
	refuse(ARGS("--probes", "open,vfs-rw", "--", "true"),
	       "no such probe: 'vfs-rw': did you mean vfs_rw? (`dltraced probes' lists them)");
	refuse(ARGS("--probes", "+aloc", "--", "true"), "'aloc': did you mean alloc?");
	refuse(ARGS("--probes", "file", "--", "true"),
	       "no such probe: 'file' ("); /* files is none that can be selected */
	refuse(ARGS("--collectors", "cpus,disk", "--", "true"), "no such collector: 'cpus': did you mean cpu?");
	/* getopt's own messages, and what is no option of ours */
	refuse(ARGS("--zzz"), "unrecognized option '--zzz'\n");
	refuse(ARGS("--al"), "option '--al' is ambiguous");
	refuse(ARGS("--best-effort=x"), "doesn't allow an argument");
	refuse(ARGS("stray", "--workloda"), "unexpected argument 'stray'");
	accept(ARGS("--work", "x")); /* a begin that is unambiguous */
	accept(ARGS("--", "true", "--workloda"));
	accept(ARGS("--workload", "--probs"));
	accept(ARGS("-o", "--probs", "--", "true"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(similar_names_are_proposed),
		cmocka_unit_test(has_defaults),
		cmocka_unit_test(accesses_are_seen_in_ways_that_there_are),
		cmocka_unit_test(alloc_needs_a_workload_from_its_start_on),
		cmocka_unit_test(workload_is_run_by_a_shell),
		cmocka_unit_test(command_behind_dashes_keeps_its_own_options),
		cmocka_unit_test(command_without_dashes_is_refused),
		cmocka_unit_test(only_one_workload_is_taken),
		cmocka_unit_test(no_target_shows_how_to_give_one),
		cmocka_unit_test(names_of_threads_select_nothing),
		cmocka_unit_test(targets_add_up),
		cmocka_unit_test(values_reach_the_config),
		cmocka_unit_test(scheduling_is_summed_up_for_a_target),
		cmocka_unit_test(requested_scheduling_is_not_optional),
		cmocka_unit_test(lines_are_kept_of_a_target_whose_writes_are_traced),
		cmocka_unit_test(brief_calls_need_reads_and_writes_and_no_threads),
		cmocka_unit_test(flags_reach_the_config),
		cmocka_unit_test(a_folder_may_have_an_archive_beside_it),
		cmocka_unit_test(gone_options_name_the_new_ones),
		cmocka_unit_test(background_logs_the_workload),
		cmocka_unit_test(what_needs_a_workload_says_so),
		cmocka_unit_test(bad_values_are_named),
		cmocka_unit_test(misspelt_options_are_named),
		cmocka_unit_test(segments_have_a_size_where_they_are_needed),
		cmocka_unit_test(extents_are_kept_where_requests_have_rows),
		cmocka_unit_test(what_is_stored_how_goes_together),
		cmocka_unit_test(lists_have_an_end),
		cmocka_unit_test(thread_is_no_process),
		cmocka_unit_test(disk_may_be_given_by_its_device),
		cmocka_unit_test(partition_is_no_disk),
		cmocka_unit_test(experiment_is_named_after_the_script),
		cmocka_unit_test(experiment_is_named_after_the_target),
		cmocka_unit_test(help_has_a_line_for_each_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
