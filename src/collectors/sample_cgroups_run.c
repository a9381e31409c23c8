/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process of `dltraced sample cgroup'. One thread reads and prints; the first one keeps the time, since a read of
 * cgroupfs can wait in the kernel behind a lock for as long as another process holds it: then there are no rows, and
 * the text says why.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "collectors/cgroup_values.h"
#include "collectors/sample.h"
#include "host/cgroup/cgroup.h"

#define TEXT_MAX (64U << 10)
#define PF_EXITING 4U /* include/linux/sched.h: in field 9 of /proc/PID/stat */
#define LAST_SAMPLE_NS (700 * NSEC_PER_MSEC) /* to begin and to end it: a collector has two seconds to end */

struct run {
	struct cgroup_mounts mounts;
	struct cgroup_samples *samples;
	int proc_fd; /* /proc/PID: also where the number has been given to another process since; -1: TEXT */
	char *text; /* as /proc/PID/cgroup, of a cgroup that is named */
	sem_t wanted, taken;
	_Atomic(int) error; /* -errno, after which there is no sample */
};

static int read_of_process(const struct run *run, const char *name, char **text)
{
	autoclose int fd = openat(run->proc_fd, name, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : util_read_fd(fd, TEXT_MAX, text, NULL);
}

/* Whether the process is ending: from then on v1's cgroups are the root (kernel/cgroup/cgroup.c). */
static bool is_ending(const struct run *run)
{
	autofree char *text = NULL;
	const char *behind_name;
	unsigned int flags;

	if (read_of_process(run, "stat", &text) < 0)
		return true;
	behind_name = strrchr(text, ')');
	return !behind_name || sscanf(behind_name + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1 ||
	       flags & PF_EXITING;
}

/* 0 with the text of /proc/PID/cgroup, or -errno: -ESRCH once the process ends. */
static int read_cgroup(const struct run *run, char **text)
{
	int r = read_of_process(run, "cgroup", text);

	if (!r && is_ending(run)) {
		free(TAKE_PTR(*text));
		r = -ESRCH;
	}
	return r;
}

static int take_sample(struct run *run)
{
	autofree char *text = NULL;
	int r;

	if (run->proc_fd >= 0 && read_cgroup(run, &text) < 0)
		text = NULL; /* it has ended: the others of the job are in the cgroups where it was */
	r = cgroup_samples_take(run->samples, text ?: run->text, clock_now_ns(CLOCK_MONOTONIC), stdout);

	if (!r && fflush(stdout))
		r = -errno;
	return r;
}

static void *take_samples(void *ctx)
{
	struct run *run = ctx;

	while (!run->error) {
		while (sem_wait(&run->wanted) < 0)
			;
		atomic_store(&run->error, take_sample(run));
		sem_post(&run->taken);
	}
	return NULL;
}

static bool is_taken_by(struct run *run, uint64_t ns)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until); /* sem_timedwait(3) */
	ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(ns / NSEC_PER_SEC);
	until.tv_nsec = (long)(ns % NSEC_PER_SEC);
	return sem_timedwait(&run->taken, &until) == 0;
}

/* Names the file that is read for so long, once. Whether the file is still the same one does not matter: nothing is
 * printed. */
static void warn_late(struct run *run, uint64_t *warned_ns)
{
	const struct cgroup_reads *reads = cgroup_samples_reads(run->samples);
	const uint64_t since_ns = atomic_load(&reads->since_ns);
	const char *file = atomic_load(&reads->file);

	if (!file || since_ns == *warned_ns || clock_now_ns(CLOCK_MONOTONIC) - since_ns < CGROUP_READ_DEADLINE_NS)
		return;
	*warned_ns = since_ns;
	printf("# no sample: the kernel has not answered for more than a second: %s\n", file);
	fflush(stdout);
}

/* Waits until NEXT_NS of CLOCK_MONOTONIC. Returns false at a signal that ends us. */
static bool sleep_until(const sigset_t *ends, uint64_t next_ns)
{
	const uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC), ns = next_ns > now_ns ? next_ns - now_ns : 0;
	const struct timespec left = { (time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC) };

	return sigtimedwait(ends, NULL, &left) < 0;
}

static int keep_time(struct run *run, const sigset_t *ends, uint64_t interval_s)
{
	uint64_t next_ns = clock_now_ns(CLOCK_MONOTONIC), warned_ns = 0;
	bool busy = false;

	do {
		busy = busy && sem_trywait(&run->taken) < 0;
		if (busy)
			warn_late(run, &warned_ns);
		else
			sem_post(&run->wanted);
		busy = true;
		next_ns = MAX(next_ns + interval_s * NSEC_PER_SEC, clock_now_ns(CLOCK_MONOTONIC));
	} while (!run->error && sleep_until(ends, next_ns));
	if (!run->error && is_taken_by(run, LAST_SAMPLE_NS)) {
		sem_post(&run->wanted);
		is_taken_by(run, LAST_SAMPLE_NS);
	}
	return run->error;
}

/* The text that /proc/PID/cgroup has for a process in the cgroup PATH of each hierarchy. NULL: none. */
static char *text_of_path(const char *path)
{
	autofree char *own = NULL;
	char *text = NULL;
	size_t size;
	FILE *out;

	if (util_read_file("/proc/self/cgroup", TEXT_MAX, &own, NULL) < 0)
		return NULL;
	out = open_memstream(&text, &size);
	for (const char *line = own; out && *line; line += !!*line) {
		size_t len = strcspn(line, "\n"), front = strcspn(line, ":");

		front += line[front] == ':' ? 1 + strcspn(line + front + 1, ":") : 0;
		fprintf(out, "%.*s:%s\n", (int)MIN(front, len), line, path);
		line += len;
	}
	if (out)
		fclose(out);
	return text;
}

static int begin(struct run *run, const char *target)
{
	autofree char *first = NULL; /* only whether it can be read */
	int r = cgroup_mounts_read(&run->mounts);

	if (r < 0)
		return r;
	if (*target == '/') {
		run->text = text_of_path(target);
		r = run->text ? 0 : -ENOENT;
	} else {
		autofree char *path = util_fmt("/proc/%lu", strtoul(target, NULL, 10));

		run->proc_fd = path ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
		r = run->proc_fd < 0 ? -errno : read_cgroup(run, &first);
	}
	run->samples = cgroup_samples_new(&run->mounts, "/proc/pressure");
	if (!r && !run->samples)
		r = -ENOMEM;
	return r;
}

int sample_cgroups_run(const char *target, uint64_t interval_s)
{
	struct run run = { .proc_fd = -1 };
	pthread_t thread;
	sigset_t ends;
	int r;

	if (!interval_s)
		return -EINVAL;
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
	sem_init(&run.wanted, 0, 0);
	sem_init(&run.taken, 0, 0);
	r = begin(&run, target);
	cgroup_samples_begin(stdout);
	if (!r && fflush(stdout))
		r = -errno;
	if (!r)
		r = -pthread_create(&thread, NULL, take_samples, &run);
	if (!r)
		r = keep_time(&run, &ends, interval_s);
	/* Not by a return, which would take RUN from a thread that may be waiting in the kernel. */
	if (!r)
		_exit(EXIT_SUCCESS);
	return r;
}
