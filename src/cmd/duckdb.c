/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See duckdb.h. Columns have their types here, since DuckDB finds out those of several files by reading all of them over
 * and over: for four of 250 000 rows that took it 47 s, and 0.4 s with them (DuckDB 1.5.6).
 *
 * What is there is looked for when the script runs; a view reads it when it is asked. A view of a file that no folder has
 * is empty: DuckDB refuses an empty list of files, so the view names another one, behind a condition that does not hold,
 * and that one is not read. Lists are made by comprehensions, as the two syntaxes of lambdas are each refused by some
 * versions.
 */
#include "cmd/duckdb.h"

#include <stdio.h>

#include "base/util.h"
#include "collectors/kinds.h"
#include "trace/probe.h"

static const char begin[] =
	"-- Views of traces of dltraced " DLT_VERSION " for DuckDB 1.1 or later, by `dltraced probes --duckdb'.\n"
	"--\n"
	"--   SET VARIABLE trace = 'traces/train_20261122053140';   a folder, a pattern, or a list of them: one for each host\n"
	"--   .read duckdb.sql                                      without the former: the folder that DuckDB runs in\n"
	"--   SELECT host, sum(RETURNED) FROM vfs_rw WHERE RW = 'R' AND RETURNED > 0 GROUP BY host;\n"
	"--\n"
	"-- A view is one file of all folders with all of its segments, packed ones too, behind its columns the host (as the\n"
	"-- manifest has it) and the folder. `-' and `?' are NULL. Text is escaped as in the files: dlt_text(FILE) is the name\n"
	"-- itself, string_split(ARGS, '\\000') the list of arguments, string_split(FLAGS, '|') that of flags.\n"
	"-- A file that was cut off ends in a part of a row, for which DuckDB stops and names it: SET VARIABLE\n"
	"-- ignore_damaged = true leaves such rows out.\n"
	"\n";

static const char folders[] =
	"SET VARIABLE dltraced_folders = (\n"
	"  SELECT list(rtrim(folder, '/'))\n"
	"  FROM (SELECT unnest(from_json(CASE WHEN getvariable('trace') IS NULL THEN '[\".\"]'\n"
	"                                     WHEN to_json(getvariable('trace'))::VARCHAR LIKE '[%'\n"
	"                                     THEN to_json(getvariable('trace'))::VARCHAR\n"
	"                                     ELSE '[' || to_json(getvariable('trace'))::VARCHAR || ']' END, '[\"VARCHAR\"]')) AS folder));\n"
	"\n"
	"-- of a segment that is there both plain and packed, the plain one; of a folder that is named twice, one\n"
	"SET VARIABLE dltraced_files = (\n"
	"  SELECT list(file ORDER BY file)\n"
	"  FROM (SELECT min(file) AS file\n"
	"        FROM (SELECT CASE WHEN contains(name, '/') THEN name ELSE './' || name END AS file\n"
	"              FROM (SELECT regexp_replace(file, '^(\\./)+', '') AS name\n"
	"                    FROM glob([f || '/*.out*' for f in getvariable('dltraced_folders')])))\n"
	"        WHERE regexp_matches(file, '\\.out(\\.gz|\\.zst)?$')\n"
	"        GROUP BY regexp_replace(file, '\\.(gz|zst)$', '')));\n"
	"SET VARIABLE dltraced_files = CASE WHEN getvariable('dltraced_files') IS NULL\n"
	"  THEN error('no trace in ' || getvariable('dltraced_folders')::VARCHAR) ELSE getvariable('dltraced_files') END;\n"
	"SET VARIABLE dltraced_manifests = (SELECT list(file) FROM glob([f || '/manifest.json' for f in getvariable('dltraced_folders')]));\n"
	"\n"
	"SET VARIABLE dltraced_named = (\n"
	"  SELECT list({'folder': folder, 'host': coalesce(host, parse_filename(folder))} ORDER BY folder)\n"
	"  FROM (SELECT parse_dirpath(file) AS folder, max(json_extract_string(TRY_CAST(content AS JSON), '$.host')) AS host\n"
	"        FROM (SELECT unnest(getvariable('dltraced_files')) AS file)\n"
	"        LEFT JOIN (SELECT filename, content\n"
	"                   FROM read_text(coalesce(getvariable('dltraced_manifests')::VARCHAR[], getvariable('dltraced_files')[1:1]))\n"
	"                   WHERE getvariable('dltraced_manifests') IS NOT NULL)\n"
	"               ON parse_dirpath(regexp_replace(filename, '^(\\./)+', '')) = regexp_replace(parse_dirpath(file), '^\\./?', '')\n"
	"        GROUP BY ALL));\n"
	"SET VARIABLE dltraced_folder = [x.folder for x in getvariable('dltraced_named')];\n"
	"SET VARIABLE dltraced_host = [x.host for x in getvariable('dltraced_named')];\n"
	"\n"
	"-- \\040 and the like become what they stand for; bytes that are no text stay as they are\n"
	"CREATE OR REPLACE MACRO dlt_text(text) AS\n"
	"  CASE WHEN NOT contains(text, '\\') THEN text ELSE\n"
	"  array_to_string([CASE WHEN length(x) = 4 AND x[1] = '\\' AND x[2] IN ('0', '1')\n"
	"                   THEN chr((ascii(x[2]) - 48) * 64 + (ascii(x[3]) - 48) * 8 + ascii(x[4]) - 48) ELSE x END\n"
	"                   for x in regexp_extract_all(text, '\\\\[0-7]{3}|[^\\\\]+|\\\\')], '') END;\n";

