/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes manifest.json into the trace folder: replaces the file as a whole; on a full disk, overwrites it. */
#include "session/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "session/state.h"

#define NOTE_MS 20
#define MANIFEST_FILE "manifest.json"
#define MANIFEST_TMP "manifest.json.tmp"
#define OLD_MAX (64U << 20)
#define GROWTH_BYTES (16 << 10) /* more than a manifest grows from the first version to the last */

/* Writes a new file of the temporary name. An old one is removed first; a link is removed, too, and never followed. */
static int write_tmp(int dirfd, const char *buf, size_t len)
{
	autoclose int fd = -1;
	int r;

	if (unlinkat(dirfd, MANIFEST_TMP, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = util_create_at(dirfd, MANIFEST_TMP, 0);
	if (fd < 0)
		return fd;
	/* keeps room for write_over(); a file system without fallocate(2) is tried as it is */
	(void)!fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)(len + len / 2) + GROWTH_BYTES);
	r = util_write_all(fd, buf, len);
	if (r < 0)
		return r;
	return fsync(fd) < 0 ? -errno : 0;
}

/* Writes TEXT over the whole file: 0 or -errno. */
static int replace_text(int fd, const char *text, size_t len)
{
	int r = lseek(fd, 0, SEEK_SET) < 0 ? -errno : util_write_all(fd, text, len);

	if (r)
		return r;
	return ftruncate(fd, (off_t)len) < 0 ? -errno : 0;
}

/*
 * Overwrites the present manifest, which is not atomic: a full disk has no room for a second file, but the manifest
 * must record what the full disk has lost. Where that fails in the middle, the old text is put back. A user may have
 * changed the folder, so the file is checked. WHY is the error of the second file; it is returned where there is no
 * manifest to overwrite.
 */
static int write_over(int dirfd, const char *buf, size_t len, int why)
{
	autoclose int fd = openat(dirfd, MANIFEST_FILE, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	autofree char *old = NULL;
	size_t old_len;
	struct stat st;
	int r;

	if (fd < 0 && errno == ENOENT)
		return why;
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return -EPERM;
	r = util_read_fd(fd, OLD_MAX, &old, &old_len);
	if (r < 0)
		return r;
	r = replace_text(fd, buf, len);
	if (r < 0)
		(void)!replace_text(fd, old, old_len);
	if (r)
		return r;
	return fsync(fd) < 0 ? -errno : 0;
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

/* --- in the background ----------------------------------------------------------------------------------- */

static void put_file(void *ctx)
{
	struct session *s = ctx;

	s->writing.r = manifest_put(s->dir.fd, s->writing.text, s->writing.len);
}

int session_await_manifest(struct session *session, int wait_ms)
{
	struct session_writing *w = &session->writing;

	if (!w->call.busy)
		return 1;
	if (!async_call_wait(&w->call, wait_ms))
		return 0;
	free(TAKE_PTR(w->text));
	if (w->r < 0)
		log_err_r(w->r, "%s/manifest.json", session->dir.path);
	return 1;
}

void session_note_manifest(struct session *s)
{
	if (session_begin_manifest(s, false) >= 0)
		session_await_manifest(s, NOTE_MS);
}

int session_write_manifest(struct session *s, bool complete)
{
	int r = session_await_manifest(s, -1) > 0 ? session_begin_manifest(s, complete) : -EBUSY;

	if (r < 0)
		return r;
	session_await_manifest(s, -1);
	return s->writing.r;
}

int session_begin_manifest(struct session *session, bool complete)
{
	struct session_writing *writing = &session->writing;
	int r;

	if (!session_await_manifest(session, 0))
		return -EBUSY;
	writing->r = 0;
	if (session->folder.gone)
		return 0;
	session->manifest_ns = clock_now_ns(CLOCK_MONOTONIC);
	r = manifest_text(session, complete, &writing->text, &writing->len);
	if (r == 0)
		r = async_call_begin(&writing->call, put_file, session);
	if (r < 0) { /* otherwise the thread owns W until its call has ended */
		free(TAKE_PTR(writing->text));
		writing->r = log_err_r(r, "%s/manifest.json", session->dir.path);
	}
	return r;
}
