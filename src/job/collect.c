/* SPDX-License-Identifier: BSD-2-Clause */
/* See collect.h. All but the two entry points runs in a child of run_as_user(). */
#include "job/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "host/helper.h"
#include "host/rights/run_as_user.h"
#include "host/rights/workload_user.h"
#include "trace/config.h"

#define COPY_BYTES (1 << 20)
#define NAME_SHOWN 128 /* bytes of a file's name in a message */

/* --- files ------------------------------------------------------------------------------------ */

struct files {
	const struct workload_user *user;
	const char *dir;
	int dirfd;
	const struct config_list *globs;
};

enum outcome { COPIED, SKIPPED, FAILED, UNMATCHED, OUTCOMES };

static const char *const outcome_texts[OUTCOMES] = {
	[COPIED] = "copied",
	[SKIPPED] = "skipped, not being regular files",
	[FAILED] = "failed",
	[UNMATCHED] = "without a match",
};

struct tally {
	unsigned int n[OUTCOMES];
	char first[OUTCOMES][TEXT_ESCAPED_MAX(NAME_SHOWN) + 64];
	int r; /* of the first that was not copied */
};

static void count(struct tally *t, enum outcome o, const char *name, int r)
{
	char *end = t->first[o];

	if (r < 0 && !t->r)
		t->r = r;
	if (t->n[o]++)
		return;
	end = text_put_piece(end, name, MIN(strlen(name), NAME_SHOWN));
	snprintf(end, 64, "%s%s", o == FAILED ? ": " : "", o == FAILED ? strerror(-r) : "");
}

static void describe(const struct tally *t, char *error, size_t size)
{
	size_t len = (size_t)snprintf(error, size, "--collect: %u copied", t->n[COPIED]);

	for (enum outcome o = SKIPPED; o < OUTCOMES && len < size; o++)
		if (t->n[o])
			len += (size_t)snprintf(error + len, size - len, "; %u %s (%s%s)", t->n[o], outcome_texts[o],
						t->n[o] > 1 ? "first: " : "", t->first[o]);
}

/* PATH without the parts that would lead out of its destination folder. */
static char *inner_path(char *path)
{
	char *inner = path;

	for (char *p = path; *p;) {
		size_t len = strcspn(p, "/");
		bool up = len == 2 && memcmp(p, "..", 2) == 0;

		p += len + strspn(p + len, "/");
		if (up || len == 0)
			inner = p;
	}
	return inner;
}

