/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/moment.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "base/util.h"

/* Parses .123456789 at *S, as ns, and advances *S past it. Returns false where no digit follows the point. */
static bool parse_fraction(const char **s, uint64_t *ns)
{
	uint64_t unit = NSEC_PER_SEC;
	const char *p = *s + 1;

	for (; isdigit((unsigned char)*p); p++) {
		unit /= 10;
		*ns += (uint64_t)(*p - '0') * unit;
	}
	if (p == *s + 1)
		return false;
	*s = p;
	return true;
}

static int parse_utc(struct moment *moment, const char *s)
{
	struct tm tm = { 0 }, real;
	const char *end = strptime(s, "%Y-%m-%dT%H:%M", &tm);
	uint64_t ns = 0;
	time_t seconds;

	if (end && *end == ':')
		end = strptime(end, ":%S", &tm);
	if (!end || (*end == '.' && !parse_fraction(&end, &ns)) || strcmp(end, "Z"))
		return -EINVAL;
	real = tm;
	seconds = timegm(&real); /* it makes 2 March of 30 February */
	if (real.tm_mday != tm.tm_mday || seconds < 0 || (uint64_t)seconds > UINT64_MAX / NSEC_PER_SEC - 1)
		return -EINVAL;
	*moment = (struct moment){ true, true, (uint64_t)seconds * NSEC_PER_SEC + ns };
	return 0;
}

int moment_parse(struct moment *m, const char *s)
{
	uint64_t ns;

	if (strchr(s, 'T'))
		return parse_utc(m, s);
	if (units_parse_time(s, &ns) < 0)
		return -EINVAL;
	*m = (struct moment){ .given = true, .ns = ns };
	return 0;
}

uint64_t moment_since(const struct moment *m, uint64_t begin_utc_ns)
{
	return m->utc ? m->ns - MIN(m->ns, begin_utc_ns) : m->ns;
}
