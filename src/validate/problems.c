/* SPDX-License-Identifier: BSD-2-Clause */
/* See problems.h. */
#include "validate/problems.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/fmt.h"

static const char *const texts[PROBLEMS] = {
	[PROBLEM_MANIFEST] = "is not whole, or not dltraced's",
	[PROBLEM_INCOMPLETE] = "the trace has not ended, or was cut off",
	[PROBLEM_READ] = "cannot be read to its end",
	[PROBLEM_SEGMENTS] = "a segment is damaged, missing, or another file's",
	[PROBLEM_HEADER] = "line 1 has another file's name, or a newer schema",
	[PROBLEM_COLUMNS] = "line 2 has unknown columns, or has them in another order",
	[PROBLEM_FIELDS] = "the row has too few or too many fields, or is damaged",
	[PROBLEM_CUT] = "the last row is not whole",
	[PROBLEM_NUMBER] = "a field does not have the form of its column",
	[PROBLEM_TEXT] = "a field is not escaped as it is to be",
	[PROBLEM_ORDER] = "the row is earlier than the one before it",
	[PROBLEM_SPAN] = "the row's TIMESTAMP is not within the trace",
	[PROBLEM_CLOCK] = "TIME is not TIMESTAMP by a row of time_align.out",
	[PROBLEM_FID] = "the row's FID is not in files.out",
	[PROBLEM_PID] = "the row's PID is not in pids.out",
	[PROBLEM_ROWS] = "the file has not as many rows as the manifest counts",
	[PROBLEM_LOST] = "the manifest's reasons for lost rows do not add up to them",
};

void problems_add(struct problems *p, enum problem kind, const char *file, uint64_t line, uint64_t n)
{
	if (n && !p->of[kind].n) {
		p->of[kind].line = line;
		snprintf(p->of[kind].file, sizeof(p->of[kind].file), "%s", file);
	}
	p->of[kind].n += n;
}

uint64_t problems_print(const struct problems *p, const char *dir)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < PROBLEMS; i++) {
		if (!p->of[i].n)
			continue;
		all += p->of[i].n;
		printf("%s/%s", dir, p->of[i].file);
		if (p->of[i].line)
			printf(":%" PRIu64, p->of[i].line);
		printf(": %s", texts[i]);
		if (p->of[i].n > 1)
			printf(" (the first of %s)", FMT_COUNT(p->of[i].n));
		putchar('\n');
	}
	return all;
}
