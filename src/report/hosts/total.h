/* SPDX-License-Identifier: BSD-2-Clause */
/* What the hosts of a job have done together, as a struct report that has nothing but sums. */
#ifndef REPORT_HOSTS_TOTAL_H
#define REPORT_HOSTS_TOTAL_H

#include "report/hosts/hosts.h"

/* So many of its first notes are report_job_doubts(). NULL: no memory. */
struct report *report_job_total(const struct report_job *job, unsigned int *n_doubts);

#endif
