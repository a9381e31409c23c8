/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of a file and their types: for a probe's file from its field table, for a collector's from its header. */
#include <errno.h>
#include <string.h>

#include "export/exporter.h"

/* Kinds that are not here are text, such as addresses in hex and modes in octal. */
static const enum column_type types[] = {
	[FIELD_TS] = COLUMN_UINT,   [FIELD_UTC] = COLUMN_TIME,     [FIELD_U16] = COLUMN_UINT, [FIELD_U32] = COLUMN_UINT,
	[FIELD_S32] = COLUMN_INT,   [FIELD_U64] = COLUMN_UINT,     [FIELD_S64] = COLUMN_INT,  [FIELD_FID] = COLUMN_UINT,
	[FIELD_SIZE] = COLUMN_UINT, [FIELD_REALINO] = COLUMN_UINT,
};

static void by_probe(struct export_table *t)
{
	t->n = MIN(t->probe->n_fields, (unsigned int)READER_COLUMNS_MAX);
	for (unsigned int i = 0; i < t->n; i++) {
		const struct field *f = &t->probe->fields[i];

		t->column[i] =
			(struct export_column){ f->name, f->kind < ARRAY_SIZE(types) ? types[f->kind] : COLUMN_TEXT };
	}
}

/* A collector's columns are the two times, which we write, and the tool's own. */
static int by_header(struct export_table *table, const struct reader *reader)
{
	char *at;
	size_t size = 0;

	for (unsigned int i = 0; i < reader->n_columns; i++)
		size += strlen(reader->columns[i]) + 1;
	table->names = at = malloc(size + 1);
	if (!at)
		return -ENOMEM;
	table->n = reader->n_columns;
	for (unsigned int i = 0; i < table->n; i++) {
		const char *name = reader->columns[i];

		table->column[i] = (struct export_column){ at, COLUMN_ANY };
		if (!strcmp(name, "TIMESTAMP"))
			table->column[i].type = COLUMN_UINT;
		else if (!strcmp(name, "TIME"))
			table->column[i].type = COLUMN_TIME;
		at = stpcpy(at, name) + 1;
	}
	return 0;
}

int export_table_init(struct export_table *t, const char *name, const struct reader *r)
{
	const unsigned int probe = probe_find(name);

	*t = (struct export_table){ .probe = probes[probe] };
	strncpy(t->name, name, sizeof(t->name) - 1);
	if (!t->probe)
		return by_header(t, r);
	by_probe(t);
	return 0;
}

void export_table_free(struct export_table *t)
{
	free(t->names);
	t->names = NULL;
}

bool export_table_is_numbers(const struct export_table *t)
{
	for (unsigned int i = 2; t->probe && i < t->n; i++)
		if (t->column[i].type != COLUMN_UINT && t->column[i].type != COLUMN_INT)
			return false;
	return true;
}

unsigned int export_table_column(const struct export_table *t, const char *name)
{
	for (unsigned int i = 0; i < t->n; i++)
		if (!strcmp(t->column[i].name, name))
			return i + 1;
	return 0;
}
