/* SPDX-License-Identifier: BSD-2-Clause */
/* MD5 (RFC 1321), by which .pfw traces name strings. Not for secrets. Pure. */
#ifndef EXPORT_MD5_H
#define EXPORT_MD5_H

#include <stddef.h>
#include <stdint.h>

void md5(const void *data, size_t len, uint8_t digest[16]);

#endif
