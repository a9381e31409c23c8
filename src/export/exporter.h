/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interface between a format and the pass over the folders. A format is const data with hooks. The pass calls them
 * with batches of rows, and knows no format.
 */
#ifndef EXPORT_EXPORTER_H
#define EXPORT_EXPORTER_H

#include "export/out.h"
#include "export/times.h"
#include "report/scan/scan.h"
#include "trace/probe.h"

struct export_options;

enum column_type {
	COLUMN_TEXT,
	COLUMN_TIME, /* UTC */
	COLUMN_INT, /* from INT64_MIN on */
	COLUMN_UINT, /* to UINT64_MAX */
	COLUMN_ANY, /* of a tool: a value is a number if it looks like one */
};

struct export_column {
	const char *name;
	enum column_type type;
};

/* A file of the trace, for all hosts. Its columns are those of the probe's table, or of the first host that has the
 * file. */
struct export_table {
	char name[16];
	const struct probe *probe; /* NULL: a collector's file */
	unsigned int n;
	struct export_column column[READER_COLUMNS_MAX];
	char *names; /* memory of the names of a collector's columns */
};

/* A host's part of a table. */
struct export_file {
	struct scan_file in;
	const struct export_table *table;
	unsigned int index; /* number of the table */
	uint8_t at[READER_COLUMNS_MAX]; /* for each column of the table, its field in this file; 0: the file lacks it */
	uint64_t rows;
};

#define EXPORT_ROWS READER_ROWS_MAX

struct export_host {
	const char *dir;
	int dirfd;
	char *name; /* the host's; for its second folder NAME#2 */
	struct {
		char name[16];
		uint64_t rows;
	} counted[MANIFEST_PROBES_MAX]; /* rows that its files must have */
	unsigned int n_counted;
	int64_t shift_ns; /* add this to its CLOCK_MONOTONIC for that of the first host */
};

struct export
{
	const struct export_options *o;
	const struct exporter *format;
	void *state; /* of the format */
	struct export_out out;
	struct export_host *hosts;
	unsigned int n_hosts;
	const struct export_host *host; /* the current one */
	struct export_times times;
	struct export_table *tables;
	unsigned int n_tables;
	uint64_t rows; /* exported */
	uint64_t bad_numbers; /* fields that should be numbers, but are not */
	char *scratch; /* EXPORT_SCRATCH bytes: for text */
	bool damaged;
	/* for the status line */
	uint64_t rows_counted, rows_read, next_status_ns;
};

static inline unsigned int export_host_index(const struct export *x)
{
	return (unsigned int)(x->host - x->hosts);
}

/* Room for the longest row and a little more. */
#define EXPORT_SCRATCH (READER_BUFFER_BYTES + 64)

enum export_order {
	EXPORT_BY_FILE, /* file by file, each for all hosts */
	EXPORT_BY_HOST, /* host by host: files.out, pids.out, then the others */
	EXPORT_BY_TIME, /* host by host, the rows of all files sorted by TIMESTAMP */
};

struct exporter {
	const char *name, *help;
	enum export_order order;
	size_t state_size; /* of export.state, which is zeroed */
	bool own_out; /* the format opens the output of -o itself */
	/* All return 0 or -errno, after which only close() is called; each may be NULL, except rows(). */
	int (*begin)(struct export *x);
	int (*host)(struct export *x); /* rows of x->host begin; with EXPORT_BY_FILE, its part of each file */
	int (*table)(struct export *x,
		     const struct export_table *t); /* only with EXPORT_BY_FILE: rows of T will follow */
	int (*rows)(struct export *x, const struct export_file *f, const struct reader_row *rows, unsigned int n);
	int (*table_end)(struct export *x, const struct export_table *t);
	int (*host_end)(struct export *x);
	int (*end)(struct export *x);
	void (*close)(struct export *x); /* frees what the state owns; called also after an error */
};

/* The pass over the folders (walk.c). Returns 0 or -errno. */
int export_walk(struct export *export);

/* Gives T the columns of the probe NAME or, if there is no such probe, those of R. Returns 0 or -ENOMEM. */
int export_table_init(struct export_table *t, const char *name, const struct reader *r);
void export_table_free(struct export_table *t);
/* Whether T's rows are samples of the machine: a collector's, or a probe's that has only numbers after the two times.
 */
bool export_table_is_numbers(const struct export_table *t);
/* Returns 1 + the index of T's column NAME; 0: T has no such column. */
unsigned int export_table_column(const struct export_table *t, const char *name);

/* Returns the field of the table's column I (from 0) in ROW. */
static inline struct reader_field export_field(const struct export_file *f, const struct reader_row *row,
					       unsigned int i)
{
	return reader_field(row, f->at[i]);
}

static inline bool export_is_none(struct reader_field v)
{
	return v.len == 1 && v.p[0] == '-';
}

static inline bool export_is_unknown(struct reader_field v)
{
	return v.len == 1 && v.p[0] == '?';
}

extern const struct exporter export_csv, export_fio, export_folded, export_ndjson, export_perfetto, export_pfw,
	export_sqlite;

#endif
