/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `status --watch': sends the drain's sums to watchers. A view is a line of JSON, which `status --watch --json' prints
 * nearly unchanged. Control plane; never waits for a watcher. The watcher completes the calls in flight, where these members
 * are null:
 *
 *	comm	the thread's present name
 *	file	the drain knows no path, or no name of a disk; "fd" and "addr", if present, are those of call_file()
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/json.h"
#include "base/util.h"
#include "drain/rows/live.h"
#include "session/state.h"
#include "trace/probe.h"

static void put_numbers(struct json *j, const struct live_sum *s)
{
	json_u64(j, "calls", s->calls);
	json_u64(j, "failed", s->failed);
	json_u64(j, "read_bytes", s->read_bytes);
	json_u64(j, "written_bytes", s->written_bytes);
	json_u64(j, "fetched_bytes", s->fetched_bytes);
	json_u64(j, "file_reads", s->reads);
	json_u64(j, "disk_reads", s->disk_reads);
	json_u64(j, "latency_sum_ns", s->lat_ns);
	json_u64(j, "latency_max_ns", s->max_lat_ns);
	json_u64(j, "latency_p99_ns", s->p99_ns);
	json_end(j);
}

static void put_comm(struct json *j, const char comm[DLT_COMM_LEN])
{
	json_strn(j, "comm", comm, strnlen(comm, DLT_COMM_LEN));
}

static void put_call(struct json *j, const struct live_call *c, uint64_t now_ns)
{
	json_object(j, NULL);
	json_u64(j, "pid", c->pid);
	json_u64(j, "tid", c->tid);
	if (*c->comm)
		put_comm(j, c->comm);
	else
		json_null(j, "comm");
	json_str(j, "probe", probes[c->probe]->name);
	json_str(j, "call", c->name);
	json_u64(j, "running_ms", (now_ns - c->start_ns) / NSEC_PER_MSEC);
	json_str(j, "file", c->path);
	if (c->fd != DLT_NONE)
		json_s64(j, "fd", c->fd);
	if (c->addr)
		json_u64(j, "addr", c->addr);
	json_end(j);
}

static void put_number(struct json *j, const char *key, int64_t n)
{
	if (n == DLTRACED_NONE)
		json_null(j, key);
	else
		json_s64(j, key, n);
}

static void put_region(struct json *j, const struct live_region *r, uint64_t now_ns)
{
	json_object(j, NULL);
	json_u64(j, "pid", r->pid);
	json_u64(j, "tid", r->tid);
	put_comm(j, r->comm);
	json_str(j, "name", r->name);
	put_number(j, "epoch", r->epoch);
	put_number(j, "step", r->step);
	json_u64(j, "running_ms", (now_ns - MIN(r->start_ns, now_ns)) / NSEC_PER_MSEC);
	json_end(j);
}

