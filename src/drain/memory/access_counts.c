/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/memory/access_counts.h"

#include "base/json.h"
#include "trace/config.h"

static void put_samples(struct json *json, const struct config *cfg, const struct access_counts *counts)
{
	json_u64(json, "hz", cfg->access_hz);
	json_array(json, "events");
	for (unsigned int i = 0; i < PMU_EVENTS && counts->sampled[i]; i++)
		json_str(json, NULL, counts->sampled[i]);
	json_end(json);
	json_u64(json, "throttled", counts->losses.throttled);
	json_u64(json, "lost_samples", counts->losses.lost_samples);
	json_u64(json, "lost_records", counts->losses.lost_records);
	json_u64(json, "addressless_samples", counts->addressless);
}

void access_manifest(struct json *json, const struct config *cfg, const struct counts *all)
{
	const struct access_counts *counts = counts_of(all, DLT_access);
	unsigned int source = cfg->access;

	if (source == ACCESS_AUTO)
		source = counts->pages ? ACCESS_PAGES : ACCESS_FAULTS;
	json_object(json, "access");
	json_str(json, "source", config_access[source]);
	json_u64(json, "interval_ns", cfg->access_interval_ns);
	json_u64(json, "block_bytes", cfg->access_block_bytes);
	if (counts->pages) {
		json_u64(json, "budget_percent", cfg->access_budget);
		json_bool(json, "flushes", counts->flushes);
		json_u64(json, "looks", counts->looks);
		json_u64(json, "cpu_us", counts->cpu_ns / 1000);
		json_u64(json, "longest_look_us", counts->longest_ns / 1000);
		json_u64(json, "refused_processes", counts->refused);
	}
	if (cfg->access == ACCESS_PMU)
		put_samples(json, cfg, counts);
	if (cfg->access == ACCESS_WATCH && *cfg->access_site)
		json_u64(json, "unwatched_blocks", counts->unwatched);
	json_end(json);
}
