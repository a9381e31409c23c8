/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

/* At once, of the buffer's capacity: to be used while it is in the cache. */
#define READ_BYTES (64U << 10)

static int refill(struct reader *reader)
{
	ssize_t n;

	reader->len -= reader->pos;
	memmove(reader->buf, reader->buf + reader->pos, reader->len);
	reader->offset += reader->pos;
	reader->pos = 0;
	if (reader->len == READER_BUFFER_BYTES)
		return 0;
	n = unpack_read(&reader->text, reader->buf + reader->len, MIN(READER_BUFFER_BYTES - reader->len, READ_BYTES));
	if (n < 0)
		return (int)n;
	reader->zeros |= memchr(reader->buf + reader->len, '\0', (size_t)n) != NULL;
	reader->len += (size_t)n;
	return n > 0;
}

/* Finds the next whole line of the segment without its newline: 1, 0 at its end, -errno. */
static int next_line(struct reader *reader, struct reader_field *line)
{
	size_t seen = 0; /* length of the unread part that is known to hold no newline */

	for (;;) {
		char *p = reader->buf + reader->pos;
		char *end = memchr(p + seen, '\n', reader->len - reader->pos - seen);
		int got;

		if (end) {
			reader->pos += (size_t)(end - p) + 1;
			*line = (struct reader_field){ p, (size_t)(end - p) };
			if (!reader->skip)
				return 1;
			reader->skip = false;
			seen = 0;
			continue;
		}
		seen = reader->len - reader->pos;
		if (seen == READER_BUFFER_BYTES) {
			reader->bad_rows += !reader->skip;
			reader->skip = true;
			reader->pos = reader->len;
			seen = 0;
		}
		got = refill(reader);
		if (got > 0)
			continue;
		reader->cut |= got == 0 && (reader->len > 0 || reader->skip);
		return got;
	}
}

/* Line 1: "# dltraced <name> <schema> ..." */
static int parse_title(struct reader *r, struct reader_field line)
{
	char text[128];
	size_t n = MIN(line.len, sizeof(text) - 1);

	memcpy(text, line.p, n);
	text[n] = '\0';
	return sscanf(text, "# dltraced %31s %9u", r->name, &r->schema) == 2 ? 0 : -EBADMSG;
}

/* Line 2. Columns past READER_COLUMNS_MAX are for later versions. */
static int parse_columns(struct reader *reader, struct reader_field line)
{
	char *p;

	if (reader->header_line) /* every segment repeats the first one's */
		return reader_is(line, reader->header_line) ? 0 : -EBADMSG;
	reader->header = strndup(line.p, line.len);
	reader->header_line = strndup(line.p, line.len);
	if (!reader->header || !reader->header_line)
		return -ENOMEM;
	for (p = reader->header; p && reader->n_columns < READER_COLUMNS_MAX;)
		reader->columns[reader->n_columns++] = strsep(&p, "\t");
	return 0;
}

static int read_header(struct reader *reader)
{
	struct reader_field line;
	int got = next_line(reader, &line);

	if (got > 0 && parse_title(reader, line) < 0)
		return -EBADMSG;
	if (got > 0)
		got = next_line(reader, &line);
	if (got <= 0) {
		if (got < 0)
			return got;
		return reader->text.damaged ? -EBADMSG : -ENODATA;
	}
	return parse_columns(reader, line);
}

/* --- segments ------------------------------------------------------------------------------------- */

/* Opens FILE of the folder: its descriptor and size, or -errno. */
static int open_regular(const struct reader *r, const char *file, uint64_t *bytes_ret)
{
	autoclose int fd = util_open_regular(r->dirfd, file, 0);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	*bytes_ret = (uint64_t)st.st_size;
	return TAKE_FD(fd);
}

