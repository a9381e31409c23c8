/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables runs, with a row for each folder, allocs, with a row for each block of memory, and access_runs, with those
 * of access.out as numbers; the view access has points of these. The first columns have the names, types and units of
 * Heimdallr's database, so that queries for that work on these, too. A block is made of its rows in the table alloc by
 * SQL: at an address of a process, allocations and their ends alternate.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/exit_codes.h"
#include "base/util.h"
#include "export/exporter.h"
#include "export/sqlite.h"
#include "report/matrix.h"
#include "trace/manifest_read.h"

/* SQL has lines of its own: */
/* clang-format off */
static const char tables[] =
	"CREATE TABLE runs (id INTEGER PRIMARY KEY, prog TEXT, mode TEXT, run INTEGER, utime_ns INTEGER, stime_ns INTEGER, "
	"wtime_ns INTEGER, max_rss INTEGER, status INTEGER, minflt INTEGER, majflt INTEGER, nvcsw INTEGER, nivcsw INTEGER, "
	"trace TEXT, lost INTEGER, cmdline TEXT, seed INTEGER, ord INTEGER, dry INTEGER, host TEXT, first_ns INTEGER, "
	"UNIQUE (prog, mode, run));"
	"CREATE TABLE allocs (id INTEGER PRIMARY KEY, run_id INTEGER REFERENCES runs(id), from_ns INTEGER, to_ns INTEGER, "
	"base INTEGER, size INTEGER, tid INTEGER, free_tid INTEGER, func TEXT, site_id INTEGER, state TEXT);"
	"CREATE TABLE access_runs (run_id INTEGER REFERENCES runs(id), at_ns INTEGER, span_ns INTEGER, addr INTEGER, bytes INTEGER, "
	"touched INTEGER, written INTEGER, count INTEGER, source TEXT, tid INTEGER, ip INTEGER, node INTEGER, site_id INTEGER);"
	/* a point for each 64 KiB of a row, and one of a single access */
	"CREATE VIEW access AS WITH RECURSIVE point(run_id, at_ns, addr, is_write, last) AS ("
	" SELECT run_id, at_ns, addr, CASE WHEN written > 0 THEN 1 WHEN written = 0 THEN 0 END,"
	" CASE WHEN count = 1 THEN addr ELSE addr + bytes - 1 END FROM access_runs WHERE coalesce(touched, written, count) > 0"
	" UNION ALL SELECT run_id, at_ns, addr + 65536, is_write, last FROM point WHERE addr + 65536 <= last"
	") SELECT run_id, at_ns, addr, is_write FROM point;";
/* clang-format on */

static const char run_insert[] =
	"INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)";

/*
 * event: a block that is got, or given back (GETS 0), at an address; in a realloc it is first given back. A realloc
 * that failed has neither. pair: each with what is next and what was last at its address.
 */
/* SQL has lines of its own: */
/* clang-format off */
static const char blocks[] =
	"WITH event AS ("
	" SELECT host, PID, address(ADDR) AS base, rowid AS nr, 1 AS gets, TIMESTAMP AS at, SIZE AS size, TID AS tid, FUNC AS func, SITE AS site"
	" FROM alloc WHERE FUNC NOT IN ('free', 'c10::free_cpu', 'end') AND FUNC NOT LIKE 'libc:%' AND SIZE IS NOT NULL AND address(ADDR) <> 0"
	" UNION ALL SELECT host, PID, address(ADDR), rowid, 0, TIMESTAMP, SIZE, TID, FUNC, SITE FROM alloc WHERE FUNC IN ('free', 'c10::free_cpu', 'end')"
	" UNION ALL SELECT host, PID, address(OLD_ADDR), rowid, 0, TIMESTAMP, OLD_SIZE, TID, FUNC, OLD_SITE FROM alloc"
	" WHERE OLD_ADDR IS NOT NULL AND (LIFE_NS IS NOT NULL OR address(ADDR) <> 0)"
	"), pair AS ("
	" SELECT *, lead(gets) OVER w AS next_gets, lead(at) OVER w AS next_at, lead(tid) OVER w AS next_tid, lead(func) OVER w AS next_func,"
	" lag(gets) OVER w AS last_gets FROM event WINDOW w AS (PARTITION BY host, PID, base ORDER BY nr, gets)"
	"), block AS ("
	" SELECT host, nr, at AS from_at, CASE WHEN next_gets = 0 THEN next_at END AS to_at, base, size, tid,"
	" CASE WHEN next_gets = 0 AND next_func <> 'end' THEN next_tid END AS free_tid, func, site,"
	" CASE WHEN next_gets = 0 THEN CASE next_func WHEN 'free' THEN 'freed' WHEN 'c10::free_cpu' THEN 'freed' WHEN 'end' THEN 'end' ELSE 'resized' END ELSE 'live' END AS state"
	" FROM pair WHERE gets"
	" UNION ALL SELECT host, nr, NULL, at, base, size, NULL, CASE WHEN func <> 'end' THEN tid END, NULL, site, 'before'"
	" FROM pair WHERE NOT gets AND last_gets IS NOT 1"
	") INSERT INTO allocs (run_id, from_ns, to_ns, base, size, tid, free_tid, func, site_id, state)"
	" SELECT r.id, from_at - first_ns, to_at - first_ns, base, size, tid, free_tid, func, site, state"
	" FROM block b JOIN runs r ON r.host = b.host ORDER BY r.id, nr;";
