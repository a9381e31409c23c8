/* SPDX-License-Identifier: BSD-2-Clause */
/* What failed, in words for people: the text, the JSON and the rules have the same. */
#ifndef REPORT_FAILED_SENTENCE_H
#define REPORT_FAILED_SENTENCE_H

#include <stdint.h>

struct failure;
struct report;

/*
 * Returns who did what, how often, when, the error and the place, in a line to be freed; names are as in the files.
 * NULL when memory is out.
 */
char *failure_sentence(const struct report *report, const struct failure *failure);
/* Returns what is to be done. */
const char *failure_advice(const struct failure *failure);
/* Returns the error's, signal's or status's name in BUF: ENOSPC, SIGKILL, 3. */
#define FAILURE_NAME_BUF 24
const char *failure_code(const struct failure *failure, char buf[static FAILURE_NAME_BUF]);
/* Returns AT_NS since the trace began. */
uint64_t failure_after_ns(const struct report *report, uint64_t at_ns);

#endif
