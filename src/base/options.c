/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/options.h"

#include <argp.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fmt.h"
#include "base/moment.h"
#include "base/options_unknown.h"
#include "base/pids.h"
#include "base/units.h"
#include "base/util.h"

#define LONG_ONLY 0x100 /* keys of options without a letter: above every char */
#define HELP_LETTER 'h'
#define BUFFER_MIN_BYTES 4096 /* a BPF ring is at least one page */

/* --- the table ---------------------------------------------------------------------------------------------- */

const struct option_row *option_find(const struct option_row *options, const char *name)
{
	for (const struct option_row *o = options; o->name || o->help; o++)
		if (o->name && strcmp(o->name, name) == 0)
			return o;
	return NULL;
}

const char *option_set(struct option_parse *p, const struct option_row *o, char *value)
{
	if (o->arg && !value)
		return "lacks its value";
	if (!o->arg && value)
		return "takes no value";
	return value && !*value ? "empty" : o->set(p, (char *)p->into + o->member, value);
}

const char *option_parts(struct option_parse *p, const struct option_row *parts, const char *arg, char **rest_ret)
{
	autofree char *copy = strdup(arg), *rest = calloc(1, strlen(arg) + 1);
	const char *why = copy && rest ? NULL : strerror(ENOMEM);
	char *next = copy, *part, *end = rest;

	while (!why && (part = strsep(&next, ","))) {
		char *value = part + strcspn(part, "=");
		const bool has_value = *value;
		autofree char *text = NULL;
		const struct option_row *row;

		*value = '\0';
		row = has_value ? option_find(parts, part) : NULL;
		if (row)
			why = option_set(p, row, value + 1);
		else
			end += sprintf(end, "%s%s%s%s", end > rest ? "," : "", part, has_value ? "=" : "",
				       has_value ? value + 1 : "");
		text = why ? util_fmt("%s: %s", part, why) : NULL;
		why = text ? option_because(p, "%s", text) : why;
	}
	*rest_ret = TAKE_PTR(rest);
	return why;
}

/* --- the command line ----------------------------------------------------------------------------------------- */

static int key_of(const struct option_line *line, const struct option_row *o)
{
	if (!o->name)
		return 0;
	return o->letter ? o->letter : LONG_ONLY + (int)(o - line->options);
}

/* argp_error() returns in tests only. */
static error_t refuse(const struct option_parse *p, const char *why)
{
	if (!why)
		return 0;
	argp_error(p->state, "%s", why);
	return EINVAL;
}

static error_t take_option(struct option_parse *p, const struct option_row *o, char *arg)
{
	const char *why = option_set(p, o, arg);

	if (why) {
		argp_error(p->state, arg ? "--%s '%s': %s" : "--%s%.0s: %s", o->name, arg ? arg : "", why);
		return EINVAL;
	}
	return p->line->given ? refuse(p, p->line->given(p, o, arg)) : 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct option_parse *option_parse = state->input;
	const struct option_line *line = option_parse->line;

	option_parse->state = state;
	switch (key) {
	case ARGP_KEY_ARG:
		return line->argument ? refuse(option_parse, line->argument(option_parse, arg)) : ARGP_ERR_UNKNOWN;
	case ARGP_KEY_ARGS:
		if (!line->args_doc)
			return ARGP_ERR_UNKNOWN;
		option_parse->args = state->argv + state->next;
		option_parse->n_args = state->argc - state->next;
		return 0;
	case HELP_LETTER:
		argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_END:
		return line->finish ? refuse(option_parse, line->finish(option_parse)) : 0;
	default:
		break;
	}
	for (const struct option_row *o = line->options; o && (o->name || o->help); o++)
		if (o->name && key_of(line, o) == key)
			return take_option(option_parse, o, arg);
	return ARGP_ERR_UNKNOWN;
}

/* The options as getopt takes them, for options_unknown(). */
static void put_forms(const struct option_line *line, struct options_forms *forms)
{
	char *letters = stpcpy(forms->letters, "-h?");
	size_t n = 0;

	forms->gone = line->gone;
	forms->names[n++] = (struct option){ .name = "help", .val = LONG_ONLY }; /* argp's own */
	forms->names[n++] = (struct option){ .name = "usage", .val = LONG_ONLY };
	for (const struct option_row *o = line->options; o && (o->name || o->help) && n + 1 < OPTIONS_FORMS; o++) {
		if (!o->name)
			continue;
		forms->names[n++] = (struct option){ .name = o->name,
						     .has_arg = o->arg ? required_argument : no_argument,
						     .val = LONG_ONLY };
		if (o->letter)
			letters += sprintf(letters, "%c%s", o->letter, o->arg ? ":" : "");
	}
}

