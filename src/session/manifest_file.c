/* SPDX-License-Identifier: BSD-2-Clause */
/* manifest.json in the trace folder, replaced as a whole; on a full disk written over. */
#include "session/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

#define MANIFEST_FILE "manifest.json"
#define MANIFEST_TMP "manifest.json.tmp"
#define GROWTH_BYTES (16 << 10) /* of the last version over the first, and more than that */

/* The folder was made for the user who runs the workload; root may be the one who writes here. */
static void give_to_owner_of(int dirfd, int fd)
{
	struct stat st;

	if (fstat(dirfd, &st) == 0)
		(void)!fchown(fd, st.st_uid, st.st_gid);
}

/* Whatever lies under the temporary name goes: a link there is removed, never followed. */
static int write_tmp(int dirfd, const char *buf, size_t len)
{
	autoclose int fd = -1;
	int r;

	if (unlinkat(dirfd, MANIFEST_TMP, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(dirfd, MANIFEST_TMP, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return -errno;
	give_to_owner_of(dirfd, fd);
	/* Space for write_over(); a file system that keeps none can do without. */
	(void)!fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)(len + len / 2) + GROWTH_BYTES);
	r = util_write_all(fd, buf, len);
	if (r < 0)
		return r;
	return fsync(fd) < 0 ? -errno : 0;
}

/*
 * On a full disk there is no room for a second file, and just then the losses must be told: into
 * the space of the first, not atomically. The folder is its user's, so the file is looked at. WHY
 * is what became of the second: where there is no first one, that is what is wrong.
 */
static int write_over(int dirfd, const char *buf, size_t len, int why)
{
	autoclose int fd = openat(dirfd, MANIFEST_FILE,
				  O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0 && errno == ENOENT)
		return why;
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return -EPERM;
	r = util_write_all(fd, buf, len);
	if (r < 0)
		return r;
	return ftruncate(fd, (off_t)len) < 0 || fsync(fd) < 0 ? -errno : 0;
}

int manifest_put(int dirfd, const char *text, size_t len)
{
	int r = write_tmp(dirfd, text, len);

	if (r == 0 && renameat(dirfd, MANIFEST_TMP, dirfd, MANIFEST_FILE) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(dirfd, MANIFEST_TMP, 0);
	return r == -ENOSPC || r == -EDQUOT ? write_over(dirfd, text, len, r) : r;
}
