/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a report goes: standard output, the file of a page, folders of CSV files. All log what fails. */
#ifndef CMD_REPORT_REPORT_OUT_H
#define CMD_REPORT_REPORT_OUT_H

#include <stdbool.h>
#include <stdio.h>

struct json;
struct report;
struct report_args;
struct report_cpu;

/* Whether the page or picture FILE would replace one of a trace's own files; logs that. */
bool report_out_is_of_trace(const struct report_args *o, const char *file);
/* Draws OF into the file NAME, which is replaced as a whole or not at all; - is standard output. Returns 0 or -errno.
 */
int report_out_svg(const char *name, void (*draw)(const void *of, FILE *out), const void *of);
/* Writes J as JSON or as a page, to stdout or a file, as O wants. Frees J. WHOSE is for messages. Returns 0 or -errno.
 */
int report_out(struct json *j, const char *whose, const struct report_args *o);
/* Writes the CSV files of the I-th trace, R, or CPU if that is not NULL (--cpu), if O wants them. Returns 0 or -errno.
 */
int report_out_csv(const struct report_args *o, int i, const struct report *r, const struct report_cpu *cpu);

#endif
