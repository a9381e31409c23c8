/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/files/datasets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/disk/faults.h"
#include "report/files/datasets_impl.h"
#include "report/scan/lookup.h"
#include "report/scan/part.h"
#include "stats/top.h"

const char *const report_dataset_kind_names[DATASET_KINDS + 1] = {
	[DATASET_DATA] = "data",         [DATASET_OUTPUT] = "output", [DATASET_SHM] = "shm",
	[DATASET_SOFTWARE] = "software", [DATASET_OTHERS] = "others",
};

static int part_new(struct report *r, const struct report_options *o)
{
	struct report_datasets *d = r->datasets = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	folders_init(&d->tree);
	table_init(&d->maps, sizeof(uint64_t), REPORT_FILES_MAX);
	return 0;
}

static void part_free(struct report *r)
{
	struct report_datasets *datasets = r->datasets;

	if (!datasets)
		return;
	for (unsigned int i = 0; i < datasets->n; i++)
		free(datasets->row[i].path);
	folders_free(&datasets->tree);
	table_free(&datasets->maps);
	free(datasets->where);
	free(datasets->times);
	free(datasets);
}

/* --- rows ------------------------------------------------------------------------------------------------ */

/* Returns ARRAY, which has *N entries of SIZE, grown to one entry for each file of REPORT; new ones are zero. NULL: no
 * memory. */
static void *grow(const struct report *report, void *array, uint32_t *n, size_t size)
{
	char *grown;

	if (report->files.n <= *n)
		return array;
	grown = reallocarray(array, report->files.room, size);
	if (!grown)
		return NULL;
	memset(grown + *n * size, 0, (report->files.room - *n) * size);
	*n = report->files.room;
	return grown;
}

static bool grow_where(const struct report *r, struct report_datasets *d)
{
	uint32_t *where = grow(r, d->where, &d->n_where, sizeof(*where));

	d->where = where ? where : d->where;
	return where;
}

static bool grow_times(const struct report *r, struct report_datasets *d)
{
	struct dataset_times *times = grow(r, d->times, &d->n_times, sizeof(*times));

	d->times = times ? times : d->times;
	return times;
}

static uint32_t place_of(const struct report *r, const struct report_file *f)
{
	return (uint32_t)(f - (const struct report_file *)r->files.values);
}

void report_datasets_file(struct report *r, const struct report_file *f, struct reader_field path)
{
	struct report_datasets *d = r->datasets;

	if (!grow_where(r, d))
		return;
	if (f->type == REPORT_DIR)
		d->where[place_of(r, f)] = folders_number(&d->tree, path);
	else if (f->type == REPORT_REG || f->type == REPORT_SHM || f->type == REPORT_BLK)
		d->where[place_of(r, f)] = folders_number_above(&d->tree, path);
}

void report_datasets_before(struct report *r, enum report_kind kind)
{
	struct report_datasets *d = r->datasets;

	if ((kind != REPORT_OPEN && kind != REPORT_VFS_RW) || !grow_times(r, d))
		return;
	for (uint32_t i = 0; i < r->files.n; i++)
		d->times[i].before_ns = ((const struct report_file *)table_at(&r->files, i))->time_ns;
}

void report_datasets_after(struct report *r, enum report_kind kind)
{
	struct report_datasets *d = r->datasets;

	if (kind != REPORT_OPEN || !grow_times(r, d))
		return;
	for (uint32_t i = 0; i < r->files.n; i++)
		d->times[i].open_ns =
			((const struct report_file *)table_at(&r->files, i))->time_ns - d->times[i].before_ns;
}

void report_datasets_map(struct report_datasets *d, uint64_t fid, uint64_t bytes)
{
	uint64_t *sum = table_get(&d->maps, fid);

	if (sum)
		*sum += bytes;
}

/* --- files ----------------------------------------------------------------------------------------------- */

/* The state while data sets are added up. */
struct adding {
	struct report *r;
	report_fetched_fn *fetched;
};

static uint64_t mapped(const struct report *r, uint32_t i)
{
	const uint64_t *bytes = table_find(&r->datasets->maps, table_key_at(&r->files, i));

	return bytes ? *bytes : 0;
}

