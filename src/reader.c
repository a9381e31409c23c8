/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bytemask.h"
#include "util.h"

/* At once, of what the buffer has room for: to be taken while the processor has it near. */
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
	r->len += (size_t)n;
	return n > 0;
}

/* The next whole line of the segment without its newline: 1, 0 at its end, -errno. */
static int next_line(struct reader *r, struct reader_field *line)
{
	size_t seen = 0; /* of the unread part, known to hold no newline */

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

/* Line 2. Columns past READER_COLUMNS_MAX are for versions that know them. */
static int parse_columns(struct reader *r, struct reader_field line)
{
	char *p;

	if (r->header_line) /* every segment repeats that of the first */
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

/* FILE of the folder: its descriptor and size, or -errno. */
static int open_regular(const struct reader *r, const char *file, uint64_t *bytes_ret)
{
	autoclose int fd = util_open_regular(r->dirfd, file, 0);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	*bytes_ret = (uint64_t)st.st_size;
	return TAKE_FD(fd);
}

/* One that has been packed since it was listed is there under another name. */
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

/* The text of segment I from its beginning. 0 or -errno. */
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
	/* one that has just begun has nothing to tell */
	r->bad += res != -ENOENT && !(res == -ENODATA && i && r->segments[i].file.nr == SEGMENT_LAST);
	r->error = res;
	return res;
}

/* The first segment from I on that can be read. 0; -ENOENT: there is none. */
static int open_next(struct reader *r, size_t i)
{
	for (; i < r->n_segments; i++)
		if (open_segment(r, i) == 0)
			return 0;
	return -ENOENT;
}

/*
 * What grows is opened first: what is listed after that and split off later is not read twice, since
 * the number of a file that will be split off stands in its header.
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

static int open_all(struct reader *r, int dirfd, const char *file)
{
	char name[NAME_MAX + 1];
	uint64_t bytes;
	int res;

	r->dirfd = fcntl(dirfd, F_DUPFD_CLOEXEC, 0);
	if (r->dirfd < 0 || !r->buf)
		return r->dirfd < 0 ? -errno : -ENOMEM;
	res = list_segments(r, file);
	if (res < 0)
		return res;
	if (!r->n_segments) {
		segment_format(name, r->base, SEGMENT_LAST, PACK_NONE);
		res = open_regular(r, name, &bytes);
		return res < 0 ? res : -EAGAIN;
	}
	return open_next(r, 0) < 0 ? r->error : 0;
}

/* With room at both ends, so that the first and last bytes can be looked at as any others. */
static char *new_buffer(void)
{
	char *room = malloc(BYTEMASK_BYTES + READER_BUFFER_BYTES + BYTEMASK_BYTES);

	return room ? room + BYTEMASK_BYTES : NULL;
}

static void free_buffer(char *buf)
{
	if (buf)
		free(buf - BYTEMASK_BYTES);
}

int reader_open(struct reader *r, int dirfd, const char *file)
{
	int res;

	*r = (struct reader){ .dirfd = -1, .growing_fd = -1, .buf = new_buffer() };
	res = open_all(r, dirfd, file);
	if (res < 0)
		reader_close(r);
	return res;
}

int reader_open_fd(struct reader *r, int fd, enum pack pack, uint64_t bytes)
{
	int res;

	*r = (struct reader){
		.dirfd = -1, .growing_fd = fd, .growing_pack = pack, .growing_bytes = bytes,
		.buf = new_buffer(), .segments = calloc(1, sizeof(*r->segments)),
	};
	res = r->buf && r->segments ? 0 : -ENOMEM;
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
	if (r->buf) { /* descriptor 0 of one that is all zero is not ours */
		util_close(&r->dirfd);
		util_close(&r->growing_fd);
	}
	unpack_close(&r->text);
	for (size_t i = 0; i < r->n_segments; i++)
		unpack_marks_free(&r->segments[i].marks);
	free(r->segments);
	free_buffer(r->buf);
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

/* Where splitting a row stands. */
struct split {
	const char *begin;	/* of the next field, which has no end yet */
	struct reader_field *f; /* that it will be */
	const struct reader_field *end; /* behind the last of the header's columns */
};

static inline struct split begin_split(const struct reader *r, const char *line, struct reader_row *row)
{
	static const char absent[] = "                -"; /* reader_row_u64() looks before it */

	row->f[0] = (struct reader_field){ absent + sizeof(absent) - 2, 1 };
	return (struct split){ line, row->f + 1, row->f + 1 + r->n_columns };
}

/* The fields that end at the bits of TABS, from P on; what is behind the header's columns is left out. */
static inline void take_fields(struct split *s, const char *p, uint64_t tabs)
{
	for (; tabs && s->f < s->end; tabs &= tabs - 1) {
		const char *tab = p + (unsigned int)__builtin_ctzll(tabs);

		*s->f++ = (struct reader_field){ s->begin, (size_t)(tab - s->begin) };
		s->begin = tab + 1;
	}
}

/* The row ends at END; false when it has fewer fields than the header columns. */
static inline bool end_split(struct split *s, const char *end)
{
	if (s->f < s->end)
		*s->f++ = (struct reader_field){ s->begin, (size_t)(end - s->begin) };
	return s->f == s->end;
}

static bool split(const struct reader *r, struct reader_field line, struct reader_row *row)
{
	struct split s = begin_split(r, line.p, row);
	const char *p = line.p, *end = line.p + line.len;

	for (; p < end; p += BYTEMASK_BYTES) /* the buffer has room behind its end */
		take_fields(&s, p,
			    bytemask_of(p, '\t') & (end - p < BYTEMASK_BYTES ? (1ULL << (end - p)) - 1 : UINT64_MAX));
	return end_split(&s, end);
}

/* The newline in the 64 bytes from P on, and before LIMIT; NULL: none. */
static inline const char *find_newline(const char *p, const char *limit)
{
	uint64_t newlines = bytemask_has(p, '\n') ? bytemask_of(p, '\n') : 0;

	return newlines && __builtin_ctzll(newlines) < limit - p ? p + __builtin_ctzll(newlines) : NULL;
}

/*
 * The next row where it is whole in the buffer, which nearly all are: lines and fields are found in one go.
 * False: next_line() has to look, nothing is taken.
 */
static bool next_in_buffer(struct reader *r, struct reader_row *row, bool *is_row)
{
	const char *begin = r->buf + r->pos, *limit = r->buf + r->len;
	struct split s = begin_split(r, begin, row);

	if (r->skip || begin == limit || *begin == '#')
		return false;
	for (const char *p = begin; p < limit; p += BYTEMASK_BYTES) {
		const char *end = find_newline(p, limit);
		uint64_t tabs = bytemask_of(p, '\t');

		if (!end) {
			take_fields(&s, p, tabs);
			continue;
		}
		take_fields(&s, p, tabs & ((1ULL << (end - p)) - 1));
		*is_row = end_split(&s, end);
		row->offset = r->offset + r->pos;
		r->pos = (size_t)(end - r->buf) + 1;
		return true;
	}
	return false;
}

bool reader_next_here(struct reader *r, struct reader_row *row)
{
	bool is_row;

	while (next_in_buffer(r, row, &is_row)) {
		if (is_row) {
			r->rows++;
			return true;
		}
		r->bad_rows++;
	}
	return false;
}

int reader_next(struct reader *r, struct reader_row *row)
{
	struct reader_field line;
	int got;

	for (;;) {
		if (reader_next_here(r, row))
			return 1;
		got = next_line(r, &line);
		if (got < 0)
			return got;
		if (got == 0) {
			end_text(r);
			if (open_next(r, r->at + 1) < 0)
				return 0;
			continue;
		}
		if (line.len && line.p[0] == '#')
			continue;
		row->offset = r->offset + (uint64_t)(line.p - r->buf);
		if (split(r, line, row)) {
			r->rows++;
			return 1;
		}
		r->bad_rows++;
	}
}

/* The segment that byte OFFSET has been read from before, or n_segments. */
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

/* LEN digits, 1 to 8; nothing around them is looked at. */
static inline uint64_t eight_digits(const char *p, size_t len)
{
	const size_t before = 8 * (8 - len);
	uint64_t text;

	if (len >= 4) {
		uint32_t first, last;

		memcpy(&first, p, sizeof(first));
		memcpy(&last, p + len - sizeof(last), sizeof(last));
		text = (uint64_t)le32toh(last) << 32 | (uint64_t)le32toh(first) << before;
	} else {
		text = (uint64_t)(unsigned char)p[len - 1] << 56 | (uint64_t)(unsigned char)p[len / 2] << (before + 8 * (len / 2)) |
		       (uint64_t)(unsigned char)p[0] << before;
	}
	return digits_last(text, len);
}

bool reader_long_u64(struct reader_field f, uint64_t *ret)
{
	uint64_t v = 0;

	if (f.len == 0 || f.len > 20)
		return false;
	for (size_t i = 0; i < f.len; i++) {
		unsigned int digit = (unsigned char)f.p[i] - '0';

		if (digit > 9 || v > UINT64_MAX / 10 || v * 10 > UINT64_MAX - digit)
			return false;
		v = v * 10 + digit;
	}
	*ret = v;
	return true;
}

bool reader_u64(struct reader_field f, uint64_t *ret)
{
	uint64_t high = 0, low;

	if (f.len - 1 >= 16)
		return reader_long_u64(f, ret);
	if (f.len > 8) {
		high = eight_digits(f.p, f.len - 8);
		if (!digits_are(high))
			return false;
		high = digits_number(high) * 100000000;
		f.p += f.len - 8;
		f.len = 8;
	}
	low = eight_digits(f.p, f.len);
	if (!digits_are(low))
		return false;
	*ret = high + digits_number(low);
	return true;
}

bool reader_s64(struct reader_field f, int64_t *ret)
{
	bool negative = f.len && f.p[0] == '-';
	uint64_t v;

	if (!reader_u64((struct reader_field){ f.p + negative, f.len - negative }, &v) ||
	    v > (uint64_t)INT64_MAX + negative)
		return false;
	*ret = (int64_t)(negative ? 0 - v : v);
	return true;
}

bool reader_flag_of(struct reader_field f, const char *flag, size_t len)
{
	const char *p = f.p, *end = p + f.len;

	while (p + len <= end) {
		const char *bar = memchr(p, '|', (size_t)(end - p));
		const char *stop = bar ? bar : end;

		if ((size_t)(stop - p) == len && memcmp(p, flag, len) == 0)
			return true;
		p = stop + 1;
	}
	return false;
}