int options_parse(const struct option_line *line, int argc, char **argv, unsigned int flags,
		  struct option_parse *option_parse, void *into)
{
	struct argp_option options[OPTIONS_MAX + 1] = { 0 };
	const struct argp argp = { .options = options, .parser = parse, .args_doc = line->args_doc, .doc = line->doc };
	struct options_forms forms = { 0 };
	char unknown[256];
	const char *why;
	size_t i = 0;

	for (; line->options && i + 1 < OPTIONS_MAX && (line->options[i].name || line->options[i].help); i++)
		options[i] = (struct argp_option){
			.name = line->options[i].name,
			.key = key_of(line, &line->options[i]),
			.arg = line->options[i].arg,
			.doc = line->options[i].help,
		};
	options[i] =
		(struct argp_option){ .key = HELP_LETTER, .flags = OPTION_HIDDEN }; /* argp's own are --help and -? */
	*option_parse = (struct option_parse){ .into = into, .line = line };
	put_forms(line, &forms);
	why = options_unknown(&forms, argc, argv, flags & ARGP_IN_ORDER, unknown, sizeof(unknown));
	if (why) { /* not from ARGP_KEY_INIT: glibc's argp_parse() frees nothing after an error of that */
		struct argp_state state = { .root_argp = &argp,
					    .argc = argc,
					    .argv = argv,
					    .flags = flags,
					    .name = argv[0],
					    .err_stream = stderr,
					    .out_stream = stdout };

		option_parse->state = &state;
		return refuse(option_parse, why);
	}
	return argp_parse(&argp, argc, argv, flags, NULL, option_parse);
}

/* --- setters ------------------------------------------------------------------------------------------------------ */

const char *option_because(struct option_parse *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->why, sizeof(p->why), fmt, ap);
	va_end(ap);
	return p->why;
}

unsigned int option_word(const char *const *names, unsigned int n, const char *arg)
{
	unsigned int i = 0;

	while (i < n && strcmp(names[i], arg))
		i++;
	return i;
}

const char *option_true(struct option_parse *p, void *member, char *arg)
{
	*(bool *)member = true;
	return NULL;
}

const char *option_bool(struct option_parse *p, void *member, char *arg)
{
	*(bool *)member = !strcmp(arg, "yes");
	return *(bool *)member || !strcmp(arg, "no") ? NULL : "not yes or no";
}

const char *option_text(struct option_parse *p, void *member, char *arg)
{
	*(const char **)member = arg;
	return NULL;
}

const char *option_time(struct option_parse *p, void *member, char *arg)
{
	return units_parse_time(arg, member) < 0 ? "not a time (500ms, 30, 30s, 5m, 1h30m)" : NULL;
}

const char *option_moment(struct option_parse *p, void *member, char *arg)
{
	return moment_parse(member, arg) < 0 ?
		       "neither a time since the start (90, 1m30s, 250ms) nor UTC (2026-11-27T04:00:00Z)" :
		       NULL;
}

const char *option_pids(struct option_parse *p, void *member, char *arg)
{
	return pids_parse(member, arg) < 0 ?
		       option_because(p, "not a list of at most %u numbers, as 4711,4712", PIDS_MAX) :
		       NULL;
}

const char *option_duration(struct option_parse *p, void *member, char *arg)
{
	const char *why = option_time(p, member, arg);

	return why || *(uint64_t *)member ? why : "not more than zero";
}

const char *option_size(struct option_parse *p, void *member, char *arg)
{
	return units_parse_size(arg, member) < 0 ? "not a size (4096, 64K, 2M, 1G)" : NULL;
}

const char *option_buffer(struct option_parse *p, void *member, char *arg)
{
	const uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	const char *why = option_size(p, member, arg);

	if (why)
		return why;
	if (*(uint64_t *)member > memory)
		return option_because(p, "more than this machine's memory (%s)", FMT_BYTES(memory));
	return *(uint64_t *)member >= BUFFER_MIN_BYTES ? NULL : "less than a page (4K)";
}
