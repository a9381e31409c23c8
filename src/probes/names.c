/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/names.h"

#include <fcntl.h>

/* The kernel's O_LARGEFILE (asm/fcntl.h), which it adds itself; glibc's is 0 on 64 bit. */
#if defined(__aarch64__)
#define LARGEFILE_BIT 0400000
#elif defined(__powerpc64__)
#define LARGEFILE_BIT 0200000
#else
#define LARGEFILE_BIT 0100000
#endif

const struct field_name open_flag_names[] = {
	{ O_RDONLY, "RDONLY", O_ACCMODE },
	{ O_WRONLY, "WRONLY", O_ACCMODE },
	{ O_RDWR, "RDWR", O_ACCMODE },
	{ O_APPEND, "APPEND" },
	{ O_ASYNC, "ASYNC" },
	{ O_CLOEXEC, "CLOEXEC" },
	{ O_CREAT, "CREAT" },
	{ O_DIRECT, "DIRECT" },
	{ O_SYNC, "SYNC", O_SYNC }, /* before DSYNC, which is one of its bits */
	{ O_DSYNC, "DSYNC" },
	{ O_EXCL, "EXCL" },
	{ LARGEFILE_BIT, "LARGEFILE" },
	{ O_NOATIME, "NOATIME" },
	{ O_NOCTTY, "NOCTTY" },
	{ O_NOFOLLOW, "NOFOLLOW" },
	{ O_NONBLOCK, "NONBLOCK" },
	{ O_PATH, "PATH" },
	{ O_TMPFILE, "TMPFILE", O_TMPFILE }, /* before DIRECTORY, likewise */
	{ O_DIRECTORY, "DIRECTORY" },
	{ O_TRUNC, "TRUNC" },
	{ 0, NULL },
};
