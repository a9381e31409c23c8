/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/drain.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/util.h"
#include "collectors/collectors.h"
#include "dlt/marks.h"
#include "dlt/time_align.h"
#include "drain/archiver.h"
#include "drain/drain_impl.h"
#include "drain/rows/regions.h"
#include "drain/rows/stage.h"
#include "drain/stages.h"
#include "host/rights/privileges.h"
#include "kernel/tracer.h"
#include "os/disk.h"
#include "os/thread.h"
#include "trace/probe_mask.h"

/*
 * No wake-ups by the kernel: a 64 MiB ring filled at 66 MB/s (the fastest storm of one CPU measured) has 3
 * MB waiting after 50 ms. Smaller rings are read more often, and all of them less often after a second
 * without records: a wake-up costs some 40 us even without records.
 */
#define PERIOD_NS (50 * NSEC_PER_MSEC)
#define PERIOD_RING_BYTES (64ULL << 20)
#define PERIOD_MIN_NS NSEC_PER_MSEC
#define IDLE_ROUNDS 20
#define IDLE_PERIODS 4 /* the period after that */
#define CLOCK_TRIES 16
#define FINAL_ROUNDS 1000 /* of 1 ms: programs may still be in a hook, and a virtual CPU may be stolen there */

/* --- stages --------------------------------------------------------------------------------------- */

/* Whether the trace has the stage's file; a stage without open() looks by itself. */
static bool is_on(const struct drain *d, const struct drain_stage *stage)
{
	return !stage->open || d->decode.state[stage->probe];
}

/* Calls the hook HOOK of all stages that have it. */
#define each_stage(d, hook, ...)                                                      \
	do {                                                                          \
		for (const struct drain_stage *const *s_ = drain_stages; *s_; s_++)   \
			if ((*s_)->hook && is_on(d, *s_))                             \
				(*s_)->hook(&(d)->decode __VA_OPT__(, ) __VA_ARGS__); \
	} while (0)

/* --- rounds --------------------------------------------------------------------------------------- */

static void on_record(void *ctx, const void *rec, uint32_t len)
{
	struct decode *d = ctx;

	d->reached_ns = ((const struct dlt_hdr *)rec)->ts_ns;
	decode_record(d, rec, len);
}

/* Not for longer than a period: clock, log and collectors wait. Returns whether there were records. */
static bool round_once(struct drain *drain)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC), due = now + PERIOD_NS, n, begin_ns = now;

	do {
		n = rings_consume(&drain->rings, now, on_record, &drain->decode);
		now = clock_now_ns(CLOCK_MONOTONIC);
		__atomic_store_n(&drain->heartbeat_ns, now, __ATOMIC_RELAXED);
	} while (now < due && rings_waiting(&drain->rings) > drain->ring_bytes / 4);
	each_stage(drain, turn, n ? drain->decode.reached_ns : begin_ns);
	return n;
}

static void clock_row(struct drain *drain, const struct clock_reading *reading, uint32_t event)
{
	struct dlt_time_align rec = {
		.hdr = { .ts_ns = reading->mono_ns, .probe = DLT_time_align, .size = sizeof(rec) },
		.realtime_ns = reading->real_ns,
		.boottime_ns = reading->boot_ns,
		.error_ns = reading->error_ns,
		.event = event,
	};

	__atomic_store_n(&drain->end_ns, reading->mono_ns, __ATOMIC_RELAXED);
	decode_record(&drain->decode, &rec, sizeof(rec));
}

static void clock_tick(struct drain *drain, bool step)
{
	static const uint32_t events[] = {
		[CLOCK_SAME] = DLT_TIME_TICK,
		[CLOCK_ADJUSTED] = DLT_TIME_ADJUST,
		[CLOCK_STEPPED] = DLT_TIME_STEP,
	};
	struct clock_reading r;

	/* earlier rows keep the map that was in force when they happened */
	round_once(drain);
	if (step)
		each_stage(drain, step);
	clock_read(&r, CLOCK_TRIES);
	clock_row(drain, &r, events[clock_map_update(&drain->decode.clock, &r, step)]);
}

