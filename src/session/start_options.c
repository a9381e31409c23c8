/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of options and their setters. A setter may look at the machine (does the disk exist?) but changes nothing.
 */
#include "session/start_options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "applog/applog.h"
#include "base/log.h"
#include "base/similar.h"
#include "base/units.h"
#include "base/util.h"
#include "collectors/collectors.h"
#include "collectors/kinds.h"
#include "host/experiment.h"
#include "host/numa.h"
#include "host/rights/workload_user.h"
#include "host/space.h"
#include "kernel/backend.h"
#include "os/cpus.h"
#include "session/memory_options.h"
#include "trace/config.h"
#include "trace/outdir.h"
#include "trace/probe.h"
#include "trace/probe_mask.h"
#include "trace/unpack.h"

static const char *set_quiet(struct option_parse *p, void *member, char *arg)
{
	*(enum log_level *)member = LOG_LEVEL_WARN;
	return NULL;
}

static const char *set_verbose(struct option_parse *p, void *member, char *arg)
{
	*(enum log_level *)member = LOG_LEVEL_DEBUG;
	return NULL;
}

static const char *add_text(struct option_parse *p, void *member, char *arg)
{
	struct config_list *list = member;

	if (list->n == CONFIG_LIST_MAX)
		return option_because(p, "given more than %d times", CONFIG_LIST_MAX);
	list->items[list->n++] = arg;
	return NULL;
}

static const char *add_phase(struct option_parse *p, void *member, char *arg)
{
	struct applog_rules rules = { .n = 0 };
	char error[256];

	if (applog_add_rule(&rules, arg, error, sizeof(error)) < 0)
		return option_because(p, "%s", error);
	applog_free_rules(&rules);
	return add_text(p, member, arg);
}

/* The tools that sample (mpstat, iostat) accept only whole seconds. */
static const char *set_interval(struct option_parse *p, void *member, char *arg)
{
	const char *why = option_time(p, member, arg);
	uint64_t ns = why ? NSEC_PER_SEC : *(uint64_t *)member;

	return ns && ns % NSEC_PER_SEC == 0 ? why : "not a number of whole seconds from 1 on";
}

static const char *set_pack(struct option_parse *p, void *member, char *arg)
{
	enum pack pack = pack_find(arg);

	*(enum pack *)member = pack;
	if (pack == PACK_NONE)
		return "not one of gzip, zstd";
	if (!unpack_knows(pack))
		return option_because(p, "this dltraced was built without it (lib%s): use --compress gzip", arg);
	return NULL;
}

static const char *set_rotate(struct option_parse *parse, void *member, char *arg)
{
	struct config *cfg = parse->into;
	uint64_t bytes = UINT64_MAX, ns = UINT64_MAX;

	if (units_parse_size_or_time(arg, &bytes, &ns) < 0)
		return "not a size (64M, 1G) nor a time (10m, 1h)";
	if (bytes < CONFIG_ROTATE_MIN_BYTES)
		return "less than 64K";
	if (ns < NSEC_PER_SEC)
		return "less than a second";
	*(bytes == UINT64_MAX ? &cfg->rotate_ns : &cfg->rotate_bytes) = bytes == UINT64_MAX ? ns : bytes;
	return NULL;
}

static const char *set_keep(struct option_parse *p, void *member, char *arg)
{
	const char *why = option_size(p, member, arg);

	return why || *(uint64_t *)member >= CONFIG_KEEP_MIN_BYTES ? why : "less than 1M";
}

static const char *set_backend(struct option_parse *p, void *member, char *arg)
{
	uint32_t mask = backend_parse(arg);

	*(uint32_t *)member = mask;
	return mask ? NULL : "not one of auto, fentry, kprobe, tracepoint";
}

static const char *set_regions(struct option_parse *p, void *member, char *arg)
{
	*(bool *)member = !strcmp(arg, "auto");
	return *(bool *)member || !strcmp(arg, "off") ? NULL : "not one of auto, off";
}

static const char *set_sched(struct option_parse *parse, void *member, char *arg)
{
	static const struct {
		const char *level;
		unsigned int flag;
	} levels[] = { { "sums", PROBE_SCHED_SUMS }, { "timeline", PROBE_SCHED_TIMELINE } };
	struct config *cfg = parse->into;

	cfg->no_sched = !strcmp(arg, "off");
	cfg->sched = 0;
	if (cfg->no_sched)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		if (strcmp(levels[i].level, arg))
			continue;
		cfg->sched = probe_mask_of(levels[i].flag, 0);
		return NULL;
	}
	return "not one of off, sums, timeline";
}

