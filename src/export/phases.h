/* SPDX-License-Identifier: BSD-2-Clause */
/* The phases of a folder's job, as the report finds them in the job's output and its marks. */
#ifndef EXPORT_PHASES_H
#define EXPORT_PHASES_H

#include "report/phases/phases.h"

/* Reads the phases of the folder DIRFD into *RET, and ends them (phases_end()). Returns 0 or -ENOMEM. */
int export_phases(struct phases **ret, int dirfd);

#endif
