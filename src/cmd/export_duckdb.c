/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * export -f parquet and duckdb: makes a script that uses the views of `dltraced probes --duckdb', and runs it by the command
 * duckdb. So dltraced needs no writer of Parquet, and no library for that.
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

static int name_hosts(struct target *t)
{
	for (int i = 0; i < t->n; i++) {
		autofree struct manifest_facts *m = calloc(1, sizeof(*m));
		autoclose int dirfd = open(t->dirs[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		const char *host;
		int same = 1;

		if (dirfd < 0)
			return log_err_r(-errno, "%s: cannot be read: name a trace folder", t->dirs[i]);
		if (!m)
			return -ENOMEM;
		manifest_read_at(m, dirfd);
		host = m->host[0] ? m->host : "host";
		for (int k = 0; k < i; k++)
			same += !strncmp(t->hosts[k], host, strlen(host)) && strchr("#", t->hosts[k][strlen(host)]) != NULL;
		t->hosts[i] = same > 1 ? util_fmt("%s#%d", host, same) : strdup(host);
		if (!t->hosts[i])
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

static void put_times(const struct target *t, int i)
{
	const struct host_times *host = &t->times.host[i];

	fputs(host->n ? "(" : "false", t->out);
	for (unsigned int k = 0; k < host->n; k++) {
		fprintf(t->out, "%s\"TIMESTAMP\" >= %" PRIu64, k ? " OR " : "", host->v[k].begin_ns);
		if (host->v[k].end_ns < INT64_MAX)
			fprintf(t->out, " AND \"TIMESTAMP\" < %" PRIu64, host->v[k].end_ns);
	}
	fputs(host->n ? ")" : "", t->out);
}

/* Puts the condition for the folder of host I, which the statement has selected. */
static void put_host_times(const struct target *t, int i, const struct source *s)
{
	if (!times_cut(&t->times, s->name))
		return;
	fputs(" AND ", t->out);
	put_times(t, i);
}

static void put_all_times(const struct target *t, const struct source *s)
{
	if (!times_cut(&t->times, s->name))
		return;
	for (int i = 0; i < t->n; i++) {
		fputs(i ? " OR folder = " : " AND (folder = ", t->out);
		put_real(t, i);
		fputs(" AND ", t->out);
		put_times(t, i);
	}
	putc(')', t->out);
}

/* --- statements ------------------------------------------------------------------------------------------------ */

/*
 * Version 2 stores differences of successive numbers, which are short for times, and a larger row group has fewer dictionaries
 * of positions: a row of a million random reads takes 9.7 bytes instead of 11.2.
 */
static const char parquet_options[] = "COMPRESSION zstd, PARQUET_VERSION v2, ROW_GROUP_SIZE 491520";

/* Puts the statement that writes a file of host I as PATH/host=NAME/FILE.parquet. */
static void put_parquet(const struct target *t, int i, const struct source *s)
{
	const char *name = s->name;

	fprintf(t->out, "COPY (SELECT * EXCLUDE (host, folder) FROM %s WHERE folder = ", name);
	put_real(t, i);
	put_pids(t, s);
	put_path(t, s);
	put_host_times(t, i, s);
	fputs(") TO '", t->out);
	for (const char *s = t->path; *s; s++)
		fprintf(t->out, *s == '\'' ? "''" : "%c", *s);
	fputs("/host=", t->out);
	put_host(t->out, t->hosts[i]);
	fprintf(t->out, "/%s.parquet' (FORMAT parquet, %s);\n", name, parquet_options);
}

static void put_table(const struct target *t, int i, const struct source *s)
{
	fprintf(t->out, "CREATE TABLE IF NOT EXISTS dltraced_out.%s AS SELECT * FROM %s WHERE true", s->name, s->name);
	put_pids(t, s);
	put_path(t, s);
	put_all_times(t, s);
	fputs(";\n", t->out);
}

static void each_file(const struct target *t, void (*put)(const struct target *t, int i, const struct source *s))
{
	for (int i = 0; i < t->n; i++) {
		autoclose int dirfd = open(t->dirs[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		struct source s;

		for (unsigned int p = 1; p < DLT_PROBES && dirfd >= 0; p++)
			if (cut_names(t->o->probes, probes[p]->name) && has_file(dirfd, probes[p]->name, &s))
				put(t, i, &s);
		for (unsigned int c = 0; c < COLLECTOR_KINDS && dirfd >= 0; c++)
			if (cut_names(t->o->probes, collector_kinds[c].name) && has_file(dirfd, collector_kinds[c].name, &s))
				put(t, i, &s);
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

static int make_folders(const struct target *t)
{
	int res = make_folder(t->path);

	for (int i = 0; i < t->n && res == 0; i++) {
		autofree char *path = NULL;
		size_t len;
		FILE *out = open_memstream(&path, &len);

		if (!out)
			return -ENOMEM;
		fprintf(out, "%s/host=", t->path);
		put_host(out, t->hosts[i]);
		res = fclose(out) == 0 ? make_folder(path) : -ENOMEM;
	}
	return res;
}

static bool is_installed(void)
{
	return system("command -v duckdb >/dev/null 2>&1") == 0; /* NOLINT(cert-env33-c): the command is constant */
}

static int run_script(struct target *t, bool parquet)
{
	if (parquet && make_folders(t) < 0)
		return EXIT_DLTRACED;
	signal(SIGPIPE, SIG_IGN); /* if duckdb ends early, its own message says why */
	t->out = popen("duckdb -bail", "w"); /* NOLINT(cert-env33-c): likewise */
	if (!t->out)
		return EXIT_DLTRACED;
	put_script(t, parquet);
	if (pclose(t->out) == 0)
		return 0;
	log_err("duckdb failed, see above; where a file of the trace is damaged, export it with -f csv");
	return EXIT_DLTRACED;
}

int export_duckdb(const struct export_options *o, bool parquet)
{
	const int n = o->n_dirs;
	struct target t = { .out = stdout, .o = o, .path = o->out, .dirs = o->dirs, .n = n, .hosts = calloc((size_t)n, sizeof(char *)) };
	int res = t.hosts ? name_hosts(&t) : -ENOMEM;

	if (res == 0) {
		res = cut_init(&t.cut, &o->pids, o->path);
		if (res < 0)
			log_err_r(res, "--path");
	}
	if (res == 0)
		res = times_init(&t.times, &o->times, o->dirs, (unsigned int)n);
	if (res < 0) {
		res = EXIT_DLTRACED;
	} else if (is_installed()) {
		res = run_script(&t, parquet);
	} else {
		put_script(&t, parquet);
		log_info("duckdb is not installed here: its script is on standard output, for `duckdb -bail' where it is");
	}
	for (int i = 0; t.hosts && i < n; i++)
		free(t.hosts[i]);
	free(t.hosts);
	cut_free(&t.cut);
	times_free(&t.times);
	return res;
}
