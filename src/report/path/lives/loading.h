/* SPDX-License-Identifier: BSD-2-Clause */
/* Until when a process loaded its programs and packages, by its opens of such files. Knows no waits. */
#ifndef REPORT_PATH_LIVES_LOADING_H
#define REPORT_PATH_LIVES_LOADING_H

#include <stdint.h>

struct path_lives;
struct report;

/* LIFE opened a program or a package; opens come in order of time. */
void path_loading_open(struct path_lives *lives, uint32_t life, uint64_t begin_ns, uint64_t end_ns);
/* Takes the opens of before the part that is looked at: who was loading then may still do so. */
void path_loading_before(struct path_lives *lives, struct report *report);
/* All opens of the part have been taken, and its first reads of data are known: those behind it show who still loaded.
 */
void path_loading_end(struct path_lives *lives, struct report *report);

#endif
