/* SPDX-License-Identifier: BSD-2-Clause */
/* What a program says of itself by include/dltraced.h: the message as it came, which nothing has checked yet. */
#ifndef DLT_REGIONS_H
#define DLT_REGIONS_H

#include "dlt/dlt.h"

#define DLT_REGIONS_PRCTL 0x444c5431 /* DLTRACED_PRCTL */
#define DLT_REGIONS_HEAD 56 /* bytes of a message before its text */
#define DLT_REGIONS_BEGIN 1 /* the first byte of a message: DLTRACED_OP_BEGIN */
#define DLT_REGIONS_MSG_MAX 248
#define DLT_REGIONS_SHORT 104 /* most names without arguments: room for 48 bytes of text */

struct dlt_regions {
	struct dlt_hdr hdr;
	__u64 msg_len;
	__u8 msg[DLT_REGIONS_MSG_MAX]; /* struct dltraced_msg; a record has DLT_REGIONS_SHORT bytes of it, or all */
};

DLT_ASSERT_SIZE(dlt_regions, 304);

#endif
