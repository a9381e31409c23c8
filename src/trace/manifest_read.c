/* SPDX-License-Identifier: BSD-2-Clause */
/* The members of the manifest that are read as facts, by their paths as base/json_read.h gives them. */
#include "trace/manifest_read.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_bind.h"
#include "base/shell.h"
#include "base/text.h"
#include "base/util.h"

#define MANIFEST_MAX_BYTES (16U << 20)

/* The kinds of the manifest: a list of names, a command's words, and a status, which may be null. */
enum { NAMES = JSON_OWN, WORDS, STATUS };

static const struct json_member top_facts[] = {
	JSON_MEMBER("alloc.min_bytes", JSON_U64, manifest_facts, alloc.min_bytes),
	JSON_MEMBER("alloc.refused_pages", JSON_U64, manifest_facts, alloc.refused_pages),
	JSON_MEMBER("alloc.siteless", JSON_U64, manifest_facts, alloc.siteless),
	JSON_MEMBER("alloc.skipped", JSON_U64, manifest_facts, alloc.skipped),
	JSON_MEMBER("alloc.small_bytes", JSON_U64, manifest_facts, alloc.small_bytes),
	JSON_MEMBER("alloc.small_calls", JSON_U64, manifest_facts, alloc.small_calls),
	JSON_MEMBER("alloc.uncovered_processes", JSON_U64, manifest_facts, alloc.uncovered_processes),
	JSON_MEMBER("alloc.unkept_blocks", JSON_U64, manifest_facts, alloc.unkept_blocks),
	JSON_MEMBER("alloc.unread_threads", JSON_U64, manifest_facts, alloc.unread_threads),
	JSON_MEMBER("allowed.address_space_bytes.soft", JSON_U64, manifest_facts, allowed.rlimits[DLT_RLIMIT_AS]),
	JSON_MEMBER("allowed.cpu_s.soft", JSON_U64, manifest_facts, allowed.rlimits[DLT_RLIMIT_CPU]),
	JSON_MEMBER("allowed.cpus", JSON_TEXT, manifest_facts, allowed.cpus),
	JSON_MEMBER("allowed.cpus_by", JSON_TEXT, manifest_facts, allowed.cpus_by),
	JSON_MEMBER("allowed.file_bytes.soft", JSON_U64, manifest_facts, allowed.rlimits[DLT_RLIMIT_FSIZE]),
	JSON_MEMBER("allowed.memlock_bytes.soft", JSON_U64, manifest_facts, allowed.rlimits[DLT_RLIMIT_MEMLOCK]),
	JSON_MEMBER("allowed.n_cpus", JSON_U64, manifest_facts, allowed.n_cpus),
	JSON_MEMBER("allowed.nofile.soft", JSON_U64, manifest_facts, allowed.rlimits[DLT_RLIMIT_NOFILE]),
	JSON_MEMBER("allowed.nproc.soft", JSON_U64, manifest_facts, allowed.rlimits[DLT_RLIMIT_NPROC]),
	JSON_MEMBER("allowed.shm_bytes", JSON_U64, manifest_facts, allowed.shm_bytes),
	JSON_MEMBER("allowed.shm_used_bytes", JSON_U64, manifest_facts, allowed.shm_used_bytes),
	JSON_MEMBER("clock.localtime", JSON_TEXT, manifest_facts, localtime),
	JSON_MEMBER("clock.maxerror_us", JSON_U64, manifest_facts, clock_maxerror_us),
	JSON_MEMBER("clock.synchronised", JSON_BOOL, manifest_facts, clock_synchronised),
	JSON_MEMBER("clock.tz", JSON_TEXT, manifest_facts, tz),
	JSON_MEMBER("clock.utc_offset_s", JSON_LITERAL, manifest_facts, utc_offset_s),
	JSON_MEMBER("clock_at_end.maxerror_us", JSON_U64, manifest_facts, clock_maxerror_at_end_us),
	JSON_MEMBER("clock_at_end.synchronised", JSON_BOOL, manifest_facts, clock_synchronised_at_end),
	JSON_MEMBER("cmdline[]", WORDS, manifest_facts, cmdline),
	JSON_MEMBER("compat_calls", JSON_U64, manifest_facts, compat_calls),
	JSON_MEMBER("complete", JSON_BOOL, manifest_facts, complete),
	JSON_MEMBER("cut.begin_ns", JSON_U64, manifest_facts, cut_begin_ns),
	JSON_MEMBER("dry", JSON_BOOL, manifest_facts, dry),
	JSON_MEMBER("end.monotonic_ns", JSON_U64, manifest_facts, end_ns),
	JSON_MEMBER("end.utc", JSON_TEXT, manifest_facts, end_utc),
	JSON_MEMBER("host", JSON_TEXT, manifest_facts, host),
	JSON_MEMBER("io_uring.why", JSON_TEXT, manifest_facts, uring_why),
	JSON_MEMBER("job.left_running", JSON_U64, manifest_facts, left_running),
	JSON_MEMBER("job.left_running_cpu_us", JSON_U64, manifest_facts, left_running_cpu_us),
	JSON_MEMBER("job.processes[].comm", NAMES, manifest_facts, left_comms),
	JSON_MEMBER("kernel", JSON_TEXT, manifest_facts, kernel),
	JSON_MEMBER("machine.boot_id", JSON_TEXT, manifest_facts, boot_id),
	JSON_MEMBER("machine.cpus", JSON_U64, manifest_facts, cpus),
	JSON_MEMBER("machine.page_bytes", JSON_U64, manifest_facts, page_bytes),
	JSON_MEMBER("schema", JSON_U64, manifest_facts, schema),
	JSON_MEMBER("self.cpu_system_us", JSON_U64, manifest_facts, self_system_us),
	JSON_MEMBER("self.cpu_user_us", JSON_U64, manifest_facts, self_user_us),
	JSON_MEMBER("self.pid", JSON_U64, manifest_facts, self_pid),
	JSON_MEMBER("skipped_runs", JSON_U64, manifest_facts, skipped_runs),
	JSON_MEMBER("start.monotonic_ns", JSON_U64, manifest_facts, start_ns),
	JSON_MEMBER("start.utc", JSON_TEXT, manifest_facts, start_utc),
	JSON_MEMBER("storage.dropped_unsummed_rows", JSON_U64, manifest_facts, unsummed_rows),
	JSON_MEMBER("storage.rollup_only", JSON_BOOL, manifest_facts, rollup_only),
	JSON_MEMBER("target.containers[]", NAMES, manifest_facts, containers),
	JSON_MEMBER("tool", JSON_TEXT, manifest_facts, tool),
	JSON_MEMBER("version", JSON_TEXT, manifest_facts, version),
	JSON_MEMBER("workload.argv[]", WORDS, manifest_facts, argv),
	JSON_MEMBER("workload.end.monotonic_ns", JSON_U64, manifest_facts, workload_end_ns),
	JSON_MEMBER("workload.pid", JSON_U64, manifest_facts, workload_pid),
	JSON_MEMBER("workload.rusage.involuntary_switches", JSON_U64, manifest_facts,
		    usage[USAGE_INVOLUNTARY_SWITCHES]),
	JSON_MEMBER("workload.rusage.major_faults", JSON_U64, manifest_facts, usage[USAGE_MAJOR_FAULTS]),
	JSON_MEMBER("workload.rusage.max_rss_bytes", JSON_U64, manifest_facts, usage[USAGE_MAX_RSS_BYTES]),
	JSON_MEMBER("workload.rusage.minor_faults", JSON_U64, manifest_facts, usage[USAGE_MINOR_FAULTS]),
	JSON_MEMBER("workload.rusage.system_ns", JSON_U64, manifest_facts, usage[USAGE_SYSTEM_NS]),
	JSON_MEMBER("workload.rusage.user_ns", JSON_U64, manifest_facts, usage[USAGE_USER_NS]),
	JSON_MEMBER("workload.rusage.voluntary_switches", JSON_U64, manifest_facts, usage[USAGE_VOLUNTARY_SWITCHES]),
	JSON_MEMBER("workload.rusage.wall_ns", JSON_U64, manifest_facts, usage[USAGE_WALL_NS]),
	JSON_MEMBER("workload.status", STATUS, manifest_facts, status),
	JSON_MEMBER("workload.user", JSON_TEXT, manifest_facts, user),
	{ 0 },
};

