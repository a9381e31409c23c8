/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See archiver.h: closed segments packed. A packed file is written under a temporary name, synced and
 * renamed, and only then the plain one is removed: killed at any point, one of them is whole, and readers
 * take the plain one where both exist.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "drain/archiver_impl.h"

#define TRY_AGAIN_NS (10 * NSEC_PER_SEC)

static bool to_pack(const struct archiver *k, const struct archiver_segment *s)
{
	return k->o.pack != PACK_NONE && s->pack == PACK_NONE && !s->gone;
}

uint64_t archiver_to_pack(const struct archiver *k)
{
	uint64_t n = 0;

	for (size_t i = 0; i < k->n; i++)
		n += to_pack(k, k->segments[i]);
	return n;
}

/* Packs FROM, which is SEGMENT, into a file of the name TMP, returning its *ST and *PACKED bytes. 0 or -errno. */
static int write_packed(struct archiver *archiver, struct packer *packer, const struct archiver_segment *segment,
			int from, const char *tmp, struct stat *st, uint64_t *packed)
{
	autoclose int to = -1;
	int r;

	if (unlinkat(archiver->dirfd, tmp, 0) < 0 && errno != ENOENT)
		return -errno;
	to = util_create_at(archiver->dirfd, tmp, 0);
	if (to < 0)
		return to;
	r = packer_file(packer, from, segment->seg.bytes, to, archiver_to_pack(archiver) > 1, &archiver->stop, packed);
	if (r == 0 && (fsync(to) < 0 || fstat(to, st) < 0))
		r = -errno;
	return r;
}

static int pack_segment(struct archiver *archiver, struct packer *packer, struct archiver_segment *segment)
{
	char plain[NAME_MAX + 1], packed[NAME_MAX + 1], tmp[NAME_MAX + 1 + sizeof(SEGMENT_TMP)];
	autoclose int from = archiver_open(archiver, segment);
	uint64_t bytes = 0;
	struct stat st;
	int r;

	if (from < 0)
		return from;
	segment_format(plain, segment->seg.base, segment->seg.nr, PACK_NONE);
	segment_format(packed, segment->seg.base, segment->seg.nr, archiver->o.pack);
	snprintf(tmp, sizeof(tmp), "%s" SEGMENT_TMP, packed);
	r = write_packed(archiver, packer, segment, from, tmp, &st, &bytes);
	if (r == 0 && renameat(archiver->dirfd, tmp, archiver->dirfd, packed) < 0)
		r = -errno;
	if (r < 0) {
		unlinkat(archiver->dirfd, tmp, 0);
		return r;
	}
	unlinkat(archiver->dirfd, plain, 0);
	util_close(&segment->fd); /* the packed data is on the disk */
	pthread_mutex_lock(&archiver->lock);
	segment->pack = archiver->o.pack;
	segment->seg.dev = st.st_dev;
	segment->seg.ino = st.st_ino;
	segment->stored_bytes = bytes;
	pthread_mutex_unlock(&archiver->lock);
	util_count(&archiver->plain_bytes, segment->seg.bytes);
	util_count(&archiver->packed_bytes, bytes);
	return 0;
}

/* Returns the next one to pack that has not just failed. */
static struct archiver_segment *next_to_pack(const struct archiver *archiver)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < archiver->n; i++) {
		struct archiver_segment *s = archiver->segments[i];

		if (to_pack(archiver, s) && (!s->failed_ns || now - s->failed_ns >= TRY_AGAIN_NS))
			return s;
	}
	return NULL;
}

/* Failed segments are unchanged: packing another does not clear their failure. */
static bool any_failed(const struct archiver *k)
{
	for (size_t i = 0; i < k->n; i++)
		if (to_pack(k, k->segments[i]) && k->segments[i]->failed_ns)
			return true;
	return false;
}

bool archiver_pack_one(struct archiver *k, struct packer *p)
{
	struct archiver_segment *s = __atomic_load_n(&k->stop, __ATOMIC_ACQUIRE) ? NULL : next_to_pack(k);
	int r;

	__atomic_store_n(&k->waiting, archiver_to_pack(k), __ATOMIC_RELAXED);
	if (!s)
		return false;
	r = pack_segment(k, p, s);
	if (r == -ENOENT || r == -ESTALE) {
		s->gone = true;
		s->stored_bytes = 0;
		return true;
	}
	if (r < 0)
		s->failed_ns = clock_now_ns(CLOCK_MONOTONIC);
	if (r != -ECANCELED && (r < 0 || !any_failed(k)))
		__atomic_store_n(&k->error, r, __ATOMIC_RELAXED);
	__atomic_store_n(&k->waiting, archiver_to_pack(k), __ATOMIC_RELAXED);
	return true;
}
