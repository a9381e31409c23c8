/* SPDX-License-Identifier: BSD-2-Clause */
/* What a session knows, put together for manifest.json. Control plane. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/util.h"
#include "collectors/kinds.h"
#include "job/relay_log.h"
#include "session/state.h"
#include "trace/probe.h"

#define NOTE_MS 20

struct manifest_time session_now(void)
{
	return (struct manifest_time){ clock_now_ns(CLOCK_MONOTONIC), clock_now_ns(CLOCK_REALTIME) };
}

uint64_t session_not_on_disk(const struct session *s)
{
	uint64_t bytes = __atomic_load_n(&s->drain.not_on_disk, __ATOMIC_RELAXED);

	return bytes + (s->split ? __atomic_load_n(&s->archiver.not_on_disk, __ATOMIC_RELAXED) : 0);
}

struct segments {
	struct manifest_segment_row *rows;
	size_t n, room;
};

static void add_segment(void *ctx, const struct archiver_segment *from)
{
	struct segments *all = ctx;
	struct manifest_segment_row *row;
	char file[NAME_MAX + 1];
	void *more;

	if (all->n == all->room) {
		size_t room = all->room ? 2 * all->room : 64;

		more = reallocarray(all->rows, room, sizeof(*all->rows));
		if (!more)
			return;
		all->rows = more;
		all->room = room;
	}
	row = &all->rows[all->n++];
	segment_format(file, from->seg.base, from->seg.nr, from->pack);
	*row = (struct manifest_segment_row){
		.rows = from->seg.rows, .bytes = from->seg.bytes, .stored_bytes = from->stored_bytes,
		.first_ns = from->seg.first_ns, .last_ns = from->seg.last_ns,
	};
	snprintf(row->file, sizeof(row->file), "%.*s", (int)sizeof(row->file) - 1, file);
}

/* What is stored how; the list of segments is the caller's to free. */
static struct segments put_storage(struct session *s, struct manifest *m)
{
	const struct config *cfg = s->cfg;
	const struct archiver *k = &s->archiver;
	struct segments all = { 0 };

	m->storage = (struct manifest_storage){
		.compress = cfg->pack ? pack_names[cfg->pack] : NULL, .rotate_bytes = cfg->rotate_bytes,
		.rotate_ns = cfg->rotate_ns, .keep_bytes = cfg->keep_bytes, .rollup_only = cfg->rollup_only,
	};
	if (s->split) {
		archiver_each(&s->archiver, add_segment, &all);
		m->storage.compressed_from_bytes = __atomic_load_n(&k->plain_bytes, __ATOMIC_RELAXED);
		m->storage.compressed_bytes = __atomic_load_n(&k->packed_bytes, __ATOMIC_RELAXED);
		m->storage.compress_cpu_us = __atomic_load_n(&k->cpu_ns, __ATOMIC_RELAXED) / 1000;
		m->storage.dropped_segments = __atomic_load_n(&k->dropped, __ATOMIC_RELAXED);
		m->storage.dropped_unsummed_rows = __atomic_load_n(&k->not_summed, __ATOMIC_RELAXED);
	}
	m->segments = all.rows;
	m->n_segments = all.n;
	return all;
}

/* Whether the trace has the file of probe I. */
static bool has_file(const struct session *s, unsigned int i)
{
	if (i == DLT_files)
		return !s->cfg->rollup_only;
	if (i == DLT_rollup)
		return s->cfg->rollup_only || s->cfg->keep_bytes;
	return s->cfg->probes >> i & 1 || i == DLT_pids || i == DLT_marks || (i == DLT_workload && s->workload_log_fd >= 0);
}

static void put(void *ctx)
{
	struct session_writing *w = ctx;

	w->r = manifest_put(w->dirfd, w->text, w->len);
}

int session_await_manifest(struct session *s, int wait_ms)
{
	struct session_writing *w = &s->writing;

	if (!w->call.busy)
		return 1;
	if (!async_call_wait(&w->call, wait_ms))
		return 0;
	free(TAKE_PTR(w->text));
	if (w->r < 0)
		log_err_r(w->r, "%s/manifest.json", s->dir.path);
	return 1;
}

void session_note_manifest(struct session *s)
{
	if (session_begin_manifest(s, false) >= 0)
		session_await_manifest(s, NOTE_MS);
}

int session_write_manifest(struct session *s, bool complete)
{
	int r = session_await_manifest(s, -1) > 0 ? session_begin_manifest(s, complete) : -EBUSY;

	if (r < 0)
		return r;
	session_await_manifest(s, -1);
	return s->writing.r;
}