static const struct json_member probe_facts[] = {
	JSON_MEMBER("backend", JSON_TEXT, manifest_probe, backend),
	JSON_MEMBER("brief", JSON_U64, manifest_probe, brief),
	JSON_MEMBER("bytes", JSON_U64, manifest_probe, bytes),
	JSON_MEMBER("calls", JSON_U64, manifest_probe, calls),
	JSON_MEMBER("dropped", JSON_U64, manifest_probe, dropped),
	JSON_MEMBER("dropped_bytes", JSON_U64, manifest_probe, dropped_bytes),
	JSON_MEMBER("filtered", JSON_U64, manifest_probe, filtered),
	JSON_MEMBER("late", JSON_U64, manifest_probe, late),
	JSON_MEMBER("lines", JSON_U64, manifest_probe, lines),
	JSON_MEMBER("lost", JSON_U64, manifest_probe, lost),
	JSON_MEMBER("lost_by.buffer", JSON_U64, manifest_probe, lost_by[LOSS_BUFFER]),
	JSON_MEMBER("lost_by.disk", JSON_U64, manifest_probe, lost_by[LOSS_DISK]),
	JSON_MEMBER("lost_by.in_flight", JSON_U64, manifest_probe, lost_by[LOSS_IN_FLIGHT]),
	JSON_MEMBER("lost_by.skipped", JSON_U64, manifest_probe, lost_by[LOSS_SKIPPED]),
	JSON_MEMBER("lost_by.stalled", JSON_U64, manifest_probe, lost_by[LOSS_STALLED]),
	JSON_MEMBER("lost_by.unmatched", JSON_U64, manifest_probe, lost_by[LOSS_UNMATCHED]),
	JSON_MEMBER("lost_by.unseen", JSON_U64, manifest_probe, lost_by[LOSS_UNSEEN]),
	JSON_MEMBER("name", JSON_TEXT, manifest_probe, name),
	JSON_MEMBER("overwritten", JSON_U64, manifest_probe, overwritten),
	JSON_MEMBER("refused", JSON_U64, manifest_probe, refused),
	JSON_MEMBER("rows", JSON_U64, manifest_probe, rows),
	JSON_MEMBER("summed", JSON_U64, manifest_probe, summed),
	JSON_MEMBER("unmatched", JSON_U64, manifest_probe, unmatched),
	JSON_MEMBER("unread", JSON_U64, manifest_probe, unread),
	JSON_MEMBER("unseen", JSON_U64, manifest_probe, unseen),
	JSON_MEMBER("unsure", JSON_U64, manifest_probe, unsure),
	JSON_MEMBER("why", JSON_TEXT, manifest_probe, why),
	{ 0 },
};

