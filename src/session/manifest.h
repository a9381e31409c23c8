/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * manifest.json: the origin of a trace and its completeness. The file is replaced as a whole each time, so that a
 * reader never sees half of one. Control plane. manifest_read.c reads it for reports.
 */
#ifndef SESSION_MANIFEST_H
#define SESSION_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

struct config;
struct json;
struct session;

/* Makes the constant members, which describe also this machine and its clock. Returns 0 or -ENOMEM. */
int manifest_begin(struct session *session);

/*
 * Makes the present text of manifest.json, which the caller frees. COMPLETE: the trace has ended and its files are
 * whole. Returns 0 or -ENOMEM.
 */
int manifest_text(struct session *session, bool complete, char **text_ret, size_t *len_ret);
/*
 * Writes TEXT as manifest.json of the folder DIRFD, in place of an old one; may block. The file gets the folder's
 * owner. Returns 0, or -errno with the old file still in place.
 */
int manifest_put(int dirfd, const char *text, size_t len);

/* Puts the target of CFG, a member of the open object. */
void manifest_put_target(struct json *json, const struct config *cfg);

/* Whether a manifest shows ENTRY (NAME=VALUE). */
bool manifest_shows(const char *entry);

/* Puts the variables of ENV that set up a job, secrets hidden, as members of the open object. */
void manifest_put_environ(struct json *json, char *const *env);

#endif