static const char *set_probes(struct option_parse *parse, void *member, char *arg)
{
	struct config *cfg = parse->into;
	char bad[64], hint[64];
	struct similar s;

	if (probe_parse_list(arg, &cfg->probes, &cfg->probes_named, bad) == 0)
		return NULL;
	s = similar_to(bad, strlen(bad));
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (probes[i]->flags & PROBE_SELECTABLE)
			similar_offer(&s, probes[i]->name);
	return option_because(parse, "no such probe: '%s'%s (`dltraced probes' lists them)", bad,
			      similar_text(&s, "", hint, sizeof(hint)));
}

static const char *set_collectors(struct option_parse *parse, void *member, char *arg)
{
	const char *bad;
	char hint[64];
	struct similar s;

	*(const char **)member = arg;
	if (collectors_parse(arg, &bad) >= 0)
		return NULL;
	s = similar_to(bad, strcspn(bad, ","));
	for (size_t i = 0; i < COLLECTOR_KINDS; i++)
		similar_offer(&s, collector_kinds[i].name);
	return option_because(parse, "no such collector: '%.*s'%s (`dltraced probes' lists them)", (int)MIN(s.len, 64U),
			      bad, similar_text(&s, "", hint, sizeof(hint)));
}

static const char *add_pids(struct option_parse *parse, void *member, char *arg)
{
	struct config *cfg = parse->into;
	char *end;

	for (char *digits = arg;; digits = end + 1) {
		long pid = 0;
		int r;

		end = digits;
		if (isdigit((unsigned char)*digits))
			pid = strtol(digits, &end, 10);
		if (pid <= 0 || pid > INT_MAX || (*end && *end != ','))
			return "not a process ID";
		r = util_pidfd_open((pid_t)pid);
		if (r == -EINVAL || r == -ENOENT) /* -ENOENT on newer kernels */
			return option_because(parse, "%ld is a thread, not a process", pid);
		if (r < 0)
			return option_because(parse, "%ld: %s", pid, strerror(-r));
		close(r);
		if (cfg->n_pids == CONFIG_LIST_MAX)
			return option_because(parse, "more than %d processes", CONFIG_LIST_MAX);
		cfg->pids[cfg->n_pids++] = (pid_t)pid;
		if (!*end)
			return NULL;
	}
}

/* Adds a whole disk by its kernel name; /dev/NAME is allowed, too. */
static const char *add_disk(struct option_parse *parse, void *member, char *arg)
{
	char *name = strncmp(arg, "/dev/", 5) ? arg : arg + 5;
	autofree char *disk = util_fmt("/sys/class/block/%s", name);
	autofree char *partition = util_fmt("/sys/class/block/%s/partition", name);

	if (!disk || !partition)
		return strerror(ENOMEM);
	if (!*name || *name == '.' || strchr(name, '/') || access(disk, F_OK) < 0)
		return "no such disk in /sys/class/block";
	if (access(partition, F_OK) == 0)
		return "a partition: name its disk, which has the requests";
	return add_text(parse, member, name);
}

static const char *set_mem_node(struct option_parse *parse, void *member, char *arg)
{
	char list[4096], *end = arg;
	const unsigned long node = isdigit((unsigned char)*arg) ? strtoul(arg, &end, 10) : 0;
	bool allowed[NUMA_NODES_MAX];

	if (end == arg || *end)
		return "not the number of a NUMA node";
	numa_allowed(list, sizeof(list));
	cpus_in(list, allowed, NUMA_NODES_MAX);
	if (!*list)
		return "this kernel lists no NUMA nodes";
	if (node >= NUMA_NODES_MAX || !allowed[node])
		return option_because(parse, "no NUMA node whose memory can be used here: %s can", list);
	*(int *)member = (int)node;
	return NULL;
}

static const char *set_user(struct option_parse *p, void *member, char *arg)
{
	struct workload_user user;
	int r = workload_user_get(&user, arg);

	if (r < 0)
		return r == -ENOENT ? "no such user" : strerror(-r);
	workload_user_free(&user);
	return option_text(p, member, arg);
}

static const char *set_report(struct option_parse *p, void *member, char *arg)
{
	*(enum config_report *)member = REPORT_SCREEN;
	return NULL;
}

