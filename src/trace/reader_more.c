/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading on in a file that is still written. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "trace/reader.h"

static bool is_at_growing(const struct reader *r)
{
	return r->growing_fd >= 0 && r->growing_pack == PACK_NONE && r->at + 1 == r->n_segments;
}

int reader_more(struct reader *reader)
{
	struct stat st;

	if (!is_at_growing(reader))
		return -EINVAL;
	if (fstat(reader->growing_fd, &st) < 0)
		return -errno;
	reader->growing_bytes = reader->text.limit = MAX((uint64_t)st.st_size, reader->growing_bytes);
	reader->segments[reader->at].read = false;
	reader->cut = false;
	return 0;
}

bool reader_is_split(const struct reader *r)
{
	char name[NAME_MAX + 1];
	struct stat now, own;

	segment_format(name, r->base, SEGMENT_LAST, PACK_NONE);
	return fstat(r->growing_fd, &own) == 0 && fstatat(r->dirfd, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (now.st_ino != own.st_ino || now.st_dev != own.st_dev);
}

int reader_tail(struct reader *reader, uint64_t bytes)
{
	struct reader_segment *s = is_at_growing(reader) ? &reader->segments[reader->at] : NULL;
	uint64_t at;
	int res;

	if (!s)
		return -EINVAL;
	if (reader->growing_bytes <= bytes)
		return 0;
	at = reader->growing_bytes - bytes;
	res = unpack_seek(&reader->text, at);
	if (res < 0)
		return res;
	reader->offset = s->start + at;
	reader->pos = reader->len = 0;
	reader->lines->at = reader->lines->n = 0;
	reader->skip = true; /* the first line may have lost its begin */
	s->read = false;
	return 1;
}
