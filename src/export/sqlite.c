/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An SQLite database: a table for each file of the trace, with the host and typed columns, and views that join the
 * files. sqlite_runs.c adds a row for each folder and each block of memory, sqlite_functions.c names to stacks.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/log.h"
#include "export/export.h"
#include "export/exporter.h"
#include "export/sqlite.h"
#include "export/text.h"

struct sqlite_export {
	struct sqlite3 *db;
	struct sqlite3_stmt *insert; /* into the current table */
	char *temporary; /* the file until it is whole */
	char *text; /* of a field, unescaped */
	struct sqlite_has has;
};

/* The library's own text of these is "disk I/O error"; errno is of the last system call that failed. */
static bool is_limit(int error)
{
	return error == EDQUOT || error == EFBIG;
}

static int fail(const struct sqlite_export *s, const char *what)
{
	const int error = s->db ? errno : ENOMEM;
	const bool by_system = !s->db || is_limit(error);

	log_err("sqlite: %s: %s", what, by_system ? limits_strerror(-error) : sqlite.errmsg(s->db));
	return -ECANCELED;
}

static int run_sql(const struct sqlite_export *s, const char *sql)
{
	return sqlite.exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(s, "the database cannot be written");
}

/* Checks that PATH is not standard output, and would replace only a regular file. */
static int check_path(const char *path)
{
	struct stat st;

	if (!strcmp(path, "-")) {
		log_err("sqlite needs a file: name it with -o");
		return -ECANCELED;
	}
	if (lstat(path, &st) < 0 || S_ISREG(st.st_mode))
		return 0;
	log_err("%s exists and is not a regular file: name another with -o", path);
	return -ECANCELED;
}

