/* SPDX-License-Identifier: BSD-2-Clause */
/* See phases.h. The folder's clock is read first, as the times in the job's output are converted by it. */
#include "export/phases.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/phases/read.h"
#include "trace/reader.h"

static uint64_t u64_of(const struct reader *rd, const struct reader_row *row, const char *column)
{
	uint64_t v = 0;

	reader_u64(reader_field(row, reader_column(rd, column)), &v);
	return v;
}

static void read_clock(struct phase_clock *clock, int dirfd, const struct manifest_facts *facts)
{
	struct reader_row row;
	struct reader rd;
	unsigned int n = 0;

	phase_clock_host(clock, facts);
	if (reader_open(&rd, dirfd, "time_align.out") == 0) {
		for (; reader_next(&rd, &row) > 0; n++) {
			const uint64_t ns = u64_of(&rd, &row, "TIMESTAMP");

			phase_clock_reading(clock, ns, u64_of(&rd, &row, "REALTIME_NS"));
			clock->begin_ns = clock->begin_ns ? clock->begin_ns : ns;
			clock->end_ns = MAX(clock->end_ns, ns);
		}
		reader_close(&rd);
	}
	if (!n)
		phase_clock_guess(clock, facts);
}

int export_phases(struct phases **ret, int dirfd)
{
	autofree struct manifest_facts *facts = calloc(1, sizeof(*facts));
	autofree struct phase_clock *clock = calloc(1, sizeof(*clock));

	if (!facts || !clock)
		return -ENOMEM;
	manifest_read_at(facts, dirfd);
	read_clock(clock, dirfd, facts);
	if (phases_read(ret, dirfd, facts, NULL, clock) < 0)
		return -ENOMEM;
	phases_end(*ret, clock->begin_ns, clock->end_ns);
	return 0;
}
