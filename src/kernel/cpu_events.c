/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/cpu_events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <bpf/libbpf.h>

#include "base/cpus.h"
#include "base/util.h"

struct cpu_events {
	struct perf_event_attr event;
	int prog_fd;
	unsigned int n;
	int fds[]; /* by CPU; -1: none */
};

/* Of all processes on CPU, at each time that it happens. Returns a descriptor or -errno. */
static int event_open(const struct perf_event_attr *event, unsigned int cpu)
{
	struct perf_event_attr attr = *event;
	int fd;

	attr.size = sizeof(attr);
	attr.sample_period = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int event_attach(struct cpu_events *e, unsigned int cpu)
{
	autoclose int fd = event_open(&e->event, cpu);

	if (fd < 0)
		return fd == -ENODEV ? 0 : fd; /* offline since we looked */
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, e->prog_fd) < 0)
		return -errno;
	e->fds[cpu] = TAKE_FD(fd);
	return 0;
}

int cpu_events_check(const struct perf_event_attr *event)
{
	int n = libbpf_num_possible_cpus(), r = -ENODEV;

	for (int cpu = 0; r == -ENODEV && cpu < n; cpu++) {
		r = event_open(event, (unsigned int)cpu);
		if (r >= 0)
			close(r);
	}
	return MIN(r, 0);
}

int cpu_events_open(struct cpu_events **ret, const struct perf_event_attr *event, int prog_fd)
{
	int n = libbpf_num_possible_cpus(), r;
	struct cpu_events *e;

	if (n < 0)
		return n;
	e = malloc(sizeof(*e) + (size_t)n * sizeof(e->fds[0]));
	if (!e)
		return -ENOMEM;
	*e = (struct cpu_events){ .event = *event, .prog_fd = prog_fd, .n = (unsigned int)n };
	for (unsigned int cpu = 0; cpu < e->n; cpu++)
		e->fds[cpu] = -1;
	r = cpu_events_follow(e);
	if (r < 0)
		cpu_events_close(e);
	else
		*ret = e;
	return r;
}

int cpu_events_follow(struct cpu_events *e)
{
	bool online[e->n];
	int r = 0;

	cpus_online(online, e->n);
	for (unsigned int cpu = 0; cpu < e->n; cpu++) {
		int attached = 0;

		if (!online[cpu])
			util_close(&e->fds[cpu]);
		else if (e->fds[cpu] < 0)
			attached = event_attach(e, cpu);
		r = r ? r : attached;
	}
	return r;
}

void cpu_events_close(struct cpu_events *e)
{
	for (unsigned int cpu = 0; e && cpu < e->n; cpu++)
		util_close(&e->fds[cpu]);
	free(e);
}
