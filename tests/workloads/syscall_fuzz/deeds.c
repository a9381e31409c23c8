// SPDX-License-Identifier: BSD-2-Clause
/* Files: opens, reads and writes, copies, mappings, sizes, and names. */
#include "fuzz.h"

#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PAGE 4096L

/* A length; the kernel refuses about half of them. */
long length_any(struct worker *w)
{
	if (one_in(w, 16))
		return PICK(w, -1, INT64_MIN, INT64_MAX, 1L << 32, 1L << 47);
	return PICK(w, 0, 1, 7, 100, 511, 512, PAGE - 1, PAGE, PAGE + 1, 8192, 20000, BUF);
}

long offset_any(struct worker *w)
{
	if (one_in(w, 16))
		return PICK(w, -1, -2, INT64_MIN + 2, INT64_MAX, INT64_MAX - 100, 1L << 40);
	return PICK(w, 0, 1, 100, 512, PAGE, PAGE - 1, 3 * PAGE, 60000, 200000);
}

long buffer_any(struct worker *w)
{
	return one_in(w, 25) ? address_bad(w) : (long)w->buf + PICK(w, 0, 0, 1, 512, BUF - PAGE);
}

long open_flags(struct worker *w)
{
	long flags = PICK(w, O_RDONLY, O_RDONLY, O_WRONLY, O_RDWR, O_RDWR, O_RDWR, 3);

	flags |= one_in(w, 3) ? O_CREAT : 0;
	flags |= PICK(w, 0, 0, 0, O_EXCL, O_TRUNC, O_APPEND, O_DIRECT, O_PATH, O_PATH | O_NOFOLLOW, O_NOFOLLOW,
		      O_DIRECTORY, O_CLOEXEC, O_SYNC, O_DSYNC, O_TMPFILE, O_NOATIME, O_NOCTTY, O_ASYNC, 1 << 30,
		      O_TMPFILE | O_PATH, 0100000, O_EXCL | O_TMPFILE);
	return flags | O_NONBLOCK;
}

static void open_how_any(struct worker *w)
{
	struct open_how *how = (void *)(w->buf + 8192);
	long size = sizeof(*how), at = (long)how, path, dirfd;

	path = name_any(w, 0, &dirfd);
	*how = (struct open_how){ .flags = (uint64_t)open_flags(w), .mode = (uint64_t)PICK(w, 0600, 0644, 07777) };
	if (!(how->flags & (O_CREAT | __O_TMPFILE)))
		how->mode = 0;
	if (one_in(w, 4))
		how->resolve = (uint64_t)PICK(w, RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS, RESOLVE_NO_XDEV, 1 << 20);
	if (one_in(w, 20))
		size = PICK(w, 0, 1, 8, 16, 32, PAGE, PAGE + 1);
	if (one_in(w, 20))
		at = address_bad(w);
	else {
		w->notes.how[0] = (int64_t)how->flags;
		w->notes.how[1] = (int64_t)how->mode;
	}
	memset(how + 1, 0, 64);
	fd_take(w, (int)CALL(w, openat2, dirfd, path, at, size), false, false);
}

void deed_open(struct worker *w)
{
	const long mode = PICK(w, 0600, 0644, 0, 07777, 0100600, -1);
	long dirfd, path, fd;

	switch (pick(w, 6)) {
	case 0:
		path = name_any(w, 0, NULL);
		fd = CALL(w, open, path, open_flags(w), mode);
		break;
	case 1:
		path = name_any(w, 0, NULL);
		fd = CALL(w, creat, path, mode);
		break;
	case 2:
		open_how_any(w);
		return;
	default:
		path = name_any(w, 0, &dirfd);
		fd = CALL(w, openat, dirfd, path, open_flags(w), mode);
	}
	fd_take(w, (int)fd, false, false);
}

/* A vector, with its sum if the kernel can read it. No read overwrites it, so that rows can read it after the call. */
long vector_any(struct worker *w, long *n)
{
	struct iovec *iov = w->vector;
	int64_t sum = 0;

	*n = PICK(w, 0, 1, 2, 3, 8, 9, 17, 100);
	for (long i = 0; i < *n; i++) {
		iov[i] = (struct iovec){ .iov_base = (void *)buffer_any(w),
					 .iov_len = (size_t)(one_in(w, 40) ? length_any(w) :
									     PICK(w, 0, 1, 10, 100, 511)) };
		sum = (int64_t)((uint64_t)sum + iov[i].iov_len);
	}
	if (one_in(w, 25)) {
		*n = PICK(w, -1, 1025, 1L << 32);
		w->notes.bytes = NOTHING;
		return (long)iov;
	}
	if (one_in(w, 25) && *n)
		return address_bad(w);
	w->notes.bytes = sum;
	return (long)iov;
}

