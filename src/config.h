/* SPDX-License-Identifier: BSD-2-Clause */
/* What one trace was asked to do. Filled by cmd_start, const to everybody else. */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CONFIG_LIST_MAX 32

enum config_backend { BACKEND_AUTO, BACKEND_FENTRY, BACKEND_KPROBE, BACKEND_TRACEPOINT };

/* Strings given once or more; they point into argv or are owned by the config. */
struct config_list {
	const char *items[CONFIG_LIST_MAX];
	unsigned int n;
};

struct config {
	/* the workload: argv ending in NULL, or NULL; --workload becomes { "/bin/sh", "-c", CMD } */
	char **argv;
	const char *shell_cmd; /* --workload's text, else NULL */

	/* targets and what narrows them */
	pid_t pids[CONFIG_LIST_MAX];
	unsigned int n_pids;
	struct config_list cgroups;
	struct config_list containers; /* names, ids, or "new" */
	bool all;
	struct config_list comm, exclude_comm; /* globs (fnmatch) */
	struct config_list disks;	       /* kernel names, as in /sys/class/block */

	const char *out;	/* -o, before expansion; NULL: the default */
	const char *experiment; /* -e */
	uint32_t probes;	/* bit per probe of the registry */
	enum config_backend backend;

	uint64_t duration_ns, delay_ns, linger_ns; /* 0: not asked for */
	uint64_t interval_ns;			   /* of the collectors */
	uint64_t buffer_bytes;			   /* all rings; 0: default */
	uint64_t min_free_bytes;		   /* UINT64_MAX: default */

	const char *user; /* --user */
	struct config_list collect;
	const char *collectors; /* --collectors, NULL: all */

	bool wait_all, drop_caches, log, archive, background, best_effort, report, force, no_args;
};

/*
 * "500ms", "30", "30s", "5m", "1h30m", "2d" to ns; "123", "4K", "64M", "1G", "2T" to bytes.
 * 0 or -EINVAL, also for what 64 bits cannot hold.
 */
int config_parse_time(const char *s, uint64_t *ns_ret);
int config_parse_size(const char *s, uint64_t *bytes_ret);

#endif