/* A segment that has been packed since it was listed has another name now. */
static int open_numbered(const struct reader *reader, struct segment_file *file, uint64_t *bytes_ret)
{
	char name[NAME_MAX + 1];
	int fd;

	segment_format(name, reader->base, file->nr, file->pack);
	fd = open_regular(reader, name, bytes_ret);
	for (enum pack p = PACK_NONE; fd == -ENOENT && p < PACKS; p++) {
		segment_format(name, reader->base, file->nr, p);
		fd = open_regular(reader, name, bytes_ret);
		if (fd >= 0)
			file->pack = p;
	}
	return fd;
}

/* Opens the text of segment I at its beginning. 0 or -errno. */
static int open_text(struct reader *reader, size_t i)
{
	struct reader_segment *segment = &reader->segments[i];
	bool growing = reader->growing_fd >= 0 && segment->file.nr == SEGMENT_LAST &&
		       segment->file.pack == reader->growing_pack;
	uint64_t bytes = reader->growing_bytes;
	int fd =
		growing ? fcntl(reader->growing_fd, F_DUPFD_CLOEXEC, 0) : open_numbered(reader, &segment->file, &bytes);

	unpack_close(&reader->text);
	reader->at = i;
	reader->offset = segment->start;
	reader->pos = reader->len = 0;
	reader->lines->at = reader->lines->n = 0;
	reader->skip = false;
	if (fd < 0)
		return growing ? -errno : fd;
	if (!segment->opened)
		reader->stored_bytes += bytes;
	segment->opened = true;
	return unpack_open(&reader->text, fd, segment->file.pack, bytes, &segment->marks);
}

static void end_text(struct reader *reader)
{
	struct reader_segment *s = &reader->segments[reader->at];

	if (s->read)
		return;
	s->read = true;
	s->end = reader->offset + reader->len;
	reader->damaged += reader->text.damaged;
	reader->cut |= reader->text.cut;
	if (reader->at + 1 < reader->n_segments)
		reader->segments[reader->at + 1].start = s->end;
}

static int open_segment(struct reader *reader, size_t i)
{
	int res = open_text(reader, i);

	if (res == 0)
		res = read_header(reader);
	if (res == 0)
		return 0;
	end_text(reader);
	reader->segments[i].bad = true;
	reader->gone += res == -ENOENT;
	/* a segment that has just begun may be empty */
	reader->bad += res != -ENOENT && !(res == -ENODATA && i && reader->segments[i].file.nr == SEGMENT_LAST);
	reader->error = res;
	return res;
}

/* Opens the first readable segment from I on. 0; -ENOENT: there is none. */
static int open_next(struct reader *r, size_t i)
{
	for (; i < r->n_segments; i++)
		if (open_segment(r, i) == 0)
			return 0;
	return -ENOENT;
}

/*
 * The growing file is opened first: segments that are listed after that, having been split off since, are
 * not read twice, because the header of a file that will be split off has its number.
 */
static uint32_t open_growing(struct reader *reader)
{
	char name[NAME_MAX + 1], title[256] = "";
	const char *nr;
	int fd;

	segment_format(name, reader->base, SEGMENT_LAST, PACK_NONE);
	fd = open_regular(reader, name, &reader->growing_bytes);
	if (fd < 0)
		return 0;
	reader->growing_fd = fd;
	if (pread(fd, title, MIN(sizeof(title) - 1, reader->growing_bytes), 0) < 0)
		return 0;
	title[strcspn(title, "\n")] = '\0';
	nr = strstr(title, SEGMENT_KEY);
	return nr ? (uint32_t)strtoul(nr + strlen(SEGMENT_KEY), NULL, 10) : 0;
}

/* Lists the growing file alone. */
static int list_growing(struct reader *reader)
{
	reader->growing_nr = open_growing(reader);
	if (reader->growing_fd < 0)
		return 0;
	reader->segments = calloc(1, sizeof(*reader->segments));
	if (!reader->segments)
		return -ENOMEM;
	reader->segments[reader->n_segments++].file = (struct segment_file){ SEGMENT_LAST, PACK_NONE };
	return 0;
}

