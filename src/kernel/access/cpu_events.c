/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/access/cpu_events.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/util.h"
#include "kernel/access/perf_losses.h"
#include "os/cpus.h"

#define RING_PAGES 8 /* room for what throttling reports in a second */

/* An event of one CPU. */
struct one {
	int fd, beside_fd; /* -1: none */
	struct perf_event_mmap_page *
		ring; /* of sampled events: what the kernel reports of them; the program takes the samples. Else NULL */
};

struct cpu_events {
	struct cpu_event event;
	int prog_fd;
	unsigned int n;
	struct perf_losses losses; /* of CPUs that have gone */
	struct one of[]; /* by CPU */
};

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void losses_add(const struct one *o, struct perf_losses *sum)
{
	if (o->ring)
		perf_losses_read(sum, o->ring, (const uint8_t *)o->ring + page_bytes(), RING_PAGES * page_bytes());
}

static void one_close(struct one *o)
{
	if (o->ring)
		munmap(o->ring, (RING_PAGES + 1) * page_bytes());
	o->ring = NULL;
	util_close(&o->fd);
	util_close(&o->beside_fd);
}

/* Of all processes on CPU. GROUP: an event that it is counted together with, or -1. Returns a descriptor or -errno. */
static int attr_open(struct perf_event_attr attr, unsigned int cpu, int group)
{
	int fd;

	attr.size = sizeof(attr);
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, group, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Each time that it happens, unless EVENT has a period or a frequency. */
static struct perf_event_attr attr_of(const struct cpu_event *event)
{
	struct perf_event_attr attr = event->attr;

	attr.size = sizeof(attr);
	if (!attr.sample_period)
		attr.sample_period = 1;
	return attr;
}

/* 0 or -errno; -ENODEV: the CPU is offline; -ENOENT: it has no such event. */
static int one_open(struct one *one, const struct cpu_event *event, unsigned int cpu)
{
	const struct perf_event_attr attr = attr_of(event);

	*one = (struct one){ -1, -1, NULL };
	if (event->beside)
		one->beside_fd =
			attr_open((struct perf_event_attr){ .type = attr.type, .config = event->beside }, cpu, -1);
	if (event->beside && one->beside_fd < 0)
		return one->beside_fd;
	one->fd = attr_open(attr, cpu, one->beside_fd);
	return one->fd < 0 ? one->fd : 0;
}

/* Where two events count together, newer kernels report throttling by the first one. */
static int ring_map(struct one *o)
{
	void *ring = mmap(NULL, (RING_PAGES + 1) * page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, o->fd, 0);

	if (ring == MAP_FAILED)
		return -errno;
	o->ring = ring;
	return o->beside_fd >= 0 && ioctl(o->beside_fd, PERF_EVENT_IOC_SET_OUTPUT, o->fd) < 0 ? -errno : 0;
}

static int one_attach(struct cpu_events *events, unsigned int cpu)
{
	struct one *o = &events->of[cpu];
	int r = one_open(o, &events->event, cpu);

	if (!r && events->event.attr.freq)
		r = ring_map(o);
	if (!r && ioctl(o->fd, PERF_EVENT_IOC_SET_BPF, events->prog_fd) < 0)
		r = -errno;
	if (r < 0)
		one_close(o);
	return r == -ENODEV || r == -ENOENT ? 0 : r; /* offline since we looked, or of another kind than the others */
}

/* Each is open while the rest is checked. */
static int check_on(unsigned int cpu, const struct cpu_event *events, unsigned int n)
{
	struct one o;
	int r;

	if (!n)
		return 0;
	r = one_open(&o, events, cpu) ?: check_on(cpu, events + 1, n - 1);
	one_close(&o);
	return r;
}

int cpu_events_check(const struct cpu_event *events, unsigned int n)
{
	int cpus = libbpf_num_possible_cpus(), r = -ENODEV;

	for (int cpu = 0; (r == -ENODEV || r == -ENOENT) && cpu < cpus; cpu++)
		r = check_on((unsigned int)cpu, events, n);
	return r;
}

int cpu_events_open(struct cpu_events **ret, const struct cpu_event *event, int prog_fd)
{
	int n = libbpf_num_possible_cpus(), r;
	struct cpu_events *events;

	if (n < 0)
		return n;
	events = malloc(sizeof(*events) + (size_t)n * sizeof(events->of[0]));
	if (!events)
		return -ENOMEM;
	*events = (struct cpu_events){ .event = *event, .prog_fd = prog_fd, .n = (unsigned int)n };
	for (unsigned int cpu = 0; cpu < events->n; cpu++)
		events->of[cpu] = (struct one){ -1, -1, NULL };
	r = cpu_events_follow(events);
	if (r < 0)
		cpu_events_close(events);
	else
		*ret = events;
	return r;
}

int cpu_events_follow(struct cpu_events *events)
{
	bool online[events->n];
	int r = 0;

	cpus_online(online, events->n);
	for (unsigned int cpu = 0; cpu < events->n; cpu++) {
		int attached = 0;

		if (!online[cpu]) {
			losses_add(&events->of[cpu], &events->losses);
			one_close(&events->of[cpu]);
		} else if (events->of[cpu].fd < 0) {
			attached = one_attach(events, cpu);
		}
		r = r ? r : attached;
	}
	return r;
}

int cpu_events_change(struct cpu_events *e, const struct cpu_event *event)
{
	struct perf_event_attr attr = attr_of(event);
	int r = 0;

	e->event = *event;
	for (unsigned int cpu = 0; cpu < e->n; cpu++)
		if (e->of[cpu].fd >= 0 && ioctl(e->of[cpu].fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr) < 0)
			r = r ? r : -errno;
	return r;
}

void cpu_events_losses(struct cpu_events *e, struct perf_losses *sum)
{
	perf_losses_add(sum, &e->losses);
	e->losses = (struct perf_losses){ 0 };
	for (unsigned int cpu = 0; cpu < e->n; cpu++)
		losses_add(&e->of[cpu], sum);
}

void cpu_events_close(struct cpu_events *e)
{
	for (unsigned int cpu = 0; e && cpu < e->n; cpu++)
		one_close(&e->of[cpu]);
	free(e);
}
