/* SPDX-License-Identifier: BSD-2-Clause */
/* The stacks that allocated, from the thread's first function on, with the bytes of their blocks, freed or not. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"
#include "export/cut.h"
#include "export/folded.h"
#include "export/site_texts.h"
#include "report/memory/allocs.h"
#include "report/memory/stacks.h"

#define STACK_BYTES 16384 /* a deeper part is left out */

int folded_allocs_begin(struct folded *s, const char *probes)
{
	table_init(&s->sites, sizeof(uint64_t), SITE_TEXTS_MAX);
	s->of_allocs = probes && !strcmp(probes, "alloc");
	if (!probes || s->of_allocs || !cut_names(probes, "alloc"))
		return 0;
	log_err("folded: the stacks of alloc.out have bytes, those of other files ns: export alloc alone (-P alloc)");
	return -ECANCELED;
}

void folded_allocs_free(struct folded *s)
{
	table_free(&s->sites);
}

/* Returns the bytes of the block that ROW begins, 0: it begins none. */
static uint64_t begun(const struct export_file *f, const struct reader_row *row, const unsigned int *at)
{
	const struct reader_field func = export_field(f, row, at[0]), addr = export_field(f, row, at[1]);
	uint64_t bytes;

	if (reader_is(func, "end") || report_alloc_frees(func) || report_alloc_is_unpaired(func) ||
	    reader_is(addr, "0"))
		return 0;
	return reader_u64(export_field(f, row, at[2]), &bytes) && bytes <= ALLOCS_BLOCK_BYTES_MAX ? bytes : 0;
}

int folded_allocs_take(struct folded *folded, const struct export_file *file, const struct reader_row *rows,
		       unsigned int n)
{
	static const char *const columns[] = { "FUNC", "ADDR", "SIZE", "SITE" };
	unsigned int at[ARRAY_SIZE(columns)];

	for (unsigned int i = 0; i < ARRAY_SIZE(columns); i++)
		at[i] = export_table_column(file->table, columns[i]) - 1;
	for (unsigned int i = 0; i < n; i++) {
		const uint64_t bytes = begun(file, &rows[i], at);
		uint64_t site = 0, *sum;

		if (!bytes)
			continue;
		reader_u64(export_field(file, &rows[i], at[3]), &site);
		sum = table_get(&folded->sites, site);
		if (sum)
			*sum += bytes;
		else
			folded->others += bytes;
	}
	return 0;
}

/* Adds the stack TEXT, which begins with the innermost function. */
static void add_stack(struct export *export, const char *text, uint64_t bytes)
{
	char folded[STACK_BYTES], *p = folded;
	const size_t gap = strlen(STACKS_SEPARATOR);
	const char *end = text + strlen(text);

	while (end) {
		const char *from = end, *next = NULL;

		while (from > text && !next)
			next = !strncmp(--from, STACKS_SEPARATOR, gap) ? from : NULL;
		from = next ? next + gap : text;
		if (p > folded && p < folded + sizeof(folded))
			*p++ = ';';
		p = folded_put(export, p, folded + sizeof(folded), (struct reader_field){ from, (size_t)(end - from) });
		end = next;
	}
	folded_add(export->state, folded, (size_t)(p - folded), bytes);
}

int folded_allocs_host_end(struct export *export)
{
	struct folded *folded = export->state;
	const uint32_t n = folded->sites.n;
	autofree uint64_t *sites = calloc(n + 1, sizeof(*sites));
	char **texts;

	for (uint32_t i = 0; sites && i < n; i++)
		sites[i] = table_key_at(&folded->sites, i);
	texts = sites && n ? site_texts_read(export->host->dirfd, sites, n) : NULL;
	for (uint32_t i = 0; texts && i < n; i++)
		add_stack(export, texts[i] ? texts[i] : "(no stack)", *(uint64_t *)table_at(&folded->sites, i));
	site_texts_free(texts, n);
	table_free(&folded->sites);
	table_init(&folded->sites, sizeof(uint64_t), SITE_TEXTS_MAX);
	return n && !texts ? -ENOMEM : 0;
}
