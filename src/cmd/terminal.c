/* SPDX-License-Identifier: BSD-2-Clause */
/* The size of the terminal that commands print to. */
#include <sys/ioctl.h>

#include "base/util.h"
#include "cmd/cmd.h"

#define WIDTH_DEFAULT 80U
#define WIDTH_MIN 60U
#define WIDTH_MAX 120U /* longer lines are hard to read */

unsigned int terminal_width(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return WIDTH_DEFAULT;
	return MAX(MIN((unsigned int)size.ws_col, WIDTH_MAX), WIDTH_MIN);
}