static struct manifest_probe_row probe_row(const struct session *s, unsigned int i)
{
	const bool traced = s->traced && (s->tracer.probes >> i & 1 || !(s->cfg->probes >> i & 1));
	const struct backend_kind *backend = s->tracer.backends[i];

	return (struct manifest_probe_row){
		.name = probes[i]->name,
		.backend = !traced ? "none" : backend ? backend->name : probes[i]->open ? "tracepoint" : "user",
		.hooks = traced && backend ? backend->hooks : NULL,
		.why = s->traced ? s->tracer.why[i] : s->why_not,
		.counts = s->status.counts.probes[i],
	};
}

static struct manifest_collector_row collector_row(const struct session *s, const struct collector *c)
{
	const struct archiver_file *kept = s->split ? archiver_file(&s->archiver, &c->sink) : NULL;

	return (struct manifest_collector_row){
		.name = c->kind->name, .file = c->kind->file, .state = c->state,
		.rows = __atomic_load_n(&c->sink.rows, __ATOMIC_RELAXED),
		.bytes = __atomic_load_n(&c->sink.bytes, __ATOMIC_RELAXED),
		.lost = __atomic_load_n(&c->sink.lost, __ATOMIC_RELAXED),
		.dropped = kept ? __atomic_load_n(&kept->dropped_rows, __ATOMIC_RELAXED) : 0,
		.dropped_bytes = kept ? __atomic_load_n(&kept->dropped_bytes, __ATOMIC_RELAXED) : 0,
	};
}

/* What is kept of the workload's output. */
static void put_log(const struct session *s, struct manifest *m)
{
	const struct relay_log *log = s->workload.relay.log;
	struct stat st;

	m->workload_log.kept = log || s->workload_log_fd >= 0;
	m->workload_log.unsure_bytes = s->status.log_unsure;
	if (log) {
		m->workload_log.written_bytes = __atomic_load_n(&log->written_bytes, __ATOMIC_RELAXED);
		m->workload_log.lost_bytes = __atomic_load_n(&log->lost_bytes, __ATOMIC_RELAXED);
	} else if (m->workload_log.kept) { /* the relay is another process's */
		m->workload_log.written_bytes = fstat(s->workload_log_fd, &st) < 0 ? 0 : (uint64_t)st.st_size;
	}
}

static void put_tracer(const struct session *s, struct manifest *m)
{
	m->uring_hooks = s->traced ? s->tracer.uring_hooks : NULL;
	m->uring_why = s->traced ? s->tracer.uring_why : NULL;
	m->n_rings = s->tracer.n_rings;
	m->ring_bytes = s->tracer.ring_bytes;
	m->ring_reserve_bytes = s->tracer.cfg.ring_reserve;
	m->written_bytes = s->status.bytes;
	m->not_on_disk_bytes = session_not_on_disk(s);
	m->skipped_runs = s->status.counts.skipped;
	if (s->tracer.shared)
		m->compat_calls = s->tracer.shared->compat;
}

/* The manifest's text, which is W's then. 0 or -errno. */
static int make_text(struct session *s, struct session_writing *w, bool complete)
{
	struct manifest_probe_row rows[DLT_PROBES];
	struct manifest_collector_row collectors[COLLECTORS_MAX];
	struct manifest *m = &s->manifest;
	struct segments segments;
	int r;

	m->probes = rows;
	m->n_probes = 0;
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (has_file(s, i))
			rows[m->n_probes++] = probe_row(s, i);
	m->collectors = collectors;
	m->n_collectors = s->collectors.n;
	for (unsigned int i = 0; i < s->collectors.n; i++)
		collectors[i] = collector_row(s, &s->collectors.c[i]);
	put_log(s, m);
	put_tracer(s, m);
	segments = put_storage(s, m);
	r = manifest_text(m, complete, &w->text, &w->len);
	free(segments.rows);
	m->probes = NULL;
	m->collectors = NULL;
	m->segments = NULL;
	m->n_segments = 0;
	return r;
}

int session_begin_manifest(struct session *s, bool complete)
{
	struct session_writing *w = &s->writing;
	int r;

	if (!session_await_manifest(s, 0))
		return -EBUSY;
	w->r = 0;
	if (s->folder.gone)
		return 0;
	s->manifest_ns = clock_now_ns(CLOCK_MONOTONIC);
	r = make_text(s, w, complete);
	w->dirfd = s->dir.fd;
	if (r == 0)
		r = async_call_begin(&w->call, put, w);
	if (r < 0) { /* else all of it is the thread's now */
		free(TAKE_PTR(w->text));
		w->r = log_err_r(r, "%s/manifest.json", s->dir.path);
	}
	return r;
}
