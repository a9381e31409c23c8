/* SPDX-License-Identifier: BSD-2-Clause */
/* A user's note about the job while it runs (dltraced mark): a record that the daemon itself makes. */
#ifndef DLT_MARKS_H
#define DLT_MARKS_H

#include "dlt/dlt.h"

#define DLT_MARK_TEXT_MAX 4096 /* bytes, without the NUL */

struct dlt_marks {
	struct dlt_hdr hdr; /* tgid: the process that sent it */
	struct dlt_segs segs; /* 0: the text */
};

DLT_ASSERT_SIZE(dlt_marks, 56);

#endif
