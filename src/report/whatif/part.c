/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of a report: gathers what the epoch is made of while rows are read, then predicts. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/scan/part.h"
#include "report/whatif/advice.h"
#include "report/whatif/whatif.h"

#define HELPERS_MOST 0.2 /* of the waits for storage: those of threads of the workers' own */

static const char no_sched[] = "no sched.out: what is CPU time and what is a wait is not known";
static const char no_waits[] = "no waits.out: how long each batch waited is not known";
static const char no_manifest[] = "no manifest.json: CPUs and lost rows are not known";
static const char is_part[] = "only a part of the trace is looked at";
static const char is_rank[] = "a rank of several, which wait for each other: they are not replayed yet";
static const char no_memory[] = "not enough memory";
static const char no_end[] = "its regions do not fit together: the replay comes to no end";

static int part_new(struct report *r, const struct report_options *o)
{
	if (!o->what_if || o->path)
		return 0;
	r->whatif = calloc(1, sizeof(*r->whatif));
	if (!r->whatif)
		return -ENOMEM;
	r->whatif->wanted = o->what_if;
	return 0;
}

/* Returns why rows are missing that the replay needs; NULL: none are. */
static const char *losses(struct report_whatif *whatif, const struct manifest_facts *facts)
{
	static const char *const needed[] = { "regions", "vfs_rw", "fault", "open", "sched", "waits" };

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		const struct manifest_probe *probe = manifest_probe(facts, needed[i]);

		if (!probe || !(probe->lost + probe->dropped + probe->summed))
			continue;
		snprintf(whatif->because, sizeof(whatif->because), "%s.out lacks rows that were lost or dropped",
			 needed[i]);
		return whatif->because;
	}
	return NULL;
}

static const char *unfit(struct report *r)
{
	const struct manifest_facts *facts = &r->manifest;
	const struct report_proc *trainer = table_find(&r->procs, r->whatif->epoch.pid);

	if (!r->has_manifest)
		return no_manifest;
	if (facts->window.end_ns || facts->cut_begin_ns)
		return is_part;
	if (trainer && trainer->rank[0] && strcmp(trainer->rank, "-") != 0 && strcmp(trainer->rank, "0") != 0)
		return is_rank;
	return losses(r->whatif, facts);
}

static void part_begin(struct report *r)
{
	struct report_whatif *whatif = r->whatif;
	int res;

	if (!whatif)
		return;
	res = whatif_epoch_find(r, &whatif->epoch, &whatif->refused);
	whatif->present = whatif->epoch.batches > 0;
	if (res == 0)
		whatif->refused = unfit(r);
	if (res == 0 && !whatif->refused) {
		res = whatif_gather_begin(&whatif->gather, &whatif->epoch);
		whatif->gathering = res == 0;
	}
	if (res == -ENOMEM)
		whatif->refused = no_memory;
}

static void part_read(struct report *r)
{
	struct report_whatif *whatif = r->whatif;

	if (!whatif || !whatif->gathering)
		return;
	whatif->gathering = false;
	whatif_gather_end(&whatif->gather, r);
	if (whatif->gather.failed)
		whatif->refused = no_memory;
	else if (!whatif->gather.has_sched)
		whatif->refused = no_sched;
	else if (!whatif->gather.has_waits)
		whatif->refused = no_waits;
}

/* The replay of the base must take what was measured. */
static bool is_base(struct report_whatif *whatif)
{
	if (fabs(whatif->base_error) <= WHATIF_ERROR_MOST)
		return true;
	snprintf(whatif->because, sizeof(whatif->because),
		 "the epoch itself, replayed, takes %+.0f %% of its time: something is at work that the replay does "
		 "not know",
		 100 * whatif->base_error);
	whatif->refused = whatif->because;
	return false;
}

static int predict(struct report *r)
{
	struct report_whatif *whatif = r->whatif;
	struct whatif_calibrated *calibrated = &whatif->calibrated;
	struct whatif_base *base = &calibrated->base;
	const struct whatif_gather *gather = &whatif->gather;
	const struct manifest_facts *facts = &r->manifest;
	int res;

	base->cpus = (double)(facts->allowed.n_cpus ?: facts->cpus ?: 1);
	calibrated->fuse = r->uses_fuse;
	calibrated->whole_ns = (double)(whatif->epoch.whole.end_ns - whatif->epoch.whole.begin_ns);
	res = whatif_services(gather, base->cpus, &base->model, &base->facts);
	base->helpers = gather->aside_ns > HELPERS_MOST * (base->facts.storage_ns + gather->aside_ns);
	if (res == 0)
		res = whatif_calibrate(calibrated, gather->throttled_ns, gather->job_run_ns, gather->others_run_ns);
	whatif->base_error = calibrated->error;
	if (res < 0 || !is_base(whatif))
		return res;
	for (unsigned int i = 0; res == 0 && i < whatif->wanted->n; i++, whatif->n++)
		res = whatif_predict(calibrated, &whatif->wanted->change[i], &whatif->row[i]);
	return res < 0 ? res : whatif_advise(whatif);
}

static void part_settle(struct report *r)
{
	struct report_whatif *whatif = r->whatif;

	int res;

	if (!whatif || !whatif->present || whatif->refused)
		return;
	res = predict(r);
	if (res < 0)
		whatif->refused = res == -ENOMEM ? no_memory : no_end;
}

static void part_free(struct report *r)
{
	struct report_whatif *whatif = r->whatif;

	if (!whatif)
		return;
	free(whatif->calibrated.base.model.batches);
	free(whatif->calibrated.base.model.steps);
	whatif_gather_free(&whatif->gather);
	whatif_epoch_free(&whatif->epoch);
	free(whatif);
}

const struct report_part report_whatif_part = {
	.new = part_new,
	.begin = part_begin,
	.read = part_read,
	.settle = part_settle,
	.free = part_free,
};
