/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of calls by function: each function has sums and spreads of its own, and those of its probe are added up from
 * them after the probe's last row. Bounded: a function without room counts in its probe's sums alone.
 */
#ifndef REPORT_SCAN_FUNCTIONS_H
#define REPORT_SCAN_FUNCTIONS_H

#include <string.h>

#include "report/scan/scan.h"

/* 60 KiB each; the probes know some 50. */
#define REPORT_FUNCS_MAX 128

void report_funcs_free(struct report *r);
/* Returns the function of the current row; for vfs_rw that of WRITE's side. */
struct report_func *report_funcs_find(struct scan *s, struct reader_field name, bool write);
/* Adds up KIND and its sides, after the last of its rows. */
void report_funcs_sum(struct report *report, enum report_kind kind);

/* --- what is done for most rows of a trace: here, to be compiled into where they are taken ------------- */

static inline uint64_t report_func_load(const char *p, size_t n)
{
	uint64_t v = 0;

	memcpy(&v, p, n);
	return v;
}

/* Two words, which may overlap, cover most names. */
static inline bool report_func_is(const struct report_func *f, struct reader_field name)
{
	if (!f || name.len != f->len)
		return false;
	if (name.len - 4 <= 4)
		return report_func_load(name.p, 4) == report_func_load(f->name, 4) &&
		       report_func_load(name.p + name.len - 4, 4) == report_func_load(f->name + name.len - 4, 4);
	return memcmp(name.p, f->name, name.len) == 0;
}

static inline struct report_func *report_func_of(struct scan *s, bool write)
{
	const struct reader_field name = scan_field(s, COL_FUNC);

	return report_func_is(s->func[write], name) ? s->func[write] : report_funcs_find(s, name, write);
}

#endif
