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
#include "dlt/vfs_rw_sums.h"
#include "host/experiment.h"
#include "host/machine/space.h"
#include "host/rights/workload_user.h"
#include "kernel/backend.h"
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

/* GLOB, or !GLOB, which leaves out */
static const char *add_comm(struct option_parse *p, void *member, char *arg)
{
	struct config *cfg = p->into;

	if (*arg != '!')
		return add_text(p, &cfg->comm, arg);
	return arg[1] ? add_text(p, &cfg->exclude_comm, arg + 1) : "no pattern behind the !";
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

#define TO(m) offsetof(struct config, m) /* NOLINT(bugprone-macro-parentheses): a member */

/* The tools that sample (mpstat, iostat) accept only whole seconds. */
static const char *set_seconds(struct option_parse *p, void *member, char *arg)
{
	const char *why = option_time(p, member, arg);
	uint64_t ns = why ? NSEC_PER_SEC : *(uint64_t *)member;

	return ns && ns % NSEC_PER_SEC == 0 ? why : "not a number of whole seconds from 1 on";
}

static const char *set_interval(struct option_parse *p, void *member, char *arg)
{
	static const struct option_row parts[] = { { "cpu", 0, "T", NULL, set_seconds, TO(cpu_each_ns) }, { 0 } };
	autofree char *rest = NULL;
	const char *why = option_parts(p, parts, arg, &rest);

	return why || !*rest ? why : set_seconds(p, member, rest);
}

static const char *set_min_latency(struct option_parse *p, void *member, char *arg)
{
	struct config *cfg = p->into;
	const char *why = option_time(p, member, arg);

	if (why)
		return why;
	cfg->meant &= ~PROBE_BIT(DLT_vfs_rw_sums);
	if (cfg->min_latency_ns)
		cfg->meant |= PROBE_BIT(DLT_vfs_rw_sums);
	return cfg->min_latency_ns <= DLT_RW_BRIEF_MAX_NS ? NULL : "more than 1 s";
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
	if (bytes == UINT64_MAX)
		cfg->rotate_ns = ns;
	else
		cfg->rotate_bytes = bytes;
	return NULL;
}

static const char *set_keep(struct option_parse *p, void *member, char *arg)
{
	struct config *cfg = p->into;
	const char *why;

	cfg->rollup_only = !strcmp(arg, "sums");
	cfg->keep_bytes = 0;
	why = cfg->rollup_only ? NULL : option_size(p, member, arg);
	return why || cfg->rollup_only || cfg->keep_bytes >= CONFIG_KEEP_MIN_BYTES ? why : "less than 1M";
}

static const char *set_backend(struct option_parse *p, void *member, char *arg)
{
	uint32_t mask = backend_parse(arg);

	*(uint32_t *)member = mask;
	return mask ? NULL : "not one of auto, fentry, kprobe, tracepoint";
}

static const char *set_regions(struct option_parse *p, void *member, char *arg)
{
	const bool both = !strcmp(arg, "auto,nvtx") || !strcmp(arg, "nvtx,auto");
	struct config *cfg = p->into;

	cfg->regions_auto = both || !strcmp(arg, "auto");
	cfg->nvtx = both || !strcmp(arg, "nvtx");
	cfg->regions_named = cfg->regions_auto || cfg->nvtx;
	return cfg->regions_named || !strcmp(arg, "off") ? NULL : "not one of auto, nvtx, off";
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
	static const char *const names[] = {
		[REPORT_VERDICT] = "verdict", [REPORT_SCREEN] = "screen", [REPORT_NONE] = "none"
	};
	const unsigned int i = option_word(names, ARRAY_SIZE(names), arg);

	*(enum config_report *)member = i;
	return i < ARRAY_SIZE(names) ? NULL : "not one of none, screen, verdict";
}

/* DIR, or DIR.tar.gz */
static const char *set_output(struct option_parse *p, void *member, char *arg)
{
	static const struct outdir_names names = { .experiment = "" };
	char path[PATH_MAX];
	int r = outdir_expand(arg, &names, path, sizeof(path));
	struct config *cfg = p->into;

	if (r < 0)
		return r == -EINVAL ? "% stands before h, j, n, e, t, p or %" : strerror(-r);
	cfg->archive = arg[outdir_stem(arg)];
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

const struct option_row start_options[] = {
	OPTION_HEADING("What to trace (targets add up):"),
	{ "all", 0, NULL, "Every process of the machine", option_true, TO(all), START_IN_CONFIG | START_TARGET },
	{ "cgroup", 0, "PATH", "Processes in this cgroup, now and later", add_text, TO(cgroups),
	  START_IN_CONFIG | START_LIST | START_TARGET },
	{ "container", 0, "NAME", "Container, by name or ID; `new': all from now on", add_text, TO(containers),
	  START_IN_CONFIG | START_LIST | START_TARGET },
	{ "pid", 'p', "PID[,PID]", "Running processes and all that they start", add_pids, 0, START_BY_USER },
	{ "user", 0, "NAME", "Run the command as NAME, owner of the trace", set_user, TO(user) },
	{ "wait-all", 0, NULL, "Trace until all processes of CMD have ended", option_true, TO(wait_all),
	  START_BY_SERVICE },
	{ "workload", 0, "CMD", "Run CMD by sh -c, from its first instruction", set_workload, 0, START_BY_USER },

	OPTION_HEADING("What to record:"),
	{ "access", 0, "HOW[,KEY=V]", "Memory: auto,pages,faults,writes,pmu,watch=WHAT", memory_set_access, TO(access),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "alloc", 0, "KEY=V[,KEY=V]", "Allocations of min=SIZE (4K), stacks by sites=HOW", memory_set_alloc, 0,
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "backend", 0, "NAME", "Hooks: auto, fentry, kprobe or tracepoint", set_backend, TO(backends),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "best-effort", 0, NULL, "Go on when something cannot be traced", option_true, TO(best_effort),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "collectors", 0, "LIST", "cpu,disk,gpu,gpu_dev,cgroup (default: all); none", set_collectors, TO(collectors),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "comm", 0, "GLOB", "Only threads whose name matches; !GLOB: others", add_comm, 0,
	  START_IN_CONFIG | START_LIST | START_BY_SERVICE },
	{ "disk", 0, "NAME", "Record only requests of this disk, as nvme0n1", add_disk, TO(disks),
	  START_IN_CONFIG | START_LIST | START_BY_SERVICE },
	{ "interval", 0, "S[,cpu=T]", "Seconds between samples (1), and of single CPUs", set_interval, TO(interval_ns),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "min-latency", 0, "T", "Sum up shorter reads and writes without a disk", set_min_latency, TO(min_latency_ns),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "no-args", 0, NULL, "Leave arguments out of pids.out, manifest.json", option_true, TO(no_args),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "no-net-names", 0, NULL, "Do not look for the names of peers of sockets", option_true, TO(no_net_names),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "phase", 0, "REGEX=NAME", "Keep printed lines that match, for report --phase", add_phase, TO(phases) },
	{ "probes", 'P', "LIST", "bio,open: only these; -mmap, +syscalls: changes", set_probes, 0,
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "regions", 0, "LIST", "Regions of PyTorch (auto), NVTX 3: auto,nvtx; off", set_regions, 0, START_BY_SERVICE },

	OPTION_HEADING("The trace folder:"),
	{ "buffer", 0, "SIZE", "Memory of the rings (default: 1/64, up to 1G)", option_buffer, TO(buffer_bytes),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "collect", 0, "GLOB", "Copy files that match into the trace at the end", add_text, TO(collect),
	  START_BY_USER },
	{ "compress", 0, "FORMAT", "Compress closed files of the trace: gzip or zstd", set_pack, TO(pack),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "experiment", 'e', "NAME", "Name of the experiment, %e (default: the script)", set_experiment, TO(experiment),
	  START_BY_SERVICE },
	{ "force", 0, NULL, "Replace an older trace in DIR", option_true, TO(force), START_BY_USER },
	{ "keep", 0, "SIZE|sums", "Drop the oldest rows beyond SIZE; sums: keep none", set_keep, TO(keep_bytes),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "log", 0, NULL, "Keep the command's output in the trace, too", option_true, TO(log), START_BY_USER },
	{ "min-free", 0, "SIZE", "Disk space to leave (default: 5 %, at most 2G)", option_size, TO(min_free_bytes),
	  START_IN_CONFIG | START_BY_SERVICE },
	{ "metrics-file", 0, "FILE", "Write Prometheus metrics every --interval", option_text, TO(metrics_file),
	  START_IN_CONFIG },
	{ "output", 'o', "DIR", "Folder (traces/%e_%t); DIR.tar.gz packs it, too", set_output, TO(out), START_BY_USER },
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
	{ "quiet", 'q', NULL, "Only warnings and errors", set_quiet, TO(log_level), START_BY_SERVICE },
	{ "report", 0, "WHAT", "At the end: none, screen, verdict (default)", set_report, TO(report), START_BY_USER },
	{ "verbose", 'v', NULL, "Also log each step and its reason", set_verbose, TO(log_level), START_BY_USER },
	{ 0 },
};

const struct option_gone start_gone[] = {
	{ "access-block", "--access=HOW,block=SIZE" },
	{ "access-budget", "--access=HOW,budget=PERCENT" },
	{ "access-interval", "--access=HOW,interval=T" },
	{ "alloc-min", "--alloc=min=SIZE" },
	{ "alloc-sites", "--alloc=sites=HOW" },
	{ "archive", "--output=DIR.tar.gz" },
	{ "cpu-each", "--interval=S,cpu=T" },
	{ "dry", "scripts/recipes/matrix, which runs commands untraced, too" },
	{ "exclude-comm", "--comm=!GLOB" },
	{ "mem-node", "numactl --membind=NODE CMD" },
	{ "no-report", "--report=none" },
	{ "nvtx", "--regions=nvtx" },
	{ "rollup-only", "--keep=sums" },
	{ "sched", "--probes=-sched, +sched or +sched,+sched_switch" },
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
		.log_level = LOG_LEVEL_INFO,
		.regions_auto = true,
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
	const bool workload = cfg->argv, sums = cfg->rollup_only, alloc = cfg->probes >> DLT_alloc & 1,
		   target = workload || cfg->n_pids || cfg->cgroups.n || cfg->containers.n || cfg->all,
		   site = cfg->access == ACCESS_WATCH && *cfg->access_site,
		   maps_named = cfg->probes & cfg->probes_named & PROBE_BIT(DLT_bio_map);
	const struct {
		bool has, lacks;
		const char *text;
	} rules[] = {
		{ cfg->comm.n || cfg->exclude_comm.n, target,
		  "--comm narrows a target and selects none: add --workload, --pid, --cgroup, --container or --all" },
		{ true, target,
		  "nothing to trace: give --workload \"CMD\" or -- CMD ARG..., or attach with --pid, --cgroup, "
		  "--container or --all" },
		{ cfg->log, workload, "--log keeps a workload's output, and there is no workload" },
		{ cfg->wait_all, workload, "--wait-all waits for a workload's descendants, and there is no workload" },
		{ cfg->regions_named, workload,
		  "--regions needs a workload: the environment of running processes cannot be changed" },
		{ cfg->nvtx, cfg->probes >> DLT_regions & 1,
		  "--regions nvtx makes rows of regions, and --probes leaves regions out" },
		{ alloc, workload || (cfg->n_pids && !cfg->all),
		  "--probes +alloc needs a workload, which loads the library that records allocations, or --pid alone, "
		  "for those of tensors" },
		{ alloc && workload, !cfg->delay_ns,
		  "--probes +alloc records from the beginning of each program on, so it cannot begin later (--delay)" },
		{ cfg->access == ACCESS_PAGES || cfg->access == ACCESS_WRITES, cfg->access_interval_ns,
		  "--access interval=0 gives each page fault a row of its own: it needs --access faults" },
		{ site, workload,
		  "--access watch=FILE.py:LINE needs a workload, which loads the library that records allocations" },
		{ site, cfg->alloc_sites == ALLOC_SITES_AUTO || cfg->alloc_sites == ALLOC_SITES_PYTHON,
		  "--access watch=FILE.py:LINE needs lines of Python: --alloc sites=auto or sites=python" },
		{ sums, !cfg->pack && !cfg->rotate_bytes && !cfg->rotate_ns,
		  "--keep sums writes no rows, so there is nothing for --compress and --rotate" },
		{ sums, !alloc && !(cfg->probes >> DLT_access & 1) && !maps_named,
		  "--keep sums writes no rows, so there is nothing for alloc, access and bio_map" },
		{ cfg->min_latency_ns, cfg->probes >> DLT_vfs_rw & 1,
		  "--min-latency is about reads and writes, which --probes leaves out" },
		{ cfg->min_latency_ns, !cfg->comm.n && !cfg->exclude_comm.n,
		  "--min-latency sums up by process, and --comm is about threads: give one of them" },
		{ cfg->probes >> DLT_vfs_rw_sums & 1, cfg->min_latency_ns,
		  "vfs_rw_sums has the calls that --min-latency leaves without rows: give both" },
		{ cfg->keep_bytes, cfg->rotate_bytes <= cfg->keep_bytes,
		  "--keep is less than --rotate: not one segment could be kept" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].has && !rules[i].lacks)
			return rules[i].text;
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
 * Sums of CPU scheduling and of calls on sockets, and rows of waits, are on by default, as the report needs them, but
 * not with --all. Probes that are on by default, and that a kernel may refuse (these sums, page faults), may be
 * missing. A probe that the user requests may not.
 */
static void imply_optional(struct config *cfg)
{
	if (cfg->all)
		cfg->probes &=
			~(PROBE_BIT(DLT_net) | PROBE_BIT(DLT_sched) | PROBE_BIT(DLT_sockets) | PROBE_BIT(DLT_waits)) |
			cfg->probes_named;
	cfg->may_lack = probe_mask_of(PROBE_MAY_LACK, 0) & ~cfg->probes_named;
}

/*
 * The lines that the job prints about phases are kept by default where writes of a target are traced; with --log as
 * well, since the relay has all lines, but late. With --all there is no job.
 */
static void imply_printed(struct config *cfg)
{
	const probe_mask printed = PROBE_BIT(DLT_printed);
	const bool named = cfg->probes_named & printed, writes = cfg->probes >> DLT_vfs_rw & 1;

	if (!named && (cfg->all || !writes))
		cfg->probes &= ~printed;
}

/* The probe of the pieces of requests is on by default where the requests have rows. */
static void imply_bio_map(struct config *cfg)
{
	const probe_mask map = PROBE_BIT(DLT_bio_map);

	if (!(cfg->probes_named & map) && (cfg->rollup_only || !(cfg->probes >> DLT_bio & 1)))
		cfg->probes &= ~map;
}

const char *start_config_finish(struct config *cfg)
{
	const char *why;

	cfg->probes |= cfg->meant;
	why = check(cfg);
	if (why)
		return why;
	imply_optional(cfg);
	imply_printed(cfg);
	imply_bio_map(cfg);
	if (!cfg->access_interval_ns && cfg->access == ACCESS_AUTO)
		cfg->access = ACCESS_FAULTS;
	if (cfg->probes >> DLT_alloc & 1)
		cfg->probes |= PROBE_BIT(DLT_sites);
	if (cfg->probes >> DLT_net & 1)
		cfg->probes |= PROBE_BIT(DLT_sockets);
	imply_rotate(cfg);
	if (!*cfg->experiment)
		experiment_name(cfg, cfg->experiment, sizeof(cfg->experiment));
	return NULL;
}