static int make_parents(int dirfd, char *path)
{
	for (char *slash = path; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		if (mkdirat(dirfd, path, 0700) < 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

/* Until the end and not for st_size bytes: files of /proc have size 0. */
static int copy_bytes(int in, int out)
{
	static char buf[COPY_BYTES];
	ssize_t n;
	int r = 0;

	while (!r && (n = read(in, buf, sizeof(buf)))) {
		r = n < 0 ? -errno : util_write_all(out, buf, (size_t)n);
		if (!r && run_as_user_interrupted())
			r = -EINTR;
	}
	return r;
}

/* O_NONBLOCK: if FROM has become a FIFO since it was checked, do not wait for a writer. */
static int copy_file(const char *from, int dirfd, const char *to)
{
	autoclose int in = open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	int out, r;

	if (in < 0 || fstat(in, &st) < 0)
		return -errno;
	out = openat(dirfd, to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st.st_mode & 0777);
	if (out < 0)
		return -errno;
	r = copy_bytes(in, out);
	if (!r && futimens(out, (struct timespec[]){ st.st_atim, st.st_mtim }) < 0)
		r = -errno;
	if (close(out) < 0 && !r) /* NFS and quotas report errors here */
		r = -errno;
	if (r < 0)
		unlinkat(dirfd, to, 0);
	return r;
}

static void collect_one(struct tally *tally, int dirfd, char *path)
{
	char *inner = inner_path(path);
	struct stat st;
	int r = lstat(path, &st) < 0 ? -errno : 0;

	if (!r && !S_ISREG(st.st_mode)) {
		count(tally, SKIPPED, path, -ENOTSUP);
		return;
	}
	if (!r)
		r = make_parents(dirfd, inner);
	if (!r)
		r = copy_file(path, dirfd, inner);
	count(tally, r < 0 ? FAILED : COPIED, path, r);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Each path once, however many globs match it. */
static int collect_all(struct tally *tally, int traces_fd, const glob_t *found)
{
	autoclose int dirfd = -1;

	if (mkdirat(traces_fd, "collected", 0700) < 0)
		return -errno;
	dirfd = openat(traces_fd, "collected", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dirfd < 0)
		return -errno;
	qsort(found->gl_pathv, found->gl_pathc, sizeof(*found->gl_pathv), compare);
	for (size_t i = 0; i < found->gl_pathc && tally->r != -EINTR; i++)
		if (i + 1 == found->gl_pathc || strcmp(found->gl_pathv[i], found->gl_pathv[i + 1]))
			collect_one(tally, dirfd, found->gl_pathv[i]);
	return 0;
}

static int find_files(struct tally *tally, const struct config_list *globs, glob_t *found)
{
	int flags = GLOB_BRACE | GLOB_TILDE;

	for (unsigned int i = 0; i < globs->n; i++, flags |= GLOB_APPEND) {
		int r = glob(globs->items[i], flags, NULL, found);

		if (r == GLOB_NOSPACE)
			return -ENOMEM;
		if (r)
			count(tally, UNMATCHED, globs->items[i], -ENOENT);
	}
	return 0;
}

static int copy_files(const void *ctx, char *error, size_t size)
{
	const struct files *files = ctx;
	struct tally t = { 0 };
	glob_t found = { 0 };
	int r;

	if (files->user->environ) /* ~ is the user's home */
		environ = files->user->environ;
	r = find_files(&t, files->globs, &found);
	if (!r && found.gl_pathc)
		r = collect_all(&t, files->dirfd, &found);
	if (r < 0)
		snprintf(error, size, "%s/collected: %s", files->dir, strerror(-r));
	else if (t.r < 0)
		describe(&t, error, size);
	globfree(&found);
	return r < 0 ? r : t.r;
}

int collect_files(const struct workload_user *u, const char *dir, int dirfd, const struct config_list *globs,
		  char *error, size_t size)
{
	const struct files f = { .user = u, .dir = dir, .dirfd = dirfd, .globs = globs };

	return run_as_user(u, "--collect", copy_files, &f, error, size);
}

/* --- the archive ------------------------------------------------------------------------------ */

/* Fill FD with the packed folder. tar itself reports problems on stderr. */
static int pack(const char *dir, int fd, char *error, size_t size)
{
	autofree char *parent = strdup(dir);
	char *slash = parent ? strrchr(parent, '/') : NULL;
	/* GNU tar would read a backslash in the name as an escape. No TAR_OPTIONS, no GZIP. */
	const char *const argv[] = { "tar", "-cz", "-f", "-", "--no-unquote", "--", slash ? slash + 1 : NULL, NULL };
	int status, r;
	pid_t pid;

	if (!slash)
		return -ENOMEM;
	*slash = '\0';
	if (chdir(*parent ? parent : "/") < 0)
		return -errno;
	r = helper_spawn(&pid, argv, NULL, HELPER_STDERR | HELPER_OURS, fd);
	if (r < 0) {
		snprintf(error, size, "tar: %s", strerror(-r));
		return r;
	}
	status = run_as_user_wait(pid, "the archive");
	if (WIFSIGNALED(status))
		return -EINTR;
	if (status) {
		snprintf(error, size, "%s.tar.gz: tar ended with status %d", dir, WEXITSTATUS(status));
		return -EIO;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

/* rename(2) that never replaces. NFS and Lustre do not support it, but there link(2) works. */
static int rename_new(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL || link(from, to) < 0 || unlink(from) < 0)
		return -errno;
	return 0;
}

static int make_archive(const void *ctx, char *error, size_t size)
{
	const char *dir = ctx;
	autofree char *path = util_fmt("%s.tar.gz", dir), *part = util_fmt("%s.tar.gz.part", dir);
	autoclose int fd = -1;
	struct stat st;
	int r;

	if (!path || !part)
		return -ENOMEM;
	if (lstat(path, &st) == 0) { /* rather than find out after an hour of packing */
		snprintf(error, size, "%s: %s", path, strerror(EEXIST));
		return -EEXIST;
	}
	fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		r = -errno;
		snprintf(error, size, "%s: %s", part, strerror(-r));
		return r;
	}
	r = pack(dir, fd, error, size);
	if (!r)
		r = rename_new(part, path);
	if (r < 0)
		unlink(part);
	if (r < 0 && !*error)
		snprintf(error, size, "%s: %s", path, strerror(-r));
	return r;
}

int collect_archive(const struct workload_user *u, const char *dir, char *error, size_t size)
{
	return run_as_user(u, "the archive", make_archive, dir, error, size);
}
