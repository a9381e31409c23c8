/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * manifest.json: the origin of a trace and its completeness. The file is replaced as a whole each time, so that a reader
 * never sees half of one. Control plane. manifest_read.c reads it for reports.
 */
#ifndef SESSION_MANIFEST_H
#define SESSION_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

struct config;
struct session;

/* One instant on both clocks; zeros: not yet. */
struct manifest_time {
	uint64_t mono_ns, utc_ns;
};

/* What only the manifest needs; the other members come from the session. */
struct manifest {
	struct json head; /* the constant members */
	struct manifest_time start, end;
	struct manifest_time workload_start, workload_end;
	bool status_unknown;	 /* the workload is another process's child, which has not reported its status */
	bool usage_unknown;	 /* nor what the workload used */
	uint64_t log_lost_bytes; /* output lost by the process that has the workload as its child */
};

/* Makes the constant members, which describe also this machine and its clock. Returns 0 or -ENOMEM. */
int manifest_begin(struct session *s);

/*
 * Makes the present text of manifest.json, which the caller frees. COMPLETE: the trace has ended and its files are whole.
 * Returns 0 or -ENOMEM.
 */
int manifest_text(struct session *s, bool complete, char **text_ret, size_t *len_ret);
/*
 * Writes TEXT as manifest.json of the folder DIRFD, in place of an old one; may block. The file gets the folder's owner.
 * Returns 0, or -errno with the old file still in place.
 */
int manifest_put(int dirfd, const char *text, size_t len);

/* Puts the target of CFG, a member of the open object. */
void manifest_put_target(struct json *j, const struct config *cfg);

/* Whether a manifest shows ENTRY (NAME=VALUE). */
bool manifest_shows(const char *entry);

/* Puts the variables of ENV that set up a job, secrets hidden, as members of the open object. */
void manifest_put_environ(struct json *j, char *const *env);

#endif
