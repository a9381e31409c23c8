/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chooses which folders are data sets: in the tree of folders with files of one kind, the few that stand for all below
 * them.
 *
 * A folder has parts: the folders right in it, and its own files, which are one part; but a file that is large while
 * those beside it are not stands apart. A part is large when it has many files or many bytes (MANY_FILES, MANY_BYTES;
 * in a small trace a sixteenth of all, but no less than LEAST_FILES and LEAST_BYTES).
 *
 * From the root downwards, a folder is one data set with all that is below it
 * - when its only part is its own files: shards in a folder;
 * - when no part of several is large, or more than FEW are: the classes of a data set of images;
 * - when its large parts are ALIKE folders and more, whose names differ in digits only: class-00 to class-03,
 *   part-0 to part-2;
 * - when FEW parts and more are small and have a quarter of it: classes, of which a few are large.
 * Else it is split: each large part is judged by itself, and with at most FEW parts the small ones too; the rest is a
 * data set when it is large, else it counts among the others. So a folder with a single part hands over to that part, a
 * file that is alone or apart is a data set by its own name, and two data sets below one folder stay two. The root is
 * always split, since "all files" would be no answer.
 *
 * Software is many small files that are of no interest one by one: no file stands apart there, small parts are not
 * judged by themselves, and the packages of a language are one data set, however large their parts.
 *
 * Only counts and sizes decide, since they are equal in every run of a job; the time in calls decides which data sets
 * are shown (datasets.c). There are two loops over the folders: upwards for the parts, downwards for the choice.
 */
#include <string.h>

#include "base/util.h"
#include "report/files/datasets_impl.h"
#include "report/files/software.h"

#define ROOT 1
#define FEW 8 /* CIFAR-10 and MNIST have ten classes; a job that reads more data sets than this is rare */
#define ALIKE 3 /* two may be two editions of a data set */
#define MANY_FILES 64
#define MANY_BYTES (16U << 20)
#define LEAST_FILES 8
#define LEAST_BYTES (1U << 20)
#define SMALL_TRACE 16 /* in a small trace, one in so many of its files and bytes is many */

static bool is_software(const struct gather *g)
{
	return g->kind == DATASET_SOFTWARE;
}

static bool is_large(const struct gather *g, uint64_t files, uint64_t bytes)
{
	return files >= g->many_files || bytes >= g->many_bytes;
}

static void find_many(struct gather *g)
{
	uint64_t files = 0, bytes = 0;

	for (uint32_t i = ROOT; i < folders_count(g->tree); i++) {
		files += g->folder[i].own_files;
		bytes += g->folder[i].own_bytes;
	}
	g->many_files = MIN(MAX(files / SMALL_TRACE, (uint64_t)LEAST_FILES), (uint64_t)MANY_FILES);
	g->many_bytes = MIN(MAX(bytes / SMALL_TRACE, (uint64_t)LEAST_BYTES), (uint64_t)MANY_BYTES);
}

/* --- upwards --------------------------------------------------------------------------------------------- */

/* Returns a hash that is equal for names that differ in digits only; 0 for a name without digits. */
static uint64_t name_but_digits(struct reader_field name)
{
	uint64_t key = table_key("", 0);
	bool any = false, in_digits = false;

	for (size_t i = 0; i < name.len; i++) {
		const bool digit = name.p[i] >= '0' && name.p[i] <= '9';

		if (!digit)
			key = table_key_more(key, &name.p[i], 1);
		else if (!in_digits)
			key = table_key_more(key, "", 1);
		any |= digit;
		in_digits = digit;
	}
	return any ? key : 0;
}

/* NAME is the hash of a folder's name; 0 for a part that is no folder. */
static void add_part(const struct gather *gather, struct gather_folder *folder, uint64_t files, uint64_t bytes,
		     uint64_t name)
{
	if (!files)
		return;
	folder->parts++;
	if (is_large(gather, files, bytes)) {
		folder->large_name = folder->large && folder->large_name != name ? 0 : name;
		folder->large++;
		return;
	}
	folder->small++;
	folder->small_files += files;
	folder->small_bytes += bytes;
}