static void rw_vector(struct worker *w)
{
	const long fd = fd_any(w), at = offset_any(w);
	const long flags =
		PICK(w, 0, 0, RWF_APPEND, RWF_DSYNC, RWF_SYNC, RWF_NOWAIT, RWF_HIPRI, 1 << 20, RWF_APPEND | RWF_SYNC);
	long n, iov = vector_any(w, &n);

	switch (pick(w, 6)) {
	case 0:
		CALL(w, readv, fd, iov, n);
		break;
	case 1:
		CALL(w, writev, fd, iov, n);
		break;
	case 2:
		CALL(w, preadv, fd, iov, n, at, 0);
		break;
	case 3:
		CALL(w, pwritev, fd, iov, n, at, 0);
		break;
	case 4:
		CALL(w, preadv2, fd, iov, n, one_in(w, 3) ? -1 : at, 0, flags);
		break;
	default:
		CALL(w, pwritev2, fd, iov, n, one_in(w, 3) ? -1 : at, 0, flags);
	}
}

void deed_rw(struct worker *w)
{
	const long fd = fd_any(w), at = buffer_any(w), n = length_any(w);

	/* lseek is not recorded, and no other process moves the position of this file */
	if (one_in(w, 4))
		lseek((int)fd, PICK(w, 0, 1, 5000, 100000), PICK(w, SEEK_SET, SEEK_END));
	switch (pick(w, 6)) {
	case 0:
		CALL(w, read, fd, at, n);
		break;
	case 1:
		CALL(w, write, fd, at, n);
		break;
	case 2:
		CALL(w, pread64, fd, at, n, offset_any(w));
		break;
	case 3:
		CALL(w, pwrite64, fd, at, n, offset_any(w));
		break;
	default:
		rw_vector(w);
	}
}

/* A position for copy calls, behind buf: none, a readable one, or a bad address. */
static long position_any(struct worker *w, unsigned int i)
{
	int64_t *pos = (void *)(w->buf + 2 * PAGE + 8 * i);

	if (one_in(w, 2))
		return 0;
	if (one_in(w, 20))
		return address_bad(w);
	*pos = offset_any(w);
	w->notes.pos[i] = pos;
	return (long)pos;
}

/* Fills the pipes from which splice(2) takes data, with calls that have no row. */
static void pipe_fill(struct worker *w)
{
	const long in = pipe_any(w, O_RDONLY), out = pipe_any(w, O_WRONLY), n = length_any(w);
	const struct iovec iov = { w->buf, (size_t)PICK(w, 1, 100, 2 * PAGE) };

	if (one_in(w, 2))
		vmsplice((int)out, &iov, 1, SPLICE_F_NONBLOCK);
	else
		tee((int)in, (int)out, (size_t)n, SPLICE_F_NONBLOCK);
}

/* Mostly with a pipe on one side, or on both: else the kernel refuses to splice. */
void deed_copy(struct worker *w)
{
	const unsigned int which = pick(w, 3), pipes = which == 1 ? pick(w, 4) : 0;
	const long in = pipes & 1 ? pipe_any(w, O_RDONLY) : fd_any(w),
		   out = pipes & 2 ? pipe_any(w, O_WRONLY) : fd_any(w);
	const long n = length_any(w);
	const long in_at = pipes & 1 ? 0 : position_any(w, 0), out_at = which && !(pipes & 2) ? position_any(w, 1) : 0;

	pipe_fill(w);
	if (which == 0)
		CALL(w, sendfile, out, in, in_at, n);
	else if (which == 1)
		CALL(w, splice, in, in_at, out, out_at, n, PICK(w, 0, 0, 2, 3, 1 << 20));
	else
		CALL(w, copy_file_range, in, in_at, out, out_at, n, PICK(w, 0, 0, 0, 1));
}

/* --- mappings --------------------------------------------------------------------------------------- */

/* An address in the arena, mostly that of a page. */
static long place_any(struct worker *w)
{
	return (long)w->arena + PAGE * (long)pick(w, 48) + (one_in(w, 20) ? 100 : 0);
}

