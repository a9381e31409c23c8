/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/phases/zone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/util.h"

#define ZONEINFO "/usr/share/zoneinfo"
#define OFFSET_MAX_S (26L * 3600)
#define QUARTER_S 900
#define DAY_S 86400

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Parses an offset such as +02:00, -0530 or +2. */
static bool parse_offset(const char *s, int32_t *ret)
{
	int sign = *s == '-' ? -1 : 1, hours = 0, minutes = 0, n = 0;

	if (*s != '+' && *s != '-')
		return false;
	for (s++; n < 2 && is_digit(*s); n++)
		hours = 10 * hours + (*s++ - '0');
	if (!n)
		return false;
	s += *s == ':' && s[1];
	if (*s) {
		if (n < 2 || !is_digit(s[0]) || !is_digit(s[1]) || s[2])
			return false;
		minutes = 10 * (s[0] - '0') + (s[1] - '0');
	}
	*ret = sign * (hours * 3600 + minutes * 60);
	return minutes < 60 && hours <= 14;
}

/* Whether NAME is a file of the database of zones; no name leads out of that. */
static bool is_known(const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-/";
	char path[sizeof(ZONEINFO) + ZONE_NAME_MAX + 1];
	struct stat st;

	if (!*name || *name == '/' || name[strspn(name, plain)])
		return false;
	snprintf(path, sizeof(path), ZONEINFO "/%s", name);
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/*
 * Whether S looks like CET-1CEST,M3.5.0,M10.5.0/3. The C library parses the rest, and takes a text that it cannot parse
 * for UTC.
 */
static bool is_rule(const char *s)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789<>+-:,./";
	size_t n = strspn(s, letters);

	if (s[strspn(s, all)])
		return false;
	if (*s == '<')
		n = strcspn(s, ">") + 1;
	if (n < 3 || n > strlen(s))
		return false;
	s += n;
	s += *s == '+' || *s == '-';
	return is_digit(*s);
}

bool zone_parse(struct zone *z, const char *text)
{
	*z = (struct zone){ .offset_s = 0 };
	if (*text == ':')
		text++;
	if (strcmp(text, "UTC") == 0 || strcmp(text, "Z") == 0 || strcmp(text, "GMT") == 0)
		return true;
	if (parse_offset(text, &z->offset_s))
		return true;
	if (strlen(text) >= sizeof(z->name) || !(is_known(text) || is_rule(text)))
		return false;
	strcpy(z->name, text);
	return true;
}

static int32_t offset_at(const char *name, int64_t utc_s)
{
	const char *tz = getenv("TZ");
	autofree char *kept = tz ? strdup(tz) : NULL;
	time_t t = (time_t)utc_s;
	struct tm tm = { 0 };
	long offset;

	setenv("TZ", name, 1);
	tzset();
	offset = localtime_r(&t, &tm) ? tm.tm_gmtoff : 0;
	if (kept)
		setenv("TZ", kept, 1);
	else
		unsetenv("TZ");
	tzset();
	return offset > -OFFSET_MAX_S && offset < OFFSET_MAX_S ? (int32_t)offset : 0;
}

int32_t zone_offset_s(struct zone *z, int64_t utc_s)
{
	int64_t quarter = utc_s / QUARTER_S + 1; /* no clock is set within a quarter of an hour */

	if (z->name[0] && (z->cached != quarter || quarter <= 0)) {
		z->offset_s = offset_at(z->name, utc_s);
		z->cached = quarter;
	}
	return z->offset_s;
}

unsigned int zone_utc(struct zone *zone, int64_t local_s, int64_t ret[2])
{
	int64_t before_s = local_s - zone_offset_s(zone, local_s - DAY_S), after_s;
	unsigned int n = 0;

	if (!zone->name[0]) {
		ret[0] = before_s;
		return 1;
	}
	after_s = local_s - zone_offset_s(zone, local_s + DAY_S);
	if (zone_offset_s(zone, before_s) == local_s - before_s)
		ret[n++] = before_s;
	if (after_s != before_s && zone_offset_s(zone, after_s) == local_s - after_s)
		ret[n++] = after_s;
	if (!n)
		ret[n++] = before_s;
	return n;
}
