/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/cgroup/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "base/util.h"

#define TEXT_MAX (8 << 20)

/* --- mounts ----------------------------------------------------------------------------------- */

/* As /proc/PID/mountinfo escapes it: as we do. */
static void unescape(char *s)
{
	s[text_unescape(s, s, strlen(s))] = '\0';
}

/* Is WORD (LEN bytes) one of the comma-separated words of LIST? */
static bool list_has(const char *list, const char *word, size_t len)
{
	for (const char *s = list; *s; s += strspn(s, ",")) {
		size_t n = strcspn(s, ",");

		if (n == len && !memcmp(s, word, n))
			return true;
		s += n;
	}
	return false;
}

/*
 * Returns the number of the v1 hierarchy whose mount has OPTIONS: that of the line ID:CONTROLLERS:PATH
 * whose first controller, or name=, is among them. -1: none.
 */
static long hierarchy_of(const char *options, const char *proc_cgroup)
{
	for (const char *line = proc_cgroup; *line; line += !!*line) {
		char *colon;
		long id = strtol(line, &colon, 10);
		size_t len = *colon == ':' ? strcspn(colon + 1, ",:\n") : 0;

		if (len && list_has(options, colon + 1, len))
			return id;
		line += strcspn(line, "\n");
	}
	return -1;
}

static int mount_append(struct cgroup_mounts *mounts, const char *dir, const char *root, uint32_t hierarchy)
{
	struct cgroup_mount *new;

	if (util_room(&mounts->items, mounts->n, sizeof(*new)) < 0)
		return -ENOMEM;
	new = &mounts->items[mounts->n];
	*new = (struct cgroup_mount){ strdup(dir), strdup(root), hierarchy };
	mounts->n++;
	if (!new->dir || !new->root)
		return -ENOMEM;
	unescape(new->dir);
	unescape(new->root);
	return 0;
}

/* "ID PARENT MAJOR:MINOR ROOT DIR OPTIONS TAG... - FSTYPE SOURCE SUPER-OPTIONS" (proc(5)) */
static int mount_parse(struct cgroup_mounts *mounts, const char *line, const char *proc_cgroup)
{
	autofree char *root = NULL, *dir = NULL, *type = NULL, *options = NULL;
	const char *second = strstr(line, " - ");
	long hierarchy = 0;

	if (!second || sscanf(line, "%*s %*s %*s %ms %ms", &root, &dir) != 2 ||
	    sscanf(second + 3, "%ms %*s %ms", &type, &options) != 2)
		return 0;
	if (!strcmp(type, "cgroup"))
		hierarchy = hierarchy_of(options, proc_cgroup);
	else if (strcmp(type, "cgroup2"))
		return 0;
	return hierarchy < 0 ? 0 : mount_append(mounts, dir, root, (uint32_t)hierarchy);
}

int cgroup_mounts_parse(struct cgroup_mounts *mounts, const char *mountinfo, const char *proc_cgroup)
{
	autofree char *text = strdup(mountinfo);
	int r = text ? 0 : -ENOMEM;
	char *rest = text;

	*mounts = (struct cgroup_mounts){};
	for (char *line; !r && (line = strsep(&rest, "\n"));)
		r = mount_parse(mounts, line, proc_cgroup);
	if (r < 0)
		cgroup_mounts_free(mounts);
	return r;
}

int cgroup_mounts_read(struct cgroup_mounts *m)
{
	autofree char *mountinfo = NULL, *proc_cgroup = NULL;
	int r = util_read_file("/proc/self/mountinfo", TEXT_MAX, &mountinfo, NULL);

	*m = (struct cgroup_mounts){};
	if (!r)
		r = util_read_file("/proc/self/cgroup", TEXT_MAX, &proc_cgroup, NULL);
	return r < 0 ? r : cgroup_mounts_parse(m, mountinfo, proc_cgroup);
}

void cgroup_mounts_free(struct cgroup_mounts *m)
{
	for (unsigned int i = 0; i < m->n; i++) {
		free(m->items[i].dir);
		free(m->items[i].root);
	}
	free(m->items);
	*m = (struct cgroup_mounts){};
}

