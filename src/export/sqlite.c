/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An SQLite database: a table for each file of the trace, with the host and typed columns, and views that join the files.
 * The library is loaded only for this format, as few of the traced machines have it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "export/exporter.h"
#include "export/text.h"

#define LIBRARY "libsqlite3.so.0"

/* From sqlite3.h, whose ABI is stable. */
enum { SQLITE_OK = 0, SQLITE_DONE = 101 };
struct sqlite3;
struct sqlite3_stmt;
static const intptr_t transient = -1; /* the library copies the text */

static struct library {
	int (*open)(const char *name, struct sqlite3 **ret);
	int (*close)(struct sqlite3 *db);
	int (*exec)(struct sqlite3 *db, const char *sql, void *fn, void *ctx, char **error);
	const char *(*errmsg)(struct sqlite3 *db);
	int (*prepare)(struct sqlite3 *db, const char *sql, int len, struct sqlite3_stmt **ret, const char **tail);
	int (*step)(struct sqlite3_stmt *s);
	int (*reset)(struct sqlite3_stmt *s);
	int (*finalize)(struct sqlite3_stmt *s);
	int (*bind_int64)(struct sqlite3_stmt *s, int i, int64_t v);
	int (*bind_double)(struct sqlite3_stmt *s, int i, double v);
	int (*bind_null)(struct sqlite3_stmt *s, int i);
	int (*bind_text)(struct sqlite3_stmt *s, int i, const char *text, int len, intptr_t destructor);
} lib;

static const struct { const char *name; size_t at; } symbols[] = {
	{ "sqlite3_open", offsetof(struct library, open) },
	{ "sqlite3_close", offsetof(struct library, close) },
	{ "sqlite3_exec", offsetof(struct library, exec) },
	{ "sqlite3_errmsg", offsetof(struct library, errmsg) },
	{ "sqlite3_prepare_v2", offsetof(struct library, prepare) },
	{ "sqlite3_step", offsetof(struct library, step) },
	{ "sqlite3_reset", offsetof(struct library, reset) },
	{ "sqlite3_finalize", offsetof(struct library, finalize) },
	{ "sqlite3_bind_int64", offsetof(struct library, bind_int64) },
	{ "sqlite3_bind_double", offsetof(struct library, bind_double) },
	{ "sqlite3_bind_null", offsetof(struct library, bind_null) },
	{ "sqlite3_bind_text", offsetof(struct library, bind_text) },
};

struct sqlite_export {
	struct sqlite3 *db;
	struct sqlite3_stmt *insert; /* into the current table */
	char *temporary; /* the file until it is whole */
	char *text; /* of a field, unescaped */
};

static int load_library(void)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW);

	for (size_t i = 0; handle && i < ARRAY_SIZE(symbols); i++) {
		void *symbol = dlsym(handle, symbols[i].name);

		if (!symbol)
			handle = NULL;
		memcpy((char *)&lib + symbols[i].at, &symbol, sizeof(symbol));
	}
	if (handle)
		return 0;
	log_err("sqlite: " LIBRARY " is not installed: install it (libsqlite3-0 on Debian, sqlite-libs on RHEL), or export with -f csv");
	return -ECANCELED;
}

static int fail(const struct sqlite_export *s, const char *what)
{
	log_err("sqlite: %s: %s", what, s->db ? lib.errmsg(s->db) : "no memory");
	return -ECANCELED;
}

