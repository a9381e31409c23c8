/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/traces/traces.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/fmt.h"
#include "base/util.h"
#include "cmd/traces/verdict.h"
#include "trace/manifest_read.h"
#include "trace/newer.h"
#include "trace/outdir.h"

#define DEPTH 2U
#define LINE "%-20s  %9s  %-18s  "
#define NAME_WIDTH 32

struct entry {
	char *path; /* FOLDER/... */
	char start_utc[40];
};

struct entries {
	struct entry *v;
	size_t n;
	struct manifest_facts facts; /* of the current folder; here, as it is too large for the stack at each depth */
};

static void entries_free(struct entries *es)
{
	for (size_t i = 0; i < es->n; i++)
		free(es->v[i].path);
	free(es->v);
	free(es);
}

/* Adds the folder FD, which is PATH, if it is a trace. */
static void add(struct entries *es, int fd, const char *path)
{
	struct entry e = { .path = strdup(path) };

	if (!e.path || util_room(&es->v, es->n, sizeof(e)) < 0) {
		free(e.path);
		return;
	}
	manifest_read_at(&es->facts, fd);
	snprintf(e.start_utc, sizeof(e.start_utc), "%s", es->facts.start_utc);
	es->v[es->n++] = e;
}

/* Searches the folder FD and those below it, without following links. Closes FD. */
static void look(struct entries *es, int fd, const char *path, unsigned int depth)
{
	DIR *dir;
	struct dirent *dirent;

	if (outdir_holds_trace(fd)) {
		add(es, fd, path);
		close(fd);
		return;
	}
	dir = depth ? fdopendir(fd) : NULL;
	if (!dir) {
		close(fd);
		return;
	}
	while ((dirent = readdir(dir))) {
		int below = *dirent->d_name == '.' ?
				    -1 :
				    openat(fd, dirent->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		autofree char *name = below < 0 ? NULL : util_fmt("%s/%s", path, dirent->d_name);

		if (name)
			look(es, below, name, depth - 1);
		else
			util_close(&below);
	}
	closedir(dir);
}

static int earlier(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->start_utc, y->start_utc);

	return order ? order : strcmp(x->path, y->path);
}

/* Returns the traces below FOLDER, the oldest first; NULL when there is none, or FOLDER is a trace itself. */
static struct entries *find(const char *folder)
{
	autofree char *path = strdup(folder);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct entries *es;

	if (fd < 0 || outdir_holds_trace(fd) || !path) {
		util_close(&fd);
		return NULL;
	}
	es = calloc(1, sizeof(*es));
	if (!es) {
		close(fd);
		return NULL;
	}
	for (size_t len = strlen(path); len > 1 && path[len - 1] == '/'; len--)
		path[len - 1] = '\0';
	look(es, fd, path, DEPTH);
	if (es->n)
		qsort(es->v, es->n, sizeof(*es->v), earlier);
	if (es->n)
		return es;
	entries_free(es);
	return NULL;
}

bool traces_are_below(const char *folder)
{
	struct entries *es = find(folder);

	if (es)
		entries_free(es);
	return es;
}

bool traces_newest(const char *folder, char path[PATH_MAX])
{
	struct entries *es = find(folder);
	bool fits;

	*path = '\0';
	if (!es)
		return false;
	fits = snprintf(path, PATH_MAX, "%s", es->v[es->n - 1].path) < PATH_MAX;
	entries_free(es);
	if (!fits)
		*path = '\0';
	return fits;
}

static const char *brief_of(const struct manifest_facts *facts, const struct verdict *verdict)
{
	if (facts->dry)
		return "a dry run";
	if (verdict->brief)
		return verdict->brief;
	return verdict->large || verdict->late ? "too large for a list" : "not known";
}

static void put_line(const struct manifest_facts *facts, const struct entry *entry, const char *brief,
		     const char *folder, FILE *out)
{
	const char *ended = facts->has_status ? FMT_ENDED(facts->status) + strlen("ended ") : "-";

	if (!facts->complete)
		ended = "no end";
	/* of 2026-11-25T02:33:09.000752701Z, for example, all but the fraction of a second */
	fprintf(out, "%-.*s%-*s  ", (int)strlen("2026-11-25T02:33:09"), *facts->start_utc ? facts->start_utc : "-",
		*facts->start_utc ? 1 : 19, *facts->start_utc ? "Z" : "");
	fprintf(out, "%9s  %-18s  ", facts->end_ns > facts->start_ns ? FMT_NS(facts->end_ns - facts->start_ns) : "-",
		ended);
	fmt_plain(out, entry->path + strlen(folder) + (entry->path[strlen(folder)] == '/'), NAME_WIDTH);
	fmt_line(out, "  ", brief);
}

bool traces_list(const char *folder, FILE *out)
{
	struct entries *es = find(folder);
	size_t len = strlen(folder);
	autofree char *base = strndup(folder, len > 1 && folder[len - 1] == '/' ? len - 1 : len);

	if (!es || !base) {
		if (es)
			entries_free(es);
		return false;
	}
	fprintf(out, LINE "%-*s  %s\n", "STARTED", "LASTED", "ENDED", NAME_WIDTH, "FOLDER", "WAITED FOR");
	for (size_t i = 0; i < es->n; i++) {
		struct entry *e = &es->v[i];
		autoclose int fd = open(e->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		struct verdict v = { 0 };
		struct newer newer;
		bool read;

		if (fd < 0)
			continue;
		manifest_read_at(&es->facts, fd);
		read = !newer_find(fd, &newer);
		if (read && !es->facts.dry)
			verdict_read(&v, e->path, fd);
		put_line(&es->facts, e, read ? brief_of(&es->facts, &v) : "of a newer dltraced", base, out);
		fflush(out);
		verdict_free(&v);
	}
	entries_free(es);
	return true;
}
