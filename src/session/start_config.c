/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/start_config.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/log.h"
#include "base/util.h"
#include "host/experiment.h"
#include "host/space.h"
#include "trace/config.h"
#include "trace/probe.h"

void start_config_defaults(struct config *cfg)
{
	*cfg = (struct config){
		.probes = PROBES_DEFAULT,
		.interval_ns = NSEC_PER_SEC,
		.min_free_bytes = SPACE_DEFAULT,
		.log_level = LOG_LEVEL_INFO,
	};
}

/* What the options together lack or contradict; NULL: nothing. */
static const char *check(const struct config *cfg)
{
	bool target = cfg->argv || cfg->n_pids || cfg->cgroups.n || cfg->containers.n || cfg->all;

	if (!target && (cfg->comm.n || cfg->exclude_comm.n))
		return "--comm and --exclude-comm narrow a target and select none: add --workload, "
		       "--pid, --cgroup, --container or --all";
	if (!target)
		return "nothing to trace: give --workload \"CMD\" or -- CMD ARG..., or attach with "
		       "--pid, --cgroup, --container or --all";
	if (!cfg->argv && cfg->log)
		return "--log is of a workload's output, and there is no workload";
	if (!cfg->argv && cfg->wait_all)
		return "--wait-all waits for a workload's descendants, and there is no workload";
	if (cfg->rollup_only && (cfg->pack || cfg->rotate_bytes || cfg->rotate_ns || cfg->keep_bytes))
		return "--rollup-only writes no rows, so there is nothing for --compress, --rotate and --keep";
	if (cfg->keep_bytes && cfg->rotate_bytes > cfg->keep_bytes)
		return "--keep is less than --rotate: not one segment could be kept";
	return NULL;
}

/* What is compressed or dropped are segments: where nobody has said how large, that is ours to say. */
static void imply_rotate(struct config *cfg)
{
	if (cfg->rotate_bytes || cfg->rotate_ns || (!cfg->pack && !cfg->keep_bytes))
		return;
	cfg->rotate_bytes = CONFIG_ROTATE_BYTES;
	if (cfg->keep_bytes)
		cfg->rotate_bytes = MAX(MIN(cfg->rotate_bytes, cfg->keep_bytes / 16), CONFIG_ROTATE_MIN_BYTES);
}

const char *start_config_finish(struct config *cfg)
{
	const char *why = check(cfg);

	if (why)
		return why;
	cfg->probes |= cfg->sched;
	imply_rotate(cfg);
	if (!*cfg->experiment)
		experiment_name(cfg, cfg->experiment, sizeof(cfg->experiment));
	return NULL;
}
