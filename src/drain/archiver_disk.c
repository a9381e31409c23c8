/* SPDX-License-Identifier: BSD-2-Clause */
/* See archiver.h: closed segments, as long as the disk may yet refuse what the system has taken of them. */
#include "base/disk.h"
#include "base/util.h"
#include "drain/archiver_impl.h"

/* The system writes what is 30 s old, and looks every 5 s (vm.dirty_expire_centisecs): twice that. */
#define WATCHED_NS (60 * NSEC_PER_SEC)
#define WATCHED_MAX 64 /* each is an open file */

/* An error that nobody has been told of yet is told to who opens the file now. */
void archiver_watch(struct archiver *k, struct archiver_segment *s)
{
	unsigned int n = 0;

	for (size_t i = 0; i < k->n; i++)
		n += k->segments[i]->fd >= 0;
	s->closed_ns = clock_now_ns(CLOCK_MONOTONIC);
	if (n < WATCHED_MAX && s->seg.nr != SEGMENT_LAST) /* the last is its sink's until the end */
		s->fd = archiver_open(k, s);
}

static void note_refusal(struct archiver *k, struct archiver_segment *s, int r)
{
	__atomic_store_n(&k->refused, r, __ATOMIC_RELAXED);
	if (s->file < k->n_files)
		util_count(&k->files[s->file].unsure_rows, s->seg.rows - MIN(s->seg.unsure, s->seg.rows));
	util_close(&s->fd);
}

void archiver_ask_disk(struct archiver *k)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < k->n; i++) {
		struct archiver_segment *s = k->segments[i];
		bool over = s->fd >= 0 && now - s->closed_ns > WATCHED_NS;
		int r = s->fd < 0 ? 0 : disk_refused(s->fd);

		if (r == 0 && over) /* it was written long ago */
			disk_write_out(s->fd, s->seg.bytes, UINT64_MAX, &r);
		if (r < 0)
			note_refusal(k, s, r);
		else if (over)
			util_close(&s->fd);
	}
}

/* As the growing ones. */
void archiver_to_disk(struct archiver *k)
{
	uint64_t until_ns = clock_now_ns(CLOCK_MONOTONIC) + DISK_END_NS;

	for (size_t i = 0; i < k->n; i++) {
		struct archiver_segment *s = k->segments[i];
		int r;

		if (s->fd < 0)
			continue;
		util_count(&k->not_on_disk,
			   disk_write_out(s->fd, s->seg.bytes, __atomic_load_n(&k->stop, __ATOMIC_ACQUIRE) ? 0 : until_ns, &r));
		if (r < 0)
			note_refusal(k, s, r);
		util_close(&s->fd);
	}
}

bool archiver_is_watching(const struct archiver *k)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->segments[i]->fd >= 0)
			return true;
	return false;
}