/* clang-format on */

static const char accesses[] =
	"INSERT INTO access_runs SELECT r.id, TIMESTAMP - first_ns, SPAN_NS, address(ADDR), BYTES, TOUCHED, WRITTEN, "
	"COUNT, SOURCE, TID, address(IP), NODE, SITE FROM " SQLITE_ACCESS
	" a JOIN runs r ON r.host = a.host ORDER BY r.id, a.rowid;";

/* The first row of a run, of either table. */
#define FIRST(table) "(SELECT min(TIMESTAMP) FROM " table " a WHERE a.host = runs.host)"
static const char alloc_first[] = "UPDATE runs SET first_ns = " FIRST("alloc") ";";
static const char access_first[] = "UPDATE runs SET first_ns = coalesce(min(first_ns, " FIRST(
	SQLITE_ACCESS) "), first_ns, " FIRST(SQLITE_ACCESS) ");";

/* SQL has lines of its own: */
/* clang-format off */
static const char indexes[] =
	"CREATE INDEX runs_progmoderun_idx ON runs(prog, mode, run);"
	"CREATE INDEX allocs_runid_idx ON allocs(run_id); CREATE INDEX allocs_addr_idx ON allocs(base, size);"
	"CREATE INDEX access_runs_runid_idx ON access_runs(run_id, at_ns);";
/* clang-format on */

/* For SQL: address('0x1f') is 31. Addresses from 2^63 on are negative, as in Heimdallr's database. */
static void address(struct sqlite3_context *c, int n, struct sqlite3_value **args)
{
	const unsigned char *text = sqlite.value_text(args[0]);

	(void)n;
	if (text) /* else the result is NULL */
		sqlite.result_int64(c, (int64_t)strtoull((const char *)text, NULL, 0));
}

/* --- runs ------------------------------------------------------------------------------------------------------- */

/* The name of a run. */
struct run_name {
	char *folder; /* the folder's own name, owned; PROG and MODE point into it, or elsewhere */
	const char *prog, *mode;
	uint64_t run;
	bool of_recipe; /* the folder's name is of the form that the recipe matrix makes */
};

/* Cuts FOLDER, PROG.MODE.RUN as the recipe matrix names it, into NAME. Returns whether it is of that form. */
static bool cut_name(struct run_name *name)
{
	char *number = strrchr(name->folder, '.'), *mode = NULL, *end;

	for (char *p = name->folder; number && p < number; p++)
		mode = *p == '.' ? p : mode;
	if (!mode || mode == name->folder || mode + 1 == number || number[1] < '1' || number[1] > '9')
		return false;
	name->run = strtoull(number + 1, &end, 10);
	if (*end || name->run > INT64_MAX)
		return false;
	*mode = *number = '\0';
	name->prog = name->folder;
	name->mode = mode + 1;
	return true;
}

/* Gives N a number that no run of PROG and MODE among the first I has. */
static void make_unique(struct run_name *n, const struct run_name *all, unsigned int i)
{
	for (unsigned int k = 0; k < i; k++)
		if (all[k].run == n->run && !strcmp(all[k].prog, n->prog) && !strcmp(all[k].mode, n->mode)) {
			n->run++;
			k = -1U;
		}
}

/*
 * Reads the matrix.tsv beside the folder of HOST, if there is one; MATRIX stays where it is that of the folder before,
 * whose parent is BEFORE. Returns 0, or -errno after a message, and MATRIX is empty.
 */
static int find_matrix(struct matrix *matrix, const struct export_host *host, struct stat *before)
{
	autoclose int fd = openat(host->dirfd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autofree char *parent = util_fmt("%s/..", host->dir), *real = parent ? realpath(parent, NULL) : NULL;
	struct stat st = { .st_ino = 0 };
	int res;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == before->st_dev && st.st_ino == before->st_ino)
		return 0;
	*before = st;
	matrix_free(matrix);
	res = fd >= 0 ? matrix_read(matrix, fd) : -ENOENT;
	if (res >= 0 || res == -ENOENT)
		return 0;
	return matrix_log(res, real ? real : host->dir);
}

static uint64_t lost_rows(const struct manifest_facts *m)
{
	uint64_t lost = 0;

	for (unsigned int i = 0; i < m->n_probes; i++)
		lost += m->probes[i].lost;
	for (unsigned int i = 0; i < m->n_collectors; i++)
		lost += m->collectors[i].lost;
	return lost;
}

static void bind_known(struct sqlite3_stmt *s, int i, bool known, uint64_t n)
{
	if (known)
		sqlite.bind_int64(s, i, (int64_t)n);
	else
		sqlite.bind_null(s, i);
}

