/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_REPORT_MATRIX_H
#define CMD_REPORT_MATRIX_H

struct report_args;

/* report --matrix: prints and writes what O wants of the folder O->matrix. Returns 0, or -errno after a message. */
int report_matrix(const struct report_args *o);

#endif
