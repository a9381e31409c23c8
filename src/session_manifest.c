/* SPDX-License-Identifier: BSD-2-Clause */
/* What a session knows, put together for manifest.json. Control plane. */
#include "collector_kinds.h"
#include "log.h"
#include "probe.h"
#include "session_state.h"
#include "util.h"

struct manifest_time session_now(void)
{
	return (struct manifest_time){ clock_now_ns(CLOCK_MONOTONIC), clock_now_ns(CLOCK_REALTIME) };
}

int session_write_manifest(struct session *s, bool complete)
{
	struct manifest_probe_row rows[DLT_PROBES];
	struct manifest_collector_row collectors[COLLECTORS_MAX];
	struct manifest *m = &s->manifest;
	int r;

	if (s->gone)
		return 0;
	m->probes = rows;
	m->n_probes = 0;
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		const struct status_probe *p = &s->status.probes[i];
		const char *why = s->traced ? s->tracer.why[i] : s->why_not;
		bool traced = s->traced && (s->tracer.probes >> i & 1 || !(s->cfg->probes >> i & 1));
		const struct backend_kind *backend = s->tracer.backends[i];

		if (!(s->cfg->probes >> i & 1) && i != DLT_files && i != DLT_pids &&
		    (i != DLT_workload || s->workload_log_fd < 0))
			continue;
		rows[m->n_probes++] = (struct manifest_probe_row){
			.name = probes[i]->name,
			.backend = !traced ? "none" : backend ? backend->name :
				   probes[i]->open ? "tracepoint" : "user",
			.hooks = traced && backend ? backend->hooks : NULL,
			.why = why,
			.calls = p->calls,
			.rows = p->rows,
			.lost = p->lost,
			.late = p->late,
			.unmatched = p->unmatched,
			.filtered = p->filtered,
			.bytes = p->bytes,
		};
	}
	m->collectors = collectors;
	m->n_collectors = s->collectors.n;
	for (unsigned int i = 0; i < s->collectors.n; i++) {
		const struct collector *c = &s->collectors.c[i];

		collectors[i] = (struct manifest_collector_row){
			.name = c->kind->name, .file = c->kind->file, .state = c->state,
		};
	}
	if (s->workload.relay.log) {
		m->workload_log.kept = true;
		m->workload_log.written_bytes = __atomic_load_n(&s->workload.relay.log->written_bytes, __ATOMIC_RELAXED);
		m->workload_log.lost_bytes = __atomic_load_n(&s->workload.relay.log->lost_bytes, __ATOMIC_RELAXED);
	}
	m->uring_hooks = s->traced ? s->tracer.uring_hooks : NULL;
	m->uring_why = s->traced ? s->tracer.uring_why : NULL;
	m->n_rings = s->tracer.n_rings;
	m->ring_bytes = s->tracer.ring_bytes;
	m->ring_reserve_bytes = s->tracer.cfg.ring_reserve;
	m->written_bytes = s->status.bytes;
	m->skipped_runs = s->status.skipped;
	if (s->tracer.shared)
		m->compat_calls = s->tracer.shared->compat;
	r = manifest_write(m, s->dir.fd, complete);
	m->probes = NULL;
	m->collectors = NULL;
	return r < 0 ? log_err_r(r, "%s/manifest.json", s->dir.path) : 0;
}
