/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "util.h"

static int refill(struct reader *r)
{
	size_t want;
	ssize_t n;

	r->len -= r->pos;
	memmove(r->buf, r->buf + r->pos, r->len);
	r->offset += r->pos;
	r->pos = 0;
	want = MIN(READER_BUFFER_BYTES - r->len, r->limit - r->offset - r->len);
	if (want == 0)
		return 0;
	do
		n = pread(r->fd, r->buf + r->len, want, (off_t)(r->offset + r->len));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	r->len += (size_t)n;
	return n > 0;
}

/* The next whole line without its newline: 1, 0 at the end, -errno. */
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

	r->header = strndup(line.p, line.len);
	if (!r->header)
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
		return got < 0 ? got : -ENODATA;
	return parse_columns(r, line);
}

static int open_file(struct reader *r, int dirfd, const char *file)
{
	struct stat st;

	if (!r->buf)
		return -ENOMEM;
	r->fd = openat(dirfd, file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (r->fd < 0 || fstat(r->fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	r->limit = (uint64_t)st.st_size;
	return read_header(r);
}

int reader_open(struct reader *r, int dirfd, const char *file)
{
	int res;

	*r = (struct reader){ .fd = -1, .buf = malloc(READER_BUFFER_BYTES) };
	res = open_file(r, dirfd, file);
	if (res < 0)
		reader_close(r);
	return res;
}

void reader_close(struct reader *r)
{
	if (r->buf) /* descriptor 0 of one that is all zero is not ours */
		util_close(&r->fd);
	free(r->buf);
	free(r->header);
	*r = (struct reader){ .fd = -1 };
}

unsigned int reader_column(const struct reader *r, const char *name)
{
	for (unsigned int i = 0; i < r->n_columns; i++)
		if (strcmp(r->columns[i], name) == 0)
			return i + 1;
	return 0;
}

static bool split(const struct reader *r, struct reader_field line, struct reader_row *row)
{
	const char *p = line.p, *end = p + line.len;

	row->f[0] = (struct reader_field){ "-", 1 };
	for (unsigned int i = 1; i <= r->n_columns; i++) {
		const char *tab = memchr(p, '\t', (size_t)(end - p));

		row->f[i] = (struct reader_field){ p, (size_t)((tab ? tab : end) - p) };
		if (!tab)
			return i == r->n_columns;
		p = tab + 1;
	}
	return true;
}

int reader_next(struct reader *r, struct reader_row *row)
{
	struct reader_field line;
	int got;

	while ((got = next_line(r, &line)) > 0) {
		if (line.len && line.p[0] == '#')
			continue;
		row->offset = r->offset + (uint64_t)(line.p - r->buf);
		if (split(r, line, row)) {
			r->rows++;
			return 1;
		}
		r->bad_rows++;
	}
	return got;
}

int reader_seek(struct reader *r, uint64_t offset)
{
	if (offset > r->limit)
		return -EINVAL;
	r->offset = offset;
	r->pos = r->len = 0;
	r->skip = false;
	return 0;
}

bool reader_u64(struct reader_field f, uint64_t *ret)
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

bool reader_flag(struct reader_field f, const char *flag)
{
	size_t len = strlen(flag);
	const char *p = f.p, *end = p + f.len;

	while (p < end) {
		const char *bar = memchr(p, '|', (size_t)(end - p));
		const char *stop = bar ? bar : end;

		if ((size_t)(stop - p) == len && memcmp(p, flag, len) == 0)
			return true;
		p = stop + 1;
	}
	return false;
}