static void put_view(struct session *s, struct json *j, const struct live_view *v)
{
	char path[PATH_MAX];

	status_update(&s->status, &s->tracer, &s->drain);
	json_object(j, NULL);
	json_str(j, "name", session_name(session_folder(s, path)));
	json_u64(j, "pid", (uint64_t)getpid());
	json_str(j, "phase", session_phase(s));
	json_u64(j, "elapsed_ms", (v->to_ns - MIN(v->to_ns, s->status.start_ns)) / NSEC_PER_MSEC);
	json_u64(j, "rows", s->status.rows + s->status.summed);
	json_u64(j, "lost", s->status.lost);
	json_u64(j, "interval_ms", (v->to_ns - v->from_ns) / NSEC_PER_MSEC);
	json_u64(j, "processes_alive", tracer_live(&s->tracer));
	json_u64(j, "processes_with_calls", v->processes);
	json_object(j, "all");
	put_numbers(j, &v->all);
	json_array(j, "processes");
	for (uint32_t i = 0; i < v->n; i++) {
		json_object(j, NULL);
		json_u64(j, "pid", v->sums[i].pid);
		put_comm(j, v->sums[i].comm);
		put_numbers(j, &v->sums[i]);
	}
	json_end(j);
	json_array(j, "regions");
	for (unsigned int i = 0; i < v->n_regions; i++)
		put_region(j, &v->regions[i], v->to_ns);
	json_end(j);
	json_array(j, "running");
	for (unsigned int i = 0; i < v->n_calls; i++)
		put_call(j, &v->calls[i], v->to_ns);
	json_end(j);
	json_end(j);
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
static void look(struct session *s)
{
	for (unsigned int i = 0; i < LIVE_PLACES; i++) {
		struct session_watcher *w = &s->watchers[i];

		if (!w->live)
			continue;
		/* the watcher may leave during send_view(): then session_live_gone() sets HERE to false */
		if (w->here && atomic_load(&w->live->state) == LIVE_FULL && send_view(s, w) != -EAGAIN && w->here)
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
	struct session *s = ctx;

	for (unsigned int i = 0; i < LIVE_PLACES; i++) {
		struct session_watcher *w = &s->watchers[i];

		if (!w->live || !w->here || w->client != client)
			continue;
		w->here = false;
		if (atomic_load(&w->live->state) == LIVE_FULL)
			atomic_store(&w->live->state, LIVE_EMPTY);
		atomic_store(&w->live->leave, true);
	}
}

/* Returns a free place; NULL when there are too many watchers, or the drain has not released a place yet. */
static struct session_watcher *free_place(struct session *s)
{
	unsigned int here = 0;

	for (unsigned int i = 0; i < LIVE_PLACES; i++)
		here += s->watchers[i].live && s->watchers[i].here;
	if (here >= LIVE_WATCHERS_MAX)
		return NULL;
	for (unsigned int i = 0; i < LIVE_PLACES; i++)
		if (!s->watchers[i].live)
			return &s->watchers[i];
	return NULL;
}

int session_live_answer(struct session *s, const struct control_request *rq, FILE *out)
{
	struct session_watcher *w = free_place(s);
	unsigned long long ms, max;
	int r = -EINVAL;

	if (!s->traced || session_has_ended(s)) {
		fputs("it is not tracing\n", out);
		return -EAGAIN;
	}
	if (sscanf(rq->text, "%llu %llu", &ms, &max) != 2 || ms < LIVE_INTERVAL_MIN_MS || ms > LIVE_INTERVAL_MAX_MS) {
		fputs("an interval in ms and a number of processes\n", out);
		return r;
	}
	if (!s->live_fd_added)
		s->live_fd_added = !loop_add(&s->loop, s->drain.lives.fd, EPOLLIN, on_live, s);
	if (w)
		w->live = live_new(ms, (uint32_t)MIN(max, (unsigned long long)LIVE_PROCESSES_MAX));
	r = !w ? -EBUSY : !w->live || !s->live_fd_added ? -ENOMEM : lives_add(&s->drain.lives, w->live);
	if (r < 0) {
		fprintf(out, r == -EBUSY ? "%d commands watch it already, the maximum\n" : "no memory to watch it\n",
			LIVE_WATCHERS_MAX);
		if (w)
			live_free(TAKE_PTR(w->live));
		return r;
	}
	w->client = rq->client;
	w->here = true;
	return CONTROL_STAYS;
}

/* Sends the rest of the sums, after the drain's end, and closes the connections. */
void session_live_end(struct session *s)
{
	if (s->live_fd_added) {
		look(s);
		lives_turn(&s->drain.lives, clock_now_ns(CLOCK_MONOTONIC), true, s->drain.decode.ctx.files, NULL);
		look(s);
	}
	for (unsigned int i = 0; i < LIVE_PLACES; i++) {
		struct session_watcher *w = &s->watchers[i];

		if (w->live && w->here)
			control_dismiss(&s->control, w->client);
		w->here = false;
		live_free(TAKE_PTR(w->live));
	}
	if (s->live_fd_added)
		loop_del(&s->loop, s->drain.lives.fd);
	s->live_fd_added = false;
}
