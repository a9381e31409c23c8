/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of a range. Its name is "DOMAIN.MESSAGE", "nvtx.MESSAGE" in the domain that every program has: so CAT is the
 * domain. A message that begins with "ai." is the whole name: with NVTX alone, a program can mark what the report
 * knows. Arguments are its category and its payload where that is an integer; to those of "ai." it is the epoch or the
 * step.
 */
#ifndef INJECT_LABEL_H
#define INJECT_LABEL_H

#include <stdbool.h>

#include "dltraced.h"
#include "nvtx_abi.h"
#include "text.h"

struct range {
	dltraced_region region; /* REGION.NAME is NAME */
	const struct text *domain;
	char name[DLTRACED_NAME_MAX + 1];
};

/* What a call of NVTX passes: one of the three. */
struct label {
	const struct text *domain; /* NULL: the one of every program */
	const char *ascii;
	const wchar_t *wide;
	const struct nvtx_attributes *attributes;
};

/* R begins now, with the text of L. */
void label_begin(struct range *r, const struct label *l);
/* L as an instant. */
void label_mark(const struct label *l);
/* A fact about the process, with LEN bytes of ARGS. */
void label_fact(const char *name, const char *args, size_t len);
/*
 * A range gets no row because of WHY: a fact about the process says so, once for each REPORTED, which begins as false.
 * LABEL_LIMIT is the text of a number, for WHY.
 */
void label_lost(bool *reported, const char *why);
#define LABEL_LIMIT(n) LABEL_LIMIT_(n)
#define LABEL_LIMIT_(n) #n

#endif
