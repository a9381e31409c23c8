/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of `dltraced start' as data: their names, help, and members. */
#ifndef SESSION_START_OPTIONS_H
#define SESSION_START_OPTIONS_H

#include "base/options.h"

/* Where an option is allowed beside the command line, and its properties. */
enum start_flag {
	START_IN_CONFIG = 1,  /* a key of [trace NAME] */
	START_BY_SERVICE = 2, /* a user may request it from the service */
	START_LIST = 4,	      /* may be given more than once */
	START_TARGET = 8,     /* names a target */
	START_BY_USER = 16,   /* a user's own dltraced handles it, beside the service */
};

struct config;

/* Their members are of struct config. */
extern const struct option_row start_options[];

/* Sets a config without any option. */
void start_config_defaults(struct config *cfg);

/*
 * Completes CFG after the last option. Returns what the options lack or contradict together, a constant text; or NULL, and
 * the members that follow from others are set.
 */
const char *start_config_finish(struct config *cfg);

#endif