static void bind_text(struct sqlite3_stmt *s, int i, const char *text)
{
	sqlite.bind_text(s, i, text, -1, transient);
}

static bool put_run(struct sqlite3_stmt *stmt, unsigned int id, const struct export_host *host,
		    const struct run_name *name, const struct manifest_facts *facts, const struct matrix_run *of)
{
	static const enum usage used[] = { USAGE_USER_NS, USAGE_SYSTEM_NS, USAGE_WALL_NS };
	static const enum usage counts[] = { USAGE_MINOR_FAULTS, USAGE_MAJOR_FAULTS, USAGE_VOLUNTARY_SWITCHES,
					     USAGE_INVOLUNTARY_SWITCHES };
	int i = 1;

	sqlite.bind_int64(stmt, i++, id);
	bind_text(stmt, i++, name->prog);
	bind_text(stmt, i++, name->mode);
	sqlite.bind_int64(stmt, i++, (int64_t)name->run);
	for (size_t k = 0; k < ARRAY_SIZE(used); k++)
		bind_known(stmt, i++, facts->has_usage, facts->usage[used[k]]);
	bind_known(stmt, i++, facts->has_usage, facts->usage[USAGE_MAX_RSS_BYTES] / 1024);
	bind_known(stmt, i++, facts->has_status, (uint64_t)exit_code_of(facts->status));
	for (size_t k = 0; k < ARRAY_SIZE(counts); k++)
		bind_known(stmt, i++, facts->has_usage, facts->usage[counts[k]]);
	bind_text(stmt, i++, host->dir);
	bind_known(stmt, i++, facts->complete, lost_rows(facts));
	bind_text(stmt, i++, facts->argv);
	bind_known(stmt, i++, of, of ? of->seed : 0);
	bind_known(stmt, i++, of, of ? of->order : 0);
	sqlite.bind_int64(stmt, i++, facts->dry);
	bind_text(stmt, i++, host->name);
	if (sqlite.step(stmt) != SQLITE_DONE)
		return false;
	sqlite.reset(stmt);
	return true;
}

/* Finds the name of the run in the folder of HOST: its own where the recipe has made it, else by its manifest. */
static bool find_name(struct run_name *name, const struct export_host *host, const struct manifest_facts *facts)
{
	autofree char *real = realpath(host->dir, NULL);
	const char *slash = real ? strrchr(real, '/') : NULL;

	name->folder = strdup(slash ? slash + 1 : host->dir);
	if (!name->folder)
		return false;
	name->of_recipe = cut_name(name);
	if (!name->of_recipe) {
		name->prog = name->folder;
		name->mode = facts->dry ? "dry" : "trace";
		name->run = 1;
	}
	return true;
}

static bool put_runs(struct export *export, struct sqlite3_stmt *stmt)
{
	autofree struct run_name *names = calloc(export->n_hosts, sizeof(*names));
	autofree struct manifest_facts *facts = malloc(sizeof(*facts));
	struct matrix matrix = { .text = NULL };
	struct stat before = { .st_ino = 0 };
	bool good = names && facts;

	for (unsigned int i = 0; good && i < export->n_hosts; i++) {
		const struct export_host *host = &export->hosts[i];
		autofree char *folder = NULL;

		manifest_read_at(facts, host->dirfd); /* what is missing stays empty */
		good = find_name(&names[i], host, facts);
		if (!good)
			break;
		folder = util_fmt("%s.%s.%llu", names[i].prog, names[i].mode, (unsigned long long)names[i].run);
		if (names[i].of_recipe)
			export->damaged |= find_matrix(&matrix, host, &before) < 0;
		make_unique(&names[i], names, i);
		good = folder && put_run(stmt, i + 1, host, &names[i], facts,
					 names[i].of_recipe ? matrix_find(&matrix, folder) : NULL);
	}
	matrix_free(&matrix);
	for (unsigned int i = 0; names && i < export->n_hosts; i++)
		free(names[i].folder);
	return good;
}

static bool run_sql(struct sqlite3 *db, const char *sql)
{
	return sqlite.exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

bool sqlite_put_runs(struct export *x, struct sqlite3 *db, const struct sqlite_has *has)
{
	const struct {
		bool wanted;
		const char *sql;
	} steps[] = {
		{ has->alloc, alloc_first }, { has->access, access_first },
		{ has->alloc, blocks },      { has->access, accesses },
		{ true, indexes },
	};
	struct sqlite3_stmt *insert = NULL;
	bool good = run_sql(db, tables) && sqlite.prepare(db, run_insert, -1, &insert, NULL) == SQLITE_OK &&
		    put_runs(x, insert);

	sqlite.finalize(insert);
	good = good && sqlite.create_function(db, "address", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, address, NULL,
					      NULL) == SQLITE_OK;
	for (size_t i = 0; good && i < ARRAY_SIZE(steps); i++)
		good = !steps[i].wanted || run_sql(db, steps[i].sql);
	return good;
}
