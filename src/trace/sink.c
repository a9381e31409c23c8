/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers whole rows and writes them in one piece. Runs on the thread that owns the sink (the drain);
 * others only read the counts, hence the relaxed stores. Knows neither what a row means nor where a loss is
 * reported.
 */
#include "trace/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "os/disk.h"

/* Rows of a closed sink are written here and discarded. */
static _Thread_local char scratch[SINK_ROW_MAX];

static inline void set_error(struct sink *s, int r)
{
	__atomic_store_n(&s->error, r, __ATOMIC_RELAXED);
	if (r == 0)
		return;
	__atomic_store_n(&s->failed_with, r, __ATOMIC_RELAXED);
	util_count(&s->failures, 1);
}

static void take_file(struct sink *s, int fd)
{
	struct stat st = { 0 };

	(void)!fstat(fd, &st); /* 0: it is not reopened */
	s->fd = fd;
	s->dev = st.st_dev;
	s->ino = st.st_ino;
}

int sink_open(struct sink *sink, int dirfd, const char *name)
{
	autofree char *buf = malloc(SINK_BUFFER_BYTES);
	int fd;

	*sink = (struct sink){ .fd = -1 };
	if (!buf)
		return -ENOMEM;
	fd = util_create_at(dirfd, name, 0);
	if (fd < 0)
		return fd;
	take_file(sink, fd);
	sink->dirfd = dirfd;
	snprintf(sink->base, sizeof(sink->base), "%.*s", (int)strcspn(name, "."), name);
	sink->flush_at = SINK_BUFFER_BYTES - SINK_ROW_MAX;
	sink->buf = TAKE_PTR(buf);
	return 0;
}

/* Twice the promise, so that not every flush has to call fallocate(2). */
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

void sink_hold_rows(struct sink *s)
{
	s->holds = true;
}

char *sink_begin(struct sink *s)
{
	return s->buf ? s->buf + s->len : scratch;
}

void sink_commit(struct sink *sink, char *end, uint64_t ts_ns)
{
	if (!sink->buf)
		return;
	if (__atomic_load_n(&sink->paused, __ATOMIC_RELAXED)) {
		util_count(&sink->lost, 1);
		return;
	}
	if (ts_ns < sink->last_ts_ns)
		util_count(&sink->late, 1);
	else
		__atomic_store_n(&sink->last_ts_ns, ts_ns, __ATOMIC_RELAXED);
	if (!sink->rows_buffered)
		sink->buffered_first_ns = ts_ns;
	sink->len = (size_t)(end - sink->buf);
	sink->rows_buffered++;
	if (sink->len > sink->flush_at)
		sink_flush(sink);
}

/* --- what the disk says ---------------------------------------------------------------------------- */

/* There is no telling which rows of the file were refused. */
static void note_refusal(struct sink *s, int r)
{
	uint64_t from = MAX(s->unsure_until, s->rows_before);

	__atomic_store_n(&s->refused, r, __ATOMIC_RELAXED);
	util_count(&s->unsure, s->rows - from);
	s->unsure_until = s->rows;
}

/* NFS and quotas may report only now that the data did not arrive. */
static void close_file(struct sink *s)
{
	if (close(s->fd) == 0)
		return;
	if (disk_is_refusal(errno))
		note_refusal(s, -errno);
	else
		set_error(s, -errno);
}

void sink_close(struct sink *sink)
{
	if (!sink->buf)
		return;
	sink->holds = false;
	sink_flush(sink);
	if (sink->allocated)
		(void)!ftruncate(sink->fd, (off_t)sink->file_bytes);
	close_file(sink);
	sink->fd = -1;
	free(TAKE_PTR(sink->header));
	free(TAKE_PTR(sink->buf));
}

void sink_check_disk(struct sink *s)
{
	int r = s->buf ? disk_refused(s->fd) : 0;

	if (r < 0)
		note_refusal(s, r);
}

uint64_t sink_to_disk(struct sink *sink, uint64_t until_ns)
{
	uint64_t left;
	int r;

	if (!sink->buf)
		return 0;
	left = disk_write_out(sink->fd, sink->file_bytes, until_ns, &r);
	if (r < 0)
		note_refusal(sink, r);
	return left;
}

/* --- segments ------------------------------------------------------------------------------------- */

/* Returns the room left in the segment, at most what the buffer takes. */
static void set_flush_at(struct sink *s)
{
	s->flush_at = SINK_BUFFER_BYTES - SINK_ROW_MAX;
	if (s->split && s->split->bytes)
		s->flush_at = MIN(s->flush_at, s->split_at - MIN(s->split_at, s->file_bytes));
}

void sink_split_by(struct sink *s, const struct sink_split *split)
{
	s->split = split;
	s->nr = 1;
	s->split_at = split->bytes;
	set_flush_at(s);
}

