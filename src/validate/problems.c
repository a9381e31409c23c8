/* SPDX-License-Identifier: BSD-2-Clause */
/* See problems.h. */
#include "validate/problems.h"

#include <inttypes.h>

#include "base/fmt.h"

static const char *const texts[PROBLEMS] = {
	[PROBLEM_MANIFEST] = "is incomplete, or not written by dltraced",
	[PROBLEM_INCOMPLETE] = "the trace has not ended, or was cut off",
	[PROBLEM_READ] = "cannot be read to its end",
	[PROBLEM_FOREIGN] = "must be unpacked: files are read as text, and packed by gzip or zstd",
	[PROBLEM_SEGMENTS] = "a segment is damaged, missing, or another file's",
	[PROBLEM_HEADER] = "line 1 names another file",
	[PROBLEM_COLUMNS] = "line 2 has unknown columns, or columns in another order",
	[PROBLEM_FIELDS] = "the row has too few or too many fields, or is damaged",
	[PROBLEM_CUT] = "the last row is incomplete",
	[PROBLEM_NUMBER] = "a field does not have the form of its column",
	[PROBLEM_TEXT] = "a field is not escaped correctly",
	[PROBLEM_ORDER] = "the row is earlier than the one before it",
	[PROBLEM_SPAN] = "the row's TIMESTAMP is not within the trace",
	[PROBLEM_CLOCK] = "TIME and TIMESTAMP differ by more or less than the clocks in time_align.out",
	[PROBLEM_FID] = "the row's FID is not in files.out",
	[PROBLEM_PID] = "the row's PID is not in pids.out",
	[PROBLEM_SITE] = "the row's SITE or OLD_SITE is not in sites.out",
	[PROBLEM_WORD] = "a field is none of the words of its column",
	[PROBLEM_ROWS] = "the number of rows differs from the manifest's",
	[PROBLEM_BYTES] = "the number of bytes differs from the manifest's",
	[PROBLEM_CALLS] = "the manifest's calls are not its rows, sums, filtered and lost calls",
	[PROBLEM_LOST] = "the manifest's reasons for lost rows do not add up to their number",
};

void problems_add(struct problems *p, enum problem kind, const char *file, uint64_t line, uint64_t n)
{
	if (n && !p->of[kind].n) {
		p->of[kind].line = line;
		snprintf(p->of[kind].file, sizeof(p->of[kind].file), "%s", file);
	}
	p->of[kind].n += n;
}

uint64_t problems_print(const struct problems *problems, const char *dir, FILE *out)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < PROBLEMS; i++) {
		if (!problems->of[i].n)
			continue;
		all += problems->of[i].n;
		fmt_plain(out, dir, 0);
		fputc('/', out);
		fmt_plain(out, problems->of[i].file, 0);
		if (problems->of[i].line)
			fprintf(out, ":%" PRIu64, problems->of[i].line);
		fprintf(out, ": %s", texts[i]);
		if (problems->of[i].n > 1)
			fprintf(out, " (the first of %s)", FMT_COUNT(problems->of[i].n));
		fputc('\n', out);
	}
	return all;
}
