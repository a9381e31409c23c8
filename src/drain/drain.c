/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/drain.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/log.h"
#include "base/util.h"
#include "collectors/collectors.h"
#include "dlt/marks.h"
#include "dlt/time_align.h"
#include "drain/archiver.h"
#include "drain/memory/access.h"
#include "drain/memory/access_pages.h"
#include "drain/memory/alloc.h"
#include "drain/rows/printed.h"
#include "drain/rows/regions.h"
#include "host/rights/privileges.h"
#include "host/space.h"
#include "kernel/tracer.h"
#include "os/disk.h"
#include "os/thread.h"
#include "trace/probe.h"
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

static void on_record(void *ctx, const void *rec, uint32_t len)
{
	struct decode *d = ctx;

	d->reached_ns = ((const struct dlt_hdr *)rec)->ts_ns;
	decode_record(d, rec, len);
}

/* Not for longer than a period: clock, log and collectors wait. Returns whether there were records. */
static bool round_once(struct drain *d)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC), due = now + PERIOD_NS, n, begin_ns = now;

	do {
		n = rings_consume(&d->rings, now, on_record, &d->decode);
		now = clock_now_ns(CLOCK_MONOTONIC);
		__atomic_store_n(&d->heartbeat_ns, now, __ATOMIC_RELAXED);
	} while (now < due && rings_waiting(&d->rings) > d->ring_bytes / 4);
	decode_turn(&d->decode, false);
	if (d->decode.printed)
		printed_turn(d->decode.printed, &d->decode, n ? d->decode.reached_ns : begin_ns);
	return n;
}

static void clock_row(struct drain *d, const struct clock_reading *r, uint32_t event)
{
	struct dlt_time_align rec = {
		.hdr = { .ts_ns = r->mono_ns, .probe = DLT_time_align, .size = sizeof(rec) },
		.realtime_ns = r->real_ns,
		.boottime_ns = r->boot_ns,
		.error_ns = r->error_ns,
		.event = event,
	};

	__atomic_store_n(&d->end_ns, r->mono_ns, __ATOMIC_RELAXED);
	decode_record(&d->decode, &rec, sizeof(rec));
	memory_tick(&d->memory, &d->decode, r->mono_ns, event == DLT_TIME_END);
}

static void clock_tick(struct drain *d, bool step)
{
	static const uint32_t events[] = {
		[CLOCK_SAME] = DLT_TIME_TICK, [CLOCK_ADJUSTED] = DLT_TIME_ADJUST, [CLOCK_STEPPED] = DLT_TIME_STEP,
	};
	struct clock_reading r;

	/* earlier rows keep the map that was in force when they happened */
	round_once(d);
	if (step && d->decode.printed)
		printed_flush(d->decode.printed, &d->decode);
	clock_read(&r, CLOCK_TRIES);
	clock_row(d, &r, events[clock_map_update(&d->decode.clock, &r, step)]);
}

static void drain_flush(struct drain *d)
{
	sink_flush(&d->decode.sinks[DLT_files]); /* names before the rows that use them */
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (d->decode.sinks[i].fd >= 0)
			sink_flush(&d->decode.sinks[i]);
	for (unsigned int i = 0; d->collectors && i < d->collectors->n; i++)
		if (d->collectors->c[i].sink.fd >= 0)
			sink_flush(&d->collectors->c[i].sink);
}

/* Every file of the trace, those of the collectors too. */
static void each_sink(struct drain *d, void (*fn)(struct sink *s))
{
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (d->decode.sinks[i].fd >= 0)
			fn(&d->decode.sinks[i]);
	for (unsigned int i = 0; d->collectors && i < d->collectors->n; i++)
		if (d->collectors->c[i].sink.fd >= 0)
			fn(&d->collectors->c[i].sink);
}

/* --rotate by time, all files at once; and when --keep cannot be met otherwise. */
static void split_by_time(struct drain *d)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
	bool due = d->next_split_ns && now >= d->next_split_ns;

	if (!d->archiver || !(archiver_wants_split(d->archiver) || due))
		return;
	each_sink(d, sink_split_now);
	while (due && d->next_split_ns <= now)
		d->next_split_ns += d->split_ns;
}

