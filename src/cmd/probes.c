/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `dltraced probes`: prints every file of a trace with its columns, from the tables by which the files are written, and
 * the backend of each probe on this machine, which it finds by loading all programs, if that is permitted. With
 * --markdown it prints tables (of one PROBE, the table on its page in docs/traces), with --duckdb views for DuckDB,
 * with --json what a program needs to read the files: these are equal on every machine.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "base/options.h"
#include "base/similar.h"
#include "base/util.h"
#include "cmd/cmd.h"
#include "cmd/duckdb.h"
#include "cmd/probes_json.h"
#include "collectors/kinds.h"
#include "dlt/sync.h"
#include "kernel/tracer.h"
#include "os/terminal.h"
#include "trace/probe.h"

struct options {
	bool duckdb, json, markdown;
};

static const struct option_row options[] = {
	{ "duckdb", 0, NULL, "Print SQL instead: views for DuckDB, with typed columns", option_true,
	  offsetof(struct options, duckdb) },
	{ "json", 'j', NULL, "Print JSON instead: files, and their columns with types and units", option_true,
	  offsetof(struct options, json) },
	{ "markdown", 'm', NULL, "Print tables in Markdown instead; of one PROBE, the table on its page in docs/traces",
	  option_true, offsetof(struct options, markdown) },
	{ 0 },
};

static const char *no_file(struct option_parse *parse, const char *name)
{
	struct similar s = similar_to(name, strlen(name));
	char hint[64];

	for (unsigned int i = 1; i < DLT_PROBES; i++)
		similar_offer(&s, probes[i]->name);
	return option_because(parse, "no file of a trace is '%.64s.out'%s (`dltraced probes' lists them)", name,
			      similar_text(&s, "", hint, sizeof(hint)));
}

static const char *one_probe(struct option_parse *parse)
{
	const struct options *o = parse->into;

	if (parse->n_args > 1)
		return "one probe at a time";
	if (parse->n_args && (o->duckdb || o->json))
		return "--duckdb and --json print all files";
	if (parse->n_args && !probe_find(parse->args[0]))
		return no_file(parse, parse->args[0]);
	return NULL;
}

static const struct option_line line = {
	.options = options,
	.args_doc = "[PROBE]",
	.doc = "List the files of a trace, or only the file of PROBE, and the meaning of their columns, and for root "
	       "the backend that each probe would use here.",
	.finish = one_probe,
};

/* The columns that docs/traces.md explains once for all files. */
static const struct field shared[] = {
	FIELDS_HEAD(struct dlt_sync),
	FIELD_FID_OF(struct dlt_sync, id),
	FIELD_FILE_OF(struct dlt_sync, id),
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
	/* of another probe's calls, its page has the list */
	for (unsigned int i = 0; f->kind == FIELD_FUNC && !f->arg && i < p->n_calls; i++)
		if (!p->calls[i].no_row)
			printf("%s%s", i ? ", " : ": ", p->calls[i].name);
	puts(markdown ? " |" : "");
}

static bool is_shared(const struct field *f)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(shared); i++)
		if (strcmp(f->name, shared[i].name) == 0 && strcmp(f->help, shared[i].help) == 0)
			return true;
	return false;
}

/* The table on the page of PROBE in docs/traces: neighbors that all files share have one row. */
static void print_page_table(const struct probe *probe)
{
	puts("| column | meaning |\n|---|---|");
	for (const struct field *f = probe->fields, *end = f + probe->n_fields; f < end; f++) {
		if (!is_shared(f)) {
			print_column(probe, f, true);
			continue;
		}
		printf("| %s", f->name);
		for (; f + 1 < end && is_shared(f + 1); f++)
			printf(", %s", f[1].name);
		puts(" | [shared](../traces.md#columns-of-every-file) |");
	}
}

/* Prints the backend of probe I on this machine. TRACER has all programs loaded; NULL: that was not possible. */
static void print_backend(const struct tracer *tracer, unsigned int i)
{
	const struct backend_kind *backend;

	if (!tracer || !probes[i]->open)
		return;
	backend = tracer->backends[i];
	if (!(tracer->probes >> i & 1) && probes[i]->flags & PROBE_SELECTABLE)
		printf("  cannot be traced here: %s\n", tracer->why[i] ? tracer->why[i] : tracer->error);
	else if (backend)
		printf("  backend here: %s (%s)%s%s\n", backend->name, backend->hooks, tracer->why[i] ? "; not " : "",
		       tracer->why[i] ? tracer->why[i] : "");
	else
		printf("  backend here: tracepoint%s%s\n", tracer->plain[i] ? "; " : "",
		       tracer->plain[i] ? tracer->plain[i] : "");
}

static void print_probe(const struct probe *probe, const struct tracer *tracer, unsigned int i, bool markdown)
{
	printf(markdown ? "### %s.out\n\n" : "%s.out: ", probe->name);
	put(probe->help, markdown);
	if (!(probe->flags & PROBE_SELECTABLE))
		fputs(" (not for --probes)", stdout);
	else if (probe->option)
		printf(markdown ? " (off by default: `%s`)" : " (off by default: %s)", probe->option);
	else if (probe->flags & PROBE_ON_DEMAND)
		printf(markdown ? " (off by default: `--probes +%s`)" : " (off by default: --probes +%s)", probe->name);
	puts(markdown ? "\n\n| column | meaning |\n|---|---|" : "");
	print_backend(tracer, i);
	for (unsigned int i = 0; i < probe->n_fields; i++)
		print_column(probe, &probe->fields[i], markdown);
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

/* Loads everything, attaches nothing. Returns TRACER, or NULL after a message. */
static struct tracer *load_all(struct tracer *tracer)
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
	r = tracer_load(tracer, &o);
	if (r < 0)
		log_info("backends not known: %s", tracer->error);
	return r < 0 ? NULL : tracer;
}

int cmd_probes(int argc, char **argv)
{
	struct tracer tracer = {}, *t;
	struct option_parse p;
	struct options o = {};
	unsigned int one;
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
	one = p.n_args ? probe_find(p.args[0]) : 0;
	if (one && o.markdown) {
		print_page_table(probes[one]);
		return 0;
	}
	t = o.markdown ? NULL : load_all(&tracer);
	if (!o.markdown)
		terminal_fold();
	for (unsigned int i = one ? one : 1; i < (one ? one + 1 : DLT_PROBES); i++)
		print_probe(probes[i], t, i, o.markdown);
	tracer_free(&tracer);
	if (!one)
		print_collectors(o.markdown);
	terminal_unfold();
	return 0;
}
