/* SPDX-License-Identifier: BSD-2-Clause */
/* The members of manifest.json about what was recorded: rows by probe and collector, and their segments. */
#include <limits.h>

#include "base/json.h"
#include "base/util.h"
#include "collectors/kinds.h"
#include "drain/rows/stage.h"
#include "drain/stages.h"
#include "session/manifest_members.h"
#include "session/state.h"
#include "trace/config.h"
#include "trace/probe.h"

/* Puts the losses by cause, without causes of 0. */
static void put_lost_by(struct json *json, const uint64_t by[LOSSES])
{
	bool any = false;

	for (enum loss why = 0; why < LOSSES; why++)
		any |= by[why] != 0;
	if (!any)
		return;
	json_object(json, "lost_by");
	for (enum loss why = 0; why < LOSSES; why++)
		if (by[why])
			json_u64(json, loss_kinds[why].key, by[why]);
	json_end(json);
}

/* Returns the name of the backend of a traced probe; BACKEND: that of its system calls, or NULL. */
static const char *backend_of(const struct backend_kind *backend, unsigned int i)
{
	if (backend)
		return backend->name;
	return probes[i]->open ? "tracepoint" : "user";
}

/* Puts the counts of a probe. Where each call is one row: calls = rows + summed + filtered + lost. */
static void put_probe(struct json *json, const struct session *session, unsigned int i)
{
	const bool traced = session->traced && (session->tracer.probes >> i & 1 || !(session->cfg->probes >> i & 1));
	const unsigned int by =
		probes[i]->open ? i : probes[i]->needs; /* the probe whose programs record it; 0: none */
	const struct backend_kind *backend = session->tracer.backends[by];
	const char *why = session->traced ? session->tracer.why[i] : session->why_not;
	const struct probe_counts *counts = &session->status.counts.probes[i];

	json_object(json, NULL);
	json_str(json, "name", probes[i]->name);
	json_str(json, "backend", traced ? backend_of(backend, i) : "none");
	if (traced && backend && backend->hooks)
		json_str(json, "hooks", backend->hooks);
	if (why)
		json_str(json, "why", why);
	if (traced && session->tracer.plain[i])
		json_str(json, "plain", session->tracer.plain[i]);
	json_u64(json, "calls", counts->calls);
	json_u64(json, "rows", counts->rows);
	json_u64(json, "lost", counts->lost);
	put_lost_by(json, counts->lost_by);
	json_u64(json, "late", counts->late);
	json_u64(json, "unmatched", counts->unmatched);
	json_u64(json, "filtered", counts->filtered);
	json_u64(json, "bytes", counts->bytes);
	json_u64(json, "dropped", counts->dropped);
	json_u64(json, "dropped_bytes", counts->dropped_bytes);
	json_u64(json, "summed", counts->summed);
	if (counts->foreign)
		json_u64(json, "foreign", counts->foreign);
	if (counts->unseen)
		json_u64(json, "unseen", counts->unseen);
	if (counts->unread)
		json_u64(json, "unread", counts->unread);
	if (counts->unanswered)
		json_u64(json, "unanswered", counts->unanswered);
	if (counts->lines)
		json_u64(json, "lines", counts->lines);
	if (counts->brief)
		json_u64(json, "brief", counts->brief);
	if (counts->fileless)
		json_u64(json, "fileless", counts->fileless);
	if (counts->refused)
		json_u64(json, "refused", counts->refused);
	if (counts->overwritten)
		json_u64(json, "overwritten", counts->overwritten);
	if (counts->nvtx)
		json_u64(json, "nvtx", counts->nvtx);
	json_u64(json, "unsure", counts->unsure);
	json_end(json);
}

