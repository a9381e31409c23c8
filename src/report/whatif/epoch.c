/* SPDX-License-Identifier: BSD-2-Clause */
/* See epoch.h. regions.out is read twice: to find the longest epoch, and to keep what is of it. */
#include "report/whatif/epoch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/scan/scan.h"
#include "report/whatif/loader.h"
#include "stats/table.h"

#define TRAINERS_MAX 4096U
#define MADE_MAX (4 * WHATIF_BATCHES_MAX)
#define SAVES_MAX 65536U

static const char too_few[] = "fewer than 20 batches of a DataLoader in an epoch";
static const char mixed[] = "the trainer iterates over several DataLoaders at once";
static const char several[] = "several trainers, which wait for each other, are not replayed yet";
static const char no_batches[] = "its batches have no regions: it is not a DataLoader of PyTorch";
static const char many_workers[] = "more than 256 workers";
static const char odd_workers[] = "batches of its workers are missing, or of workers that it has not";

enum region { START, FETCH, BATCH, SAVE, OTHER };

static enum region region_of(const struct scan *scan)
{
	static const struct {
		const char *cat, *name;
		enum region region;
	} regions[] = {
		{ "dataloader", "start", START },
		{ "dataloader", "fetch", FETCH },
		{ "data", "batch", BATCH },
		{ "checkpoint", "save", SAVE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(regions); i++)
		if (scan_is(scan, COL_CAT, regions[i].cat) && scan_is(scan, COL_NAME, regions[i].name))
			return regions[i].region;
	return OTHER;
}

static struct whatif_span span_of(const struct scan *scan)
{
	return (struct whatif_span){ scan->time_ns - MIN(scan_number(scan, COL_LAT_NS), scan->time_ns), scan->time_ns };
}

static bool is_end(const struct scan *scan)
{
	uint64_t end;

	return whatif_arg(scan_field(scan, COL_ARGS), "end", &end) && end == 1;
}

/* --- the longest ----------------------------------------------------------------------------------------------------
 */

/* The epoch of a thread that goes on, of which only these members are set. */
struct trainer {
	struct whatif_epoch now;
	bool ended, after_end; /* its end was fetched; and a batch after it */
};

struct finding {
	struct table trainers; /* by TID */
	struct whatif_epoch *best;
	bool best_mixed;
};

static void offer(struct finding *finding, const struct trainer *trainer)
{
	const struct whatif_epoch *now = &trainer->now;
	struct whatif_epoch *best = finding->best;
	const uint64_t ns = now->whole.end_ns - now->whole.begin_ns,
		       best_ns = best->whole.end_ns - best->whole.begin_ns;

	if (!now->batches || now->batches < best->batches || (now->batches == best->batches && ns <= best_ns))
		return;
	*best = *now;
	finding->best_mixed = trainer->after_end;
}

static void begin_epoch(struct trainer *trainer, const struct scan *scan)
{
	uint64_t number;

	*trainer = (struct trainer){ .now = {
					     .loader = whatif_loader_parse(scan_field(scan, COL_ARGS)),
					     .pid = scan_number(scan, COL_PID),
					     .tid = scan_number(scan, COL_TID),
					     .number = scan_u64(scan, COL_EPOCH, &number) && number <= INT64_MAX ?
							       (int64_t)number :
							       -1,
					     .start = span_of(scan),
					     .whole = span_of(scan),
				     } };
}

static bool find_take(struct scan *scan, void *own)
{
	struct finding *finding = own;
	const enum region region = region_of(scan);
	struct trainer *trainer;

	if (!scan_has_number(scan, COL_TID) || !scan_has_number(scan, COL_PID))
		return false;
	if (region != START && region != FETCH)
		return true;
	trainer = table_get(&finding->trainers, scan_number(scan, COL_TID));
	if (!trainer)
		return true;
	if (region == START) {
		offer(finding, trainer);
		begin_epoch(trainer, scan);
	} else if (trainer->now.whole.begin_ns) {
		trainer->after_end |= trainer->ended;
		trainer->ended |= is_end(scan);
		trainer->now.batches += !is_end(scan);
		trainer->now.whole.end_ns = scan->time_ns;
	}
	return true;
}

static int find(struct report *r, struct whatif_epoch *epoch, const char **why)
{
	struct finding finding = { .best = epoch };
	struct scan_taker taker = { .take = find_take, .own = &finding };

	table_init_pids(&finding.trainers, sizeof(struct trainer), TRAINERS_MAX);
	scan_walk_again(r->folder, "regions", &taker);
	for (uint32_t i = 0; i < finding.trainers.n; i++)
		offer(&finding, table_at(&finding.trainers, i));
	table_free(&finding.trainers);
	if (!epoch->batches)
		return -ENODATA;
	if (epoch->batches < WHATIF_BATCHES_LEAST)
		*why = too_few;
	else if (finding.best_mixed)
		*why = mixed;
	return *why ? -ENOTSUP : 0;
}

/* --- what is of it ---------------------------------------------------------------------------------------------------
 */

struct keeping {
	struct whatif_epoch *epoch;
	uint32_t n_fetches, n_made, fetches_room, made_room, saves_room;
	bool others, bad_end; /* another process fetches; a batch has no end */
	bool failed;
};

static bool keep_fetch(struct keeping *keeping, const struct scan *scan)
{
	struct whatif_epoch *epoch = keeping->epoch;
	const struct whatif_span span = span_of(scan);

	if (span.begin_ns < epoch->start.begin_ns || span.begin_ns > epoch->whole.end_ns)
		return true;
	if (scan_number(scan, COL_TID) != epoch->tid) {
		keeping->others = true;
		return true;
	}
	if (keeping->n_fetches > WHATIF_BATCHES_MAX)
		return true;
	if (util_room(&epoch->fetches, keeping->n_fetches, sizeof(*epoch->fetches)) < 0)
		return false;
	epoch->fetches[keeping->n_fetches++] = span;
	if (is_end(scan))
		epoch->last = span;
	return true;
}

static bool keep_batch(struct keeping *keeping, const struct scan *scan)
{
	struct whatif_epoch *epoch = keeping->epoch;
	uint64_t worker;
	const bool numbered = whatif_arg(scan_field(scan, COL_ARGS), "worker", &worker);

	if (scan->time_ns < epoch->start.begin_ns || scan->time_ns > epoch->whole.end_ns || is_end(scan) ||
	    keeping->n_made == MADE_MAX)
		return true;
	if (util_room(&epoch->made, keeping->n_made, sizeof(*epoch->made)) < 0)
		return false;
	epoch->made[keeping->n_made++] = (struct whatif_made){
		.span = span_of(scan),
		.pid = scan_number(scan, COL_PID),
		.tid = scan_number(scan, COL_TID),
		.worker = numbered ? (uint32_t)MIN(worker, UINT32_MAX) : UINT32_MAX,
	};
	return true;
}

static bool keep_save(struct keeping *keeping, const struct scan *scan)
{
	struct whatif_epoch *epoch = keeping->epoch;
	const struct whatif_span span = span_of(scan);

	if (scan_number(scan, COL_TID) != epoch->tid || span.end_ns < epoch->start.begin_ns ||
	    span.begin_ns > epoch->whole.end_ns || epoch->n_saves == SAVES_MAX)
		return true;
	/* rows come in the order of their ends: one that begins before others have ended holds these */
	while (epoch->n_saves && epoch->saves[epoch->n_saves - 1].end_ns > span.begin_ns)
		epoch->n_saves--;
	if (util_room(&epoch->saves, epoch->n_saves, sizeof(*epoch->saves)) < 0)
		return false;
	epoch->saves[epoch->n_saves++] = span;
	return true;
}

static bool keep_take(struct scan *scan, void *own)
{
	struct keeping *keeping = own;
	bool kept = true;

	if (!scan_has_number(scan, COL_TID) || !scan_has_number(scan, COL_PID))
		return false;
	switch (region_of(scan)) {
	case FETCH:
		kept = keep_fetch(keeping, scan);
		break;
	case BATCH:
		kept = keep_batch(keeping, scan);
		break;
	case SAVE:
		kept = keep_save(keeping, scan);
		break;
	default:
		break;
	}
	keeping->failed |= !kept;
	return true;
}

/* --- the order of the batches ------------------------------------------------------------------------------------- */

static int by_worker(const void *a, const void *b)
{
	const struct whatif_made *x = a, *y = b;

	if (x->worker != y->worker)
		return x->worker < y->worker ? -1 : 1;
	return (x->span.begin_ns > y->span.begin_ns) - (x->span.begin_ns < y->span.begin_ns);
}

static int by_begin(const void *a, const void *b)
{
	const struct whatif_made *x = a, *y = b;

	return (x->span.begin_ns > y->span.begin_ns) - (x->span.begin_ns < y->span.begin_ns);
}

/*
 * Puts the N batches that were taken first to the front: in turn of each worker the next one, as PyTorch deals them.
 * Returns false when workers have no batch while others have, which are not of this loader then.
 */
static bool deal(struct whatif_epoch *epoch, uint32_t n_made)
{
	const uint32_t workers = epoch->loader.workers;
	autofree uint32_t *at = calloc(workers + 1, sizeof(*at)), *end = calloc(workers + 1, sizeof(*end));
	autofree struct whatif_made *dealt = calloc(epoch->n, sizeof(*dealt));
	uint32_t n = 0, idle = 0;

	if (!at || !end || !dealt)
		return false;
	qsort(epoch->made, n_made, sizeof(*epoch->made), by_worker);
	for (uint32_t w = 0, i = 0; w < workers; w++) {
		at[w] = i;
		while (i < n_made && epoch->made[i].worker == w)
			i++;
		end[w] = i;
	}
	for (uint32_t w = 0; n < epoch->n && idle < workers; w = (w + 1) % workers) {
		idle = at[w] < end[w] ? 0 : idle + 1;
		if (at[w] < end[w])
			dealt[n++] = epoch->made[at[w]++];
		else if (!epoch->loader.iterable)
			return false;
	}
	if (n < epoch->n)
		return false;
	memcpy(epoch->made, dealt, n * sizeof(*dealt));
	return true;
}

/* Whether each worker is one thread: with several loaders at once, or one after the other, it would be several. */
static bool are_threads(const struct whatif_epoch *epoch, uint32_t n_made)
{
	uint64_t tid[WHATIF_WORKERS_MAX] = { 0 };

	for (uint32_t i = 0; i < n_made; i++) {
		const struct whatif_made *made = &epoch->made[i];

		if (tid[made->worker] && tid[made->worker] != made->tid)
			return false;
		tid[made->worker] = made->tid;
	}
	return true;
}

static const char *order_of_workers(struct whatif_epoch *epoch, uint32_t n_made)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < n_made; i++)
		most = MAX(most, epoch->made[i].worker == UINT32_MAX ? UINT32_MAX : epoch->made[i].worker + 1);
	if (!epoch->loader.known)
		epoch->loader.workers = most;
	if (most > epoch->loader.workers)
		return odd_workers;
	if (epoch->loader.workers > WHATIF_WORKERS_MAX)
		return many_workers;
	if (!are_threads(epoch, n_made))
		return mixed;
	if (!epoch->loader.in_order && !epoch->loader.iterable)
		qsort(epoch->made, n_made, sizeof(*epoch->made), by_begin);
	else if (!deal(epoch, n_made))
		return odd_workers;
	return NULL;
}

