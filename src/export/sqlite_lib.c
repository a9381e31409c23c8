/* SPDX-License-Identifier: BSD-2-Clause */
/* The library SQLite, which is loaded only for its format, as few of the traced machines have it. */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"
#include "export/sqlite.h"

#define LIBRARY "libsqlite3.so.0"

struct sqlite_library sqlite;

static const struct {
	const char *name;
	size_t at;
} symbols[] = {
	{ "sqlite3_open", offsetof(struct sqlite_library, open) },
	{ "sqlite3_close", offsetof(struct sqlite_library, close) },
	{ "sqlite3_exec", offsetof(struct sqlite_library, exec) },
	{ "sqlite3_errmsg", offsetof(struct sqlite_library, errmsg) },
	{ "sqlite3_prepare_v2", offsetof(struct sqlite_library, prepare) },
	{ "sqlite3_step", offsetof(struct sqlite_library, step) },
	{ "sqlite3_reset", offsetof(struct sqlite_library, reset) },
	{ "sqlite3_finalize", offsetof(struct sqlite_library, finalize) },
	{ "sqlite3_bind_int64", offsetof(struct sqlite_library, bind_int64) },
	{ "sqlite3_bind_double", offsetof(struct sqlite_library, bind_double) },
	{ "sqlite3_bind_null", offsetof(struct sqlite_library, bind_null) },
	{ "sqlite3_bind_text", offsetof(struct sqlite_library, bind_text) },
	{ "sqlite3_column_int64", offsetof(struct sqlite_library, column_int64) },
	{ "sqlite3_create_function", offsetof(struct sqlite_library, create_function) },
	{ "sqlite3_value_text", offsetof(struct sqlite_library, value_text) },
	{ "sqlite3_result_int64", offsetof(struct sqlite_library, result_int64) },
};

int sqlite_load(void)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW);

	for (size_t i = 0; handle && i < ARRAY_SIZE(symbols); i++) {
		void *symbol = dlsym(handle, symbols[i].name);

		if (!symbol)
			handle = NULL;
		memcpy((char *)&sqlite + symbols[i].at, &symbol, sizeof(symbol));
	}
	if (handle)
		return 0;
	log_err("sqlite: " LIBRARY
		" is not installed: install it (libsqlite3-0 on Debian, sqlite-libs on RHEL), or export with -f csv");
	return -ECANCELED;
}
