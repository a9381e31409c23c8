/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * export -f parquet and duckdb: makes a script that uses the views of `dltraced probes --duckdb', and runs it by the
 * command duckdb, or by DuckDB's package for Python. So dltraced needs no writer of Parquet, and no library for that.
 */
#include "cmd/export_duckdb.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "base/util.h"
#include "cmd/duckdb.h"
#include "collectors/kinds.h"
#include "export/cut.h"
#include "export/export.h"
#include "export/times.h"
#include "os/folder.h"
#include "trace/manifest_read.h"
#include "trace/probe.h"
#include "trace/reader.h"

/* Puts S as a string of SQL. */
static void put_text(FILE *out, const char *s)
{
	putc('\'', out);
	for (; *s; s++) {
		if (*s == '\'')
			putc('\'', out);
		putc(*s, out);
	}
	putc('\'', out);
}

/* Puts HOST as a part of a file's name. */
static void put_host(FILE *out, const char *host)
{
	for (; *host; host++)
		putc(strchr("/'", *host) || (unsigned char)*host < ' ' ? '_' : *host, out);
}

/* A file of a trace folder, and whether it has the columns by which --pid and --path select rows. */
struct source {
	const char *name;
	bool has_pid, has_fid;
};

static bool has_file(int dirfd, const char *name, struct source *ret)
{
	autofree char *file = util_fmt("%s.out", name);
	struct reader r;

	if (!file || reader_open(&r, dirfd, file) < 0)
		return false;
	*ret = (struct source){ name, reader_column(&r, "PID") != 0, reader_column(&r, "FID") != 0 };
	reader_close(&r);
	return true;
}

struct target {
	FILE *out;
	const struct export_options *o;
	struct export_cut cut;
	struct export_times times;
	const char *path; /* of the database, or of the folder of Parquet files */
	char *const *dirs;
	int n;
	char **hosts; /* the name of each folder's host; for its second folder HOST#2 */
};

/* --- the script ----------------------------------------------------------------------------------------------- */

static int name_hosts(struct target *target)
{
	for (int i = 0; i < target->n; i++) {
		autofree struct manifest_facts *facts = calloc(1, sizeof(*facts));
		autoclose int dirfd = open(target->dirs[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		const char *host;
		int same = 1;

		if (dirfd < 0)
			return log_err_r(-errno, "%s: cannot be read: name a trace folder", target->dirs[i]);
		if (!facts)
			return -ENOMEM;
		manifest_read_at(facts, dirfd);
		host = facts->host[0] ? facts->host : "host";
		for (int k = 0; k < i; k++)
			same += !strncmp(target->hosts[k], host, strlen(host)) &&
				strchr("#", target->hosts[k][strlen(host)]) != NULL;
		target->hosts[i] = same > 1 ? util_fmt("%s#%d", host, same) : strdup(host);
		if (!target->hosts[i])
			return -ENOMEM;
	}
	return 0;
}

static void put_real(const struct target *t, int i)
{
	autofree char *real = realpath(t->dirs[i], NULL);

	put_text(t->out, real ? real : t->dirs[i]);
}

static void put_folders(const struct target *t)
{
	fputs("SET VARIABLE trace = [", t->out);
	for (int i = 0; i < t->n; i++) {
		fputs(i ? ", " : "", t->out);
		put_real(t, i);
	}
	fputs("];\n", t->out);
}

/* --- cuts: each adds a condition ---------------------------------------------------------------------------------- */

static void put_pids(const struct target *t, const struct source *s)
{
	if (!t->cut.pids.n || !s->has_pid)
		return;
	for (unsigned int i = 0; i < t->cut.pids.n; i++)
		fprintf(t->out, "%s%" PRIu64, i ? ", " : " AND PID IN (", t->cut.pids.v[i]);
	putc(')', t->out);
}

/* As in path_filter_has(): the path itself, and what is below it. */
static void put_path(const struct target *t, const struct source *s)
{
	if (!t->cut.only || !s->has_fid)
		return;
	fputs(" AND (folder, FID) IN (SELECT (folder, FID) FROM files WHERE REALPATH = ", t->out);
	put_text(t->out, t->cut.only->only.path);
	fputs(" OR starts_with(REALPATH, ", t->out);
	put_text(t->out, t->cut.only->only.path);
	fputs(" || '/'))", t->out);
}

static void put_times(const struct target *target, int i)
{
	const struct host_times *host = &target->times.host[i];

	fputs(host->n ? "(" : "false", target->out);
	for (unsigned int k = 0; k < host->n; k++) {
		fprintf(target->out, "%s\"TIMESTAMP\" >= %" PRIu64, k ? " OR " : "", host->v[k].begin_ns);
		if (host->v[k].end_ns < INT64_MAX)
			fprintf(target->out, " AND \"TIMESTAMP\" < %" PRIu64, host->v[k].end_ns);
	}
	fputs(host->n ? ")" : "", target->out);
}

/* Puts the condition for the folder of host I, which the statement has selected. */
static void put_host_times(const struct target *t, int i, const struct source *s)
{
	if (!times_cut(&t->times, s->name))
		return;
	fputs(" AND ", t->out);
	put_times(t, i);
}

static void put_all_times(const struct target *target, const struct source *source)
{
	if (!times_cut(&target->times, source->name))
		return;
	for (int i = 0; i < target->n; i++) {
		fputs(i ? " OR folder = " : " AND (folder = ", target->out);
		put_real(target, i);
		fputs(" AND ", target->out);
		put_times(target, i);
	}
	putc(')', target->out);
}

/* --- statements ------------------------------------------------------------------------------------------------ */

/*
 * Version 2 stores differences of successive numbers, which are short for times, and a larger row group has fewer
 * dictionaries of positions: a row of a million random reads takes 9.7 bytes instead of 11.2.
 */
static const char parquet_options[] = "COMPRESSION zstd, PARQUET_VERSION v2, ROW_GROUP_SIZE 491520";

/* Puts the statement that writes a file of host I as PATH/host=NAME/FILE.parquet. */
static void put_parquet(const struct target *target, int i, const struct source *source)
{
	const char *name = source->name;

	fprintf(target->out, "COPY (SELECT * EXCLUDE (host, folder) FROM %s WHERE folder = ", name);
	put_real(target, i);
	put_pids(target, source);
	put_path(target, source);
	put_host_times(target, i, source);
	fputs(") TO '", target->out);
	for (const char *s = target->path; *s; s++)
		fprintf(target->out, *s == '\'' ? "''" : "%c", *s);
	fputs("/host=", target->out);
	put_host(target->out, target->hosts[i]);
	fprintf(target->out, "/%s.parquet' (FORMAT parquet, %s);\n", name, parquet_options);
}

static void put_table(const struct target *t, int i, const struct source *s)
{
	fprintf(t->out, "CREATE TABLE IF NOT EXISTS dltraced_out.%s AS SELECT * FROM %s WHERE true", s->name, s->name);
	put_pids(t, s);
	put_path(t, s);
	put_all_times(t, s);
	fputs(";\n", t->out);
}

static void each_file(const struct target *target,
		      void (*put)(const struct target *t, int i, const struct source *source))
{
	for (int i = 0; i < target->n; i++) {
		autoclose int dirfd = open(target->dirs[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		struct source s;

		for (unsigned int p = 1; p < DLT_PROBES && dirfd >= 0; p++)
			if (cut_names(target->o->probes, probes[p]->name) && has_file(dirfd, probes[p]->name, &s))
				put(target, i, &s);
		for (unsigned int c = 0; c < COLLECTOR_KINDS && dirfd >= 0; c++)
			if (cut_names(target->o->probes, collector_kinds[c].name) &&
			    has_file(dirfd, collector_kinds[c].name, &s))
				put(target, i, &s);
	}
}

static void put_script(const struct target *t, bool parquet)
{
	put_folders(t);
	duckdb_print_views(t->out);
	if (!parquet) {
		fputs("ATTACH ", t->out);
		put_text(t->out, t->path);
		fputs(" AS dltraced_out;\n", t->out);
	}
	each_file(t, parquet ? put_parquet : put_table);
}

/* --- running it ----------------------------------------------------------------------------------------------- */

static int make_folder(const char *path)
{
	autoclose int fd = folder_open(path, 0777);

	return fd < 0 ? log_err_r(fd, "%s: cannot be made", path) : 0;
}

static int make_folders(const struct target *target)
{
	int res = make_folder(target->path);

	for (int i = 0; i < target->n && res == 0; i++) {
		autofree char *path = NULL;
		size_t len;
		FILE *out = open_memstream(&path, &len);

		if (!out)
			return -ENOMEM;
		fprintf(out, "%s/host=", target->path);
		put_host(out, target->hosts[i]);
		res = fclose(out) == 0 ? make_folder(path) : -ENOMEM;
	}
	return res;
}

/* Not from the current folder: whoever writes there need not be who exports. */
#define PYTHON(code) "python3 -c '\nimport sys\nsys.path[:] = filter(None, sys.path)\n" code "'"

/* What runs a script, the first that is there. The commands are constant. */
static const struct engine {
	const char *is_there, *run;
} engines[] = {
	{ "command -v duckdb >/dev/null 2>&1", "duckdb -bail" },
	{ PYTHON("import importlib.util\nsys.exit(not importlib.util.find_spec(\"duckdb\"))") " >/dev/null 2>&1",
	  PYTHON("import duckdb\ntry:\n    duckdb.connect().execute(sys.stdin.read())\n"
		 "except duckdb.Error as error:\n    sys.exit(str(error))") },
};

static const struct engine *find_engine(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++)
		if (system(engines[i].is_there) == 0) /* NOLINT(cert-env33-c) */
			return &engines[i];
	return NULL;
}

static int run_script(struct target *target, const struct engine *engine, bool parquet)
{
	if (parquet && make_folders(target) < 0)
		return EXIT_DLTRACED;
	signal(SIGPIPE, SIG_IGN); /* if duckdb ends early, its own message says why */
	target->out = popen(engine->run, "w"); /* NOLINT(cert-env33-c) */
	if (!target->out)
		return EXIT_DLTRACED;
	put_script(target, parquet);
	if (pclose(target->out) == 0)
		return 0;
	log_err("duckdb failed, see above; where a file of the trace is damaged, export it with -f csv");
	return EXIT_DLTRACED;
}

/* A script that nobody reads is none. */
static int print_script(const struct target *target, bool parquet)
{
	const bool terminal = isatty(STDOUT_FILENO);

	if (!terminal)
		put_script(target, parquet);
	log_err("-f %s: DuckDB is not installed here: pip install duckdb, or install its command%s",
		parquet ? "parquet" : "duckdb", terminal ? "" : "; its script is on standard output");
	return EXIT_FAILURE;
}

int export_duckdb(const struct export_options *options, bool parquet)
{
	const int n = options->n_dirs;
	const struct engine *engine = find_engine();
	struct target t = { .out = stdout,
			    .o = options,
			    .path = options->out,
			    .dirs = options->dirs,
			    .n = n,
			    .hosts = calloc((size_t)n, sizeof(char *)) };
	int res = t.hosts ? name_hosts(&t) : -ENOMEM;

	if (res == 0) {
		res = cut_init(&t.cut, &options->pids, options->path);
		if (res < 0)
			log_err_r(res, "--path");
	}
	if (res == 0)
		res = times_init(&t.times, &options->times, options->dirs, (unsigned int)n);
	if (res < 0) {
		res = EXIT_DLTRACED;
	} else {
		res = engine ? run_script(&t, engine, parquet) : print_script(&t, parquet);
	}
	for (int i = 0; t.hosts && i < n; i++)
		free(t.hosts[i]);
	free(t.hosts);
	cut_free(&t.cut);
	times_free(&t.times);
	return res;
}