static long pages_any(struct worker *w)
{
	return one_in(w, 20) ? PICK(w, 0, -1, 1L << 62) : PICK(w, 1, PAGE, 2 * PAGE, 5000, 16 * PAGE);
}

/* Unmaps at once what lies outside of the arena. */
static void map_drop(struct worker *w, long at, long len)
{
	if (at >= 0 && (at < (long)w->arena || at >= (long)w->arena + ARENA))
		CALL(w, munmap, at, len);
}

static void map_new(struct worker *w)
{
	long flags = PICK(w, MAP_SHARED, MAP_PRIVATE, MAP_PRIVATE, MAP_SHARED_VALIDATE, 0);
	const long prot =
		PICK(w, PROT_READ, PROT_READ | PROT_WRITE, PROT_NONE, PROT_WRITE, PROT_READ | PROT_EXEC, 1 << 10);
	const long off = one_in(w, 12) ? offset_any(w) : PAGE * (long)pick(w, 4), len = pages_any(w);
	long at = 0;

	flags |= PICK(w, 0, 0, MAP_ANONYMOUS, MAP_NORESERVE, MAP_DENYWRITE, MAP_SYNC, MAP_STACK, 1L << 28);
	if (one_in(w, 2)) {
		at = place_any(w);
		flags |= PICK(w, MAP_FIXED, MAP_FIXED_NOREPLACE);
	}
	map_drop(w, CALL(w, mmap, at, len, prot, flags, fd_any(w), off), len);
}

/* The length never reaches beyond the arena: advice about all memory above would empty this program's. */
static void map_advise(struct worker *w)
{
	const long at = one_in(w, 12) ? PICK(w, 0, 1, 0x7fffffffe000L, -PAGE, INT64_MIN + PAGE) : place_any(w);
	const long len = one_in(w, 12) ? PICK(w, 0, -1, -PAGE) : PICK(w, 1, PAGE, 2 * PAGE, 5000, 16 * PAGE);

	CALL(w, madvise, at, len,
	     one_in(w, 12) ? PICK(w, 5, 7, 99, 102, -1, 1L << 32 | MADV_DONTNEED) :
	     one_in(w, 2)  ? PICK(w, 0, 1, 2, 3, 4) :
			     8 + (long)pick(w, 18));
}

/* Moves the end of the heap, never to below where it was at first. */
static void heap_move(struct worker *w)
{
	const long to = one_in(w, 8) ? PICK(w, 1, -1, 1L << 62, INT64_MIN + 2) :
				       w->heap + PAGE * (long)pick(w, 32) + PICK(w, 0, 0, 1, 100);
	long end;

	w->notes.how[1] = w->sole;
	end = CALL(w, brk, 0);
	w->notes.how[0] = w->sole ? end : NOTHING;
	w->notes.how[1] = w->sole;
	CALL(w, brk, to);
}

void deed_map(struct worker *w)
{
	const long at = place_any(w), len = pages_any(w), flags = PICK(w, 0, MREMAP_MAYMOVE, MREMAP_MAYMOVE | 4, 8);
	long ret;

	switch (pick(w, 7)) {
	case 0:
		CALL(w, munmap, one_in(w, 20) ? -PAGE : at, len);
		break;
	case 1:
		CALL(w, msync, one_in(w, 20) ? address_bad(w) : at, len, PICK(w, MS_SYNC, MS_ASYNC, MS_INVALIDATE, 64));
		break;
	case 2:
		if (one_in(w, 2)) {
			CALL(w, mremap, at, PICK(w, PAGE, 2 * PAGE, 0), len, MREMAP_MAYMOVE | MREMAP_FIXED,
			     place_any(w));
			break;
		}
		ret = CALL(w, mremap, at, PICK(w, PAGE, 2 * PAGE, 0), len, flags, 0);
		map_drop(w, ret, len);
		break;
	case 3:
		map_advise(w);
		break;
	case 4:
		heap_move(w);
		break;
	default:
		map_new(w);
	}
}

/* --- sizes and data on the disk ---------------------------------------------------------------------- */

long size_any(struct worker *w)
{
	return one_in(w, 12) ? PICK(w, -1, INT64_MIN + 2, INT64_MAX) :
			       PICK(w, 0, 1, 100, PAGE, 10000, 200000, 9L << 20);
}