static void add_own(const struct gather *gather, struct gather_folder *folder)
{
	const uint64_t beside_files = folder->own_files - 1, beside_bytes = folder->own_bytes - folder->largest_bytes;

	if (!folder->own_files)
		return;
	folder->apart =
		folder->own_files == 1 || (!is_software(gather) && folder->largest_bytes >= gather->many_bytes &&
					   !is_large(gather, beside_files, beside_bytes));
	if (!folder->apart) {
		add_part(gather, folder, folder->own_files, folder->own_bytes, 0);
		return;
	}
	add_part(gather, folder, 1, folder->largest_bytes, 0);
	add_part(gather, folder, beside_files, beside_bytes, 0);
}

static bool is_mostly_small(const struct gather_folder *f)
{
	return f->small >= FEW &&
	       (4 * f->small_files >= f->below[DATASET_FILES] || 4 * f->small_bytes >= f->below[DATASET_SIZE]);
}

static bool is_whole(const struct gather *gather, uint32_t i)
{
	const struct gather_folder *f = &gather->folder[i];

	if (i == ROOT)
		return false;
	if (is_software(gather) && report_is_package(folders_name(gather->tree, i)))
		return true;
	if (!f->folders && !f->apart)
		return true;
	return f->large > FEW || (!f->large && f->parts > 1) || (f->large >= ALIKE && f->large_name) ||
	       is_mostly_small(f);
}

static void go_upwards(struct gather *gather)
{
	for (uint32_t i = folders_count(gather->tree) - 1; i >= ROOT; i--) {
		struct gather_folder *f = &gather->folder[i],
				     *above = &gather->folder[folders_at(gather->tree, i)->parent];

		add_own(gather, f);
		f->whole = is_whole(gather, i);
		if (i == ROOT)
			continue;
		dataset_sums_add(above->below, f->below);
		add_part(gather, above, f->below[DATASET_FILES], f->below[DATASET_SIZE],
			 name_but_digits(folders_name(gather->tree, i)));
		above->folders += f->below[DATASET_FILES] != 0;
	}
}

/* --- downwards ------------------------------------------------------------------------------------------- */

/* Whether a part of folder I, which is split, is judged by itself. */
static bool is_looked_at(const struct gather *g, uint32_t i, uint64_t files, uint64_t bytes)
{
	const bool all = is_software(g) ? g->folder[i].parts == 1 : i == ROOT || g->folder[i].parts <= FEW;

	return files && (all || is_large(g, files, bytes));
}

static void open_folder(struct gather *gather, uint32_t i)
{
	struct gather_folder *folder = &gather->folder[i],
			     *above = &gather->folder[folders_at(gather->tree, i)->parent];
	const uint64_t files = folder->below[DATASET_FILES], bytes = folder->below[DATASET_SIZE];

	folder->open = i == ROOT ? files > 0 :
				   above->open && !above->whole &&
					   is_looked_at(gather, folders_at(gather->tree, i)->parent, files, bytes);
	if (!folder->open)
		return;
	memcpy(folder->rest, folder->below, sizeof(folder->rest));
	if (i != ROOT)
		dataset_sums_subtract(above->rest, folder->below);
	if (folder->whole)
		gather->take(gather->own, gather->kind, i, 0, folder->below);
}

/* The rest of folder I after it was split. */
static void take_rest(struct gather *gather, uint32_t i)
{
	struct gather_folder *folder = &gather->folder[i];
	const bool is_other = folder->own_files == 2 && folder->rest[DATASET_FILES] == 2;
	uint64_t file[DATASET_SUMS] = { 0 };

	if (folder->apart && is_looked_at(gather, i, 1, folder->largest_bytes)) {
		gather->file_sums(gather->own, folder->largest - 1, file);
		gather->take(gather->own, gather->kind, i, folder->largest, file);
		dataset_sums_subtract(folder->rest, file);
	}
	if (i == ROOT && folder->rest[DATASET_FILES] > folder->own_files)
		return;
	if (is_looked_at(gather, i, folder->rest[DATASET_FILES], folder->rest[DATASET_SIZE]))
		gather->take(gather->own, gather->kind, i, folder->apart && is_other ? folder->other : 0, folder->rest);
}

void gather(struct gather *g)
{
	const uint32_t n = folders_count(g->tree);

	find_many(g);
	go_upwards(g);
	for (uint32_t i = ROOT; i < n; i++)
		open_folder(g, i);
	for (uint32_t i = ROOT; i < n; i++)
		if (g->folder[i].open && !g->folder[i].whole)
			take_rest(g, i);
}