/* For clients that look at the ends of the files: not while a disk refuses rows. */
static void note_flushed(struct drain *d)
{
	if (!d->decode.sinks[DLT_waits].len && !d->decode.sinks[DLT_sched].len)
		__atomic_store_n(&d->flushed_ns, d->rings.reached_ns, __ATOMIC_RELAXED);
}

/* --- the thread's loop ---------------------------------------------------------------------------- */

static void timer_ack(int fd)
{
	uint64_t n;

	if (read(fd, &n, sizeof(n)) < 0)
		return; /* nothing to read: woken for another reason */
}

/* Look less often from the IDLE_ROUNDS-th round without a record on, until there is one again. */
static void pace(struct drain *drain, bool any)
{
	bool idle_before = drain->idle_rounds >= IDLE_ROUNDS, idle;
	uint64_t ns;

	drain->idle_rounds = any ? 0 : MIN(drain->idle_rounds + 1, IDLE_ROUNDS);
	idle = drain->idle_rounds >= IDLE_ROUNDS;
	ns = (idle ? IDLE_PERIODS : 1) * drain->period_ns;
	/* a line of the log gets the time at which it is found */
	if (idle != idle_before && drain->log.fd < 0)
		loop_timer_set(drain->timer_fd, ns, ns);
}

/* For the clients that watch, if there are any. */
static void look_on(struct drain *d, bool end)
{
	lives_turn(&d->lives, clock_now_ns(CLOCK_MONOTONIC), end, d->decode.ctx.files, regions_live(&d->decode),
		   end ? NULL : d->tracer);
	d->decode.lives = d->lives.n ? &d->lives : NULL;
}

static int on_timer(void *ctx, int fd, uint32_t events)
{
	struct drain *d = ctx;

	timer_ack(fd);
	pace(d, round_once(d));
	look_on(d, false);
	logtail_read(&d->log, &d->decode, false);
	return 0;
}

static int on_tick(void *ctx, int fd, uint32_t events)
{
	struct drain *drain = ctx;

	timer_ack(fd);
	clock_tick(drain, false);
	each_stage(drain, tick, drain->end_ns, drain->rings.reached_ns);
	drain_sinks_flush(drain);
	note_flushed(drain);
	drain_sinks_check_disk(drain);
	logtail_check_disk(&drain->log);
	drain_sinks_split_by_time(drain);
	return 0;
}

static int on_clock_set(void *ctx, int fd, uint32_t events)
{
	struct drain *d = ctx;

	clock_step_rearm(fd); /* before the reading: a step after it makes it readable again */
	clock_tick(d, true);
	return 0;
}

static int on_stop(void *ctx, int fd, uint32_t events)
{
	struct drain *d = ctx;

	loop_quit(&d->loop);
	return 0;
}

static int on_collector(void *ctx, int fd, uint32_t events)
{
	struct drain *d = ctx;

	for (unsigned int i = 0; i < d->collectors->n; i++) {
		struct collector *c = &d->collectors->c[i];

		if (c->read_fd == fd && collector_read(c, &d->decode.clock))
			loop_del(&d->loop, fd);
	}
	return 0;
}

static void in_flight(void *ctx, const struct dlt_call *call)
{
	struct drain *d = ctx;

	in_flight_row(&d->decode, call, d->end_ns);
}

static void in_flight_rec(void *ctx, const struct dlt_hdr *rec)
{
	struct drain *d = ctx;

	if (tracer_may_show(d->tracer, rec))
		decode_record(&d->decode, rec, rec->size);
}

/* A mark in the socket, and the record of its row. */
struct mark {
	struct dlt_marks rec;
	char text[DLT_MARK_TEXT_MAX + 1];
};

static void mark_rows(struct drain *d)
{
	struct mark m;
	ssize_t n;

	while ((n = recv(d->marks[0], &m, sizeof(m), 0)) > 0)
		decode_record(&d->decode, &m, (uint32_t)n);
}

static void alive(struct drain *d)
{
	__atomic_store_n(&d->heartbeat_ns, clock_now_ns(CLOCK_MONOTONIC), __ATOMIC_RELAXED);
}

/*
 * A trace that reports itself complete is on its disk, unless that takes longer than the user would want to
 * wait for the end: a server or a USB stick behind gigabytes of page cache.
 */
