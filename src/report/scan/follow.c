/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static struct reader *reader_of(const struct scan_follow *f)
{
	return &f->folder->file[0].reader;
}

void scan_follow_close(struct scan_follow *f)
{
	scan_folder_free(TAKE_PTR(f->folder));
}

/*
 * Opens NAME.out with ALL of its segments, or the growing one, in place of what is open. Returns 0, or -errno and what
 * was open still is: of a file that has just begun, -EAGAIN.
 */
static int open_file(struct scan_follow *f, bool all)
{
	autofree char *file = util_fmt("%s.out", f->name);
	struct scan_folder *folder = scan_folder_new(f->dirfd);
	struct scan scan = { .file = folder ? &folder->file[folder->n++] : NULL };
	int res;

	if (!folder || !file) {
		scan_folder_free(folder);
		return -ENOMEM;
	}
	snprintf(scan.file->name, sizeof(scan.file->name), "%s", f->name);
	scan.file->error = all ? reader_open(&scan.file->reader, f->dirfd, file) :
				 reader_open_growing(&scan.file->reader, f->dirfd, file);
	res = scan.file->error ?: scan_begin(&scan, folder, f->name);
	if (res < 0) {
		scan_folder_free(folder);
		return res == -ENODATA ? -EAGAIN : res;
	}
	scan_follow_close(f);
	f->folder = folder;
	f->scan = scan;
	return 0;
}

int scan_follow_open(struct scan_follow *f, int dirfd, const char *name, bool whole)
{
	int res;

	*f = (struct scan_follow){ .dirfd = dirfd, .whole = whole };
	snprintf(f->name, sizeof(f->name), "%s", name);
	res = open_file(f, whole);
	f->anew = res == 0 && !whole && reader_of(f)->growing_nr > 1;
	return res;
}

/* --- all rows, each once ------------------------------------------------------------------------------- */

/* Goes on with the file that has the name now. */
static int open_next(struct scan_follow *f)
{
	const uint32_t nr = reader_of(f)->growing_nr;
	const int res = open_file(f, false);

	return res == 0 && reader_of(f)->growing_nr != nr + 1 ? -ESTALE : res;
}

/* Gives the rows that there are, about BYTES of them at most. Returns 1: there are more; 0; -errno. */
static int take_rows(struct scan_follow *f, struct scan_taker *taker, uint64_t bytes)
{
	const struct reader *reader = reader_of(f);
	const uint64_t from = reader->offset;
	int res;

	while ((res = scan_rows(&f->scan)) > 0) {
		scan_give(&f->scan, taker);
		if (reader->offset - MIN(from, reader->offset) > bytes)
			return 1;
	}
	return res;
}

int scan_follow_take(struct scan_follow *f, struct scan_taker *taker, uint64_t bytes)
{
	for (;;) {
		struct reader *reader = reader_of(f);
		/* before that, the growing file is as it was when it was opened */
		const bool last = reader->at + 1 == reader->n_segments;
		/* before its rows are read: what is split off gets no more */
		const bool split = last && reader_is_split(reader);
		int res = last ? reader_more(reader) : 0;

		if (res == 0)
			res = take_rows(f, taker, bytes);
		if (res == 0 && split)
			res = open_next(f);
		if (res != 0 || (last && !split))
			return res;
	}
}

/* --- its end ------------------------------------------------------------------------------------------- */

int scan_follow_look(struct scan_follow *f)
{
	int res = 0;

	if (reader_is_split(reader_of(f))) {
		res = open_file(f, false);
		if (res < 0)
			return res;
		f->at = 0;
		f->anew = true;
	}
	return reader_more(reader_of(f));
}

/* Goes to the first row that may be wanted, of the last BYTES. */
static int go_to(struct scan_follow *f, uint64_t bytes)
{
	struct reader *reader = reader_of(f);
	int res;

	if (reader->growing_bytes - MIN(f->at, reader->growing_bytes) <= bytes)
		return f->at ? reader_seek(reader, f->at) : 0;
	res = reader_tail(reader, bytes);
	f->anew |= res > 0;
	return MIN(res, 0);
}

struct keeping {
	struct scan_follow *f;
	struct scan_taker *to;
	uint64_t keep_ns, first_ns; /* FIRST: of all rows; 0: none */
	bool found;
};

/* Notes the first row that is wanted; until then, the last one. */
static bool keep(struct scan *s, void *own)
{
	struct keeping *k = own;

	k->first_ns = k->first_ns ?: s->time_ns;
	if (!k->found)
		k->f->at = s->ahead[s->row].offset;
	k->found |= s->time_ns >= k->keep_ns;
	return !k->found || k->to->take(s, k->to->own);
}

int scan_follow_end(struct scan_follow *f, struct scan_taker *taker, uint64_t bytes, uint64_t keep_ns)
{
	struct keeping k = { .f = f, .to = taker, .keep_ns = keep_ns };
	struct scan_taker wanted = { .take = keep, .own = &k };
	int res = go_to(f, bytes);

	while (res >= 0 && (res = scan_rows(&f->scan)) > 0)
		scan_give(&f->scan, &wanted);
	taker->bad_rows += wanted.bad_rows;
	if (f->anew && res == 0)
		f->from_ns = k.first_ns ?: UINT64_MAX;
	f->anew &= res < 0;
	return res;
}
