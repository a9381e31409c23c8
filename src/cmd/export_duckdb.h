/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces as Parquet files, or as a database of DuckDB, by DuckDB's own command. */
#ifndef CMD_EXPORT_DUCKDB_H
#define CMD_EXPORT_DUCKDB_H

#include <stdbool.h>

struct export_options;

/*
 * Writes the folders of O, with its cuts: as OUT/host=NAME/FILE.parquet, or as a database. Without the command the script for
 * it goes to standard output. Returns the exit status.
 */
int export_duckdb(const struct export_options *o, bool parquet);

#endif
