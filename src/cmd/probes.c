/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `dltraced probes`: prints every file of a trace with its columns, from the tables by which the files are written, and the
 * backend of each probe on this machine, which it finds by loading all programs, if that is permitted. With --markdown it
 * prints the tables of docs/traces.md, with --duckdb views for DuckDB, with --json what a program needs to read the files:
 * these are equal on every machine.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "base/options.h"
#include "cmd/cmd.h"
#include "cmd/duckdb.h"
#include "cmd/probes_json.h"
#include "collectors/kinds.h"
#include "kernel/tracer.h"
#include "os/terminal.h"
#include "trace/probe.h"

struct options {
	bool duckdb, json, markdown;
};

static const struct option_row options[] = {
	{ "duckdb", 0, NULL, "Print SQL instead: views for DuckDB, with typed columns", option_true, offsetof(struct options, duckdb) },
	{ "json", 'j', NULL, "Print JSON instead: files, and their columns with types and units", option_true,
	  offsetof(struct options, json) },
	{ "markdown", 'm', NULL, "Print the tables of docs/traces.md instead", option_true, offsetof(struct options, markdown) },
	{ 0 },
};

static const struct option_line line = {
	.options = options,
	.doc = "List the files of a trace and the meaning of their columns, and for root the backend that "
	       "each probe would use here.",
};

static void put(const char *text, bool markdown)
{
	for (; *text; text++) {
		if (markdown && strchr("*<\\|", *text))
			putchar('\\');
		putchar(*text);
	}
}

static void print_column(const struct probe *p, const struct field *f, bool markdown)
{
	printf(markdown ? "| %s | " : "  %-11s  ", f->name);
	put(f->help, markdown);
	for (unsigned int i = 0; f->kind == FIELD_FUNC && i < p->n_calls; i++)
		if (!p->calls[i].no_row)
			printf("%s%s", i ? ", " : ": ", p->calls[i].name);
	puts(markdown ? " |" : "");
}

/* Prints the backend of probe I on this machine. T has all programs loaded; NULL: that was not possible. */
static void print_backend(const struct tracer *t, unsigned int i)
{
	const struct backend_kind *backend;

	if (!t || !probes[i]->open)
		return;
	backend = t->backends[i];
	if (!(t->probes >> i & 1) && probes[i]->flags & PROBE_SELECTABLE)
		printf("  cannot be traced here: %s\n", t->why[i] ? t->why[i] : t->error);
	else if (backend)
		printf("  backend here: %s (%s)%s%s\n", backend->name, backend->hooks,
		       t->why[i] ? "; not " : "", t->why[i] ? t->why[i] : "");
	else
		printf("  backend here: tracepoint%s%s\n", t->plain[i] ? "; " : "", t->plain[i] ? t->plain[i] : "");
}

static void print_probe(const struct probe *p, const struct tracer *t, unsigned int i, bool markdown)
{
	printf(markdown ? "### %s.out\n\n" : "%s.out: ", p->name);
	put(p->help, markdown);
	if (!(p->flags & PROBE_SELECTABLE))
		fputs(" (not for --probes)", stdout);
	else if (p->flags & PROBE_ON_DEMAND)
		printf(markdown ? " (off by default: `--probes +%s`)" : " (off by default: --probes +%s)", p->name);
	puts(markdown ? "\n\n| column | meaning |\n|---|---|" : "");
	print_backend(t, i);
	for (unsigned int i = 0; i < p->n_fields; i++)
		print_column(p, &p->fields[i], markdown);
	putchar('\n');
}

static void print_collectors(bool markdown)
{
	puts(markdown ? "### Collectors\n\n| name | file | what |\n|---|---|---|" :
			"Collectors: TIMESTAMP and TIME of arrival, then the tool's own columns");
	for (unsigned int i = 0; i < COLLECTOR_KINDS; i++) {
		printf(markdown ? "| %s | %s | " : "  %-11s  %s: ", collector_kinds[i].name, collector_kinds[i].file);
		put(collector_kinds[i].help, markdown);
		puts(markdown ? " |" : "");
	}
}

/* Loads everything, attaches nothing. Returns T, or NULL after a message. */
static struct tracer *load_all(struct tracer *t)
{
	const struct tracer_options o = {
		.probes = probe_mask_of(PROBE_SELECTABLE, 0),
		.buffer_bytes = 4096,
		.may_lack = PROBE_ALL,
	};
	char error[512];
	int r = tracer_check(error, sizeof(error));

	if (r < 0) {
		log_info("backends not known: %s", error);
		return NULL;
	}
	r = tracer_load(t, &o);
	if (r < 0)
		log_info("backends not known: %s", t->error);
	return r < 0 ? NULL : t;
}

int cmd_probes(int argc, char **argv)
{
	struct tracer tracer = {}, *t;
	struct option_parse p;
	struct options o = {};
	int r;

	options_parse(&line, argc, argv, 0, &p, &o);
	if (o.duckdb) {
		duckdb_print_views(stdout);
		return 0;
	}
	if (o.json) {
		r = probes_json_print(stdout);
		if (r < 0)
			log_err_r(r, "no JSON");
		return r < 0 ? EXIT_DLTRACED : 0;
	}
	t = o.markdown ? NULL : load_all(&tracer);
	if (!o.markdown)
		terminal_fold();
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		print_probe(probes[i], t, i, o.markdown);
	tracer_free(&tracer);
	print_collectors(o.markdown);
	terminal_unfold();
	return 0;
}
