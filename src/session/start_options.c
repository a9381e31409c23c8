/* SPDX-License-Identifier: BSD-2-Clause */
/* See start_options.h. A setter reads the machine (is there such a disk?) and changes nothing. */
#include "session/start_options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "collectors/collectors.h"
#include "collectors/kinds.h"
#include "host/rights/workload_user.h"
#include "job/workload.h"
#include "kernel/backend.h"
#include "trace/config.h"
#include "trace/outdir.h"
#include "trace/probe.h"
#include "trace/probe_mask.h"
#include "trace/unpack.h"

#define BUFFER_MIN_BYTES 4096 /* a BPF ring is at least one page */

static const char *because(struct start_parse *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static const char *because(struct start_parse *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->why, sizeof(p->why), fmt, ap);
	va_end(ap);
	return p->why;
}

static const char *set_true(struct start_parse *p, void *member, char *arg)
{
	*(bool *)member = true;
	return NULL;
}

static const char *set_false(struct start_parse *p, void *member, char *arg)
{
	*(bool *)member = false;
	return NULL;
}

static const char *set_quiet(struct start_parse *p, void *member, char *arg)
{
	*(enum log_level *)member = LOG_LEVEL_WARN;
	return NULL;
}

static const char *set_verbose(struct start_parse *p, void *member, char *arg)
{
	*(enum log_level *)member = LOG_LEVEL_DEBUG;
	return NULL;
}

static const char *set_text(struct start_parse *p, void *member, char *arg)
{
	*(const char **)member = arg;
	return NULL;
}

static const char *add_text(struct start_parse *p, void *member, char *arg)
{
	struct config_list *list = member;

	if (list->n == CONFIG_LIST_MAX)
		return because(p, "given more than %d times", CONFIG_LIST_MAX);
	list->items[list->n++] = arg;
	return NULL;
}

static const char *set_time(struct start_parse *p, void *member, char *arg)
{
	return config_parse_time(arg, member) < 0 ? "not a time (500ms, 30, 30s, 5m, 1h30m)" : NULL;
}

static const char *set_duration(struct start_parse *p, void *member, char *arg)
{
	const char *why = set_time(p, member, arg);

	return why || *(uint64_t *)member ? why : "no time at all";
}

/* The tools that sample take whole seconds. */
static const char *set_interval(struct start_parse *p, void *member, char *arg)
{
	const char *why = set_time(p, member, arg);
	uint64_t ns = why ? NSEC_PER_SEC : *(uint64_t *)member;

	return ns && ns % NSEC_PER_SEC == 0 ? why : "not a number of whole seconds from 1 on";
}

static const char *set_size(struct start_parse *p, void *member, char *arg)
{
	return config_parse_size(arg, member) < 0 ? "not a size (4096, 64K, 2M, 1G)" : NULL;
}

static const char *set_buffer(struct start_parse *p, void *member, char *arg)
{
	const char *why = set_size(p, member, arg);

	return why || *(uint64_t *)member >= BUFFER_MIN_BYTES ? why : "less than a page (4K)";
}

static const char *set_pack(struct start_parse *p, void *member, char *arg)
{
	enum pack pack = pack_find(arg);

	*(enum pack *)member = pack;
	if (pack == PACK_NONE)
		return "not one of gzip, zstd";
	if (!unpack_knows(pack))
		return because(p, "this dltraced was built without it (lib%s); --compress gzip is there", arg);
	return NULL;
}

static const char *set_rotate(struct start_parse *p, void *member, char *arg)
{
	uint64_t bytes = UINT64_MAX, ns = UINT64_MAX;

	if (config_parse_rotate(arg, &bytes, &ns) < 0)
		return "not a size (64M, 1G) nor a time (10m, 1h)";
	if (bytes < CONFIG_ROTATE_MIN_BYTES)
		return "less than 64K";
	if (ns < NSEC_PER_SEC)
		return "less than a second";
	*(bytes == UINT64_MAX ? &p->cfg->rotate_ns : &p->cfg->rotate_bytes) = bytes == UINT64_MAX ? ns : bytes;
	return NULL;
}

static const char *set_keep(struct start_parse *p, void *member, char *arg)
{
	const char *why = set_size(p, member, arg);

	return why || *(uint64_t *)member >= CONFIG_KEEP_MIN_BYTES ? why : "less than 1M";
}

static const char *set_backend(struct start_parse *p, void *member, char *arg)
{
	uint32_t mask = backend_parse(arg);

	*(uint32_t *)member = mask;
	return mask ? NULL : "not one of auto, fentry, kprobe, tracepoint";
}

