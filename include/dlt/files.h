/* SPDX-License-Identifier: BSD-2-Clause */
/* A file's identity and path, sent before its first use: a row of files.out. */
#ifndef DLT_FILES_H
#define DLT_FILES_H

#include "dlt/dlt.h"

struct dlt_files {
	struct dlt_hdr hdr;
	struct dlt_file file;
	struct dlt_segs segs; /* 0: the path walked from the dentry */
};

DLT_ASSERT_SIZE(dlt_files, 128);

#endif
