/* SPDX-License-Identifier: BSD-2-Clause */
/* How the rows of a file are shown in the Perfetto format: by its columns. */
#include <string.h>

#include "export/perfetto/perfetto.h"

uint8_t perfetto_column(const struct export_table *t, const char *name)
{
	const unsigned int i = export_table_column(t, name);

	return i ? (uint8_t)(i - 1) : COLUMNS_NONE;
}

static enum plan_kind kind_of(const struct export_table *table)
{
#define HAS(name) (perfetto_column(table, name) != COLUMNS_NONE)
	if (export_table_is_numbers(table))
		return PLAN_NUMBERS;
	if (HAS("REALTIME_NS"))
		return PLAN_CLOCK;
	if (HAS("PREV_TID") && HAS("RUN_NS"))
		return PLAN_CPUS;
	if (HAS("LAT_NS") && HAS("DISK"))
		return PLAN_DISKS;
	if (HAS("LAT_NS") && HAS("TID"))
		return PLAN_CALLS;
	if (HAS("ADDR") && HAS("SIZE") && HAS("LIFE_NS"))
		return PLAN_BLOCKS;
	return HAS("EVENT") || HAS("TEXT") ? PLAN_INSTANTS : PLAN_NONE;
#undef HAS
}

static uint8_t first_of(const struct export_table *t, const char *const *names)
{
	uint8_t c = COLUMNS_NONE;

	for (; *names && c == COLUMNS_NONE; names++)
		c = perfetto_column(t, *names);
	return c;
}

void plan_make(struct plan *plan, const struct export_table *table)
{
	static const char *const names[] = { "NAME", "FUNC", "T", "PREV_COMM", "EVENT", "TEXT", NULL };
	static const char *const pids[] = { "PID", "PREV_PID", NULL }, *const tids[] = { "TID", "PREV_TID", NULL };
	static const char *const comms[] = { "COMM", "PREV_COMM", NULL }, *const lats[] = { "LAT_NS", "RUN_NS", NULL };
	static const char *const bytes[] = { "RETURNED", "BYTES", NULL }, *const sides[] = { "RW", "T", NULL };

	plan->kind = kind_of(table);
	plan->pid = first_of(table, pids);
	plan->tid = first_of(table, tids);
	plan->comm = first_of(table, comms);
	plan->lat = first_of(table, lats);
	plan->name = first_of(table, names);
	plan->category = perfetto_column(table, "CAT");
	plan->lane = perfetto_column(table, "LANE");
	plan->disk = perfetto_column(table, "DISK");
	plan->cpu = perfetto_column(table, "CPU");
	plan->bytes = first_of(table, bytes);
	plan->rw = first_of(table, sides);
	plan->addr = perfetto_column(table, "ADDR");
	plan->size = perfetto_column(table, "SIZE");
	plan->old_size = perfetto_column(table, "OLD_SIZE");
	plan->life = perfetto_column(table, "LIFE_NS");
	for (unsigned int i = 2; i < table->n; i++) /* after TIMESTAMP and TIME */
		if (i != plan->lat && i != plan->name && i != plan->category &&
		    (plan->kind != PLAN_CALLS || (i != plan->pid && i != plan->tid && i != plan->comm)))
			plan->more[plan->n_more++] = (uint8_t)i;
}

void plan_write(struct export *export, struct plan *plan, const struct export_table *table)
{
	const struct perfetto *s = export->state;

	if (plan->part == s->tracks.part)
		return;
	plan->part = s->tracks.part;
	plan->last_len = 0;
	for (unsigned int i = 0; i < plan->n_more; i++)
		plan->more_iid[i] = perfetto_intern(export, INTERNED_ANNOTATION_NAMES,
						    perfetto_text(table->column[plan->more[i]].name));
	plan->table_iid = perfetto_intern(export, INTERNED_CATEGORIES, perfetto_text(table->name));
}
