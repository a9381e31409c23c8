/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/memory/alloc_counts.h"

#include "base/json.h"
#include "base/util.h"
#include "trace/config.h"

/* VERSION: as PY_VERSION_HEX, 0: none. */
static void put_version(struct json *j, const char *name, uint64_t version)
{
	autofree char *text = util_fmt("%u.%u.%u", (unsigned int)(version >> 24 & 0xff),
				       (unsigned int)(version >> 16 & 0xff), (unsigned int)(version >> 8 & 0xff));

	json_str(j, name, version ? text : NULL);
}

void alloc_manifest(struct json *json, const struct config *cfg, const struct counts *all)
{
	const struct alloc_counts *counts = counts_of(all, DLT_alloc);

	json_object(json, "alloc");
	json_u64(json, "min_bytes", cfg->alloc_min_bytes);
	json_str(json, "sites", config_alloc_sites[cfg->alloc_sites]);
	json_u64(json, "small_calls", counts->small_calls);
	json_u64(json, "small_bytes", counts->small_bytes);
	json_u64(json, "threads", counts->threads);
	json_u64(json, "unread_threads", counts->unread);
	json_u64(json, "uncovered_processes", counts->uncovered);
	json_u64(json, "unkept_blocks", counts->unkept);
	json_u64(json, "refused_pages", counts->refused);
	json_u64(json, "skipped", counts->skipped);
	json_u64(json, "siteless", counts->siteless);
	json_u64(json, "python_programs", counts->python);
	json_u64(json, "unread_python_programs", counts->unread_python);
	put_version(json, "unread_python", counts->unread_version);
	json_u64(json, "probed_processes", all->functions.processes);
	json_u64(json, "refused_functions", all->functions.refused);
	json_u64(json, "failed_probes", all->functions.failed);
	json_u64(json, "live_blocks", counts->live_blocks);
	json_u64(json, "live_bytes", counts->live_bytes);
	json_end(json);
}
