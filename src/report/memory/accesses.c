/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/memory/accesses.h"

#include <errno.h>
#include <stdlib.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/memory/access_live.h"
#include "report/memory/access_maps.h"
#include "report/memory/stacks.h"
#include "report/scan/lookup.h"
#include "report/scan/part.h"
#include "stats/top.h"

const char *const access_source_names[ACCESS_SOURCES] = {
	[ACCESS_PAGES] = "pages", [ACCESS_FAULTS] = "faults", [ACCESS_WRITES] = "writes",
	[ACCESS_PMU] = "pmu",     [ACCESS_WATCH] = "watch",
};
const char *const access_kind_names[ACCESS_KINDS] = {
	[ACCESS_UNKNOWN] = "-",   [ACCESS_HEAP] = "heap", [ACCESS_ANON] = "anon",
	[ACCESS_STACK] = "stack", [ACCESS_FILE] = "file",
};

static int part_new(struct report *r, const struct report_options *o)
{
	struct report_accesses *a = r->accesses = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	touched_init(&a->memory, TOUCHED_MAX);
	touched_init(&a->files, TOUCHED_MAX);
	table_init(&a->processes, sizeof(struct report_access_process), ACCESSES_PROCESSES_MAX);
	table_init(&a->mapped, sizeof(struct report_access_file), ACCESSES_FILES_MAX);
	table_init(&a->sites, sizeof(struct report_access_site), ACCESSES_SITES_MAX);
	return 0;
}

static void part_free(struct report *r)
{
	struct report_accesses *accesses = r->accesses;

	if (!accesses)
		return;
	for (unsigned int i = 0; i < accesses->n_files; i++)
		free(accesses->file[i].path);
	for (unsigned int o = 0; o < ACCESS_ORDERS; o++)
		for (unsigned int i = 0; i < accesses->n_sites[o]; i++)
			free(accesses->site[o][i].stack);
	access_live_free(accesses->live);
	access_maps_free(accesses->maps);
	touched_free(&accesses->memory);
	touched_free(&accesses->files);
	table_free(&accesses->processes);
	table_free(&accesses->mapped);
	table_free(&accesses->sites);
	free(accesses);
}

/* --- rows ------------------------------------------------------------------------------------------- */

/* Returns the index of the field in NAMES; N: it is none of them. */
static unsigned int index_of(struct reader_field field, const char *const *names, unsigned int n)
{
	unsigned int i = 0;

	while (i < n && !reader_is(field, names[i]))
		i++;
	return i;
}

bool access_row(struct access_row *row, const struct scan *s)
{
	const unsigned int source = index_of(scan_field(s, COL_SOURCE), access_source_names, ACCESS_SOURCES);
	const unsigned int kind = index_of(scan_field(s, COL_KIND), access_kind_names, ACCESS_KINDS);

	*row = (struct access_row){
		.source = source,
		.kind = kind < ACCESS_KINDS ? kind : ACCESS_UNKNOWN,
		.span_ns = scan_number(s, COL_SPAN_NS),
		.count = scan_number(s, COL_COUNT),
		.fid = scan_number(s, COL_FID),
		.offset = scan_number(s, COL_OFFSET),
	};
	row->has_touched = scan_u64(s, COL_TOUCHED, &row->touched);
	row->has_written = scan_u64(s, COL_WRITTEN, &row->written);
	if (source == ACCESS_SOURCES || !scan_u64(s, COL_PID, &row->pid) || !scan_address(s, COL_ADDR, &row->addr) ||
	    !scan_u64(s, COL_BYTES, &row->bytes))
		return false;
	if (row->count == 1 && row->bytes) /* the accessed byte of the page */
		row->addr -= row->addr % row->bytes;
	return row->addr < TOUCHED_END && row->bytes <= TOUCHED_END - row->addr && row->touched <= row->bytes &&
	       row->written <= row->bytes && row->span_ns <= s->time_ns;
}

