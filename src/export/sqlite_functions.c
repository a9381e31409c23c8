/* SPDX-License-Identifier: BSD-2-Clause */
/* The column FUNCTIONS of the table sites: names for the frames of each stack, in their order, as far as there are any.
 */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "export/exporter.h"
#include "export/folded.h"
#include "export/site_texts.h"
#include "export/sqlite.h"
#include "report/memory/stacks.h"

static const char column[] =
	"ALTER TABLE sites ADD COLUMN FUNCTIONS TEXT; CREATE INDEX sites_site ON sites(host, SITE);";
static const char wanted[] = "SELECT SITE FROM sites WHERE host = ? AND KIND <> 'module' LIMIT ?";
static const char update[] = "UPDATE sites SET FUNCTIONS = ? WHERE host = ? AND SITE = ?";

struct sites {
	uint64_t *v;
	uint32_t n;
};

/* Returns false when there is no memory. */
static bool collect(struct sites *sites, struct sqlite3_stmt *select)
{
	while (sqlite.step(select) == SQLITE_ROW) {
		if (util_room(&sites->v, sites->n, sizeof(*sites->v)) < 0)
			return false;
		sites->v[sites->n++] = (uint64_t)sqlite.column_int64(select, 0);
	}
	sqlite.reset(select);
	return true;
}

/* Binds the names in TEXT, joined as frames are. Returns false when there is no memory. */
static bool bind_names(struct export *export, struct sqlite3_stmt *stmt, const char *text)
{
	const size_t size = strlen(text) + 1, gap = strlen(STACKS_SEPARATOR);
	autofree char *names = malloc(size); /* no name gets longer */
	char *p = names;

	while (names && text) {
		const char *next = strstr(text, STACKS_SEPARATOR);

		p = folded_put(export, p, names + size,
			       (struct reader_field){ text, next ? (size_t)(next - text) : strlen(text) });
		text = next ? next + gap : NULL;
		if (text)
			*p++ = ';';
	}
	return names && sqlite.bind_text(stmt, 1, names, (int)(p - names), transient) == SQLITE_OK;
}

static bool put_host(struct export *export, const struct export_host *host, struct sqlite3_stmt *select,
		     struct sqlite3_stmt *stmt)
{
	struct sites sites = { .v = NULL };
	char **texts = NULL;
	bool good;

	sqlite.bind_text(select, 1, host->name, -1, transient);
	sqlite.bind_int64(select, 2, SITE_TEXTS_MAX);
	good = collect(&sites, select);
	if (good && sites.n) {
		texts = site_texts_read(host->dirfd, sites.v, sites.n);
		good = texts;
	}
	sqlite.bind_text(stmt, 2, host->name, -1, transient);
	for (uint32_t i = 0; good && i < sites.n; i++) {
		if (!texts[i])
			continue;
		sqlite.bind_int64(stmt, 3, (int64_t)sites.v[i]);
		good = bind_names(export, stmt, texts[i]) && sqlite.step(stmt) == SQLITE_DONE;
		sqlite.reset(stmt);
	}
	site_texts_free(texts, sites.n);
	free(sites.v);
	return good;
}

bool sqlite_put_functions(struct export *x, struct sqlite3 *db)
{
	struct sqlite3_stmt *select = NULL, *s = NULL;
	bool good = sqlite.exec(db, column, NULL, NULL, NULL) == SQLITE_OK &&
		    sqlite.prepare(db, wanted, -1, &select, NULL) == SQLITE_OK &&
		    sqlite.prepare(db, update, -1, &s, NULL) == SQLITE_OK;

	for (unsigned int i = 0; good && i < x->n_hosts; i++)
		good = put_host(x, &x->hosts[i], select, s);
	sqlite.finalize(select);
	sqlite.finalize(s);
	return good;
}
