/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `status --watch': sends the drain's sums to watchers. A view is a line of JSON, which `status --watch --json' prints
 * nearly unchanged. Control plane; never waits for a watcher. The watcher completes the calls in flight, where these
 * members are null:
 *
 *	comm	the thread's present name
 *	file	the drain knows no path, or no name of a disk; "fd" and "addr", if present, are those of
 *		call_file()
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/json.h"
#include "base/util.h"
#include "drain/rows/failed_calls.h"
#include "drain/rows/live.h"
#include "drain/rows/regions.h"
#include "session/state.h"
#include "trace/probe.h"

static void put_numbers(struct json *json, const struct live_sum *sum)
{
	json_u64(json, "calls", sum->calls);
	json_u64(json, "failed", sum->failed);
	json_u64(json, "read_bytes", sum->read_bytes);
	json_u64(json, "written_bytes", sum->written_bytes);
	json_u64(json, "fetched_bytes", sum->fetched_bytes);
	json_u64(json, "file_reads", sum->reads);
	json_u64(json, "disk_reads", sum->disk_reads);
	json_u64(json, "latency_sum_ns", sum->lat_ns);
	json_u64(json, "latency_max_ns", sum->max_lat_ns);
	json_u64(json, "latency_p99_ns", sum->p99_ns);
	json_end(json);
}

static void put_comm(struct json *j, const char comm[DLT_COMM_LEN])
{
	json_strn(j, "comm", comm, strnlen(comm, DLT_COMM_LEN));
}

static void put_call(struct json *json, const struct live_call *call, uint64_t now_ns)
{
	json_object(json, NULL);
	json_u64(json, "pid", call->pid);
	json_u64(json, "tid", call->tid);
	if (*call->comm)
		put_comm(json, call->comm);
	else
		json_null(json, "comm");
	json_str(json, "probe", probes[call->probe]->name);
	json_str(json, "call", call->name);
	json_u64(json, "running_ms", (now_ns - call->start_ns) / NSEC_PER_MSEC);
	json_str(json, "file", call->path);
	if (call->fd != DLT_NONE)
		json_s64(json, "fd", call->fd);
	if (call->addr)
		json_u64(json, "addr", call->addr);
	json_end(json);
}

static void put_number(struct json *j, const char *key, int64_t n)
{
	if (n == DLTRACED_NONE)
		json_null(j, key);
	else
		json_s64(j, key, n);
}

static void put_region(struct json *json, const struct live_region *region, uint64_t now_ns)
{
	json_object(json, NULL);
	json_u64(json, "pid", region->pid);
	json_u64(json, "tid", region->tid);
	put_comm(json, region->comm);
	json_str(json, "name", region->name);
	put_number(json, "epoch", region->epoch);
	put_number(json, "step", region->step);
	json_u64(json, "running_ms", (now_ns - MIN(region->start_ns, now_ns)) / NSEC_PER_MSEC);
	json_end(json);
}

/* The errors of calls that failed since the trace began, as far as there are any. */
static void put_failed(struct json *json, const struct failed_calls *failed)
{
	json_object(json, "failed_calls");
	for (unsigned int i = 0; i < FAILED_CALLS_ERRORS; i++)
		if (util_counted(&failed->n[i]))
			json_u64(json, failed_calls_errors[i].name, util_counted(&failed->n[i]));
	json_end(json);
}

static void put_view(struct session *session, struct json *json, const struct live_view *view)
{
	char path[PATH_MAX];

	status_update(&session->status, &session->tracer, &session->drain);
	json_object(json, NULL);
	json_str(json, "name", session_name(session_folder(session, path)));
	json_u64(json, "pid", (uint64_t)getpid());
	json_str(json, "phase", session_phase(session));
	json_u64(json, "elapsed_ms", (view->to_ns - MIN(view->to_ns, session->status.start_ns)) / NSEC_PER_MSEC);
	json_u64(json, "rows", session->status.rows + session->status.summed);
	json_u64(json, "lost", session->status.lost);
	json_u64(json, "interval_ms", (view->to_ns - view->from_ns) / NSEC_PER_MSEC);
	json_u64(json, "processes_alive", tracer_live(&session->tracer));
	json_u64(json, "processes_with_calls", view->processes);
	put_failed(json, &session->drain.decode.failed_calls);
	json_object(json, "all");
	put_numbers(json, &view->all);
	json_array(json, "processes");
	for (uint32_t i = 0; i < view->n; i++) {
		json_object(json, NULL);
		json_u64(json, "pid", view->sums[i].pid);
		put_comm(json, view->sums[i].comm);
		put_numbers(json, &view->sums[i]);
	}
	json_end(json);
	json_array(json, "regions");
	for (unsigned int i = 0; i < view->n_regions; i++)
		put_region(json, &view->regions[i], view->to_ns);
	json_end(json);
	json_array(json, "running");
	for (unsigned int i = 0; i < view->n_calls; i++)
		put_call(json, &view->calls[i], view->to_ns);
	json_end(json);
	json_end(json);
}

