/* SPDX-License-Identifier: BSD-2-Clause */
/* The pictures that report --svg draws of a trace. */
#ifndef CMD_REPORT_REPORT_PICTURE_H
#define CMD_REPORT_REPORT_PICTURE_H

#include <stdbool.h>

struct report;
struct report_args;

/* Whether there is the picture that O wants, and its file may be written; logs why not. */
bool report_picture_is(const struct report_args *o);
/* Draws it, of R. Returns 0, or -errno after a message. */
int report_picture(const struct report *r, const struct report_args *o);

#endif