static void add_file(const struct adding *adding, uint32_t i, const struct report_file *file,
		     uint64_t sum[DATASET_SUMS])
{
	const struct report_datasets *datasets = adding->r->datasets;
	const struct dataset_times *times = i < datasets->n_times ? &datasets->times[i] : &(struct dataset_times){ 0 };
	const uint64_t maps = mapped(adding->r, i);
	const struct report_fault_sum faults = report_faults_of(adding->r, table_key_at(&adding->r->files, i));

	sum[DATASET_OPENS] += file->opens;
	sum[DATASET_CALLS] += file->calls;
	sum[DATASET_READ] += file->read_bytes;
	sum[DATASET_WRITTEN] += file->write_bytes;
	sum[DATASET_MAPPED] += maps;
	sum[DATASET_TIME_NS] += file->time_ns;
	sum[DATASET_RW_NS] += file->time_ns - times->before_ns;
	sum[DATASET_OPEN_NS] += times->open_ns;
	sum[DATASET_FAULTS] += faults.n;
	sum[DATASET_FAULT_BYTES] += faults.bytes;
	sum[DATASET_FAULT_NS] += faults.ns;
	if (file->type == REPORT_DIR)
		return;
	sum[DATASET_FILES]++;
	sum[DATASET_SIZE] += MAX(file->size, file->read_bytes + file->write_bytes + maps);
	sum[DATASET_NETWORK_FILES] += file->medium == REPORT_NETWORK;
	sum[DATASET_MEMORY_FILES] += file->medium == REPORT_MEMORY;
	if (file->type != REPORT_REG || file->medium == REPORT_NETWORK)
		return;
	sum[DATASET_LOCAL] += file->read_bytes;
	sum[DATASET_DISK] += adding->fetched ? adding->fetched(adding->r, i) : 0;
}

/* Whether the only call on F was a close: its descriptor was inherited. */
static bool is_closed_only(const struct report_file *f)
{
	return f->type != REPORT_DIR && !f->users && !f->opens && !f->read_bytes && !f->write_bytes;
}

/* Sets *RET to the kind of file I, which is FILE. Returns false when the file counts in no row at all. */
static bool kind_of(const struct report *report, uint32_t i, const struct report_file *file, enum dataset_kind *ret)
{
	const uint32_t where = i < report->datasets->n_where ? report->datasets->where[i] : 0;

	*ret = DATASET_OTHERS;
	if (!file->calls || file->type == REPORT_MEMFD || !report_is_file((enum report_type)file->type))
		return false;
	if (!where || is_closed_only(file))
		return true;
	if (file->software)
		*ret = DATASET_SOFTWARE;
	else if (file->type == REPORT_SHM && !file->read_bytes)
		*ret = DATASET_SHM;
	else if (file->write_bytes && !file->read_bytes && !mapped(report, i))
		*ret = DATASET_OUTPUT;
	else
		*ret = DATASET_DATA;
	return true;
}

/* --- data sets ------------------------------------------------------------------------------------------- */

static void file_sums(void *own, uint32_t i, uint64_t sum[DATASET_SUMS])
{
	const struct adding *a = own;

	add_file(a, i, table_at(&a->r->files, i), sum);
}

static uint64_t waited(const uint64_t sum[DATASET_SUMS])
{
	return sum[DATASET_TIME_NS] + sum[DATASET_FAULT_NS];
}

static void take(void *own, enum dataset_kind kind, uint32_t folder, uint32_t file, const uint64_t sum[DATASET_SUMS])
{
	const struct adding *a = own;
	struct report_datasets *d = a->r->datasets;
	struct dataset *at = TOP_PLACE(d->row, d->n, DATASETS_MAX - 1, e, waited(e->sum), waited(sum));

	if (!at)
		return;
	*at = (struct dataset){ .kind = kind, .folder = folder, .file = file, .knows_disk = a->fetched };
	memcpy(at->sum, sum, sizeof(at->sum));
}

static void put_in_folder(const struct adding *adding, struct gather_folder *to, uint32_t i,
			  const struct report_file *file)
{
	const uint64_t size = to->below[DATASET_SIZE];
	uint64_t bytes;

	add_file(adding, i, file, to->below);
	if (file->type == REPORT_DIR)
		return;
	bytes = to->below[DATASET_SIZE] - size;
	to->own_files++;
	to->own_bytes += bytes;
	if (to->largest && bytes <= to->largest_bytes) {
		to->other = i + 1;
		return;
	}
	to->other = to->largest;
	to->largest = i + 1;
	to->largest_bytes = bytes;
}

/* Adds all files of KIND, each to its folder. */
static void gather_kind(struct adding *adding, enum dataset_kind kind, struct gather_folder *folders)
{
	struct report_datasets *datasets = adding->r->datasets;
	struct gather g = {
		.tree = &datasets->tree,
		.folder = folders,
		.kind = kind,
		.file_sums = file_sums,
		.take = take,
		.own = adding,
	};
	enum dataset_kind of;

	memset(folders, 0, folders_count(&datasets->tree) * sizeof(*folders));
	for (uint32_t i = 0; i < adding->r->files.n; i++) {
		const struct report_file *f = table_at(&adding->r->files, i);

		if (kind_of(adding->r, i, f, &of) && of == kind)
			put_in_folder(adding, &folders[datasets->where[i]], i, f);
	}
	gather(&g);
}

