/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/terminal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fold.h"
#include "base/util.h"

#define WIDTH_DEFAULT 80U
#define WIDTH_MIN 20U /* no layout is narrower */
#define WIDTH_MAX 120U /* longer lines are hard to read */

/* Returns what COLUMNS says; UINT_MAX where that is no number, or 0. */
static unsigned int by_environment(void)
{
	const char *text = getenv("COLUMNS");
	char *end;
	unsigned long n = text ? strtoul(text, &end, 10) : 0;

	return n && !*end && n < UINT_MAX ? (unsigned int)n : UINT_MAX;
}

unsigned int terminal_limit(int fd)
{
	unsigned int columns = by_environment();
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
		columns = MIN(columns, (unsigned int)size.ws_col);
	return columns == UINT_MAX ? 0 : MAX(columns, WIDTH_MIN);
}

unsigned int terminal_width(int fd)
{
	unsigned int limit = terminal_limit(fd);

	return limit ? MIN(limit, WIDTH_MAX) : WIDTH_DEFAULT;
}

static FILE *whole; /* standard output, while lines are folded on their way there */

unsigned int terminal_fold(void)
{
	unsigned int limit = terminal_limit(STDOUT_FILENO);
	FILE *folded = limit ? fold_open(stdout, limit) : NULL;

	if (!folded)
		return 0;
	whole = stdout;
	stdout = folded;
	return limit;
}

void terminal_unfold(void)
{
	if (!whole)
		return;
	fclose(stdout);
	stdout = whole;
	whole = NULL;
}
