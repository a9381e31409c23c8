/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers that sample the machine beside the trace (mpstat, iostat, nvidia-smi), one row of a
 * table each. The control plane forks, restarts (once) and stops them; the drain thread reads
 * their pipes and writes their files, so that it alone writes rows.
 */
#ifndef COLLECTORS_COLLECTORS_H
#define COLLECTORS_COLLECTORS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text.h"
#include "trace/sink.h"

struct clock_map;
struct sink_split;
struct collector_kind;
struct loop;
struct workload_user;

#define COLLECTOR_LINE_MAX 4096
#define COLLECTOR_NOISE_MAX (1U << 20) /* bytes without a row, after which the collector is no longer read */

/* Whose cgroups are sampled. */
struct collector_job {
	pid_t pid; /* of a process; 0: none */
	const char *cgroup; /* without one: a path in each hierarchy; NULL: the root */
};

/* One collector: the control plane has its process, the drain thread its lines. */
struct collector {
	const struct collector_kind *kind;
	const struct workload_user *user; /* NULL: it runs as we do */
	const char *const *argv; /* of the tool, or of our own process in its place; the interval is appended */
	struct collector_job job; /* appended too where the kind is our own */
	uint64_t interval_s;
	uint64_t singles_every; /* one sample of so many has rows of single CPUs; 0, 1: each has */
	/* control plane */
	struct loop *loop;
	pid_t pid; /* also the process group; after its end, the last one's */
	int pidfd; /* -1: not running */
	int write_fd; /* the pipe's write end, kept for a restart; -1 closed */
	int stderr_fd; /* a memfd */
	int error; /* why it could not be started, -errno; 0: it was */
	int restarts;
	int status; /* raw wait status of the last end */
	char state[160]; /* for the manifest: "running", "not found", "exited 1, restarted" ... */
	atomic_bool done; /* the write ends are closed */
	atomic_bool noisy; /* set by the drain: it wrote COLLECTOR_NOISE_MAX bytes without a row, and is not read any
			      more */
	/* drain thread */
	int read_fd; /* non-blocking; -1 closed */
	struct sink sink;
	struct text_utc_cache utc;
	char columns[2048]; /* line 2 of the file; empty: no header seen yet */
	unsigned int n_columns; /* of the tool's header in force; 0: differs from line 2 */
	bool header_repeated; /* the line before was line 2 once more */
	uint64_t samples;
	uint32_t noise_bytes; /* since the last row */
	char held[2048]; /* comments that came before the header */
	uint32_t held_len;
	char line[COLLECTOR_LINE_MAX];
	uint32_t line_len;
	bool line_skip; /* the rest of an overlong line */
};

#define COLLECTORS_MAX 8

struct collectors {
	struct collector c[COLLECTORS_MAX];
	unsigned int n;
	/* set before the start */
	const struct sink_split *split; /* NULL: their files are not split */
	const struct workload_user *user; /* the user that the tools run as; NULL: ourselves */
	uint64_t each_ns; /* between rows of single CPUs; 0: see collectors_each_s() */
	struct collector_job job;
};

/*
 * Returns the seconds between rows of single CPUs where EACH_NS was requested; 0: every sample has them.
 * That is the default up to 128 CPUs, which are 14 kB in an interval of a second; beyond it is 10 s.
 */
uint64_t collectors_each_s(uint64_t each_ns, long n_cpus);

/*
 * Start those in LIST ("cpu,gpu", "none", NULL: all), each with its file in DIRFD. A missing tool is one
 * line and an entry with its state, not a failure. Call it on the main thread: the tools end with the
 * thread that started them. 0 or -EINVAL (unknown name; nothing was started) or -errno.
 */
int collectors_start(struct collectors *cs, const char *list, uint64_t interval_ns, int dirfd);

/* Control plane: watch the children's pidfds in LOOP. */
int collectors_watch(struct collectors *cs, struct loop *loop);

/*
 * Drain thread: one read of the available text; rows get the time of its arrival. Returns true at the end:
 * at EOF, when the pipe is empty after collectors_stop(), or when a tool only makes noise: it would fill
 * the disk with comments.
 */
bool collector_read(struct collector *c, const struct clock_map *clock);

/*
 * Control plane: send each one's stop signal, wait for a deadline, SIGKILL; reap, then close the write ends
 * so that the readers see the end. collectors_free() after the drain has ended closes the files.
 */
void collectors_stop(struct collectors *cs, struct loop *loop);
void collectors_free(struct collectors *cs);

/* --- process.c, for collectors.c: its process; control plane, on the main thread --------------------------- */

/*
 * Start the tool into C's pipe, or where it is not installed our own sampling, and wait for its exec. 0, or -errno with
 * nothing left behind.
 */
int collector_spawn(struct collector *collector);
bool collector_is_running(const struct collector *c);
/* Returns true once the process has ended; reaps it without waiting. */
bool collector_reap(struct collector *c);
/* Put into C's state how the process ended, then AFTER (", restarted"), then its first error. */
void collector_describe_end(struct collector *c, const char *after);

#endif
