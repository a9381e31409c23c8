/* SPDX-License-Identifier: BSD-2-Clause */
/* See data_dirs.h. */
#include "report/phases/data_dirs.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 120 /* a longer one may have been cut where it was recorded */

static void add(struct data_dirs *dirs, const char *p, size_t len)
{
	dirs->all |= len == 3 && !memcmp(p, "all", 3);
	if (!len || p[0] != '/')
		return;
	while (len && p[len - 1] == '/')
		len--;
	dirs->all |= !len;
	if (!len)
		return;
	for (unsigned int i = 0; i < dirs->n; i++)
		if (strlen(dirs->path[i]) == len && !memcmp(dirs->path[i], p, len))
			return;
	if (dirs->n < DATA_DIRS_MAX)
		dirs->path[dirs->n] = strndup(p, len);
	if (dirs->n == DATA_DIRS_MAX || !dirs->path[dirs->n])
		dirs->all = true;
	else
		dirs->n++;
}

void data_dirs_add(struct data_dirs *dirs, const char *p, size_t len)
{
	const char *const end = p + len;

	dirs->all |= len > TEXT_MAX;
	while (p < end) {
		const char *colon = memchr(p, ':', (size_t)(end - p));

		add(dirs, p, (size_t)((colon ?: end) - p));
		p = (colon ?: end) + 1;
	}
}

bool data_dirs_any(const struct data_dirs *dirs)
{
	return dirs->n && !dirs->all;
}

bool data_dirs_have(const struct data_dirs *dirs, const char *p, size_t len)
{
	if (!data_dirs_any(dirs))
		return true;
	for (unsigned int i = 0; i < dirs->n; i++) {
		const size_t n = strlen(dirs->path[i]);

		if (len >= n && !memcmp(p, dirs->path[i], n) && (len == n || p[n] == '/'))
			return true;
	}
	return false;
}

void data_dirs_free(struct data_dirs *dirs)
{
	for (unsigned int i = 0; i < dirs->n; i++)
		free(dirs->path[i]);
}