/* --rollup-only: write the sums of minutes that are over; a late record makes a row of its own. */
static void write_rollup(struct drain *d, bool end)
{
	const uint64_t grace_ns = 2 * NSEC_PER_SEC, minute_ns = 60 * NSEC_PER_SEC;
	uint64_t utc = clock_utc_ns(&d->decode.clock, clock_now_ns(CLOCK_MONOTONIC));
	uint64_t minute = (utc - grace_ns) / minute_ns;

	if (!d->decode.rollup || (!end && minute == d->rollup_minute))
		return;
	d->rollup_minute = minute;
	rollup_write(d->decode.rollup, &d->decode.sinks[DLT_rollup], 0, end ? ROLLUP_ALL : minute);
}

/* --- the thread's loop ---------------------------------------------------------------------------- */

static void timer_ack(int fd)
{
	uint64_t n;

	if (read(fd, &n, sizeof(n)) < 0)
		return; /* nothing to read: woken for another reason */
}

/* Look less often from the IDLE_ROUNDS-th round without a record on, until there is one again. */
static void pace(struct drain *d, bool any)
{
	bool idle_before = d->idle_rounds >= IDLE_ROUNDS, idle;
	uint64_t ns;

	d->idle_rounds = any ? 0 : MIN(d->idle_rounds + 1, IDLE_ROUNDS);
	idle = d->idle_rounds >= IDLE_ROUNDS;
	ns = (idle ? IDLE_PERIODS : 1) * d->period_ns;
	/* a line of the log gets the time at which it is found */
	if (idle != idle_before && d->log.fd < 0)
		loop_timer_set(d->timer_fd, ns, ns);
}

/* For the clients that watch, if there are any. */
static void look_on(struct drain *d, bool end)
{
	lives_turn(&d->lives, clock_now_ns(CLOCK_MONOTONIC), end, d->decode.ctx.files, end ? NULL : d->tracer);
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
	struct drain *d = ctx;

	timer_ack(fd);
	clock_tick(d, false);
	access_turn(&d->decode, d->rings.reached_ns);
	alloc_turn(&d->decode, d->rings.reached_ns);
	write_rollup(d, false);
	drain_flush(d);
	each_sink(d, sink_check_disk);
	logtail_check_disk(&d->log);
	split_by_time(d);
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

/*
 * A trace that reports itself complete is on its disk, unless that takes longer than the user would want to
 * wait for the end: a server or a USB stick behind gigabytes of page cache.
 */
static void alive(struct drain *d)
{
	__atomic_store_n(&d->heartbeat_ns, clock_now_ns(CLOCK_MONOTONIC), __ATOMIC_RELAXED);
}

static void to_disk(struct drain *d)
{
	uint64_t until_ns = clock_now_ns(CLOCK_MONOTONIC) + DISK_END_NS, left = 0;

	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (d->decode.sinks[i].fd >= 0)
			left += sink_to_disk(&d->decode.sinks[i], until_ns);
	for (unsigned int i = 0; d->collectors && i < d->collectors->n; i++)
		if (d->collectors->c[i].sink.fd >= 0)
			left += sink_to_disk(&d->collectors->c[i].sink, until_ns);
	left += logtail_to_disk(&d->log, until_ns);
	__atomic_store_n(&d->not_on_disk, left, __ATOMIC_RELAXED);
}

/* --- a full disk or quota at the end ----------------------------------------------------------------- */

/* Rows in the buffer for which there is room next to names, processes and the manifest. */
#define LAST_BYTES (RESERVE_USE_BYTES / 16)
#define PART_OF_FREE 16

/*
 * Every FID of the other files must be found in files.out, on a full disk too, every process in pids.out; and
 * sums are all that is left of many rows. These files have space allocated ahead, and their rows wait for
 * space. A crowd of processes may make many rows: so these stop at --min-free.
 */
static const struct vital {
	unsigned int ahead_bytes;
	bool below_min_free;
} vital[DLT_PROBES] = {
	[DLT_files] = { 256U << 10, true },
	[DLT_pids] = { 64U << 10, false },
	[DLT_rollup] = { 256U << 10, true },
};

static bool is_full(const struct sink *s)
{
	return s->error == -ENOSPC || s->error == -EDQUOT;
}

static bool any_is_full(const struct drain *d)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (d->decode.sinks[i].fd >= 0 && is_full(&d->decode.sinks[i]))
			return true;
	return false;
}

