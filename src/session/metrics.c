/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --metrics-file: the session's counters, written every interval. The file is always whole, since a new one is written
 * beside it and renamed; a file without dltraced's metrics is never replaced. Control plane.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "base/util.h"
#include "drain/rows/metrics.h"
#include "host/rights/privileges.h"
#include "os/new_file.h"
#include "session/state.h"
#include "trace/config.h"

#define FIRST "# HELP dltraced_" /* a metrics file of dltraced begins with this */
#define WAIT_MS 20 /* a file system that answers needs less */
#define WAIT_END_MS 2000 /* at the end of the trace: the last values matter more than a short delay */

/* --- the file -------------------------------------------------------------------------------------------- */

/* Returns 0 when the file is dltraced's own, empty or missing; else -errno. Follows no link, and does not block. */
static int is_ours(const struct new_file *file)
{
	autoclose int fd = openat(file->dirfd, file->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char first[sizeof(FIRST)] = "";
	struct stat st;
	ssize_t n;

	if (fd < 0) {
		if (errno == ENOENT)
			return 0;
		return errno == ELOOP ? -EEXIST : -errno;
	}
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EEXIST;
	n = read(fd, first, strlen(FIRST));
	if (n < 0)
		return -errno;
	return !n || !strcmp(first, FIRST) ? 0 : -EEXIST;
}

int metrics_file_open(struct new_file *file, const char *path)
{
	int r = new_file_name(file, path);

	file->may_replace = is_ours;
	if (!r)
		r = new_file_begin(file);
	if (r < 0)
		new_file_drop(file);
	else
		new_file_cancel(file);
	return r;
}

int metrics_file_write(struct new_file *file, const char *text, size_t len)
{
	int r = new_file_begin(file);

	if (r < 0)
		return r;
	fwrite(text, 1, len, file->stream);
	if (fchmod(fileno(file->stream), 0644) == 0)
		return new_file_end(file);
	r = -errno;
	new_file_cancel(file);
	return r;
}

/* --- content --------------------------------------------------------------------------------------------- */

static const char *reason(int r)
{
	if (r == -EEXIST)
		return "exists, and is not a metrics file of dltraced: name another";
	return r == -EISDIR ? "is a folder: name a file in it, with the suffix .prom for node_exporter" : strerror(-r);
}

int session_metrics_begin(struct session *session)
{
	int r;

	if (!session->cfg->metrics_file)
		return 0;
	r = metrics_file_open(&session->metrics_file, session->cfg->metrics_file);
	session->metrics = r ? NULL : calloc(1, sizeof(*session->metrics));
	if (r < 0 || !session->metrics) {
		log_err("--metrics-file %s: %s", session->cfg->metrics_file, reason(r ?: -ENOMEM));
		return EXIT_DLTRACED;
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

static void write_file(void *ctx)
{
	struct session *s = ctx;
	struct session_writing *w = &s->metrics_writing;

	w->r = metrics_file_write(&s->metrics_file, w->text, w->len);
}

static void write_metrics(void *ctx)
{
	privileges_own_files(write_file, ctx); /* the folder may be another service's, such as node_exporter's */
}

/* Takes the result of the last writing. Returns false while it is in progress. */
static bool take_written(struct session *session, int wait_ms)
{
	struct session_writing *w = &session->metrics_writing;

	if (!async_call_wait(&w->call, wait_ms))
		return false;
	free(TAKE_PTR(w->text));
	if (w->r < 0 && w->r != session->metrics_logged)
		log_warn("--metrics-file %s: %s; it stays out of date until it can be written again",
			 session->cfg->metrics_file, reason(w->r));
	session->metrics_logged = w->r;
	return true;
}

void session_metrics_write(struct session *session)
{
	char folder[PATH_MAX];
	struct metrics_now now = { .counts = &session->status.counts,
				   .rows = session->metrics,
				   .failed = &session->drain.decode.failed_calls,
				   .paused = session->folder.paused };
	struct session_writing *writing = &session->metrics_writing;
	int wait_ms = session_has_ended(session) ? WAIT_END_MS : WAIT_MS;
	FILE *out;

	if (!session->metrics || !take_written(session, session_has_ended(session) ? WAIT_END_MS : 0))
		return;
	now.folder = session_folder(session, folder);
	now.trace = session_name(now.folder);
	now.experiment = session->cfg->experiment;
	now.tracing = session->traced && !session_has_ended(session) && session->phase != PHASE_DELAY;
	now.probes = session->traced ? session->tracer.probes : 0;
	now.start_ns = now.tracing || session_has_ended(session) ? session->manifest.start.utc_ns : 0;
	now.end_ns = session_has_ended(session) ? session->manifest.end.utc_ns : 0;
	now.processes = now.tracing ? tracer_live(&session->tracer) : 0;
	fill_own(&now);
	fill_rings(&now, session);
	now.free_bytes = session->folder_watch.space.free_bytes;
	now.least_bytes = session->folder_watch.space.least_bytes;
	out = open_memstream(&writing->text, &writing->len);
	if (!out)
		return;
	metrics_put(out, &now);
	if (fclose(out) || async_call_begin(&writing->call, write_metrics, session) < 0)
		return;
	take_written(session, wait_ms);
	session->metrics_ns = clock_now_ns(CLOCK_MONOTONIC);
}

/* Ticks come a little early or late, so half a second of the interval may be missing. */
void session_metrics_tick(struct session *s)
{
	if (s->metrics && clock_now_ns(CLOCK_MONOTONIC) - s->metrics_ns >= s->cfg->interval_ns - NSEC_PER_SEC / 2)
		session_metrics_write(s);
}

void session_metrics_free(struct session *s)
{
	async_call_free(&s->metrics_writing.call);
	free(TAKE_PTR(s->metrics_writing.text));
	new_file_drop(&s->metrics_file);
	free(TAKE_PTR(s->metrics));
}
