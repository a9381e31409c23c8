/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

struct unit {
	const char *name;
	uint64_t factor;
};

/* Each part of a time has a smaller unit than the one before it. */
static const struct unit time_units[] = {
	{ "d", 86400 * NSEC_PER_SEC }, { "h", 3600 * NSEC_PER_SEC }, { "m", 60 * NSEC_PER_SEC },
	{ "s", NSEC_PER_SEC },         { "ms", NSEC_PER_MSEC },      { "us", 1000 },
};

static const struct unit size_units[] = {
	{ "", 1 }, { "K", 1ULL << 10 }, { "M", 1ULL << 20 }, { "G", 1ULL << 30 }, { "T", 1ULL << 40 },
};

/*
 * A number in decimal digits: no blank, sign or fraction (strtoull() alone would accept "-1"). Advances *S
 * past it.
 */
static int parse_digits(const char **s, uint64_t *ret)
{
	char *end;

	if (!isdigit((unsigned char)**s))
		return -EINVAL;
	errno = 0;
	*ret = strtoull(*s, &end, 10);
	*s = end;
	return errno ? -EINVAL : 0;
}

/* The digits after a point, as a part of FACTOR: fractions of a nanosecond are dropped. */
static uint64_t fraction_of(const char *digits, size_t n, uint64_t factor)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++) {
		factor /= 10;
		v += (uint64_t)(digits[i] - '0') * factor;
	}
	return v;
}

int units_parse_time(const char *s, uint64_t *ns_ret)
{
	static const char digits[] = "0123456789";
	const struct unit *unit = time_units, *end = time_units + ARRAY_SIZE(time_units);
	const bool bare = !s[strspn(s, "0123456789.")]; /* a plain number: seconds */
	uint64_t sum = 0, v;
	int r;

	while ((r = parse_digits(&s, &v)) == 0) {
		const char *fraction = s + (*s == '.');
		size_t n = *s == '.' ? strspn(fraction, digits) : 0, len;

		if (*s == '.' && !n)
			return -EINVAL;
		s = fraction + n;
		len = strcspn(s, digits);
		while (unit < end &&
		       (bare ? strcmp(unit->name, "s") : strlen(unit->name) != len || memcmp(unit->name, s, len)))
			unit++;
		if (unit == end || __builtin_mul_overflow(v, unit->factor, &v) ||
		    __builtin_add_overflow(sum, v, &sum) ||
		    __builtin_add_overflow(sum, fraction_of(fraction, n, unit->factor), &sum))
			return -EINVAL;
		unit++;
		s += len;
		if (!*s) {
			*ns_ret = sum;
			return 0;
		}
		if (n)
			return -EINVAL;
	}
	return r;
}

int units_parse_size(const char *s, uint64_t *bytes_ret)
{
	uint64_t v;
	int r = parse_digits(&s, &v);

	if (r < 0)
		return r;
	for (unsigned int i = 0; i < ARRAY_SIZE(size_units); i++) {
		if (strcmp(size_units[i].name, s))
			continue;
		if (__builtin_mul_overflow(v, size_units[i].factor, &v))
			return -EINVAL;
		*bytes_ret = v;
		return 0;
	}
	return -EINVAL;
}

int units_parse_size_or_time(const char *s, uint64_t *bytes_ret, uint64_t *ns_ret)
{
	if (!s[strspn(s, "0123456789.")]) /* "100" has no unit */
		return -EINVAL;
	return units_parse_size(s, bytes_ret) == 0 ? 0 : units_parse_time(s, ns_ret);
}
