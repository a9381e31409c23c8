/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define DIGITS 6 /* at least: with more, ls sorts names wrongly, but they are read all the same */
#define LISTINGS 8

const char *const pack_names[PACKS] = { "none", "gzip", "zstd" };
const char *const pack_suffixes[PACKS] = { "", ".gz", ".zst" };

enum pack pack_find(const char *name)
{
	for (enum pack p = PACK_NONE + 1; p < PACKS; p++)
		if (!strcmp(name, pack_names[p]))
			return p;
	return PACK_NONE;
}

static bool ends_with(const char *s, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && !memcmp(s + len - n, end, n);
}

/* Parses the number at the end of S of LEN bytes, after a dot: returns how many bytes that is, 0: none. */
static size_t number_at_end(const char *s, size_t len, uint32_t *ret)
{
	size_t digits = 0;
	uint64_t v;

	while (digits < len && s[len - 1 - digits] >= '0' && s[len - 1 - digits] <= '9')
		digits++;
	if (digits < DIGITS || digits > 10 || digits == len || s[len - 1 - digits] != '.')
		return 0;
	v = strtoull(s + len - digits, NULL, 10);
	if (v == 0 || v >= SEGMENT_LAST)
		return 0;
	*ret = (uint32_t)v;
	return digits + 1;
}

bool segment_parse(const char *file, struct segment_name *ret)
{
	size_t len = strlen(file);

	*ret = (struct segment_name){ .nr = SEGMENT_LAST };
	for (enum pack p = PACK_NONE + 1; p < PACKS; p++)
		if (ends_with(file, len, pack_suffixes[p]))
			ret->pack = p;
	len -= strlen(pack_suffixes[ret->pack]);
	if (!ends_with(file, len, ".out"))
		return false;
	len -= strlen(".out");
	len -= number_at_end(file, len, &ret->nr);
	if (len == 0 || len >= sizeof(ret->base))
		return false;
	memcpy(ret->base, file, len);
	return true;
}

void segment_format(char file[NAME_MAX + 1], const char *base, uint32_t nr, enum pack pack)
{
	if (nr == SEGMENT_LAST)
		snprintf(file, NAME_MAX + 1, "%s.out%s", base, pack_suffixes[pack]);
	else
		snprintf(file, NAME_MAX + 1, "%s.%0*u.out%s", base, DIGITS, nr, pack_suffixes[pack]);
}

/* Whether FILE is the name of a segment, as NAME, and one of the N suffixes ENDS behind it. */
static bool has_suffix(const char *file, const char *const *ends, size_t n, struct segment_name *name)
{
	size_t len = strlen(file);
	char rest[NAME_MAX + 1];

	for (size_t i = 0; i < n; i++) {
		if (!ends_with(file, len, ends[i]) || len > NAME_MAX)
			continue;
		snprintf(rest, sizeof(rest), "%.*s", (int)(len - strlen(ends[i])), file);
		if (segment_parse(rest, name))
			return true;
	}
	return false;
}

bool segment_is_leftover(const char *file)
{
	static const char *const ends[] = { SEGMENT_TMP, SEGMENT_NEW };
	struct segment_name name;

	return has_suffix(file, ends, ARRAY_SIZE(ends), &name);
}

int segment_each_entry(int dirfd, int (*fn)(void *ctx, const char *name), void *ctx)
{
	autoclose int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *dirent;
	int r = 0;

	if (!dir)
		return -errno;
	fd = -1; /* closedir() closes it */
	while (r >= 0 && (errno = 0, dirent = readdir(dir)))
		r = fn(ctx, dirent->d_name);
	if (r >= 0 && errno)
		r = -errno;
	closedir(dir);
	return r < 0 ? r : 0;
}

struct foreign {
	const char *base;
	char *name;
};

static int is_foreign(void *ctx, const char *file)
{
	static const char *const ends[] = { ".7z",   ".Z",   ".br",  ".bz2", ".lz", ".lz4",
					    ".lzma", ".lzo", ".rar", ".sz",  ".xz", ".zip" };
	const struct foreign *foreign = ctx;
	struct segment_name name;

	if (!has_suffix(file, ends, ARRAY_SIZE(ends), &name) || strcmp(name.base, foreign->base) != 0)
		return 0;
	strcpy(foreign->name, file);
	return -EEXIST; /* ends the search */
}

bool segment_find_foreign(int dirfd, const char *base, char name[NAME_MAX + 1])
{
	struct foreign f = { base, name };

	return segment_each_entry(dirfd, is_foreign, &f) == -EEXIST;
}

struct listing {
	struct segment_list *l;
	const char *base;
	uint32_t before;
};

static int add_entry(void *ctx, const char *file)
{
	struct listing *ls = ctx;
	struct segment_list *l = ls->l;
	struct segment_name name;

	if (!segment_parse(file, &name) || strcmp(name.base, ls->base) || (ls->before && name.nr >= ls->before))
		return 0;
	if (util_room(&l->v, l->n, sizeof(*l->v)) < 0)
		return -ENOMEM;
	l->v[l->n++] = (struct segment_file){ name.nr, name.pack };
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct segment_file *x = a, *y = b;

	if (x->nr != y->nr)
		return x->nr < y->nr ? -1 : 1;
	return (int)x->pack - (int)y->pack;
}

static void sort(struct segment_list *list, uint32_t before)
{
	size_t n = 0, numbered;

	if (list->n)
		qsort(list->v, list->n, sizeof(*list->v), compare);
	for (size_t i = 0; i < list->n; i++)
		if (!n || list->v[n - 1].nr != list->v[i].nr)
			list->v[n++] = list->v[i];
	list->n = n;
	numbered = n - (n && list->v[n - 1].nr == SEGMENT_LAST);
	list->missing = 0;
	if (numbered)
		list->missing = (before && before != SEGMENT_LAST ? before : list->v[numbered - 1].nr + 1) -
				list->v[0].nr - numbered;
}

/* A file that is being renamed may be seen under neither name: then the search is repeated. */
int segment_list_read(struct segment_list *list, int dirfd, const char *base, uint32_t before)
{
	int r = 0;

	for (int i = 0; r == 0 && i < LISTINGS && (i == 0 || list->missing); i++) {
		struct listing ls = { .l = list, .base = base, .before = before };

		if (i)
			segment_list_free(list);
		*list = (struct segment_list){ 0 };
		r = segment_each_entry(dirfd, add_entry, &ls);
		sort(list, before);
	}
	if (r < 0)
		segment_list_free(list);
	return r;
}

void segment_list_free(struct segment_list *l)
{
	free(l->v);
	*l = (struct segment_list){ 0 };
}
