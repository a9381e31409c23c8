/* SPDX-License-Identifier: BSD-2-Clause */
/* The largest set of waits that could only be ended by each other. */
#include "report/hang/hang.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

#define CHAIN_MAX 8U /* processes that wait for each other in a row */

/* Whether so many threads of process PID are stuck as it has. */
static bool all_stuck(const struct report_hang *hang, uint64_t pid, uint64_t threads)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < hang->waits.n; i++)
		n += hang->stuck[i] && hang->waits.v[i].pid == pid;
	return n >= threads;
}

static bool has_waker(const struct report_hang *hang, const struct open_wait *wait)
{
	for (uint64_t i = 0; i < wait->n_ends; i++)
		if (!wait->ends[i].stopped && !all_stuck(hang, wait->ends[i].pid, wait->ends[i].threads))
			return true;
	return false;
}

void hang_find(struct report_hang *hang)
{
	bool changed = true;

	for (uint64_t i = 0; i < hang->waits.n; i++) {
		const struct open_wait *wait = &hang->waits.v[i];

		hang->stuck[i] = hang->lasts[i] && wait->known && wait->n_ends && wait->n_ends <= OPEN_WAIT_ENDS_MAX;
	}
	while (changed) {
		changed = false;
		for (uint64_t i = 0; i < hang->waits.n; i++)
			if (hang->stuck[i] && has_waker(hang, &hang->waits.v[i])) {
				hang->stuck[i] = false;
				changed = true;
			}
	}
}

const struct open_wait *hang_of(const struct report_hang *hang, uint64_t pid)
{
	const struct open_wait *found = NULL;

	for (uint64_t i = 0; i < hang->waits.n; i++) {
		const struct open_wait *wait = &hang->waits.v[i];

		if (wait->pid == pid && hang->lasts[i] && (!found || wait->tid == pid))
			found = wait;
	}
	return found;
}

/* Returns the first wait of a process's first thread that nobody will end, or else the first that lasts; NULL: none. */
static const struct open_wait *first(const struct report_hang *hang)
{
	const struct open_wait *found = NULL;

	for (uint64_t i = 0; i < hang->waits.n; i++) {
		const struct open_wait *wait = &hang->waits.v[i];

		if (wait->tid == wait->pid && hang->lasts[i] &&
		    (!found || (hang->stuck[i] && !hang_is_stuck(hang, found))))
			found = wait;
	}
	return found;
}

const struct open_wait *hang_of_job(const struct report_hang *hang, uint64_t pid)
{
	return hang_of(hang, pid) ?: first(hang);
}

bool hang_is_stuck(const struct report_hang *hang, const struct open_wait *wait)
{
	return hang->stuck[wait - hang->waits.v];
}

/* Returns the process that WAIT is for, as far as one is named: one other than its own; else NULL. */
static const struct open_wait_end *other_end(const struct open_wait *wait)
{
	for (uint64_t i = 0; i < MIN(wait->n_ends, OPEN_WAIT_ENDS_MAX); i++)
		if (wait->ends[i].pid != wait->pid)
			return &wait->ends[i];
	return NULL;
}

uint64_t hang_since(const struct report_hang *hang, const struct open_wait *wait)
{
	uint64_t since_ns = 0;

	for (unsigned int n = 0; wait && n < CHAIN_MAX; n++) {
		const struct open_wait_end *end = other_end(wait);

		since_ns = MAX(since_ns, wait->since_ns);
		wait = end ? hang_of(hang, end->pid) : NULL;
	}
	return since_ns;
}

/* --- words --------------------------------------------------------------------------------------------- */

/* A process's name as the manifest has it may hold anything that a terminal obeys. */
static void put_process(uint64_t pid, const char *comm, FILE *out)
{
	char text[TEXT_ESCAPED_MAX(sizeof(((struct open_wait *)0)->comm))];

	*text_put_str(text, comm, strlen(comm)) = '\0';
	fprintf(out, "process %" PRIu64 " (%s)", pid, text);
}

static const char *words_of(const char *object)
{
	static const struct {
		const char *object, *words;
	} rows[] = {
		{ "pipe", " of a pipe" },
		{ "fifo", " of a FIFO" },
		{ "socket", " of a socket" },
		{ "lock", " of a file" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strcmp(rows[i].object, object) == 0)
			return rows[i].words;
	return "";
}

/* Puts for whom WAIT is, if it is for no other process. */
static void put_own(const struct open_wait *wait, FILE *out)
{
	if (strcmp(wait->object, "thread") == 0)
		fputs(" for another thread of its own", out);
	else if (wait->known && *words_of(wait->object))
		fputs(", whose other end no other process has", out);
	else if (!wait->known)
		fputs(" (for whom is not known)", out);
}

static bool is_named(const uint64_t *named, unsigned int n, uint64_t pid)
{
	for (unsigned int i = 0; i < n; i++)
		if (named[i] == pid)
			return true;
	return false;
}

void hang_sentence(const struct report_hang *hang, const struct open_wait *wait, FILE *out)
{
	uint64_t named[CHAIN_MAX];
	unsigned int n = 0;

	put_process(wait->pid, wait->comm, out);
	while (wait && n < CHAIN_MAX) {
		const struct open_wait_end *end = other_end(wait);

		fprintf(out, "%s waits in %s%s", n ? ", which" : "", wait->call, words_of(wait->object));
		named[n++] = wait->pid;
		if (!end) {
			put_own(wait, out);
			return;
		}
		fputs(" for ", out);
		put_process(end->pid, end->comm, out);
		if (end->stopped)
			fputs(", which is stopped", out);
		else if (!end->job)
			fputs(", which is not of the job", out);
		wait = end->stopped || is_named(named, n, end->pid) ? NULL : hang_of(hang, end->pid);
	}
}
