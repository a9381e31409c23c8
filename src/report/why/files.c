/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/why/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Returns how many of BYTES were moved again: those beyond END, the end of the highest read or write. */
static uint64_t excess(uint64_t bytes, uint64_t end)
{
	return MAX(bytes, end) - end;
}

/* --- of each file --------------------------------------------------------------------------------- */

int why_files_begin(struct why *w)
{
	w->places = calloc(1U << WHY_PLACES_BITS, sizeof(*w->places));
	return w->places ? 0 : -ENOMEM;
}

bool why_files_room(const struct report *r)
{
	const uint32_t room = r->files.room;
	struct why *w = r->why;
	struct why_file *files = aligned_alloc(sizeof(*files), room * sizeof(*files));
	struct why_file_rest *rest = reallocarray(w->files_rest, room, sizeof(*rest));

	if (rest)
		w->files_rest = rest;
	if (!files || !rest) {
		free(files);
		w->error = -ENOMEM;
		return false;
	}
	if (w->n_files)
		memcpy(files, w->files, w->n_files * sizeof(*files));
	memset(&files[w->n_files], 0, (room - w->n_files) * sizeof(*files));
	memset(&rest[w->n_files], 0, (room - w->n_files) * sizeof(*rest));
	free(w->files);
	w->files = files;
	w->n_files = room;
	return true;
}

void why_forget_fetched(struct why *w)
{
	for (size_t i = 0; i < w->n_files; i++)
		w->files_rest[i].fetched_ns = 0;
}

/* --- sums ----------------------------------------------------------------------------------------- */

/* Returns how many bytes of F there were to fetch; END is the end of its highest read. Read-ahead may fetch all of F.
 */
static uint64_t whole_of(const struct report_file *f, uint64_t end)
{
	return (MAX(end, f->size) + WHY_PAGE - 1) / WHY_PAGE * WHY_PAGE;
}

void why_files_rank(struct why_epoch *epoch, const struct why_file *file, uint64_t fid)
{
	struct why_slow_file *slow_file = epoch->slow;
	unsigned int i = 0;

	while (i < epoch->n_slow && slow_file[i].fid != fid)
		i++;
	if (i == epoch->n_slow) {
		if (epoch->n_slow == WHY_SLOW_FILES && file->epoch_ns <= slow_file[i - 1].time_ns)
			return;
		if (epoch->n_slow == WHY_SLOW_FILES)
			i--;
		else
			epoch->n_slow++;
	}
	slow_file[i] = (struct why_slow_file){
		.fid = fid, .time_ns = file->epoch_ns, .bytes = file->epoch_bytes, .calls = file->reads
	};
	for (; i > 0 && slow_file[i - 1].time_ns < slow_file[i].time_ns; i--) {
		struct why_slow_file t = slow_file[i];

		slow_file[i] = slow_file[i - 1];
		slow_file[i - 1] = t;
	}
}

void why_files_end_epoch(struct why *why, struct why_file *file)
{
	struct why_epoch *epoch;

	if (!file->epoch)
		return;
	epoch = &why->epoch[file->epoch - 1];
	epoch->again_bytes += excess(file->epoch_bytes, file->epoch_end);
	if (file->written) {
		struct why_file_rest *rest = why_file_rest_of(why, file);

		epoch->rewritten_bytes += excess(rest->epoch_written, rest->epoch_write_end);
		rest->epoch_written = rest->epoch_write_end = 0;
	}
	file->epoch = file->written = file->reads = 0;
	file->epoch_bytes = file->epoch_end = file->epoch_ns = 0;
}

/*
 * Compares the place of a write with the last one, kept beside those of reads. An append goes to the end of the file so
 * far, whichever process wrote it.
 */
static void place_write(struct why *why, const struct why_transfer *transfer, struct why_file_rest *rest)
{
	const bool append = transfer->append || transfer->offset == rest->write_end;
	uint64_t key;
	struct why_place *place = why_place_of(why, transfer->pid | 1ULL << 31, transfer->fid, transfer->fd, &key);

	if ((append && place->key == key) || !why_is_restart(place, key, transfer)) {
		const bool next = append || place->next == transfer->offset;

		why->sums.placed_writes++;
		why->sums.sequential_writes += next;
		why->sums.write_jumps_ns += next ? 0 : transfer->lat_ns;
	}
	why_place_at(place, key, transfer);
	rest->write_end = why_end_of(transfer, rest->write_end);
}

void why_files_write(struct why *why, struct why_epoch *epoch, const struct why_transfer *transfer,
		     struct why_file *file)
{
	const uint64_t bytes = transfer->bytes;
	struct why_file_rest *rest = why_file_rest_of(why, file);

	epoch->writes++;
	epoch->write_bytes += bytes;
	if (transfer->requested < WHY_SMALL) {
		why->sums.all_small_writes++;
		why->sums.small_writes_ns += transfer->lat_ns;
		if (transfer->has_offset && !transfer->offset)
			rest->small_first++;
		else
			rest->small_next++;
	}
	why_file_begin_epoch(why, epoch, file);
	why_file_used(file, transfer);
	file->written = true;
	rest->epoch_write_end = why_end_of(transfer, rest->epoch_write_end);
	rest->epoch_written += bytes;
	if (transfer->has_offset && bytes)
		place_write(why, transfer, rest);
}

/* --- all of them ---------------------------------------------------------------------------------- */

static void add_file(struct why *why, const struct report_file *file, struct why_file *sums)
{
	struct why_sums *why_sums = &why->sums;

	const struct why_file_rest *rest = why_file_rest_of(why, sums);

	why_files_end_epoch(why, sums);
	/* a file that was written in one call had the largest possible write */
	why_sums->small_writes += rest->small_next ? rest->small_first + (uint64_t)rest->small_next : 0;
	why_sums->again_bytes += excess(file->read_bytes, sums->end);
	why_sums->again_disk_bytes += excess(sums->disk_bytes - rest->direct_bytes, whole_of(file, sums->end));
	if (sums->turns &&
	    sums->turns >= MAX(file->users, 2)) { /* more turns than users: one of them came back to it */
		why_sums->shared += sums->moved;
		why_sums->small_shared += sums->small;
		why_sums->small_shared_ns +=
			file->calls ? (uint64_t)((double)file->time_ns * sums->small / (double)file->calls) : 0;
	}
}

static void add_epoch(struct why_sums *s, const struct why_epoch *e)
{
	s->reads += e->reads;
	s->read_bytes += e->read_bytes;
	s->writes += e->writes;
	s->write_bytes += e->write_bytes;
	s->placed += e->placed;
	s->sequential += e->sequential;
}

/* Adds the writes of O, unless the job reads the file: then they are not meant for people. */
static void add_output(struct report *r, const struct why_output *o)
{
	const struct report_file *f = table_find(&r->files, o->fid);
	struct why_sums *s = &r->why->sums;

	if (f && f->read_bytes)
		return;
	s->stdout_writes += o->writes;
	s->stdout_bytes += o->bytes;
	s->stdout_ns += o->ns;
}

void why_files_end(struct report *report)
{
	struct why *w = report->why;

	for (uint32_t i = 0; i < MIN(w->n_files, report->files.n); i++)
		add_file(w, table_at(&report->files, i), &w->files[i]);
	for (uint32_t i = 0; i < w->n_epochs; i++)
		add_epoch(&w->sums, &w->epoch[i]);
	add_epoch(&w->sums, w->outside);
	for (uint32_t i = 0; i < w->output.n; i++)
		add_output(report, table_at(&w->output, i));
}
