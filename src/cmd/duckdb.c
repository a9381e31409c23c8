/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SQL of the views. They name the types of columns: without types, DuckDB reads several files repeatedly to infer
 * them. Four files of 250 000 rows took 47 s, and 0.4 s with types (DuckDB 1.5.6).
 *
 * The script looks for files when it runs; a view reads them when it is queried. Where no folder has the file of a
 * view, the view is empty. DuckDB refuses an empty list of files, so such a view names another file, under a condition
 * that is false, and DuckDB does not read it. Lists are made by comprehensions: there are two syntaxes of lambdas, and
 * each is refused by some version of DuckDB.
 */
#include "cmd/duckdb.h"

#include <stdio.h>

#include "base/util.h"
#include "base/version.h"
#include "collectors/kinds.h"
#include "trace/probe.h"

/* SQL has lines of its own: */
/* clang-format off */
static const char begin[] =
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
	"-- Columns that an older version did not write are NULL: the second line of each folder's first segment has those there are.\n"
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
/* clang-format on */

/* The last row of each file in files.out. */
/* SQL has lines of its own: */
/* clang-format off */
static const char paths[] =
	"\n"
	"-- files.out, a row for each file under its last name: FROM vfs_rw JOIN paths USING (folder, FID)\n"
	"CREATE OR REPLACE VIEW paths AS\n"
	"SELECT host, folder, FID, arg_max(TYPE, \"TIMESTAMP\") AS TYPE, arg_max(FSTYPE, \"TIMESTAMP\") AS FSTYPE,\n"
	"       arg_max(STATE, \"TIMESTAMP\") AS STATE, arg_max(REALPATH, \"TIMESTAMP\") AS REALPATH\n"
	"FROM files GROUP BY ALL;\n";
/* clang-format on */

/* Columns without a type are text. Unsigned ones may exceed a BIGINT: a call may request any length. */
static const char *const types[] = {
	[FIELD_TS] = "BIGINT",    [FIELD_UTC] = "TIMESTAMP_NS", [FIELD_U16] = "BIGINT", [FIELD_U32] = "BIGINT",
	[FIELD_S32] = "BIGINT",   [FIELD_U64] = "UBIGINT",      [FIELD_S64] = "BIGINT", [FIELD_FID] = "BIGINT",
	[FIELD_SIZE] = "UBIGINT", [FIELD_REALINO] = "UBIGINT",
};

static const char *type_of(const struct field *f)
{
	return f->kind < ARRAY_SIZE(types) && types[f->kind] ? types[f->kind] : "VARCHAR";
}

static void print_files(FILE *out, const char *name)
{
	fprintf(out,
		"\n"
		"SET VARIABLE dltraced_%s_files = (\n"
		"  SELECT list(file) FROM (SELECT unnest(getvariable('dltraced_files')) AS file)\n"
		"  WHERE regexp_matches(file, '/%s(\\.[0-9]+)?\\.out(\\.gz|\\.zst)?$'));\n",
		name, name);
}

/* Prints the view NAME up to its columns. The text FROM goes before read_csv(). */
static void begin_view(FILE *out, const char *name, const char *from)
{
	fprintf(out,
		"CREATE OR REPLACE VIEW %s AS\n"
		"SELECT * EXCLUDE (filename),\n"
		"       list_extract(getvariable('dltraced_host'),\n"
		"                    list_position(getvariable('dltraced_folder'), parse_dirpath(filename))) AS host,\n"
		"       parse_dirpath(filename) AS folder\n"
		"FROM %sread_csv(coalesce(getvariable('dltraced_%s_files')::VARCHAR[], "
		"getvariable('dltraced_files')[1:1]),\n"
		"              delim='\\t', quote='', escape='', nullstr=['-', '?'], filename=true,\n"
		"              ignore_errors=coalesce(getvariable('ignore_damaged')::BOOLEAN, false),\n",
		name, from, name);
}

static void end_view(FILE *out, const char *name)
{
	fprintf(out,
		")\n"
		"WHERE getvariable('dltraced_%s_files') IS NOT NULL",
		name);
}

/* Returns what stands before column I of a list: four columns a line. */
static const char *between(unsigned int i)
{
	if (i == 0)
		return "";
	return i % 4 ? ", " : ",\n                       ";
}

/*
 * Handles files of older versions, which have fewer columns. Takes them out of the view's list, and puts a SELECT of
 * them, for each number of columns, into dltraced_NAME_older. (With null_padding DuckDB could fill up short rows
 * itself, but it would accept rows that were cut off, too.) The number is read from the header of each folder's first
 * segment; LIMIT 1 reads no further.
 */