static const char *set_no_report(struct option_parse *p, void *member, char *arg)
{
	*(enum config_report *)member = REPORT_NONE;
	return NULL;
}

static const char *set_output(struct option_parse *p, void *member, char *arg)
{
	static const struct outdir_names names = { .experiment = "" };
	char path[PATH_MAX];
	int r = outdir_expand(arg, &names, path, sizeof(path));

	if (r < 0)
		return r == -EINVAL ? "% stands before h, j, n, e, t, p or %" : strerror(-r);
	return option_text(p, member, arg);
}

static const char *set_experiment(struct option_parse *p, void *member, char *arg)
{
	if (outdir_part(member, CONFIG_EXPERIMENT_MAX, arg))
		return NULL;
	return option_because(p,
			      "a name has letters, digits, '_', '.' and '-', up to %d, and no '.' or "
			      "'-' in front",
			      CONFIG_EXPERIMENT_MAX - 1);
}

static const char *set_workload(struct option_parse *parse, void *member, char *arg)
{
	struct config *cfg = parse->into;

	if (cfg->shell_cmd)
		return "given twice";
	cfg->shell_cmd = arg;
	cfg->shell_argv[0] = "/bin/sh";
	cfg->shell_argv[1] = "-c";
	cfg->shell_argv[2] = arg;
	cfg->argv = cfg->shell_argv;
	return NULL;
}

#define TO(m) offsetof(struct config, m) /* NOLINT(bugprone-macro-parentheses): a member */

