/* SPDX-License-Identifier: BSD-2-Clause */
/* /proc/meminfo (proc_meminfo(5)): the machine's memory. In a container, too, it is that of the machine. */
#ifndef HOST_MACHINE_MEMINFO_H
#define HOST_MACHINE_MEMINFO_H

#include <stdint.h>

/* Lines of the file. */
enum meminfo_line {
	MEMINFO_TOTAL, /* MemTotal */
	MEMINFO_FREE, /* MemFree */
	MEMINFO_AVAILABLE, /* MemAvailable */
	MEMINFO_CACHED, /* Cached */
	MEMINFO_DIRTY, /* Dirty */
	MEMINFO_WRITEBACK, /* Writeback */
	MEMINFO_ANON, /* AnonPages */
	MEMINFO_SHMEM, /* Shmem */
	MEMINFO_SWAP_TOTAL, /* SwapTotal */
	MEMINFO_SWAP_FREE, /* SwapFree */
	MEMINFO_LINES,
};

/* Find the lines in TEXT: bytes, -1 for those that it lacks. */
void meminfo_parse(const char *text, int64_t bytes[MEMINFO_LINES]);

/* Read FD, which is open on the file, from its beginning. 0 or -errno. */
int meminfo_read(int fd, int64_t bytes[MEMINFO_LINES]);

#endif
