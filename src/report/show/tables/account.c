/* SPDX-License-Identifier: BSD-2-Clause */
/* The time of trainers and loaders by what they did, of a struct report. */
#include <stdlib.h>

#include "base/fmt.h"
#include "base/util.h"
#include "base/wrap.h"
#include "report/scan/model.h"
#include "report/show/tables/tables.h"
#include "report/why/account.h"
#include "report/why/why.h"

#define GET(name, type, row) VIEW_GET(name, struct report, r, type, row)
#define ROWS(name, type, parent) VIEW_ROWS_OF(name, struct report, r, type, parent)

#define LINES 8
#define BRIEF_LINES 1U /* main threads with a line; the loaders have one in addition */
#define BRIEF_TERMS 4U
#define BRIEF_INDENT 2U
#define LEAST 0.005 /* of the time: less is not printed */

ROWS(accounts, void, parent)
{
	for (uint32_t i = 0; r->why && i < r->why->n_accounts; i++)
		view_add(rows, &r->why->accounts[i]);
}

GET(role, struct account, a)
{
	cell->text = a->pid ? "main" : "loaders";
}

GET(pid, struct account, a)
{
	cell->known = a->pid;
	cell->n = a->pid;
}

GET(comm, struct account, a)
{
	const struct report_proc *p = a->pid ? table_find(&r->procs, a->pid) : NULL;

	cell->text = p ? p->comm : NULL;
}

GET(awaited, struct account, a)
{
	cell->text = a->awaited[0] ? a->awaited : NULL;
}

#define ACCOUNT(member) VIEW_AT(struct account, member)
/* A time that is a double. */
GET(ns, struct account, a)
{
	cell->n = (uint64_t) * (const double *)view_at(a, c);
}
#define TERM(key, head, term, text)                                                  \
	{                                                                            \
		key, head, VIEW_NS, 9, 0, ACCOUNT(ns[term]), .get = ns, .what = text \
	} /* NOLINT(bugprone-macro-parentheses): a member */

static const struct view_column columns[] = {
	{ "role", "ROLE", VIEW_TEXT, 8, .get = role,
	  .what = "main: the main thread of a process of the answer; loaders: those "
		  "of all its loaders, added up" },
	{ "pid", "PID", VIEW_ID, 8, .get = pid },
	{ "comm", "COMM", VIEW_TEXT, 16, .get = comm },
	{ "processes", NULL, VIEW_COUNT, 0, 0, ACCOUNT(n) },
	{ "wall_ns", "WALL", VIEW_NS, 9, 0, ACCOUNT(wall_ns), .get = ns,
	  .what = "the time that the report is about; the following columns add up to it" },
	TERM("cpu_ns", "CPU", ACCOUNT_CPU, "on a CPU, outside of calls on files"),
	TERM("runq_ns", "RUNQ", ACCOUNT_RUNQ, "ready to run, and waiting for a CPU"),
	TERM("read_ns", "READ", ACCOUNT_READ, "in reads of files that fetched from storage"),
	TERM("cache_ns", "CACHE", ACCOUNT_CACHE, "in other reads of files"),
	TERM("fault_ns", "FAULT", ACCOUNT_FAULT, "in page faults that waited for a mapped file, or for swap"),
	TERM("open_ns", "OPEN", ACCOUNT_OPEN, "in opens, closes, and calls that make, remove and rename files"),
	TERM("metadata_ns", "METADATA", ACCOUNT_METADATA, "asleep in stat(2), getdents(2) and the like"),
	TERM("write_ns", "WRITE", ACCOUNT_WRITE, "in writes and syncs"),
	TERM("threads_ns", "THREADS", ACCOUNT_THREADS, "waited for its other threads"),
	TERM("others_ns", "OTHERS", ACCOUNT_OTHERS, "waited for another process, or the network"),
	TERM("device_ns", "DEVICE", ACCOUNT_DEVICE, "in ioctl(2): a GPU's driver, mostly"),
	TERM("sleep_ns", "SLEEP", ACCOUNT_SLEEP, "slept for a time, or until a signal"),
	TERM("other_ns", "OTHER", ACCOUNT_OTHER,
	     "asleep in any other call; without sched.out all time that is in no row"),
	{ "others", "WHO", VIEW_TEXT, 0, .get = awaited, .what = "the processes that it waited for in OTHERS" },
	{ 0 },
};

const struct view view_account = {
	.key = "account",
	.title = "Where the time went",
	.what = "the processes of the answer, and their loaders: each moment of the main thread in one column",
	.columns = columns,
	.rows = accounts,
};

/* --- for a terminal ------------------------------------------------------------------------------------- */

