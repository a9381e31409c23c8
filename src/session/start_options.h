/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of `dltraced start` as data: what they are called, their help, where they go. */
#ifndef SESSION_START_OPTIONS_H
#define SESSION_START_OPTIONS_H

#include "base/options.h"

/* Where else than on the command line an option is known, and what it is there. */
enum start_flag {
	START_IN_CONFIG = 1,  /* a key of [trace NAME] */
	START_BY_SERVICE = 2, /* a user may ask the service for it */
	START_LIST = 4,	      /* may be given more than once */
	START_TARGET = 8,     /* says what to trace */
	START_BY_USER = 16,   /* a user's own dltraced does it, beside the service */
};

struct config;

/* Into a struct config. */
extern const struct option_row start_options[];

/* A config as without any option. */
void start_config_defaults(struct config *cfg);

/*
 * After the last option, wherever they were given: what they lack or contradict together, which is a text that does not
 * change; or NULL, with what follows from them filled in.
 */
const char *start_config_finish(struct config *cfg);

#endif