/* Gives the reserve back, for which the largest buffers do not compete. */
static void make_room(struct drain *d)
{
	if (d->reserve.fd < 0 || !any_is_full(d))
		return;
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (!vital[i].ahead_bytes && d->decode.sinks[i].len > LAST_BYTES)
			sink_drop_rows(&d->decode.sinks[i]);
	reserve_give_back(&d->reserve);
}

/* Rows wait until it is known whether there is space: it may have come back. */
static void flush_last(struct drain *d)
{
	each_sink(d, sink_hold_rows);
	drain_flush(d);
	make_room(d);
	drain_flush(d);
}

static void finish(struct drain *d)
{
	struct clock_reading r;

	for (int idle = 0; idle < FINAL_ROUNDS && rings_waiting(&d->rings);) {
		idle = round_once(d) ? 0 : idle + 1;
		if (idle)
			poll(NULL, 0, 1);
	}
	decode_turn(&d->decode, true);
	logtail_read(&d->log, &d->decode, true);
	if (d->decode.printed)
		printed_flush(d->decode.printed, &d->decode);
	mark_rows(d);
	clock_read(&r, CLOCK_TRIES);
	__atomic_store_n(&d->end_ns, r.mono_ns, __ATOMIC_RELAXED);
	tracer_running(d->tracer, in_flight, d);
	tracer_requests(d->tracer, d->end_ns, UINT_MAX, in_flight, in_flight_rec, d);
	regions_end(&d->decode, 0, d->end_ns);
	alloc_end(&d->decode);
	access_end(&d->decode, r.mono_ns); /* which blocks were in use is known by now */
	clock_map_update(&d->decode.clock, &r, false);
	clock_row(d, &r, DLT_TIME_END);
	flush_last(d);
	decode_files_again(&d->decode, d->end_ns);
	for (unsigned int i = 0; d->collectors && i < d->collectors->n; i++)
		if (d->collectors->c[i].read_fd >= 0)
			collector_read(&d->collectors->c[i], &d->decode.clock);
	look_on(d, true);
	write_rollup(d, true);
	flush_last(d);
	reserve_give_back(&d->reserve); /* the manifest is still to be written */
	alive(d);
	to_disk(d);
	alive(d);
	each_sink(d, sink_end);
}

static int on_mark(void *ctx, int fd, uint32_t events)
{
	mark_rows(ctx);
	return 0;
}

static void access_begin(struct drain *d)
{
	struct access_source *source = d->tracer->objects[DLT_access].state;
	int r = source && source->pages ? access_pages_begin(source->pages, d->decode.cfg, d->tracer) : 0;

	if (source && d->decode.access)
		access_watch_by(d->decode.access, source);
	if (r < 0)
		log_err_r(r, "access.out stays empty");
}

static void *drain_main(void *ctx)
{
	struct drain *d = ctx;
	struct clock_reading r;

	__atomic_store_n(&d->tid, gettid(), __ATOMIC_RELAXED);
	/* if it fails here it fails in the main thread too, which reports it */
	(void)!privileges_give_up(d->privileges, true);
	access_begin(d);
	clock_read(&r, CLOCK_TRIES);
	clock_map_init(&d->decode.clock, &r);
	clock_row(d, &r, DLT_TIME_START);
	d->error = loop_run(&d->loop);
	finish(d);
	eventfd_write(d->ended_fd, 1);
	return NULL;
}

/* --- control plane -------------------------------------------------------------------------------- */