static int list_segments(struct reader *reader, const char *file, bool all)
{
	struct segment_list l = { 0 };
	struct segment_name name;
	bool growing;
	uint32_t nr;
	int res;

	if (!segment_parse(file, &name) || name.nr != SEGMENT_LAST)
		return -EINVAL;
	memcpy(reader->base, name.base, sizeof(reader->base));
	if (!all)
		return list_growing(reader);
	nr = reader->growing_nr = open_growing(reader);
	res = segment_list_read(&l, reader->dirfd, reader->base, nr);
	if (res < 0)
		return res;
	growing = nr || (reader->growing_fd >= 0 && (!l.n || l.v[l.n - 1].nr != SEGMENT_LAST));
	reader->segments = calloc(l.n + growing, sizeof(*reader->segments));
	for (size_t i = 0; reader->segments && i < l.n; i++)
		reader->segments[reader->n_segments++].file = l.v[i];
	if (reader->segments && growing)
		reader->segments[reader->n_segments++].file = (struct segment_file){ SEGMENT_LAST, PACK_NONE };
	reader->missing = l.missing;
	res = reader->segments || !(l.n + growing) ? 0 : -ENOMEM;
	segment_list_free(&l);
	return res;
}

int reader_rewind(struct reader *r)
{
	return open_next(r, 0) < 0 ? r->error : 0;
}

static int open_in(struct reader *reader, int dirfd, const char *file, bool all)
{
	char name[NAME_MAX + 1];
	uint64_t bytes;
	int res;

	reader->dirfd = fcntl(dirfd, F_DUPFD_CLOEXEC, 0);
	if (reader->dirfd < 0 || !reader->buf || !reader->lines)
		return reader->dirfd < 0 ? -errno : -ENOMEM;
	res = list_segments(reader, file, all);
	if (res < 0)
		return res;
	if (!reader->n_segments) {
		segment_format(name, reader->base, SEGMENT_LAST, PACK_NONE);
		res = open_regular(reader, name, &bytes);
		return res < 0 ? res : -EAGAIN;
	}
	return reader_rewind(reader);
}

/* The buffer has room at both ends, so that the first and last bytes can be read like any others. */
static void init(struct reader *r)
{
	char *room = malloc(LINES_BYTES + READER_BUFFER_BYTES + LINES_BYTES);

	*r = (struct reader){ .dirfd = -1, .growing_fd = -1, .lines = calloc(1, sizeof(*r->lines)) };
	r->buf = room ? room + LINES_BYTES : NULL;
}

static int open_file(struct reader *r, int dirfd, const char *file, bool all)
{
	int res;

	init(r);
	res = open_in(r, dirfd, file, all);
	if (res < 0)
		reader_close(r);
	return res;
}

int reader_open(struct reader *r, int dirfd, const char *file)
{
	return open_file(r, dirfd, file, true);
}

int reader_open_growing(struct reader *r, int dirfd, const char *file)
{
	return open_file(r, dirfd, file, false);
}

int reader_open_fd(struct reader *reader, int fd, enum pack pack, uint64_t bytes)
{
	int res;

	init(reader);
	reader->growing_fd = fd;
	reader->growing_pack = pack;
	reader->growing_bytes = bytes;
	reader->segments = calloc(1, sizeof(*reader->segments));
	res = reader->buf && reader->lines && reader->segments ? 0 : -ENOMEM;
	if (res == 0) {
		reader->segments[0].file = (struct segment_file){ SEGMENT_LAST, pack };
		reader->n_segments = 1;
		res = open_segment(reader, 0);
	}
	if (res < 0) {
		if (!reader->buf)
			close(fd);
		reader_close(reader);
	}
	return res;
}

void reader_close(struct reader *reader)
{
	if (reader->buf) { /* an all-zero reader has descriptor 0, which is not ours */
		util_close(&reader->dirfd);
		util_close(&reader->growing_fd);
		free(reader->buf - LINES_BYTES);
	}
	unpack_close(&reader->text);
	for (size_t i = 0; i < reader->n_segments; i++)
		unpack_marks_free(&reader->segments[i].marks);
	free(reader->segments);
	free(reader->lines);
	free(reader->header);
	free(reader->header_line);
	*reader = (struct reader){ .dirfd = -1, .growing_fd = -1 };
}

