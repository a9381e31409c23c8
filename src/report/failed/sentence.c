/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/failed/sentence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/failed/failures.h"
#include "report/failed/limits.h"
#include "report/scan/model.h"

uint64_t failure_after_ns(const struct report *report, uint64_t at_ns)
{
	const uint64_t begin_ns = report->manifest.start_ns ? report->manifest.start_ns : report->first_ns;

	return at_ns - MIN(begin_ns, at_ns);
}

const char *failure_code(const struct failure *failure, char buf[static FAILURE_NAME_BUF])
{
	static const char by[] = "ended by ";

	switch (failure->kind) {
	case FAILURE_CALL:
		return failure->error->name;
	case FAILURE_SIGNAL: /* "ended by SIGKILL", "ended by signal 40" */
		snprintf(buf, FAILURE_NAME_BUF, "%s", FMT_ENDED(failure->code) + strlen(by));
		return buf;
	default:
		snprintf(buf, FAILURE_NAME_BUF, "%d", failure->code);
		return buf;
	}
}

const char *failure_advice(const struct failure *failure)
{
	switch (failure->kind) {
	case FAILURE_CALL:
		return failure->error->advice;
	case FAILURE_SIGNAL:
		return failed_signal_advice(failure->code, failure->sender);
	default:
		return "What it printed says why: its standard error, or workload.log with --log.";
	}
}

/* --- parts of the sentence --------------------------------------------------------------------------------- */

static void put_when(const struct report *report, const struct failure *failure, FILE *out)
{
	const double first = (double)failure_after_ns(report, failure->first_ns) / (double)NSEC_PER_SEC,
		     last = (double)failure_after_ns(report, failure->last_ns) / (double)NSEC_PER_SEC;

	if (failure->n == 1)
		fprintf(out, " at %.2f s", first);
	else
		fprintf(out, " from %.2f s to %.2f s", first, last);
}

static void put_place(const struct failure *failure, FILE *out)
{
	if (failure->folder)
		fprintf(out, ", %s %s", failure->error->subject == FAILED_PEER ? "peer" : "in", failure->folder);
	if (failure->file[0])
		fprintf(out, "%s%s%s", failure->folder ? " (" : ", ", failure->file, failure->folder ? ")" : "");
}

static void put_call(const struct report *report, const struct failure *failure, FILE *out)
{
	const struct failed_error *error = failure->error;

	fprintf(out, "%s: %s %s", failure->comm, failure->call, error->verb ? error->verb : "failed");
	if (failure->n == 1)
		fputs(" once", out);
	else
		fprintf(out, " %" PRIu64 " times", failure->n);
	put_when(report, failure, out);
	if (!error->verb) {
		fprintf(out, ": %s (%s", error->words, error->name);
		failure_limit_put(report, failure, out);
		fputc(')', out);
	}
	put_place(failure, out);
	failure_shm_put(report, failure, out);
	if (failure->slept_ns)
		fprintf(out, error == &failed_no_answer ? "; it waited %s for one" : "; it slept %s right after",
			FMT_NS(failure->slept_ns));
}

static void put_sender(const struct failure *failure, FILE *out)
{
	switch (failure->sender) {
	case FAILED_BY_KERNEL:
		fputs(", sent by the kernel", out);
		break;
	case FAILED_BY_OOM:
		fputs(", by the kernel's OOM killer: the machine's memory was used up", out);
		break;
	case FAILED_BY_OOM_LIMIT:
		fputs(", by the kernel's OOM killer: its cgroup was at its limit of memory", out);
		if (failure->limit_bytes)
			fprintf(out, ", %s", FMT_BYTES(failure->limit_bytes));
		break;
	case FAILED_BY_CPU_LIMIT:
		fputs(", by the kernel: its CPU time was used up", out);
		break;
	case FAILED_BY_SELF:
		fputs(", sent by itself", out);
		break;
	case FAILED_BY_OTHER:
		fprintf(out, ", sent by process %" PRIu64 " (%s), which is not the job's", failure->sender_pid,
			failure->sender_comm[0] ? failure->sender_comm : "?");
		break;
	default: /* older traces have no sender, and what the job's own processes send is expected */
		break;
	}
}

static void put_end(const struct report *report, const struct failure *failure, FILE *out)
{
	char buf[FAILURE_NAME_BUF];
	const char *code = failure_code(failure, buf);

	if (failure->n == 1)
		fprintf(out, "%s (process %" PRIu64 ") ended", failure->comm, failure->pid);
	else
		fprintf(out, "%s: %" PRIu64 " processes, process %" PRIu64 " first, ended", failure->comm, failure->n,
			failure->pid);
	fprintf(out, " %s%s", failure->kind == FAILURE_SIGNAL ? "by " : "with status ", code);
	put_when(report, failure, out);
	if (failure->kind != FAILURE_SIGNAL)
		return;
	put_sender(failure, out);
	failure_limit_put(report, failure, out);
	failure_shm_put(report, failure, out);
}

char *failure_sentence(const struct report *report, const struct failure *failure)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	if (failure->kind == FAILURE_CALL)
		put_call(report, failure, out);
	else
		put_end(report, failure, out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
