/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the rows of callstore.h lie. */
#include "report/scan/callstore.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/util.h"

#define CURSOR_BYTES (64U << 10)
#define LOOK_BYTES (64ULL << 20) /* between two looks at what the disk has left */

/* --- the file ------------------------------------------------------------------------------------- */

static void give_up(struct callstore *s)
{
	util_close(&s->fd);
	free(s->buf);
	*s = (struct callstore){ .fd = -1, .failed = true };
}

/* Makes an unnamed file: nobody else can open it, and it is gone when it is closed. Returns its descriptor or -errno.
 */
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

/* Whether FD's file system has enough space. If it is in memory (tmpfs), a file there would not save any memory. */
static bool has_room(int fd)
{
	struct statfs v;

	return fstatfs(fd, &v) == 0 && v.f_type != TMPFS_MAGIC && v.f_type != RAMFS_MAGIC &&
	       v.f_bavail * (uint64_t)v.f_bsize >= CALLSTORE_SPARE + LOOK_BYTES && v.f_bavail >= v.f_blocks / 20;
}

void callstore_flush(struct callstore *callstore)
{
	if (callstore->fd < 0)
		callstore->fd = new_file();
	if (callstore->fd < 0 || (callstore->stored % LOOK_BYTES < CALLSTORE_MEMORY && !has_room(callstore->fd))) {
		give_up(callstore);
		return;
	}
	for (size_t done = 0; done < callstore->len;) {
		ssize_t n = write(callstore->fd, callstore->buf + done, callstore->len - done);

		if (n == 0 || (n < 0 && errno != EINTR)) {
			give_up(callstore);
			return;
		}
		done += n > 0 ? (size_t)n : 0;
	}
	callstore->stored += callstore->len;
	callstore->len = 0;
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

/* --- reading -------------------------------------------------------------------------------------- */

int callstore_open(struct callstore_cursor *c, const struct callstore *s, struct callstore_part part)
{
	*c = (struct callstore_cursor){
		.store = s, .at = part.begin, .end = part.end, .buf = malloc(CURSOR_BYTES + sizeof(uint64_t))
	};
	return c->buf ? 0 : -ENOMEM;
}

void callstore_close(struct callstore_cursor *c)
{
	free(c->buf);
	*c = (struct callstore_cursor){ 0 };
}

/* Reads from the file, and from memory what is not in the file yet. */
int callstore_fill(struct callstore_cursor *cursor)
{
	const struct callstore *callstore = cursor->store;

	cursor->len -= cursor->pos;
	memmove(cursor->buf, cursor->buf + cursor->pos, cursor->len);
	cursor->pos = 0;
	while (cursor->at < cursor->end && cursor->len < CURSOR_BYTES) {
		size_t want = MIN(CURSOR_BYTES - cursor->len, cursor->end - cursor->at);
		ssize_t n;

		if (cursor->at >= callstore->stored) {
			memcpy(cursor->buf + cursor->len, callstore->buf + (cursor->at - callstore->stored), want);
			n = (ssize_t)want;
		} else {
			n = pread(callstore->fd, cursor->buf + cursor->len, MIN(want, callstore->stored - cursor->at),
				  (off_t)cursor->at);
		}
		if (n == 0 || (n < 0 && errno != EINTR))
			return n < 0 ? -errno : -EIO;
		cursor->len += n > 0 ? (size_t)n : 0;
		cursor->at += n > 0 ? (size_t)n : 0;
	}
	return 0;
}
