/* SPDX-License-Identifier: BSD-2-Clause */
/* The access probe: which memory the target touches, by page tables, page faults or watched addresses. */
#include "dlt/access.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "access.skel.h"
#include "base/log.h"
#include "base/util.h"
#include "drain/memory/access.h"
#include "drain/memory/access_pages.h"
#include "drain/memory/access_runs.h"
#include "kernel/access/cpu_events.h"
#include "kernel/access/page_tables.h"
#include "kernel/access/pmu.h"
#include "kernel/skel.h"
#include "trace/config.h"
#include "trace/probe.h"

static const struct field_name source_names[] = { { DLT_ACCESS_FAULTS, "faults" }, { DLT_ACCESS_PAGES, "pages" },
						  { DLT_ACCESS_PMU, "pmu" },       { DLT_ACCESS_WATCH, "watch" },
						  { DLT_ACCESS_WRITES, "writes" }, { 0, NULL } };
static const struct field_name kind_names[] = {
	{ DLT_ACCESS_UNKNOWN, "-" },   { DLT_ACCESS_HEAP, "heap" }, { DLT_ACCESS_ANON, "anon" },
	{ DLT_ACCESS_STACK, "stack" }, { DLT_ACCESS_FILE, "file" }, { 0, NULL },
};

#define AT(member) offsetof(struct access_row, member)
static const struct field fields[] = {
	FIELDS_TIME("CLOCK_MONOTONIC at the end of the interval, ns", AT(hdr.ts_ns)),
	{ "PID", "process (tgid), as the initial namespace sees it", FIELD_U32, AT(hdr.tgid) },
	{ "SOURCE", "how the accesses were seen (--access): faults, pages, writes, pmu or watch", FIELD_NAME,
	  AT(source), 0, 0, source_names },
	{ "SPAN_NS", "interval before TIMESTAMP that they lie in, ns", FIELD_U64, AT(hdr.lat_ns) },
	{ "ADDR", "first block; where COUNT is 1, accessed address", FIELD_HEX, AT(addr) },
	{ "BYTES",
	  "of all blocks, each touched to an equal part; where COUNT is 1, of the page that ADDR is in; watch: of the "
	  "watched bytes",
	  FIELD_U64, AT(bytes), .unit = "bytes" },
	{ "TOUCHED", "of them in accessed pages; writes: in written ones; - for pmu", FIELD_S64, AT(touched),
	  .unit = "bytes" },
	{ "WRITTEN", "of them in pages that were written; - if unknown", FIELD_S64, AT(written), .unit = "bytes" },
	{ "COUNT", "faults; pmu: samples; watch: accesses; - for pages and writes", FIELD_S64, AT(count) },
	{ "HUGE", "of TOUCHED in huge pages; - if unknown", FIELD_S64, AT(huge), .unit = "bytes" },
	{ "NODE", "NUMA node, for pages and writes of one page in 61; - if unknown, or there is one node", FIELD_S64,
	  AT(node) },
	{ "TID", "where COUNT is 1: thread", FIELD_S64, AT(tid) },
	{ "IP", "where COUNT is 1: instruction, watch: the next one; - in the kernel", FIELD_ADDR, AT(ip) },
	{ "KIND", "heap, anon (other memory of no file), stack (of the main thread), file; - if unknown", FIELD_NAME,
	  AT(kind), 0, 0, kind_names },
	FIELD_FID_OF(struct access_row, id),
	{ "OFFSET", "of the first block in the file", FIELD_S64, AT(offset), .unit = "bytes" },
	{ "SITE", "watch: stack that allocated the block of a watched line or function, joins sites.out", FIELD_S64,
	  AT(site) },
};
#undef AT

static void decode(struct decode *d, const struct dlt_hdr *hdr)
{
	access_take(d, (const struct dlt_access *)hdr);
}

static void events_close(struct access_source *s)
{
	pthread_mutex_lock(&s->lock);
	for (unsigned int i = 0; i < s->n_events; i++) {
		cpu_events_close(s->events[i]);
		s->events[i] = NULL;
	}
	pthread_mutex_unlock(&s->lock);
}

