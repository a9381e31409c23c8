/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times and sizes as written on command lines and in configurations. Pure. All return 0 or -EINVAL, also
 * for values beyond 64 bits.
 */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdint.h>

/* "500ms", "30", "30s", "0.5s", "5m", "1h30m", "2d" to ns; the last part may have a fraction. */
int units_parse_time(const char *s, uint64_t *ns_ret);
/* "123", "4K", "64M", "1G", "2T" to bytes. */
int units_parse_size(const char *s, uint64_t *bytes_ret);
/*
 * A size with its unit (64M) or a time with its (10m), which the unit distinguishes: sets one of the two,
 * and leaves the other.
 */
int units_parse_size_or_time(const char *s, uint64_t *bytes_ret, uint64_t *ns_ret);

#endif
