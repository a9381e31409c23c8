/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/files/folders.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

void folders_init(struct folders *f)
{
	*f = (struct folders){ .text = 0 };
	table_init(&f->ids, sizeof(struct folder), FOLDERS_MAX);
}

void folders_free(struct folders *f)
{
	for (uint32_t i = 0; i < f->ids.n; i++)
		free(((struct folder *)table_at(&f->ids, i))->path);
	table_free(&f->ids);
	f->text = 0;
}

static uint32_t number_of(const struct folders *f, const struct folder *folder)
{
	return (uint32_t)(folder - (const struct folder *)f->ids.values) + 1;
}

/* Returns the number of the folder below PARENT that is PATH's first LEN bytes, hash KEY; PARENT when there is no room.
 */
static uint32_t get(struct folders *folders, uint64_t key, const char *path, size_t len, uint32_t parent)
{
	struct folder *folder = table_find(&folders->ids, key);
	char *copy;

	if (folder)
		return number_of(folders, folder);
	if (folders->text + len + 1 > FOLDERS_TEXT_MAX)
		return parent;
	copy = strndup(path, len);
	folder = copy ? table_get(&folders->ids, key) : NULL;
	if (!folder) {
		free(copy);
		return parent;
	}
	*folder = (struct folder){ .path = copy, .len = (uint32_t)len, .parent = parent };
	folders->text += len + 1;
	return number_of(folders, folder);
}

/* Adds the folders of PATH from the root downwards, so that upper ones get lower numbers. Returns the last one's
 * number. */
static uint32_t walk(struct folders *folders, struct reader_field path)
{
	uint64_t key = table_key("/", 1);
	uint32_t number = get(folders, key, "/", 1, 0), next;

	key = table_key("", 0);
	for (size_t at = 0, end, depth = 0; number && at < path.len && path.len > 1 && depth < FOLDERS_DEPTH_MAX;
	     at = end, depth++) {
		const char *slash = memchr(path.p + at + 1, '/', path.len - at - 1);

		end = slash ? (size_t)(slash - path.p) : path.len;
		key = table_key_more(key, path.p + at, end - at);
		next = get(folders, key, path.p, end, number);
		if (next == number)
			break;
		number = next;
	}
	return number;
}

uint32_t folders_number(struct folders *f, struct reader_field path)
{
	const struct folder *folder;

	if (!path.len || path.p[0] != '/')
		return 0;
	folder = table_find(&f->ids, table_key(path.p, path.len));
	return folder ? number_of(f, folder) : walk(f, path);
}

uint32_t folders_number_above(struct folders *f, struct reader_field path)
{
	const char *slash = path.len ? memrchr(path.p, '/', path.len) : NULL;

	if (!slash)
		return 0;
	path.len = slash == path.p ? 1 : (size_t)(slash - path.p);
	return folders_number(f, path);
}
