/* SPDX-License-Identifier: BSD-2-Clause */
/* Times in lines of logs, as instants of the trace. */
#include "report/phases/clock.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define LATE_NS (600 * NSEC_PER_SEC) /* a line may be in its row so much later; a larger difference is a wrong zone */
#define BACK_NS NSEC_PER_SEC /* how far lines of several ranks may be out of order */

bool phase_clock_zone(struct phase_clock *c, const char *name)
{
	return c->has_zone = zone_parse(&c->zone, name);
}

void phase_clock_host(struct phase_clock *clock, const struct manifest_facts *facts)
{
	const char *link = strstr(facts->localtime, "zoneinfo/");
	char *end;
	long offset_s = strtol(facts->utc_offset_s, &end, 10);

	clock->begin_ns = facts->start_ns ? facts->start_ns : clock->begin_ns;
	clock->end_ns = facts->end_ns;
	if (facts->tz[0])
		phase_clock_zone(clock, facts->tz);
	else if (link)
		phase_clock_zone(clock, link + strlen("zoneinfo/"));
	if (clock->has_zone || !facts->utc_offset_s[0] || *end || labs(offset_s) > 15L * 3600)
		return;
	/* a zone that this machine does not know has the offset of the trace's begin */
	clock->zone = (struct zone){ .offset_s = (int32_t)offset_s };
	clock->has_zone = true;
}

void phase_clock_reading(struct phase_clock *c, uint64_t mono_ns, uint64_t real_ns)
{
	if (!c->begin_ns)
		c->begin_ns = mono_ns;
	wallclock_add(&c->wall, mono_ns, real_ns);
}

void phase_clock_guess(struct phase_clock *c, const struct manifest_facts *m)
{
	struct applog_time utc;

	if (!c->wall.n && m->start_ns && applog_stamp(&utc, m->start_utc, strlen(m->start_utc), NULL) &&
	    utc.clock == APPLOG_UTC && utc.s > 0)
		wallclock_add(&c->wall, m->start_ns, (uint64_t)utc.s * NSEC_PER_SEC + utc.ns);
}

uint64_t phase_clock_outside(const struct phase_clock *c, uint64_t at_ns, bool *before)
{
	*before = at_ns < c->begin_ns;
	if (*before)
		return c->begin_ns - at_ns;
	return c->end_ns && at_ns > c->end_ns ? at_ns - c->end_ns : 0;
}

/* Puts all instants that TIME may be, by the zone's offsets and the settings of the clock, into RET. Returns how many.
 */
static unsigned int instants(struct phase_clock *clock, const struct applog_time *time,
			     uint64_t ret[2 * WALLCLOCK_INSTANTS])
{
	int64_t utc_s[2] = { time->s };
	unsigned int zones = 1, n = 0;

	if (time->clock == APPLOG_NO_TIME || (time->clock == APPLOG_LOCAL && !clock->has_zone))
		return 0;
	if (time->clock == APPLOG_LOCAL)
		zones = zone_utc(&clock->zone, time->s, utc_s);
	for (unsigned int i = 0; i < zones; i++)
		if (utc_s[i] >= 0 && utc_s[i] < INT64_MAX / (int64_t)NSEC_PER_SEC)
			n += wallclock_mono(&clock->wall, (uint64_t)utc_s[i] * NSEC_PER_SEC + time->ns, ret + n);
	return n;
}

uint64_t phase_clock_in_row(struct phase_clock *c, const struct applog_time *t, uint64_t row_ns)
{
	uint64_t v[2 * WALLCLOCK_INSTANTS], best = 0;
	unsigned int n = instants(c, t, v);

	for (unsigned int i = 0; i < n; i++)
		if (v[i] <= row_ns && v[i] >= c->begin_ns && (t->clock == APPLOG_UTC || row_ns - v[i] <= LATE_NS))
			best = MAX(best, v[i]);
	return best ? best : row_ns;
}

/* Returns how unlikely it is that a line after one of LAST_NS was written at NS; 0: nothing speaks against it. */
static unsigned int oddity(const struct phase_clock *c, uint64_t ns, uint64_t last_ns)
{
	bool before;

	return 2 * (phase_clock_outside(c, ns, &before) > 0) + (ns + BACK_NS < last_ns);
}

uint64_t phase_clock_in_file(struct phase_clock *clock, const struct applog_time *time, uint64_t last_ns)
{
	uint64_t v[2 * WALLCLOCK_INSTANTS], best = 0;
	unsigned int n = instants(clock, time, v), least = 4;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int odd = oddity(clock, v[i], last_ns);

		if (odd > least || (odd == least && v[i] > best))
			continue;
		least = odd;
		best = MAX(v[i], 1); /* 0 is an instant before the machine started */
	}
	return best;
}
