/* SPDX-License-Identifier: BSD-2-Clause */
/* A copy of a manifest, or of any JSON text, with some values in place of others; all else stays byte for byte. */
#ifndef TRACE_MANIFEST_EDIT_H
#define TRACE_MANIFEST_EDIT_H

#include <stddef.h>

#include "base/json_read.h"

/*
 * Returns the JSON text to put in place of the value at PATH, for free(); NULL: it stays. Arguments as those of
 * json_read_fn; what takes the place of an object or array (JSON_OPEN) takes that of all its members.
 */
typedef char *manifest_edit_fn(void *ctx, const char *path, enum json_event event, const char *text, size_t len);

/*
 * Copies the LEN bytes of TEXT, an object, to *RET, for free(). FIRST: members to put before the others, with a comma
 * after each; NULL: none. Returns 0, -EBADMSG when TEXT is malformed, or -ENOMEM.
 */
int manifest_edit(const char *text, size_t len, const char *first, manifest_edit_fn *fn, void *ctx, char **ret);

#endif
