/* SPDX-License-Identifier: BSD-2-Clause */
/* See change.h. */
#include "report/whatif/change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/util.h"

#define SEEN_TIMES 4U /* workers beyond so many times those that the trace has are not predicted */
#define MATTERS 0.03 /* of the loaders' time: less shows nothing of a storage that is slower */
#define FACTOR_MOST 1000.0
#define CACHE_BYTES_PER_NS 4.0 /* a copy from the page cache, in place of a read */

enum value { FACTOR, COUNT, TIME, WORD };

struct whatif_key {
	const char *name, *form, *help;
	enum value value;
	const char *words[2]; /* of WORD; the first is 0, the other 1; NULL: the name alone */
	void (*apply)(struct whatif_model *model, double value, const struct whatif_base *base);
	const char *(*refused)(double value, const struct whatif_base *base); /* NULL: never */
};

/* --- what changes do ---------------------------------------------------------------------------------------------- */

static void apply_storage(struct whatif_model *model, double value, const struct whatif_base *base)
{
	model->storage.rate *= value;
	model->storage.depth *= value;
	model->storage.fast *= value;
	model->storage.most *= value;
	for (uint32_t i = 0; i < model->n; i++) {
		model->batches[i].disk_ns /= value;
		model->batches[i].remote_ns /= value;
	}
}

static void apply_latency(struct whatif_model *model, double value, const struct whatif_base *base)
{
	model->storage.kind = WHATIF_LATENCY;
	for (uint32_t i = 0; i < model->n; i++) {
		struct whatif_batch *batch = &model->batches[i];

		batch->disk_ns = batch->reads * value;
		batch->net_ns = batch->requests * value;
		batch->remote_ns = 0;
	}
}

static void apply_cached(struct whatif_model *model, double value, const struct whatif_base *base)
{
	for (uint32_t i = 0; i < model->n; i++) {
		struct whatif_batch *batch = &model->batches[i];

		batch->cpu_ns += model->storage.served ? 0 : batch->disk_bytes / CACHE_BYTES_PER_NS;
		batch->disk_ns = batch->disk_bytes = batch->remote_ns = 0;
	}
}

static void apply_ready(struct whatif_model *model, double value, const struct whatif_base *base)
{
	for (uint32_t i = 0; i < model->n; i++)
		model->batches[i] = (struct whatif_batch){ .worker = model->batches[i].worker };
	model->boot_ns = model->fork_ns = model->gap_ns = model->last_ns = 0;
}

static void apply_workers(struct whatif_model *model, double value, const struct whatif_base *base)
{
	const uint32_t before = model->loader.workers;

	model->loader.workers = (uint32_t)value;
	if (before)
		model->last_ns *= value / before;
}

static void apply_prefetch(struct whatif_model *model, double value, const struct whatif_base *base)
{
	model->loader.prefetch = (uint32_t)value;
}

static void apply_decode(struct whatif_model *model, double value, const struct whatif_base *base)
{
	for (uint32_t i = 0; i < model->n; i++)
		model->batches[i].cpu_ns /= value;
}

static void apply_checkpoint(struct whatif_model *model, double value, const struct whatif_base *base)
{
	model->async_saves = value == 0;
	for (uint32_t i = 0; value > 0 && i < model->n; i++)
		model->steps[i].save_cpu_ns = model->steps[i].save_wait_ns = model->steps[i].save_bytes = 0;
}

static void apply_cpus(struct whatif_model *model, double value, const struct whatif_base *base)
{
	model->cpus = base->quota ? MIN(value, model->cpus) : value;
}

static void apply_quota(struct whatif_model *model, double value, const struct whatif_base *base)
{
	model->cpus = base->cpus;
}

/* --- when an epoch does not show it --------------------------------------------------------------------------------
 */

static bool waits_for_storage(const struct whatif_base *base)
{
	return base->facts.storage_ns > MATTERS * base->facts.work_ns;
}

static const char *storage_refused(double value, const struct whatif_base *base)
{
	if (base->helpers)
		return "threads of the workers' own read the data, whose waits the replay does not know";
	if (value < 1 && !waits_for_storage(base))
		return "hardly anything waited for storage, so the trace does not show how slow a slower one is";
	return NULL;
}

static const char *latency_refused(double value, const struct whatif_base *base)
{
	if (base->helpers)
		return storage_refused(1, base);
	if (!waits_for_storage(base) && base->facts.net_ns <= MATTERS * base->facts.work_ns)
		return "hardly anything waited for storage or peers, so the trace does not show how many requests "
		       "there are";
	return NULL;
}

static const char *cached_refused(double value, const struct whatif_base *base)
{
	return storage_refused(1, base);
}

static const char *workers_refused(double value, const struct whatif_base *base)
{
	const uint32_t seen = base->model.loader.workers;

	if (base->model.loader.iterable)
		return "an iterable data set deals its samples to its workers itself, and the trace does not show how";
	if (value > SEEN_TIMES * MAX(1U, seen))
		return "more than four times the workers of the trace";
	if (value < seen && base->cpus_full)
		return "the CPUs were full: how much of the workers' time was a wait for each other is not certain "
		       "enough";
	return NULL;
}

static const char *prefetch_refused(double value, const struct whatif_base *base)
{
	return base->model.loader.workers ? NULL : "without workers nothing is made ahead";
}

static const char *checkpoint_refused(double value, const struct whatif_base *base)
{
	return base->facts.save_ns > 0 ? NULL : "no checkpoint in this epoch";
}

