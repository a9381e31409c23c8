/* SPDX-License-Identifier: BSD-2-Clause */
/* What an epoch would take with changes, as JSON: docs/report-json.md has the names. */
#include "base/json.h"
#include "report/scan/model.h"
#include "report/show/json.h"
#include "report/whatif/whatif.h"

static const char *const storage_names[] = {
	[WHATIF_NO_STORAGE] = "none",
	[WHATIF_LATENCY] = "latency",
	[WHATIF_LIMIT] = "limit",
};

static void put_prediction(struct json *json, const char *key, const struct whatif_prediction *prediction)
{
	json_object(json, key);
	json_str(json, "change", prediction->change);
	json_u64_known(json, "ns", prediction->sure, (uint64_t)prediction->ns);
	json_u64(json, "low_ns", (uint64_t)prediction->low_ns);
	json_u64(json, "high_ns", (uint64_t)prediction->high_ns);
	json_str(json, "limited_by", prediction->limited_by);
	json_end(json);
}

static void put_model(struct json *json, const struct report_whatif *whatif)
{
	const struct whatif_model *model = &whatif->calibrated.base.model;

	json_object(json, "model");
	json_u64(json, "workers", model->loader.workers);
	json_u64(json, "prefetch", model->loader.prefetch);
	json_bool(json, "assumed", whatif->epoch.assumed);
	json_bool(json, "in_order", model->loader.in_order);
	json_bool(json, "iterable", model->loader.iterable);
	json_str(json, "storage", storage_names[model->storage.kind]);
	if (model->storage.kind == WHATIF_LIMIT)
		json_u64(json, "bytes_per_s", (uint64_t)(model->storage.rate * 1e9));
	json_f64(json, "cpus", model->cpus);
	json_f64(json, "stretch", model->stretch);
	json_bool(json, "quota", whatif->calibrated.base.quota);
	json_end(json);
}

void report_what_if_json(const void *of, struct json *json)
{
	const struct report_whatif *whatif = ((const struct report *)of)->whatif;

	if (!whatif || !whatif->present) {
		json_null(json, "what_if");
		return;
	}
	json_object(json, "what_if");
	json_str(json, "refused", whatif->refused);
	json_u64(json, "batches", whatif->epoch.batches);
	json_u64_known(json, "epoch", whatif->epoch.number >= 0, (uint64_t)whatif->epoch.number);
	if (!whatif->refused) {
		json_u64(json, "measured_ns", (uint64_t)whatif->calibrated.whole_ns);
		json_f64(json, "error", whatif->base_error);
		put_model(json, whatif);
		put_prediction(json, "ready", &whatif->ready);
		if (whatif->workers.change[0])
			put_prediction(json, "workers", &whatif->workers);
		json_bool(json, "enough", whatif->enough);
		if (whatif->any_helps)
			put_prediction(json, "helps", &whatif->helps);
	}
	json_end(json);
}
