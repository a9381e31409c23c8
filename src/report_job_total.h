/* SPDX-License-Identifier: BSD-2-Clause */
/* What the hosts of a job have done together, as a struct report that has nothing but sums. */
#ifndef REPORT_JOB_TOTAL_H
#define REPORT_JOB_TOTAL_H

#include "report_job.h"

/* NULL: no memory. */
struct report *report_job_total(const struct report_job *job);

#endif
