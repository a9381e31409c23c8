/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_REPORT_REPORT_MATRIX_H
#define CMD_REPORT_REPORT_MATRIX_H

struct report_args;

/* report --matrix: prints and writes what ARGS wants of the folder ARGS->matrix. Returns 0, or -errno after a message.
 */
int report_matrix(const struct report_args *args);

#endif
