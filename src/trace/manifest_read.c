/* SPDX-License-Identifier: BSD-2-Clause */
/* The members of the manifest that are read as facts, by their paths as base/json_read.h gives them. */
#include "trace/manifest_read.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "base/shell.h"
#include "base/text.h"
#include "base/util.h"

#define MANIFEST_MAX_BYTES (16U << 20)

enum kind { BOOL, NAMES, NUMBER, STATUS, STR, UINT, WORD };
enum owner { TOP, PROBE, COLLECTOR };

struct fact {
	const char *path;
	enum owner owner;
	enum kind kind;
	size_t offset, size;
};

#define MEMBER(s, m) offsetof(struct s, m), sizeof(((struct s *)0)->m)

static const struct fact facts[] = {
	{ "alloc.min_bytes", TOP, UINT, MEMBER(manifest_facts, alloc.min_bytes) },
	{ "alloc.refused_pages", TOP, UINT, MEMBER(manifest_facts, alloc.refused_pages) },
	{ "alloc.siteless", TOP, UINT, MEMBER(manifest_facts, alloc.siteless) },
	{ "alloc.skipped", TOP, UINT, MEMBER(manifest_facts, alloc.skipped) },
	{ "alloc.small_bytes", TOP, UINT, MEMBER(manifest_facts, alloc.small_bytes) },
	{ "alloc.small_calls", TOP, UINT, MEMBER(manifest_facts, alloc.small_calls) },
	{ "alloc.uncovered_processes", TOP, UINT, MEMBER(manifest_facts, alloc.uncovered_processes) },
	{ "alloc.unkept_blocks", TOP, UINT, MEMBER(manifest_facts, alloc.unkept_blocks) },
	{ "alloc.unread_threads", TOP, UINT, MEMBER(manifest_facts, alloc.unread_threads) },
	{ "clock.localtime", TOP, STR, MEMBER(manifest_facts, localtime) },
	{ "clock.maxerror_us", TOP, UINT, MEMBER(manifest_facts, clock_maxerror_us) },
	{ "clock.synchronised", TOP, BOOL, MEMBER(manifest_facts, clock_synchronised) },
	{ "clock.tz", TOP, STR, MEMBER(manifest_facts, tz) },
	{ "clock.utc_offset_s", TOP, NUMBER, MEMBER(manifest_facts, utc_offset_s) },
	{ "clock_at_end.maxerror_us", TOP, UINT, MEMBER(manifest_facts, clock_maxerror_at_end_us) },
	{ "clock_at_end.synchronised", TOP, BOOL, MEMBER(manifest_facts, clock_synchronised_at_end) },
	{ "cmdline[]", TOP, WORD, MEMBER(manifest_facts, cmdline) },
	{ "collectors[].bytes", COLLECTOR, UINT, MEMBER(manifest_collector, bytes) },
	{ "collectors[].dropped", COLLECTOR, UINT, MEMBER(manifest_collector, dropped) },
	{ "collectors[].dropped_bytes", COLLECTOR, UINT, MEMBER(manifest_collector, dropped_bytes) },
	{ "collectors[].lost", COLLECTOR, UINT, MEMBER(manifest_collector, lost) },
	{ "collectors[].name", COLLECTOR, STR, MEMBER(manifest_collector, name) },
	{ "collectors[].rows", COLLECTOR, UINT, MEMBER(manifest_collector, rows) },
	{ "collectors[].state", COLLECTOR, STR, MEMBER(manifest_collector, state) },
	{ "compat_calls", TOP, UINT, MEMBER(manifest_facts, compat_calls) },
	{ "complete", TOP, BOOL, MEMBER(manifest_facts, complete) },
	{ "cut.begin_ns", TOP, UINT, MEMBER(manifest_facts, cut_begin_ns) },
	{ "dry", TOP, BOOL, MEMBER(manifest_facts, dry) },
	{ "end.monotonic_ns", TOP, UINT, MEMBER(manifest_facts, end_ns) },
	{ "end.utc", TOP, STR, MEMBER(manifest_facts, end_utc) },
	{ "host", TOP, STR, MEMBER(manifest_facts, host) },
	{ "io_uring.why", TOP, STR, MEMBER(manifest_facts, uring_why) },
	{ "job.left_running", TOP, UINT, MEMBER(manifest_facts, left_running) },
	{ "job.left_running_cpu_us", TOP, UINT, MEMBER(manifest_facts, left_running_cpu_us) },
	{ "job.processes[].comm", TOP, NAMES, MEMBER(manifest_facts, left_comms) },
	{ "kernel", TOP, STR, MEMBER(manifest_facts, kernel) },
	{ "machine.boot_id", TOP, STR, MEMBER(manifest_facts, boot_id) },
	{ "machine.page_bytes", TOP, UINT, MEMBER(manifest_facts, page_bytes) },
	{ "probes[].backend", PROBE, STR, MEMBER(manifest_probe, backend) },
	{ "probes[].bytes", PROBE, UINT, MEMBER(manifest_probe, bytes) },
	{ "probes[].calls", PROBE, UINT, MEMBER(manifest_probe, calls) },
	{ "probes[].dropped", PROBE, UINT, MEMBER(manifest_probe, dropped) },
	{ "probes[].dropped_bytes", PROBE, UINT, MEMBER(manifest_probe, dropped_bytes) },
	{ "probes[].filtered", PROBE, UINT, MEMBER(manifest_probe, filtered) },
	{ "probes[].late", PROBE, UINT, MEMBER(manifest_probe, late) },
	{ "probes[].lines", PROBE, UINT, MEMBER(manifest_probe, lines) },
	{ "probes[].lost", PROBE, UINT, MEMBER(manifest_probe, lost) },
	{ "probes[].lost_by.buffer", PROBE, UINT, MEMBER(manifest_probe, lost_by[LOSS_BUFFER]) },
	{ "probes[].lost_by.disk", PROBE, UINT, MEMBER(manifest_probe, lost_by[LOSS_DISK]) },
	{ "probes[].lost_by.in_flight", PROBE, UINT, MEMBER(manifest_probe, lost_by[LOSS_IN_FLIGHT]) },
	{ "probes[].lost_by.skipped", PROBE, UINT, MEMBER(manifest_probe, lost_by[LOSS_SKIPPED]) },
	{ "probes[].lost_by.stalled", PROBE, UINT, MEMBER(manifest_probe, lost_by[LOSS_STALLED]) },
	{ "probes[].lost_by.unmatched", PROBE, UINT, MEMBER(manifest_probe, lost_by[LOSS_UNMATCHED]) },
	{ "probes[].lost_by.unseen", PROBE, UINT, MEMBER(manifest_probe, lost_by[LOSS_UNSEEN]) },
	{ "probes[].name", PROBE, STR, MEMBER(manifest_probe, name) },
	{ "probes[].overwritten", PROBE, UINT, MEMBER(manifest_probe, overwritten) },
	{ "probes[].refused", PROBE, UINT, MEMBER(manifest_probe, refused) },
	{ "probes[].rows", PROBE, UINT, MEMBER(manifest_probe, rows) },
	{ "probes[].summed", PROBE, UINT, MEMBER(manifest_probe, summed) },
	{ "probes[].unmatched", PROBE, UINT, MEMBER(manifest_probe, unmatched) },
	{ "probes[].unread", PROBE, UINT, MEMBER(manifest_probe, unread) },
	{ "probes[].unseen", PROBE, UINT, MEMBER(manifest_probe, unseen) },
	{ "probes[].unsure", PROBE, UINT, MEMBER(manifest_probe, unsure) },
	{ "probes[].why", PROBE, STR, MEMBER(manifest_probe, why) },
	{ "schema", TOP, UINT, MEMBER(manifest_facts, schema) },
	{ "self.cpu_system_us", TOP, UINT, MEMBER(manifest_facts, self_system_us) },
	{ "self.cpu_user_us", TOP, UINT, MEMBER(manifest_facts, self_user_us) },
	{ "self.pid", TOP, UINT, MEMBER(manifest_facts, self_pid) },
	{ "skipped_runs", TOP, UINT, MEMBER(manifest_facts, skipped_runs) },
	{ "start.monotonic_ns", TOP, UINT, MEMBER(manifest_facts, start_ns) },
	{ "start.utc", TOP, STR, MEMBER(manifest_facts, start_utc) },
	{ "storage.dropped_unsummed_rows", TOP, UINT, MEMBER(manifest_facts, unsummed_rows) },
	{ "storage.rollup_only", TOP, BOOL, MEMBER(manifest_facts, rollup_only) },
	{ "target.containers[]", TOP, NAMES, MEMBER(manifest_facts, containers) },
	{ "tool", TOP, STR, MEMBER(manifest_facts, tool) },
	{ "version", TOP, STR, MEMBER(manifest_facts, version) },
	{ "workload.argv[]", TOP, WORD, MEMBER(manifest_facts, argv) },
	{ "workload.end.monotonic_ns", TOP, UINT, MEMBER(manifest_facts, workload_end_ns) },
	{ "workload.pid", TOP, UINT, MEMBER(manifest_facts, workload_pid) },
	{ "workload.rusage.involuntary_switches", TOP, UINT,
	  MEMBER(manifest_facts, usage[USAGE_INVOLUNTARY_SWITCHES]) },
	{ "workload.rusage.major_faults", TOP, UINT, MEMBER(manifest_facts, usage[USAGE_MAJOR_FAULTS]) },
	{ "workload.rusage.max_rss_bytes", TOP, UINT, MEMBER(manifest_facts, usage[USAGE_MAX_RSS_BYTES]) },
	{ "workload.rusage.minor_faults", TOP, UINT, MEMBER(manifest_facts, usage[USAGE_MINOR_FAULTS]) },
	{ "workload.rusage.system_ns", TOP, UINT, MEMBER(manifest_facts, usage[USAGE_SYSTEM_NS]) },
	{ "workload.rusage.user_ns", TOP, UINT, MEMBER(manifest_facts, usage[USAGE_USER_NS]) },
	{ "workload.rusage.voluntary_switches", TOP, UINT, MEMBER(manifest_facts, usage[USAGE_VOLUNTARY_SWITCHES]) },
	{ "workload.rusage.wall_ns", TOP, UINT, MEMBER(manifest_facts, usage[USAGE_WALL_NS]) },
	{ "workload.status", TOP, STATUS, MEMBER(manifest_facts, status) },
	{ "workload.user", TOP, STR, MEMBER(manifest_facts, user) },
};

