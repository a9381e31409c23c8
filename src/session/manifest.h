/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * manifest.json: where a trace comes from and how whole it is. The file is replaced as a whole each time, so that a
 * reader never meets half of one. Control plane. manifest_read.c reads back what reports need.
 */
#ifndef SESSION_MANIFEST_H
#define SESSION_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

struct config;
struct session;

/* One instant on both clocks; zeroes: not yet. */
struct manifest_time {
	uint64_t mono_ns, utc_ns;
};

/* What it says that nothing else of the session holds. */
struct manifest {
	struct json head; /* what holds from the start on */
	struct manifest_time start, end;
	struct manifest_time workload_start, workload_end;
	bool status_unknown;	 /* of the workload: whose child it was, has not said */
	uint64_t log_lost_bytes; /* of its output, as whose child it was has said */
};

/* Take down what holds from the start on, this machine and its clock among it. 0 or -ENOMEM. */
int manifest_begin(struct session *s);

/*
 * What manifest.json says now, as text, which is the caller's to free; COMPLETE: the trace has ended and its files are
 * whole. 0 or -ENOMEM.
 */
int manifest_text(struct session *s, bool complete, char **text_ret, size_t *len_ret);
/*
 * Put it into the folder DIRFD, in place of any that is there, which may take its time. It belongs to whom the folder
 * belongs. 0 or -errno: then the old one stands.
 */
int manifest_put(int dirfd, const char *text, size_t len);

/* A member of the open object: what is traced, as CFG says. */
void manifest_put_target(struct json *j, const struct config *cfg);

/* Does a manifest show ENTRY (NAME=VALUE)? */
bool manifest_shows(const char *entry);

/* Members of the open object: those of ENV that say how a job is set up, secrets hidden. */
void manifest_put_environ(struct json *j, char *const *env);

#endif