/* The files that are in no data set become the last row. */
static void add_others(struct adding *adding)
{
	struct report_datasets *datasets = adding->r->datasets;
	struct dataset *others = &datasets->row[datasets->n];
	enum dataset_kind of;

	*others = (struct dataset){ .kind = DATASET_OTHERS, .knows_disk = adding->fetched };
	for (uint32_t i = 0; i < adding->r->files.n; i++)
		if (kind_of(adding->r, i, table_at(&adding->r->files, i), &of))
			add_file(adding, i, table_at(&adding->r->files, i), others->sum);
	for (unsigned int i = 0; i < datasets->n; i++)
		dataset_sums_subtract(others->sum, datasets->row[i].sum);
	datasets->n += others->sum[DATASET_CALLS] != 0;
}

static void name(struct report *r, struct dataset *s)
{
	if (s->file)
		s->path = report_path_of(r, table_key_at(&r->files, s->file - 1), NULL, 0);
	if (!s->path && s->folder)
		s->path = strdup(folders_path(&r->datasets->tree, s->folder));
}

void report_datasets_end(struct report *report, report_fetched_fn *fetched)
{
	struct report_datasets *d = report->datasets;
	struct adding a = { .r = report, .fetched = fetched };
	autofree struct gather_folder *folders = calloc(folders_count(&d->tree), sizeof(*folders));

	for (enum dataset_kind kind = 0; folders && kind < DATASET_KINDS; kind++)
		gather_kind(&a, kind, folders);
	add_others(&a);
	for (unsigned int i = 0; i < d->n; i++)
		name(report, &d->row[i]);
}

/* --- evidence -------------------------------------------------------------------------------------------- */

static const struct {
	enum dataset_sum sum;
	const char *calls;
} by_sums[] = {
	[DATASET_BY_READS] = { DATASET_RW_NS, "reads" },   [DATASET_BY_OPENS] = { DATASET_OPEN_NS, "opens" },
	[DATASET_BY_CALLS] = { DATASET_TIME_NS, "calls" }, [DATASET_BY_FAULTS] = { DATASET_FAULT_NS, "page faults" },
	[DATASET_BY_MAPS] = { DATASET_MAPPED, NULL }, /* without fault.out */
};

const struct dataset *report_dataset_most(const struct report *report, enum dataset_by by)
{
	const struct report_datasets *datasets = report->datasets;
	const struct dataset *most = NULL;

	for (unsigned int i = 0; datasets && i < datasets->n; i++) {
		const struct dataset *s = &datasets->row[i];

		if (s->kind == DATASET_OTHERS || !s->sum[by_sums[by].sum] ||
		    (by == DATASET_BY_READS && !s->sum[DATASET_READ]) ||
		    (by >= DATASET_BY_FAULTS && s->kind != DATASET_DATA))
			continue;
		if (!most || s->sum[by_sums[by].sum] > most->sum[by_sums[by].sum])
			most = s;
	}
	return most;
}

double report_dataset_disk_share(const struct dataset *d)
{
	if (!d->knows_disk || !d->sum[DATASET_LOCAL])
		return -1;
	return MIN((double)d->sum[DATASET_DISK] / (double)d->sum[DATASET_LOCAL], 1.0);
}

const char *report_dataset_medium(const struct dataset *d)
{
	const uint64_t files = d->sum[DATASET_FILES], network = d->sum[DATASET_NETWORK_FILES],
		       memory = d->sum[DATASET_MEMORY_FILES];

	if (!network && !memory)
		return "disk";
	if (network == files)
		return "network";
	return memory == files ? "memory" : "several";
}

void report_dataset_print(const struct dataset *dataset, enum dataset_by by, FILE *out)
{
	const double share = report_dataset_disk_share(dataset);

	fprintf(out, "%s: %s", dataset->path ? dataset->path : "other files",
		FMT_N(dataset->sum[DATASET_FILES], "file", "files"));
	if (by == DATASET_BY_OPENS)
		fprintf(out, ", %s", FMT_N(dataset->sum[DATASET_OPENS], "open", "opens"));
	if (dataset->sum[DATASET_READ] || by == DATASET_BY_READS)
		fprintf(out, ", %s read", FMT_BYTES(dataset->sum[DATASET_READ]));
	if (share >= 0 && dataset->sum[DATASET_READ])
		fprintf(out, ", %.0f %% from disk", 100 * share);
	else if (dataset->sum[DATASET_NETWORK_FILES])
		fputs(", from a network file system", out);
	if (dataset->sum[DATASET_MAPPED])
		fprintf(out, ", %s mapped", FMT_BYTES(dataset->sum[DATASET_MAPPED]));
	if (by == DATASET_BY_FAULTS)
		fprintf(out, ", %s from disk", FMT_BYTES(dataset->sum[DATASET_FAULT_BYTES]));
	if (by_sums[by].calls)
		fprintf(out, ", %s in %s", FMT_NS(dataset->sum[by_sums[by].sum]), by_sums[by].calls);
}

const struct report_part report_datasets_part = {
	.new = part_new,
	.free = part_free,
};