/* The header as written in this segment. */
static void put_header(struct sink *s)
{
	size_t line = (size_t)(strchr(s->header, '\n') - s->header);
	char key[32];

	sink_text(s, s->header, line);
	sink_text(s, key, (size_t)snprintf(key, sizeof(key), SEGMENT_KEY "%u", s->nr));
	sink_text(s, s->header + line, s->header_len - line);
}

void sink_header(struct sink *sink, const char *text, size_t len)
{
	size_t had = sink->header_len;
	char *header = sink->split && sink->buf ? realloc(sink->header, had + len + 1) : NULL;

	if (!header) {
		sink_text(sink, text, len);
		return;
	}
	sink->header = header;
	memcpy(header + had, text, len);
	sink->header_len = had + len;
	header[sink->header_len] = '\0';
	if (had)
		sink_text(sink, text, len);
	else
		put_header(sink);
}

/* Never over an existing file: a trace folder has none of that name, but a user may have made one. */
static int rename_new(int dirfd, const char *from, const char *to)
{
	if (renameat2(dirfd, from, dirfd, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS) /* not every file system has it: NFS */
		return -errno;
	if (faccessat(dirfd, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(dirfd, from, dirfd, to) < 0 ? -errno : 0;
}

/*
 * Start a new file in place of the growing one, which gets its number. Returns the new one's descriptor, or
 * -errno with everything unchanged.
 */
static int replace_file(struct sink *sink)
{
	char name[NAME_MAX + 1], closed[NAME_MAX + 1], fresh[NAME_MAX + 1 + sizeof(SEGMENT_NEW)];
	autoclose int fd = -1;
	int r;

	segment_format(name, sink->base, SEGMENT_LAST, PACK_NONE);
	segment_format(closed, sink->base, sink->nr, PACK_NONE);
	snprintf(fresh, sizeof(fresh), "%s" SEGMENT_NEW, name);
	fd = util_create_at(sink->dirfd, fresh, 0);
	if (fd < 0)
		return fd;
	/* space kept ahead in the old one must be allocated in the new one before it is given back */
	r = sink->ahead && fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)(2 * sink->ahead)) < 0 && errno != EOPNOTSUPP ?
		    -errno :
		    0;
	if (r == 0)
		r = rename_new(sink->dirfd, name, closed);
	if (r == 0 && renameat(sink->dirfd, fresh, sink->dirfd, name) < 0) {
		r = -errno;
		rename_new(sink->dirfd, closed, name);
	}
	if (r < 0) {
		unlinkat(sink->dirfd, fresh, 0);
		return r;
	}
	return TAKE_FD(fd);
}

static void hand_over(const struct sink *s, uint32_t nr, const struct stat *st)
{
	struct sink_segment seg = {
		.base = s->base,
		.nr = nr,
		.rows = s->rows - s->rows_before,
		.bytes = s->file_bytes,
		.first_ns = s->first_ns,
		.last_ns = s->written_last_ns,
		.dev = st->st_dev,
		.ino = st->st_ino,
		.unsure = s->unsure_until - MIN(s->unsure_until, s->rows_before),
	};

	s->split->closed(s->split->ctx, &seg);
}

/* The buffer is empty. */
static void begin_segment(struct sink *sink)
{
	int fd = replace_file(sink);
	struct stat st;
	bool known;

	if (fd < 0) {
		set_error(sink, fd);
		sink->split_at = sink->file_bytes + sink->split->bytes; /* try again after as much again */
		return;
	}
	if (sink->allocated)
		(void)!ftruncate(sink->fd, (off_t)sink->file_bytes);
	sink_check_disk(sink);
	known = fstat(sink->fd, &st) == 0;
	close_file(sink);
	if (known) /* the archiver goes on checking the disk */
		hand_over(sink, sink->nr, &st);
	take_file(sink, fd);
	sink->nr++;
	sink->rows_before = sink->rows;
	sink->first_ns = sink->allocated = 0;
	__atomic_store_n(&sink->file_bytes, 0, __ATOMIC_RELAXED);
	sink->split_at = sink->split->bytes;
	if (sink->header)
		put_header(sink);
}

void sink_split_now(struct sink *s)
{
	if (!s->buf || !s->split || s->ended)
		return;
	if (sink_flush(s) == 0 && s->rows > s->rows_before)
		begin_segment(s);
	set_flush_at(s);
}

void sink_end(struct sink *sink)
{
	struct stat st;

	if (!sink->buf || sink->ended)
		return;
	sink->holds = false; /* what cannot be written now is lost */
	sink_flush(sink);
	__atomic_store_n(&sink->ended, true, __ATOMIC_RELAXED);
	if (sink->split && fstat(sink->fd, &st) == 0)
		hand_over(sink, SEGMENT_LAST, &st);
}

/* --- text and writing ----------------------------------------------------------------------------- */

void sink_text(struct sink *sink, const char *text, size_t len)
{
	if (!sink->buf)
		return;
	if (sink->len + len + SINK_ROW_MAX > SINK_BUFFER_BYTES)
		sink_flush(sink);
	if (sink->len + len + SINK_ROW_MAX > SINK_BUFFER_BYTES)
		return;
	memcpy(sink->buf + sink->len, text, len);
	sink->len += len;
	if (!sink->rows_buffered)
		sink->text_len = sink->len;
}

/*
 * At its own offset, so that what a failed write left behind is overwritten, not appended to. Returns 0 or
 * -errno; DONE_RET: the bytes written until then.
 */
static int write_at(int fd, const char *p, size_t len, uint64_t offset, size_t *done_ret)
{
	size_t done = 0;
	int r = 0;

	while (!r && done < len) {
		ssize_t n = TEMP_FAILURE_RETRY(pwrite(fd, p + done, len - done, (off_t)(offset + done)));

		if (n > 0)
			done += (size_t)n;
		else /* a file system that writes nothing and reports no error: never without an end */
			r = n < 0 ? -errno : -EIO;
	}
	*done_ret = done;
	return r;
}

/* Is it still this file? Another may have been put in its place. */
static int open_anew(struct sink *sink)
{
	char name[NAME_MAX + 1];
	autoclose int fd = -1;
	struct stat st;

	segment_format(name, sink->base, SEGMENT_LAST, PACK_NONE);
	fd = openat(sink->dirfd, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!sink->ino || st.st_dev != sink->dev || st.st_ino != sink->ino)
		return -ESTALE;
	close_file(sink);
	sink->fd = TAKE_FD(fd);
	return 0;
}

/*
 * Removes what a failed write left behind the whole rows. That may fail as well: a copy-on-write file system
 * writes the last block anew, and its quota is used up. Then the kernel may even have put zeros there.
 */
static int cut_back(struct sink *s)
{
	if (s->torn_bytes && ftruncate(s->fd, (off_t)s->file_bytes) < 0)
		return -errno;
	s->torn_bytes = 0;
	return 0;
}

static int write_whole(struct sink *s)
{
	size_t done;
	int r = cut_back(s);

	if (r < 0 && s->len < s->torn_bytes) /* else the buffer covers it */
		return r;
	r = write_at(s->fd, s->buf, s->len, s->file_bytes, &done);
	s->torn_bytes = r < 0 ? MAX(s->torn_bytes, MAX(done, 1U)) : 0;
	return r;
}

/* Writes the buffer behind the whole rows: 0, or -errno and the file is cut back, or torn. */
static int write_buffer(struct sink *s)
{
	int r = write_whole(s);

	if (r == -ESTALE && open_anew(s) == 0)
		r = write_whole(s);
	if (r < 0)
		cut_back(s); /* else at the next flush; readers skip a partial last row */
	return r;
}

static void drop_buffer(struct sink *s)
{
	util_count(&s->lost, s->rows_buffered);
	s->rows_buffered = 0;
	s->len = s->text_len;
}

static void count_written(struct sink *sink)
{
	if (sink->rows_buffered && sink->rows == sink->rows_before)
		sink->first_ns = sink->buffered_first_ns;
	if (sink->rows_buffered)
		sink->written_last_ns = sink->last_ts_ns;
	util_count(&sink->rows, sink->rows_buffered);
	util_count(&sink->bytes, sink->len);
	util_count(&sink->file_bytes, sink->len);
	sink->len = 0;
	sink->text_len = 0;
	sink->rows_buffered = 0;
}

void sink_cut_back(struct sink *s)
{
	if (s->buf)
		cut_back(s);
}

void sink_drop_rows(struct sink *s)
{
	if (!s->buf)
		return;
	__atomic_store_n(&s->paused, true, __ATOMIC_RELAXED);
	drop_buffer(s);
	cut_back(s);
}

int sink_flush(struct sink *sink)
{
	int r;

	if (!sink->len)
		return sink->buf ? cut_back(sink) : 0;
	r = write_buffer(sink);
	set_error(sink, r);
	if (r == 0) {
		count_written(sink);
		allocate_ahead(sink);
	} else if (!sink->holds || sink->len > SINK_BUFFER_BYTES - SINK_ROW_MAX) {
		drop_buffer(sink);
	}
	if (r == 0 && sink->split && sink->split->bytes && sink->file_bytes >= sink->split_at &&
	    sink->rows > sink->rows_before)
		begin_segment(sink);
	set_flush_at(sink);
	return r;
}
