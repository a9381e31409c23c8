/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A command's options as data: their names, their help, and where their values go. One table serves the
 * command line, by argp(3), configuration files and requests of other programs.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stddef.h>

struct argp_state;
struct option_gone;
struct option_line;

struct option_parse {
	void *into; /* the struct that has the members */
	char why[256]; /* room for a setter's text: option_because() */
	char **args; /* the argument that is not an option; after the last option */
	int n_args;
	const struct option_line *line;
	struct argp_state *state; /* while a command line is parsed */
};

struct option_row {
	const char *name; /* NULL: HELP is the heading of the options after it */
	char letter; /* 0: none */
	const char *arg; /* what --help calls its value; NULL: it has none */
	const char *help;
	/* Put ARG into MEMBER, at offset .member. Returns NULL, or what is wrong. */
	const char *(*set)(struct option_parse *p, void *member, char *arg);
	size_t member;
	unsigned int flags; /* the command's own */
	const char *def; /* for configuration files: the value without it */
};

/* A command line. All functions return NULL, or what is wrong. */
struct option_line {
	const struct option_row *options; /* ends with an entry that has neither name nor help */
	const struct option_gone *gone; /* ends with an entry without a name; NULL: none */
	const char *args_doc, *doc; /* for argp; ARGS_DOC NULL: it takes only options */
	const char *(*argument)(struct option_parse *p,
				char *arg); /* for each; options after it are not ours; NULL: ARGS */
	const char *(*given)(struct option_parse *p, const struct option_row *o,
			     char *arg); /* an option that has been set */
	const char *(*finish)(struct option_parse *p); /* after the last */
};

#define OPTIONS_MAX 64 /* of one command, with headings */
#define OPTION_HEADING(text)   \
	{                      \
		.help = (text) \
	}

/*
 * Parse ARGV into INTO and fill in OPTION_PARSE. Returns 0, or EINVAL after a message on stderr that names what is
 * wrong; without ARGP_NO_EXIT in FLAGS the process ends instead, also after --help.
 */
int options_parse(const struct option_line *line, int argc, char **argv, unsigned int flags,
		  struct option_parse *option_parse, void *into);

/* Returns the option NAME of OPTIONS, or NULL. */
const struct option_row *option_find(const struct option_row *options, const char *name);
/*
 * Set it by its long name, as a config file or a request does; VALUE NULL: none given. Returns NULL, or
 * what is wrong.
 */
const char *option_set(struct option_parse *p, const struct option_row *o, char *value);

/*
 * Sets the parts KEY=VALUE of ARG, which commas separate, by PARTS, whose setters keep no pointer into their value.
 * Puts what is no such part, with its commas, into *REST_RET, for free(3). Returns NULL, or what is wrong.
 */
const char *option_parts(struct option_parse *p, const struct option_row *parts, const char *arg, char **rest_ret);

/* --- setters: each gives the type of its MEMBER ------------------------------------------------------- */

/* Returns the place of ARG among the N NAMES, or N. */
unsigned int option_word(const char *const *names, unsigned int n, const char *arg);

/* Formats a text about what is wrong, in P. */
const char *option_because(struct option_parse *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

const char *option_true(struct option_parse *p, void *member, char *arg); /* bool */
const char *option_bool(struct option_parse *p, void *member, char *arg); /* bool, of yes and no */
const char *option_text(struct option_parse *p, void *member, char *arg); /* const char *, into the command line */
const char *option_time(struct option_parse *p, void *member, char *arg); /* uint64_t ns */
const char *option_moment(struct option_parse *p, void *member, char *arg); /* struct moment */
const char *option_pids(struct option_parse *p, void *member, char *arg); /* struct pids */
const char *option_duration(struct option_parse *p, void *member, char *arg); /* uint64_t ns, not 0 */
const char *option_size(struct option_parse *p, void *member, char *arg); /* uint64_t bytes */
const char *option_buffer(struct option_parse *p, void *member,
			  char *arg); /* uint64_t bytes of a ring, a page at least */

#endif
