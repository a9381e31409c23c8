/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/status.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/util.h"
#include "drain/archiver.h"
#include "drain/drain.h"
#include "drain/rows/stage.h"
#include "drain/stages.h"
#include "host/stall/unanswered.h"
#include "job/relay.h"
#include "kernel/tracer.h"
#include "trace/probe.h"
#include "trace/probe_mask.h"

#define REPORT_AGAIN_NS (10 * NSEC_PER_SEC)
#define STALLED_NS (3 * NSEC_PER_SEC)

/* Returns the sink of PROBE's file. With --keep, rollup.out is the archiver's, not the drain's. */
static const struct sink *sink_of(const struct drain *d, unsigned int probe)
{
	const struct sink *own = d->archiver ? archiver_own(d->archiver, probe) : NULL;

	return own ? own : &d->decode.sinks[probe];
}

static void update_kept(struct probe_counts *p, const struct drain *d, const struct sink *sink)
{
	const struct archiver_file *f = d->archiver ? archiver_file(d->archiver, sink) : NULL;

	p->dropped = f ? util_counted(&f->dropped_rows) : 0;
	p->dropped_bytes = f ? util_counted(&f->dropped_bytes) : 0;
	p->unsure += f ? util_counted(&f->unsure_rows) : 0;
}

/* Sets the losses of a probe by cause, as the kernel side and the probe's sink have counted them. */
static void update_lost(struct probe_counts *counts, const struct dlt_stats *st, const struct sink *sink,
			uint64_t skipped)
{
	memset(counts->lost_by, 0, sizeof(counts->lost_by));
	counts->lost_by[LOSS_IN_FLIGHT] = st->lost_room;
	counts->lost_by[LOSS_UNSEEN] = st->lost_unseen;
	counts->lost_by[LOSS_BUFFER] = st->lost - st->lost_room - st->lost_unseen + st->rows_lost;
	counts->lost_by[LOSS_DISK] = util_counted(&sink->lost);
	counts->lost_by[LOSS_SKIPPED] = skipped;
	counts->lost = 0;
	for (enum loss why = 0; why < LOSSES; why++)
		counts->lost += counts->lost_by[why];
}

void status_update(struct status *status, const struct tracer *tracer, const struct drain *drain)
{
	struct dlt_stats stats[DLT_PROBES];
	uint64_t skipped[DLT_PROBES];

	tracer_stats(tracer, stats);
	tracer_skipped(tracer, skipped);
	status->counts.skipped = skipped[0];
	status->rows = status->bytes = status->lost = status->dropped = status->summed = status->unsure = 0;
	memset(status->lost_by, 0, sizeof(status->lost_by));
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		const struct sink *sink = sink_of(drain, i);
		struct probe_counts *counts = &status->counts.probes[i];

		counts->seen = stats[i].seen;
		counts->rows = util_counted(&sink->rows);
		counts->bytes = util_counted(&sink->bytes);
		counts->late = util_counted(&sink->late);
		counts->unsure = util_counted(&sink->unsure);
		counts->filtered = util_counted(&drain->decode.counts[i].filtered);
		update_lost(counts, &stats[i], sink, skipped[i]);
		counts->calls = stats[i].emitted;
		counts->foreign = stats[i].foreign;
		counts->brief = stats[i].brief;
		counts->fileless = stats[i].fileless;
		counts->refused = stats[i].refused;
		counts->overwritten = stats[i].overwritten;
		counts->unseen = stats[i].unseen + stats[i].lost_unseen;
		counts->unread = stats[i].unread + util_counted(&drain->decode.counts[i].unread);
		counts->lines = util_counted(&drain->decode.counts[i].lines);
		counts->summed = util_counted(&drain->decode.counts[i].summed);
		counts->unanswered = unanswered_count(i);
		counts->nvtx = util_counted(&drain->decode.counts[i].nvtx);
		update_kept(counts, drain, sink);
		if (!(tracer->probes >> i & 1) && probes[i]->when == WHEN_CHOSEN)
			continue;
		status->rows += counts->rows;
		status->bytes += counts->bytes;
		status->lost += counts->lost;
		for (enum loss why = 0; why < LOSSES; why++)
			status->lost_by[why] += counts->lost_by[why];
		status->dropped += counts->dropped;
		status->summed += counts->summed;
		status->unsure += counts->unsure;
	}
	for (const struct drain_stage *const *stage = drain_stages; *stage; stage++)
		if ((*stage)->count)
			(*stage)->count(&drain->decode, tracer, &status->counts);
	status->log_unsure = util_counted(&drain->log.unsure_bytes);
	status->lost +=
		status->counts.skipped; /* of any process, some perhaps of the job: too many rather than too few */
	status->lost_by[LOSS_SKIPPED] += status->counts.skipped;
}

