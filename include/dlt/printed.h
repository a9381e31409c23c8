/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the target writes to its descriptors 1 and 2, stdout and stderr: the record of bpf/calls/printed.bpf.h,
 * with the text after it, and the record of a row, which the daemon makes from a line.
 */
#ifndef DLT_PRINTED_H
#define DLT_PRINTED_H

#include "dlt/dlt.h"

#define DLT_PRINTED_MAX 8192 /* bytes that are copied of a write: the buffer of Python's and C's stdio */
#define DLT_PRINTED_IOVS 4 /* pieces of a writev that are copied: buffered and new text, in musl and libstdc++ */

struct dlt_printed {
	struct dlt_hdr hdr;
	struct dlt_segs segs; /* 0: the line, only in a row's record */
	struct dlt_file_id id; /* the file behind the descriptor */
	__u32 fd;
	__u32 mode; /* i_mode of the file */
	__u32 bytes; /* bytes written: more than are copied, where the text is cut */
	__u32 gaps; /* differs from the last record's: writes of some process were skipped since */
};

DLT_ASSERT_SIZE(dlt_printed, 88);

#endif
