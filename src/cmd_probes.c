/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `dltraced probes`: every file of a trace with its columns, out of the tables that also write
 * them. With --markdown the tables of docs/traces.md.
 */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "collectors.h"
#include "log.h"
#include "probe.h"

struct options {
	bool markdown;
};

static const struct argp_option option_table[] = {
	{ "markdown", 'm', NULL, 0, "As the tables of docs/traces.md", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (key != 'm')
		return ARGP_ERR_UNKNOWN;
	o->markdown = true;
	return 0;
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse_option,
	.doc = "List the files of a trace and what their columns mean. Needs no root.",
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

static void print_probe(const struct probe *p, bool markdown)
{
	printf(markdown ? "### %s.out\n\n" : "%s.out: ", p->name);
	put(p->help, markdown);
	if (!(p->flags & PROBE_SELECTABLE))
		fputs(" (not for --probes)", stdout);
	puts(markdown ? "\n\n| column | meaning |\n|---|---|" : "");
	for (unsigned int i = 0; i < p->n_fields; i++)
		print_column(p, &p->fields[i], markdown);
	putchar('\n');
}

static void print_collectors(bool markdown)
{
	puts(markdown ? "### Collectors\n\n| name | file | what |\n|---|---|---|" :
			"Collectors: TIMESTAMP and TIME of arrival, then the tool's own columns");
	for (unsigned int i = 0; collectors_name(i); i++) {
		printf(markdown ? "| %s | %s | " : "  %-11s  %s: ", collectors_name(i),
		       collectors_file(i));
		put(collectors_help(i), markdown);
		puts(markdown ? " |" : "");
	}
}

int cmd_probes(int argc, char **argv)
{
	struct options o = { 0 };

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		print_probe(probes[i], o.markdown);
	print_collectors(o.markdown);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	log_err("standard output: %s", strerror(errno));
	return CMD_EXIT_FAILURE;
}