const struct option_row start_options[] = {
	OPTION_HEADING("What to trace (targets add up):"),
	{ "all", 0, NULL, "Every process of the machine", option_true, TO(all), START_IN_CONFIG | START_TARGET },
	{ "cgroup", 0, "PATH", "Processes in this cgroup, now and later", add_text, TO(cgroups),
	  START_IN_CONFIG | START_LIST | START_TARGET },
	{ "container", 0, "NAME", "Container, by name or ID; `new': all from now on", add_text, TO(containers),
	  START_IN_CONFIG | START_LIST | START_TARGET },
	{ "mem-node", 0, "NODE", "Bind the command's memory to this NUMA node", set_mem_node, TO(mem_node),
	  START_BY_USER },
	{ "pid", 'p', "PID[,PID]", "Running processes and all that they start", add_pids, 0, START_BY_USER },
	{ "user", 0, "NAME", "Run the command as NAME, owner of the trace", set_user, TO(user) },
	{ "wait-all", 0, NULL, "Trace until all processes of CMD have ended", option_true, TO(wait_all),
	  START_BY_SERVICE },
	{ "workload", 0, "CMD", "Run CMD by sh -c, from its first instruction", set_workload, 0, START_BY_USER },

	OPTION_HEADING("What to record:"),
	{ "access", 0, "HOW", "Memory: auto,pages,faults,writes,pmu,watch=WHAT", memory_set_access, TO(access),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "access-block", 0, "SIZE", "Size of the blocks in access.out (default: 64K)", memory_set_access_block,
	  TO(access_block_bytes), START_IN_CONFIG | START_BY_SERVICE },
	{ "access-budget", 0, "PERCENT", "CPU time for looking at pages (default: 1)", memory_set_access_budget,
	  TO(access_budget), START_IN_CONFIG | START_BY_SERVICE },
	{ "access-interval", 0, "T", "Length of access.out's intervals (default: 100ms)", memory_set_access_interval,
	  TO(access_interval_ns), START_IN_CONFIG | START_BY_SERVICE },
	{ "alloc-min", 0, "SIZE", "Record allocations from SIZE on (+alloc: from 4K)", memory_set_alloc_min,
	  TO(alloc_min_bytes), START_IN_CONFIG | START_BY_SERVICE },
	{ "alloc-sites", 0, "HOW", "Alloc stacks: auto, python, native, caller, none", memory_set_alloc_sites,
	  TO(alloc_sites), START_IN_CONFIG | START_BY_SERVICE },
	{ "backend", 0, "NAME", "Hooks: auto, fentry, kprobe or tracepoint", set_backend, TO(backends),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "best-effort", 0, NULL, "Go on when something cannot be traced", option_true, TO(best_effort),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "collectors", 0, "LIST", "Sample cpu,disk,gpu,gpu_dev (default: all); none", set_collectors, TO(collectors),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "comm", 0, "GLOB", "Trace only threads whose name matches", add_text, TO(comm),
	  START_IN_CONFIG | START_LIST | START_BY_SERVICE },
	{ "cpu-each", 0, "T", "Interval of single CPUs' samples (as --interval)", set_interval, TO(cpu_each_ns),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "disk", 0, "NAME", "Record only requests of this disk, as nvme0n1", add_disk, TO(disks),
	  START_IN_CONFIG | START_LIST | START_BY_SERVICE },
	{ "dry", 0, NULL, "Run CMD untraced: its time, its memory, no rows", option_true, TO(dry), START_BY_USER },
	{ "exclude-comm", 0, "GLOB", "Trace no threads whose name matches", add_text, TO(exclude_comm),
	  START_IN_CONFIG | START_LIST | START_BY_SERVICE },
	{ "interval", 0, "S", "Seconds between samples and sums (default: 1)", set_interval, TO(interval_ns),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "no-args", 0, NULL, "Leave arguments out of pids.out, manifest.json", option_true, TO(no_args),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "nvtx", 0, NULL, "Record ranges that CMD marks by NVTX 3 as regions", option_true, TO(nvtx),
	  START_BY_SERVICE },
	{ "phase", 0, "REGEX=NAME", "Keep printed lines that match, for report --phase", add_phase, TO(phases) },
	{ "probes", 'P', "LIST", "bio,open: only these; -mmap, +syscalls: changes", set_probes, 0,
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "regions", 0, "MODE", "Regions of PyTorch jobs: auto; off (default)", set_regions, TO(regions_auto),
	  START_BY_SERVICE },
	{ "sched", 0, "LEVEL", "CPU scheduling: sums (default); timeline; off", set_sched, 0,
	  START_IN_CONFIG | START_BY_SERVICE },

	OPTION_HEADING("The trace folder:"),
	{ "archive", 0, NULL, "Pack the trace into DIR.tar.gz at the end", option_true, TO(archive), START_BY_USER },
	{ "buffer", 0, "SIZE", "Memory of the rings (default: 1/64, up to 1G)", option_buffer, TO(buffer_bytes),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "collect", 0, "GLOB", "Copy files that match into the trace at the end", add_text, TO(collect),
	  START_BY_USER },
	{ "compress", 0, "FORMAT", "Compress closed files of the trace: gzip or zstd", set_pack, TO(pack),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "experiment", 'e', "NAME", "Name of the experiment, %e (default: the script)", set_experiment, TO(experiment),
	  START_BY_SERVICE },
	{ "force", 0, NULL, "Replace an older trace in DIR", option_true, TO(force), START_BY_USER },
	{ "keep", 0, "SIZE", "Drop the oldest rows beyond SIZE; sums stay", set_keep, TO(keep_bytes),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "log", 0, NULL, "Keep the command's output in the trace, too", option_true, TO(log), START_BY_USER },
	{ "min-free", 0, "SIZE", "Disk space to leave (default: 5 %, at most 2G)", option_size, TO(min_free_bytes),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "metrics-file", 0, "FILE", "Write Prometheus metrics every --interval", option_text, TO(metrics_file),
	  START_IN_CONFIG },
	{ "output", 'o', "DIR", "Folder of the trace (default: traces/%e_%t)", set_output, TO(out), START_BY_USER },

	{ "rollup-only", 0, NULL, "Write sums per minute and process, no rows", option_true, TO(rollup_only),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "rotate", 0, "SIZE|TIME", "Begin new files at 64M, or every 10m", set_rotate, 0,
	  START_IN_CONFIG | START_BY_SERVICE },

	OPTION_HEADING("When:"),
	{ "background", 0, NULL, "Return to the shell at once; implies --log", option_true, TO(background),
	  START_BY_USER },
	{ "delay", 0, "T", "Begin to record after T", option_time, TO(delay_ns), START_BY_SERVICE },
	{ "drop-caches", 0, NULL, "Write back and drop the page cache at first", option_true, TO(drop_caches) },
	{ "duration", 0, "T", "Record for T; the command goes on", option_duration, TO(duration_ns), START_BY_SERVICE },
	{ "linger", 0, "T", "Record for T after the command's end: write-back", option_time, TO(linger_ns),
	  START_BY_SERVICE },

	OPTION_HEADING("Messages:"),
	{ "no-report", 0, NULL, "No verdict at the end: the trace is not read", set_no_report, TO(report),
	  START_BY_USER },
	{ "quiet", 'q', NULL, "Only warnings and errors", set_quiet, TO(log_level), START_BY_SERVICE },
	{ "report", 0, NULL, "Also print the report's first screen at the end", set_report, TO(report), START_BY_USER },
	{ "verbose", 'v', NULL, "Also log each step and its reason", set_verbose, TO(log_level), START_BY_USER },
	{ 0 },
};