/* Returns the entry that FACT belongs to; NULL past the last that fits, and outside of any. */
static void *owner_of(struct manifest_facts *m, const struct fact *fact)
{
	unsigned int probe = m->n_probes - 1, collector = m->n_collectors - 1;

	if (fact->owner == PROBE)
		return probe < MANIFEST_PROBES_MAX ? &m->probes[probe] : NULL;
	if (fact->owner == COLLECTOR)
		return collector < MANIFEST_COLLECTORS_MAX ? &m->collectors[collector] : NULL;
	return m;
}

#define NAMES_SEPARATOR ", "

/* Whether NAME is one of the LIST, which may be cut off. */
static bool has_name(const char *list, const char *name)
{
	const size_t len = strlen(name), gap = strlen(NAMES_SEPARATOR);

	for (const char *at = list, *next; at; at = next ? next + gap : NULL) {
		next = strstr(at, NAMES_SEPARATOR);
		if ((next ? (size_t)(next - at) : strlen(at)) == len && memcmp(at, name, len) == 0)
			return true;
	}
	return false;
}

/* Appends NAME to the LIST, where it is not one of them. */
static void add_name(char *list, size_t size, const char *name)
{
	const size_t end = strlen(list);

	if (*name && !has_name(list, name))
		snprintf(list + end, size - end, "%s%s", end ? NAMES_SEPARATOR : "", name);
}

