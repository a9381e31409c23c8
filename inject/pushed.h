/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ranges of a thread that have been pushed and not popped. Those of one domain nest; those of different domains
 * need not, so a pop ends the last one of its own domain.
 */
#ifndef INJECT_PUSHED_H
#define INJECT_PUSHED_H

#include "label.h"

#define PUSHED_MAX 1024 /* of a thread; those within have no rows, and a fact `nvtx.not_recorded' says so */

void pushed_init(void);

/* Return the level of the range in its domain, from 0 on; negative: there is none. */
int pushed_push(const struct label *label);
int pushed_pop(const struct text *domain);

#endif
