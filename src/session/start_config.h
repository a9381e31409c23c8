/* SPDX-License-Identifier: BSD-2-Clause */
/* What the options of a start come to together, wherever they were given. */
#ifndef SESSION_START_CONFIG_H
#define SESSION_START_CONFIG_H

struct config;

/* A config as without any option. */
void start_config_defaults(struct config *cfg);

/*
 * After the last option: what they lack or contradict together, which is a text that does not change;
 * or NULL, with what follows from them filled in.
 */
const char *start_config_finish(struct config *cfg);

#endif
