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

static int refill(struct reader *r)
{
	ssize_t n;

	r->len -= r->pos;
	memmove(r->buf, r->buf + r->pos, r->len);
	r->offset += r->pos;
	r->pos = 0;
	if (r->len == READER_BUFFER_BYTES)
		return 0;
	n = unpack_read(&r->text, r->buf + r->len, MIN(READER_BUFFER_BYTES - r->len, READ_BYTES));
	if (n < 0)
		return (int)n;
	r->zeros |= memchr(r->buf + r->len, '\0', (size_t)n) != NULL;
	r->len += (size_t)n;
	return n > 0;
}

/* Finds the next whole line of the segment without its newline: 1, 0 at its end, -errno. */
static int next_line(struct reader *r, struct reader_field *line)
{
	size_t seen = 0; /* length of the unread part that is known to hold no newline */

	for (;;) {
		char *p = r->buf + r->pos;
		char *end = memchr(p + seen, '\n', r->len - r->pos - seen);
		int got;

		if (end) {
			r->pos += (size_t)(end - p) + 1;
			*line = (struct reader_field){ p, (size_t)(end - p) };
			if (!r->skip)
				return 1;
			r->skip = false;
			seen = 0;
			continue;
		}
		seen = r->len - r->pos;
		if (seen == READER_BUFFER_BYTES) {
			r->bad_rows += !r->skip;
			r->skip = true;
			r->pos = r->len;
			seen = 0;
		}
		got = refill(r);
		if (got > 0)
			continue;
		r->cut |= got == 0 && (r->len > 0 || r->skip);
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
static int parse_columns(struct reader *r, struct reader_field line)
{
	char *p;

	if (r->header_line) /* every segment repeats the first one's */
		return reader_is(line, r->header_line) ? 0 : -EBADMSG;
	r->header = strndup(line.p, line.len);
	r->header_line = strndup(line.p, line.len);
	if (!r->header || !r->header_line)
		return -ENOMEM;
	for (p = r->header; p && r->n_columns < READER_COLUMNS_MAX;)
		r->columns[r->n_columns++] = strsep(&p, "\t");
	return 0;
}

static int read_header(struct reader *r)
{
	struct reader_field line;
	int got = next_line(r, &line);

	if (got > 0 && parse_title(r, line) < 0)
		return -EBADMSG;
	if (got > 0)
		got = next_line(r, &line);
	if (got <= 0)
		return got < 0 ? got : r->text.damaged ? -EBADMSG : -ENODATA;
	return parse_columns(r, line);
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
static int open_numbered(const struct reader *r, struct segment_file *f, uint64_t *bytes_ret)
{
	char name[NAME_MAX + 1];
	int fd;

	segment_format(name, r->base, f->nr, f->pack);
	fd = open_regular(r, name, bytes_ret);
	for (enum pack p = PACK_NONE; fd == -ENOENT && p < PACKS; p++) {
		segment_format(name, r->base, f->nr, p);
		fd = open_regular(r, name, bytes_ret);
		if (fd >= 0)
			f->pack = p;
	}
	return fd;
}

/* Opens the text of segment I at its beginning. 0 or -errno. */
static int open_text(struct reader *r, size_t i)
{
	struct reader_segment *s = &r->segments[i];
	bool growing = r->growing_fd >= 0 && s->file.nr == SEGMENT_LAST && s->file.pack == r->growing_pack;
	uint64_t bytes = r->growing_bytes;
	int fd = growing ? fcntl(r->growing_fd, F_DUPFD_CLOEXEC, 0) : open_numbered(r, &s->file, &bytes);

	unpack_close(&r->text);
	r->at = i;
	r->offset = s->start;
	r->pos = r->len = 0;
	r->lines->at = r->lines->n = 0;
	r->skip = false;
	if (fd < 0)
		return growing ? -errno : fd;
	if (!s->opened)
		r->stored_bytes += bytes;
	s->opened = true;
	return unpack_open(&r->text, fd, s->file.pack, bytes, &s->marks);
}

static void end_text(struct reader *r)
{
	struct reader_segment *s = &r->segments[r->at];

	if (s->read)
		return;
	s->read = true;
	s->end = r->offset + r->len;
	r->damaged += r->text.damaged;
	r->cut |= r->text.cut;
	if (r->at + 1 < r->n_segments)
		r->segments[r->at + 1].start = s->end;
}

static int open_segment(struct reader *r, size_t i)
{
	int res = open_text(r, i);

	if (res == 0)
		res = read_header(r);
	if (res == 0)
		return 0;
	end_text(r);
	r->segments[i].bad = true;
	r->gone += res == -ENOENT;
	/* a segment that has just begun may be empty */
	r->bad += res != -ENOENT && !(res == -ENODATA && i && r->segments[i].file.nr == SEGMENT_LAST);
	r->error = res;
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
static uint32_t open_growing(struct reader *r)
{
	char name[NAME_MAX + 1], title[256] = "";
	const char *nr;
	int fd;

	segment_format(name, r->base, SEGMENT_LAST, PACK_NONE);
	fd = open_regular(r, name, &r->growing_bytes);
	if (fd < 0)
		return 0;
	r->growing_fd = fd;
	if (pread(fd, title, MIN(sizeof(title) - 1, r->growing_bytes), 0) < 0)
		return 0;
	title[strcspn(title, "\n")] = '\0';
	nr = strstr(title, SEGMENT_KEY);
	return nr ? (uint32_t)strtoul(nr + strlen(SEGMENT_KEY), NULL, 10) : 0;
}

static int list_segments(struct reader *r, const char *file)
{
	struct segment_list l = { 0 };
	struct segment_name name;
	bool growing;
	uint32_t nr;
	int res;

	if (!segment_parse(file, &name) || name.nr != SEGMENT_LAST)
		return -EINVAL;
	memcpy(r->base, name.base, sizeof(r->base));
	nr = open_growing(r);
	res = segment_list_read(&l, r->dirfd, r->base, nr);
	if (res < 0)
		return res;
	growing = nr || (r->growing_fd >= 0 && (!l.n || l.v[l.n - 1].nr != SEGMENT_LAST));
	r->segments = calloc(l.n + growing, sizeof(*r->segments));
	for (size_t i = 0; r->segments && i < l.n; i++)
		r->segments[r->n_segments++].file = l.v[i];
	if (r->segments && growing)
		r->segments[r->n_segments++].file = (struct segment_file){ SEGMENT_LAST, PACK_NONE };
	r->missing = l.missing;
	res = r->segments || !(l.n + growing) ? 0 : -ENOMEM;
	segment_list_free(&l);
	return res;
}

int reader_rewind(struct reader *r)
{
	return open_next(r, 0) < 0 ? r->error : 0;
}

static int open_all(struct reader *r, int dirfd, const char *file)
{
	char name[NAME_MAX + 1];
	uint64_t bytes;
	int res;

	r->dirfd = fcntl(dirfd, F_DUPFD_CLOEXEC, 0);
	if (r->dirfd < 0 || !r->buf || !r->lines)
		return r->dirfd < 0 ? -errno : -ENOMEM;
	res = list_segments(r, file);
	if (res < 0)
		return res;
	if (!r->n_segments) {
		segment_format(name, r->base, SEGMENT_LAST, PACK_NONE);
		res = open_regular(r, name, &bytes);
		return res < 0 ? res : -EAGAIN;
	}
	return reader_rewind(r);
}

/* The buffer has room at both ends, so that the first and last bytes can be read like any others. */
static void init(struct reader *r)
{
	char *room = malloc(LINES_BYTES + READER_BUFFER_BYTES + LINES_BYTES);

	*r = (struct reader){ .dirfd = -1, .growing_fd = -1, .lines = calloc(1, sizeof(*r->lines)) };
	r->buf = room ? room + LINES_BYTES : NULL;
}

int reader_open(struct reader *r, int dirfd, const char *file)
{
	int res;

	init(r);
	res = open_all(r, dirfd, file);
	if (res < 0)
		reader_close(r);
	return res;
}

int reader_open_fd(struct reader *r, int fd, enum pack pack, uint64_t bytes)
{
	int res;

	init(r);
	r->growing_fd = fd;
	r->growing_pack = pack;
	r->growing_bytes = bytes;
	r->segments = calloc(1, sizeof(*r->segments));
	res = r->buf && r->lines && r->segments ? 0 : -ENOMEM;
	if (res == 0) {
		r->segments[0].file = (struct segment_file){ SEGMENT_LAST, pack };
		r->n_segments = 1;
		res = open_segment(r, 0);
	}
	if (res < 0) {
		if (!r->buf)
			close(fd);
		reader_close(r);
	}
	return res;
}

void reader_close(struct reader *r)
{
	if (r->buf) { /* an all-zero reader has descriptor 0, which is not ours */
		util_close(&r->dirfd);
		util_close(&r->growing_fd);
		free(r->buf - LINES_BYTES);
	}
	unpack_close(&r->text);
	for (size_t i = 0; i < r->n_segments; i++)
		unpack_marks_free(&r->segments[i].marks);
	free(r->segments);
	free(r->lines);
	free(r->header);
	free(r->header_line);
	*r = (struct reader){ .dirfd = -1, .growing_fd = -1 };
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
static int find_lines(struct reader *r)
{
	struct reader_field line;
	int got;

	if (!r->skip && lines_find(r->lines, r->buf, (uint32_t)r->pos, (uint32_t)r->len))
		return 1;
	got = next_line(r, &line);
	if (got > 0)
		lines_one(r->lines, r->buf, (uint32_t)(line.p - r->buf), (uint32_t)line.len);
	return got;
}

/* Of the lines that are found. */
static inline unsigned int take_rows(struct reader *r, struct reader_row *rows, unsigned int max)
{
	struct lines *l = r->lines;
	const char *buf = r->buf;
	const uint64_t offset = r->offset;
	const bool zeros = r->zeros;
	const uint32_t n_columns = r->n_columns, n_lines = l->n;
	uint32_t at = l->at, last = l->end[at];
	unsigned int n = 0;

	while (n < max && at < n_lines) {
		const uint32_t first = last, begin = l->stop[first] + 1;

		last = l->end[++at];
		if (buf[begin] == '#')
			continue;
		if (last - first < n_columns || (zeros && memchr(buf + begin, '\0', l->stop[last] - begin))) {
			r->bad_rows++;
			continue;
		}
		rows[n++] = (struct reader_row){ offset + begin, buf, l->stop + first };
	}
	if (at != l->at)
		r->pos = l->stop[last] + 1;
	l->at = at;
	r->rows += n;
	return n;
}

/* Keeps the rows of the times that are wanted. Returns how many. */
static unsigned int keep_times(struct reader *r, struct reader_row *rows, unsigned int n)
{
	const unsigned int timestamp = reader_column(r, "TIMESTAMP");
	unsigned int kept = 0;
	uint64_t ns;

	for (unsigned int i = 0; i < n; i++)
		if (reader_u64(reader_field(&rows[i], timestamp), &ns) && ns >= r->begin_ns && ns < r->end_ns)
			rows[kept++] = rows[i];
	r->outside += n - kept;
	return kept;
}

int reader_next_rows(struct reader *r, struct reader_row *rows, unsigned int max)
{
	for (;;) {
		const unsigned int n = take_rows(r, rows, max), kept = n && r->end_ns ? keep_times(r, rows, n) : n;
		int got;

		if (kept)
			return (int)kept;
		if (n)
			continue;
		got = find_lines(r);
		if (got < 0)
			return got;
		if (got > 0)
			continue;
		end_text(r);
		if (open_next(r, r->at + 1) < 0)
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
		uint64_t end = s->read ? s->end : i == r->at ? r->offset + r->len : 0;

		if (!s->bad && offset >= s->start && offset < end)
			return i;
	}
	return r->n_segments;
}

int reader_seek(struct reader *r, uint64_t offset)
{
	size_t i = segment_of(r, offset);
	int res;

	if (i == r->n_segments)
		return -EINVAL;
	res = open_text(r, i);
	if (res == 0)
		res = unpack_seek(&r->text, offset - r->segments[i].start);
	r->offset = offset;
	return res;
}
