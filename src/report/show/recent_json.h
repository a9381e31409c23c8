/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the last seconds of a running job went, as JSON. */
#ifndef REPORT_SHOW_RECENT_JSON_H
#define REPORT_SHOW_RECENT_JSON_H

struct json;
struct path_recent;
struct report_hang;

#define RECENT_PARTS_MAX 6U /* with that of the others */

/*
 * Puts the object that docs/report-json.md describes: its parts add up to all of the time. HANG is what is known of
 * long waits, or NULL.
 */
void recent_json(const struct path_recent *recent, const struct report_hang *hang, struct json *json);

#endif
