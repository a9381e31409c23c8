/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes the model of an epoch of what was gathered on it. */
#ifndef REPORT_WHATIF_SERVICES_H
#define REPORT_WHATIF_SERVICES_H

#include "report/whatif/gather.h"

/* What else the epoch shows: a base for predictions. */
struct whatif_facts {
	double measured_ns; /* the part of the epoch that is looked at */
	double run_ns, queue_ns; /* of its batches and steps: on CPUs, and ready to run */
	double work_ns; /* batches, added up, without waits for a CPU */
	double storage_ns, remote_ns, net_ns; /* of these; storage: of disks and file servers */
	double save_ns; /* of steps, in checkpoints */
	double deliver_most_ns; /* where it is not known how long it takes to hand on a batch */
	bool deliver_known; /* the trainer waited for batches, so the end of its wait shows that */
};

/* Makes *MODEL, whose arrays the caller frees, also after an error. CPUS: that the job may use. Returns 0 or -ENOMEM.
 */
int whatif_services(const struct whatif_gather *gather, double cpus, struct whatif_model *model,
		    struct whatif_facts *facts);

#endif
