/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/preempt.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/util.h"
#include "dlt/preempt.h"
#include "kernel/object.h"
#include "kernel/skel.h"
#include "os/thread.h"
#include "preempt.skel.h"

/* Longer than the ticks take, unless the machine is stalled; see below for that case. */
#define LIMIT_NS 500000000ULL

/* The call of both threads; hardly any other program makes it. */
#define CALL SYS_getpgid

static void *stay(void *arg)
{
	struct dlt_preempt *preempt = arg;
	struct timespec tick;

	/* the coarse clock moves with the tick */
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	preempt->tick_ns = timespec_ns(&tick) * 3 / 4;
	preempt->until = clock_now_ns(CLOCK_MONOTONIC) + LIMIT_NS;
	preempt->staying_tid = (uint32_t)thread_id();
	syscall(CALL, 0);
	__atomic_store_n(&preempt->stop, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Call until the other thread is done or a call was not seen. */
static bool call_all_the_time(struct dlt_preempt *preempt)
{
	uint64_t made = 0;

	while (!__atomic_load_n(&preempt->stop, __ATOMIC_ACQUIRE)) {
		syscall(CALL, 0);
		made++;
		if (__atomic_load_n(&preempt->seen, __ATOMIC_RELAXED) >= made)
			continue;
		__atomic_store_n(&preempt->stop, 1, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

/*
 * Both threads run on our current CPU. Where neither was found, the ticks must have been seen: a kernel
 * that is not known to be safe counts as skipping, which costs some time at each call and no rows.
 */
static bool skips_on_this_cpu(struct dlt_preempt *preempt)
{
	cpu_set_t before, one;
	bool skips = false;
	pthread_t thread;

	if (sched_getaffinity(0, sizeof(before), &before) < 0)
		return true; /* more CPUs than that: also not known */
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		return true;
	preempt->call_nr = CALL;
	preempt->calling_tid = (uint32_t)thread_id();
	if (!pthread_create(&thread, NULL, stay, preempt)) {
		skips = call_all_the_time(preempt);
		pthread_join(thread, NULL);
		skips |= preempt->preempted || preempt->ticks < DLT_PREEMPT_TICKS;
	}
	sched_setaffinity(0, sizeof(before), &before);
	return skips;
}

static bool try(struct preempt_bpf *skel, const struct kernel_btf *kernel)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	autoclose int link = -1;
	struct dlt_preempt *preempt;
	bool skips;

	if (object_load(skel->skeleton, kernel, NULL, NULL) < 0)
		return false;
	preempt = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(skel->maps.test), 0);
	if (preempt == MAP_FAILED)
		return false;
	link = bpf_raw_tracepoint_open(NULL, bpf_program__fd(skel->progs.preempt_test));
	skips = link >= 0 && skips_on_this_cpu(preempt);
	munmap(preempt, bytes);
	return skips;
}

/* "none voluntary (full) lazy", the active one in brackets; "": not known. */
static const char *model_of(const char *line)
{
	const char *open = strchr(line, '(');

	return open ? open + 1 : "";
}

bool preempt_is_possible(void)
{
	const char *model;
	struct utsname uts;
	char line[64];

	/* built without: "#1 SMP Debian"; else PREEMPT, PREEMPT_DYNAMIC, PREEMPT_RT, PREEMPT_LAZY */
	if (!uname(&uts) && !strstr(uts.version, "PREEMPT"))
		return false;
	if (util_read_line("/sys/kernel/debug/sched/preempt", line, sizeof(line)) < 0)
		return true;
	model = model_of(line);
	return strncmp(model, "none", 4) && strncmp(model, "voluntary", 9);
}

bool preempt_skips_runs(const struct kernel_btf *kernel)
{
	struct preempt_bpf *skel;
	bool skips;

	if (!preempt_is_possible())
		return false;
	skel = SKEL_OPEN_ONLY(preempt, kernel);
	skips = skel && try(skel, kernel);
	preempt_bpf__destroy(skel);
	return skips;
}
