/* SPDX-License-Identifier: BSD-2-Clause */
/* The stages of the drain, in the order in which their hooks are called. */
#ifndef DRAIN_STAGES_H
#define DRAIN_STAGES_H

struct drain_stage;

extern const struct drain_stage *const drain_stages[]; /* ended by NULL */

#endif
