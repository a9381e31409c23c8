/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The collectors: choosing, starting, watching, the one restart, the stop. Control plane, on the main
 * thread. Knows nothing of what the tools print (kinds.c). Logs, once per tool, when one is missing or has
 * ended.
 */
#include "collectors/collectors.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "collectors/kinds.h"
#include "os/loop.h"

#define STOP_DEADLINE_NS (2 * NSEC_PER_SEC)
#define KILL_DEADLINE_NS NSEC_PER_SEC

#define SINGLES_ALWAYS_CPUS 128 /* up to so many have a row in each sample */
#define SINGLES_S 10 /* beyond */

static const char after_restart[] = " after a restart";

_Static_assert(COLLECTOR_KINDS <= COLLECTORS_MAX, "a slot for each kind");

/* --- start ------------------------------------------------------------------------------------ */

static void put_first_line(struct collector *collector)
{
	char line[256];
	int n = snprintf(line, sizeof(line), "# dltraced %s %d command=\"", collector->kind->name, COLLECTOR_SCHEMA);

	/* The words are the table's: they need no escapes. */
	for (size_t i = 0; collector->argv[i]; i++)
		n += snprintf(line + n, sizeof(line) - (size_t)n, "%s ", collector->argv[i]);
	n += snprintf(line + n, sizeof(line) - (size_t)n, "%llu\"", (unsigned long long)collector->interval_s);
	if (collector->singles_every > 1)
		n += snprintf(line + n, sizeof(line) - (size_t)n, " each_s=%llu",
			      (unsigned long long)collector->singles_every * collector->interval_s);
	line[n++] = '\n';
	sink_header(&collector->sink, line, (size_t)n);
}

static uint64_t seconds_up(uint64_t ns)
{
	return ns / NSEC_PER_SEC + !!(ns % NSEC_PER_SEC);
}

uint64_t collectors_each_s(uint64_t each_ns, long n_cpus)
{
	if (each_ns)
		return seconds_up(each_ns);
	return n_cpus > SINGLES_ALWAYS_CPUS ? SINGLES_S : 0;
}

/* Samples, not time, are counted: of samples INTERVAL_S apart one each EACH_S at least. */
static uint64_t singles_every(const struct collector_kind *k, uint64_t each_s, uint64_t interval_s)
{
	return k->whole_machine ? (each_s + interval_s - 1) / interval_s : 0;
}

/* Tools take whole seconds and at least one. */
static uint64_t whole_seconds(const struct collector_kind *k, uint64_t interval_ns)
{
	uint64_t s = MAX(seconds_up(interval_ns), 1);

	return k->max_interval_s ? MIN(s, k->max_interval_s) : s;
}

static void describe_missing(struct collector *c)
{
	if (c->error == -ENOENT)
		snprintf(c->state, sizeof(c->state), "not found");
	else
		snprintf(c->state, sizeof(c->state), "cannot be run: %s", strerror(-c->error));
}

