/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the format sqlite: the library, and the tables of runs. */
#ifndef EXPORT_SQLITE_H
#define EXPORT_SQLITE_H

#include <stdbool.h>
#include <stdint.h>

/* From sqlite3.h, whose ABI is stable. */
enum { SQLITE_OK = 0, SQLITE_UTF8 = 1, SQLITE_ROW = 100, SQLITE_DONE = 101, SQLITE_DETERMINISTIC = 0x800 };
struct sqlite3;
struct sqlite3_context;
struct sqlite3_stmt;
struct sqlite3_value;
static const intptr_t transient = -1; /* the library copies the text */

typedef void sqlite_function(struct sqlite3_context *c, int n, struct sqlite3_value **args);

#define SQLITE_ACCESS "access_out" /* the table of access.out */

/* The tables that are there, whole. */
struct sqlite_has {
	bool alloc, access, sites;
};

struct sqlite_library {
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
	int64_t (*column_int64)(struct sqlite3_stmt *s, int i);
	int (*create_function)(struct sqlite3 *db, const char *name, int n, int flags, void *ctx, sqlite_function *fn,
			       void *step, void *end);
	const unsigned char *(*value_text)(struct sqlite3_value *v);
	void (*result_int64)(struct sqlite3_context *c, int64_t v);
};

/* The functions of the library, once sqlite_load() has returned 0; else it returns -ECANCELED after a message. */
extern struct sqlite_library sqlite;
int sqlite_load(void);

struct export;

/*
 * Makes the tables runs, allocs and access_runs, and the view access, of the tables in HAS. Returns whether the library
 * has accepted all of it.
 */
bool sqlite_put_runs(struct export *x, struct sqlite3 *db, const struct sqlite_has *has);

/*
 * Gives the table sites a column FUNCTIONS: the names of the functions of FRAMES. Returns whether the library has
 * accepted it, and there was memory.
 */
bool sqlite_put_functions(struct export *x, struct sqlite3 *db);

#endif
