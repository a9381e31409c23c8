/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/sums/leaf.h"

#include "report/path/sums/names.h"

const struct path_kind_facts path_kinds[PATH_KINDS] = {
	[PATH_CPU] = { "cpu", "on a CPU", TIMELINE_PATH_CPU, .works = true },
	[PATH_CPU_READ] = { "cpu-read", "on a CPU, in reads of files", TIMELINE_PATH_CACHE, .works = true },
	[PATH_CPU_WRITE] = { "cpu-write", "on a CPU, in writes and syncs", TIMELINE_PATH_WRITES, .works = true },
	[PATH_CPU_METADATA] = { "cpu-metadata", "on a CPU, opening and closing files", TIMELINE_PATH_NAMES,
				.works = true },
	[PATH_RUNQ] = { "runq", "waiting for a CPU", TIMELINE_PATH_RUNQ, .works = true },
	[PATH_THROTTLED] = { "throttled", "waiting, as the CPU quota was used up", TIMELINE_PATH_RUNQ, .works = true },
	[PATH_DISK_READ] = { "disk-read", "reading from disk", TIMELINE_PATH_STORAGE, .works = true },
	[PATH_DISK_WRITE] = { "disk-write", "writing to disk", TIMELINE_PATH_WRITES, .works = true },
	[PATH_DISK_SYNC] = { "disk-sync", "syncing to disk", TIMELINE_PATH_WRITES, .works = true },
	[PATH_DISK_METADATA] = { "disk-metadata", "names of files from disk", TIMELINE_PATH_NAMES, .works = true },
	[PATH_DISK_FAULT] = { "disk-fault", "page faults from disk", TIMELINE_PATH_STORAGE, .works = true },
	[PATH_NETWORK] = { "network", "waiting for the network", TIMELINE_PATH_NETWORK, .works = true },
	[PATH_NETWORK_SEND] = { "network-send", "sending over the network", TIMELINE_PATH_NETWORK, .works = true },
	[PATH_CLIENT] = { "client", "waiting for clients to connect", TIMELINE_PATH_SLEEP },
	[PATH_DEVICE] = { "device", "waiting for a device", TIMELINE_PATH_OTHERS, .works = true },
	[PATH_SLEEP] = { "sleep", "sleeping for a given time", TIMELINE_PATH_SLEEP },
	[PATH_POLL] = { "poll", "looking again and again", TIMELINE_PATH_SLEEP },
	[PATH_TIMEOUT] = { "timeout", "waiting until a timeout", TIMELINE_PATH_SLEEP },
	[PATH_TERMINAL] = { "terminal", "waiting for the terminal", TIMELINE_PATH_OTHERS },
	[PATH_STOPPED] = { "stopped", "stopped by a signal or a debugger", TIMELINE_PATH_SLEEP },
	[PATH_LOCK] = { "lock", "waiting for a lock on a file, held outside the job", TIMELINE_PATH_OTHERS },
	[PATH_LOCK_TRIED] = { "lock-tried", "trying again and again to lock a file", TIMELINE_PATH_OTHERS },
	[PATH_AWAITED] = { "awaited", "looking again and again for a file", TIMELINE_PATH_SLEEP },
	[PATH_HELD] = { "held", "held up by a process outside the job", TIMELINE_PATH_OTHERS, .works = true },
	[PATH_OUTSIDE] = { "outside", "waiting for a process outside the job", TIMELINE_PATH_OTHERS },
	[PATH_KERNEL] = { "kernel", "waiting for the kernel", TIMELINE_PATH_OTHERS },
	[PATH_SIGNAL] = { "signal", "waiting for a signal", TIMELINE_PATH_SLEEP },
	[PATH_INTERRUPT] = { "interrupt", "waiting for an interrupt", TIMELINE_PATH_UNKNOWN },
	[PATH_SEVERAL] = { "several", "short waits for several threads", TIMELINE_PATH_OTHERS },
	[PATH_ENDING] = { "ending", "ending", TIMELINE_PATH_UNKNOWN },
	[PATH_UNENDED] = { "unended", "waiting, until a signal or the end", TIMELINE_PATH_UNKNOWN },
	[PATH_UNBORN] = { "unborn", "not known: before it began", TIMELINE_PATH_UNKNOWN },
	[PATH_CYCLE] = { "cycle", "threads that wait for each other", TIMELINE_PATH_OTHERS },
	[PATH_UNKNOWN] = { "unknown", "not known", TIMELINE_PATH_UNKNOWN },
};

const char *const path_roles[PATH_ROLES] = { "own", "worker", "child" };

const struct path_doing_facts path_does[PATH_DOINGS] = {
	[PATH_DOES_ANYTHING] = { NULL, "" },
	[PATH_STARTS_LOADERS] = { "starting-loaders", ", starting its loaders" },
	[PATH_FETCHES] = { "fetch", ", fetching a batch" },
	[PATH_BATCHES] = { "batch", ", making a batch" },
	[PATH_COMPUTES] = { "compute", ", in a step" },
	[PATH_SAVES] = { "save", ", saving a checkpoint" },
	[PATH_LOADS] = { "load", ", loading a checkpoint" },
	[PATH_TALKS] = { "comm", ", in a collective" },
};

#define NAME_BITS 19
#define KIND_BITS 8

_Static_assert(PATH_NAMES_MAX < 1U << NAME_BITS && PATH_KINDS < 1 << KIND_BITS && PATH_ROLES <= 4 && PATH_DOINGS <= 8,
	       "a key has room for all members");

uint64_t path_leaf_key(const struct path_leaf *leaf)
{
	const uint64_t flags = (uint64_t)leaf->thread | (uint64_t)leaf->held << 1 | (uint64_t)leaf->inferred << 2 |
			       (uint64_t)leaf->rank << 3 | (uint64_t)leaf->starting << 4 | (uint64_t)leaf->gil << 5 |
			       (uint64_t)leaf->role << 6 | (uint64_t)leaf->doing << 8 | (uint64_t)leaf->open << 11;

	return (((flags << KIND_BITS | leaf->kind) << NAME_BITS | leaf->process) << NAME_BITS) | leaf->detail;
}
