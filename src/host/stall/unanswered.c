/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/stall/unanswered.h"

#include <pthread.h>
#include <string.h>

#include "base/fmt.h"
#include "base/log.h"
#include "base/util.h"
#include "dlt/dlt.h"

#define NAMED_MAX 16 /* of each probe; others are only counted */

static const struct {
	const char *what, *lacks;
} kinds[DLT_PROBES] = {
	[DLT_pids] = { "arguments and environment", "pids.out may lack them (ARGS, RANK)" },
	[DLT_mmap] = { "mappings", "mmap.out lacks those from before the trace, or some of them" },
};

static struct {
	uint64_t n, reported; /* N: relaxed */
	unsigned int n_named, n_reported;
	struct {
		pid_t pid;
		char name[UNANSWERED_NAME_MAX + 1];
	} named[NAMED_MAX];
} noted[DLT_PROBES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void unanswered_note(unsigned int probe, pid_t pid, const char *name)
{
	pthread_mutex_lock(&lock);
	util_count(&noted[probe].n, 1);
	if (pid && noted[probe].n_named < NAMED_MAX) {
		unsigned int i = noted[probe].n_named++;

		noted[probe].named[i].pid = pid;
		memcpy(noted[probe].named[i].name, name, strnlen(name, UNANSWERED_NAME_MAX));
	}
	pthread_mutex_unlock(&lock);
}

uint64_t unanswered_count(unsigned int probe)
{
	return util_counted(&noted[probe].n);
}

static void report_one(unsigned int probe)
{
	static const char why[] = "memory is locked, or lies on a file system that does not answer";
	uint64_t others;

	for (; noted[probe].n_reported < noted[probe].n_named; noted[probe].n_reported++, noted[probe].reported++)
		log_warn("process %d (%s): its %s cannot be read, as its %s: %s",
			 noted[probe].named[noted[probe].n_reported].pid,
			 noted[probe].named[noted[probe].n_reported].name, kinds[probe].what, why, kinds[probe].lacks);
	others = noted[probe].n - noted[probe].reported;
	if (others)
		log_warn("%s cannot be read, as their %s: %s", FMT_N(others, "more process", "more processes"), why,
			 kinds[probe].lacks);
	noted[probe].reported = noted[probe].n;
}

void unanswered_report(void)
{
	pthread_mutex_lock(&lock);
	for (unsigned int probe = 1; probe < DLT_PROBES; probe++)
		report_one(probe);
	pthread_mutex_unlock(&lock);
}