/* Returns NS as an instant of struct touched. */
static uint32_t when(const struct report_accesses *a, uint64_t ns)
{
	const uint64_t ms = ns > a->first_ns ? (ns - a->first_ns) / NSEC_PER_MSEC : 0;

	return (uint32_t)MIN(ms + 1, UINT32_MAX);
}

static void process_add(struct report_accesses *accesses, const struct access_row *row, uint64_t ns, uint64_t bytes)
{
	struct report_access_process *process =
		table_get(&accesses->processes, row->pid * ACCESS_SOURCES + row->source);

	if (!process)
		return;
	process->pid = row->pid;
	process->source = row->source;
	process->rows++;
	process->count += row->count;
	process->sum += bytes;
	if (!row->span_ns || row->source == ACCESS_FAULTS) /* what it does not touch for the first time is not known */
		return;
	process->intervals += process->last_ns != ns;
	process->last = (process->last_ns == ns ? process->last : 0) + bytes;
	process->last_ns = ns;
	process->most = MAX(process->most, process->last);
}

/* A file was mapped, or touched, from BEGIN to END. */
static void file_add(struct report_accesses *a, uint64_t fid, uint64_t begin, uint64_t end)
{
	struct report_access_file *f = table_get(&a->mapped, fid);

	if (!f || begin >= end)
		return;
	f->begin = f->end ? MIN(f->begin, begin) : begin;
	f->end = MAX(f->end, end);
}

/* What a row touched of files. */
struct of_file {
	struct report_accesses *a;
	const struct access_row *row;
	uint32_t when;
};

/* Adds the part of the row that is in PART of a file. Of a row that was touched in part, each part has its share. */
static void part_add(void *own, const struct access_map *part)
{
	const struct of_file *of = own;
	const struct access_row *row = of->row;
	const uint64_t bytes = part->end - part->begin;
	const double share = (double)bytes / (double)row->bytes;

	file_add(of->a, part->fid, part->offset, part->offset + bytes);
	touched_tag(&of->a->memory, row->pid, part->begin, bytes, access_tag(ACCESS_FILE, part->fid));
	touched_add(&of->a->files, &(struct touched_add){
					   .space = part->fid,
					   .at = part->offset,
					   .bytes = bytes,
					   .touched = (uint64_t)(share * (double)access_bytes(row) + 0.5),
					   .written = (uint64_t)(share * (double)row->written + 0.5),
					   .when = of->when,
				   });
}

static bool take(struct report_accesses *accesses, const struct scan *scan)
{
	struct access_row row;
	struct of_file of = { .a = accesses, .row = &row, .when = when(accesses, scan->time_ns) };
	struct access_map whole;
	uint64_t bytes;

	if (!access_row(&row, scan))
		return false;
	whole = (struct access_map){
		.begin = row.addr, .end = row.addr + row.bytes, .fid = row.fid, .offset = row.offset
	};
	bytes = access_bytes(&row);
	accesses->rows++;
	accesses->by[row.source] = true;
	accesses->has_written |= row.has_written;
	accesses->last_ns = MAX(accesses->last_ns, scan->time_ns);
	if (row.span_ns)
		accesses->least_span_ns =
			accesses->least_span_ns ? MIN(accesses->least_span_ns, row.span_ns) : row.span_ns;
	accesses->span_ns = row.span_ns;
	process_add(accesses, &row, scan->time_ns, bytes);
	touched_add(&accesses->memory, &(struct touched_add){
					       .space = row.pid,
					       .at = row.addr,
					       .bytes = row.bytes,
					       .touched = bytes,
					       .written = row.written,
					       .when = of.when,
					       .tag = access_tag(row.kind, 0),
				       });
	if (row.kind == ACCESS_FILE && row.fid)
		part_add(&of, &whole);
	else if (row.kind != ACCESS_HEAP && row.kind != ACCESS_STACK)
		access_maps_each(accesses->maps, row.pid, whole.begin, whole.end, scan->time_ns - row.span_ns, part_add,
				 &of);
	return true;
}

/* --- with alloc.out ---------------------------------------------------------------------------------- */

