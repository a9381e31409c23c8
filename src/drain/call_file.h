/* SPDX-License-Identifier: BSD-2-Clause */
/* Which file a call in flight is about, by its arguments. */
#ifndef DRAIN_CALL_FILE_H
#define DRAIN_CALL_FILE_H

#include <stdint.h>

struct dlt_call;

/*
 * What file CALL is about: the address of the path that it was given in its process's memory, else 0; its
 * descriptor, with a path that of the folder which this is relative to (AT_FDCWD), else DLT_NONE.
 */
void call_file(const struct dlt_call *call, int64_t *fd_ret, uint64_t *addr_ret);

#endif
