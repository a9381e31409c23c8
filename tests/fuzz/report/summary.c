/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A summary of a host, which may be anybody's: report merges it with itself, as if a second host had it, and prints the
 * whole in each form.
 */
#include "fuzz.h"
#include "base/json.h"
#include "report/hosts/summary.h"
#include "report/report.h"
#include "report/show/show.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *path = util_fmt("%s/summary.json", fuzz_folder());
	char *files[] = { path, path };
	struct json j = { 0 };
	struct report_job job;
	unsigned int bad;

	fuzz_put("summary.json", data, size);
	if (summary_open_job(&job, files, ARRAY_SIZE(files), &bad) < 0)
		return 0;
	if (report_job_close(&job) == 0) {
		EXPECT(job.host[0].end_ns >= job.host[0].begin_ns);
		report_job_text(&job, 0, fuzz_nowhere());
		report_job_text(&job, 80, fuzz_nowhere());
		report_job_fit(&job, &j);
		EXPECT(json_write(&j, fuzz_nowhere()) == 0);
	}
	report_job_free(&job);
	return 0;
}

FUZZ_NUMBERS