/* What files.out says last of each file. */
static const char paths[] =
	"\n"
	"-- files.out, a row for each file under its last name: FROM vfs_rw JOIN paths USING (folder, FID)\n"
	"CREATE OR REPLACE VIEW paths AS\n"
	"SELECT host, folder, FID, arg_max(TYPE, \"TIMESTAMP\") AS TYPE, arg_max(FSTYPE, \"TIMESTAMP\") AS FSTYPE,\n"
	"       arg_max(STATE, \"TIMESTAMP\") AS STATE, arg_max(REALPATH, \"TIMESTAMP\") AS REALPATH\n"
	"FROM files GROUP BY ALL;\n";

/* Without one: text. Unsigned ones may be more than a BIGINT holds: a call may ask for any length. */
static const char *const types[] = {
	[FIELD_TS] = "BIGINT",	 [FIELD_UTC] = "TIMESTAMP_NS", [FIELD_U16] = "BIGINT", [FIELD_U32] = "BIGINT",
	[FIELD_S32] = "BIGINT",	 [FIELD_U64] = "UBIGINT",      [FIELD_S64] = "BIGINT", [FIELD_FID] = "BIGINT",
	[FIELD_REALINO] = "UBIGINT",
};

static const char *type_of(const struct field *f)
{
	return f->kind < ARRAY_SIZE(types) && types[f->kind] ? types[f->kind] : "VARCHAR";
}

/* The view NAME up to its columns. */
static void begin_view(const char *name)
{
	printf("\n"
	       "SET VARIABLE dltraced_%s_files = (\n"
	       "  SELECT list(file) FROM (SELECT unnest(getvariable('dltraced_files')) AS file)\n"
	       "  WHERE regexp_matches(file, '/%s(\\.[0-9]+)?\\.out(\\.gz|\\.zst)?$'));\n"
	       "CREATE OR REPLACE VIEW %s AS\n"
	       "SELECT * EXCLUDE (filename),\n"
	       "       list_extract(getvariable('dltraced_host'),\n"
	       "                    list_position(getvariable('dltraced_folder'), parse_dirpath(filename))) AS host,\n"
	       "       parse_dirpath(filename) AS folder\n"
	       "FROM read_csv(coalesce(getvariable('dltraced_%s_files')::VARCHAR[], getvariable('dltraced_files')[1:1]),\n"
	       "              delim='\\t', quote='', escape='', nullstr=['-', '?'], filename=true,\n"
	       "              ignore_errors=coalesce(getvariable('ignore_damaged')::BOOLEAN, false),\n",
	       name, name, name, name);
}

static void end_view(const char *name)
{
	printf(")\n"
	       "WHERE getvariable('dltraced_%s_files') IS NOT NULL;\n", name);
}

/* skip: the two lines of the header; with comment='#' and header=true one row of each file would go, too. */
static void print_probe(const struct probe *p)
{
	begin_view(p->name);
	fputs("              auto_detect=false, header=false, skip=2,\n              columns={", stdout);
	for (unsigned int i = 0; i < p->n_fields; i++)
		printf("%s'%s': '%s'", i == 0 ? "" : i % 4 ? ", " : ",\n                       ", p->fields[i].name, type_of(&p->fields[i]));
	putchar('}');
	end_view(p->name);
}

/* Their columns are the tools' own, so DuckDB has to look: at more than it does by itself, as a GPU may tell nothing at first. */
static void print_collector(const struct collector_kind *k)
{
	begin_view(k->name);
	fputs("              header=true, comment='#', union_by_name=true, sample_size=200000", stdout);
	end_view(k->name);
}

void duckdb_print_views(void)
{
	fputs(begin, stdout);
	fputs(folders, stdout);
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		print_probe(probes[i]);
	for (unsigned int i = 0; i < COLLECTOR_KINDS; i++)
		print_collector(&collector_kinds[i]);
	fputs(paths, stdout);
}