_Static_assert(ARRAY_SIZE(start_options) <= OPTIONS_MAX, "OPTIONS_MAX");

/* --- all options together -------------------------------------------------------------------------------- */

void start_config_defaults(struct config *cfg)
{
	*cfg = (struct config){
		.probes = PROBES_DEFAULT,
		.interval_ns = NSEC_PER_SEC,
		.min_free_bytes = SPACE_DEFAULT,
		.mem_node = -1,
		.log_level = LOG_LEVEL_INFO,
		.access_budget = CONFIG_ACCESS_BUDGET,
		.access_hz = CONFIG_ACCESS_HZ,
		.access_interval_ns = CONFIG_ACCESS_INTERVAL_NS,
		.access_block_bytes = CONFIG_ACCESS_BLOCK_BYTES,
		.alloc_min_bytes = CONFIG_ALLOC_MIN_BYTES,
	};
}

/* Returns what the options lack, or how they contradict one another; NULL: they fit. */
static const char *check(const struct config *cfg)
{
	bool target = cfg->argv || cfg->n_pids || cfg->cgroups.n || cfg->containers.n || cfg->all;

	if (!target && (cfg->comm.n || cfg->exclude_comm.n))
		return "--comm and --exclude-comm narrow a target and select none: add --workload, "
		       "--pid, --cgroup, --container or --all";
	if (cfg->dry && (!cfg->argv || cfg->n_pids || cfg->cgroups.n || cfg->containers.n || cfg->all))
		return "--dry runs a workload, and traces nothing: give --workload or -- CMD, and no other target";
	if (!target)
		return "nothing to trace: give --workload \"CMD\" or -- CMD ARG..., or attach with "
		       "--pid, --cgroup, --container or --all";
	if (!cfg->argv && cfg->log)
		return "--log keeps a workload's output, and there is no workload";
	if (!cfg->argv && cfg->mem_node >= 0)
		return "--mem-node places a workload's memory, and there is no workload";
	if (!cfg->argv && cfg->wait_all)
		return "--wait-all waits for a workload's descendants, and there is no workload";
	if (!cfg->argv && cfg->regions_auto)
		return "--regions auto needs a workload: the environment of running processes cannot be changed";
	if (!cfg->argv && cfg->nvtx)
		return "--nvtx needs a workload: the environment of running processes cannot be changed";
	if (cfg->nvtx && !(cfg->probes >> DLT_regions & 1))
		return "--nvtx makes rows of regions, and --probes leaves regions out";
	if (!cfg->argv && (!cfg->n_pids || cfg->all) && cfg->probes >> DLT_alloc & 1)
		return "--probes +alloc needs a workload, which loads the library that records allocations, or --pid "
		       "alone, for those of tensors";
	if (cfg->rollup_only && (cfg->pack || cfg->rotate_bytes || cfg->rotate_ns || cfg->keep_bytes))
		return "--rollup-only writes no rows, so there is nothing for --compress, --rotate and --keep";
	if (cfg->rollup_only && cfg->probes & cfg->probes_named & PROBE_BIT(DLT_bio_map))
		return "--rollup-only writes no rows of requests, so there is nothing for bio_map";
	if (cfg->argv && cfg->delay_ns && cfg->probes >> DLT_alloc & 1)
		return "--probes +alloc records from the beginning of each program on, so it cannot begin later "
		       "(--delay)";
	if (cfg->rollup_only && cfg->probes >> DLT_alloc & 1)
		return "--rollup-only writes no rows, so there is nothing for alloc";
	if (!cfg->access_interval_ns && (cfg->access == ACCESS_PAGES || cfg->access == ACCESS_WRITES))
		return "--access-interval 0 gives each page fault a row of its own: it needs --access faults";
	if (cfg->access == ACCESS_WATCH && *cfg->access_site && !cfg->argv)
		return "--access watch=FILE.py:LINE needs a workload, which loads the library that records allocations";
	if (cfg->access == ACCESS_WATCH && *cfg->access_site && cfg->alloc_sites != ALLOC_SITES_AUTO &&
	    cfg->alloc_sites != ALLOC_SITES_PYTHON)
		return "--access watch=FILE.py:LINE needs lines of Python: --alloc-sites auto or python";
	if (cfg->rollup_only && cfg->probes >> DLT_access & 1)
		return "--rollup-only writes no rows, so there is nothing for access";
	if (cfg->keep_bytes && cfg->rotate_bytes > cfg->keep_bytes)
		return "--keep is less than --rotate: not one segment could be kept";
	return NULL;
}

