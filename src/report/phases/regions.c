/* SPDX-License-Identifier: BSD-2-Clause */
/* See regions.h. */
#include "report/phases/regions.h"

#include <fcntl.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/phases/collected.h"
#include "report/phases/pfw.h"
#include "report/phases/read_impl.h"
#include "stats/table.h"
#include "trace/reader.h"

#define PROCESSES_MAX 65536
#define EPOCHS_MAX 65536

/* CAT and NAME of the regions that are phases, and the phase's name, which has its kind. */
static const struct {
	const char *cat, *name, *phase;
} known[] = {
	{ "pipeline", "epoch", "epoch" },         { "pipeline", "train", "training" },
	{ "pipeline", "evaluate", "evaluation" }, { "pipeline", "test", "evaluation" },
	{ "checkpoint", "save", "checkpoint" },   { "checkpoint", "load", "load" },
};

/* Regions that are within an epoch, whose number they may have. */
static const char *const within[] = { "compute", "data", "dataloader", "comm", "device" };

struct epoch {
	bool any;
	int64_t number;
	uint64_t begin_ns, end_ns;
};

struct regions_read {
	struct phase_reader *r;
	struct table ranks; /* 1 + ordinal, by process */
	struct table epochs; /* struct epoch, by number */
	unsigned int ts, pid, tid, cat, name, lat, ret, epoch, step, bytes, lane, args;
	bool has_epochs; /* as regions */
	uint64_t bad_rows, ended; /* processes that marked no more from some time on */
};

/* Returns an ordinal for the process as its rank, so that the epochs of several ranks are joined; -1: there is no room.
 */
static int64_t rank_of(struct regions_read *x, uint64_t pid)
{
	uint32_t *ordinal = table_get(&x->ranks, pid + 1);

	if (!ordinal)
		return -1;
	if (!*ordinal)
		*ordinal = x->ranks.n;
	return *ordinal - 1;
}

static void put_phase(struct regions_read *x, const char *name, const struct phase *phase)
{
	struct phases *p = x->r->phases;
	struct phase named = *phase;

	named.name = phases_name(p, PHASE_REGIONS, name, strlen(name));
	named.ranks = 1;
	if (named.name == PHASES_NONE || !phases_put(&p->recorded, &named))
		p->left_out++;
	x->r->entries++;
}

static void epoch_of_row(struct regions_read *read, int64_t number, uint64_t begin_ns, uint64_t end_ns)
{
	struct epoch *e = table_get(&read->epochs, (uint64_t)number + 1);

	if (!e) {
		read->r->phases->left_out++;
		return;
	}
	e->begin_ns = e->any ? MIN(e->begin_ns, begin_ns) : begin_ns;
	e->end_ns = e->any ? MAX(e->end_ns, end_ns) : end_ns;
	e->number = number;
	e->any = true;
}

/* Returns the number in COLUMN; -1: there is none. */
static int64_t number_of(const struct reader_row *row, unsigned int column)
{
	uint64_t n;

	return reader_u64(reader_field(row, column), &n) && n <= INT64_MAX ? (int64_t)n : -1;
}

/* Returns the number that ARGS have behind KEY ("samples="): pairs with the newlines between them escaped; -1: none. */
static int64_t number_in(struct reader_field args, const char *key)
{
	static const char newline[] = "\\012";
	const size_t key_len = strlen(key), newline_len = sizeof(newline) - 1;
	uint64_t n;

	while (args.len) {
		const char *end = memmem(args.p, args.len, newline, newline_len);
		size_t len = end ? (size_t)(end - args.p) : args.len, whole = MIN(len + newline_len, args.len);

		if (len > key_len && !memcmp(args.p, key, key_len) &&
		    reader_u64((struct reader_field){ args.p + key_len, len - key_len }, &n) && n <= INT64_MAX)
			return (int64_t)n;
		args.p += whole;
		args.len -= whole;
	}
	return -1;
}

/* What is no region: an instant, a fact. */
static bool is_point(struct reader_field cat)
{
	return reader_is(cat, "mark") || reader_is(cat, "meta");
}