static void add_lost(struct status *s, unsigned int probe, enum loss why, uint64_t n)
{
	struct probe_counts *p = &s->counts.probes[probe];

	p->lost += n;
	p->lost_by[why] += n;
	s->lost += n;
	s->lost_by[why] += n;
}

struct in_flight {
	const struct tracer *tracer;
	uint64_t n[DLT_PROBES], foreign[DLT_PROBES];
};

static void count_in_flight(void *ctx, const struct dlt_call *call)
{
	struct in_flight *f = ctx;

	if (call->probe < DLT_PROBES)
		f->n[call->probe]++;
}

static void count_in_flight_rec(void *ctx, const struct dlt_hdr *rec)
{
	struct in_flight *f = ctx;

	if (rec->probe >= DLT_PROBES)
		return;
	if (tracer_may_show(f->tracer, rec))
		f->n[rec->probe]++;
	else
		f->foreign[rec->probe]++;
}

void status_account(struct status *status, struct tracer *tracer)
{
	struct dlt_stats stats[DLT_PROBES];
	struct in_flight in_flight = { .tracer = tracer };
	uint64_t skipped[DLT_PROBES];

	tracer_stats(tracer, stats);
	tracer_skipped(tracer, skipped);
	tracer_running(tracer, count_in_flight, &in_flight);
	tracer_requests(tracer, 0, UINT_MAX, count_in_flight, count_in_flight_rec, &in_flight);
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		uint64_t foreign = stats[i].foreign + in_flight.foreign[i];
		uint64_t known = stats[i].emitted + stats[i].brief + foreign + stats[i].lost + in_flight.n[i];

		status->counts.probes[i].foreign = foreign;
		status->counts.probes[i].unmatched = stats[i].seen > known ? stats[i].seen - known : 0;
		status->counts.probes[i].calls =
			known - stats[i].brief - foreign + status->counts.probes[i].unmatched + skipped[i];
		add_lost(status, i, LOSS_UNMATCHED, status->counts.probes[i].unmatched);
	}
}

void status_give_up(struct status *s)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		const struct probe_counts *p = &s->counts.probes[i];
		uint64_t known = p->rows + p->filtered + p->summed + p->lost;

		add_lost(s, i, LOSS_STALLED, p->calls > known ? p->calls - known : 0);
	}
}

/* Whether N is worth a message: it has grown since the last message, which is not too recent. Notes the new one. */
static bool is_news(struct status_logged *logged, uint64_t n)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

	if (n <= logged->n || (logged->n && now - logged->at_ns <= REPORT_AGAIN_NS))
		return false;
	*logged = (struct status_logged){ n, now };
	return true;
}

