/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/machine/meminfo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Some 60 lines of 28 bytes. */
#define TEXT_MAX 8192

static const char *const labels[MEMINFO_LINES] = {
	[MEMINFO_TOTAL] = "MemTotal:",     [MEMINFO_FREE] = "MemFree:", [MEMINFO_AVAILABLE] = "MemAvailable:",
	[MEMINFO_CACHED] = "Cached:",      [MEMINFO_DIRTY] = "Dirty:",  [MEMINFO_WRITEBACK] = "Writeback:",
	[MEMINFO_ANON] = "AnonPages:",     [MEMINFO_SHMEM] = "Shmem:",  [MEMINFO_SWAP_TOTAL] = "SwapTotal:",
	[MEMINFO_SWAP_FREE] = "SwapFree:",
};

/* "Dirty:     120 kB": always in units of 1024 bytes. */
static void line_parse(const char *line, int64_t bytes[MEMINFO_LINES])
{
	for (int i = 0; i < MEMINFO_LINES; i++) {
		const size_t len = strlen(labels[i]);

		if (strncmp(line, labels[i], len) == 0) {
			bytes[i] = strtoll(line + len, NULL, 10) * 1024;
			return;
		}
	}
}

void meminfo_parse(const char *text, int64_t bytes[MEMINFO_LINES])
{
	for (int i = 0; i < MEMINFO_LINES; i++)
		bytes[i] = -1;
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		line_parse(line, bytes);
	}
}

int meminfo_read(int fd, int64_t bytes[MEMINFO_LINES])
{
	char text[TEXT_MAX];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	meminfo_parse(text, bytes);
	return 0;
}
