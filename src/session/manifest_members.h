/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of manifest.json, as members of the open object. For manifest*.c alone. */
#ifndef SESSION_MANIFEST_MEMBERS_H
#define SESSION_MANIFEST_MEMBERS_H

struct config;
struct json;
struct manifest_time;
struct session;

/* Puts the workload's command, or null in place of words that --no-args hides. */
void manifest_put_argv(struct json *json, const struct config *cfg);

/* Puts TIME by both clocks; null: it has not come. */
void manifest_put_time(struct json *json, const char *key, const struct manifest_time *time);

/* Puts the workload, what the job may use, what it left running, and who waits for whom. */
void manifest_put_job(struct json *json, const struct session *session);

/* Puts what each probe and collector has counted, and how the rows are stored. */
void manifest_put_recorded(struct json *json, struct session *session);

#endif