static void store(struct manifest_facts *facts, const struct fact *fact, char *at, const char *value)
{
	if (fact->kind == STR || fact->kind == NUMBER)
		snprintf(at, fact->size, "%s", value);
	else if (fact->kind == WORD)
		shell_append(at, fact->size, value);
	else if (fact->kind == NAMES)
		add_name(at, fact->size, value);
	else if (fact->kind == BOOL)
		*(bool *)at = strcmp(value, "true") == 0;
	else if (fact->kind == UINT && isdigit((unsigned char)*value))
		*(uint64_t *)at = strtoull(value, NULL, 10);
	else if (fact->kind == STATUS && strcmp(value, "null") != 0) {
		facts->status = (int)strtol(value, NULL, 10);
		facts->has_status = true;
	}
}

static void take_value(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
	struct manifest_facts *manifest_facts = ctx;
	char value[sizeof(manifest_facts->cmdline)];

	if (event == JSON_OPEN) {
		manifest_facts->n_probes += strcmp(path, "probes[]") == 0;
		manifest_facts->n_collectors += strcmp(path, "collectors[]") == 0;
		manifest_facts->has_usage |= strcmp(path, "workload.rusage") == 0;
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		const struct fact *fact = &facts[i];
		bool string = fact->kind == STR || fact->kind == WORD || fact->kind == NAMES;
		char *owner = strcmp(fact->path, path) == 0 ? owner_of(manifest_facts, fact) : NULL;

		if (!owner || string != (event == JSON_STRING))
			continue;
		if (string)
			json_read_string(value, sizeof(value), text, len);
		else
			snprintf(value, sizeof(value), "%.*s", (int)MIN(len, 31), text);
		store(manifest_facts, fact, owner + fact->offset, value);
	}
}

