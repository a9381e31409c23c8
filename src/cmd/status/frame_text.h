/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames as text on standard output: on a terminal each over the one before, else one after the other. */
#ifndef CMD_STATUS_FRAME_TEXT_H
#define CMD_STATUS_FRAME_TEXT_H

#include <stdbool.h>

struct frame;

struct frame_text {
	const char *name; /* of the trace */
	bool terminal;
	unsigned int width; /* of a line of the last frame; 0: any */
	unsigned int frames; /* that were shown */
};

/* Shows FRAME, with where the last seconds went, RECENT, as recent_reader.h has it; NULL: not known. */
void frame_text_show(struct frame_text *text, const struct frame *frame, const char *recent);

#endif
