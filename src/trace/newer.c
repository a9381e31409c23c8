/* SPDX-License-Identifier: BSD-2-Clause */
/* See newer.h. */
#include "trace/newer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "trace/manifest_read.h"
#include "trace/reader.h"
#include "trace/segment.h"
#include "trace/unpack.h"

#define MANIFEST "manifest.json"

struct search {
	int dirfd;
	struct newer *found;
};

/* Reads the name and the schema of line 1 of FD, which is taken over. Returns whether it has them. */
static bool read_title(int fd, enum pack pack, char name[32], unsigned int *schema)
{
	struct unpack_marks marks = { 0 };
	struct unpack text;
	char line[128] = "";
	size_t len = 0;
	ssize_t n = 0;
	struct stat st;

	if (fstat(fd, &st) < 0) {
		close(fd);
		return false;
	}
	if (unpack_open(&text, fd, pack, (uint64_t)st.st_size, &marks) < 0)
		return false;
	while (len < sizeof(line) - 1 && (n = unpack_read(&text, line + len, sizeof(line) - 1 - len)) > 0)
		len += (size_t)n;
	unpack_close(&text);
	unpack_marks_free(&marks);
	return sscanf(line, "# dltraced %31s %9u", name, schema) == 2;
}

/* Stops at a segment whose line 1 is of this file, and of a newer schema. */
static int look(void *ctx, const char *file)
{
	struct search *search = ctx;
	struct segment_name segment;
	unsigned int schema;
	char name[32];
	int fd;

	if (!segment_parse(file, &segment))
		return 0;
	fd = util_open_regular(search->dirfd, file, 0);
	/* --collect may have put any file there: one with another name in line 1 is none of the trace */
	if (fd < 0 || !read_title(fd, segment.pack, name, &schema) || strcmp(name, segment.base) ||
	    schema <= READER_SCHEMA)
		return 0;
	snprintf(search->found->file, sizeof(search->found->file), "%s", file);
	search->found->schema = schema;
	return -EEXIST;
}

bool newer_find(int dirfd, struct newer *ret)
{
	autofree struct manifest_facts *facts = malloc(sizeof(*facts)); /* large for a stack */
	struct newer found = { .file = MANIFEST };
	struct search search = { dirfd, &found };

	if (facts)
		manifest_read_at(facts, dirfd);
	if (facts && !strcmp(facts->tool, "dltraced")) {
		found.schema = facts->schema;
		memcpy(found.version, facts->version, sizeof(found.version));
	}
	if (found.schema <= READER_SCHEMA && segment_each_entry(dirfd, look, &search) != -EEXIST)
		return false;
	*ret = found;
	return true;
}
