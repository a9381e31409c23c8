/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `status --watch': what the drain has summed up goes to those who watch, as lines of words with a tab
 * between them, escaped as in the text files. Control plane; nothing here waits for them.
 *
 *	begin	phase, ms of tracing, rows, lost, ms of this interval, processes alive, with calls
 *	all	calls, failed, bytes read, written, fetched, reads, of those from disk, ns in all, longest, p99
 *	process	PID, COMM, then the same: those who moved most first
 *	call	PID, TID, probe, FUNC, ms so far, descriptor or -, address of a path or 0, path or -, COMM or -
 *	end
 *
 * Descriptor and address are call_file()'s; the path is there where the drain knows it, of a disk its name;
 * COMM where it is not the thread's of now.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/util.h"
#include "drain/live.h"
#include "session/state.h"
#include "trace/probe.h"

static void put_numbers(FILE *out, const struct live_sum *s)
{
	const uint64_t numbers[] = { s->calls, s->failed, s->read_bytes, s->written_bytes, s->fetched_bytes, s->reads,
				     s->disk_reads, s->lat_ns, s->max_lat_ns, s->p99_ns };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		fprintf(out, "\t%llu", (unsigned long long)numbers[i]);
	fputc('\n', out);
}

static void put_call(FILE *out, const struct live_call *c, uint64_t now_ns)
{
	fprintf(out, "call\t%u\t%u\t%s\t%s\t%llu\t", c->pid, c->tid, probes[c->probe]->name,
		c->name, (unsigned long long)((now_ns - c->start_ns) / NSEC_PER_MSEC));
	if (c->fd == DLT_NONE)
		fputc('-', out);
	else
		fprintf(out, "%lld", (long long)c->fd);
	fprintf(out, "\t%llu\t", (unsigned long long)(c->path ? 0 : c->addr));
	session_put_word(out, c->path ?: "", c->path ? strlen(c->path) : 0);
	fputc('\t', out);
	session_put_word(out, c->comm, strnlen(c->comm, sizeof(c->comm)));
	fputc('\n', out);
}

static void put_view(struct session *s, FILE *out, const struct live_view *v)
{
	status_update(&s->status, &s->tracer, &s->drain);
	fprintf(out, "begin\t%s\t%llu\t%llu\t%llu\t%llu\t%llu\t%u\n", session_phase(s),
		(unsigned long long)((v->to_ns - MIN(v->to_ns, s->status.start_ns)) / NSEC_PER_MSEC),
		(unsigned long long)s->status.rows + s->status.summed, (unsigned long long)s->status.lost,
		(unsigned long long)((v->to_ns - v->from_ns) / NSEC_PER_MSEC), (unsigned long long)tracer_live(&s->tracer),
		v->processes);
	fputs("all", out);
	put_numbers(out, &v->all);
	for (uint32_t i = 0; i < v->n; i++) {
		fprintf(out, "process\t%u\t", v->sums[i].pid);
		session_put_word(out, v->sums[i].comm, strnlen(v->sums[i].comm, DLT_COMM_LEN));
		put_numbers(out, &v->sums[i]);
	}
	for (unsigned int i = 0; i < v->n_calls; i++)
		put_call(out, &v->calls[i], v->to_ns);
	fputs("end\n", out);
}

/* -EAGAIN: W is still busy with the last one; the drain goes on to sum meanwhile. */
static int send_view(struct session *s, struct session_watcher *w)
{
	autofree char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return -ENOMEM;
	put_view(s, out, &w->live->view);
	return fclose(out) ? -ENOMEM : control_push(&s->control, w->client, text, len);
}

/* What is full is sent, what is gone is freed. */
static void look(struct session *s)
{
	for (unsigned int i = 0; i < LIVE_PLACES; i++) {
		struct session_watcher *w = &s->watchers[i];

		if (!w->live)
			continue;
		/* one who leaves meanwhile has had it taken */
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

/* NULL: as many watch as may, or those before them have not been let go of yet. */
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

int session_live_say(struct session *s, const struct control_request *rq, FILE *out)
{
	struct session_watcher *w = free_place(s);
	unsigned long long ms, max;
	int r = -EINVAL;

	if (!s->traced || session_has_ended(s)) {
		fputs("it is not tracing now\n", out);
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
		fprintf(out, r == -EBUSY ? "%d watch it already, which is the most\n" : "no memory to watch it\n",
			LIVE_WATCHERS_MAX);
		if (w)
			live_free(TAKE_PTR(w->live));
		return r;
	}
	w->client = rq->client;
	w->here = true;
	return CONTROL_STAYS;
}

/* The drain has ended: what is left of the sums, and goodbye. */
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
