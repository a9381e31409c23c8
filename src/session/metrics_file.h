/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of --metrics-file: always whole, since it is written beside and then takes its name. A file
 * that is not of dltraced's metrics is never replaced. Control plane; does not log.
 */
#ifndef SESSION_METRICS_FILE_H
#define SESSION_METRICS_FILE_H

#include <stddef.h>

#define METRICS_FILE_FIRST "# HELP dltraced_" /* what such a file begins with */

struct metrics_file {
	int dirfd; /* -1: none */
	char *name, *temporary; /* in that folder */
};
#define METRICS_FILE_NONE { .dirfd = -1 }

/*
 * Look whether the file PATH can be written, in a folder that is there. 0, or -errno: -EEXIST, it is
 * something else's; -EISDIR; what a file beside it met.
 */
int metrics_file_open(struct metrics_file *f, const char *path);
/* Replace it by LEN bytes, readable by everybody. 0 or -errno: the old one is still there. */
int metrics_file_write(const struct metrics_file *f, const char *text, size_t len);
/* The file stays. */
void metrics_file_close(struct metrics_file *f);

#endif
