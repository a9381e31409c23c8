/* SPDX-License-Identifier: BSD-2-Clause */
/* Several clocks read at one moment: a record that the daemon itself makes. */
#ifndef DLT_TIME_ALIGN_H
#define DLT_TIME_ALIGN_H

#include "dlt/dlt.h"

enum dlt_time_event { DLT_TIME_START, DLT_TIME_TICK, DLT_TIME_STEP, DLT_TIME_ADJUST, DLT_TIME_END };

struct dlt_time_align {
	struct dlt_hdr hdr;
	__u64 realtime_ns, boottime_ns, error_ns;
	__u32 event;
	__u32 pad;
};

#endif
