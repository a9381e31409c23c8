/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a job's reads waited behind its own writes to the same disk, by the requests of bio.out. */
#include <string.h>

#include "base/fmt.h"
#include "report/disk/causes.h"
#include "report/rules/rules_impl.h"

#define LEAST_BYTES 0.5 /* of what was read from the disk: so much was written to it */
#define LEAST_TIME 0.3 /* of the trace: so long in all were writes to it on their way */
#define OF_JOB 0.5 /* of the bytes written: so many are of the job */

const struct report_disk *rules_disk_of_reads(const struct report *r)
{
	const struct report_disk *most = NULL;
	uint64_t most_ns = 0;

	if (!r->causes || !r->causes->known)
		return NULL;
	for (uint32_t i = 0; i < r->disks.n; i++) {
		const struct report_disk *disk = table_at(&r->disks, i);
		const struct interference *of_job =
			table_find(&r->causes->disks, table_key(disk->name, strlen(disk->name)));

		if (disk->op[REPORT_R].lat && !disk->stacked && of_job && of_job->read_ns > most_ns) {
			most = disk;
			most_ns = of_job->read_ns;
		}
	}
	return most;
}

/* Returns the file of the job to which most was written; NULL: none. */
static const struct report_cause_row *most_written(const struct report_causes *causes)
{
	const struct report_cause_row *most = NULL;

	for (unsigned int i = 0; i < causes->n_files; i++) {
		const struct report_cause_row *row = &causes->file[i];

		if (row->of_job && row->sum.write_bytes && (!most || row->sum.write_bytes > most->sum.write_bytes))
			most = row;
	}
	return most;
}

static uint64_t written_by_job(const struct report_causes *causes)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < causes->n_files; i++)
		bytes += causes->file[i].of_job ? causes->file[i].sum.write_bytes : 0;
	return bytes;
}

bool rules_own_writes(const struct report *report)
{
	const struct report_causes *causes = report->causes;
	const struct report_disk *disk = rules_disk_of_reads(report);
	double written;

	if (!disk || !disk->op[REPORT_W].lat || !most_written(causes))
		return false;
	written = (double)disk->op[REPORT_W].bytes;
	return (double)disk->op[REPORT_W].lat->sum >= LEAST_TIME * (double)report_duration_ns(report) &&
	       written >= LEAST_BYTES * (double)disk->op[REPORT_R].bytes &&
	       (double)written_by_job(causes) >= OF_JOB * written;
}

static uint64_t mean(const struct report_disk_op *op)
{
	return op->requests ? op->lat->sum / op->requests : 0;
}

void rules_show_own_writes(struct report *report, struct finding *finding)
{
	const struct report_cause_row *most = most_written(report->causes);
	const struct report_disk *disk = rules_disk_of_reads(report);

	finding_add(finding, "the job wrote %s to %s; the disk %s read %s and wrote %s, %s and %s each",
		    FMT_BYTES(most->sum.write_bytes), most->path ? most->path : "a file", disk->name,
		    FMT_BYTES(disk->op[REPORT_R].bytes), FMT_BYTES(disk->op[REPORT_W].bytes),
		    FMT_NS(mean(&disk->op[REPORT_R])), FMT_NS(mean(&disk->op[REPORT_W])));
}