static void print_older(FILE *out, const struct probe *probe)
{
	const char *name = probe->name;

	fprintf(out,
		"SET VARIABLE dltraced_heads = (\n"
		"  SELECT coalesce(string_agg('(SELECT ''' || parse_dirpath(file) || ''' AS folder, "
		"len(string_split(head, chr(9))) AS n'\n"
		"           || ' FROM read_csv(''' || file || ''', auto_detect=false, header=false, skip=1, "
		"delim=chr(1), quote='''','\n"
		"           || ' escape='''', columns={''head'': ''VARCHAR''}, ignore_errors=true) LIMIT 1)', ' UNION "
		"ALL '),\n"
		"           'SELECT NULL::VARCHAR AS folder, NULL::BIGINT AS n WHERE false')\n"
		"  FROM (SELECT min(replace(file, '''', '''''')) AS file FROM (SELECT "
		"unnest(getvariable('dltraced_%s_files')) AS file)\n"
		"        GROUP BY parse_dirpath(file)));\n"
		"SET VARIABLE dltraced_older = (\n"
		"  SELECT list({'file': file, 'n': n})\n"
		"  FROM (SELECT unnest(getvariable('dltraced_%s_files')) AS file)\n"
		"  JOIN query(getvariable('dltraced_heads')) ON folder = parse_dirpath(file) WHERE n < %u);\n"
		"SET VARIABLE dltraced_%s_older = (\n"
		"  SELECT coalesce(string_agg('SELECT * FROM read_csv([' || files || '], delim=chr(9), quote='''', "
		"escape='''','\n"
		"           || ' nullstr=[''-'', ''?''], filename=true, auto_detect=false, header=false, skip=2,'\n"
		"           || ' ignore_errors=coalesce(getvariable(''ignore_damaged'')::BOOLEAN, false),'\n"
		"           || ' columns={' || array_to_string(([",
		name, name, probe->n_fields, name);
	for (unsigned int i = 0; i < probe->n_fields; i++)
		fprintf(out, "%s'''%s'': ''%s'''", between(i), probe->fields[i].name, type_of(&probe->fields[i]));
	fprintf(out,
		"])[1:n], ', ') || '})', ' UNION ALL BY NAME '), 'SELECT NULL::VARCHAR AS filename WHERE false')\n"
		"  FROM (SELECT x.n AS n, string_agg('''' || replace(x.file, '''', '''''') || '''', ', ') AS files\n"
		"        FROM (SELECT unnest(getvariable('dltraced_older')) AS x) GROUP BY x.n));\n"
		"SET VARIABLE dltraced_%s_files = (\n"
		"  SELECT list(file) FROM (SELECT unnest(getvariable('dltraced_%s_files')) AS file)\n"
		"  WHERE NOT coalesce(list_contains([x.file for x in getvariable('dltraced_older')], file), false));\n",
		name, name);
}

/* skip=2 leaves out the two header lines. (comment='#' with header=true would leave out a row of each file, too.) */
static void print_probe(FILE *out, const struct probe *probe)
{
	print_files(out, probe->name);
	print_older(out, probe);
	begin_view(out, probe->name, "(SELECT * FROM ");
	fputs("              auto_detect=false, header=false, skip=2,\n              columns={", out);
	for (unsigned int i = 0; i < probe->n_fields; i++)
		fprintf(out, "%s'%s': '%s'", between(i), probe->fields[i].name, type_of(&probe->fields[i]));
	putc('}', out);
	end_view(out, probe->name);
	fprintf(out,
		"\n"
		"UNION ALL BY NAME SELECT * FROM query(getvariable('dltraced_%s_older')));\n",
		probe->name);
}

/*
 * The tools choose the columns, so DuckDB has to infer types: from more rows than by default, as a GPU may have no
 * values at first.
 */
static void print_collector(FILE *out, const struct collector_kind *k)
{
	print_files(out, k->name);
	begin_view(out, k->name, "");
	fputs("              header=true, comment='#', union_by_name=true, sample_size=200000", out);
	end_view(out, k->name);
	fputs(";\n", out);
}

void duckdb_print_views(FILE *out)
{
	fprintf(out, "-- Views of traces of dltraced %s for DuckDB 1.1 or later, by `dltraced probes --duckdb'.\n",
		version_text);
	fputs(begin, out);
	fputs(folders, out);
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		print_probe(out, probes[i]);
	for (unsigned int i = 0; i < COLLECTOR_KINDS; i++)
		print_collector(out, &collector_kinds[i]);
	fputs(paths, out);
}