static int begin(struct export *export)
{
	struct sqlite_export *sqlite_export = export->state;
	int res = check_path(export->o->out), fd;

	if (res == 0)
		res = sqlite_load();
	if (res < 0)
		return res;
	sqlite_export->temporary = util_fmt("%s.%d.tmp", export->o->out, (int)getpid());
	sqlite_export->text = malloc(TEXT_JSON_MAX(EXPORT_SCRATCH));
	if (!sqlite_export->temporary || !sqlite_export->text)
		return -ENOMEM;
	fd = open(sqlite_export->temporary, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0) {
		res = log_err_r(-errno, "%s: cannot be made", sqlite_export->temporary);
		free(TAKE_PTR(sqlite_export->temporary));
		return res < 0 ? -ECANCELED : 0;
	}
	close(fd);
	if (sqlite.open(sqlite_export->temporary, &sqlite_export->db) != SQLITE_OK)
		return fail(sqlite_export, "no database");
	return run_sql(sqlite_export, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
}

/* Puts NAME quoted, as the name of a tool's column may be any text. */
static void put_identifier(FILE *out, const char *name)
{
	putc('"', out);
	for (; *name; name++) {
		if (*name == '"')
			putc('"', out);
		putc(*name, out);
	}
	putc('"', out);
}

static const char *const types[] = {
	[COLUMN_TEXT] = "TEXT",    [COLUMN_TIME] = "TEXT",   [COLUMN_INT] = "INTEGER",
	[COLUMN_UINT] = "INTEGER", [COLUMN_ANY] = "NUMERIC",
};

/* Heimdallr's database has a view of the name access, so the rows of access.out are in access_out. */
static const char *name_of(const struct export_table *t)
{
	return strcmp(t->name, "access") ? t->name : SQLITE_ACCESS;
}

static char *make_sql(const struct export_table *table, bool insert)
{
	char *sql = NULL;
	size_t len;
	FILE *out = open_memstream(&sql, &len);

	if (!out)
		return NULL;
	fputs(insert ? "INSERT INTO " : "CREATE TABLE ", out);
	put_identifier(out, name_of(table));
	fputs(insert ? " VALUES (?" : " (host TEXT", out);
	for (unsigned int i = 0; i < table->n; i++) {
		fputs(insert ? ", ?" : ", ", out);
		if (insert)
			continue;
		put_identifier(out, table->column[i].name);
		fprintf(out, " %s", types[table->column[i].type]);
	}
	putc(')', out);
	if (fclose(out) == 0)
		return sql;
	free(sql);
	return NULL;
}

static int table(struct export *x, const struct export_table *t)
{
	struct sqlite_export *s = x->state;
	autofree char *create = make_sql(t, false), *insert = make_sql(t, true);

	if (!create || !insert)
		return -ENOMEM;
	if (run_sql(s, create) < 0)
		return -ECANCELED;
	return sqlite.prepare(s->db, insert, -1, &s->insert, NULL) == SQLITE_OK ? 0 : fail(s, t->name);
}

static void bind_text(struct export *x, int i, struct reader_field v)
{
	const struct sqlite_export *s = x->state;
	const char *end = text_put_utf8(s->text, v, x->scratch);

	sqlite.bind_text(s->insert, i, s->text, (int)(end - s->text), transient);
}

/* A number beyond SQLite's integers becomes text, so that no digit is lost. */
static void bind(struct export *export, int i, enum column_type type, struct reader_field v)
{
	const struct sqlite_export *sqlite_export = export->state;
	char number[64];
	int64_t n;

	if (export_is_none(v) || export_is_unknown(v)) {
		sqlite.bind_null(sqlite_export->insert, i);
	} else if (type != COLUMN_TEXT && type != COLUMN_TIME && text_s64(v, &n)) {
		sqlite.bind_int64(sqlite_export->insert, i, n);
	} else if (type == COLUMN_ANY && v.len < sizeof(number) && text_is_number(v)) {
		memcpy(number, v.p, v.len);
		number[v.len] = '\0';
		sqlite.bind_double(sqlite_export->insert, i, strtod(number, NULL));
	} else if ((type == COLUMN_INT || type == COLUMN_UINT) && !text_is_int(v)) {
		export->bad_numbers++;
		sqlite.bind_null(sqlite_export->insert, i);
	} else {
		bind_text(export, i, v);
	}
}

static int put_rows(struct export *export, const struct export_file *file, const struct reader_row *rows,
		    unsigned int n)
{
	const struct sqlite_export *sqlite_export = export->state;
	int res = 0;

	for (unsigned int r = 0; r < n && res == 0; r++) {
		sqlite.bind_text(sqlite_export->insert, 1, export->host->name, -1, transient);
		for (unsigned int i = 0; i < file->table->n; i++)
			bind(export, (int)i + 2, file->table->column[i].type, export_field(file, &rows[r], i));
		if (sqlite.step(sqlite_export->insert) != SQLITE_DONE)
			res = fail(sqlite_export, file->table->name);
		sqlite.reset(sqlite_export->insert);
	}
	return res;
}

static int table_end(struct export *export, const struct export_table *table)
{
	struct sqlite_export *sqlite_export = export->state;
	autofree char *view = NULL;

	sqlite.finalize(TAKE_PTR(sqlite_export->insert));
	sqlite_export->has.alloc |= !strcmp(table->name, "alloc");
	sqlite_export->has.access |= !strcmp(table->name, "access");
	sqlite_export->has.sites |= !strcmp(table->name, "sites");
	if (!strcmp(table->name, "files"))
		return run_sql(
			sqlite_export,
			"CREATE INDEX files_fid ON files (host, FID);"
			"CREATE VIEW paths AS SELECT host, FID, TYPE, FSTYPE, REALPATH, max(TIMESTAMP) AS TIMESTAMP "
			"FROM files GROUP BY host, FID");
	if (!export_table_column(table, "FID"))
		return 0;
	view = util_fmt("CREATE VIEW %s_paths AS SELECT t.*, (SELECT REALPATH FROM files f WHERE f.host = t.host AND "
			"f.FID = t.FID ORDER BY f.TIMESTAMP DESC LIMIT 1) AS FID_PATH FROM %s t",
			name_of(table), name_of(table));
	return view ? run_sql(sqlite_export, view) : -ENOMEM;
}

static int end(struct export *export)
{
	struct sqlite_export *sqlite_export = export->state;

	if (!sqlite_put_runs(export, sqlite_export->db, &sqlite_export->has))
		return fail(sqlite_export, "the runs cannot be written");
	if (sqlite_export->has.sites && !sqlite_put_functions(export, sqlite_export->db))
		return fail(sqlite_export, "the names of functions cannot be written");
	if (run_sql(sqlite_export, "COMMIT") < 0)
		return -ECANCELED;
	if (sqlite.close(TAKE_PTR(sqlite_export->db)) != SQLITE_OK)
		return fail(sqlite_export, "the database cannot be closed");
	if (rename(sqlite_export->temporary, export->o->out) < 0)
		return -errno;
	free(TAKE_PTR(sqlite_export->temporary));
	return 0;
}

static void close_all(struct export *export)
{
	struct sqlite_export *s = export->state;

	if (s->insert)
		sqlite.finalize(s->insert);
	if (s->db)
		sqlite.close(s->db);
	if (s->temporary)
		unlink(s->temporary);
	free(s->temporary);
	free(s->text);
}

const struct exporter export_sqlite = {
	.name = "sqlite",
	.help = "a database with a table for each file, and views with the paths of files",
	.order = EXPORT_BY_FILE,
	.state_size = sizeof(struct sqlite_export),
	.own_out = true,
	.begin = begin,
	.table = table,
	.table_end = table_end,
	.rows = put_rows,
	.end = end,
	.close = close_all,
};