/* --compress and --keep need segments: without --rotate, the segments get a default size. */
static void imply_rotate(struct config *cfg)
{
	if (cfg->rotate_bytes || cfg->rotate_ns || (!cfg->pack && !cfg->keep_bytes))
		return;
	cfg->rotate_bytes = CONFIG_ROTATE_BYTES;
	if (cfg->keep_bytes)
		cfg->rotate_bytes = MAX(MIN(cfg->rotate_bytes, cfg->keep_bytes / 16), CONFIG_ROTATE_MIN_BYTES);
}

/*
 * Sums of CPU scheduling are on by default, as the report needs them to find waits, but not with --all. Probes that are
 * on by default, and that a kernel may refuse (these sums, page faults), may be missing. A probe that the user requests
 * may not.
 */
static void imply_sched(struct config *cfg)
{
	const probe_mask timeline = probe_mask_of(PROBE_SCHED_TIMELINE, 0), named = cfg->probes_named | cfg->sched;
	const probe_mask implied = probe_mask_of(PROBE_SCHED_SUMS, 0) & ~named;

	cfg->probes |= cfg->sched;
	if (cfg->no_sched)
		cfg->probes &= ~timeline;
	else if (cfg->all)
		cfg->probes &= ~implied;
	else
		cfg->may_lack = implied;
	cfg->may_lack |= probe_mask_of(PROBE_MAY_LACK, 0) & ~named;
}

/*
 * The lines that the job prints are kept by default where writes of a target are traced. With --all there is no job;
 * with
 * --log the relay has all lines already.
 */
static void imply_printed(struct config *cfg)
{
	const probe_mask printed = PROBE_BIT(DLT_printed);
	const bool named = cfg->probes_named & printed, writes = cfg->probes >> DLT_vfs_rw & 1;

	if (cfg->log || (cfg->background && cfg->argv) || (!named && (cfg->all || !writes)))
		cfg->probes &= ~printed;
}

/* The probe of the pieces of requests is on by default where the requests have rows. */
static void imply_bio_map(struct config *cfg)
{
	const probe_mask map = PROBE_BIT(DLT_bio_map);

	if (!(cfg->probes_named & map) && (cfg->rollup_only || !(cfg->probes >> DLT_bio & 1)))
		cfg->probes &= ~map;
}

/*
 * A dry run is what a traced one is compared with, and so takes its options, too: those about what to record have no
 * effect, and the workload's environment is as without dltraced.
 */
static void imply_dry(struct config *cfg)
{
	if (!cfg->dry)
		return;
	cfg->probes = cfg->sched = 0;
	cfg->collectors = "none";
	cfg->regions_auto = cfg->nvtx = cfg->wait_all = cfg->rollup_only = false;
	cfg->delay_ns = cfg->duration_ns = cfg->linger_ns = 0;
	cfg->rotate_bytes = cfg->rotate_ns = cfg->keep_bytes = 0;
	cfg->pack = PACK_NONE;
	cfg->metrics_file = NULL;
}

const char *start_config_finish(struct config *cfg)
{
	const char *why;

	cfg->probes |= cfg->meant;
	why = check(cfg);
	if (why)
		return why;
	imply_dry(cfg);
	imply_sched(cfg);
	imply_printed(cfg);
	imply_bio_map(cfg);
	if (!cfg->access_interval_ns && cfg->access == ACCESS_AUTO)
		cfg->access = ACCESS_FAULTS;
	if (cfg->probes >> DLT_alloc & 1)
		cfg->probes |= PROBE_BIT(DLT_sites);
	imply_rotate(cfg);
	if (!*cfg->experiment)
		experiment_name(cfg, cfg->experiment, sizeof(cfg->experiment));
	return NULL;
}