/* A tool that cannot be run is noted in C; only a failing file or pipe is an error. */
static int start_one(struct collector *collector, int dirfd, const struct sink_split *split)
{
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	collector->read_fd = fds[0];
	collector->write_fd = fds[1];
	/* The other end stays blocking: the tools do not expect EAGAIN. */
	if (fcntl(collector->read_fd, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	collector->error = collector_spawn(collector);
	if (collector->error) {
		util_close(&collector->read_fd);
		util_close(&collector->write_fd);
		describe_missing(collector);
		return 0;
	}
	snprintf(collector->state, sizeof(collector->state), "running");
	r = sink_open(&collector->sink, dirfd, collector->kind->file);
	if (r < 0)
		return r;
	if (split)
		sink_split_by(&collector->sink, split);
	put_first_line(collector);
	return 0;
}

/*
 * One line for each tool that could not be started, with all the files that it costs. Whoever has not NAMED it on a
 * machine without what it is about misses nothing: the manifest has it, and `check'.
 */
static void log_missing(const struct collectors *cs, bool named)
{
	for (unsigned int i = 0; i < cs->n; i++) {
		const struct collector_kind *kind = cs->c[i].kind;
		char files[128] = "";
		unsigned int n = 0;

		for (unsigned int j = 0; j < cs->n; j++) {
			const struct collector *c = &cs->c[j];
			size_t len = strlen(files);

			if (!c->error || strcmp(c->kind->argv[0], kind->argv[0]))
				continue;
			if (n++ == 0 && j != i)
				break; /* it was named with an earlier one, or this one runs */
			snprintf(files + len, sizeof(files) - len, "%s%s", len ? " and " : "", c->kind->file);
		}
		if (files[0])
			log_msg(named || !kind->vendor || collectors_vendor_there("", kind->vendor) ? LOG_LEVEL_WARN :
												      LOG_LEVEL_DEBUG,
				"%s %s; %s off (%s %s not written; %s)", kind->argv[0], cs->c[i].state, kind->loss,
				files, n > 1 ? "are" : "is", kind->remedy);
	}
}

int collectors_start(struct collectors *cs, const char *list, uint64_t interval_ns, int dirfd)
{
	const uint64_t each_s = collectors_each_s(cs->each_ns, sysconf(_SC_NPROCESSORS_ONLN));
	const char *bad;
	int kinds = collectors_parse(list, &bad);

	cs->n = 0;
	if (kinds < 0)
		return kinds;
	for (unsigned int i = 0; i < COLLECTOR_KINDS; i++) {
		const struct collector_kind *kind = &collector_kinds[i];
		struct collector *collector = &cs->c[cs->n];
		int r;

		if (!(kinds & 1 << i))
			continue;
		*collector = (struct collector){ .kind = kind,
						 .argv = kind->argv,
						 .job = cs->job,
						 .user = cs->user,
						 .interval_s = whole_seconds(kind, interval_ns),
						 .pidfd = -1,
						 .write_fd = -1,
						 .stderr_fd = -1,
						 .read_fd = -1,
						 .sink.fd = -1 };
		collector->singles_every = singles_every(kind, each_s, collector->interval_s);
		cs->n++;
		r = start_one(collector, dirfd, cs->split);
		if (r < 0) {
			collectors_stop(cs, NULL);
			collectors_free(cs);
			return r;
		}
	}
	log_missing(cs, list);
	return 0;
}

/* --- watch and stop --------------------------------------------------------------------------- */

static int on_end(void *ctx, int fd, uint32_t events);

static int watch(struct collector *c)
{
	return loop_add(c->loop, c->pidfd, EPOLLIN, on_end, c);
}

/*
 * Mark the gap in the file. The newline ends the dead tool's last line; written only where the pipe has
 * room, since a stalled reader must not stall us.
 */
static void note_restart(struct collector *c)
{
	struct pollfd room = { .fd = c->write_fd, .events = POLLOUT };

	if (poll(&room, 1, 0) == 1 && room.revents == POLLOUT)
		dprintf(c->write_fd, "\n# %s ended and was started again\n", c->argv[0]);
}

static const char only_noise[] = "reading stopped: it printed 1 MiB without a row";

static int on_end(void *ctx, int fd, uint32_t events)
{
	struct collector *collector = ctx;
	bool noisy = atomic_load(&collector->noisy);

	loop_del(collector->loop, fd);
	if (!collector_reap(collector))
		return watch(collector);
	if (!collector->restarts && !noisy) {
		collector->restarts = 1;
		collector_describe_end(collector, ", restarted");
		note_restart(collector);
		collector->error = collector_spawn(collector);
		if (!collector->error)
			return watch(collector);
	}
	if (noisy)
		snprintf(collector->state, sizeof(collector->state), "%s", only_noise);
	else if (collector->error)
		describe_missing(collector);
	else
		collector_describe_end(collector, after_restart);
	log_warn("%s %s; %s ends here", collector->argv[0], collector->state, collector->kind->file);
	return 0;
}

int collectors_watch(struct collectors *cs, struct loop *loop)
{
	for (unsigned int i = 0; i < cs->n; i++) {
		struct collector *c = &cs->c[i];
		int r;

		c->loop = loop;
		r = collector_is_running(c) ? watch(c) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

/* To the whole group: the tool may be a site's wrapper script. Not reaped yet, so it is ours. */
static void signal_running(const struct collectors *cs, int sig)
{
	for (unsigned int i = 0; i < cs->n; i++)
		if (collector_is_running(&cs->c[i]))
			kill(-cs->c[i].pid, sig ? sig : cs->c[i].kind->stop_signal);
}

/* Reap those that end within TIMEOUT_NS. */
static void reap_running(struct collectors *cs, uint64_t timeout_ns)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC), deadline = now + timeout_ns;

	for (;; now = clock_now_ns(CLOCK_MONOTONIC)) {
		struct pollfd fds[COLLECTORS_MAX];
		nfds_t n = 0;

		for (unsigned int i = 0; i < cs->n; i++)
			if (!collector_reap(&cs->c[i]))
				fds[n++] = (struct pollfd){ cs->c[i].pidfd, POLLIN, 0 };
		if (!n || now >= deadline)
			return;
		poll(fds, n, (int)((deadline - now) / NSEC_PER_MSEC) + 1);
	}
}

void collectors_stop(struct collectors *cs, struct loop *loop)
{
	const char *ends[COLLECTORS_MAX];

	for (unsigned int i = 0; i < cs->n; i++) {
		struct collector *c = &cs->c[i];
		bool ran_before = collector_is_running(c);

		if (ran_before && loop)
			loop_del(loop, c->pidfd);
		ends[i] = collector_reap(c) ? NULL : "stopped";
		if (ran_before && !ends[i])
			collector_describe_end(c, c->restarts ? after_restart : "");
	}
	signal_running(cs, 0);
	reap_running(cs, STOP_DEADLINE_NS);
	for (unsigned int i = 0; i < cs->n; i++)
		if (collector_is_running(&cs->c[i]))
			ends[i] = "killed: it did not end when asked";
	signal_running(cs, SIGKILL);
	reap_running(cs, KILL_DEADLINE_NS);
	for (unsigned int i = 0; i < cs->n; i++) {
		struct collector *c = &cs->c[i];

		if (collector_is_running(c))
			ends[i] = "hung, even when killed";
		if (ends[i] && atomic_load(&c->noisy))
			ends[i] = only_noise;
		if (ends[i])
			snprintf(c->state, sizeof(c->state), "%s%s", ends[i], c->restarts ? after_restart : "");
		/* Not by EOF alone: a process that hangs in the kernel keeps its end of the pipe open. */
		atomic_store(&c->done, true);
		util_close(&c->write_fd);
	}
}

void collectors_free(struct collectors *cs)
{
	if (!cs)
		return;
	for (unsigned int i = 0; i < cs->n; i++) {
		struct collector *c = &cs->c[i];

		util_close(&c->pidfd);
		util_close(&c->write_fd);
		util_close(&c->stderr_fd);
		util_close(&c->read_fd);
		sink_close(&c->sink);
	}
}