static bool has_rows(const struct report_accesses *a, uint64_t pid)
{
	for (enum access_source i = 0; i < ACCESS_SOURCES; i++)
		if (table_find(&a->processes, pid * ACCESS_SOURCES + i))
			return true;
	return false;
}

/*
 * Sums up a block that has ended. By pages, only one that was in use for two intervals surely was for a whole one. By
 * faults, a page counts as touched, too, where a block before it at this place was: it causes no second fault.
 */
static void block_add(void *own, const struct access_block *block)
{
	struct report_accesses *accesses = own;
	const uint64_t begin_ns = MAX(block->begin_ns, accesses->first_ns);
	struct report_access_site *site;
	struct touched_sum sum = { 0 };

	if (!has_rows(accesses, block->pid) ||
	    (accesses->by[ACCESS_PAGES] && block->end_ns - MIN(begin_ns, block->end_ns) < 2 * accesses->span_ns))
		return;
	site = table_get(&accesses->sites, block->site);
	if (!site)
		return;
	touched_sum(&accesses->memory, block->pid, block->addr, block->size,
		    accesses->by[ACCESS_PAGES] ? when(accesses, begin_ns) : 0, &sum);
	site->blocks++;
	site->bytes += block->size;
	site->touched += sum.bytes;
	site->once += sum.once;
	site->untouched_blocks += !sum.bytes;
}

/* --- in the order of time ---------------------------------------------------------------------------- */

/* Takes the current row; false when it is damaged. */
typedef bool (*take_fn)(struct report_accesses *a, const struct scan *s);

static uint64_t begin_of(const struct scan *s)
{
	return s->time_ns - MIN(scan_number(s, COL_SPAN_NS), s->time_ns);
}

static bool take_access(struct report_accesses *a, const struct scan *s)
{
	access_live_until(a->live, begin_of(s), block_add, a);
	return take(a, s);
}

static bool take_alloc(struct report_accesses *a, const struct scan *s)
{
	access_live_take(a->live, s);
	a->last_ns = MAX(a->last_ns, s->time_ns);
	return true;
}

/* Takes a row of mmap.out, for the place of the file in memory and for what was mapped of it. */
static bool take_map(struct report_accesses *a, const struct scan *s)
{
	uint64_t fid, offset, addr;

	access_maps_take(a->maps, s);
	if ((scan_is(s, COL_FUNC, "mmap") || scan_is(s, COL_FUNC, "snapshot")) && scan_u64(s, COL_FID, &fid) &&
	    scan_u64(s, COL_OFFSET, &offset) && offset < TOUCHED_END && scan_number(s, COL_LEN) < TOUCHED_END &&
	    scan_address(s, COL_RET, &addr) && addr)
		file_add(a, fid, offset, offset + scan_number(s, COL_LEN));
	return true;
}

static bool take_process(struct report_accesses *a, const struct scan *s)
{
	access_maps_process(a->maps, s);
	return true;
}

static const struct {
	const char *name;
	take_fn take;
} inputs[] = {
	{ "access", take_access },
	{ "alloc", take_alloc },
	{ "mmap", take_map },
	{ "pids", take_process },
};

/* Begins SCAN, the scans of INPUTS. Returns false when there is no access.out. */
static bool begin_all(struct report *report, struct scan *scan, bool left[ARRAY_SIZE(inputs)])
{
	struct report_accesses *a = report->accesses;

	for (size_t i = 0; i < ARRAY_SIZE(inputs); i++)
		left[i] = scan_file(report->folder, inputs[i].name)->error == 0 &&
			  scan_begin(&scan[i], report->folder, inputs[i].name) == 0;
	a->present = left[0];
	for (size_t i = 0; i < ARRAY_SIZE(inputs); i++)
		left[i] = left[0] && left[i] && scan_next(&scan[i]) > 0;
	if (left[0])
		a->first_ns = MIN(begin_of(&scan[0]), left[1] ? scan[1].time_ns : UINT64_MAX);
	return a->present;
}

