/* SPDX-License-Identifier: BSD-2-Clause */
/* The reclaim probe: memory that threads of the target had to free themselves before they got some. */
#include "dlt/reclaim.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "kernel/skel.h"
#include "reclaim.skel.h"
#include "trace/probe.h"

static const struct field_name kind_names[] = {
	{ DLT_RECLAIM_MACHINE, "machine" },
	{ DLT_RECLAIM_CGROUP, "cgroup" },
	{ 0, NULL },
};

static const struct field fields[] = {
	FIELDS_HEAD(struct dlt_reclaim),
	{ "KIND", "machine (it had too little free memory), cgroup (at its limit of memory)", FIELD_NAME,
	  offsetof(struct dlt_reclaim, kind), 0, 0, kind_names },
	FIELD_LAT_OF(struct dlt_reclaim),
	{ "PAGES", "pages that it freed", FIELD_S64, offsetof(struct dlt_reclaim, pages), .unit = "pages" },
};

/* A kernel without memory cgroups lacks the tracepoints of theirs: it has no rows of that kind. */
static void hooks_choose(const struct reclaim_bpf *skel, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	const bool perf = cfg->perf & DLT_PERF_TP;
	const struct {
		const char *tp;
		struct bpf_program *typed, *perf;
	} hooks[] = {
		{ "mm_vmscan_direct_reclaim_begin", skel->progs.reclaim_begin, skel->progs.reclaim_begin_perf },
		{ "mm_vmscan_direct_reclaim_end", skel->progs.reclaim_end, skel->progs.reclaim_end_perf },
		{ "mm_vmscan_memcg_reclaim_begin", skel->progs.reclaim_cgroup_begin,
		  skel->progs.reclaim_cgroup_begin_perf },
		{ "mm_vmscan_memcg_reclaim_end", skel->progs.reclaim_cgroup_end, skel->progs.reclaim_cgroup_end_perf },
	};

	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++) {
		bool there = kernel_btf_tp(kernel, hooks[i].tp) >= 0;

		bpf_program__set_autoload(hooks[i].typed, there && !perf);
		bpf_program__set_autoload(hooks[i].perf, there && perf);
	}
}

static int reclaim_open(struct probe_object *o, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	int r = SKEL_OPEN(reclaim, o, cfg, kernel);

	if (r == 0)
		hooks_choose(o->owner, cfg, kernel);
	return r;
}

static void in_flight(struct probe_object *object, void (*emit)(void *ctx, const struct dlt_hdr *rec), void *ctx,
		      uint64_t now_ns, unsigned int max)
{
	const struct reclaim_bpf *skel = object->owner;
	int fd = bpf_map__fd(skel->maps.reclaims);
	struct dlt_reclaim rec;
	uint32_t tid, *prev = NULL;

	for (; max-- && bpf_map_get_next_key(fd, prev, &tid) == 0; prev = &tid) {
		if (bpf_map_lookup_elem(fd, &tid, &rec) < 0)
			continue;
		rec.hdr.lat_ns = now_ns - rec.hdr.ts_ns;
		rec.hdr.ts_ns = now_ns;
		emit(ctx, &rec.hdr);
	}
}

const struct probe reclaim_probe = {
	.name = "reclaim",
	.help = "direct reclaim: memory that threads had to free themselves, for the machine or within a cgroup's "
		"limit",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_reclaim),
	.flags = PROBE_SELECTABLE | PROBE_OF_TARGET | PROBE_MAY_LACK,
	.open = reclaim_open,
	.in_flight = in_flight,
};
