/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of `dltraced start' as data: their names, help, and members. */
#ifndef SESSION_START_OPTIONS_H
#define SESSION_START_OPTIONS_H

#include "base/options.h"
#include "base/options_unknown.h"

/* Where an option is allowed beside the command line, and its properties. */
enum start_flag {
	START_IN_CONFIG = 1, /* a key of [trace NAME] */
	START_BY_SERVICE = 2, /* a user may request it from the service */
	START_LIST = 4, /* may be given more than once */
	START_TARGET = 8, /* names a target */
	START_BY_USER = 16, /* with the service, the user's own process handles it */
};

struct config;

/* The offsets in it are of members of struct config. */
extern const struct option_row start_options[];
extern const struct option_gone start_gone[];

/* Sets CFG to the defaults. */
void start_config_defaults(struct config *cfg);

/*
 * Completes CFG after the last option: sets the members that follow from others, and returns NULL. If the options lack
 * something, or contradict one another, returns a constant text that says so.
 */
const char *start_config_finish(struct config *cfg);

#endif
