/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks for what would remove the trainer's waits: the fewest workers, or another change. */
#ifndef REPORT_WHATIF_ADVICE_H
#define REPORT_WHATIF_ADVICE_H

#include "report/whatif/whatif.h"

/* Sets READY, WORKERS and HELPS of WHATIF. Returns 0 or -errno. */
int whatif_advise(struct report_whatif *whatif);

#endif