/* --- rows ----------------------------------------------------------------------------------------- */

unsigned int reader_column(const struct reader *r, const char *name)
{
	for (unsigned int i = 0; i < r->n_columns; i++)
		if (strcmp(r->columns[i], name) == 0)
			return i + 1;
	return 0;
}

/* Finds the lines in the buffer, or the next one, however long: 1, 0 at the end of the segment, -errno. */
static int find_lines(struct reader *reader)
{
	struct reader_field line;
	int got;

	if (!reader->skip && lines_find(reader->lines, reader->buf, (uint32_t)reader->pos, (uint32_t)reader->len))
		return 1;
	got = next_line(reader, &line);
	if (got > 0)
		lines_one(reader->lines, reader->buf, (uint32_t)(line.p - reader->buf), (uint32_t)line.len);
	return got;
}

/* Of the lines that are found. */
static inline unsigned int take_rows(struct reader *reader, struct reader_row *rows, unsigned int max)
{
	struct lines *lines = reader->lines;
	const char *buf = reader->buf;
	const uint64_t offset = reader->offset;
	const bool zeros = reader->zeros;
	const uint32_t n_columns = reader->n_columns, n_lines = lines->n;
	uint32_t at = lines->at, last = lines->end[at];
	unsigned int n = 0;

	while (n < max && at < n_lines) {
		const uint32_t first = last, begin = lines->stop[first] + 1;

		last = lines->end[++at];
		if (buf[begin] == '#')
			continue;
		if (last - first < n_columns || (zeros && memchr(buf + begin, '\0', lines->stop[last] - begin))) {
			reader->bad_rows++;
			continue;
		}
		rows[n++] = (struct reader_row){ offset + begin, buf, lines->stop + first };
	}
	if (at != lines->at)
		reader->pos = lines->stop[last] + 1;
	lines->at = at;
	reader->rows += n;
	return n;
}

/* Keeps the rows of the times that are wanted. Returns how many. */
static unsigned int keep_times(struct reader *reader, struct reader_row *rows, unsigned int n)
{
	const unsigned int timestamp = reader_column(reader, "TIMESTAMP");
	unsigned int kept = 0;
	uint64_t ns;

	for (unsigned int i = 0; i < n; i++)
		if (reader_u64(reader_field(&rows[i], timestamp), &ns) && ns >= reader->begin_ns && ns < reader->end_ns)
			rows[kept++] = rows[i];
	reader->outside += n - kept;
	return kept;
}

int reader_next_rows(struct reader *reader, struct reader_row *rows, unsigned int max)
{
	for (;;) {
		const unsigned int n = take_rows(reader, rows, max),
				   kept = n && reader->end_ns ? keep_times(reader, rows, n) : n;
		int got;

		if (kept)
			return (int)kept;
		if (n)
			continue;
		got = find_lines(reader);
		if (got < 0)
			return got;
		if (got > 0)
			continue;
		end_text(reader);
		if (open_next(reader, reader->at + 1) < 0)
			return 0;
	}
}

int reader_next(struct reader *r, struct reader_row *row)
{
	return reader_next_rows(r, row, 1);
}

/* Returns the segment that byte OFFSET has been read from before, or n_segments. */
static size_t segment_of(const struct reader *r, uint64_t offset)
{
	for (size_t i = 0; i < r->n_segments; i++) {
		const struct reader_segment *s = &r->segments[i];
		uint64_t end = i == r->at ? r->offset + r->len : 0;

		if (s->read)
			end = s->end;

		if (!s->bad && offset >= s->start && offset < end)
			return i;
	}
	return r->n_segments;
}

int reader_seek(struct reader *reader, uint64_t offset)
{
	size_t i = segment_of(reader, offset);
	int res;

	if (i == reader->n_segments)
		return -EINVAL;
	res = open_text(reader, i);
	if (res == 0)
		res = unpack_seek(&reader->text, offset - reader->segments[i].start);
	reader->offset = offset;
	return res;
}
