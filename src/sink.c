/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers whole rows and writes them in one piece. Runs on the thread that owns the sink (the
 * drain); others only read the counts, hence the relaxed stores. Knows neither what a row means
 * nor whom to tell about a loss.
 */
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

/* Where the rows of a sink that is not open go to die. */
static _Thread_local char scratch[SINK_ROW_MAX];

/* One thread writes, so a plain addition does; the store must not tear for the readers. */
static inline void add(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static inline void set_error(struct sink *s, int r)
{
	__atomic_store_n(&s->error, r, __ATOMIC_RELAXED);
	if (r == 0)
		return;
	__atomic_store_n(&s->failed_with, r, __ATOMIC_RELAXED);
	add(&s->failures, 1);
}

int sink_open(struct sink *s, int dirfd, const char *name)
{
	autofree char *buf = malloc(SINK_BUFFER_BYTES);
	int fd;

	*s = (struct sink){ .fd = -1 };
	if (!buf)
		return -ENOMEM;
	fd = util_create_at(dirfd, name, 0);
	if (fd < 0)
		return fd;
	s->fd = fd;
	s->buf = TAKE_PTR(buf);
	return 0;
}

/* Twice as much as is promised, so that not every flush has to ask. */
static void allocate_ahead(struct sink *s)
{
	uint64_t end = s->file_bytes + 2 * s->ahead;

	if (s->ahead && s->file_bytes + s->ahead > s->allocated &&
	    fallocate(s->fd, FALLOC_FL_KEEP_SIZE, (off_t)s->file_bytes, (off_t)(end - s->file_bytes)) == 0)
		s->allocated = end;
}

void sink_keep_ahead(struct sink *s, uint64_t bytes)
{
	s->ahead = bytes;
	allocate_ahead(s);
}

void sink_close(struct sink *s)
{
	if (!s->buf)
		return;
	sink_flush(s);
	if (s->allocated)
		(void)!ftruncate(s->fd, (off_t)s->file_bytes);
	/* NFS and quotas may say only now that the data did not arrive. */
	if (close(s->fd) < 0)
		set_error(s, -errno);
	s->fd = -1;
	free(TAKE_PTR(s->buf));
}

char *sink_begin(struct sink *s)
{
	return s->buf ? s->buf + s->len : scratch;
}

void sink_commit(struct sink *s, char *end, uint64_t ts_ns)
{
	if (!s->buf)
		return;
	if (__atomic_load_n(&s->paused, __ATOMIC_RELAXED)) {
		add(&s->lost, 1);
		return;
	}
	if (ts_ns < s->last_ts_ns)
		add(&s->late, 1);
	else
		__atomic_store_n(&s->last_ts_ns, ts_ns, __ATOMIC_RELAXED);
	s->len = (size_t)(end - s->buf);
	s->rows_buffered++;
	if (s->len + SINK_ROW_MAX > SINK_BUFFER_BYTES)
		sink_flush(s);
}

void sink_text(struct sink *s, const char *text, size_t len)
{
	if (!s->buf)
		return;
	if (s->len + len + SINK_ROW_MAX > SINK_BUFFER_BYTES)
		sink_flush(s);
	if (s->len + len + SINK_ROW_MAX > SINK_BUFFER_BYTES)
		return;
	memcpy(s->buf + s->len, text, len);
	s->len += len;
	if (!s->rows_buffered)
		s->text_len = s->len;
}

/* At its own offset, so that what a failed write left behind is written over, not behind. */
static int write_at(int fd, const char *p, size_t len, uint64_t offset)
{
	while (len) {
		ssize_t n = pwrite(fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
		offset += (size_t)n;
	}
	return 0;
}

int sink_flush(struct sink *s)
{
	int r;

	if (!s->len)
		return 0;
	r = write_at(s->fd, s->buf, s->len, s->file_bytes);
	set_error(s, r);
	if (r < 0) {
		add(&s->lost, s->rows_buffered);
		s->len = s->text_len;
		/* Readers skip a partial last row where even this fails. */
		(void)!ftruncate(s->fd, (off_t)s->file_bytes);
	} else {
		add(&s->rows, s->rows_buffered);
		add(&s->bytes, s->len);
		s->file_bytes += s->len;
		s->len = 0;
		s->text_len = 0;
		allocate_ahead(s);
	}
	s->rows_buffered = 0;
	return r;
}