static void take_sums(struct phases *phases, const struct step_region *region)
{
	region_sums_take(&phases->region_sums, region);
	region_layers_take(&phases->layers, region, phase_steps_part(&phases->steps, region));
}

/* Takes a region. UNFINISHED: it has not ended. */
static void take_region(struct regions_read *read, const struct step_region *region, bool unfinished)
{
	const struct reader_field cat = { region->cat, region->cat_len }, name = { region->name, region->name_len };

	phase_steps_take(&read->r->phases->steps, region);
	if (!is_point(cat))
		take_sums(read->r->phases, region);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (!reader_is(cat, known[i].cat) || !reader_is(name, known[i].name))
			continue;
		read->has_epochs |= i == 0;
		put_phase(read, known[i].phase,
			  &(struct phase){
				  .begin_ns = region->begin_ns,
				  .end_ns = region->end_ns,
				  .rank = rank_of(read, region->pid),
				  .number = region->epoch,
				  .unfinished = unfinished,
			  });
		return;
	}
	for (size_t i = 0; region->epoch >= 0 && i < ARRAY_SIZE(within); i++)
		if (reader_is(cat, within[i])) {
			epoch_of_row(read, region->epoch, region->begin_ns, region->end_ns);
			break;
		}
}

static bool take(struct regions_read *read, const struct reader_row *row)
{
	struct reader_field cat = reader_field(row, read->cat), name = reader_field(row, read->name);
	struct reader_field args = reader_field(row, read->args);
	int64_t bytes = number_of(row, read->bytes);
	uint64_t end_ns, lat_ns, pid, tid;

	if (!reader_u64(reader_field(row, read->ts), &end_ns) || !reader_u64(reader_field(row, read->lat), &lat_ns) ||
	    !reader_u64(reader_field(row, read->pid), &pid) || !reader_u64(reader_field(row, read->tid), &tid) ||
	    lat_ns > end_ns)
		return false;
	read->ended += reader_is(cat, "meta") && reader_is(name, "dltraced.regions");
	if (reader_is(cat, "meta") && reader_is(name, "DFTRACER_DATA_DIR"))
		data_dirs_add(&read->r->phases->data_dirs, args.p, args.len);
	take_region(read,
		    &(const struct step_region){
			    .cat = cat.p,
			    .cat_len = (uint32_t)cat.len,
			    .name = name.p,
			    .name_len = (uint32_t)name.len,
			    .pid = pid,
			    .tid = tid,
			    .begin_ns = end_ns - lat_ns,
			    .end_ns = end_ns,
			    .epoch = number_of(row, read->epoch),
			    .number = number_of(row, read->step),
			    .samples = (uint64_t)MAX(number_in(args, "samples="), 0),
			    .lane = (uint64_t)(number_of(row, read->lane) + 1),
			    /* DFTracer's programs say it so */
			    .bytes = bytes < 0 ? number_in(args, "image_size=") : bytes,
		    },
		    reader_is(reader_field(row, read->ret), "?"));
	return true;
}

static void put_epochs(struct regions_read *x)
{
	for (uint32_t i = 0; i < x->epochs.n; i++) {
		const struct epoch *e = table_at(&x->epochs, i);

		put_phase(x, "epoch",
			  &(struct phase){
				  .begin_ns = e->begin_ns, .end_ns = e->end_ns, .rank = -1, .number = e->number });
	}
}

/* Removes the rank from the phases, from FIRST on, where only one process has regions. */
static void drop_single_rank(struct regions_read *x, uint32_t first)
{
	struct phase_list *l = &x->r->phases->recorded;

	for (uint32_t i = first; x->ranks.n == 1 && i < l->n; i++)
		l->v[i].rank = -1;
}