static const char *const texts[ACCOUNT_TERMS] = {
	[ACCOUNT_CPU] = "on a CPU",
	[ACCOUNT_RUNQ] = "waiting for a CPU",
	[ACCOUNT_READ] = "reading from storage",
	[ACCOUNT_CACHE] = "reading from the page cache",
	[ACCOUNT_FAULT] = "page faults on mapped files",
	[ACCOUNT_OPEN] = "opening files",
	[ACCOUNT_METADATA] = "stat and directories",
	[ACCOUNT_WRITE] = "writing and syncing",
	[ACCOUNT_THREADS] = "waiting for its own threads",
	[ACCOUNT_OTHERS] = "waiting for other processes",
	[ACCOUNT_DEVICE] = "waiting for a device",
	[ACCOUNT_SLEEP] = "sleeping",
	[ACCOUNT_OTHER] = "in other calls, or not known",
};

static int larger(const void *a, const void *b)
{
	const double x = **(const double *const *)a, y = **(const double *const *)b;

	return (x < y) - (x > y);
}

/* Prints the MOST largest terms. */
static void put_terms(const struct account *account, unsigned int most, FILE *out)
{
	const double *terms[ACCOUNT_TERMS];
	const char *before = ":";

	for (unsigned int i = 0; i < ACCOUNT_TERMS; i++)
		terms[i] = &account->ns[i];
	qsort(terms, ACCOUNT_TERMS, sizeof(terms[0]), larger);
	for (unsigned int i = 0; i < most && *terms[i] >= LEAST * account->wall_ns; i++) {
		enum account_term term = (enum account_term)(terms[i] - account->ns);

		fprintf(out, "%s %s ", before,
			term == ACCOUNT_OTHERS && account->awaited[0] ? "waiting for" : texts[term]);
		if (term == ACCOUNT_OTHERS && account->awaited[0]) {
			fmt_text(out, account->awaited, 0);
			fputc(' ', out);
		}
		fprintf(out, "%.1f %%", 100 * *terms[i] / account->wall_ns);
		before = ",";
	}
}

static void put_account(const struct report *report, const struct account *account, unsigned int most, FILE *out)
{
	const struct report_proc *proc = account->pid ? table_find(&report->procs, account->pid) : NULL;

	if (proc) {
		fprintf(out, "process %u (", (unsigned int)account->pid);
		fmt_text(out, proc->comm, 0);
		fprintf(out, "), main thread, %s", FMT_NS((uint64_t)account->wall_ns));
	} else {
		fprintf(out, "%u loader%s, %s%s", account->n, account->n > 1 ? "s" : "",
			FMT_NS((uint64_t)account->wall_ns), account->n > 1 ? " in all" : "");
	}
	put_terms(account, most, out);
}

/* Prints an account in lines up to WIDTH. */
static void wrap_account(const struct report *report, const struct account *account, unsigned int width, FILE *out)
{
	autofree char *text = NULL;
	size_t len = 0;
	FILE *line = open_memstream(&text, &len);

	if (!line)
		return;
	put_account(report, account, BRIEF_TERMS, line);
	if (fclose(line) == 0)
		wrap_from(out, BRIEF_INDENT, text, width);
}

static bool has_account(const struct report *r)
{
	return r->why && r->why->has_sums && r->why->n_accounts;
}

void account_text(const struct report *report, FILE *out)
{
	const struct why *why = report->why;

	if (!has_account(report))
		return;
	fputs("Where the time went\n", out);
	for (uint32_t i = 0; i < why->n_accounts && i < LINES; i++) {
		if (why->accounts[i].wall_ns <= 0)
			continue;
		put_account(report, &why->accounts[i], ACCOUNT_TERMS, out);
		fputc('\n', out);
	}
	if (why->n_accounts > LINES)
		fprintf(out, "and %u more\n", why->n_accounts - LINES);
	fputc('\n', out);
}

void account_brief(const struct report *report, unsigned int width, FILE *out)
{
	const struct why *why = report->why;
	uint32_t n = has_account(report) ? why->n_accounts : 0, processes = 0;
	const char *head = "\nWhere the time went\n";

	/* the loaders' sum comes last */
	for (uint32_t i = 0; i < n; i++) {
		if (why->accounts[i].wall_ns <= 0)
			continue;
		processes += why->accounts[i].pid != 0;
		if (why->accounts[i].pid && processes > BRIEF_LINES)
			continue;
		fputs(head, out);
		head = "";
		wrap_account(report, &why->accounts[i], width, out);
	}
	if (processes > BRIEF_LINES)
		fprintf(out, "and %u more process%s\n", processes - BRIEF_LINES,
			processes == BRIEF_LINES + 1 ? "" : "es");
}
