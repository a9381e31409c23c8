/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of alloc.out in the Perfetto format: a counter of each process, of the bytes that it has in use. Blocks from
 * before the first row are not in it, and so neither are their ends.
 */
#include "base/util.h"
#include "export/perfetto/perfetto.h"
#include "report/memory/allocs.h"

/* Returns the bytes in COLUMN; 0: none are known. */
static int64_t bytes(const struct perfetto_row *r, uint8_t column)
{
	uint64_t n;

	return reader_u64(perfetto_of(r, column), &n) && n <= ALLOCS_BLOCK_BYTES_MAX ? (int64_t)n : 0;
}

/* Whether the block that R ends was allocated at FIRST_NS or later. */
static bool is_counted(const struct perfetto_row *r, uint64_t first_ns)
{
	uint64_t life_ns;

	return reader_u64(perfetto_of(r, r->plan->life), &life_ns) && life_ns <= r->end_ns &&
	       r->end_ns - life_ns >= first_ns;
}

/* Returns by how much ROW changes what its process has in use. */
static int64_t change(const struct perfetto_row *row, uint64_t first_ns)
{
	const struct reader_field func = perfetto_of(row, row->plan->name);
	const bool ends = reader_is(func, "end") || report_alloc_frees(func);
	int64_t sum = 0;

	if (is_counted(row, first_ns))
		sum -= bytes(row, ends ? row->plan->size : row->plan->old_size);
	if (!ends && !reader_is(perfetto_of(row, row->plan->addr), "0"))
		sum += bytes(row, row->plan->size);
	return sum;
}

void perfetto_block(struct export *export, const struct perfetto_row *row)
{
	struct perfetto *perfetto = export->state;
	uint64_t pid, tid;
	uint32_t thread, process, track = TRACKS_NONE;

	if (report_alloc_is_unpaired(perfetto_of(row, row->plan->name)) ||
	    !reader_u64(perfetto_of(row, row->plan->pid), &pid) || !reader_u64(perfetto_of(row, row->plan->tid), &tid))
		return;
	perfetto->blocks_ns = perfetto->blocks_ns ? perfetto->blocks_ns : row->end_ns;
	thread = perfetto_thread(export, pid, tid, perfetto_of(row, row->plan->comm));
	process = thread == TRACKS_NONE ? TRACKS_NONE : tracks_at(&perfetto->tracks, thread)->parent;
	if (process != TRACKS_NONE)
		track = perfetto_track(export, perfetto_key(perfetto, 'b', &pid, sizeof(pid)), TRACK_COUNTER, process,
				       perfetto_text("allocated bytes in use"));
	if (track == TRACKS_NONE) {
		perfetto->left_out++;
		return;
	}
	tracks_at(&perfetto->tracks, track)->unit = "bytes";
	perfetto_change(export, track, row->end_ns, change(row, perfetto->blocks_ns));
}