static const struct json_member collector_facts[] = {
	JSON_MEMBER("bytes", JSON_U64, manifest_collector, bytes),
	JSON_MEMBER("dropped", JSON_U64, manifest_collector, dropped),
	JSON_MEMBER("dropped_bytes", JSON_U64, manifest_collector, dropped_bytes),
	JSON_MEMBER("lost", JSON_U64, manifest_collector, lost),
	JSON_MEMBER("name", JSON_TEXT, manifest_collector, name),
	JSON_MEMBER("rows", JSON_U64, manifest_collector, rows),
	JSON_MEMBER("state", JSON_TEXT, manifest_collector, state),
	{ 0 },
};

static const struct json_member limit_facts[] = {
	JSON_MEMBER("cgroup", JSON_TEXT, manifest_limit, cgroup),
	JSON_MEMBER("file", JSON_TEXT, manifest_limit, file),
	JSON_MEMBER("value", JSON_TEXT, manifest_limit, value),
	{ 0 },
};

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

/* Sets a member of the manifest's own kinds. */
static void take_own(struct manifest_facts *facts, const struct json_member *fact, enum json_event event,
		     const char *text, size_t len)
{
	char *to = (char *)facts + fact->at, value[sizeof(facts->cmdline)];

	if (fact->kind == STATUS && event == JSON_WORD && *text != 'n') {
		facts->status = (int)strtol(text, NULL, 10);
		facts->has_status = true;
	}
	if (event != JSON_STRING)
		return;
	json_read_string(value, sizeof(value), text, len);
	if (fact->kind == WORDS)
		shell_append(to, fact->size, value);
	else if (fact->kind == NAMES)
		add_name(to, fact->size, value);
}