static const char *set_sched(struct start_parse *p, void *member, char *arg)
{
	static const struct {
		const char *level;
		probe_mask probes;
	} levels[] = {
		{ "sums", PROBE_BIT(DLT_sched) },
		{ "timeline", PROBE_BIT(DLT_sched) | PROBE_BIT(DLT_sched_switch) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (!strcmp(levels[i].level, arg)) {
			*(probe_mask *)member = levels[i].probes;
			return NULL;
		}
	return "not one of sums, timeline";
}

static const char *set_probes(struct start_parse *p, void *member, char *arg)
{
	char bad[64];

	if (probe_parse_list(arg, member, bad) == 0)
		return NULL;
	return because(p, "no such probe: '%s' (`dltraced probes' lists them)", bad);
}

static bool is_collector(const char *name, size_t len)
{
	const char *known;

	for (unsigned int i = 0; (known = collectors_name(i)); i++)
		if (strlen(known) == len && memcmp(known, name, len) == 0)
			return true;
	return false;
}

static const char *set_collectors(struct start_parse *p, void *member, char *arg)
{
	*(const char **)member = arg;
	if (strcmp(arg, "none") == 0)
		return NULL;
	for (;;) {
		size_t len = strcspn(arg, ",");

		if (!is_collector(arg, len))
			return because(p, "no such collector: '%.*s' (`dltraced probes' lists "
				       "them)", (int)MIN(len, 64), arg);
		if (!arg[len])
			return NULL;
		arg += len + 1;
	}
}

static const char *add_pids(struct start_parse *p, void *member, char *arg)
{
	struct config *cfg = p->cfg;
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
		if (r == -EINVAL || r == -ENOENT) /* newer kernels: the second */
			return because(p, "%ld is a thread, not a process", pid);
		if (r < 0)
			return because(p, "%ld: %s", pid, strerror(-r));
		close(r);
		if (cfg->n_pids == CONFIG_LIST_MAX)
			return because(p, "more than %d processes", CONFIG_LIST_MAX);
		cfg->pids[cfg->n_pids++] = (pid_t)pid;
		if (!*end)
			return NULL;
	}
}

/* A whole disk by its kernel name; /dev/NAME means the same. */
static const char *add_disk(struct start_parse *p, void *member, char *arg)
{
	char *name = strncmp(arg, "/dev/", 5) ? arg : arg + 5;
	autofree char *disk = util_fmt("/sys/class/block/%s", name);
	autofree char *partition = util_fmt("/sys/class/block/%s/partition", name);

	if (!disk || !partition)
		return strerror(ENOMEM);
	if (!*name || *name == '.' || strchr(name, '/') || access(disk, F_OK) < 0)
		return "no such disk in /sys/class/block";
	if (access(partition, F_OK) == 0)
		return "a partition; requests are its disk's";
	return add_text(p, member, name);
}

static const char *set_user(struct start_parse *p, void *member, char *arg)
{
	struct workload_user user;
	int r = workload_user_get(&user, arg);

	if (r < 0)
		return r == -ENOENT ? "no such user" : strerror(-r);
	workload_user_free(&user);
	return set_text(p, member, arg);
}

static const char *set_output(struct start_parse *p, void *member, char *arg)
{
	static const struct outdir_names names = { .experiment = "" };
	char path[PATH_MAX];
	int r = outdir_expand(arg, &names, path, sizeof(path));

	if (r < 0)
		return r == -EINVAL ? "of % only %h %j %n %e %t %p and %% mean something" :
				      strerror(-r);
	return set_text(p, member, arg);
}

static const char *set_experiment(struct start_parse *p, void *member, char *arg)
{
	if (outdir_part(member, sizeof(p->cfg->experiment), arg))
		return NULL;
	return because(p, "a name has letters, digits, '_', '.' and '-', up to %d, and no '.' or "
		       "'-' in front", CONFIG_EXPERIMENT_MAX - 1);
}

static const char *set_workload(struct start_parse *p, void *member, char *arg)
{
	struct config *cfg = p->cfg;

	if (cfg->shell_cmd)
		return "given twice";
	cfg->shell_cmd = arg;
	cfg->shell_argv[0] = "/bin/sh";
	cfg->shell_argv[1] = "-c";
	cfg->shell_argv[2] = arg;
	cfg->argv = cfg->shell_argv;
	return NULL;
}

#define HEADING(text) { .help = (text) }
#define TO(m) offsetof(struct config, m) /* NOLINT(bugprone-macro-parentheses): a member */

const struct start_option start_options[] = {
	HEADING("What to trace (targets add up):"),
	{ "all", 0, NULL, "Every process of the machine",
	  set_true, TO(all) },
	{ "cgroup", 0, "PATH", "What is in this cgroup or comes into it",
	  add_text, TO(cgroups) },
	{ "container", 0, "NAME", "By name or ID; `new': all created from now on",
	  add_text, TO(containers) },
	{ "pid", 'p', "PID[,PID]", "Running processes and all that they start",
	  add_pids, 0 },
	{ "user", 0, "NAME", "Run the command as NAME, who gets the trace",
	  set_user, TO(user) },
	{ "wait-all", 0, NULL, "Until all that the command started has ended",
	  set_true, TO(wait_all) },
	{ "workload", 0, "CMD", "Run CMD by sh -c, from its first instruction",
	  set_workload, 0 },

	HEADING("What to record of it:"),
	{ "backend", 0, "NAME", "auto, fentry, kprobe or tracepoint",
	  set_backend, TO(backends) },
	{ "best-effort", 0, NULL, "Go on when something cannot be traced",
	  set_true, TO(best_effort) },
	{ "collectors", 0, "LIST", "Of cpu,disk,gpu,gpu_dev (default: all); or none",
	  set_collectors, TO(collectors) },
	{ "comm", 0, "GLOB", "Only threads whose name matches",
	  add_text, TO(comm) },
	{ "disk", 0, "NAME", "Of disk requests only those of, say, nvme0n1",
	  add_disk, TO(disks) },
	{ "exclude-comm", 0, "GLOB", "No threads whose name matches",
	  add_text, TO(exclude_comm) },
	{ "interval", 0, "S", "Between samples and sums (default: 1)",
	  set_interval, TO(interval_ns) },
	{ "no-args", 0, NULL, "Leave arguments out of pids.out, manifest.json",
	  set_true, TO(no_args) },
	{ "probes", 'P', "LIST", "bio,open: these; -mmap: not it; +sched: too",
	  set_probes, TO(probes) },
	{ "sched", 0, "LEVEL", "CPU scheduling: sums; timeline: each switch",
	  set_sched, TO(sched) },

	HEADING("The trace folder:"),
	{ "archive", 0, NULL, "Pack it into DIR.tar.gz at the end",
	  set_true, TO(archive) },
	{ "buffer", 0, "SIZE", "Memory of the rings (default: 1/64, up to 1G)",
	  set_buffer, TO(buffer_bytes) },
	{ "collect", 0, "GLOB", "Copy files that match into it at the end",
	  add_text, TO(collect) },
	{ "compress", 0, "FORMAT", "Compress it meanwhile: gzip or zstd",
	  set_pack, TO(pack) },
	{ "experiment", 'e', "NAME", "What %e is (default: the script's name)",
	  set_experiment, TO(experiment) },
	{ "force", 0, NULL, "Replace the trace that DIR holds",
	  set_true, TO(force) },
	{ "keep", 0, "SIZE", "Drop the oldest rows beyond; sums stay",
	  set_keep, TO(keep_bytes) },
	{ "log", 0, NULL, "The command's output into it too",
	  set_true, TO(log) },
	{ "min-free", 0, "SIZE", "Space to leave (default: 2 %, at least 2G)",
	  set_size, TO(min_free_bytes) },
	{ "metrics-file", 0, "FILE", "Its counters for Prometheus, every --interval",
	  set_text, TO(metrics_file) },
	{ "output", 'o', "DIR", "Its name (default: traces/%e_%t)",
	  set_output, TO(out) },

	{ "rollup-only", 0, NULL, "Sums per minute and process, no rows",
	  set_true, TO(rollup_only) },
	{ "rotate", 0, "SIZE|TIME", "New files at 64M, or every 10m",
	  set_rotate, 0 },

	HEADING("When:"),
	{ "background", 0, NULL, "Give the terminal back; implies --log",
	  set_true, TO(background) },
	{ "delay", 0, "T", "Begin to record after T",
	  set_time, TO(delay_ns) },
	{ "drop-caches", 0, NULL, "Write back and drop the page cache before",
	  set_true, TO(drop_caches) },
	{ "duration", 0, "T", "Record for T; the command goes on",
	  set_duration, TO(duration_ns) },
	{ "linger", 0, "T", "Record for T after the command: its write-back",
	  set_time, TO(linger_ns) },

	HEADING("Messages:"),
	{ "no-report", 0, NULL, "No summary at the end",
	  set_false, TO(report) },
	{ "quiet", 'q', NULL, "Only warnings and errors",
	  set_quiet, TO(log_level) },
	{ "report", 0, NULL, "A summary at the end (default: on a terminal)",
	  set_true, TO(report) },
	{ "verbose", 'v', NULL, "Say what is done and why",
	  set_verbose, TO(log_level) },
	{ 0 },
};

_Static_assert(ARRAY_SIZE(start_options) <= START_OPTIONS_MAX, "START_OPTIONS_MAX");

const struct start_option *start_option_find(const char *name)
{
	for (const struct start_option *o = start_options; o->help; o++)
		if (o->name && !strcmp(o->name, name))
			return o;
	return NULL;
}

const char *start_option_set(struct start_parse *p, const struct start_option *o, char *value)
{
	if (o->arg && !value)
		return "lacks its value";
	if (!o->arg && value)
		return "takes no value";
	return value && !*value ? "empty" : o->set(p, (char *)p->cfg + o->member, value);
}
