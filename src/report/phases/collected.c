/* SPDX-License-Identifier: BSD-2-Clause */
/* See collected.h. */
#include "report/phases/collected.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define FOLDER "collected"
#define DEPTH_MAX 8
#define ENTRIES_MAX 4096

struct walk {
	void (*take)(void *ctx, int dirfd, const char *name, const char *path);
	void *ctx;
	unsigned int entries;
};

static void walk_folder(struct walk *walk, int dirfd, const char *path, unsigned int depth);

static void take_entry(struct walk *walk, int dirfd, const char *path, const char *name, unsigned int depth)
{
	autofree char *inner = util_fmt("%s/%s", path, name);
	autoclose int fd = -1;

	if (!inner || name[0] == '.' || walk->entries == ENTRIES_MAX)
		return;
	walk->entries++;
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		walk_folder(walk, fd, inner, depth + 1);
	else
		walk->take(walk->ctx, dirfd, name, inner);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void walk_folder(struct walk *walk, int dirfd, const char *path, unsigned int depth)
{
	struct dirent **entries;
	int n = depth < DEPTH_MAX ? scandirat(dirfd, ".", &entries, NULL, by_name) : -1;

	if (n < 0)
		return;
	for (int i = 0; i < n; i++) {
		take_entry(walk, dirfd, path, entries[i]->d_name, depth);
		free(entries[i]);
	}
	free(entries);
}

void collected_each(int dirfd, void (*take)(void *ctx, int dirfd, const char *name, const char *path), void *ctx)
{
	struct walk w = { .take = take, .ctx = ctx };
	autoclose int fd = openat(dirfd, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		walk_folder(&w, fd, FOLDER, 0);
}
