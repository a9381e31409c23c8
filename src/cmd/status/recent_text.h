/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a running job's last seconds went, as recent_reader.h has it, for a terminal. */
#ifndef CMD_STATUS_RECENT_TEXT_H
#define CMD_STATUS_RECENT_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text.h"
#include "report/show/recent_json.h"

#define RECENT_NAME_MAX TEXT_ESCAPED_MAX(256)

struct recent_part {
	uint64_t ns;
	bool gil, held, inferred;
	char what[64], owner[RECENT_NAME_MAX], detail[RECENT_NAME_MAX], role[16]; /* "": none */
};

#define RECENT_HANG_MAX 2048

struct recent_text {
	uint64_t root, wall_ns, end_ns;
	char comm[RECENT_NAME_MAX];
	struct recent_part part[RECENT_PARTS_MAX];
	unsigned int n; /* 0: it is not known */
	uint64_t hangs_since_ns;
	char hang[RECENT_HANG_MAX]; /* what nobody will end; "": nothing */
};

/* Reads LINE, which may be NULL or anything. Returns how many lines recent_text() will print. */
unsigned int recent_text_read(struct recent_text *recent, const char *line);
/* Prints them; names are escaped as in the trace's files. */
void recent_text(const struct recent_text *recent, FILE *out);

#endif
