/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of one trace. Filled by cmd_start, const for all others. Strings point into the command line;
 * nothing is allocated, so nothing is freed.
 */
#ifndef TRACE_CONFIG_H
#define TRACE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"
#include "dlt/dlt.h"
#include "trace/probe_mask.h"
#include "trace/segment.h"

#define CONFIG_LIST_MAX 32
#define CONFIG_EXPERIMENT_MAX 65 /* with its NUL */
#define CONFIG_ACCESS_SITE_MAX 256 /* likewise */

/* Strings of an option that can be given more than once. */
struct config_list {
	const char *items[CONFIG_LIST_MAX];
	unsigned int n;
};

/* An option as given. */
struct config_given {
	const char *name, *value; /* long name; value NULL: it takes none */
};

#define CONFIG_GIVEN_MAX 128

struct config {
	struct config_given given[CONFIG_GIVEN_MAX]; /* what the service's client passes on */
	unsigned int n_given;

	/* the workload: ends in NULL; NULL: none. With --workload it is shell_argv. */
	char **argv;
	char *shell_cmd; /* --workload's text, else NULL */
	char *shell_argv[4];

	/* the targets, and what narrows them */
	pid_t pids[CONFIG_LIST_MAX];
	unsigned int n_pids;
	struct config_list cgroups;
	struct config_list containers; /* names, ids, or "new" */
	bool all;
	struct config_list comm, exclude_comm; /* globs (fnmatch) */
	struct config_list disks; /* kernel names, as in /sys/class/block */
	struct config_list phases; /* REGEX=NAME: further lines of the job's output to keep */

	const char *out; /* -o, before expansion; NULL: the default */
	char experiment[CONFIG_EXPERIMENT_MAX]; /* -e, or named after the target; safe in a path */
	probe_mask probes; /* bit per probe of the registry */
	probe_mask probes_named; /* of these, the ones that --probes names */
	probe_mask meant; /* those that options of their own add to PROBES */
	probe_mask may_lack; /* of PROBES, the ones that the trace does without where the kernel refuses them */
	uint32_t backends; /* mask of 1 << enum backend; 0: auto */

	uint64_t duration_ns, delay_ns, linger_ns; /* 0: off */
	uint64_t interval_ns; /* of the collectors; whole seconds */
	uint64_t cpu_each_ns; /* between rows of single CPUs; 0: default */
	uint64_t buffer_bytes; /* all rings; 0: default */
	uint64_t min_free_bytes; /* SPACE_DEFAULT: see space.h */
	uint64_t min_latency_ns; /* of reads and writes that have rows without having needed a disk; 0: of all */

	enum pack pack; /* --compress; PACK_NONE: off */
	uint64_t rotate_bytes, rotate_ns; /* 0: not by size, not by time */
	uint64_t keep_bytes; /* 0: all */
	bool rollup_only; /* --keep sums */

	const char *user; /* --user */
	struct config_list collect;
	const char *collectors; /* --collectors, NULL: all */
	const char *metrics_file; /* NULL: none */
	enum log_level log_level; /* -q, -v */

	enum config_access {
		ACCESS_AUTO,
		ACCESS_FAULTS,
		ACCESS_PAGES,
		ACCESS_WRITES,
		ACCESS_PMU,
		ACCESS_WATCH,
		ACCESS_N,
	} access;
	struct dlt_watch access_watch[DLT_WATCHES]; /* LEN 0: none */
	char access_site[CONFIG_ACCESS_SITE_MAX]; /* the first bytes of the blocks that it allocates are watched, at no
						     address yet; "": none */
	unsigned int access_budget; /* of a CPU, in percent */
	unsigned int access_hz; /* samples of the PMU, a second */
	uint64_t access_interval_ns; /* accesses in it are joined; 0: each has a row of its own */
	uint64_t access_block_bytes; /* to blocks of this size */
	uint64_t alloc_min_bytes; /* blocks below it are only counted */
	enum config_alloc_sites {
		ALLOC_SITES_AUTO,
		ALLOC_SITES_PYTHON,
		ALLOC_SITES_NATIVE,
		ALLOC_SITES_CALLER,
		ALLOC_SITES_NONE,
		ALLOC_SITES_N,
	} alloc_sites;
	bool regions_auto; /* the workload's Python marks the regions of PyTorch */
	bool regions_named; /* by --regions, not by default */
	bool nvtx; /* the workload's ranges of NVTX are regions */
	bool wait_all, drop_caches, log, archive, background, best_effort, force, no_args, no_net_names;
	enum config_report {
		REPORT_VERDICT, /* a sentence of it at the end */
		REPORT_SCREEN, /* its first screen on standard output, too */
		REPORT_NONE, /* no report */
	} report;
	/* Called once the files are whole; NULL: nothing. Prints what the trace shows. */
	void (*at_end)(const struct config *cfg, const char *dir, int dirfd);
};

#define CONFIG_ACCESS_INTERVAL_NS (100 * 1000000ULL) /* of --access interval */
#define CONFIG_ACCESS_INTERVAL_MIN_NS (10 * 1000000ULL)
#define CONFIG_ACCESS_BLOCK_BYTES (64ULL << 10) /* of --access block */
#define CONFIG_ACCESS_BLOCK_MIN_BYTES (4ULL << 10)
#define CONFIG_ACCESS_BLOCK_MAX_BYTES (2ULL << 20)
#define CONFIG_ACCESS_HZ 1000 /* of --access pmu */
#define CONFIG_ACCESS_BUDGET 1 /* of --access budget, percent */
extern const char *const config_access[ACCESS_N]; /* their names */
#define CONFIG_ALLOC_MIN_BYTES 4096 /* of --alloc min */
extern const char *const config_alloc_sites[ALLOC_SITES_N]; /* their names */

#define CONFIG_ROTATE_BYTES (64ULL << 20) /* where --compress or --keep implies --rotate */
#define CONFIG_ROTATE_MIN_BYTES (64ULL << 10)
#define CONFIG_KEEP_MIN_BYTES (1ULL << 20)

#endif
