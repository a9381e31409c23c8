/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/lives/loading.h"

#include "base/util.h"
#include "report/path/lives/lives.h"
#include "report/scan/scan.h"

/* Imports compute for seconds between two files, and then go on: an open for each so much of the time since. */
#define LOAD_BREAK_NS (3 * NSEC_PER_SEC)
#define LOAD_EACH_NS (NSEC_PER_SEC / 2)

/*
 * A process that goes on opening programs and packages, without a long break, is still loading them. One that computes
 * for seconds and opens a single one, as for a late import, an encoding or a look at /proc, has been at work meanwhile.
 */
void path_loading_open(struct path_lives *lives, uint32_t life, uint64_t begin_ns, uint64_t end_ns)
{
	struct path_process *process = &lives->process[lives->life[life].process];
	const uint64_t since_ns = MAX(MAX(process->begin_ns, process->program_ns), process->loaded_ns);
	const uint64_t last_ns = MAX(since_ns, process->opened_ns);

	if (begin_ns > last_ns && begin_ns - last_ns > LOAD_BREAK_NS)
		return;
	process->opened_ns = MAX(process->opened_ns, end_ns);
	process->opened++;
	if (begin_ns > since_ns && (begin_ns - since_ns) / LOAD_EACH_NS >= process->opened)
		return;
	process->loaded_ns = MAX(process->loaded_ns, process->opened_ns);
	process->opened = 0;
}

/* --- before and behind the part ------------------------------------------------------------------------ */

struct others {
	struct path_lives *lives;
	const struct report *report;
};

static bool take(struct scan *s, void *own)
{
	const struct others *others = own;
	const struct report_file *file = table_find(&others->report->files, scan_number(s, COL_FID));
	const uint32_t life = path_lives_find(others->lives, scan_number(s, COL_TID), s->time_ns);

	if (life && file && file->software && !scan_is(s, COL_FUNC, "snapshot"))
		path_loading_open(others->lives, life, s->time_ns - MIN(scan_number(s, COL_LAT_NS), s->time_ns),
				  s->time_ns);
	return true;
}

static void read_others(struct path_lives *lives, struct report *report, bool later)
{
	struct others others = { lives, report };
	struct scan_taker taker = { .take = take, .own = &others };
	struct scan_file *file = scan_file(report->folder, "open");
	const struct window part = { file->reader.begin_ns, file->reader.end_ns };

	if (file->error || !part.end_ns || (later ? part.end_ns == UINT64_MAX : !part.begin_ns))
		return;
	file->reader.begin_ns = later ? part.end_ns : 0;
	file->reader.end_ns = later ? UINT64_MAX : part.begin_ns;
	scan_walk_again(report->folder, "open", &taker);
	file->reader.begin_ns = part.begin_ns;
	file->reader.end_ns = part.end_ns;
}

void path_loading_before(struct path_lives *lives, struct report *report)
{
	read_others(lives, report, false);
}

/* --- after all opens ----------------------------------------------------------------------------------- */

/* What a process opens after it has begun to read its data is none of its programs. A settings file is no data. */
void path_loading_end(struct path_lives *lives, struct report *report)
{
	read_others(lives, report, true);
	for (uint32_t i = 1; i < lives->n_processes; i++) {
		struct path_process *process = &lives->process[i];
		const struct report_proc *p = table_find(&report->procs, process->pid);
		const uint64_t data_ns = p && p->first_data.settled ? first_data_ns(&p->first_data) : 0;

		if (data_ns >= process->begin_ns && data_ns)
			process->loaded_ns = MIN(process->loaded_ns, data_ns);
	}
}