/* Reads all files. Returns how many rows of access.out are damaged. */
static uint64_t read_all(struct report_accesses *accesses, struct scan *scan, bool left[ARRAY_SIZE(inputs)])
{
	uint64_t bad_rows = 0;

	for (;;) {
		size_t next = ARRAY_SIZE(inputs);

		for (size_t i = 0; i < ARRAY_SIZE(inputs); i++)
			if (left[i] && (next == ARRAY_SIZE(inputs) || scan[i].time_ns < scan[next].time_ns))
				next = i;
		if (next == ARRAY_SIZE(inputs))
			break;
		bad_rows += !inputs[next].take(accesses, &scan[next]);
		left[next] = scan_next(&scan[next]) > 0;
	}
	access_live_end(accesses->live, accesses->last_ns, block_add, accesses);
	return bad_rows;
}

static void note(struct report *r, uint64_t n, const char *one, const char *others, const char *text)
{
	if (n)
		report_note(r, "access: %s %s", FMT_N(n, one, others), text);
}

/* --- tables ----------------------------------------------------------------------------------------------- */

/* Adds up what each process touched at any time. */
static void sum_processes(struct report_accesses *a)
{
	for (uint32_t i = 0; i < a->memory.blocks.n; i++)
		for (enum access_source source = 0; source < ACCESS_SOURCES; source++) {
			const uint64_t key = touched_space(&a->memory, i) * ACCESS_SOURCES + source;
			struct report_access_process *p = table_find(&a->processes, key);

			if (p)
				touched_sum_block(&a->memory, i, &p->ever);
		}
}

static void pick_processes(struct report_accesses *accesses)
{
	sum_processes(accesses);
	for (uint32_t i = 0; i < accesses->processes.n; i++) {
		const struct report_access_process *p = table_at(&accesses->processes, i);
		struct report_access_process *at;

		at = TOP_PLACE(accesses->process, accesses->n_processes, ACCESSES_SHOWN, e, e->ever.bytes,
			       p->ever.bytes);
		if (at)
			*at = *p;
	}
	accesses->all_processes = accesses->processes.n;
}

/* Sets what F has used of the bytes that were mapped, as far as the file goes. */
static void sum_file(const struct report *r, uint64_t fid, struct report_access_file *f)
{
	const struct report_file *known = table_find(&r->files, fid);
	const uint64_t end = known && known->size ? MIN(f->end, known->size) : f->end;

	f->fid = fid;
	f->mapped = end > f->begin ? end - f->begin : 0;
	touched_sum(&r->accesses->files, fid, f->begin, f->mapped, 0, &f->used);
}

static void pick_files(struct report *report)
{
	struct report_accesses *accesses = report->accesses;
	struct report_access_file rest = { .others = true };

	for (uint32_t i = 0; accesses->files.blocks.n && i < accesses->mapped.n;
	     i++) { /* else nothing is known of files */
		struct report_access_file *file = table_at(&accesses->mapped, i), *at;

		sum_file(report, table_key_at(&accesses->mapped, i), file);
		if (file->mapped < ACCESSES_MAPPED_LEAST && !file->used.bytes)
			continue;
		rest.mapped += file->mapped;
		rest.used.bytes += file->used.bytes;
		rest.used.once += file->used.once;
		rest.used.written += file->used.written;
		at = TOP_PLACE(accesses->file, accesses->n_files, ACCESSES_SHOWN, e, e->mapped, file->mapped);
		if (at)
			*at = *file;
	}
	for (unsigned int i = 0; i < accesses->n_files; i++) {
		rest.mapped -= accesses->file[i].mapped;
		rest.used.bytes -= accesses->file[i].used.bytes;
		rest.used.once -= accesses->file[i].used.once;
		rest.used.written -= accesses->file[i].used.written;
		accesses->file[i].path = report_path_of(report, accesses->file[i].fid, NULL, 0);
	}
	if (rest.mapped)
		accesses->file[accesses->n_files++] = rest;
}

static uint64_t key_of(const struct report_access_site *s, enum access_order order)
{
	return order == ACCESSES_BY_UNTOUCHED ? report_access_untouched(s) : s->once;
}