/* The files of a trace; with --rollup-only those without rows of operations and without names in them. */
static probe_mask files_of(const struct drain *d, probe_mask mask, bool log)
{
	mask |= PROBE_BIT(DLT_files) | PROBE_BIT(DLT_marks) | PROBE_BIT(DLT_pids) | (log ? PROBE_BIT(DLT_workload) : 0);
	if (d->decode.rollup)
		mask = (mask & ~(d->decode.summed | PROBE_BIT(DLT_files))) | PROBE_BIT(DLT_rollup);
	return mask;
}

static int sinks_open(struct drain *d, probe_mask mask, int dirfd)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		struct sink *s = &d->decode.sinks[i];
		char name[64], header[4096];
		int r;

		if (!(mask >> i & 1))
			continue;
		snprintf(name, sizeof(name), "%s.out", probes[i]->name);
		r = sink_open(s, dirfd, name);
		if (r < 0)
			return r;
		if (d->archiver) {
			sink_split_by(s, &d->split);
			archiver_add(d->archiver, s, probes[i]->flags & PROBE_REFERENCE);
		}
		sink_header(s, header, (size_t)(record_put_header(header, probes[i]) - header));
		r = sink_flush(s);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Where little is free, little is kept: the manifest and the first rows still have to be written. */
static void keep_space(struct drain *d, int dirfd)
{
	struct space space = {};
	uint64_t most = space_look(&space, dirfd, 0) < 0 ? 0 : space.free_bytes / PART_OF_FREE;

	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (vital[i].ahead_bytes && d->decode.sinks[i].fd >= 0) {
			sink_keep_ahead(&d->decode.sinks[i], MIN(vital[i].ahead_bytes, most));
			sink_hold_rows(&d->decode.sinks[i]);
		}
	reserve_take(&d->reserve, dirfd, most);
}

static int watch(struct drain *d, int *fd_slot, int fd, loop_fn fn)
{
	*fd_slot = fd;
	return fd < 0 ? fd : loop_add(&d->loop, fd, EPOLLIN, fn, d);
}

static int loop_setup(struct drain *d)
{
	int r = loop_init(&d->loop), stop;

	d->period_ns = MAX(PERIOD_NS * MIN(d->ring_bytes, PERIOD_RING_BYTES) / PERIOD_RING_BYTES, PERIOD_MIN_NS);
	if (!r)
		r = watch(d, &d->timer_fd, loop_timerfd(d->period_ns), on_timer);
	if (!r)
		r = watch(d, &d->tick_fd, loop_timerfd(NSEC_PER_SEC), on_tick);
	if (!r)
		r = watch(d, &d->clock_fd, clock_step_fd(), on_clock_set);
	if (!r) {
		stop = eventfd(0, EFD_CLOEXEC);
		r = watch(d, &d->stop_fd, stop < 0 ? -errno : stop, on_stop);
	}
	d->ended_fd = r < 0 ? -1 : eventfd(0, EFD_CLOEXEC);
	if (!r && d->ended_fd < 0)
		r = -errno;
	if (!r)
		r = loop_add(&d->loop, d->marks[0], EPOLLIN, on_mark, d);
	for (unsigned int i = 0; !r && d->collectors && i < d->collectors->n; i++)
		if (d->collectors->c[i].read_fd >= 0)
			r = loop_add(&d->loop, d->collectors->c[i].read_fd, EPOLLIN, on_collector, d);
	return r;
}

