/* SPDX-License-Identifier: BSD-2-Clause */
/* The time of a line, near its begin. */
#include "applog/applog_impl.h"
#include "base/util.h"

#define STAMP_WITHIN 256 /* bytes from the begin of a line */

/* Takes N digits of a number from LEAST to MOST. */
static bool digits(struct applog_piece *piece, unsigned int n, unsigned int least, unsigned int most, unsigned int *ret)
{
	unsigned int v = 0;

	for (; n; n--) {
		if (piece->p == piece->end || !is_digit(*piece->p))
			return false;
		v = 10 * v + (unsigned int)(*piece->p++ - '0');
	}
	*ret = v;
	return v >= least && v <= most;
}

static int64_t days_since_1970(unsigned int year, unsigned int month, unsigned int day)
{
	static const unsigned short before[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 };
	unsigned int y = month > 2 ? year : year - 1; /* leap days up to this year have passed */

	return 365 * ((int64_t)year - 1970) + (y / 4 - y / 100 + y / 400) - (1969 / 4 - 1969 / 100 + 1969 / 400) +
	       before[month - 1] + day - 1;
}

static unsigned int days_of(unsigned int year, unsigned int month)
{
	bool leap = year % 4 == 0 && (year % 100 || year % 400 == 0);

	return month == 2 ? 28U + leap : 30 + (month + (month > 7)) % 2;
}

static void fraction(struct applog_piece *s, struct applog_time *ret)
{
	uint32_t unit = 100000000;
	struct applog_piece f = *s;

	if (!one_of(&f, ".,") || f.p == f.end || !is_digit(*f.p))
		return;
	for (; f.p < f.end && is_digit(*f.p); f.p++, unit /= 10)
		ret->ns += unit * (uint32_t)(*f.p - '0');
	s->p = f.p;
}

/* Takes Z, +01:00 or +0100, also after a blank, as Python prints it. */
static void zone(struct applog_piece *piece, struct applog_time *ret)
{
	struct applog_piece z = *piece;
	unsigned int hours, minutes;
	bool west;

	if (z.p < z.end && *z.p == ' ')
		z.p++;
	if (z.p == piece->p && one_of(&z, "Z")) {
		ret->clock = APPLOG_UTC;
		piece->p = z.p;
		return;
	}
	west = z.p < z.end && *z.p == '-';
	if (!one_of(&z, "+-") || !digits(&z, 2, 0, 14, &hours))
		return;
	one_of(&z, ":");
	if (!digits(&z, 2, 0, 59, &minutes) || (z.p < z.end && is_digit(*z.p)))
		return;
	ret->clock = APPLOG_UTC;
	ret->s -= (west ? -60 : 60) * ((int64_t)hours * 60 + minutes);
	piece->p = z.p;
}

/* Takes a time at the begin of PIECE. */
static bool stamp_at(struct applog_piece *piece, struct applog_time *ret)
{
	unsigned int year, month, day, hour, minute, second;

	if (!digits(piece, 4, 1970, 2199, &year) || !one_of(piece, "-/") || !digits(piece, 2, 1, 12, &month) ||
	    !one_of(piece, "-/") || !digits(piece, 2, 1, days_of(year, month), &day) || !one_of(piece, "T ") ||
	    !digits(piece, 2, 0, 23, &hour) || !one_of(piece, ":") || !digits(piece, 2, 0, 59, &minute) ||
	    !one_of(piece, ":") || !digits(piece, 2, 0, 60, &second) || (piece->p < piece->end && is_digit(*piece->p)))
		return false;
	*ret = (struct applog_time){
		.clock = APPLOG_LOCAL,
		.s = ((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second,
	};
	fraction(piece, ret);
	zone(piece, ret);
	return true;
}

const char *applog_stamp(struct applog_time *ret, const char *line, size_t len, const char **begin)
{
	const char *last = line + MIN(len, STAMP_WITHIN);

	for (const char *p = line; p < last; p++) {
		struct applog_piece s = { p, line + len };

		if (!is_digit(*p) || (p > line && is_digit(p[-1])) || !stamp_at(&s, ret))
			continue;
		if (begin)
			*begin = p;
		return s.p;
	}
	*ret = (struct applog_time){ .clock = APPLOG_NO_TIME };
	return NULL;
}