static void take_value(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
	struct manifest_facts *facts = ctx;
	const unsigned int probe = facts->n_probes - 1, collector = facts->n_collectors - 1;
	const unsigned int limit = facts->allowed.n_limits - 1;
	const struct json_place places[] = {
		{ "probes[].", probe_facts, probe < MANIFEST_PROBES_MAX ? &facts->probes[probe] : NULL },
		{ "collectors[].", collector_facts,
		  collector < MANIFEST_COLLECTORS_MAX ? &facts->collectors[collector] : NULL },
		{ "allowed.cgroup_limits[].", limit_facts,
		  limit < MANIFEST_LIMITS_MAX ? &facts->allowed.limits[limit] : NULL },
		{ "", top_facts, facts },
	};
	const struct json_place *place;
	const struct json_member *fact;

	if (event == JSON_OPEN) {
		facts->n_probes += strcmp(path, "probes[]") == 0;
		facts->n_collectors += strcmp(path, "collectors[]") == 0;
		facts->allowed.n_limits += strcmp(path, "allowed.cgroup_limits[]") == 0;
		facts->has_usage |= strcmp(path, "workload.rusage") == 0;
		return;
	}
	place = json_place_of(places, &path);
	fact = place->base ? json_bind(place->members, place->base, path, event, text, len) : NULL;
	if (fact && fact->kind >= JSON_OWN)
		take_own(facts, fact, event, text, len);
}

int manifest_parse(struct manifest_facts *m, const char *text)
{
	int r;

	*m = (struct manifest_facts){ 0 };
	r = json_read(text, strlen(text), take_value, m);
	m->n_probes = MIN(m->n_probes, MANIFEST_PROBES_MAX);
	m->n_collectors = MIN(m->n_collectors, MANIFEST_COLLECTORS_MAX);
	m->allowed.n_limits = MIN(m->allowed.n_limits, MANIFEST_LIMITS_MAX);
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
	if (facts->end_ns)
		facts->end_ns = MIN(facts->end_ns, window->end_ns);
	else if (window->end_ns == UINT64_MAX)
		facts->end_ns = 0;
	else
		facts->end_ns = window->end_ns;
	if (facts->end_ns && facts->start_ns >= facts->end_ns)
		return -ERANGE;
	if (!text_get_utc(facts->start_utc, strlen(facts->start_utc), &start_utc_ns, &cache))
		return 0;
	put_utc(facts->start_utc, facts->start_ns, start_ns, start_utc_ns);
	if (facts->end_ns)
		put_utc(facts->end_utc, facts->end_ns, start_ns, start_utc_ns);
	return 0;
}

struct window manifest_part(const struct manifest_facts *facts)
{
	const struct window part = { facts->cut_begin_ns, facts->end_ns ?: UINT64_MAX };

	return facts->cut_begin_ns ? part : (struct window){ 0 };
}

void manifest_forget_whole(struct manifest_facts *facts)
{
	const struct window part = manifest_part(facts);

	if (!part.end_ns)
		return;
	facts->has_usage = false;
	facts->self_user_us = facts->self_system_us = 0;
	if (facts->workload_end_ns >= part.end_ns)
		facts->has_status = false;
}
