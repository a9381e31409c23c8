/* SPDX-License-Identifier: BSD-2-Clause */
/* The views by which DuckDB reads a trace: SQL, made from the tables by which its files are written. */
#ifndef CMD_DUCKDB_H
#define CMD_DUCKDB_H

#include <stdio.h>

void duckdb_print_views(FILE *out);

#endif
