/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/stall/unanswered.h"

#include <pthread.h>
#include <string.h>

#include "base/fmt.h"
#include "base/log.h"
#include "base/util.h"

#define NAMED_MAX 16 /* of each kind; others are only counted */

static const struct {
	const char *what, *lacks;
} kinds[UNANSWERED_KINDS] = {
	[UNANSWERED_FACTS] = { "arguments and environment", "pids.out may lack them (ARGS, RANK)" },
	[UNANSWERED_MAPPINGS] = { "mappings", "mmap.out lacks those from before the trace, or some of them" },
};

static struct {
	uint64_t n, reported; /* N: relaxed */
	unsigned int n_named, n_reported;
	struct {
		pid_t pid;
		char name[UNANSWERED_NAME_MAX + 1];
	} named[NAMED_MAX];
} noted[UNANSWERED_KINDS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void unanswered_note(enum unanswered what, pid_t pid, const char *name)
{
	pthread_mutex_lock(&lock);
	util_count(&noted[what].n, 1);
	if (pid && noted[what].n_named < NAMED_MAX) {
		unsigned int i = noted[what].n_named++;

		noted[what].named[i].pid = pid;
		memcpy(noted[what].named[i].name, name, strnlen(name, UNANSWERED_NAME_MAX));
	}
	pthread_mutex_unlock(&lock);
}

uint64_t unanswered_count(enum unanswered what)
{
	return util_counted(&noted[what].n);
}

static void report_one(enum unanswered what)
{
	static const char why[] = "memory is locked, or lies on a file system that does not answer";
	uint64_t others;

	for (; noted[what].n_reported < noted[what].n_named; noted[what].n_reported++, noted[what].reported++)
		log_warn("process %d (%s): its %s cannot be read, as its %s: %s",
			 noted[what].named[noted[what].n_reported].pid, noted[what].named[noted[what].n_reported].name,
			 kinds[what].what, why, kinds[what].lacks);
	others = noted[what].n - noted[what].reported;
	if (others)
		log_warn("%s cannot be read, as their %s: %s", FMT_N(others, "more process", "more processes"), why,
			 kinds[what].lacks);
	noted[what].reported = noted[what].n;
}

void unanswered_report(void)
{
	pthread_mutex_lock(&lock);
	for (enum unanswered what = 0; what < UNANSWERED_KINDS; what++)
		report_one(what);
	pthread_mutex_unlock(&lock);
}
