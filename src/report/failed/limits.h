/* SPDX-License-Identifier: BSD-2-Clause */
/* The limit that a failure has reached: its number, and whether the job began with it. */
#ifndef REPORT_FAILED_LIMITS_H
#define REPORT_FAILED_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct failure;
struct report;

/* Returns the limit's name; NULL: none was reached, as far as is known. */
const char *failure_limit(const struct report *report, const struct failure *failure);
/* Sets *N to its number, in bytes, s, files or processes. Returns false where it is not known. */
bool failure_limit_number(const struct report *report, const struct failure *failure, uint64_t *n);
/* Puts both, and who has set it, behind the words of the failure, a call's within its brackets. */
void failure_limit_put(const struct report *report, const struct failure *failure, FILE *out);
/* Puts the size of /dev/shm, if it is what was full. */
void failure_shm_put(const struct report *report, const struct failure *failure, FILE *out);

#endif
