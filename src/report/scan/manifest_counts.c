/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/manifest_counts.h"

#include <string.h>

#include "base/util.h"
#include "report/scan/scan.h"
#include "trace/manifest_read.h"

#define HEADER_DIFFERS \
	20 /* bytes: segments that were put together have no " segment=N" in their first line; no row is as short */

struct manifest_counts manifest_counts_of(const struct manifest_facts *facts, const char *name)
{
	const struct manifest_probe *probe = manifest_probe(facts, name);

	if (probe)
		return (struct manifest_counts){ probe->rows, probe->lost, probe->dropped, probe->bytes,
						 probe->dropped_bytes };
	for (unsigned int i = 0; i < facts->n_collectors; i++) {
		const struct manifest_collector *c = &facts->collectors[i];

		if (strcmp(c->name, name) == 0)
			return (struct manifest_counts){ c->rows, c->lost, c->dropped, c->bytes, c->dropped_bytes };
	}
	return (struct manifest_counts){ 0 };
}

/* Whether the file is neither split nor packed: the size of a packed text is known only after unpacking. */
static bool is_plain(const struct reader *rd)
{
	return rd->n_segments <= 1 && rd->growing_pack == PACK_NONE &&
	       (!rd->n_segments || rd->segments[0].file.pack == PACK_NONE);
}

uint64_t manifest_counts_bytes_short(const struct manifest_facts *facts, struct scan_folder *folder, const char *name,
				     uint64_t *counted)
{
	const struct manifest_counts c = manifest_counts_of(facts, name);
	const struct scan_file *f = facts->complete && c.rows > c.dropped ? scan_file(folder, name) : NULL;
	uint64_t there;

	*counted = c.bytes - MIN(c.bytes, c.dropped_bytes);
	if (!f || (f->error == 0 && !is_plain(&f->reader)))
		return 0;
	there = f->error == 0 ? f->reader.growing_bytes : 0;
	return *counted - MIN(*counted, there) > HEADER_DIFFERS ? *counted - there : 0;
}
