/* SPDX-License-Identifier: BSD-2-Clause */
/* The rates of status.h: of rows and bytes, from tick to tick. */
#include "session/status.h"

#include "base/util.h"

static double rate(uint64_t now, uint64_t before, double dt_s)
{
	return now > before ? (double)(now - before) / dt_s : 0;
}

void status_rates_tick(struct status *s)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC), from_ns = s->rates.at_ns ?: s->start_ns;
	double dt_s = now_ns > from_ns ? (double)(now_ns - from_ns) / 1e9 : 0;
	struct status_rates *r = &s->rates;

	if (dt_s <= 0)
		return;
	r->rows_s = 0;
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		uint64_t rows = s->counts.probes[i].rows + s->counts.probes[i].summed;

		r->probe_rows_s[i] = rate(rows, r->probe_rows[i], dt_s);
		r->rows_s += r->probe_rows_s[i];
		r->probe_rows[i] = rows;
	}
	r->bytes_s = rate(s->bytes, r->bytes, dt_s);
	r->bytes = s->bytes;
	r->at_ns = now_ns;
}
