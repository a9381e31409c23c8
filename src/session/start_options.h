/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of `dltraced start` as data: what they are called, their help, where they go. */
#ifndef SESSION_START_OPTIONS_H
#define SESSION_START_OPTIONS_H

#include <stddef.h>

struct config;

struct start_parse {
	struct config *cfg;
	char why[256]; /* room for a setter's text */
};

struct start_option {
	const char *name; /* NULL: HELP is the heading of those that follow */
	char letter;	  /* 0: none */
	const char *arg;  /* what --help calls its value; NULL: it takes none */
	const char *help;
	/* Put ARG into MEMBER, at offset .member of the config: NULL, or what is wrong. */
	const char *(*set)(struct start_parse *p, void *member, char *arg);
	size_t member;
};

#define START_OPTIONS_MAX 56

/* The option NAME, or NULL. */
const struct start_option *start_option_find(const char *name);

/*
 * Set it by its long name, as a config file or a request does; VALUE NULL: none given. NULL, or what is
 * wrong with the value.
 */
const char *start_option_set(struct start_parse *p, const struct start_option *o, char *value);

/* Ends with neither name nor help. */
extern const struct start_option start_options[];

#endif
