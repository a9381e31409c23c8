/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of thread, call and file with their time in ns, a line each, as programs that draw flame graphs read them; of
 * allocations alone, the stacks that made them, with their bytes (folded_allocs.c); regions have stacks of their own
 * (folded_regions.c).
 */
#include "export/folded.h"

#include <string.h>

#include "base/text.h"
#include "export/export.h"

#define STACK_BYTES 512

struct stack {
	char *text;
	uint64_t weight;
};

/* Whether ROW is the second row of a call that moves data between two files: the call's time must count only once. */
static bool is_again(struct folded *folded, const struct export_file *file, const struct reader_row *row)
{
	const unsigned int tid = export_table_column(file->table, "TID");
	uint64_t ns = 0, thread = 0;
	bool again;

	reader_u64(export_field(file, row, 0), &ns);
	if (tid)
		reader_u64(export_field(file, row, tid - 1), &thread);
	again = ns == folded->last_ns && thread == folded->last_tid;
	folded->last_ns = ns;
	folded->last_tid = thread;
	return again;
}

static int forget_row(struct export *x)
{
	struct folded *s = x->state;

	s->last_ns = 0;
	return 0;
}

char *folded_put(struct export *export, char *p, const char *end, struct reader_field v)
{
	size_t len = text_unescape(export->scratch, v.p, v.len);
	const char *s = export->scratch;

	while (len && p < end) {
		const unsigned int n = text_shown_len(s, len);

		if (p + n > end)
			break;
		if (n && *s != ';')
			p = mempcpy(p, s, n);
		else
			*p++ = *s == ';' ? ':' : '?';
		s += n ? n : 1;
		len -= n ? n : 1;
	}
	return p;
}

void folded_add(struct folded *s, const char *text, size_t len, uint64_t weight)
{
	struct stack *stack = table_get(&s->stacks, table_key(text, len));

	if (stack && !stack->text)
		stack->text = strndup(text, len);
	if (stack && stack->text)
		stack->weight += weight;
	else
		s->others += weight;
}

static const char *const parts[] = { "COMM", "FUNC", "FILE" };

static int put_rows(struct export *export, const struct export_file *file, const struct reader_row *rows,
		    unsigned int n)
{
	struct folded *folded = export->state;
	const unsigned int lat = export_table_column(file->table, "LAT_NS"),
			   func = export_table_column(file->table, "FUNC");

	if (folded->of_allocs)
		return folded_allocs_take(folded, file, rows, n);
	if (!strcmp(file->table->name, "regions"))
		return folded_regions_take(export, file, rows, n);
	if (!lat || !func)
		return 0;
	for (unsigned int i = 0; i < n; i++) {
		char text[STACK_BYTES], *p = text;
		uint64_t ns = 0;

		if (is_again(folded, file, &rows[i]))
			continue;
		for (unsigned int k = 0; k < ARRAY_SIZE(parts); k++) {
			const unsigned int c = export_table_column(file->table, parts[k]);
			const struct reader_field v = c ? export_field(file, &rows[i], c - 1) : reader_absent();

			if (export_is_none(v))
				continue;
			if (p > text)
				*p++ = ';';
			p = folded_put(export, p, text + (k + 1) * (sizeof(text) / ARRAY_SIZE(parts)) - 2, v);
		}
		reader_u64(export_field(file, &rows[i], lat - 1), &ns);
		folded_add(folded, text, (size_t)(p - text), ns);
	}
	return 0;
}

static int begin(struct export *x)
{
	struct folded *s = x->state;

	table_init(&s->stacks, sizeof(struct stack), FOLDED_STACKS_MAX);
	folded_regions_init(&s->regions);
	return folded_allocs_begin(s, x->o->probes);
}

static int host_end(struct export *x)
{
	folded_regions_host_end(x->state);
	return folded_allocs_host_end(x);
}

static void put_stack(struct export *x, const char *text, uint64_t weight)
{
	char number[TEXT_U64_MAX + 4], *p = text_put_u64(number + 1, weight);

	number[0] = ' ';
	*p++ = '\n';
	out_text(&x->out, text);
	out_bytes(&x->out, number, (size_t)(p - number));
	out_record(&x->out);
}

static int end(struct export *export)
{
	const struct folded *folded = export->state;

	for (uint32_t i = 0; i < folded->stacks.n; i++) {
		const struct stack *stack = table_at(&folded->stacks, i);

		if (stack->text && stack->weight)
			put_stack(export, stack->text, stack->weight);
	}
	if (folded->others)
		put_stack(export, "(others)", folded->others);
	return export->out.error;
}

static void close_all(struct export *x)
{
	struct folded *s = x->state;

	for (uint32_t i = 0; i < s->stacks.n; i++)
		free(((struct stack *)table_at(&s->stacks, i))->text);
	table_free(&s->stacks);
	folded_regions_free(&s->regions);
	folded_allocs_free(s);
}

const struct exporter export_folded = {
	.name = "folded",
	.help = "stacks of thread, call and file with their time, for flame graphs, and of regions; with -P alloc "
		"those "
		"of allocations, with their bytes",
	.order = EXPORT_BY_FILE,
	.state_size = sizeof(struct folded),
	.begin = begin,
	.host = forget_row,
	.rows = put_rows,
	.host_end = host_end,
	.end = end,
	.close = close_all,
};
