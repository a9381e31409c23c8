/* SPDX-License-Identifier: BSD-2-Clause */
/* How the rows of a file are shown in the Perfetto format: by its columns. */
#include <string.h>

#include "export/perfetto/perfetto.h"

uint8_t perfetto_column(const struct export_table *t, const char *name)
{
	const unsigned int i = export_table_column(t, name);

	return i ? (uint8_t)(i - 1) : COLUMNS_NONE;
}

static enum plan_kind kind_of(const struct export_table *t)
{
#define HAS(name) (perfetto_column(t, name) != COLUMNS_NONE)
	if (export_table_is_numbers(t))
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

void plan_make(struct plan *p, const struct export_table *t)
{
	static const char *const names[] = { "NAME", "FUNC", "T", "PREV_COMM", "EVENT", "TEXT", NULL };
	static const char *const pids[] = { "PID", "PREV_PID", NULL }, *const tids[] = { "TID", "PREV_TID", NULL };
	static const char *const comms[] = { "COMM", "PREV_COMM", NULL }, *const lats[] = { "LAT_NS", "RUN_NS", NULL };
	static const char *const bytes[] = { "RETURNED", "BYTES", NULL }, *const sides[] = { "RW", "T", NULL };

	p->kind = kind_of(t);
	p->pid = first_of(t, pids);
	p->tid = first_of(t, tids);
	p->comm = first_of(t, comms);
	p->lat = first_of(t, lats);
	p->name = first_of(t, names);
	p->category = perfetto_column(t, "CAT");
	p->lane = perfetto_column(t, "LANE");
	p->disk = perfetto_column(t, "DISK");
	p->cpu = perfetto_column(t, "CPU");
	p->bytes = first_of(t, bytes);
	p->rw = first_of(t, sides);
	p->addr = perfetto_column(t, "ADDR");
	p->size = perfetto_column(t, "SIZE");
	p->old_size = perfetto_column(t, "OLD_SIZE");
	p->life = perfetto_column(t, "LIFE_NS");
	for (unsigned int i = 2; i < t->n; i++) /* after TIMESTAMP and TIME */
		if (i != p->lat && i != p->name && i != p->category &&
		    (p->kind != PLAN_CALLS || (i != p->pid && i != p->tid && i != p->comm)))
			p->more[p->n_more++] = (uint8_t)i;
}

void plan_write(struct export *x, struct plan *p, const struct export_table *t)
{
	const struct perfetto *s = x->state;

	if (p->part == s->tracks.part)
		return;
	p->part = s->tracks.part;
	p->last_len = 0;
	for (unsigned int i = 0; i < p->n_more; i++)
		p->more_iid[i] = perfetto_intern(x, INTERNED_ANNOTATION_NAMES, perfetto_text(t->column[p->more[i]].name));
	p->table_iid = perfetto_intern(x, INTERNED_CATEGORIES, perfetto_text(t->name));
}
