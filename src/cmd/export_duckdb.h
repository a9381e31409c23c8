/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes traces as Parquet files, or as a database of DuckDB, by the command duckdb. */
#ifndef CMD_EXPORT_DUCKDB_H
#define CMD_EXPORT_DUCKDB_H

#include <stdbool.h>

struct export_options;

/*
 * Writes the rows that OPTIONS selects, of its folders: as OUT/host=NAME/FILE.parquet, or as a database. Where duckdb
 * is not installed, prints the script for it on standard output. Returns the exit status.
 */
int export_duckdb(const struct export_options *options, bool parquet);

#endif
