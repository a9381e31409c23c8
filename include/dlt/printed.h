/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the target writes to its descriptors 1 and 2, stdout and stderr: the record of bpf/printed.bpf.h, with the text
 * behind it, and that of a row, which the daemon makes of a line.
 */
#ifndef DLT_PRINTED_H
#define DLT_PRINTED_H

#include "dlt/dlt.h"

#define DLT_PRINTED_MAX 8192 /* bytes of a write that are copied: the buffer of Python's and C's stdio */
#define DLT_PRINTED_IOVS 4   /* pieces of a writev that are looked at: buffered and new text, in musl and libstdc++ */

struct dlt_printed {
	struct dlt_hdr hdr;
	struct dlt_segs segs;  /* 0: the line, in a row's record alone */
	struct dlt_file_id id; /* behind the descriptor */
	__u32 fd;
	__u32 mode;  /* i_mode of the file */
	__u32 bytes; /* that were written: more than are copied, where it is cut */
	__u32 gaps;  /* another number than in the last record: writes, of whomever, were passed over since */
};

DLT_ASSERT_SIZE(dlt_printed, 88);

#endif
