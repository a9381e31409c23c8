/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A row is a word of flags and lengths, then its numbers, each in none, 2, 3 or 8 bytes: so as to take no branches, eight
 * are written and read of any, and what is too much is written over, or masked.
 */
#include "callstore.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "util.h"

#define NUMBERS 9
#define ROW_MAX (sizeof(uint32_t) + NUMBERS * sizeof(uint64_t))
#define CURSOR_BYTES (64U << 10)
#define LOOK_BYTES (64ULL << 20) /* between two looks at what the disk has left */

_Static_assert(CALLSTORE_FLAGS_BITS + 2 * NUMBERS <= 32, "a row's first word has room for flags and lengths");

static const uint8_t length_of[4] = { 0, 2, 3, 8 };
static const uint64_t mask_of[4] = { 0, 0xffff, 0xffffff, UINT64_MAX };

/* --- the file ------------------------------------------------------------------------------------- */

static void give_up(struct callstore *s)
{
	util_close(&s->fd);
	free(s->buf);
	*s = (struct callstore){ .fd = -1, .failed = true };
}

/* One that nobody else can open, and that is gone when its descriptor is. Its descriptor or -errno. */
static int new_file(void)
{
	const char *dir = secure_getenv("TMPDIR");
	autofree char *path = util_fmt("%s/dltraced-report-XXXXXX", dir && dir[0] ? dir : "/var/tmp");
	int fd = path ? mkostemp(path, O_CLOEXEC) : -1;

	if (fd < 0)
		return path ? -errno : -ENOMEM;
	unlink(path);
	return fd;
}

/* Where files are memory they would spare none. */
static bool has_room(int fd)
{
	struct statfs v;

	return fstatfs(fd, &v) == 0 && v.f_type != TMPFS_MAGIC && v.f_type != RAMFS_MAGIC &&
	       v.f_bavail * (uint64_t)v.f_bsize >= CALLSTORE_SPARE + LOOK_BYTES && v.f_bavail >= v.f_blocks / 20;
}

static void flush(struct callstore *s)
{
	if (s->fd < 0)
		s->fd = new_file();
	if (s->fd < 0 || (s->stored % LOOK_BYTES < CALLSTORE_MEMORY && !has_room(s->fd))) {
		give_up(s);
		return;
	}
	for (size_t done = 0; done < s->len;) {
		ssize_t n = write(s->fd, s->buf + done, s->len - done);

		if (n == 0 || (n < 0 && errno != EINTR)) {
			give_up(s);
			return;
		}
		done += n > 0 ? (size_t)n : 0;
	}
	s->stored += s->len;
	s->len = 0;
}

/* --- adding --------------------------------------------------------------------------------------- */

void callstore_init(struct callstore *s)
{
	*s = (struct callstore){ .fd = -1, .buf = malloc(CALLSTORE_MEMORY) };
	s->failed = !s->buf;
}

void callstore_free(struct callstore *s)
{
	give_up(s);
}

uint64_t callstore_part(struct callstore *s)
{
	s->last_ns = 0;
	return s->stored + s->len;
}

struct put {
	char *p;
	uint32_t lengths;
	unsigned int shift;
};

static inline void put(struct put *to, uint64_t v)
{
	unsigned int code = (v != 0) + (v >> 16 != 0) + (v >> 24 != 0);

	v = htole64(v);
	memcpy(to->p, &v, sizeof(v));
	to->p += length_of[code];
	to->lengths |= code << to->shift;
	to->shift += 2;
}

void callstore_add(struct callstore *s, const struct callstore_row *row)
{
	struct put to = { .shift = CALLSTORE_FLAGS_BITS };
	char *begin;

	if (s->failed)
		return;
	if (CALLSTORE_MEMORY - s->len < ROW_MAX + sizeof(uint64_t)) {
		flush(s);
		if (s->failed)
			return;
	}
	begin = s->buf + s->len;
	to.p = begin + sizeof(to.lengths);
	put(&to, row->end_ns - s->last_ns);
	put(&to, row->pid);
	put(&to, row->tid - row->pid);
	put(&to, row->lat_ns);
	put(&to, row->file);
	if (row->flags & CALLSTORE_TRANSFER) {
		put(&to, row->bytes);
		put(&to, row->requested - row->bytes);
		put(&to, row->offset);
		put(&to, row->disk_bytes);
	}
	to.lengths |= row->flags;
	memcpy(begin, &to.lengths, sizeof(to.lengths));
	s->len = (size_t)(to.p - s->buf);
	s->last_ns = row->end_ns;
}

/* --- reading -------------------------------------------------------------------------------------- */

int callstore_open(struct callstore_cursor *c, const struct callstore *s, struct callstore_part part)
{
	*c = (struct callstore_cursor){ .store = s, .at = part.begin, .end = part.end,
					.buf = malloc(CURSOR_BYTES + sizeof(uint64_t)) };
	return c->buf ? 0 : -ENOMEM;
}

void callstore_close(struct callstore_cursor *c)
{
	free(c->buf);
	*c = (struct callstore_cursor){ 0 };
}

/* More of the part into buf: from the file, and what has not got there from memory. 0 or -errno. */
static int fill(struct callstore_cursor *c)
{
	const struct callstore *s = c->store;

	c->len -= c->pos;
	memmove(c->buf, c->buf + c->pos, c->len);
	c->pos = 0;
	while (c->at < c->end && c->len < CURSOR_BYTES) {
		size_t want = MIN(CURSOR_BYTES - c->len, c->end - c->at);
		ssize_t n;

		if (c->at >= s->stored) {
			memcpy(c->buf + c->len, s->buf + (c->at - s->stored), want);
			n = (ssize_t)want;
		} else {
			n = pread(s->fd, c->buf + c->len, MIN(want, s->stored - c->at), (off_t)c->at);
		}
		if (n == 0 || (n < 0 && errno != EINTR))
			return n < 0 ? -errno : -EIO;
		c->len += n > 0 ? (size_t)n : 0;
		c->at += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

struct get {
	const char *p;
	uint32_t lengths;
};

static inline uint64_t get(struct get *from)
{
	unsigned int code = from->lengths & 3;
	uint64_t v;

	memcpy(&v, from->p, sizeof(v));
	from->p += length_of[code];
	from->lengths >>= 2;
	return le64toh(v) & mask_of[code];
}

int callstore_next(struct callstore_cursor *c, struct callstore_row *row)
{
	struct get from;
	uint32_t head;
	int res = c->len - c->pos < ROW_MAX && c->at < c->end ? fill(c) : 0;

	if (res < 0 || c->pos == c->len)
		return res;
	from.p = c->buf + c->pos;
	memcpy(&head, from.p, sizeof(head));
	from.p += sizeof(head);
	from.lengths = head >> CALLSTORE_FLAGS_BITS;
	row->flags = head & ((1U << CALLSTORE_FLAGS_BITS) - 1);
	row->end_ns = c->last_ns += get(&from);
	row->pid = get(&from);
	row->tid = row->pid + get(&from);
	row->lat_ns = get(&from);
	row->file = get(&from);
	row->bytes = row->requested = row->offset = row->disk_bytes = 0;
	if (row->flags & CALLSTORE_TRANSFER) {
		row->bytes = get(&from);
		row->requested = row->bytes + get(&from);
		row->offset = get(&from);
		row->disk_bytes = get(&from);
	}
	c->pos = (size_t)(from.p - c->buf);
	return 1;
}
