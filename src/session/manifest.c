/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the text of manifest.json from the session's state. The constant members are made once, as the text HEAD, and
 * open every version of the file. manifest_file.c writes the file. Control plane.
 */
#include "session/manifest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "dlt/dlt.h"
#include "host/machine/machine.h"
#include "host/rights/privileges.h"
#include "kernel/ring.h"
#include "session/manifest_members.h"
#include "session/state.h"

struct manifest_time session_now(void)
{
	return (struct manifest_time){ clock_now_ns(CLOCK_MONOTONIC), clock_now_ns(CLOCK_REALTIME) };
}

uint64_t session_not_on_disk(const struct session *s)
{
	return util_counted(&s->drain.not_on_disk) + (s->split ? util_counted(&s->archiver.not_on_disk) : 0);
}

void manifest_put_time(struct json *json, const char *key, const struct manifest_time *time)
{
	struct text_utc_cache cache = { 0 };
	char utc[TEXT_UTC_LEN];

	if (!time->mono_ns) {
		json_null(json, key);
		return;
	}
	text_put_utc(utc, time->utc_ns, &cache);
	json_object(json, key);
	json_u64(json, "monotonic_ns", time->mono_ns);
	json_strn(json, "utc", utc, sizeof(utc));
	json_end(json);
}

static void put_rings(struct json *j, const struct tracer *t)
{
	json_object(j, "rings");
	json_u64(j, "count", t->n_rings);
	json_u64(j, "bytes_each", t->ring_bytes);
	json_u64(j, "stall_ms", ring_stall_ms(t->ring_bytes, t->cfg.ring_reserve));
	json_u64(j, "stall_records_per_s", RING_STALL_RECORDS_PER_S);
	json_u64(j, "stall_record_bytes", RING_STALL_RECORD_BYTES);
	json_end(j);
}

static uint64_t timeval_us(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * 1000000 + (uint64_t)tv->tv_usec;
}

/*
 * Returns the most memory that was resident, with each ring once: ring.c maps a ring's pages twice in a row, so that a
 * record never wraps, and the kernel counts both.
 */
static uint64_t max_rss_bytes(const struct rusage *ru, const struct tracer *t)
{
	uint64_t bytes = (uint64_t)ru->ru_maxrss * 1024, rings = t->n_rings * t->ring_bytes;

	return bytes > 2 * rings ? bytes - rings : bytes;
}

/* Puts the privileges that the running trace has kept; null means all. */
static void put_privileges(struct json *json, const struct privileges *privileges)
{
	const struct privilege *kept;

	json_object(json, "privileges");
	json_u64(json, "uid", geteuid());
	if (!privileges->given_up) {
		json_null(json, "kept");
		json_end(json);
		return;
	}
	json_u64(json, "files_as_uid", geteuid() ? geteuid() : privileges->user->uid);
	json_bool(json, "no_new_privs", true);
	json_array(json, "kept");
	for (unsigned int i = 0; (kept = privileges_kept(privileges, i)); i++) {
		json_object(json, NULL);
		json_str(json, "name", kept->name);
		json_str(json, "why", kept->why);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

/* Puts the cost of the trace: of this process alone, without workload and collectors. */
static void put_self(struct json *json, const struct session *session)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	json_object(json, "self");
	json_u64(json, "pid", (uint64_t)getpid());
	json_u64(json, "cpu_user_us", timeval_us(&ru.ru_utime));
	json_u64(json, "cpu_system_us", timeval_us(&ru.ru_stime));
	json_u64(json, "max_rss_bytes", max_rss_bytes(&ru, &session->tracer));
	json_u64(json, "written_bytes", session->status.bytes);
	json_end(json);
}

/* Puts what is known only at the end: the clock, the machine's dirty pages, and bytes of the trace that no disk has
 * yet. */
static void put_end(struct json *j, const struct session *s)
{
	uint64_t dirty;

	json_object(j, "clock_at_end");
	machine_put_clock(j, "");
	json_end(j);
	if (machine_dirty_bytes("", &dirty) == 0)
		json_u64(j, "dirty_bytes_at_end", dirty);
	json_u64(j, "not_on_disk_bytes", session_not_on_disk(s));
}

/* Calls whose result a tracer such as strace(1) has made up: they have no number. */
static uint64_t injected_calls(const struct tracer *tracer)
{
	struct dlt_stats stats[DLT_PROBES];

	if (!tracer->stats)
		return 0;
	tracer_stats(tracer, stats);
	return stats[DLT_NO_PROBE].refused;
}

static void put_manifest(struct json *json, struct session *session, bool complete)
{
	json_bool(json, "complete", complete);
	manifest_put_time(json, "start", &session->manifest.start);
	manifest_put_time(json, "end", &session->manifest.end);
	manifest_put_job(json, session);
	manifest_put_recorded(json, session);
	/* the kernel skipped these runs of hooks, in any process: calls may be missing */
	json_u64(json, "skipped_runs", session->status.counts.skipped);
	/* 32-bit calls: counted, not decoded */
	json_u64(json, "compat_calls", session->tracer.shared ? session->tracer.shared->compat : 0);
	json_u64(json, "injected_calls", injected_calls(&session->tracer));
	put_rings(json, &session->tracer);
	put_privileges(json, &session->privileges);
	put_self(json, session);
	if (complete)
		put_end(json, session);
	json_end(json);
}

/* Copies J, with its objects still open, so that members can be added to the copy. */
static int json_dup(struct json *copy, const struct json *j)
{
	*copy = *j;
	copy->buf = malloc(j->size);
	if (!copy->buf)
		return -ENOMEM;
	memcpy(copy->buf, j->buf, j->len);
	return 0;
}

int manifest_text(struct session *session, bool complete, char **text_ret, size_t *len_ret)
{
	__attribute__((cleanup(json_free))) struct json j = { 0 };
	int r = json_dup(&j, &session->manifest.head);

	if (r < 0)
		return r;
	put_manifest(&j, session, complete);
	r = json_finish(&j);
	if (r < 0)
		return r;
	*len_ret = j.len;
	*text_ret = TAKE_PTR(j.buf);
	return 0;
}
