/* SPDX-License-Identifier: BSD-2-Clause */
/* A summary of a host, which may be anybody's: report merges it with others, and prints the whole. */
#include "fuzz.h"
#include "report/hosts/summary.h"
#include "report/report.h"
#include "report/show/show.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct report_job job = { .host = calloc(1, sizeof(*job.host)), .n = 1, .by_summaries = true };
	FILE *out = fopen("/dev/null", "w");

	if (job.host && out && summary_take(&job.host[0], (const char *)data, size) == 0 && report_job_close(&job) == 0) {
		EXPECT(job.host[0].end_ns >= job.host[0].begin_ns);
		report_job_text(&job, 0, out);
	}
	if (out)
		fclose(out);
	report_job_free(&job);
	return 0;
}