int drain_open(struct drain *d, const struct config *cfg, struct tracer *t, probe_mask mask, int dirfd,
	       const char *workload_log, struct archiver *archiver)
{
	struct stat st;
	int r;

	memset(d, 0, sizeof(*d));
	d->marks[0] = d->marks[1] = d->lives.fd = d->log.fd = d->timer_fd = d->tick_fd = d->clock_fd = d->stop_fd = d->ended_fd = d->loop.epoll_fd = d->memory.fd = -1;
	d->tracer = t;
	d->ring_bytes = t->ring_bytes;
	d->archiver = archiver;
	d->split = (struct sink_split){ .bytes = cfg->rotate_bytes, .closed = archiver_closed, .ctx = archiver };
	d->split_ns = cfg->rotate_ns;
	r = decode_init(&d->decode, cfg);
	if (!r && mask >> DLT_memory & 1)
		memory_open(&d->memory, cfg->interval_ns);
	if (!r && mask >> DLT_printed & 1) {
		d->decode.printed = printed_new(&cfg->phases);
		r = d->decode.printed ? 0 : -ENOMEM;
	}
	if (!r && mask >> DLT_access & 1) {
		d->decode.access = access_new(cfg);
		r = d->decode.access ? 0 : -ENOMEM;
	}
	if (!r && mask >> DLT_alloc & 1) {
		d->decode.alloc = alloc_new(cfg->alloc_min_bytes, cfg->access_site);
		r = d->decode.alloc ? 0 : -ENOMEM;
	}
	if (!r && !fstat(dirfd, &st))
		d->decode.own_dev = major(st.st_dev) << 20 | minor(st.st_dev);
	if (!r && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, d->marks) < 0)
		r = -errno;
	d->lives.regions = &d->decode.regions;
	d->lives.fd = r < 0 ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!r && workload_log)
		r = logtail_open(&d->log, dirfd, workload_log);
	if (!r)
		r = sinks_open(d, files_of(d, mask, workload_log), dirfd);
	if (!r)
		keep_space(d, dirfd);
	if (!r)
		r = rings_init(&d->rings, t->ring_fds, t->n_rings, t->ring_bytes, t->n_cpus);
	return r;
}

int drain_start(struct drain *d, struct collectors *cs)
{
	int r;

	d->collectors = cs;
	if (d->split_ns)
		d->next_split_ns = clock_now_ns(CLOCK_MONOTONIC) + d->split_ns;
	r = loop_setup(d);
	if (r < 0)
		return r;
	/* the times of earlier lines are unknown */
	if (d->log.fd >= 0)
		lseek(d->log.fd, 0, SEEK_END);
	r = thread_start(&d->thread, drain_main, d);
	d->running = !r;
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

void drain_free(struct drain *d)
{
	if (!d->ring_bytes) /* never started: descriptors are 0, not -1 */
		return;
	drain_stop(d);
	decode_free(&d->decode);
	printed_free(TAKE_PTR(d->decode.printed));
	access_free(TAKE_PTR(d->decode.access));
	alloc_free(TAKE_PTR(d->decode.alloc));
	rings_free(&d->rings);
	logtail_close(&d->log);
	memory_close(&d->memory);
	reserve_give_back(&d->reserve);
	util_close(&d->marks[0]);
	util_close(&d->marks[1]);
	util_close(&d->lives.fd);
	util_close(&d->timer_fd);
	util_close(&d->tick_fd);
	util_close(&d->clock_fd);
	util_close(&d->stop_fd);
	util_close(&d->ended_fd);
	loop_free(&d->loop);
}

void drain_pause(struct drain *d, bool pause)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (!vital[i].below_min_free)
			__atomic_store_n(&d->decode.sinks[i].paused, pause, __ATOMIC_RELAXED);
	for (unsigned int i = 0; d->collectors && i < d->collectors->n; i++)
		__atomic_store_n(&d->collectors->c[i].sink.paused, pause, __ATOMIC_RELAXED);
}

int drain_mark(struct drain *d, uint32_t pid, const char *text, size_t len)
{
	struct mark m = { .rec.hdr = { .ts_ns = clock_now_ns(CLOCK_MONOTONIC), .tgid = pid, .tid = pid,
				       .probe = DLT_marks } };

	if (len > DLT_MARK_TEXT_MAX)
		return -EINVAL;
	memcpy(m.text, text, len);
	m.rec.segs.len[0] = (uint16_t)(len + 1);
	m.rec.hdr.size = (uint32_t)(sizeof(m.rec) + len + 1);
	return send(d->marks[1], &m, m.rec.hdr.size, MSG_NOSIGNAL) < 0 ? -errno : 0;
}