void deed_sync(struct worker *w)
{
	const long fd = fd_any(w), at = offset_any(w);

	switch (pick(w, 8)) {
	case 0:
		CALL(w, fsync, fd);
		break;
	case 1:
		CALL(w, fdatasync, fd);
		break;
	case 2:
		CALL(w, sync_file_range, fd, at, size_any(w), PICK(w, 1, 2, 4, 7, 0, 8));
		break;
	case 3:
		CALL(w, syncfs, one_in(w, 8) ? fd : PICK(w, -1, 1023));
		break;
	case 4:
		CALL(w, truncate, name_any(w, 0, NULL), size_any(w));
		break;
	case 5:
		CALL(w, ftruncate, fd, size_any(w));
		break;
	default:
		CALL(w, fallocate, fd,
		     PICK(w, 0, FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, FALLOC_FL_ZERO_RANGE,
			  FALLOC_FL_COLLAPSE_RANGE, FALLOC_FL_INSERT_RANGE, 1 << 20),
		     one_in(w, 2) ? at : PAGE * (long)pick(w, 3), size_any(w));
	}
}

/* --- names ------------------------------------------------------------------------------------------- */

long link_text(struct worker *w)
{
	static const char *const texts[] = { "a", "b", "k/a", "s", "none", "k/../a", "k" };

	if (one_in(w, 12)) {
		w->notes.paths[1] = NULL;
		return address_bad(w);
	}
	w->notes.paths[1] = one_in(w, 20) ? "" : texts[pick(w, sizeof(texts) / sizeof(texts[0]))];
	return (long)w->notes.paths[1];
}

static void name_two(struct worker *w)
{
	long dir[2] = { 0, 0 }, path[2];
	const unsigned int which = pick(w, 8);
	const bool plain = which < 2;

	for (unsigned int i = 0; i < 2; i++)
		path[i] = name_any(w, i, plain ? NULL : &dir[i]);
	switch (which) {
	case 0:
		CALL(w, rename, path[0], path[1]);
		break;
	case 1:
		CALL(w, link, path[0], path[1]);
		break;
	case 2:
		CALL(w, renameat, dir[0], path[0], dir[1], path[1]);
		break;
	case 3:
		CALL(w, linkat, dir[0], path[0], dir[1], path[1], PICK(w, 0, 0, AT_SYMLINK_FOLLOW, AT_EMPTY_PATH, 1));
		break;
	default:
		CALL(w, renameat2, dir[0], path[0], dir[1], path[1],
		     PICK(w, 0, RENAME_NOREPLACE, RENAME_EXCHANGE, RENAME_EXCHANGE, RENAME_EXCHANGE | RENAME_NOREPLACE,
			  RENAME_WHITEOUT, 8));
	}
}

/* No FIFO: creat(2) would wait for its other end. Devices are not allowed. */
static void node_make(struct worker *w)
{
	const long mode = PICK(w, S_IFREG, S_IFREG, 0, S_IFSOCK, S_IFCHR, S_IFBLK, S_IFDIR) | 0600;
	const long dev = PICK(w, 0, (long)makedev(1, 3), (long)makedev(7, 0));
	long dirfd, path;

	if (one_in(w, 2)) {
		path = name_any(w, 0, &dirfd);
		CALL(w, mknodat, dirfd, path, mode, dev);
	} else {
		path = name_any(w, 0, NULL);
		CALL(w, mknod, path, mode, dev);
	}
}

void deed_name(struct worker *w)
{
	const long mode = PICK(w, 0700, 0755, 0, 01777);
	long dirfd, path, text;

	switch (pick(w, 12)) {
	case 0:
		CALL(w, mkdir, name_any(w, 0, NULL), 0700);
		break;
	case 1:
		path = name_any(w, 0, &dirfd);
		CALL(w, mkdirat, dirfd, path, mode | 0700);
		break;
	case 2:
		node_make(w);
		break;
	case 3:
		CALL(w, rmdir, name_any(w, 0, NULL));
		break;
	case 4:
		CALL(w, unlink, name_any(w, 0, NULL));
		break;
	case 5:
		path = name_any(w, 0, &dirfd);
		CALL(w, unlinkat, dirfd, path, PICK(w, 0, 0, AT_REMOVEDIR, 1));
		break;
	case 6:
		text = link_text(w);
		path = name_any(w, 0, NULL);
		CALL(w, symlink, text, path);
		break;
	case 7:
		text = link_text(w);
		path = name_any(w, 0, &dirfd);
		CALL(w, symlinkat, text, dirfd, path);
		break;
	default:
		name_two(w);
	}
}
