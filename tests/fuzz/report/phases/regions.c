/* SPDX-License-Identifier: BSD-2-Clause */
/* The regions of a job: its .pfw, which the user names, of a trace with three processes; and the same text as
 * regions.out. */
#include "fuzz.h"

#include "report/phases/read.h"
#include "report/scan/clocks.h"
#include "report/scan/scan.h"

#define SECOND "000000000"

static const char pids[] =
	"# dltraced pids 1\nTIMESTAMP\tTIME\tPID\tTID\tPPID\tCOMM\tEVENT\tSTATUS\tNSPID\tUID\tCGROUP\tRANK\tARGS\n"
	"1000" SECOND "\t-\t7\t7\t1\tpython\tfork\t-\t-\t0\t-\t-\t-\n1000" SECOND
	"\t-\t4712\t4712\t1\tpython\tfork\t-\t8\t0\t-\t-\t-\n"
	"1000" SECOND "\t-\t4713\t4713\t1\tpython\tfork\t-\t9\t0\t-\t-\t-\n";
/* 1000 s of CLOCK_MONOTONIC are 2026-11-22T08:00:00Z */
static const char clocks_out[] =
	"# dltraced time_align 1\nTIMESTAMP\tTIME\tREALTIME_NS\tBOOTTIME_NS\tERROR_NS\tEVENT\n"
	"1000" SECOND "\t2026-11-22T08:00:00.000000000Z\t1795334400" SECOND "\t1000" SECOND "\t100\tstart\n"
	"2000" SECOND "\t2026-11-22T08:16:40.000000000Z\t1795335400" SECOND "\t2000" SECOND "\t100\tend\n";

static void check(const struct phases *p)
{
	for (uint32_t i = 0; i < p->recorded.n; i++)
		EXPECT(p->recorded.v[i].begin_ns <= p->recorded.v[i].end_ns && p->recorded.v[i].name < p->n_names);
	for (uint32_t i = 0; i < p->steps.n_sums; i++)
		EXPECT(p->steps.sums[i].n > 0);
	for (unsigned int i = 0; i < p->n_notes; i++)
		EXPECT(*p->notes[i]);
}

static void read_folder(const struct phases_options *o)
{
	static const struct manifest_facts m = { .start_ns = 1000 * NSEC_PER_SEC,
						 .end_ns = 2000 * NSEC_PER_SEC,
						 .start_utc = "2026-11-22T08:00:00Z" };
	autoclose int dir = open(fuzz_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct scan_clocks *clocks = calloc(1, sizeof(*clocks));
	struct scan_folder *folder = scan_folder_new(dir);
	struct phases *p;

	EXPECT(clocks && folder);
	scan_walk(folder, "time_align", &(struct scan_taker){ .take = scan_clocks_take, .own = clocks });
	EXPECT(phases_read(&p, dir, &m, o, &clocks->phases) == 0);
	check(p);
	phases_end(p, m.start_ns, m.end_ns);
	check(p);
	phases_free(p);
	scan_folder_free(folder);
	scan_clocks_free(clocks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *path = util_fmt("%s/job.pfw", fuzz_folder()),
		      *regions = util_fmt("%s/regions.out", fuzz_folder());
	const char *logs[] = { path };

	fuzz_put("pids.out", pids, strlen(pids));
	fuzz_put("time_align.out", clocks_out, strlen(clocks_out));
	fuzz_put("job.pfw", data, size);
	read_folder(&(struct phases_options){ .logs = logs, .n_logs = 1 });
	fuzz_put("regions.out", data, size);
	read_folder(NULL);
	unlink(regions);
	return 0;
}

FUZZ_NUMBERS
