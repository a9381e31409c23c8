/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Changes of a job: "storage=2x,workers=8". Each is a row of a table: its name, its value, what it does to the model,
 * and when an epoch does not show what it would do.
 */
#ifndef REPORT_WHATIF_CHANGE_H
#define REPORT_WHATIF_CHANGE_H

#include <stddef.h>

#include "report/whatif/services.h"

#define WHATIF_CHANGES_MAX 8U
#define WHATIF_TEXT_MAX 128U

struct whatif_key;

struct whatif_change {
	char text[WHATIF_TEXT_MAX]; /* as given */
	unsigned int n;
	struct {
		const struct whatif_key *key;
		double value;
	} items[WHATIF_CHANGES_MAX];
};

/* What a change is judged by: the base. */
struct whatif_base {
	struct whatif_model model; /* as replayed */
	struct whatif_facts facts;
	double cpus; /* of the machine that the job may use; more than the model's under a quota */
	bool quota; /* the CPU quota of its cgroup was used up */
	bool helpers; /* other threads of the workers read */
	bool cpus_full; /* hardly a CPU was idle, or threads waited long for one */
};

/* Parses TEXT. Returns NULL, or what is wrong with it, in WHY or a literal. */
const char *whatif_change_parse(struct whatif_change *change, const char *text, char *why, size_t size);
/* Returns why BASE does not show what CHANGE would do, a literal; NULL: it does. */
const char *whatif_change_refused(const struct whatif_change *change, const struct whatif_base *base);
/* Makes the change to MODEL, whose arrays are its own. */
void whatif_change_apply(const struct whatif_change *change, struct whatif_model *model,
			 const struct whatif_base *base);

#endif