/* --- paths ------------------------------------------------------------------------------------ */

/* Returns the part of PATH below directory DIR: "" or "/...", NULL when it is not below. */
static const char *below(const char *path, const char *dir)
{
	size_t len = strcmp(dir, "/") ? strlen(dir) : 0;

	return !strncmp(path, dir, len) && (!path[len] || path[len] == '/') ? path + len : NULL;
}

/* Copies PATH with one slash in front of each component; -EINVAL for . and .. */
static int path_clean(const char *path, char dst[PATH_MAX])
{
	size_t at = 0;

	for (path += strspn(path, "/"); *path; path += strspn(path, "/")) {
		size_t len = strcspn(path, "/");

		if (at + 1 + len >= PATH_MAX)
			return -ENAMETOOLONG;
		if (len <= 2 && !strncmp(path, "..", len))
			return -EINVAL;
		dst[at++] = '/';
		memcpy(dst + at, path, len);
		at += len;
		path += len;
	}
	dst[at] = '\0';
	return 0;
}

/* Resolves the links of PATH, as far as it exists. */
static int path_resolve(const char *path, char dst[PATH_MAX])
{
	autofree char *front = strdup(path);
	char rest[PATH_MAX], real[PATH_MAX];
	size_t len = strlen(path);
	int r;

	if (!front)
		return -ENOMEM;
	while (!realpath(front, real)) {
		if (errno != ENOENT && errno != ENOTDIR)
			return -errno;
		while (len && front[len - 1] == '/')
			len--;
		while (len && front[len - 1] != '/')
			len--;
		if (!len)
			return -ENOENT;
		front[len] = '\0';
	}
	r = path_clean(path + len, rest);
	if (!r && snprintf(dst, PATH_MAX, "%s%s", strcmp(real, "/") ? real : "", rest) >= PATH_MAX)
		r = -ENAMETOOLONG;
	return r;
}

int cgroup_append(struct cgroup_list *list, const struct cgroup_mount *mount, const char *path)
{
	const char *rest = below(path, mount->root);
	struct cgroup *new;

	if (!rest)
		return -ENOENT;
	if (strlen(path) >= DLT_CGROUP_PATH_MAX)
		return -ENAMETOOLONG;
	if (util_room(&list->items, list->n, sizeof(*new)) < 0)
		return -ENOMEM;
	new = &list->items[list->n];
	*new = (struct cgroup){ util_fmt("%s%s", mount->dir, rest), { .hierarchy = mount->hierarchy } };
	if (!new->dir)
		return -ENOMEM;
	strcpy(new->path.path, *path ? path : "/"); /* as cgroup_path() of the kernel */
	list->n++;
	return 0;
}

int cgroup_append_dir(struct cgroup_list *list, const struct cgroup_mount *m, const char *dir)
{
	autofree char *path = util_fmt("%s%s", strcmp(m->root, "/") ? m->root : "", below(dir, m->dir));

	return path ? cgroup_append(list, m, path) : -ENOMEM;
}

/* Appends PATH, clean, from the root of every hierarchy; of two mounts of one, the first. */
static int find_in_each(struct cgroup_list *list, const struct cgroup_mounts *mounts, const char *path)
{
	for (unsigned int i = 0; i < mounts->n; i++) {
		unsigned int first = 0;
		int r;

		while (mounts->items[first].hierarchy != mounts->items[i].hierarchy)
			first++;
		r = first == i ? cgroup_append(list, &mounts->items[i], path) : 0;
		if (r < 0 && r != -ENOENT)
			return r;
	}
	return 0;
}

/* Is PATH among the mounts without being in one: /sys/fs/cgroup/typo? */
static bool beside_mounts(const struct cgroup_mounts *m, const char *path)
{
	for (unsigned int i = 0; i < m->n; i++) {
		const char *slash = strrchr(m->items[i].dir, '/');
		size_t len = slash ? (size_t)(slash - m->items[i].dir) : 0;

		if (len && !strncmp(path, m->items[i].dir, len) && (path[len] == '/' || !path[len]))
			return true;
	}
	return false;
}

