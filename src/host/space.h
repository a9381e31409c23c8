/* SPDX-License-Identifier: BSD-2-Clause */
/* The space that a trace leaves to others, --min-free. Pure but for statvfs(3): any process's. */
#ifndef HOST_SPACE_H
#define HOST_SPACE_H

#include <stdbool.h>
#include <stdint.h>

/* The least of 2 GiB, 5 % of the file system, and half of what is free at the first look. */
#define SPACE_DEFAULT UINT64_MAX

struct space {
	bool looked, low; /* as found last */
	uint64_t free_bytes, least_bytes;
};

/*
 * Look at the file system that FD is on: LOW below MIN_FREE, and until there is a sixteenth more
 * than that; never where it has no size. What SPACE_DEFAULT was at S's first look stays, or it would shrink as the
 * trace grows. 0, or -errno and S as it was.
 */
int space_look(struct space *s, int fd, uint64_t min_free);

#endif
