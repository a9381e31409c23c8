/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prunes the state folder of the service, where traces are STATE/NAME/STAMP: removes whole traces when together they
 * have too many bytes, or when they are too old. It works with descriptors and follows no symbolic link, so that it
 * cannot remove a file that is not below STATE.
 */
#include "service/daemon_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/util.h"

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define DEPTH_MAX 8 /* folders in a trace */

struct held {
	char *name, *trace; /* STATE/NAME/TRACE */
	uint64_t bytes, end_ns; /* CLOCK_REALTIME of the manifest's last change */
};

struct all {
	struct held *held;
	size_t n;
};

/* Calls FN for each entry of AT but . and .. until its result is not 0. Returns that result, or 0. Does not close AT.
 */
static int each(int at, int (*fn)(void *ctx, int at, const char *name), void *ctx)
{
	autoclose int again = openat(at, ".", DIR_FLAGS);
	DIR *dir = again < 0 ? NULL : fdopendir(again);
	struct dirent *dirent;
	int r = 0;

	if (!dir)
		return -errno;
	again = -1; /* closedir() closes it */
	while (!r && (dirent = readdir(dir)))
		if (strcmp(dirent->d_name, ".") && strcmp(dirent->d_name, ".."))
			r = fn(ctx, at, dirent->d_name);
	closedir(dir);
	return r;
}

/* --- the traces ---------------------------------------------------------------------------------------- */

struct size {
	uint64_t bytes;
	unsigned int depth;
};

static int add_size(void *ctx, int at, const char *name)
{
	struct size *size = ctx, below = { .depth = size->depth + 1 };
	autoclose int fd = -1;
	struct stat st;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	size->bytes += (uint64_t)st.st_blocks * 512;
	if (!S_ISDIR(st.st_mode) || size->depth == DEPTH_MAX || (fd = openat(at, name, DIR_FLAGS)) < 0)
		return 0;
	each(fd, add_size, &below);
	size->bytes += below.bytes;
	return 0;
}

/* Whether a trace is being written: its writer has locked its folder. */
static bool is_running(int fd)
{
	bool running = flock(fd, LOCK_EX | LOCK_NB) < 0;

	if (!running)
		flock(fd, LOCK_UN);
	return running;
}

struct look {
	struct all *all;
	const char *name;
};

static int look_trace(void *ctx, int at, const char *trace)
{
	struct look *look = ctx;
	autoclose int fd = openat(at, trace, DIR_FLAGS);
	struct size size = {};
	struct stat st;

	if (fd < 0 || fstatat(fd, "manifest.json", &st, AT_SYMLINK_NOFOLLOW) < 0 || is_running(fd))
		return 0; /* no trace, or one that is still being written */
	each(fd, add_size, &size);
	if (util_room(&look->all->held, look->all->n, sizeof(*look->all->held)) < 0)
		return -ENOMEM;
	look->all->held[look->all->n] =
		(struct held){ strdup(look->name), strdup(trace), size.bytes, timespec_ns(&st.st_mtim) };
	if (!look->all->held[look->all->n].name || !look->all->held[look->all->n].trace)
		return -ENOMEM;
	look->all->n++;
	return 0;
}

static int look_name(void *ctx, int at, const char *name)
{
	autoclose int fd = openat(at, name, DIR_FLAGS);
	struct look l = { ctx, name };

	return fd < 0 ? 0 : each(fd, look_trace, &l);
}

static int older(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

/* --- removal ------------------------------------------------------------------------------------------- */

static int remove_entry(void *ctx, int at, const char *name)
{
	unsigned int depth = *(unsigned int *)ctx + 1;
	autoclose int fd = -1;
	int r;

	if (!unlinkat(at, name, 0) || errno == ENOENT)
		return 0;
	if ((errno != EISDIR && errno != EPERM) || depth > DEPTH_MAX)
		return -errno;
	fd = openat(at, name, DIR_FLAGS);
	if (fd < 0)
		return -errno;
	r = each(fd, remove_entry, &depth);
	if (r < 0)
		return r;
	return unlinkat(at, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

static int remove_trace(int state, const struct held *held)
{
	autoclose int at = openat(state, held->name, DIR_FLAGS), fd = at < 0 ? -1 : openat(at, held->trace, DIR_FLAGS);
	unsigned int depth = 0;
	int r;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -EBUSY;
	r = each(fd, remove_entry, &depth);
	if (r < 0)
		return r;
	return unlinkat(at, held->trace, AT_REMOVEDIR) < 0 ? -errno : 0;
}

int prune_traces(const char *state, uint64_t keep_bytes, uint64_t keep_ns, uint64_t now_ns,
		 void (*report)(const char *path, uint64_t bytes, int error))
{
	autoclose int fd = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct all all = {};
	uint64_t bytes = 0;
	int r = fd < 0 ? -errno : each(fd, look_name, &all), gone = 0;

	for (size_t i = 0; i < all.n; i++)
		bytes += all.held[i].bytes;
	if (all.n)
		qsort(all.held, all.n, sizeof(*all.held), older);
	for (size_t i = 0; i < all.n; i++) {
		struct held *held = &all.held[i];
		bool old = keep_ns && now_ns > held->end_ns && now_ns - held->end_ns > keep_ns;

		if (!r && (old || (keep_bytes && bytes > keep_bytes))) {
			autofree char *path = util_fmt("%s/%s", held->name, held->trace);
			int error = remove_trace(fd, held);

			report(path ? path : held->trace, held->bytes, error);
			gone += !error;
			bytes -= error ? 0 : held->bytes;
		}
		free(held->name);
		free(held->trace);
	}
	free(all.held);
	return r < 0 ? r : gone;
}
