/* SPDX-License-Identifier: BSD-2-Clause */
/* close and close_range: the record of bpf/calls/close.bpf.c. */
#ifndef DLT_CLOSE_H
#define DLT_CLOSE_H

#include "dlt/dlt.h"

/* dlt_callinfo.shape */
#define DLT_CLOSE_RANGE 1

struct dlt_close {
	struct dlt_hdr hdr;
	struct dlt_file_id id;
	__s64 ret;
	__s64 fd;
	__s64 last; /* close_range's last fd, else DLT_NONE */
};

DLT_ASSERT_SIZE(dlt_close, 88);

#endif
