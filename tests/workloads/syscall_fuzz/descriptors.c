// SPDX-License-Identifier: BSD-2-Clause
/*
 * A worker's descriptors, and the arguments that calls are given: descriptors, names and addresses, good and bad.
 */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t handle_hash(int fd, const char *path, int flags)
{
	struct {
		struct file_handle head;
		unsigned char bytes[128];
	} h = { .head.handle_bytes = 128 };
	uint64_t hash = 14695981039346656037ULL; /* FNV-1a */
	int mount;

	if (name_to_handle_at(fd, path, &h.head, &mount, flags) < 0)
		return 0;
	for (unsigned int i = 0; i < h.head.handle_bytes; i++)
		hash = (hash ^ h.bytes[i]) * 1099511628211ULL;
	return hash;
}

struct life life_of(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return (struct life){};
	return (struct life){
		.dev = st.st_dev, .ino = st.st_ino, .mode = st.st_mode, .handle = handle_hash(fd, "", AT_EMPTY_PATH)
	};
}

/* Returns the file at PATH, found without calls that are recorded. */
struct life life_at(int dirfd, const char *path, bool follow)
{
	struct stat st;

	if (fstatat(dirfd, path, &st, follow ? 0 : AT_SYMLINK_NOFOLLOW) < 0)
		return (struct life){};
	return (struct life){ .dev = st.st_dev,
			      .ino = st.st_ino,
			      .mode = st.st_mode,
			      .handle = handle_hash(dirfd, path, follow ? AT_SYMLINK_FOLLOW : 0) };
}

void fd_take(struct worker *w, int fd, bool kept, bool shared)
{
	struct fd *f;

	if (fd < 0)
		return;
	f = fd_find(w, fd); /* dup2(2) onto one of the worker's own */
	for (unsigned int i = 0; !f && i < FDS; i++)
		if (w->fds[i].fd < 0)
			f = &w->fds[i];
	if (!f) { /* no room */
		CALL(w, close, fd);
		return;
	}
	*f = (struct fd){ .fd = fd, .kept = kept, .shared = shared, .life = life_of(fd) };
}

void fd_forget(struct fd *f)
{
	f->fd = -1;
	f->kept = false;
}

struct fd *fd_find(struct worker *w, long fd)
{
	for (struct fd *f = w->fds; f < w->fds + FDS; f++)
		if (f->fd >= 0 && f->fd == (int)fd)
			return f;
	return NULL;
}

long fd_own(struct worker *w)
{
	for (unsigned int tries = 0; tries < 16; tries++) {
		const struct fd *f = &w->fds[pick(w, FDS)];

		if (f->fd >= 0 && !f->kept)
			return f->fd;
	}
	return -1;
}

/* A descriptor; the upper half of the register does not count. */
long fd_any(struct worker *w)
{
	if (one_in(w, 12))
		return PICK(w, -1, -100, 1L << 20, 1023, INT32_MIN + 1, INT32_MAX, 1L << 32 | 1023);
	for (unsigned int tries = 0; tries < 16; tries++) {
		const struct fd *f = &w->fds[pick(w, FDS)];

		if (f->fd >= 0)
			return one_in(w, 40) ? f->fd | 5L << 32 : f->fd;
	}
	return -1;
}

long pipe_any(struct worker *w, int access)
{
	const unsigned int from = pick(w, FDS);

	for (unsigned int i = 0; i < FDS; i++) {
		const struct fd *f = &w->fds[(from + i) % FDS];

		if (f->fd >= 0 && S_ISFIFO(f->life.mode) && (fcntl(f->fd, F_GETFL) & O_ACCMODE) == access)
			return f->fd;
	}
	return -1;
}

/* NULL, an unmapped address, one of the kernel, or memory without read permission. */
long address_bad(struct worker *w)
{
	return PICK(w, 0, 1, 0x7fffffffe000L, -4096, INT64_MIN, (long)w->buf + BUF, (long)w->buf + BUF + 8);
}

static const char *const names[] = {
	"a", "a", "a",    "b",      "b",   "c",    "k",      "k/a", "k/b", "l",       "l/a",         "s", "s", "k/s",
	"",  ".", "k/..", "k/../a", "./a", "k//a", "none/x", "a/x", "k/",  "a b\t\n", "\xff\xfe#\"", "?", "-",
};
#define SHORT_NAMES (sizeof(names) / sizeof(names[0]))

/*
 * A name in the worker's folder, by the folder's descriptor, from the working directory, or from the root; or an
 * invalid one. It is noted for the next call.
 */
long name_any(struct worker *w, unsigned int i, long *dirfd)
{
	char *path = w->path_bufs[w->next_path++ % PATHS];
	const char *name = names[pick(w, SHORT_NAMES)];
	unsigned int form = pick(w, dirfd ? 4 : 2);

	if (dirfd)
		*dirfd = form > 1 ? w->dir_fd : one_in(w, 8) ? fd_any(w) : AT_FDCWD;
	if (one_in(w, 30)) {
		w->notes.paths[i] = NULL;
		return address_bad(w);
	}
	if (form == 0)
		snprintf(path, sizeof(w->path_bufs[0]), "%s/%s", w->dir, name);
	else if (form == 1)
		snprintf(path, sizeof(w->path_bufs[0]), "%s/%s", strrchr(w->dir, '/') + 1, name);
	else
		snprintf(path, sizeof(w->path_bufs[0]), "%s", name);
	if (one_in(w, 60)) { /* too long, as a name or as a path */
		const unsigned int len = (unsigned int)PICK(w, 255, 256, 300, 4095, 4096, 5000);

		const size_t head = strlen(path);

		memset(path + head, 'n', len - head);
		path[len] = 0;
	}
	if (!w->batching && one_in(w, 60)) { /* ends with the last readable byte, unless the call's other path does */
		const size_t len = strlen(path) + 1;
		const char *other = w->notes.paths[!i];

		if (len <= 4096 && !(other >= w->buf && other < w->buf + BUF))
			path = memcpy(w->buf + BUF - len, path, len);
	}
	w->notes.paths[i] = path;
	return (long)path;
}
