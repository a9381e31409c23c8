/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of errors that a limit of this process (ulimit) may be the reason of, with the limit. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

/*
 * Returns the text of strerror(3) for R, a -errno; where a limit is set that causes such an error, with it and how to
 * raise it. The text lasts until the thread's next call.
 */
const char *limits_strerror(int r);

#endif
