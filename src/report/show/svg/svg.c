/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/show/svg/svg.h"

#include <math.h>

#include "base/fmt.h"
#include "base/util.h"

static void put(FILE *out, const char *text, void (*form)(FILE *out, const char *s, int width))
{
	autofree char *shown = NULL;
	size_t len = 0;
	FILE *IO_FILE = open_memstream(&shown, &len);

	if (!IO_FILE)
		return;
	form(IO_FILE, text, 0);
	if (fclose(IO_FILE) != 0)
		return;
	for (const char *p = shown; *p; p++)
		if (*p == '<' || *p == '&')
			fputs(*p == '<' ? "&lt;" : "&amp;", out);
		else
			fputc(*p, out);
}

void svg_plain(FILE *out, const char *text)
{
	put(out, text, fmt_plain);
}

void svg_text(FILE *out, const char *text)
{
	put(out, text, fmt_text);
}

double svg_step(double span, unsigned int ticks)
{
	const double power = pow(10, floor(log10(span / ticks))), n = span / ticks / power;

	if (n > 5)
		return power * 10;
	if (n > 2)
		return power * 5;
	return n > 1 ? power * 2 : power;
}
