/* SPDX-License-Identifier: BSD-2-Clause */
/* Setters of the options of alloc and access: see struct option_row. Each of them selects its probe, too. */
#ifndef SESSION_MEMORY_OPTIONS_H
#define SESSION_MEMORY_OPTIONS_H

struct option_parse;

const char *memory_set_access(struct option_parse *p, void *member, char *arg);
const char *memory_set_alloc(struct option_parse *p, void *member, char *arg);

#endif
