/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last lines of `start': what the job waited for, how it ended, what is missing, where the trace is, and what to
 * run next. With the program's name before each line they fit in 80 columns; but a command is never wrapped, as users
 * copy it.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fmt.h"
#include "base/log.h"
#include "base/shell.h"
#include "base/util.h"
#include "base/wrap.h"
#include "cmd/cmd.h"
#include "cmd/traces/verdict.h"
#include "host/rights/caller.h"
#include "trace/manifest_read.h"

#define WIDTH 70U /* 80, less `dltraced: ' */
#define LABEL 9 /* columns of a fact's name */
#define LINES_MAX 2U /* of a sentence */

/* Prints TEXT in at most LINES_MAX lines of WIDTH from column INDENT on. */
static void put_text(FILE *out, unsigned int indent, const char *text)
{
	autofree char *wrapped = NULL;
	size_t len = 0, n = 0;
	FILE *IO_FILE = open_memstream(&wrapped, &len);
	unsigned int lines = 0;

	if (!IO_FILE)
		return;
	wrap_text(IO_FILE, text, indent, WIDTH);
	if (fclose(IO_FILE) != 0)
		return;
	while (n < len && lines < LINES_MAX)
		lines += wrapped[n++] == '\n';
	fwrite(wrapped, 1, n - (n < len), out);
	fputs(n < len ? " ...\n" : "", out);
}

static void put_fact(FILE *out, const char *label, const char *text)
{
	fprintf(out, "  %-*s", LABEL, label);
	put_text(out, 2 + LABEL, text);
}

const char *path_from_here(const char *dir)
{
	autofree char *cwd =
		getenv(CALLER_SERVICE) ? NULL : getcwd(NULL, 0); /* who reads the daemon's log is elsewhere */
	size_t len = cwd ? strlen(cwd) : 0;

	return len && strncmp(dir, cwd, len) == 0 && dir[len] == '/' && dir[len + 1] ? dir + len + 1 : dir;
}

static void put_job(const struct manifest_facts *facts, FILE *out)
{
	autofree char *lasted = facts->end_ns > facts->start_ns ?
					util_fmt(", traced for %s", FMT_NS(facts->end_ns - facts->start_ns)) :
					NULL;
	autofree char *text = NULL;

	if (facts->has_status)
		text = util_fmt("%s%s", FMT_ENDED(facts->status), lasted ? lasted : "");
	else if (facts->workload_pid)
		text = util_fmt("goes on as process %llu%s", (unsigned long long)facts->workload_pid,
				lasted ? lasted : "");
	else if (lasted)
		text = strdup(lasted + strlen(", "));
	if (text)
		put_fact(out, "job", text);
}

/* Prints how many processes outlive the job; not where the trace ended before the job, as then all of it still runs. */
static void put_left(const struct manifest_facts *facts, FILE *out)
{
	const bool behind_job = facts->workload_end_ns && facts->workload_end_ns <= facts->end_ns;
	autofree char *text = NULL;

	if (!facts->left_running || !behind_job)
		return;
	text = util_fmt("%s", FMT_N(facts->left_running, "process of the job still runs; --wait-all traces it",
				    "processes of the job still run; --wait-all traces them"));
	if (text)
		put_fact(out, "running", text);
}

static uint64_t lost_rows(const struct manifest_facts *m)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < m->n_probes; i++)
		n += m->probes[i].lost;
	return n;
}

static void put_missing(const struct manifest_facts *m, const struct verdict *v, FILE *out)
{
	autofree char *counted = lost_rows(m) ? util_fmt("%s lost", FMT_N(lost_rows(m), "row was", "rows were")) : NULL;
	const char *lost = counted;

	if (v && v->text)
		lost = v->missing;
	if (lost)
		put_fact(out, "missing", lost);
}

/* Prints how many processes have no allocations in the trace, where these were asked for. */
static void put_uncovered(const struct manifest_facts *m, FILE *out)
{
	const unsigned long long n = m->alloc.uncovered_processes;
	autofree char *text =
		n ? util_fmt("allocations of %s without the library of alloc", FMT_N(n, "process", "processes")) : NULL;

	if (text)
		put_fact(out, "missing", text);
}

static void put_next(const char *dir, FILE *out)
{
	char text[PATH_MAX * 4] = "dltraced report", html[PATH_MAX * 4] = "dltraced report --html report.html";

	shell_append(text, sizeof(text), dir);
	shell_append(html, sizeof(html), dir);
	fprintf(out, "  %-*s%s\n  %-*s%s\n", LABEL, "next", text, LABEL, "", html);
}

/* Prints the archive, if there is one. */
static void put_archive(const char *dir, FILE *out)
{
	autofree char *path = util_fmt("%s.tar.gz", dir);
	struct stat st;

	if (path && stat(path, &st) == 0)
		fprintf(out, "  %-*s%s (%s)\n", LABEL, "archive", path, FMT_BYTES((uint64_t)st.st_size));
}

static void put_screen(const char *dir, int dirfd, const struct verdict *verdict, bool archived, FILE *out)
{
	autofree struct manifest_facts *facts = malloc(sizeof(*facts)); /* large for a stack */
	const char *here = path_from_here(dir);

	if (!facts)
		return;
	manifest_read_at(facts, dirfd);
	if (verdict && verdict->text)
		put_text(out, 0, verdict->text);
	else if (verdict)
		put_text(out, 0,
			 verdict->late || verdict->large ?
				 "Finding out what the job waited for takes longer than a moment: run `dltraced "
				 "report'" :
				 "It is not known what the job waited for: `dltraced report' says why");
	put_job(facts, out);
	put_missing(facts, verdict, out);
	put_uncovered(facts, out);
	put_left(facts, out);
	fprintf(out, "  %-*s%s (%s)\n", LABEL, "trace", here, FMT_BYTES(verdict_trace_bytes(dirfd)));
	if (archived)
		put_archive(here, out);
	put_next(here, out);
}

void cmd_end(const char *dir, int dirfd, const struct verdict *verdict, bool archived)
{
	autofree char *text = NULL;
	size_t len = 0;
	FILE *out = log_get_level() >= LOG_LEVEL_INFO ? open_memstream(&text, &len) : NULL;
	char *rest, *line;

	if (!out)
		return;
	put_screen(dir, dirfd, verdict, archived, out);
	if (fclose(out) != 0)
		return;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		log_info("%s", line);
}