static void to_disk(struct drain *drain)
{
	const uint64_t until_ns = clock_now_ns(CLOCK_MONOTONIC) + DISK_END_NS;
	uint64_t left = drain_sinks_to_disk(drain, until_ns) + logtail_to_disk(&drain->log, until_ns);

	__atomic_store_n(&drain->not_on_disk, left, __ATOMIC_RELAXED);
}

static void finish(struct drain *drain)
{
	struct clock_reading r;

	for (int idle = 0; idle < FINAL_ROUNDS && rings_waiting(&drain->rings);) {
		idle = round_once(drain) ? 0 : idle + 1;
		if (idle)
			poll(NULL, 0, 1);
	}
	logtail_read(&drain->log, &drain->decode, true);
	mark_rows(drain);
	clock_read(&r, CLOCK_TRIES);
	__atomic_store_n(&drain->end_ns, r.mono_ns, __ATOMIC_RELAXED);
	tracer_running(drain->tracer, in_flight, drain);
	tracer_requests(drain->tracer, drain->end_ns, UINT_MAX, in_flight, in_flight_rec, drain);
	each_stage(drain, end, drain->end_ns);
	clock_map_update(&drain->decode.clock, &r, false);
	clock_row(drain, &r, DLT_TIME_END);
	drain_sinks_flush_last(drain);
	decode_files_again(&drain->decode, drain->end_ns);
	for (unsigned int i = 0; drain->collectors && i < drain->collectors->n; i++)
		if (drain->collectors->c[i].read_fd >= 0)
			collector_read(&drain->collectors->c[i], &drain->decode.clock);
	look_on(drain, true);
	drain_sinks_flush_last(drain);
	drain_sinks_give_up(drain);
	alive(drain);
	to_disk(drain);
	alive(drain);
	drain_sinks_end(drain);
}

static int on_mark(void *ctx, int fd, uint32_t events)
{
	mark_rows(ctx);
	return 0;
}

static void *drain_main(void *ctx)
{
	struct drain *drain = ctx;
	struct clock_reading r;

	__atomic_store_n(&drain->tid, thread_id(), __ATOMIC_RELAXED);
	/* if it fails here it fails in the main thread too, which reports it */
	(void)!privileges_give_up(drain->privileges, true);
	clock_read(&r, CLOCK_TRIES);
	clock_map_init(&drain->decode.clock, &r);
	clock_row(drain, &r, DLT_TIME_START);
	each_stage(drain, begin, drain->tracer, r.mono_ns);
	drain->error = loop_run(&drain->loop);
	finish(drain);
	eventfd_write(drain->ended_fd, 1);
	return NULL;
}

/* --- control plane -------------------------------------------------------------------------------- */

static int watch(struct drain *d, int *fd_slot, int fd, loop_fn fn)
{
	*fd_slot = fd;
	return fd < 0 ? fd : loop_add(&d->loop, fd, EPOLLIN, fn, d);
}

static int loop_setup(struct drain *drain)
{
	int r = loop_init(&drain->loop), stop;

	drain->period_ns =
		MAX(PERIOD_NS * MIN(drain->ring_bytes, PERIOD_RING_BYTES) / PERIOD_RING_BYTES, PERIOD_MIN_NS);
	if (!r)
		r = watch(drain, &drain->timer_fd, loop_timerfd(drain->period_ns), on_timer);
	if (!r)
		r = watch(drain, &drain->tick_fd, loop_timerfd(NSEC_PER_SEC), on_tick);
	if (!r)
		r = watch(drain, &drain->clock_fd, clock_step_fd(), on_clock_set);
	if (!r) {
		stop = eventfd(0, EFD_CLOEXEC);
		r = watch(drain, &drain->stop_fd, stop < 0 ? -errno : stop, on_stop);
	}
	drain->ended_fd = r < 0 ? -1 : eventfd(0, EFD_CLOEXEC);
	if (!r && drain->ended_fd < 0)
		r = -errno;
	if (!r)
		r = loop_add(&drain->loop, drain->marks[0], EPOLLIN, on_mark, drain);
	for (unsigned int i = 0; !r && drain->collectors && i < drain->collectors->n; i++)
		if (drain->collectors->c[i].read_fd >= 0)
			r = loop_add(&drain->loop, drain->collectors->c[i].read_fd, EPOLLIN, on_collector, drain);
	return r;
}

