/* SPDX-License-Identifier: BSD-2-Clause */
/* How times and sizes are written on the command line. Pure; knows no option. */
#include "trace/config.h"

#include <errno.h>
#include <string.h>

#include "base/util.h"

struct unit {
	const char *name;
	uint64_t factor;
};

/* Each part of a time has a smaller unit than the one before it. */
static const struct unit time_units[] = {
	{ "d", 86400 * NSEC_PER_SEC },
	{ "h", 3600 * NSEC_PER_SEC },
	{ "m", 60 * NSEC_PER_SEC },
	{ "s", NSEC_PER_SEC },
	{ "ms", NSEC_PER_MSEC },
};

static const struct unit size_units[] = {
	{ "", 1 },
	{ "K", 1ULL << 10 },
	{ "M", 1ULL << 20 },
	{ "G", 1ULL << 30 },
	{ "T", 1ULL << 40 },
};

/*
 * A number in decimal digits: no blank, sign or fraction (strtoull would take "-1"). *S moves
 * behind it.
 */
static int parse_digits(const char **s, uint64_t *ret)
{
	const char *p = *s;
	uint64_t v = 0;

	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return -EINVAL;
	if (p == *s)
		return -EINVAL;
	*s = p;
	*ret = v;
	return 0;
}

int config_parse_time(const char *s, uint64_t *ns_ret)
{
	const struct unit *u = time_units, *end = time_units + ARRAY_SIZE(time_units);
	uint64_t sum = 0, v;
	int r = parse_digits(&s, &v);

	if (r == 0 && !*s) /* a bare number: seconds */
		s = "s";
	for (; r == 0; r = parse_digits(&s, &v)) {
		size_t len = strcspn(s, "0123456789");

		while (u < end && (strlen(u->name) != len || memcmp(u->name, s, len)))
			u++;
		if (u == end || __builtin_mul_overflow(v, u->factor, &v) ||
		    __builtin_add_overflow(sum, v, &sum))
			return -EINVAL;
		u++;
		s += len;
		if (!*s) {
			*ns_ret = sum;
			return 0;
		}
	}
	return r;
}

int config_parse_size(const char *s, uint64_t *bytes_ret)
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

int config_parse_rotate(const char *s, uint64_t *bytes_ret, uint64_t *ns_ret)
{
	if (!s[strspn(s, "0123456789")]) /* 100 of what? */
		return -EINVAL;
	return config_parse_size(s, bytes_ret) == 0 ? 0 : config_parse_time(s, ns_ret);
}
