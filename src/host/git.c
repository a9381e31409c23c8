/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks up to the .git and follows HEAD. Root may read a user's files here: only regular files are ever
 * opened, all sizes are bounded, and only text in the form of a commit or of a ref's name is returned.
 * Control plane, once per trace.
 */
#include "host/git.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "base/util.h"

#define SMALL_MAX 4096 /* HEAD, refs, .git files, commondir */
#define PACKED_REFS_MAX (16U << 20)
#define SYMREFS_MAX 5 /* git's own limit, refs.c SYMREF_MAXDEPTH */

static int read_regular(const char *dir, const char *name, size_t max, char **ret)
{
	autofree char *path = util_fmt("%s/%s", dir, name);
	autoclose int fd = path ? util_open_regular(AT_FDCWD, path, 0) : -1;

	return fd < 0 ? -ENOENT : util_read_fd(fd, max, ret, NULL);
}

/* Returns the first line of a small file after PREFIX, or NULL when it has another form. */
static char *read_first_line(const char *dir, const char *name, const char *prefix)
{
	autofree char *text = NULL;
	size_t skip = strlen(prefix);

	if (read_regular(dir, name, SMALL_MAX, &text) < 0 || strncmp(text, prefix, skip) != 0)
		return NULL;
	return util_fmt("%.*s", (int)strcspn(text + skip, "\r\n"), text + skip);
}

/* Opens the folder that LINE names, relative to BASE. */
static char *resolve_dir(const char *base, const char *line)
{
	return *line == '/' ? util_fmt("%s", line) : util_fmt("%s/%s", base, line);
}

/* Opens the repository of the work tree TOP; a .git file refers to one elsewhere (git-worktree(1)). */
static char *find_git_dir(const char *top)
{
	autofree char *link = read_first_line(top, ".git", "gitdir: ");
	autofree char *dir = link ? resolve_dir(top, link) : util_fmt("%s/.git", top);
	autofree char *head = dir ? read_first_line(dir, "HEAD", "") : NULL;

	return head ? TAKE_PTR(dir) : NULL;
}

/* Returns the number of digits of the SHA-1 or SHA-256 that S begins with, else 0. */
static size_t commit_len(const char *s)
{
	size_t len = strspn(s, "0123456789abcdef");

	return len == 40 || len == 64 ? len : 0;
}

static bool is_ref(const char *s)
{
	return strncmp(s, "refs/", 5) == 0 && !strstr(s, "..") && strlen(s) < sizeof(((struct git_head *)0)->ref);
}

static char *find_packed(const char *common, const char *ref)
{
	autofree char *text = NULL;
	char *rest, *line;

	if (read_regular(common, "packed-refs", PACKED_REFS_MAX, &text) < 0)
		return NULL;
	rest = text;
	while ((line = strsep(&rest, "\n")) && rest) {
		size_t len = commit_len(line);

		if (len && line[len] == ' ' && strcmp(line + len + 1, ref) == 0)
			return util_fmt("%.*s", (int)len, line);
	}
	return NULL;
}

/* Reads REF; a work tree has refs of its own besides the common ones. */
static char *read_ref(const char *dir, const char *common, const char *ref)
{
	char *value = read_first_line(dir, ref, "");

	value = value ?: read_first_line(common, ref, "");
	return value ?: find_packed(common, ref);
}

static void follow_head(struct git_head *head, const char *dir)
{
	autofree char *link = read_first_line(dir, "commondir", "");
	autofree char *common = link ? resolve_dir(dir, link) : util_fmt("%s", dir);
	autofree char *value = read_first_line(dir, "HEAD", "");

	for (int i = 0; common && value && i < SYMREFS_MAX; i++) {
		autofree char *old = NULL;
		size_t len = commit_len(value);

		if (len && !value[len]) {
			strcpy(head->commit, value);
			return;
		}
		if (strncmp(value, "ref: ", 5) != 0 || !is_ref(value + 5))
			return;
		strcpy(head->ref, value + 5);
		old = TAKE_PTR(value);
		value = read_ref(dir, common, head->ref);
	}
}

int git_head_read(struct git_head *head, const char *folder)
{
	*head = (struct git_head){ 0 };
	if (*folder != '/' || strlen(folder) >= sizeof(head->top))
		return -ENOENT;
	strcpy(head->top, folder);
	for (;;) {
		autofree char *dir = find_git_dir(head->top);

		if (dir) {
			follow_head(head, dir);
			if (!head->top[0])
				strcpy(head->top, "/");
			return 0;
		}
		if (!head->top[0])
			return -ENOENT;
		*strrchr(head->top, '/') = '\0';
	}
}