static int run_sql(const struct sqlite_export *s, const char *sql)
{
	return lib.exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(s, "the database cannot be written");
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

static int begin(struct export *x)
{
	struct sqlite_export *s = x->state;
	int res = check_path(x->o->out), fd;

	if (res == 0)
		res = load_library();
	if (res < 0)
		return res;
	s->temporary = util_fmt("%s.%d.tmp", x->o->out, (int)getpid());
	s->text = malloc(TEXT_JSON_MAX(EXPORT_SCRATCH));
	if (!s->temporary || !s->text)
		return -ENOMEM;
	fd = open(s->temporary, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0) {
		res = log_err_r(-errno, "%s: cannot be made", s->temporary);
		free(TAKE_PTR(s->temporary));
		return res < 0 ? -ECANCELED : 0;
	}
	close(fd);
	if (lib.open(s->temporary, &s->db) != SQLITE_OK)
		return fail(s, "no database");
	return run_sql(s, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
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
	[COLUMN_TEXT] = "TEXT", [COLUMN_TIME] = "TEXT", [COLUMN_INT] = "INTEGER", [COLUMN_UINT] = "INTEGER", [COLUMN_ANY] = "NUMERIC",
};

static char *make_sql(const struct export_table *t, bool insert)
{
	char *sql = NULL;
	size_t len;
	FILE *out = open_memstream(&sql, &len);

	if (!out)
		return NULL;
	fputs(insert ? "INSERT INTO " : "CREATE TABLE ", out);
	put_identifier(out, t->name);
	fputs(insert ? " VALUES (?" : " (host TEXT", out);
	for (unsigned int i = 0; i < t->n; i++) {
		fputs(insert ? ", ?" : ", ", out);
		if (insert)
			continue;
		put_identifier(out, t->column[i].name);
		fprintf(out, " %s", types[t->column[i].type]);
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
	return lib.prepare(s->db, insert, -1, &s->insert, NULL) == SQLITE_OK ? 0 : fail(s, t->name);
}

static void bind_text(struct export *x, int i, struct reader_field v)
{
	const struct sqlite_export *s = x->state;
	const char *end = text_put_utf8(s->text, v, x->scratch);

	lib.bind_text(s->insert, i, s->text, (int)(end - s->text), transient);
}

/* A number beyond SQLite's integers becomes text, so that no digit is lost. */
static void bind(struct export *x, int i, enum column_type type, struct reader_field v)
{
	const struct sqlite_export *s = x->state;
	char number[64];
	int64_t n;

	if (export_is_none(v) || export_is_unknown(v)) {
		lib.bind_null(s->insert, i);
	} else if (type != COLUMN_TEXT && type != COLUMN_TIME && text_s64(v, &n)) {
		lib.bind_int64(s->insert, i, n);
	} else if (type == COLUMN_ANY && v.len < sizeof(number) && text_is_number(v)) {
		memcpy(number, v.p, v.len);
		number[v.len] = '\0';
		lib.bind_double(s->insert, i, strtod(number, NULL));
	} else if ((type == COLUMN_INT || type == COLUMN_UINT) && !text_is_int(v)) {
		x->bad_numbers++;
		lib.bind_null(s->insert, i);
	} else {
		bind_text(x, i, v);
	}
}

static int put_rows(struct export *x, const struct export_file *f, const struct reader_row *rows, unsigned int n)
{
	const struct sqlite_export *s = x->state;
	int res = 0;

	for (unsigned int r = 0; r < n && res == 0; r++) {
		lib.bind_text(s->insert, 1, x->host->name, -1, transient);
		for (unsigned int i = 0; i < f->table->n; i++)
			bind(x, (int)i + 2, f->table->column[i].type, export_field(f, &rows[r], i));
		if (lib.step(s->insert) != SQLITE_DONE)
			res = fail(s, f->table->name);
		lib.reset(s->insert);
	}
	return res;
}

static int table_end(struct export *x, const struct export_table *t)
{
	struct sqlite_export *s = x->state;
	autofree char *view = NULL;

	lib.finalize(TAKE_PTR(s->insert));
	if (!strcmp(t->name, "files"))
		return run_sql(s, "CREATE INDEX files_fid ON files (host, FID);"
				  "CREATE VIEW paths AS SELECT host, FID, TYPE, FSTYPE, REALPATH, max(TIMESTAMP) AS TIMESTAMP "
				  "FROM files GROUP BY host, FID");
	if (!export_table_column(t, "FID"))
		return 0;
	view = util_fmt("CREATE VIEW %s_paths AS SELECT t.*, (SELECT REALPATH FROM files f WHERE f.host = t.host AND f.FID = t.FID "
			"ORDER BY f.TIMESTAMP DESC LIMIT 1) AS FID_PATH FROM %s t", t->name, t->name);
	return view ? run_sql(s, view) : -ENOMEM;
}

static int end(struct export *x)
{
	struct sqlite_export *s = x->state;

	if (run_sql(s, "COMMIT") < 0)
		return -ECANCELED;
	if (lib.close(TAKE_PTR(s->db)) != SQLITE_OK)
		return fail(s, "the database cannot be closed");
	if (rename(s->temporary, x->o->out) < 0)
		return -errno;
	free(TAKE_PTR(s->temporary));
	return 0;
}

static void close_all(struct export *x)
{
	struct sqlite_export *s = x->state;

	if (s->insert)
		lib.finalize(s->insert);
	if (s->db)
		lib.close(s->db);
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