/* Warns of bytes that write(2) accepted, and that the disk refused later. */
static void warn_refused(struct status *status, const struct drain *drain, const char *dir)
{
	int refused = 0;

	for (unsigned int i = 1; !refused && i < DLT_PROBES; i++)
		refused = __atomic_load_n(&sink_of(drain, i)->refused, __ATOMIC_RELAXED);
	if (!refused && drain->archiver)
		refused = __atomic_load_n(&drain->archiver->refused, __ATOMIC_RELAXED);
	if (status->log_unsure && !status->log_unsure_logged)
		log_warn("the disk of %s refused writes: %s; some of workload.log may be missing (the manifest counts "
			 "it as unsure_bytes)",
			 dir, strerror(-__atomic_load_n(&drain->log.refused, __ATOMIC_RELAXED)));
	status->log_unsure_logged = status->log_unsure;
	if (is_news(&status->unsure_logged, status->unsure))
		log_warn("the disk of %s refused writes: %s; up to %s may be missing (unsure in the manifest)", dir,
			 strerror(-refused), FMT_N(status->unsure, "row that was written", "rows that were written"));
}

/*
 * Calls that the kernel has hidden from its hooks are reported apart from losses, and only as information: dltraced did
 * not lose them, and the user can do nothing about them.
 */
static void warn_lost(struct status *status)
{
	const uint64_t unseen = status->lost_by[LOSS_UNSEEN], lost = status->lost - MIN(unseen, status->lost);

	if (is_news(&status->unseen_logged, unseen))
		log_info("%s so far not in the trace: the kernel did not report when they began or ended (no option "
			 "changes that; `dltraced report' says whether it matters)",
			 FMT_N(unseen, "event is", "events are"));
	if (is_news(&status->lost_logged, lost)) {
		uint64_t by[LOSSES];
		autofree char *why = NULL;

		memcpy(by, status->lost_by, sizeof(by));
		by[LOSS_UNSEEN] = 0;
		why = loss_text(by);
		log_warn("%s lost so far: %s", FMT_N(lost, "row", "rows"), why ? why : "");
	}
}

const char *status_elsewhere(const struct status *s)
{
	return s->by_config ? "state = PATH in dltraced.conf" : "-o DIR";
}

void status_warn(struct status *status, const struct drain *drain, const char *dir, bool hangs)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC), beat = util_counted(&drain->heartbeat_ns);
	bool stalled = hangs || (beat && now - beat > STALLED_NS);
	uint64_t failures = 0;
	int failed_with = 0;

	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		const struct sink *sink = sink_of(drain, i);

		failures += util_counted(&sink->failures);
		if (util_counted(&sink->failures))
			failed_with = __atomic_load_n(&sink->failed_with, __ATOMIC_RELAXED);
	}
	if (is_news(&status->failures_logged, failures))
		log_warn("cannot write to %s: %s; rows are counted as lost until it can be written again", dir,
			 limits_strerror(failed_with));
	warn_refused(status, drain, dir);
	if (stalled && !status->stalled_logged)
		log_warn("writing to %s has stalled; once the buffers (--buffer) are full, further rows count as lost",
			 dir);
	if (!stalled && status->stalled_logged)
		log_info("writing to %s goes on", dir);
	status->stalled_logged = stalled;
	if (!status->same_dev_logged && atomic_load(&drain->decode.same_dev)) {
		log_info("%s is on a file system that the target uses too: its writes compete with the job's (choose "
			 "another one with %s)",
			 dir, status_elsewhere(status));
		status->same_dev_logged = true;
	}
	if (status->counts.skipped && !status->skipped_logged) {
		log_warn("the kernel has skipped dltraced's hooks %s (recursion_misses): so many calls of the job, or "
			 "of other processes, count as lost",
			 FMT_N(status->counts.skipped, "time", "times"));
		status->skipped_logged = true;
	}
	warn_lost(status);
}

