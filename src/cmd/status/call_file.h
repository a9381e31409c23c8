/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of a call in flight, found with this user's rights: a look into a process may hang as the process does, and
 * here it delays only this user.
 */
#ifndef CMD_STATUS_CALL_FILE_H
#define CMD_STATUS_CALL_FILE_H

struct frame_call;

/* Fills in the file and the name of the thread of CALL that its frame lacks, as far as they can be found. */
void call_file_find(struct frame_call *call);

#endif
