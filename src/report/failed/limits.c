/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The limits of a process are known from its end, and those that the job began with from the manifest: one that differs
 * was set in between, by the job itself or by prlimit(1).
 */
#include "report/failed/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/failed/failures.h"
#include "report/scan/model.h"
#include "trace/rlimits.h"

/* Errors and signals that a limit of the process means, and others may mean, too: ENOMEM only where it has one. */
static const struct {
	enum failure_kind kind;
	int code;
	enum dlt_rlimit rlimit;
	bool surely;
} reached[] = {
	{ FAILURE_CALL, EFBIG, DLT_RLIMIT_FSIZE },
	{ FAILURE_CALL, EMFILE, DLT_RLIMIT_NOFILE, .surely = true },
	{ FAILURE_CALL, ENOMEM, DLT_RLIMIT_AS },
	{ FAILURE_SIGNAL, SIGXCPU, DLT_RLIMIT_CPU, .surely = true },
	{ FAILURE_SIGNAL, SIGXFSZ, DLT_RLIMIT_FSIZE, .surely = true },
};

struct limit {
	enum dlt_rlimit rlimit;
	bool surely, known, began_known;
	uint64_t n, began; /* of the process, and of the job's first one when it began */
};

static bool kind_of(const struct failure *failure, struct limit *limit)
{
	if (failed_is_no_lock(failure->error) || failure->error == &failed_no_process) {
		limit->rlimit = failed_is_no_lock(failure->error) ? DLT_RLIMIT_MEMLOCK : DLT_RLIMIT_NPROC;
		limit->surely = true;
		return true;
	}
	if (failure->sender == FAILED_BY_CPU_LIMIT) {
		limit->rlimit = DLT_RLIMIT_CPU;
		limit->surely = true;
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(reached); i++) {
		if (reached[i].kind != failure->kind || reached[i].code != failure->code)
			continue;
		limit->rlimit = reached[i].rlimit;
		limit->surely = reached[i].surely;
		return true;
	}
	return false;
}

/* Finds the limit of FAILURE. Returns false where it has none, or none is known that it may be due to. */
static bool find(const struct report *report, const struct failure *failure, struct limit *limit)
{
	const struct report_proc *proc = table_find(&report->procs, failure->pid);
	const struct manifest_allowed *allowed = &report->manifest.allowed;

	*limit = (struct limit){ 0 };
	if (!kind_of(failure, limit))
		return false;
	if (proc && proc->rlimits_known >> limit->rlimit & 1) {
		limit->known = true;
		limit->n = proc->rlimits[limit->rlimit];
	}
	limit->began = allowed->rlimits[limit->rlimit];
	limit->began_known = allowed->n_cpus;
	return limit->surely || limit->known;
}

const char *failure_limit(const struct report *report, const struct failure *failure)
{
	struct limit limit;

	if (failure->error && failure->error->limit)
		return failure->error->limit;
	return find(report, failure, &limit) ? rlimit_names[limit.rlimit].name : NULL;
}

bool failure_limit_number(const struct report *report, const struct failure *failure, uint64_t *n)
{
	struct limit limit;

	if (!find(report, failure, &limit) || !limit.known)
		return false;
	*n = limit.n;
	return true;
}

/* --- words ------------------------------------------------------------------------------------------------- */

static void put_number(enum dlt_rlimit rlimit, uint64_t n, FILE *out)
{
	const char *unit = rlimit_names[rlimit].unit;

	if (unit)
		fprintf(out, "%" PRIu64 "%s", n, unit);
	else
		fputs(FMT_BYTES(n), out);
}

static void put_setter(const struct limit *limit, FILE *out)
{
	if (!limit->began_known)
		return;
	if (limit->n == limit->began) {
		fputs(", which the job has inherited", out);
		return;
	}
	fputs(", set since the job began, with ", out);
	if (limit->began)
		put_number(limit->rlimit, limit->began, out);
	else
		fputs("none", out);
}

/* Puts what the cgroups of the job allowed it when it began: the first such limit is the nearest. */
static void put_tasks(const struct report *report, FILE *out)
{
	const struct manifest_allowed *allowed = &report->manifest.allowed;

	for (unsigned int i = 0; i < allowed->n_limits; i++)
		if (strcmp(allowed->limits[i].file, "pids.max") == 0) {
			fprintf(out, ", %s in cgroup %s", allowed->limits[i].value, allowed->limits[i].cgroup);
			return;
		}
}

void failure_limit_put(const struct report *report, const struct failure *failure, FILE *out)
{
	const char *name = failure_limit(report, failure);
	struct limit limit = { 0 };

	if (!name)
		return;
	fprintf(out, ", the limit %s %s", find(report, failure, &limit) && !limit.surely ? "may be" : "is", name);
	if (failure->error == &failed_no_process)
		put_tasks(report, out);
	if (!limit.known)
		return;
	fputs(", ", out);
	put_number(limit.rlimit, limit.n, out);
	fprintf(out, " in process %" PRIu64, failure->pid);
	put_setter(&limit, out);
}

void failure_shm_put(const struct report *report, const struct failure *failure, FILE *out)
{
	static const char shm[] = "/dev/shm";
	const struct manifest_allowed *allowed = &report->manifest.allowed;
	const bool full = failure->kind == FAILURE_CALL && failure->code == ENOSPC && failure->folder &&
			  strncmp(failure->folder, shm, strlen(shm)) == 0;

	if (!allowed->shm_bytes || !(full || (failure->kind == FAILURE_SIGNAL && failure->code == SIGBUS &&
					      failure->sender == FAILED_BY_KERNEL)))
		return;
	fprintf(out, "; %s has %s", shm, FMT_BYTES(allowed->shm_bytes));
	fprintf(out, ", of which %s were in use when the job began", FMT_BYTES(allowed->shm_used_bytes));
}