/* Returns -EAGAIN while W is busy with the last view; the drain goes on adding to the sums. */
static int send_view(struct session *s, struct session_watcher *w)
{
	struct json j = { .flat = true };
	int r;

	put_view(s, &j, &w->live->view);
	r = json_finish(&j) ?: control_push(&s->control, w->client, j.buf, j.len);
	json_free(&j);
	return r;
}

/* Sends full views, and frees those of watchers that have left. */
static void look(struct session *session)
{
	for (unsigned int i = 0; i < LIVE_PLACES; i++) {
		struct session_watcher *w = &session->watchers[i];

		if (!w->live)
			continue;
		/* the watcher may leave during send_view(): then session_live_gone() sets HERE to false */
		if (w->here && atomic_load(&w->live->state) == LIVE_FULL && send_view(session, w) != -EAGAIN && w->here)
			atomic_store(&w->live->state, LIVE_EMPTY);
		if (atomic_load(&w->live->state) == LIVE_GONE)
			live_free(TAKE_PTR(w->live));
	}
}

static int on_live(void *ctx, int fd, uint32_t events)
{
	struct session *s = ctx;
	uint64_t n;

	if (read(fd, &n, sizeof(n)) < 0)
		return 0;
	look(s);
	return 0;
}

void session_live_tick(struct session *s)
{
	look(s);
}

void session_live_gone(void *ctx, unsigned int client)
{
	struct session *session = ctx;

	for (unsigned int i = 0; i < LIVE_PLACES; i++) {
		struct session_watcher *w = &session->watchers[i];

		if (!w->live || !w->here || w->client != client)
			continue;
		w->here = false;
		if (atomic_load(&w->live->state) == LIVE_FULL)
			atomic_store(&w->live->state, LIVE_EMPTY);
		atomic_store(&w->live->leave, true);
	}
}

/* Returns a free place; NULL when there are too many watchers, or the drain has not released a place yet. */
static struct session_watcher *free_place(struct session *session)
{
	unsigned int here = 0;

	for (unsigned int i = 0; i < LIVE_PLACES; i++)
		here += session->watchers[i].live && session->watchers[i].here;
	if (here >= LIVE_WATCHERS_MAX)
		return NULL;
	for (unsigned int i = 0; i < LIVE_PLACES; i++)
		if (!session->watchers[i].live)
			return &session->watchers[i];
	return NULL;
}

int session_live_answer(struct session *session, const struct control_request *rq, FILE *out)
{
	struct session_watcher *watcher = free_place(session);
	unsigned long long ms, max;
	int r = -EINVAL;

	if (!session->traced || session_has_ended(session)) {
		fputs("it is not tracing\n", out);
		return -EAGAIN;
	}
	if (sscanf(rq->text, "%llu %llu", &ms, &max) != 2 || ms < LIVE_INTERVAL_MIN_MS || ms > LIVE_INTERVAL_MAX_MS) {
		fputs("an interval in ms and a number of processes\n", out);
		return r;
	}
	if (!session->live_fd_added)
		session->live_fd_added = !loop_add(&session->loop, session->drain.lives.fd, EPOLLIN, on_live, session);
	if (watcher)
		watcher->live = live_new(ms, (uint32_t)MIN(max, (unsigned long long)LIVE_PROCESSES_MAX));
	if (!watcher)
		r = -EBUSY;
	else if (!watcher->live || !session->live_fd_added)
		r = -ENOMEM;
	else
		r = lives_add(&session->drain.lives, watcher->live);
	if (r < 0) {
		fprintf(out, r == -EBUSY ? "%d commands watch it already, the maximum\n" : "no memory to watch it\n",
			LIVE_WATCHERS_MAX);
		if (watcher)
			live_free(TAKE_PTR(watcher->live));
		return r;
	}
	watcher->client = rq->client;
	watcher->here = true;
	return CONTROL_STAYS;
}

/* Sends the rest of the sums, after the drain's end, and closes the connections. */
void session_live_end(struct session *session)
{
	if (session->live_fd_added) {
		look(session);
		lives_turn(&session->drain.lives, clock_now_ns(CLOCK_MONOTONIC), true, session->drain.decode.ctx.files,
			   regions_live(&session->drain.decode), NULL);
		look(session);
	}
	for (unsigned int i = 0; i < LIVE_PLACES; i++) {
		struct session_watcher *w = &session->watchers[i];

		if (w->live && w->here)
			control_dismiss(&session->control, w->client);
		w->here = false;
		live_free(TAKE_PTR(w->live));
	}
	if (session->live_fd_added)
		loop_del(&session->loop, session->drain.lives.fd);
	session->live_fd_added = false;
}
