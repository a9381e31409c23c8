/* SPDX-License-Identifier: BSD-2-Clause */
/* See merge.h. */
#include "folder/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/json.h"
#include "base/util.h"
#include "folder/copy.h"

static void describe(void *ctx, struct json *j, uint64_t rows, uint64_t left_out)
{
	json_str(j, "from", ctx);
	json_u64(j, "rows", rows);
}

int merge_folder(const char *from, const char *to)
{
	static const struct copy_kind kind = { .key = "merged", .others = true, .describe = describe };
	autofree struct manifest_facts *m = calloc(1, sizeof(*m));
	int fd = m ? copy_open(from, m) : -ENOMEM;

	if (fd < 0)
		return fd;
	close(fd);
	return copy_folder(from, to, m, &kind, (void *)from);
}