/* Returns the hierarchy that contains PATH; NULL: none. */
static const struct cgroup_mount *mount_of(const struct cgroup_mounts *m, const char *path)
{
	const struct cgroup_mount *best = NULL;

	for (unsigned int i = 0; i < m->n; i++)
		if (below(path, m->items[i].dir) && (!best || strlen(m->items[i].dir) >= strlen(best->dir)))
			best = &m->items[i];
	return best;
}

int cgroup_find(struct cgroup_list *list, const struct cgroup_mounts *mounts, const char *path)
{
	char real[PATH_MAX], clean[PATH_MAX];
	const struct cgroup_mount *mount;
	int r;

	if (!*path)
		return -EINVAL;
	if (*path == '/') {
		r = path_resolve(path, real);
		if (r < 0)
			return r;
		mount = mount_of(mounts, real);
		if (mount)
			return cgroup_append_dir(list, mount, real);
		if (beside_mounts(mounts, real))
			return -ENOENT;
	}
	r = path_clean(path, clean);
	return r < 0 ? r : find_in_each(list, mounts, clean);
}

void cgroup_list_free(struct cgroup_list *list)
{
	for (unsigned int i = 0; i < list->n; i++)
		free(list->items[i].dir);
	free(list->items);
	*list = (struct cgroup_list){};
}

/* --- existing cgroups --------------------------------------------------------------------------- */

/* kernfs uses a node's id as its inode number, on 64-bit machines the whole id (fs/kernfs/inode.c). */
int cgroup_key(const struct cgroup *c, struct dlt_cgroup_key *key)
{
	struct stat st;

	if (stat(c->dir, &st) < 0)
		return -errno;
	*key = (struct dlt_cgroup_key){ .id = st.st_ino, .hierarchy = c->path.hierarchy };
	return 0;
}

struct queue {
	char **dirs;
	size_t n;
};

static int queue_push(struct queue *q, char *dir)
{
	if (!dir || util_room(&q->dirs, q->n, sizeof(*q->dirs)) < 0) {
		free(dir);
		return -ENOMEM;
	}
	q->dirs[q->n++] = dir;
	return 0;
}

/* A directory that has been removed meanwhile has nothing below. */
static int queue_children(struct queue *queue, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int r = 0;

	while (d && !r && (e = readdir(d)))
		if (e->d_type == DT_DIR && strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			r = queue_push(queue, util_fmt("%s/%s", dir, e->d_name));
	if (d)
		closedir(d);
	return r;
}

/* Breadth first, one directory open at a time: other users choose how deep they nest. */
int cgroup_walk(const char *dir, cgroup_dir_fn fn, void *ctx)
{
	struct queue q = {};
	int r = queue_push(&q, strdup(dir));

	for (size_t i = 0; !r && i < q.n; i++) {
		r = fn(ctx, q.dirs[i]);
		if (!r)
			r = queue_children(&q, q.dirs[i]);
	}
	for (size_t i = 0; i < q.n; i++)
		free(q.dirs[i]);
	free(q.dirs);
	return r;
}

int cgroup_tasks(const char *dir, cgroup_task_fn fn, void *ctx)
{
	autofree char *procs = util_fmt("%s/cgroup.procs", dir), *text = NULL;
	autofree char *threads = util_fmt("%s/cgroup.threads", dir);
	int r = procs && threads ? util_read_file(procs, TEXT_MAX, &text, NULL) : -ENOMEM;

	if (r == -EOPNOTSUPP) /* a threaded cgroup (cgroups(7)) */
		r = util_read_file(threads, TEXT_MAX, &text, NULL);
	if (r == -ENOENT || r == -ENODEV) /* gone */
		return 0;
	for (char *s = text; !r && *s; s += *s == '\n') {
		long pid = strtol(s, &s, 10);

		if (*s && *s != '\n')
			return -EINVAL;
		r = pid > 0 ? fn(ctx, (pid_t)pid) : 0; /* 0: not in our pid namespace */
	}
	return r;
}
