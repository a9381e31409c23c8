/* SPDX-License-Identifier: BSD-2-Clause */
/* The views by which DuckDB reads a trace: SQL, out of the tables that its files are written by. */
#ifndef CMD_DUCKDB_H
#define CMD_DUCKDB_H

/* On stdout. */
void duckdb_print_views(void);

#endif
