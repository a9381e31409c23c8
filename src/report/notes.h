/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REPORT_NOTES_H
#define REPORT_NOTES_H

struct report;

/* Adds notes on the manifest, which reading has returned ERROR for, and on what it says was not traced. */
void report_note_manifest(struct report *report, int error);
/* Adds notes on all files, when they have been read. */
void report_note_files(struct report *report);
/* Adds notes on losses, limits and files that should not be in the folder DIRFD, when all sums are finished. */
void report_note_sums(struct report *report, int dirfd);

#endif