static void read_rows(struct regions_read *read, int dirfd)
{
	struct phase_reader *reader = read->r;
	struct reader rd;
	struct reader_row row;
	int got = reader_open(&rd, dirfd, "regions.out");

	if (got < 0)
		return;
	window_read(reader->window, &rd);
	read->ts = reader_column(&rd, "TIMESTAMP");
	read->pid = reader_column(&rd, "PID");
	read->tid = reader_column(&rd, "TID");
	read->cat = reader_column(&rd, "CAT");
	read->name = reader_column(&rd, "NAME");
	read->lat = reader_column(&rd, "LAT_NS");
	read->ret = reader_column(&rd, "RET");
	read->epoch = reader_column(&rd, "EPOCH");
	read->step = reader_column(&rd, "STEP");
	read->bytes = reader_column(&rd, "BYTES");
	read->lane = reader_column(&rd, "LANE");
	read->args = reader_column(&rd, "ARGS");
	while ((got = reader_next(&rd, &row)) > 0)
		read->bad_rows += !take(read, &row);
	if (rd.bad_rows + read->bad_rows)
		phase_note(reader, "regions.out: %s left out",
			   FMT_N(rd.bad_rows + read->bad_rows, "row could not be read and is",
				 "rows could not be read and are"));
	if (read->ended)
		phase_note(
			reader,
			"regions.out: of %s only the first regions are there, as its steps take a few ms and marking "
			"them would cost time (--regions auto marks all)",
			FMT_N(read->ended, "process", "processes"));
	if (rd.cut)
		phase_note(reader, "regions.out: the last row is cut off and is left out");
	reader_close(&rd);
}

static void take_joined(void *ctx, const struct step_region *r)
{
	take_region(ctx, r, false);
}

/* The .pfw files of one trace. */
struct joined {
	struct pfw pfw;
	struct phase_reader *r;
	int dirfd; /* of the trace */
	bool begun;
};

static void read_pfw(struct joined *j, int dirfd, const char *name, int flags, const char *path)
{
	if (!j->begun)
		pfw_begin(&j->pfw, j->dirfd);
	j->begun = true;
	pfw_read(&j->pfw, j->r, util_open_regular(dirfd, name, flags), path);
}

static void take_collected(void *ctx, int dirfd, const char *name, const char *path)
{
	if (pfw_is(name))
		read_pfw(ctx, dirfd, name, O_NOFOLLOW, path);
}

/* Joins the .pfw files that the user names; without any, those in collected/. Not where the job's regions show its
 * steps. */
static void read_joined(struct regions_read *read, int dirfd)
{
	const struct phases_options *options = read->r->options;
	struct joined j = { .r = read->r, .dirfd = dirfd };
	const bool has_steps = phase_steps_any(&read->r->phases->steps);
	unsigned int named = 0;

	for (unsigned int i = 0; i < options->n_logs; i++) {
		if (!pfw_is(options->logs[i]))
			continue;
		named++;
		if (has_steps)
			phase_note(read->r, "%s: it is left out, as regions.out has the job's steps", options->logs[i]);
		else
			read_pfw(&j, AT_FDCWD, options->logs[i], 0, options->logs[i]);
	}
	if (!named && !has_steps) {
		collected_each(dirfd, take_collected, &j);
		pfw_leave_out_doubtful(&j.pfw, read->r);
	}
	pfw_end(&j.pfw, take_joined, read);
	pfw_free(&j.pfw);
}

void phase_regions_read(struct phase_reader *reader, int dirfd)
{
	struct regions_read x = { .r = reader };
	uint32_t first = reader->phases->recorded.n;

	reader->phases->steps.names = reader->options->steps;
	reader->phases->steps.n_names = reader->options->n_steps;
	table_init(&x.ranks, sizeof(uint32_t), PROCESSES_MAX);
	table_init(&x.epochs, sizeof(struct epoch), EPOCHS_MAX);
	read_rows(&x, dirfd);
	read_joined(&x, dirfd);
	phase_steps_end(&reader->phases->steps);
	if (reader->options->n_steps && !reader->phases->steps.named)
		phase_note(reader, "--step %s: no region has such a name, so no step is known",
			   reader->options->steps[0]);
	region_sums_end(&reader->phases->region_sums);
	region_layers_regions_end(&reader->phases->layers);
	if (reader->phases->region_sums.left_out)
		phase_note(reader, "regions: the table of them has the first %u names and leaves out %s",
			   REGION_SUMS_MAX,
			   FMT_N(reader->phases->region_sums.left_out, "region of others", "regions of others"));
	if (!x.has_epochs)
		put_epochs(&x);
	drop_single_rank(&x, first);
	table_free(&x.ranks);
	table_free(&x.epochs);
}