int drain_open(struct drain *drain, const struct config *cfg, struct tracer *tracer, probe_mask mask, int dirfd,
	       const char *workload_log, struct archiver *archiver)
{
	struct stat st;
	int r;

	memset(drain, 0, sizeof(*drain));
	drain->marks[0] = drain->marks[1] = drain->lives.fd = drain->log.fd = drain->timer_fd = drain->tick_fd =
		drain->clock_fd = drain->stop_fd = drain->ended_fd = drain->loop.epoll_fd = drain->reserve.fd =
			drain->last.fd = -1;
	drain->tracer = tracer;
	drain->ring_bytes = tracer->ring_bytes;
	drain->archiver = archiver;
	drain->split = (struct sink_split){ .bytes = cfg->rotate_bytes, .closed = archiver_closed, .ctx = archiver };
	drain->split_ns = cfg->rotate_ns;
	r = decode_init(&drain->decode, cfg);
	if (!r)
		r = decode_stages(&drain->decode, drain_stages, mask);
	if (!r && !fstat(dirfd, &st))
		drain->decode.own_dev = major(st.st_dev) << 20 | minor(st.st_dev);
	if (!r && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, drain->marks) < 0)
		r = -errno;
	drain->lives.fd = r < 0 ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!r && workload_log)
		r = logtail_open(&drain->log, dirfd, workload_log);
	if (!r)
		r = drain_sinks_open(drain, mask | decode_unasked(cfg, workload_log), dirfd);
	if (!r)
		r = rings_init(&drain->rings, tracer->ring_fds, tracer->n_rings, tracer->ring_bytes, tracer->n_cpus);
	return r;
}

int drain_start(struct drain *drain, struct collectors *cs)
{
	int r;

	drain->collectors = cs;
	if (drain->split_ns)
		drain->next_split_ns = clock_now_ns(CLOCK_MONOTONIC) + drain->split_ns;
	r = loop_setup(drain);
	if (r < 0)
		return r;
	/* the times of earlier lines are unknown */
	if (drain->log.fd >= 0)
		lseek(drain->log.fd, 0, SEEK_END);
	r = thread_start(&drain->thread, drain_main, drain);
	drain->running = !r;
	return r;
}

uint64_t drain_cpu_ns(const struct drain *d)
{
	struct timespec t = { 0 };
	clockid_t clock;

	if (pthread_getcpuclockid(d->thread, &clock) || clock_gettime(clock, &t) < 0)
		return 0; /* it has ended */
	return timespec_ns(&t);
}

void drain_end(struct drain *d)
{
	if (d->running)
		eventfd_write(d->stop_fd, 1);
}

void drain_stop(struct drain *d)
{
	if (!d->running)
		return;
	drain_end(d);
	pthread_join(d->thread, NULL);
	d->running = false;
	d->heartbeat_ns = 0; /* it has ended, not stalled, however long the end takes */
}

void drain_free(struct drain *drain)
{
	if (!drain->ring_bytes) /* never started: descriptors are 0, not -1 */
		return;
	drain_stop(drain);
	decode_free(&drain->decode);
	rings_free(&drain->rings);
	logtail_close(&drain->log);
	reserve_give_back(&drain->reserve);
	reserve_give_back(&drain->last);
	util_close(&drain->marks[0]);
	util_close(&drain->marks[1]);
	util_close(&drain->lives.fd);
	util_close(&drain->timer_fd);
	util_close(&drain->tick_fd);
	util_close(&drain->clock_fd);
	util_close(&drain->stop_fd);
	util_close(&drain->ended_fd);
	loop_free(&drain->loop);
}

int drain_mark(struct drain *drain, uint32_t pid, const char *text, size_t len)
{
	struct mark m = {
		.rec.hdr = { .ts_ns = clock_now_ns(CLOCK_MONOTONIC), .tgid = pid, .tid = pid, .probe = DLT_marks }
	};

	if (len > DLT_MARK_TEXT_MAX)
		return -EINVAL;
	memcpy(m.text, text, len);
	m.rec.segs.len[0] = (uint16_t)(len + 1);
	m.rec.hdr.size = (uint32_t)(sizeof(m.rec) + len + 1);
	return send(drain->marks[1], &m, m.rec.hdr.size, MSG_NOSIGNAL) < 0 ? -errno : 0;
}