static void pick_sites(struct report_accesses *accesses, enum access_order order)
{
	struct report_access_site rest = { .others = true }, *row = accesses->site[order];
	unsigned int n = 0;

	for (uint32_t i = 0; i < accesses->sites.n; i++) {
		struct report_access_site *site = table_at(&accesses->sites, i), *at;
		const uint64_t key = key_of(site, order);

		site->id = table_key_at(&accesses->sites, i);
		rest.blocks += site->blocks;
		rest.bytes += site->bytes;
		rest.untouched_blocks += site->untouched_blocks;
		rest.touched += site->touched;
		rest.once += site->once;
		at = key ? TOP_PLACE(row, n, ACCESSES_SHOWN, e, key_of(e, order), key) : NULL;
		if (at)
			*at = *site;
	}
	accesses->watched_bytes = rest.bytes;
	accesses->untouched_bytes = report_access_untouched(&rest);
	for (unsigned int i = 0; i < n; i++) {
		rest.blocks -= row[i].blocks;
		rest.bytes -= row[i].bytes;
		rest.untouched_blocks -= row[i].untouched_blocks;
		rest.touched -= row[i].touched;
		rest.once -= row[i].once;
	}
	if (rest.bytes)
		row[n++] = rest;
	accesses->n_sites[order] = n;
}

static void read_stacks(struct report *r)
{
	struct report_accesses *a = r->accesses;
	struct stack_place places[ACCESS_ORDERS * (ACCESSES_SHOWN + 1)];
	unsigned int n = 0;

	for (unsigned int o = 0; o < ACCESS_ORDERS; o++)
		for (unsigned int i = 0; i < a->n_sites[o]; i++)
			places[n++] = (struct stack_place){ a->site[o][i].id, &a->site[o][i].stack };
	stacks_read_apart(r->folder, places, n);
}

/* Reads the files; false where there is no access.out. */
static bool read_rows(struct report *report)
{
	struct report_accesses *accesses = report->accesses;
	const struct notes notes = report_notes(report);
	autofree struct scan *scan = calloc(ARRAY_SIZE(inputs), sizeof(*scan));
	bool left[ARRAY_SIZE(inputs)];
	uint64_t bad_rows;

	if (!scan || !accesses->live || !accesses->maps || !begin_all(report, scan, left)) {
		scan_note_error(scan_file(report->folder, "access"), &notes);
		return false;
	}
	bad_rows = read_all(accesses, scan, left);
	note(report, accesses->memory.left_out, "touched byte is", "touched bytes are",
	     "in no sum of a process or stack: there are too many");
	note(report, accesses->files.left_out, "touched byte of a file is", "touched bytes of files are",
	     "in no sum of a file: there are too many");
	note(report, access_live_left_out(accesses->live), "block is", "blocks are",
	     "not compared with what was touched: there are too many at a time");
	note(report, access_maps_left_out(accesses->maps), "mapping of a file is", "mappings of files are",
	     "not compared with what was touched: there are too many");
	scan_note_header(scan[0].file, bad_rows, &notes);
	scan_note_error(scan[0].file, &notes);
	return true;
}

static void pick_all(struct report *report)
{
	struct report_accesses *a = report->accesses;

	pick_processes(a);
	pick_files(report);
	/* what was never touched is known only to these sources; by faults, everything is touched once */
	if (a->by[ACCESS_PAGES] || a->by[ACCESS_FAULTS])
		pick_sites(a, ACCESSES_BY_UNTOUCHED);
	if (a->by[ACCESS_PAGES])
		pick_sites(a, ACCESSES_BY_ONCE);
	read_stacks(report);
}

static void part_end(struct report *r)
{
	struct report_accesses *a = r->accesses;

	a->live = access_live_new(ACCESSES_LIVE_MAX);
	a->maps = access_maps_new();
	if (read_rows(r))
		pick_all(r);
	access_live_free(TAKE_PTR(a->live));
	access_maps_free(TAKE_PTR(a->maps));
}

const struct report_part report_accesses_part = {
	.new = part_new,
	.end = part_end,
	.free = part_free,
};
