/* SPDX-License-Identifier: BSD-2-Clause */
/* --metrics-file: what a session knows of itself, written down every interval. Control plane. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "cmd.h"
#include "config.h"
#include "log.h"
#include "metrics.h"
#include "privileges.h"
#include "session_state.h"
#include "space.h"
#include "util.h"

static const char *reason(int r)
{
	return r == -EEXIST ? "is there, and is no file of dltraced's metrics: name another" :
	       r == -EISDIR ? "is a folder: name a file in it, ending in .prom for node_exporter" : strerror(-r);
}

int session_metrics_begin(struct session *s)
{
	int r;

	if (!s->cfg->metrics_file)
		return 0;
	r = metrics_file_open(&s->metrics_file, s->cfg->metrics_file);
	s->metrics = r ? NULL : calloc(1, sizeof(*s->metrics));
	if (r < 0 || !s->metrics) {
		log_err("--metrics-file %s: %s", s->cfg->metrics_file, reason(r ?: -ENOMEM));
		return CMD_EXIT_FAILURE;
	}
	return 0;
}

static uint64_t timeval_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * NSEC_PER_SEC + (uint64_t)t->tv_usec * 1000;
}

static void fill_own(struct metrics_now *now)
{
	unsigned long long size, resident;
	struct rusage ru = {};
	char line[128];

	getrusage(RUSAGE_SELF, &ru);
	now->cpu_user_ns = timeval_ns(&ru.ru_utime);
	now->cpu_system_ns = timeval_ns(&ru.ru_stime);
	if (!util_read_line("/proc/self/statm", line, sizeof(line)) && sscanf(line, "%llu %llu", &size, &resident) == 2)
		now->resident_bytes = resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void fill_rings(struct metrics_now *now, const struct session *s)
{
	now->ring_bytes = s->tracer.ring_bytes;
	now->buffer_bytes = now->ring_bytes * s->tracer.n_rings;
	if (!s->drain.running)
		return;
	now->buffer_fullest_bytes = rings_waiting(&s->drain.rings);
	now->buffer_used_bytes = rings_used(&s->drain.rings);
}

struct writing {
	const struct metrics_file *file;
	const char *text;
	size_t len;
	int r;
};

static void write_file(void *ctx)
{
	struct writing *w = ctx;

	w->r = metrics_file_write(w->file, w->text, w->len);
}

void session_metrics_write(struct session *s)
{
	char folder[PATH_MAX];
	struct metrics_now now = { .status = &s->status, .rows = s->metrics, .paused = s->paused };
	struct space space = {};
	autofree char *text = NULL;
	size_t len = 0;
	FILE *out;
	struct writing w = { .file = &s->metrics_file };

	if (!s->metrics)
		return;
	now.folder = session_folder(s, folder);
	now.trace = session_name(now.folder);
	now.experiment = s->cfg->experiment;
	now.tracing = s->traced && !s->ended && s->phase != PHASE_DELAY;
	now.probes = s->traced ? s->tracer.probes : 0;
	now.start_ns = now.tracing || s->ended ? s->manifest.start.utc_ns : 0;
	now.end_ns = s->ended ? s->manifest.end.utc_ns : 0;
	now.processes = now.tracing ? tracer_live(&s->tracer) : 0;
	fill_own(&now);
	fill_rings(&now, s);
	if (!space_look(&space, s->dir.fd, s->cfg->min_free_bytes)) {
		now.free_bytes = space.free_bytes;
		now.least_bytes = space.least_bytes;
	}
	out = open_memstream(&text, &len);
	if (!out)
		return;
	metrics_put(out, &now);
	if (fclose(out))
		return;
	w.text = text;
	w.len = len;
	privileges_own_files(write_file, &w); /* the folder is node_exporter's */
	if (w.r < 0 && w.r != s->metrics_said)
		log_warn("--metrics-file %s: %s; it is as old as it is until it can be written again",
			 s->cfg->metrics_file, reason(w.r));
	s->metrics_said = w.r;
	s->metrics_ns = clock_now_ns(CLOCK_MONOTONIC);
}

/* The second's tick comes a little earlier or later each time. */
void session_metrics_tick(struct session *s)
{
	if (s->metrics && clock_now_ns(CLOCK_MONOTONIC) - s->metrics_ns >= s->cfg->interval_ns - NSEC_PER_SEC / 2)
		session_metrics_write(s);
}

void session_metrics_free(struct session *s)
{
	metrics_file_close(&s->metrics_file);
	free(TAKE_PTR(s->metrics));
}