static void put_collector(struct json *json, const struct session *session, const struct collector *collector)
{
	const struct archiver_file *kept = session->split ? archiver_file(&session->archiver, &collector->sink) : NULL;

	json_object(json, NULL);
	json_str(json, "name", collector->kind->name);
	json_str(json, "file", collector->kind->file);
	json_str(json, "state", collector->state);
	json_u64(json, "rows", util_counted(&collector->sink.rows));
	json_u64(json, "bytes", util_counted(&collector->sink.bytes));
	json_u64(json, "lost", util_counted(&collector->sink.lost));
	json_u64(json, "dropped", kept ? util_counted(&kept->dropped_rows) : 0);
	json_u64(json, "dropped_bytes", kept ? util_counted(&kept->dropped_bytes) : 0);
	json_end(json);
}

/* Puts a closed segment that exists. */
static void put_segment(void *ctx, const struct archiver_segment *segment)
{
	struct json *json = ctx;
	char file[NAME_MAX + 1];

	segment_format(file, segment->seg.base, segment->seg.nr, segment->pack);
	json_object(json, NULL);
	json_str(json, "file", file);
	json_u64_known(json, "first_timestamp", segment->seg.first_ns, segment->seg.first_ns);
	json_u64_known(json, "last_timestamp", segment->seg.last_ns, segment->seg.last_ns);
	json_u64(json, "rows", segment->seg.rows);
	json_u64(json, "bytes", segment->seg.bytes);
	json_u64(json, "stored_bytes", segment->stored_bytes);
	json_end(json);
}

/* Puts how the rows are stored. Without segments the archiver is all zero, so its counts are 0. */
static void put_storage(struct json *json, struct session *session)
{
	const struct config *cfg = session->cfg;
	struct archiver *archiver = &session->archiver;

	json_object(json, "storage");
	json_str(json, "compress", cfg->pack ? pack_names[cfg->pack] : NULL);
	json_u64(json, "rotate_bytes", cfg->rotate_bytes);
	json_u64(json, "rotate_ns", cfg->rotate_ns);
	json_u64(json, "keep_bytes", cfg->keep_bytes);
	json_bool(json, "rollup_only", cfg->rollup_only);
	json_u64(json, "compressed_from_bytes", util_counted(&archiver->plain_bytes));
	json_u64(json, "compressed_bytes", util_counted(&archiver->packed_bytes));
	json_u64(json, "compress_cpu_us", util_counted(&archiver->cpu_ns) / 1000);
	json_u64(json, "dropped_segments", util_counted(&archiver->dropped));
	json_u64(json, "dropped_unsummed_rows", util_counted(&archiver->not_summed));
	json_end(json);
	json_array(json, "segments");
	if (session->split)
		archiver_each(archiver, put_segment, json);
	json_end(json);
}

/* Puts how requests of io_uring are recorded, or why they are not. */
static void put_uring(struct json *j, const struct session *s)
{
	const struct tracer *t = &s->tracer;

	if (!s->traced || (!t->uring_hooks && !t->uring_why))
		return;
	json_object(j, "io_uring");
	json_str(j, t->uring_hooks ? "hooks" : "why", t->uring_hooks ?: t->uring_why);
	json_end(j);
}

/* Puts what the stages of the drain have counted besides. */
static void put_stages(struct json *json, const struct session *session)
{
	for (const struct drain_stage *const *stage = drain_stages; *stage; stage++)
		if ((*stage)->manifest && session->cfg->probes >> (*stage)->probe & 1)
			(*stage)->manifest(json, session->cfg, &session->status.counts);
}

void manifest_put_recorded(struct json *json, struct session *session)
{
	json_array(json, "probes");
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if ((session->cfg->probes | decode_unasked(session->cfg, session->workload_log_fd >= 0)) >> i & 1)
			put_probe(json, session, i);
	json_end(json);
	json_array(json, "collectors");
	for (unsigned int i = 0; i < session->collectors.n; i++)
		put_collector(json, session, &session->collectors.c[i]);
	json_end(json);
	put_uring(json, session);
	put_stages(json, session);
	put_storage(json, session);
}