static const char *quota_refused(double value, const struct whatif_base *base)
{
	return base->quota ? NULL : "no CPU quota of its cgroup was used up";
}

static const struct whatif_key keys[] = {
	{ "cached", "cached", "all data in the page cache", WORD, { NULL }, apply_cached, cached_refused },
	{ "checkpoint",
	  "checkpoint=async|none",
	  "checkpoints copied, then written while training goes on; a save waits for the one before",
	  WORD,
	  { "async", "none" },
	  apply_checkpoint,
	  checkpoint_refused },
	{ "cpus", "cpus=N", "N CPUs for the job", COUNT, { NULL }, apply_cpus, NULL },
	{ "decode", "decode=Kx", "the loaders' CPU time K times as short", FACTOR, { NULL }, apply_decode, NULL },
	{ "latency",
	  "latency=T",
	  "each read that waited, and each request to a peer, takes T (2ms, 500us)",
	  TIME,
	  { NULL },
	  apply_latency,
	  latency_refused },
	{ "prefetch", "prefetch=N", "prefetch_factor", COUNT, { NULL }, apply_prefetch, prefetch_refused },
	{ "quota",
	  "quota=none",
	  "without the CPU quota of its cgroup",
	  WORD,
	  { "none", NULL },
	  apply_quota,
	  quota_refused },
	{ "ready", "ready", "each batch is there when it is fetched", WORD, { NULL }, apply_ready, NULL },
	{ "storage",
	  "storage=Kx",
	  "disks and file servers K times as fast",
	  FACTOR,
	  { NULL },
	  apply_storage,
	  storage_refused },
	{ "workers", "workers=N", "num_workers", COUNT, { NULL }, apply_workers, workers_refused },
};

/* --- parsing --------------------------------------------------------------------------------------------------------
 */

static bool parse_factor(const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	if (end == text || (*end && strcmp(end, "x") != 0))
		return false;
	return *value >= 1 / FACTOR_MOST && *value <= FACTOR_MOST;
}

static bool parse_count(const struct whatif_key *key, const char *text, double *value)
{
	const bool may_be_none = key->apply == apply_workers;
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	*value = (double)n;
	return end != text && !*end && !errno && n >= (may_be_none ? 0 : 1) && n <= (long)WHATIF_WORKERS_MAX;
}

/* T has a unit: "2" might be meant as milliseconds. */
static bool parse_time(const char *text, double *value)
{
	uint64_t ns = 0;
	const size_t len = strlen(text);
	double us;
	char *end;

	us = strtod(text, &end);
	if (end != text && strcmp(end, "us") == 0) {
		*value = us * 1000;
		return us >= 0 && us <= 1e9;
	}
	if (!len || text[len - 1] != 's' || units_parse_time(text, &ns) < 0)
		return false;
	*value = (double)ns;
	return true;
}

static bool parse_word(const struct whatif_key *key, const char *text, double *value)
{
	*value = 0;
	if (!key->words[0])
		return !text;
	for (size_t i = 0; text && i < ARRAY_SIZE(key->words); i++)
		if (key->words[i] && strcmp(text, key->words[i]) == 0) {
			*value = (double)i;
			return true;
		}
	return false;
}

static bool parse_value(const struct whatif_key *key, const char *text, double *value)
{
	if (key->value == WORD)
		return parse_word(key, text, value);
	if (!text)
		return false;
	if (key->value == FACTOR)
		return parse_factor(text, value);
	return key->value == TIME ? parse_time(text, value) : parse_count(key, text, value);
}

static const struct whatif_key *key_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strcmp(name, keys[i].name) == 0)
			return &keys[i];
	return NULL;
}

static const char *list_keys(char *why, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys) && len < size; i++)
		len += (size_t)snprintf(why + len, size - len, "%s%s", i ? ", " : "the changes are ", keys[i].form);
	return why;
}

const char *whatif_change_parse(struct whatif_change *change, const char *text, char *why, size_t size)
{
	char copy[WHATIF_TEXT_MAX], *rest = copy;

	*change = (struct whatif_change){ .n = 0 };
	if (strlen(text) >= sizeof(copy))
		return "too long";
	strcpy(copy, text);
	strcpy(change->text, text);
	for (char *part; (part = strsep(&rest, ","));) {
		char *value = strchr(part, '=');
		const struct whatif_key *key;

		if (value)
			*value++ = '\0';
		key = key_of(part);
		if (!key)
			return list_keys(why, size);
		for (unsigned int i = 0; i < change->n; i++)
			if (change->items[i].key == key)
				return "a change is given twice";
		if (change->n == WHATIF_CHANGES_MAX)
			return "too many changes at once";
		if (!parse_value(key, value, &change->items[change->n].value)) {
			snprintf(why, size, "%s: %s", key->form, key->help);
			return why;
		}
		change->items[change->n++].key = key;
	}
	return NULL;
}

/* --- changes --------------------------------------------------------------------------------------------------------
 */

const char *whatif_change_refused(const struct whatif_change *change, const struct whatif_base *base)
{
	for (unsigned int i = 0; i < change->n; i++) {
		const struct whatif_key *key = change->items[i].key;
		const char *why = key->refused ? key->refused(change->items[i].value, base) : NULL;

		if (why)
			return why;
	}
	return NULL;
}

void whatif_change_apply(const struct whatif_change *change, struct whatif_model *model, const struct whatif_base *base)
{
	for (unsigned int i = 0; i < change->n; i++)
		change->items[i].key->apply(model, change->items[i].value, base);
}