void status_log(struct status *status, const struct relay_log *log, const char *dir)
{
	const char *why = "less space than --min-free";
	int error;

	if (!log)
		return;
	status->counts.log_lost = util_counted(&log->lost_bytes);
	error = __atomic_load_n(&log->error, __ATOMIC_RELAXED);
	if (!is_news(&status->log_lost_logged, status->counts.log_lost))
		return;
	if (error == -ETIMEDOUT)
		why = "writing there has stalled";
	else if (error)
		why = strerror(-error);
	log_warn("%s missing in %s/workload.log: %s",
		 FMT_N(status->counts.log_lost, "byte of the workload's output so far is",
		       "bytes of the workload's output so far are"),
		 dir, why);
}

/* --- output ---------------------------------------------------------------------------------------------- */

static double rate(uint64_t now, uint64_t before, double dt_s)
{
	return now > before ? (double)(now - before) / dt_s : 0;
}

void status_rates_tick(struct status *status)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC), from_ns = status->rates.at_ns ?: status->start_ns;
	double dt_s = now_ns > from_ns ? (double)(now_ns - from_ns) / 1e9 : 0;
	struct status_rates *rates = &status->rates;

	if (dt_s <= 0)
		return;
	rates->rows_s = 0;
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		uint64_t rows = status->counts.probes[i].rows + status->counts.probes[i].summed;

		rates->probe_rows_s[i] = rate(rows, rates->probe_rows[i], dt_s);
		rates->rows_s += rates->probe_rows_s[i];
		rates->probe_rows[i] = rows;
	}
	rates->bytes_s = rate(status->bytes, rates->bytes, dt_s);
	rates->bytes = status->bytes;
	rates->at_ns = now_ns;
}

void status_line(struct status *status)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC), elapsed = (now - status->start_ns) / NSEC_PER_SEC;
	char line[240];
	size_t n;

	n = (size_t)snprintf(line, sizeof(line), "%02llu:%02llu:%02llu  %s rows  %s  %llu lost ",
			     (unsigned long long)elapsed / 3600, (unsigned long long)elapsed / 60 % 60,
			     (unsigned long long)elapsed % 60, FMT_SI(status->rows + status->summed, ""),
			     FMT_BYTES(status->bytes),
			     (unsigned long long)(status->lost - MIN(status->lost_by[LOSS_UNSEEN], status->lost)));
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		uint64_t per_s = (uint64_t)(status->rates.probe_rows_s[i] + 0.5);

		if (per_s && probes[i]->flags & PROBE_OF_TARGET && n + 40 < sizeof(line))
			n += (size_t)snprintf(line + n, sizeof(line) - n, " %s %s/s", probes[i]->name,
					      FMT_SI(per_s, ""));
	}
	log_status(line);
}

void status_report_lost(const struct status *s)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		const struct probe_counts *p = &s->counts.probes[i];

		if (p->lost)
			log_warn("%s: %s written and %llu lost", probes[i]->name,
				 FMT_N(p->rows, "row was", "rows were"), (unsigned long long)p->lost);
	}
}

void status_put_summary(const struct status *status, const char *dir, FILE *out)
{
	fprintf(out, "%s, %s, %llu lost, in %s\n", FMT_N(status->rows, "row", "rows"), FMT_BYTES(status->bytes),
		(unsigned long long)status->lost, dir);
	if (status->summed)
		fprintf(out, "  %s only summed up, in rollup.out\n", FMT_N(status->summed, "row was", "rows were"));
	if (status->dropped)
		fprintf(out, "  %s dropped by --keep; rollup.out has the sums\n",
			FMT_N(status->dropped, "row of these was", "rows of these were"));
	if (status->unsure)
		fprintf(out, "  %s of these may be missing: the disk refused writes\n",
			FMT_N(status->unsure, "row", "rows"));
	if (status->log_unsure)
		fprintf(out, "  %s of workload.log may be missing: the disk refused writes\n",
			FMT_N(status->log_unsure, "byte", "bytes"));
	if (status->counts.log_lost)
		fprintf(out, "  workload.log lacks %s of the output\n",
			FMT_N(status->counts.log_lost, "byte", "bytes"));
}