/* Counts what the kernel reports to be lost; a CPU's that fails is tried again. */
static void events_follow(struct access_source *s)
{
	pthread_mutex_lock(&s->lock);
	for (unsigned int i = 0; i < s->n_events && s->events[i]; i++) {
		cpu_events_follow(s->events[i]);
		cpu_events_losses(s->events[i], &s->losses);
	}
	pthread_mutex_unlock(&s->lock);
}

static void state_free(void *state)
{
	struct access_source *s = state;

	access_pages_free(s->pages);
	events_close(s);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* What is looked for in page tables, and what there is instead; NULL: they are not read. */
static const struct table_use {
	enum page_use use;
	const char *instead;
} table_uses[ACCESS_N] = {
	[ACCESS_AUTO] = { PAGE_ACCESSED, "faults" },
	[ACCESS_PAGES] = { PAGE_ACCESSED, "faults" },
	[ACCESS_WRITES] = { PAGE_WRITTEN, "pages or faults" },
};

/* By page tables, where the user wants that or nothing else, and the machine can. 0, or -errno with OBJECT->why. */
static int tables_open(struct page_tables **ret, struct probe_object *object, const struct dlt_config *cfg,
		       const struct kernel_btf *kernel)
{
	const struct table_use *use = &table_uses[cfg->access];
	char why[256];
	int r = use->instead ? page_tables_open(ret, kernel, use->use, why, sizeof(why)) : 0;

	if (r < 0 && cfg->access == ACCESS_AUTO) {
		log_info("access.out has page faults: accessed bits cannot be read: %s", why);
		return 0;
	}
	if (r < 0)
		object->why =
			util_fmt("--access %s: %s: use --access %s", config_access[cfg->access], why, use->instead);
	return r;
}

static const struct cpu_event software = { .attr = { .type = PERF_TYPE_SOFTWARE,
						     .config = PERF_COUNT_SW_PAGE_FAULTS } };

/* Each access of the bytes of W; at address 0 none, until it is moved. */
static struct cpu_event breakpoint(const struct dlt_watch *w)
{
	return (struct cpu_event){ .attr = {
					   .type = PERF_TYPE_BREAKPOINT,
					   .sample_type = PERF_SAMPLE_ADDR,
					   .bp_type = HW_BREAKPOINT_RW,
					   .bp_addr = w->addr,
					   .bp_len = w->len,
					   .disabled = !w->addr,
				   } };
}

/* Puts the events that are needed here, if the machine has them: those of faults only WITHOUT their tracepoints. 0 or
 * -errno, with *WHY_NOT. */
static int events_choose(struct access_source *source, const struct dlt_config *cfg, bool without, char **why_not)
{
	char why[256];
	int r;

	if (cfg->access == ACCESS_PMU) {
		r = pmu_events_try(source->event, cfg->access_hz, why, sizeof(why));
		source->n_events = (unsigned int)MAX(r, 0);
	} else if (cfg->access == ACCESS_WATCH) {
		while (source->n_events < DLT_WATCHES && cfg->watch[source->n_events].len) {
			source->event[source->n_events] = breakpoint(&cfg->watch[source->n_events]);
			source->n_events++;
		}
		r = cpu_events_check(source->event, source->n_events);
		snprintf(why, sizeof(why), "the CPU's registers for %u breakpoints cannot be had: %s", source->n_events,
			 strerror(-MIN(r, 0)));
	} else {
		source->event[0] = software;
		source->n_events = without;
		return without ? cpu_events_check(&software, 1) : 0;
	}
	if (r < 0)
		*why_not = util_fmt("--access %s: %s: use %s", config_access[cfg->access], why,
				    r == -ERANGE ? "less" : "--access pages or faults");
	return MIN(r, 0);
}

/* Chooses the programs: those of page tables, of watched or sampled memory, or the best of faults. */
static int programs_choose(struct probe_object *object, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	const struct access_bpf *skel = object->owner;
	struct access_source *source = object->state;
	const bool tables = source->pages, sampled = cfg->access == ACCESS_WATCH || cfg->access == ACCESS_PMU,
		   faults = !tables && !sampled;
	const bool tp = kernel_btf_tp(kernel, "page_fault_user") >= 0, perf = cfg->perf & DLT_PERF_TP;

	/* for a single process from 6.1 on */
	const bool areas = kernel_btf_func(kernel, "bpf_iter_", "task_vma") > 0 &&
			   btf_has_member(kernel->btf, BTF_KIND_UNION, "bpf_iter_link_info", "task");
	const struct {
		struct bpf_program *prog;
		bool load, attach;
	} programs[] = {
		{ skel->progs.access_area, tables && areas, false },
		{ skel->progs.access_event, faults && !tp, false },
		{ skel->progs.access_kernel, faults && tp && !perf, true },
		{ skel->progs.access_kernel_perf, faults && tp && perf, true },
		{ skel->progs.access_sample, sampled, false },
		{ skel->progs.access_send, tables, false },
		{ skel->progs.access_user, faults && tp && !perf, true },
		{ skel->progs.access_user_perf, faults && tp && perf, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		bpf_program__set_autoload(programs[i].prog, programs[i].load);
		bpf_program__set_autoattach(programs[i].prog, programs[i].attach);
	}
	return events_choose(source, cfg, faults && !tp, &object->why);
}

static int access_open(struct probe_object *object, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	struct page_tables *tables = NULL;
	struct access_bpf *skel;
	struct access_source *source;
	int r = tables_open(&tables, object, cfg, kernel);

	if (!r)
		r = SKEL_OPEN(access, object, cfg, kernel);
	source = r < 0 ? NULL : calloc(1, sizeof(*source));
	if (!source) {
		page_tables_close(tables);
		return r < 0 ? r : -ENOMEM;
	}
	pthread_mutex_init(&source->lock, NULL);
	object->state = source;
	object->state_free = state_free;
	skel = object->owner;
	skel->rodata->page_shift = (uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	source->pages = tables ? access_pages_new(tables) : NULL;
	if (tables && !source->pages)
		return -ENOMEM;
	return programs_choose(object, cfg, kernel) ?: bpf_map__set_type(skel->maps.dlt_scratch, BPF_MAP_TYPE_ARRAY);
}

static int begin(struct access_source *source, const struct access_bpf *skel)
{
	const bool faults = bpf_program__autoload(skel->progs.access_event);
	const int prog = bpf_program__fd(faults ? skel->progs.access_event : skel->progs.access_sample);
	int r = 0;

	if (source->pages)
		return access_pages_go(
			source->pages, bpf_map__fd(skel->maps.runs), bpf_program__fd(skel->progs.access_send),
			bpf_program__autoload(skel->progs.access_area) ? bpf_program__fd(skel->progs.access_area) : -1);
	source->addressless = source->n_events ? &skel->bss->addressless : NULL;
	pthread_mutex_lock(&source->lock);
	for (unsigned int i = 0; !r && i < source->n_events; i++)
		r = cpu_events_open(&source->events[i], &source->event[i], prog);
	pthread_mutex_unlock(&source->lock);
	return r;
}

static int access_emit(struct probe_object *object, enum probe_emit when)
{
	struct access_source *source = object->state;

	if (when == PROBE_EMIT_BEGIN)
		return begin(source, object->owner);
	if (when != PROBE_EMIT_END)
		events_follow(source);
	if (when == PROBE_EMIT_STOP && source->pages)
		access_pages_stop(source->pages);
	if (when == PROBE_EMIT_STOP)
		events_close(source);
	return 0;
}

const struct probe access_probe = {
	.name = "access",
	.help = "which memory is touched, by block and interval",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_access),
	.seg_at = sizeof(struct access_row), /* which the table describes; there are no strings */
	.flags = PROBE_SELECTABLE | PROBE_ON_DEMAND | PROBE_OWN_SCRATCH,
	.open = access_open,
	.decode = decode,
	.emit = access_emit,
};
