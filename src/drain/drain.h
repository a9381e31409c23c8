/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data plane: one thread that owns everything which writes rows. It takes records from the rings in the
 * order of their TIMESTAMP, measures the clocks, reads the collectors' pipes and flushes the files. The
 * control plane starts it, reads its counters, pauses its sinks and stops it.
 */
#ifndef DRAIN_DRAIN_H
#define DRAIN_DRAIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "drain/logtail.h"
#include "drain/rows/decode.h"
#include "drain/rows/live.h"
#include "kernel/ring.h"
#include "os/loop.h"
#include "trace/probe_mask.h"
#include "trace/reserve.h"

struct collectors;
struct archiver;
struct tracer;

struct drain {
	struct decode decode;
	struct rings rings;
	size_t ring_bytes;
	struct loop loop;
	int timer_fd, clock_fd, tick_fd, stop_fd;
	int ended_fd; /* readable: all is written */
	uint64_t period_ns; /* of the timer, while records come */
	unsigned int idle_rounds; /* in a row */
	struct collectors *collectors;
	struct logtail log;
	int marks[2]; /* SOCK_SEQPACKET: the drain's end, and the end of the control plane, which receives marks */
	struct lives lives;
	struct tracer *tracer;
	struct archiver *archiver; /* NULL: files are not split */
	struct reserve reserve; /* for the last rows */
	struct reserve last; /* for cuts behind whole rows, and the manifest: no row gets it */
	struct sink_split split;
	uint64_t split_ns, next_split_ns; /* --rotate by time: how often, and when next; 0: not */
	const struct privileges *privileges; /* set before the start; NULL: the thread keeps all */
	pthread_t thread;
	pid_t tid; /* relaxed */
	bool running;
	int error; /* why the thread ended early, -errno */
	/* read by the control plane, relaxed */
	uint64_t heartbeat_ns; /* CLOCK_MONOTONIC of the last round */
	uint64_t end_ns; /* TIMESTAMP of the last clock reading */
	uint64_t flushed_ns; /* all rows of waits and CPU time until then are in their files */
	uint64_t not_on_disk; /* after the end: bytes that the system is still to write; relaxed */
};

/*
 * Open the files of PROBES in DIRFD, map the rings. WORKLOAD_LOG: the name of the log in DIRFD to follow,
 * or NULL. ARCHIVER: takes the files and their closed segments; NULL: files are not split. 0 or -errno.
 */
int drain_open(struct drain *drain, const struct config *cfg, struct tracer *tracer, probe_mask probes, int dirfd,
	       const char *workload_log, struct archiver *archiver);

/* Start the thread: from now on it reads the clock, the log and the collectors CS. 0 or -errno. */
int drain_start(struct drain *drain, struct collectors *cs);

/* Returns the CPU time of the thread, which is not joined yet, ns; 0: it has ended. */
uint64_t drain_cpu_ns(const struct drain *d);

/*
 * After tracer_detach(): take the remaining records, write the calls in flight, the last clock row, flush
 * and end; then ended_fd is readable. Waits for nothing.
 */
void drain_end(struct drain *d);
/* drain_end() and wait for it. The files stay open for their counts until drain_free(). */
void drain_stop(struct drain *d);
void drain_free(struct drain *drain);

/*
 * Control plane: write a row of marks.out, of process PID, now. 0 or -errno: it is refused; -EAGAIN: too
 * many are waiting.
 */
int drain_mark(struct drain *drain, uint32_t pid, const char *text, size_t len);

/* Control plane: below --min-free, rows are counted as lost until space returns. */
void drain_pause(struct drain *d, bool pause);

#endif
