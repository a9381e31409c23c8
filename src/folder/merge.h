/* SPDX-License-Identifier: BSD-2-Clause */
/* The segments of a trace, plain or packed, as one plain file each. */
#ifndef FOLDER_MERGE_H
#define FOLDER_MERGE_H

/* Makes TO of FROM. Returns as copy_folder(). */
int merge_folder(const char *from, const char *to);

#endif
