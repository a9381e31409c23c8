/* SPDX-License-Identifier: BSD-2-Clause */
/* See predict.h. */
#include "report/whatif/predict.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"

#define SLACK 0.10 /* more than the error of most pairs of docs/what-if-measured.md */
#define SLACK_DOUBLED 0.06 /* of twice the workers, which get in each other's way: at servers, in memory, in Python */
#define QUEUED_MATTERS 0.05 /* of the CPU time: waits for a CPU that the job does not cause by itself */
#define STRETCH_MOST 4.0
#define STRETCH_TRIES 7U
#define STRETCH_SHOWS 0.03 /* the base's error depends on the stretch by so much, so it shows which one is right */
#define CPUS_FULL 0.85
#define CPUS_LEAST 0.01
#define QUEUE_FULL 0.25 /* of the CPU time */
#define STORAGE_MATTERS 0.03 /* of the loaders' time */
#define LATE_LITTLE 0.02
#define BUSY 0.85

/* --- the base --------------------------------------------------------------------------------------------------------
 */

static double error_of(const struct whatif_run *run, const struct whatif_base *base)
{
	return run->total_ns / base->facts.measured_ns - 1;
}

/* Sets the depth of a limited disk's bucket to the one with which the replay takes what was measured. */
static int calibrate_depth(struct whatif_base *base)
{
	static const double seconds[] = { 0, 0.02, 0.05, 0.1, 0.2 };
	const double rate = base->model.storage.rate;
	double best = INFINITY, depth = 0;

	for (size_t i = 0; base->model.storage.kind == WHATIF_LIMIT && i < ARRAY_SIZE(seconds); i++) {
		struct whatif_run run;
		int r;

		base->model.storage.depth = seconds[i] * 1e9 * rate;
		r = whatif_replay(&base->model, &run);
		if (r < 0)
			return r;
		if (fabs(error_of(&run, base)) < best) {
			best = fabs(error_of(&run, base));
			depth = base->model.storage.depth;
		}
	}
	base->model.storage.depth = depth;
	return 0;
}

/*
 * Waits for CPUs that the job does not cause itself make its CPU time take longer: at most as much as they are; less if
 * the time of the base shows that.
 */
static int calibrate_stretch(struct whatif_calibrated *calibrated)
{
	struct whatif_base *base = &calibrated->base;
	double best = INFINITY, worst = 0, stretch = 1, excess_ns;
	struct whatif_run run;
	int r = whatif_replay(&base->model, &run);

	calibrated->stretch_most = 1;
	excess_ns = base->facts.queue_ns - run.queued_ns;
	if (r < 0 || excess_ns <= QUEUED_MATTERS * base->facts.run_ns)
		return r;
	calibrated->stretch_most = MIN(STRETCH_MOST, 1 + excess_ns / base->facts.run_ns);
	for (unsigned int i = 0; i < STRETCH_TRIES; i++) {
		base->model.stretch = 1 + (calibrated->stretch_most - 1) * i / (STRETCH_TRIES - 1);
		r = whatif_replay(&base->model, &run);
		if (r < 0)
			return r;
		worst = MAX(worst, fabs(error_of(&run, base)));
		if (fabs(error_of(&run, base)) <= best) {
			best = fabs(error_of(&run, base));
			stretch = base->model.stretch;
		}
	}
	base->model.stretch = worst - best > STRETCH_SHOWS ? stretch : calibrated->stretch_most;
	return 0;
}

/* While its quota is used up, a job runs as much as the quota allows. */
static void find_quota(struct whatif_base *base, double throttled_ns, double job_run_ns)
{
	if (throttled_ns < QUEUED_MATTERS * base->facts.run_ns)
		return;
	base->quota = true;
	base->model.cpus = MIN(base->cpus, MAX(CPUS_LEAST, job_run_ns / base->facts.measured_ns));
	base->facts.queue_ns = MAX(0.0, base->facts.queue_ns - throttled_ns);
}

int whatif_calibrate(struct whatif_calibrated *calibrated, double throttled_ns, double job_run_ns, double others_run_ns)
{
	struct whatif_base *base = &calibrated->base;
	const double used = (job_run_ns + others_run_ns) / base->facts.measured_ns / base->cpus;
	int r;

	base->cpus_full = used > CPUS_FULL || base->facts.queue_ns > QUEUE_FULL * base->facts.run_ns;
	find_quota(base, throttled_ns, job_run_ns);
	r = calibrate_stretch(calibrated);
	if (r == 0)
		r = calibrate_depth(base);
	if (r == 0)
		r = whatif_replay(&base->model, &calibrated->run);
	calibrated->error = r == 0 ? error_of(&calibrated->run, base) : 0;
	return r;
}

/* --- what the trace leaves open: each side changes the base, or does not apply -------------------------------------
 */

static bool storage_matters(const struct whatif_base *base)
{
	return base->facts.storage_ns > STORAGE_MATTERS * base->facts.work_ns;
}

