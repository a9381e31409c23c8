/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of errors. glibc has strerrorname_np() since 2.32, and the portable program runs with 2.28. */
#ifndef BASE_ERROR_NAME_H
#define BASE_ERROR_NAME_H

#include <stdint.h>

/* Returns "ENOENT" for ENOENT; NULL for a number that is no error's. */
const char *error_name(uint64_t number);

#endif