int manifest_parse(struct manifest_facts *m, const char *text)
{
	int r;

	*m = (struct manifest_facts){ 0 };
	r = json_read(text, strlen(text), take_value, m);
	m->n_probes = MIN(m->n_probes, MANIFEST_PROBES_MAX);
	m->n_collectors = MIN(m->n_collectors, MANIFEST_COLLECTORS_MAX);
	return r;
}

int manifest_read_at(struct manifest_facts *m, int dirfd)
{
	autoclose int fd = util_open_regular(dirfd, "manifest.json", 0);
	autofree char *text = NULL;
	int r = fd < 0 ? fd : util_read_fd(fd, MANIFEST_MAX_BYTES, &text, NULL);

	*m = (struct manifest_facts){ 0 };
	return r < 0 ? r : manifest_parse(m, text);
}

const struct manifest_probe *manifest_probe(const struct manifest_facts *m, const char *name)
{
	for (unsigned int i = 0; i < m->n_probes; i++)
		if (strcmp(m->probes[i].name, name) == 0)
			return &m->probes[i];
	return NULL;
}

bool manifest_is_untraced(const struct manifest_probe *p)
{
	return strcmp(p->backend, "none") == 0;
}

/* Writes the time NS of the trace's CLOCK_MONOTONIC, which was START_NS at START_UTC, in UTC. */
static void put_utc(char *to, uint64_t ns, uint64_t start_ns, uint64_t start_utc_ns)
{
	struct text_utc_cache cache = { 0 };

	*text_put_utc(to, start_utc_ns + (ns - start_ns), &cache) = '\0';
}

int manifest_narrow(struct manifest_facts *facts, const struct window *window)
{
	const uint64_t start_ns = facts->start_ns;
	struct text_utc_cache cache = { 0 };
	uint64_t start_utc_ns;

	_Static_assert(sizeof(facts->start_utc) > TEXT_UTC_LEN && sizeof(facts->end_utc) > TEXT_UTC_LEN, "UTC fits");
	if (!window->end_ns)
		return 0;
	facts->window = *window;
	facts->start_ns = facts->cut_begin_ns = MAX(facts->start_ns, window->begin_ns);
	facts->end_ns = facts->end_ns                ? MIN(facts->end_ns, window->end_ns) :
			window->end_ns == UINT64_MAX ? 0 :
						       window->end_ns;
	if (facts->end_ns && facts->start_ns >= facts->end_ns)
		return -ERANGE;
	if (!text_get_utc(facts->start_utc, strlen(facts->start_utc), &start_utc_ns, &cache))
		return 0;
	put_utc(facts->start_utc, facts->start_ns, start_ns, start_utc_ns);
	if (facts->end_ns)
		put_utc(facts->end_utc, facts->end_ns, start_ns, start_utc_ns);
	return 0;
}
