/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The place of the trace: its free space, and how fast it can be written. The folder itself is not made;
 * the test file has no name, or loses it before its first byte.
 */
#include "check/check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/fmt.h"
#include "base/util.h"
#include "host/machine/space.h"
#include "kernel/ring.h"
#include "trace/outdir.h"

#define WRITE_BYTES (64U << 20) /* at most, and */
#define WRITE_NS NSEC_PER_SEC /* no longer */
#define CHUNK_BYTES (1U << 20)
#define SYNC_BYTES (4U << 20) /* through the page cache: between two waits for the disk */
#define ALIGN_BYTES 4096

static const char space[] = "space", speed[] = "write speed";

/*
 * Opens PATH, or the nearest existing folder above it, in which start would make it: a descriptor or
 * -errno, which is about AT then.
 */
static int open_nearest(const char *path, char at[PATH_MAX])
{
	snprintf(at, PATH_MAX, "%s", path);
	for (;;) {
		int fd = open(at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		char *slash = strrchr(at, '/');

		if (fd >= 0 || errno != ENOENT)
			return fd < 0 ? -errno : fd;
		if (!strcmp(at, ".") || !strcmp(at, "/"))
			return -ENOENT;
		if (!slash)
			strcpy(at, ".");
		else
			slash[slash == at] = '\0';
	}
}

/* --- speed ------------------------------------------------------------------------------------ */

static int open_named(int dir)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), ".dltraced-check-%d", getpid());
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	unlinkat(dir, name, 0);
	return fd;
}

/* Makes a file in DIR that bypasses the page cache where the file system can, without a name where it can. */
static int open_trial(int dir, bool *direct)
{
	int fd;

	for (int flags = O_DIRECT; flags >= 0; flags = flags ? 0 : -1) {
		fd = openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC | flags, 0600);
		*direct = flags;
		if (fd >= 0)
			return fd;
	}
	return open_named(dir);
}

/*
 * Write until WRITE_BYTES or WRITE_NS are reached, and wait for the disk. The data looks random, so that a
 * file system that compresses is measured too. 0 or -errno.
 */
static int write_trial(int fd, bool direct, uint64_t *bytes_ret, uint64_t *ns_ret)
{
	uint64_t start_ns, ns = 0, bytes = 0, most;
	autofree char *chunk = NULL;
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	most = MIN(limit.rlim_cur / CHUNK_BYTES * CHUNK_BYTES, WRITE_BYTES);
	if (!most)
		return -EFBIG;

	if (posix_memalign((void **)&chunk, ALIGN_BYTES, CHUNK_BYTES) != 0)
		return -ENOMEM;
	for (size_t at = 0; at < CHUNK_BYTES; at += 256) /* getentropy's most */
		if (getentropy(chunk + at, 256) < 0)
			return -errno;
	start_ns = clock_now_ns(CLOCK_MONOTONIC);
	while (bytes < most && ns < WRITE_NS) {
		ssize_t n = write(fd, chunk, CHUNK_BYTES);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n < (ssize_t)CHUNK_BYTES)
			return -ENOSPC;
		bytes += (uint64_t)n;
		if (!direct && bytes % SYNC_BYTES == 0 && fdatasync(fd) < 0)
			return -errno;
		ns = clock_now_ns(CLOCK_MONOTONIC) - start_ns;
	}
	if (fdatasync(fd) < 0)
		return -errno;
	*bytes_ret = bytes;
	*ns_ret = MAX(clock_now_ns(CLOCK_MONOTONIC) - start_ns, 1);
	return 0;
}

static enum check_state put_speed(struct check *check, uint64_t bytes, uint64_t ns, bool direct)
{
	uint64_t per_s = (uint64_t)((double)bytes * NSEC_PER_SEC / (double)ns);
	uint64_t rows = per_s / RING_STALL_RECORD_BYTES;
	bool slow = rows < RING_STALL_RECORDS_PER_S;

	return check_lacks(
		check, speed, slow ? CHECK_NOTE : CHECK_OK,
		slow ? "-o DIR on a faster disk if more rows than that arrive for longer than the page cache and "
		       "the rings (--buffer) can absorb" :
		       NULL,
		"%s/s%s (%s in %s): about %llu rows/s", FMT_BYTES(per_s), direct ? "" : " through the page cache",
		FMT_BYTES(bytes), FMT_NS(ns), (unsigned long long)rows);
}

static enum check_state measure(struct check *check, int dir, const char *at)
{
	autoclose int fd = -1;
	uint64_t bytes = 0, ns = 0;
	bool direct;
	int r;

	fd = r = open_trial(dir, &direct);
	if (r < 0)
		return check_lacks(check, speed, CHECK_FAIL,
				   geteuid() == 0 ? "-o DIR, where root may write" :
						    "-o DIR, where this user may write",
				   "%s cannot be written: %s", at, strerror(-r));
	r = write_trial(fd, direct, &bytes, &ns);
	if (r == -EINVAL && direct) { /* O_DIRECT was accepted, but not for this write */
		direct = false;
		if (fcntl(fd, F_SETFL, 0) == 0)
			r = write_trial(fd, direct, &bytes, &ns);
	}
	if (r < 0)
		return check_lacks(check, speed, CHECK_NOTE,
				   r == -EFBIG ? "ulimit -f unlimited" : "-o DIR on another disk", "not measured: %s",
				   strerror(-r));
	return put_speed(check, bytes, ns, direct);
}

/* --- space ------------------------------------------------------------------------------------ */

enum check_state check_folder(struct check *check)
{
	struct outdir_names names;
	char path[PATH_MAX], at[PATH_MAX];
	struct space left = {};
	autoclose int dir = -1;
	int r;

	outdir_names_init(&names, "check", environ, time(NULL));
	r = outdir_expand(check->out, &names, path, sizeof(path));
	if (r == 0 && *path != '/' && !getcwd(at, sizeof(at)) && errno == ENOENT)
		return check_lacks(check, space, CHECK_FAIL,
				   "cd to a folder that is there, or -o DIR with an absolute path",
				   "%s: the current folder has been removed", path);
	if (r == 0)
		r = dir = open_nearest(path, at);
	if (r >= 0)
		util_fd_path(dir, at);
	if (r >= 0)
		r = space_look(&left, dir, check->min_free_bytes);
	if (r < 0)
		return check_lacks(check, space, CHECK_FAIL, "-o DIR, a folder that exists or can be created", "%s: %s",
				   dir < 0 ? path : at, outdir_strerror(r));
	check_lacks(check, space, left.low ? CHECK_FAIL : CHECK_OK,
		    left.low ? "-o DIR on a disk with more space, or --min-free SIZE: rows would be counted as lost" :
			       NULL,
		    "%s free in %s%s; --min-free leaves %s", FMT_BYTES(left.free_bytes), at, left.by,
		    FMT_BYTES(left.least_bytes));
	if (left.low)
		return CHECK_FAIL;
	if (left.free_bytes - left.least_bytes < WRITE_BYTES)
		return check_put(check, speed, CHECK_NOTE, "not measured: too little space");
	return measure(check, dir, at);
}