/* What looked like the latency of each read may be a limit: of what the disk gave at most. */
static bool side_limit(struct whatif_model *model, const struct whatif_calibrated *of)
{
	if (model->storage.kind != WHATIF_LATENCY || !(model->storage.most > 0) || !storage_matters(&of->base))
		return false;
	model->storage.kind = WHATIF_LIMIT;
	model->storage.rate = model->storage.fast = model->storage.most;
	model->storage.depth = 0;
	return true;
}

/* A file system of this machine's processes may serve one request at a time: its readers share its time. */
static bool side_serial(struct whatif_model *model, const struct whatif_calibrated *of)
{
	if (!of->fuse || of->base.facts.remote_ns < STORAGE_MATTERS * of->base.facts.work_ns)
		return false;
	model->storage = (struct whatif_storage){ .kind = WHATIF_LIMIT, .served = true, .rate = 1, .fast = 1 };
	for (uint32_t i = 0; i < model->n; i++) {
		struct whatif_batch *batch = &model->batches[i];

		batch->disk_bytes = batch->remote_ns;
		batch->sleep_ns += batch->disk_ns;
		batch->remote_ns = batch->disk_ns = 0;
	}
	return true;
}

static bool side_shallow(struct whatif_model *model, const struct whatif_calibrated *of)
{
	model->storage.depth = 0;
	return model->storage.kind == WHATIF_LIMIT;
}

static bool side_deep(struct whatif_model *model, const struct whatif_calibrated *of)
{
	model->storage.depth = 0.2e9 * model->storage.rate;
	return model->storage.kind == WHATIF_LIMIT;
}

static bool side_slow(struct whatif_model *model, const struct whatif_calibrated *of)
{
	model->storage.rate *= 0.93;
	return model->storage.kind == WHATIF_LIMIT;
}

static bool side_fast(struct whatif_model *model, const struct whatif_calibrated *of)
{
	model->storage.rate *= 1.07;
	return model->storage.kind == WHATIF_LIMIT;
}

/* The other programs may be gone, or want more. */
static bool side_alone(struct whatif_model *model, const struct whatif_calibrated *of)
{
	model->stretch = 1;
	return of->stretch_most > 1.02;
}

static bool side_crowded(struct whatif_model *model, const struct whatif_calibrated *of)
{
	model->stretch = of->stretch_most;
	return of->stretch_most > 1.02;
}

static bool side_delivered_slowly(struct whatif_model *model, const struct whatif_calibrated *of)
{
	for (uint32_t i = 0; i < model->n; i++)
		model->batches[i].deliver_ns = of->base.facts.deliver_most_ns;
	model->deliver_idle_ns = of->base.facts.deliver_most_ns;
	return !of->base.facts.deliver_known;
}

static const struct side {
	bool (*make)(struct whatif_model *model, const struct whatif_calibrated *of);
	bool elsewhere; /* the surroundings may have been other ones then: the base need not take as long under it */
} sides[] = {
	{ side_limit },       { side_serial },        { side_shallow },
	{ side_deep },        { side_slow },          { side_fast },
	{ side_alone, true }, { side_crowded, true }, { side_delivered_slowly },
};

/* --- predictions
 * ------------------------------------------------------------------------------------------------------ */

static int copy_model(struct whatif_model *to, const struct whatif_model *from)
{
	*to = *from;
	to->batches = malloc(from->n * sizeof(*to->batches));
	to->steps = malloc(from->n * sizeof(*to->steps));
	if (!to->batches || !to->steps) {
		free(to->batches);
		free(to->steps);
		return -ENOMEM;
	}
	memcpy(to->batches, from->batches, from->n * sizeof(*to->batches));
	memcpy(to->steps, from->steps, from->n * sizeof(*to->steps));
	return 0;
}

/*
 * Replays the base under SIDE (NULL: as it is) with CHANGE (NULL: none).
 * Returns 0; -ENOENT when SIDE does not apply; or the replay's error.
 */
static int replay_under(const struct whatif_calibrated *of, const struct side *side, const struct whatif_change *change,
			struct whatif_run *run)
{
	struct whatif_model model;
	int r = copy_model(&model, &of->base.model);

	if (r < 0)
		return r;
	if (side && !side->make(&model, of)) {
		r = -ENOENT;
	} else {
		if (change)
			whatif_change_apply(change, &model, &of->base);
		r = whatif_replay(&model, run);
	}
	free(model.batches);
	free(model.steps);
	return r;
}

/* Widens the range of PREDICTION to what it would be under SIDE, unless the base would have taken another time then. */
static int widen(const struct whatif_calibrated *of, const struct side *side, const struct whatif_change *change,
		 struct whatif_prediction *prediction)
{
	struct whatif_run before = of->run, after;
	int r = side->elsewhere ? 0 : replay_under(of, side, NULL, &before);
	double ns;