/* Without workers the trainer makes each batch itself, while it fetches it. */
static const char *order_of_trainer(struct whatif_epoch *epoch, uint32_t n_made)
{
	qsort(epoch->made, n_made, sizeof(*epoch->made), by_begin);
	for (uint32_t i = 0; i < epoch->n; i++) {
		const struct whatif_span *made = &epoch->made[i].span, *fetch = &epoch->fetches[i];

		if (epoch->made[i].tid != epoch->tid || made->begin_ns < fetch->begin_ns ||
		    made->end_ns > fetch->end_ns)
			return mixed;
	}
	return NULL;
}

static const char *settle(struct whatif_epoch *epoch, const struct keeping *keeping)
{
	bool own = keeping->n_made > 0;

	if (keeping->n_fetches <= WHATIF_BATCHES_LEAST)
		return too_few;
	epoch->n = keeping->n_fetches - 1;
	epoch->until_ns = epoch->fetches[epoch->n].begin_ns;
	if (epoch->last.begin_ns && epoch->last.begin_ns != epoch->until_ns)
		return mixed;
	if (keeping->others)
		return several;
	for (uint32_t i = 0; i < keeping->n_made; i++)
		own &= epoch->made[i].worker == UINT32_MAX;
	if (keeping->n_made < epoch->n)
		return keeping->n_made ? odd_workers : no_batches;
	epoch->assumed = !epoch->loader.known;
	if (own)
		epoch->loader.workers = 0;
	if (!epoch->loader.prefetch && !own)
		return odd_workers;
	return own ? order_of_trainer(epoch, keeping->n_made) : order_of_workers(epoch, keeping->n_made);
}

int whatif_epoch_find(struct report *r, struct whatif_epoch *epoch, const char **why)
{
	struct keeping keeping = { .epoch = epoch };
	struct scan_taker taker = { .take = keep_take, .own = &keeping };
	int res;

	*epoch = (struct whatif_epoch){ .number = -1 };
	*why = NULL;
	res = find(r, epoch, why);
	if (res < 0)
		return res;
	scan_walk_again(r->folder, "regions", &taker);
	if (keeping.failed)
		return -ENOMEM;
	*why = settle(epoch, &keeping);
	return *why ? -ENOTSUP : 0;
}

void whatif_epoch_free(struct whatif_epoch *epoch)
{
	free(epoch->fetches);
	free(epoch->made);
	free(epoch->saves);
	*epoch = (struct whatif_epoch){ .number = -1 };
}
