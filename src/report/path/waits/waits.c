/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/waits/waits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/scan/lookup.h"
#include "report/scan/scan.h"

void path_waits_init(struct path_waits *waits, struct report *r, struct path_lives *lives, uint32_t max)
{
	waits->max = max;
	waits->report = r;
	waits->lives = lives;
	waits->fuse = r && r->uses_fuse;
	table_init(&waits->files, sizeof(uint8_t), REPORT_FILES_MAX);
}

void path_waits_clear(struct path_waits *waits)
{
	free(TAKE_PTR(waits->v));
	free(TAKE_PTR(waits->of));
	waits->n = 0;
	waits->full = false;
}

void path_waits_free(struct path_waits *waits)
{
	table_free(&waits->files);
	path_waits_clear(waits);
}

/* --- files --------------------------------------------------------------------------------------------- */

static bool is_terminal(const char *path)
{
	static const char *const begins[] = { "/dev/pts/", "/dev/tty", "/dev/console", "/dev/hvc" };

	for (size_t i = 0; path && i < ARRAY_SIZE(begins); i++)
		if (strncmp(path, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

static enum path_file class_of(struct report *r, uint64_t fid)
{
	const struct report_file *file = table_find(&r->files, fid);
	autofree char *path = NULL;

	if (file && (file->type == REPORT_REG || file->type == REPORT_DIR))
		return PATH_STORED_FILE;
	if (file && (file->type == REPORT_FIFO || file->type == REPORT_SOCK))
		return file->type == REPORT_FIFO ? PATH_PIPE_FILE : PATH_SOCKET_FILE;
	if (!file || file->type != REPORT_CHR)
		return PATH_ANY_FILE;
	path = report_path_of(r, fid, NULL, 0);
	return is_terminal(path) ? PATH_TERMINAL_FILE : PATH_DEVICE_FILE;
}

static enum path_file class_of_device(const char *path)
{
	return is_terminal(path) ? PATH_TERMINAL_FILE : PATH_DEVICE_FILE;
}

/* Most files are stored: those that the table lacks. */
bool path_waits_take_file(struct scan *s, void *own)
{
	const bool device = scan_is(s, COL_TYPE, "chr");
	struct path_waits *waits = own;
	char path[32];
	uint64_t fid;
	uint8_t *class;

	if (!scan_u64(s, COL_FID, &fid))
		return false;
	waits->fuse |= report_is_fuse(scan_field(s, COL_FSTYPE));
	if (scan_is(s, COL_TYPE, "reg") || scan_is(s, COL_TYPE, "dir"))
		return true;
	class = table_get(&waits->files, fid);
	report_copy(path, sizeof(path), scan_field(s, COL_REALPATH));
	if (class)
		*class = (uint8_t)(device ? class_of_device(path) : PATH_ANY_FILE);
	return true;
}

/* A file's path is looked up once. */
static enum path_file file_of(struct path_waits *waits, const struct scan *s)
{
	uint64_t fid;
	uint8_t *class;

	if (!scan_u64(s, COL_FID, &fid))
		return waits->fuse ? PATH_FUSE_FILE : PATH_NO_FILE;
	class = waits->report ? table_get(&waits->files, fid) : table_find(&waits->files, fid);
	if (!class)
		return waits->report ? PATH_ANY_FILE : PATH_STORED_FILE;
	if (*class == PATH_NO_FILE)
		*class = (uint8_t)class_of(waits->report, fid);
	return (enum path_file) * class;
}

/* --- rows ---------------------------------------------------------------------------------------------- */

/* Returns the thread of the job that ended the wait. A thread that ends wakes others when its life is over already. */
static uint32_t ender_life(const struct path_waits *waits, const struct scan *s, uint32_t life, uint64_t wake_ns)
{
	const struct path_lives *lives = waits->lives;
	const uint32_t by = path_lives_find(lives, scan_number(s, COL_BY_TID), wake_ns);
	const uint64_t end_ns = lives->life[by].end_ns;

	if (!by || by == life || path_lives_process(lives, by)->pid != scan_number(s, COL_BY_PID) ||
	    (end_ns < wake_ns && wake_ns - end_ns > NSEC_PER_SEC))
		return 0;
	return by;
}

static bool is_by_thread(enum path_by by)
{
	return by == PATH_BY_THREAD || by == PATH_BY_EXIT || by == PATH_BY_SIGNAL;
}

/* Whether the row's wait was for the remote end of a socket: a server beside the job is one, too, by its address. */
static bool is_for_peer(const struct scan *s, const struct path_ender *e)
{
	return e->by == PATH_BY_NET || e->by == PATH_BY_INTERRUPT || (e->outside && !scan_is(s, COL_PEER, "-"));
}

/* Returns the name of S's file with that of the process which serves it: "x.bin by sshfs", "by sshfs". */
static uint32_t served_name(struct path_names *names, const struct scan *s)
{
	const struct reader_field file = scan_field(s, COL_FILE), by = scan_field(s, COL_BY_COMM);
	const bool has_file = file.len && !reader_is(file, "-");
	char text[PATH_NAME_BYTES];
	const int len =
		snprintf(text, sizeof(text), "%.*s%sby %.*s", has_file ? (int)MIN(file.len, 128U) : 0,
			 has_file ? file.p : "", has_file ? " " : "", (int)MIN(by.len, 64U), by.len ? by.p : "");

	return path_name_pattern(names, (struct reader_field){ text, (size_t)len });
}

struct path_ender path_waits_ender(struct path_waits *waits, const struct scan *s, uint32_t life, uint64_t wake_ns)
{
	const enum path_by by = path_by_of(scan_field(s, COL_BY));
	struct path_names *names = waits->lives->names;
	struct path_ender e = {
		.by = (uint8_t)by,
		.state = (uint8_t)path_state_of(scan_field(s, COL_STATE)),
		.call = path_call_of(scan_field(s, COL_CALL)),
		.call_name = path_name(names, scan_field(s, COL_CALL)),
		.file = (uint8_t)file_of(waits, s),
		.file_name = path_name_pattern(names, scan_field(s, COL_FILE)),
		.by_call = (uint8_t)path_by_call_of(scan_field(s, COL_BY_CALL)),
	};
	uint64_t pid;

	if (by == PATH_BY_KERNEL && scan_is(s, COL_BY_COMM, "kauditd"))
		e.by_call = PATH_BY_AUDIT;
	if (is_by_thread(by) && scan_u64(s, COL_BY_PID, &pid)) {
		e.life = ender_life(waits, s, life, wake_ns);
		e.outside = !e.life && pid != path_lives_process(waits->lives, life)->pid;
	}
	if (e.life)
		return e;
	e.other = path_name(names, scan_field(s, is_for_peer(s, &e) ? COL_PEER : COL_BY_COMM));
	if (e.outside && is_for_peer(s, &e))
		e.by = PATH_BY_NET;
	else if (e.outside && waits->fuse && e.other)
		e.file_name = served_name(names, s);
	return e;
}

/* Returns a new wait; NULL where there is no room. */
static struct path_wait *wait_new(struct path_waits *waits)
{
	if (!waits->full)
		waits->full = waits->n == waits->max || util_room(&waits->v, waits->n, sizeof(*waits->v)) < 0;
	return waits->full ? NULL : &waits->v[waits->n++];
}

/*
 * Returns for how long of READY_NS, in which the thread could run, the quota of its cgroup was used up. Where the row
 * does not have that, its state is for all of it.
 */
static uint64_t throttled_of(const struct scan *s, const struct path_ender *ender, uint64_t ready_ns)
{
	uint64_t ns;

	if (scan_u64(s, COL_THROTTLED_NS, &ns))
		return MIN(ns, ready_ns);
	return ender->state == PATH_QUOTA ? ready_ns : 0;
}

bool path_waits_take(struct scan *s, void *own)
{
	const uint64_t in_ns = s->time_ns, lat_ns = MIN(scan_number(s, COL_LAT_NS), in_ns);
	const uint64_t wake_ns = in_ns - MIN(scan_number(s, COL_RUNQ_NS), lat_ns);
	struct path_waits *waits = own;
	const uint32_t life = path_lives_find(waits->lives, scan_number(s, COL_TID), wake_ns);
	struct path_wait *wait;

	if (!scan_has_number(s, COL_TID) || !scan_has_number(s, COL_LAT_NS))
		return false;
	waits->strangers += !life;
	waits->last_ns = MAX(waits->last_ns, in_ns);
	wait = life ? wait_new(waits) : NULL;
	if (!wait)
		return true;
	*wait = (struct path_wait){
		.row = { .at_ns = in_ns - lat_ns, .life = life },
		.wake_ns = wake_ns,
		.in_ns = in_ns,
	};
	wait->ender = path_waits_ender(waits, s, life, wake_ns);
	if (path_ender_can_run(&wait->ender))
		wait->wake_ns = wait->row.at_ns;
	wait->free_ns = wait->wake_ns + throttled_of(s, &wait->ender, in_ns - wait->wake_ns);
	return true;
}

/* --- after all rows ------------------------------------------------------------------------------------ */

/* Cuts what lies over the wait before; only a damaged trace has such. What is empty then stays, and counts nowhere. */
static void part(struct path_wait *v, uint32_t n)
{
	uint64_t last_ns = 0;

	for (uint32_t i = 0; i < n; i++) {
		v[i].row.at_ns = MAX(v[i].row.at_ns, last_ns);
		v[i].in_ns = MAX(v[i].in_ns, v[i].row.at_ns);
		v[i].wake_ns = MIN(MAX(v[i].wake_ns, v[i].row.at_ns), v[i].in_ns);
		v[i].free_ns = MIN(MAX(v[i].free_ns, v[i].wake_ns), v[i].in_ns);
		last_ns = v[i].in_ns;
	}
}

/* Marks the wait that followed when a thread had ended another one's: it has not only looked at something. */
static void mark_acts(struct path_waits *waits)
{
	for (uint32_t i = 0; i < waits->n; i++) {
		const struct path_wait *wait = &waits->v[i];
		const uint32_t by = wait->ender.life;
		const uint32_t next = by ? path_waits_from(waits, by, wait->wake_ns) : 0;

		if (by && next < path_waits_stop(waits, by))
			waits->v[next].acted = true;
	}
}

/* Whether NEXT, before which the thread ran for RAN, is WAIT begun again. */
static bool is_retry(const struct path_wait *wait, const struct path_wait *next, uint64_t ran_ns)
{
	return wait->ender.by == PATH_BY_TIMER && wait->ender.state != PATH_FOR_DISK &&
	       (path_calls[wait->ender.call].polls || path_calls[wait->ender.call].opens) &&
	       wait->ender.call == next->ender.call && ran_ns <= PATH_RETRY_NS && !next->acted;
}

/* Whether the kernel has looked, at a tick of its clock, whether a lease on the file to be opened was gone. */
static bool is_look(const struct path_wait *wait)
{
	return wait->ender.by == PATH_BY_TIMER && wait->ender.state == PATH_ASLEEP &&
	       path_calls[wait->ender.call].opens;
}

static bool is_gil(const struct path_wait *wait)
{
	const uint64_t ns = wait->wake_ns - wait->row.at_ns;

	return path_calls[wait->ender.call].queues && ns >= PATH_GIL_LEAST_NS && ns <= PATH_GIL_MOST_NS;
}

/*
 * A wait that timed out and began again at once is one wait, which ends as the last one does: Python's threads wait in
 * turns of 5 ms for its lock. Not a sleep, whose end shows nothing. Who gives back a lease less than 1 ms after such a
 * look at it ends a wait without a row: then it is the one who did so after the thread's next one.
 */
static void settle(struct path_wait *v, uint32_t first, uint32_t n)
{
	struct path_wait *next = NULL;
	uint32_t lease = UINT32_MAX;
	uint64_t ran_ns = 0;

	for (uint32_t i = first + n; i-- > first;) {
		struct path_wait *wait = &v[i];

		ran_ns += i + 1 < first + n ? v[i + 1].row.at_ns - wait->in_ns : 0;
		wait->settled = i;
		if (path_ender_can_run(&wait->ender))
			continue;
		if (next && is_retry(wait, next, ran_ns)) {
			wait->ender.again = next->ender.after = true;
			if (is_gil(wait))
				wait->ender.gil = next->ender.gil = true;
			wait->settled = path_calls[wait->ender.call].sleeps ? i : next->settled;
		} else if (is_look(wait) && lease != UINT32_MAX) {
			wait->settled = lease;
		}
		if (path_ender_is_lease(&v[wait->settled].ender))
			lease = wait->settled;
		next = wait;
		ran_ns = 0;
	}
}

/* Marks the turns of a thread that has many: the lock mostly comes soon after a turn, in a wait that has no row. */
static void mark_turns(struct path_wait *v, uint32_t first, uint32_t n)
{
	uint32_t turns = 0;

	for (uint32_t i = first; i < first + n; i++)
		turns += v[i].ender.by == PATH_BY_TIMER && is_gil(&v[i]);
	for (uint32_t i = first; i < first + n && turns >= PATH_GIL_TURNS; i++)
		v[i].ender.gil |= v[i].ender.by == PATH_BY_TIMER && is_gil(&v[i]);
}

/* Divides the polls of a thread into slices. */
static void slice(struct path_wait *v, uint32_t first, uint32_t n)
{
	uint32_t begin = first;

	for (uint32_t i = first; i < first + n; i++) {
		const bool own = !path_ender_can_run(&v[i].ender);

		if (own && !(v[i].ender.after && v[i].in_ns - v[begin].row.at_ns <= PATH_SLICE_NS))
			begin = i;
		v[i].slice = begin;
	}
}

int path_waits_end(struct path_waits *waits)
{
	waits->of = path_rows_sort(&waits->v, waits->n, sizeof(*waits->v), waits->lives->n);
	if (!waits->of)
		return -ENOMEM;
	for (uint32_t i = 0; i < waits->lives->n; i++) {
		const struct path_range range = waits->of[i];

		part(waits->v + range.first, range.n);
	}
	mark_acts(waits);
	for (uint32_t i = 0; i < waits->lives->n; i++) {
		const struct path_range range = waits->of[i];

		settle(waits->v, range.first, range.n);
		mark_turns(waits->v, range.first, range.n);
		slice(waits->v, range.first, range.n);
	}
	return 0;
}

uint32_t path_waits_from(const struct path_waits *waits, uint32_t life, uint64_t at_ns)
{
	uint32_t low = waits->of[life].first, high = path_waits_stop(waits, life);

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;

		if (waits->v[mid].in_ns <= at_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}