	if (r == 0 && fabs(error_of(&before, &of->base)) > MAX(WHATIF_ERROR_MOST, fabs(of->error)))
		return 0;
	if (r == 0)
		r = replay_under(of, side, change, &after);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	ns = after.total_ns / before.total_ns * of->whole_ns;
	prediction->low_ns = MIN(prediction->low_ns, ns);
	prediction->high_ns = MAX(prediction->high_ns, ns);
	return 0;
}

/* Returns what the workers spend most of their time with. */
static const char *work_of(const struct whatif_model *model)
{
	enum { STORAGE, PEERS, CPUS, OTHERS, WORKS };
	static const char *const names[WORKS] = { "storage's latency", "peers' latency", "CPU time of batches",
						  "other waits of batches" };
	double ns[WORKS] = { 0 };
	unsigned int most = 0;

	for (uint32_t i = 0; i < model->n; i++) {
		const struct whatif_batch *batch = &model->batches[i];

		ns[STORAGE] += batch->disk_ns + batch->remote_ns;
		ns[PEERS] += batch->net_ns;
		ns[CPUS] += batch->cpu_ns;
		ns[OTHERS] += batch->sleep_ns;
	}
	for (unsigned int i = 1; i < WORKS; i++)
		if (ns[i] > ns[most])
			most = i;
	return names[most];
}

/* Prints what sets the pace of RUN, of MODEL. */
static void print_limit(const struct whatif_model *model, const struct whatif_run *run, double late, char *buf,
			size_t size)
{
	const char *work = work_of(model);

	if (late < LATE_LITTLE)
		snprintf(buf, size, "the trainer");
	else if (run->storage_busy > BUSY)
		snprintf(buf, size, "storage, %s/s", FMT_BYTES((uint64_t)(model->storage.rate * 1e9)));
	else if (run->cpus_busy > BUSY)
		snprintf(buf, size, "the CPUs");
	else if (!model->loader.workers || run->workers_busy > BUSY)
		snprintf(buf, size, "the loaders: %s", work);
	else
		snprintf(buf, size, "slow batches: %s", work);
}

/* The waits of the steady state, beyond what it takes to take each batch. */
static double late_of(const struct whatif_model *model, const struct whatif_run *run)
{
	const uint64_t ahead = (uint64_t)model->loader.workers * model->loader.prefetch,
		       n = model->n > ahead ? model->n - ahead : 0;

	if (!(run->steady_ns > 0))
		return 0;
	return MAX(0.0,
		   (run->steady_exposed_ns - n * model->fetch_ns * model->stretch - model->last_ns) / run->steady_ns);
}

static int describe(const struct whatif_calibrated *of, const struct whatif_change *change,
		    const struct whatif_run *run, struct whatif_prediction *prediction)
{
	struct whatif_model model;
	int r = copy_model(&model, &of->base.model);

	if (r < 0)
		return r;
	whatif_change_apply(change, &model, &of->base);
	prediction->workers = model.loader.workers;
	prediction->late = late_of(&model, run);
	print_limit(&model, run, prediction->late, prediction->limited_by, sizeof(prediction->limited_by));
	free(model.batches);
	free(model.steps);
	return 0;
}

int whatif_predict_alone(const struct whatif_calibrated *calibrated, const struct whatif_change *change,
			 struct whatif_prediction *prediction)
{
	struct whatif_run run;
	int r;

	*prediction = (struct whatif_prediction){ .refused = whatif_change_refused(change, &calibrated->base) };
	snprintf(prediction->change, sizeof(prediction->change), "%s", change->text);
	if (prediction->refused)
		return 0;
	r = replay_under(calibrated, NULL, change, &run);
	if (r == 0)
		r = describe(calibrated, change, &run, prediction);
	if (r < 0)
		return r;
	prediction->ns = run.total_ns / calibrated->run.total_ns * calibrated->whole_ns;
	prediction->times = prediction->ns > 0 ? calibrated->whole_ns / prediction->ns : 0;
	prediction->exposed = run.total_ns > 0 ? run.exposed_ns / run.total_ns : 0;
	prediction->low_ns = prediction->high_ns = prediction->ns;
	return 0;
}

/* Returns how many times the workers of PREDICTION are those of the base doubled; 0: they are no more. */
static double doublings(const struct whatif_calibrated *of, const struct whatif_prediction *prediction)
{
	const uint32_t before = of->base.model.loader.workers;

	if (prediction->workers <= before)
		return 0;
	return before ? log2((double)prediction->workers / before) : 1 + log2(prediction->workers);
}

int whatif_predict(const struct whatif_calibrated *calibrated, const struct whatif_change *change,
		   struct whatif_prediction *prediction)
{
	const double slack = SLACK + fabs(calibrated->error);
	int r = whatif_predict_alone(calibrated, change, prediction);

	if (prediction->refused)
		return r;
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(sides); i++)
		r = widen(calibrated, &sides[i], change, prediction);
	prediction->low_ns *= 1 - slack;
	prediction->high_ns *= 1 + slack + SLACK_DOUBLED * doublings(calibrated, prediction);
	prediction->sure = prediction->high_ns < WHATIF_SURE * prediction->low_ns;
	return r;
}
