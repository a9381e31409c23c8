/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/recent.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/util.h"
#include "report/path/limits.h"
#include "report/path/roles.h"
#include "report/path/walk.h"
#include "report/scan/scan.h"

/* Rows of a wait or an interval are looked for so long before the moment that they tell of. */
#define BEFORE_NS (20 * NSEC_PER_SEC)
/* The first answer needs so much: the shares of less would be those of few waits. */
#define LEAST_NS NSEC_PER_SEC
/* A row comes to its ring so long after its time at the latest, while nothing is held up. */
#define LATE_NS (50 * NSEC_PER_MSEC)
#define BYTES_MAX (8ULL << 20) /* of waits.out, and of sched.out, that are read at a time: some 70000 rows */
#define WHOLE_BYTES_MAX (32ULL << 20) /* of pids.out and files.out, likewise */
#define OPEN_BYTES_MAX (8ULL << 20)

void path_recent_free(struct path_recent *recent)
{
	struct scan_follow *files[] = { &recent->pids, &recent->files, &recent->waits_out, &recent->sched_out };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		scan_follow_close(files[i]);
	for (unsigned int i = 0; i < PATH_RECENT_OPEN_MAX; i++)
		free(recent->open[i].rows);
	path_sums_free(&recent->sums);
	table_free(&recent->last);
	path_shorts_free(&recent->shorts);
	path_waits_free(&recent->waits);
	path_lives_free(&recent->lives);
	path_names_free(&recent->names);
	free(recent);
}

int path_recent_open(struct path_recent **ret, int dirfd, uint64_t workload_pid)
{
	struct path_recent *recent = calloc(1, sizeof(*recent));
	int res;

	if (!recent)
		return -ENOMEM;
	recent->dirfd = dirfd;
	recent->workload_pid = workload_pid;
	path_names_init(&recent->names);
	path_waits_init(&recent->waits, NULL, &recent->lives, path_limits_usual.waits);
	recent->waits.there = true;
	path_shorts_init(&recent->shorts, &recent->waits, path_limits_usual.shorts);
	table_init(&recent->last, sizeof(uint64_t), PATH_LIVES_MAX);
	res = path_lives_init(&recent->lives, &recent->names);
	if (res == 0)
		res = scan_follow_open(&recent->waits_out, dirfd, "waits", false);
	if (res == 0)
		res = scan_follow_open(&recent->sched_out, dirfd, "sched", false);
	if (res == 0)
		res = scan_follow_open(&recent->pids, dirfd, "pids", true);
	if (res == 0)
		res = scan_follow_open(&recent->files, dirfd, "files", true);
	if (res == 0)
		*ret = recent;
	else
		path_recent_free(recent);
	return res;
}

/* --- the waits that are open --------------------------------------------------------------------------- */

int path_recent_waiting(struct path_recent *recent, const char *answer)
{
	const char *rows = strchr(answer, '\n');
	struct path_open *last = &recent->open[PATH_RECENT_OPEN_MAX - 1], now;
	uint64_t lost;

	if (!rows || sscanf(answer, "%" SCNu64 " %" SCNu64 " %" SCNu64, &now.at_ns, &recent->flushed_ns, &lost) != 3)
		return -EBADMSG;
	now.len = strlen(++rows);
	if (now.len > OPEN_BYTES_MAX || (recent->open[0].rows && now.at_ns <= recent->open[0].at_ns))
		return -EBADMSG;
	now.rows = strdup(rows);
	if (!now.rows)
		return -ENOMEM;
	if (recent->open[0].rows && lost > recent->lost)
		recent->lost_ns = now.at_ns;
	recent->lost = lost;
	free(last->rows);
	memmove(&recent->open[1], &recent->open[0], sizeof(now) * (PATH_RECENT_OPEN_MAX - 1));
	recent->open[0] = now;
	return 0;
}

/* Returns the last moment before which all waits that ended have their rows; NULL: none is known yet. */
static const struct path_open *newest_known(const struct path_recent *recent)
{
	for (unsigned int i = 0; i < PATH_RECENT_OPEN_MAX; i++)
		if (recent->open[i].rows && recent->open[i].at_ns + LATE_NS <= recent->flushed_ns)
			return &recent->open[i];
	return NULL;
}

/* A wait that has ended since has a row, which shows more. */
static bool take_open(struct scan *s, void *own)
{
	struct path_recent *recent = own;
	const uint64_t *last_ns = table_find(&recent->last, scan_number(s, COL_TID));

	return (last_ns && *last_ns > s->time_ns) || path_waits_take(s, &recent->waits);
}

static int read_open(struct path_recent *recent, const struct path_open *open)
{
	struct scan_folder *folder = scan_folder_new(-1);
	struct scan_taker taker = { .take = take_open, .own = recent };
	struct scan_file *file = folder ? &folder->file[folder->n++] : NULL;
	autoclose int fd = memfd_create("waiting", MFD_CLOEXEC);
	int res = fd < 0 ? -errno : 0;

	if (!file)
		return -ENOMEM;
	snprintf(file->name, sizeof(file->name), "waits");
	if (res == 0)
		res = util_write_all(fd, open->rows, open->len);
	file->error = res ?: reader_open_fd(&file->reader, TAKE_FD(fd), PACK_NONE, open->len);
	res = file->error ?: scan_walk(folder, "waits", &taker)->error;
	scan_folder_free(folder);
	return res;
}

/* --- rows ---------------------------------------------------------------------------------------------- */

static bool take_wait(struct scan *s, void *own)
{
	struct path_recent *recent = own;
	uint64_t *last_ns = table_get(&recent->last, scan_number(s, COL_TID));

	if (last_ns)
		*last_ns = s->time_ns;
	return path_waits_take(s, &recent->waits);
}

/* Notes the end of an interval: its rows are written one after the other. */
static void note_end(struct path_recent *recent, uint64_t at_ns)
{
	uint64_t *last = recent->n_ends ? &recent->ends[recent->n_ends - 1] : NULL;

	if (last && at_ns - MIN(*last, at_ns) <= PATH_SPREAD_NS) {
		*last = MAX(*last, at_ns);
		return;
	}
	if (recent->n_ends == PATH_RECENT_ENDS_MAX)
		memmove(&recent->ends[0], &recent->ends[1], sizeof(recent->ends[0]) * --recent->n_ends);
	recent->ends[recent->n_ends++] = at_ns;
}

static bool take_sum(struct scan *s, void *own)
{
	struct path_recent *recent = own;

	if (!recent->first_sum_ns)
		recent->first_sum_ns = recent->sums_from_ns = s->time_ns;
	if (s->time_ns <= recent->first_sum_ns + PATH_SPREAD_NS)
		recent->sums_from_ns =
			MIN(recent->sums_from_ns, s->time_ns - MIN(scan_number(s, COL_SPAN_NS), s->time_ns));
	note_end(recent, s->time_ns);
	return path_shorts_take(s, &recent->shorts);
}

/* Forgets what the last look has read. */
static void forget(struct path_recent *recent)
{
	path_shorts_free(&recent->shorts);
	recent->shorts = (struct path_shorts){ 0 };
	path_shorts_init(&recent->shorts, &recent->waits, path_limits_usual.shorts);
	path_waits_clear(&recent->waits);
	path_sums_free(&recent->sums);
	recent->sums = (struct path_sums){ 0 };
	table_free(&recent->last);
	recent->n_ends = 0;
	recent->first_sum_ns = recent->sums_from_ns = 0;
}

/* Reads names, lives and files; which rows are read behind them was fixed before, so that these know all threads. */
static int read_whole(struct path_recent *recent)
{
	struct scan_taker lives = { .take = path_lives_take, .own = &recent->lives },
			  files = { .take = path_waits_take_file, .own = &recent->waits };
	int res = scan_follow_take(&recent->pids, &lives, WHOLE_BYTES_MAX);

	if (res == 0)
		res = scan_follow_take(&recent->files, &files, WHOLE_BYTES_MAX);
	if (res > 0)
		return -EAGAIN; /* a trace of many: they go on at the next look */
	return res < 0 ? res : path_lives_end(&recent->lives);
}

/* Rows that were left out are earlier than the answer before this look, though a file has none yet that shows it. */
static void bound_from(struct scan_follow *f, const struct path_recent *recent)
{
	if (f->from_ns == UINT64_MAX)
		f->from_ns = recent->open[0].at_ns + NSEC_PER_SEC; /* it was a moment ago */
}

static int read_rows(struct path_recent *recent, const struct path_open *open)
{
	const uint64_t back_ns = PATH_RECENT_NS + BEFORE_NS, keep_ns = open->at_ns - MIN(open->at_ns, back_ns);
	struct scan_taker waits = { .take = take_wait, .own = recent }, sums = { .take = take_sum, .own = recent };
	int res = scan_follow_end(&recent->waits_out, &waits, BYTES_MAX, keep_ns);

	if (res == 0)
		res = read_open(recent, open);
	if (res == 0)
		res = path_waits_end(&recent->waits);
	if (res == 0)
		res = scan_follow_end(&recent->sched_out, &sums, BYTES_MAX, keep_ns);
	bound_from(&recent->waits_out, recent);
	bound_from(&recent->sched_out, recent);
	if (res == 0 && (recent->waits.full || recent->shorts.full))
		res = -ENODATA;
	return res < 0 ? res : path_shorts_end(&recent->shorts);
}

static int read_all(struct path_recent *recent, const struct path_open *open)
{
	int res = scan_follow_look(&recent->waits_out);

	if (res == 0)
		res = scan_follow_look(&recent->sched_out);
	if (res == 0)
		res = read_whole(recent);
	return res < 0 ? res : read_rows(recent, open);
}

/* --- the path ------------------------------------------------------------------------------------------ */

/* Returns the end of the first interval that ends at FROM or later; UINT64_MAX: there is none. */
static uint64_t end_after(const struct path_recent *recent, uint64_t from_ns)
{
	for (unsigned int i = 0; i < recent->n_ends; i++)
		if (recent->ends[i] >= from_ns)
			return recent->ends[i];
	return UINT64_MAX;
}

/*
 * Returns from when on all is known: not before the trace began, nor in an interval of which sums or waits were left
 * out or lost.
 */
static uint64_t known_from(const struct path_recent *recent)
{
	/* the first rows may be the last ones of their interval */
	const uint64_t sums_ns = recent->sched_out.from_ns ? recent->sched_out.from_ns + PATH_SPREAD_NS + 1 : 0;
	const uint64_t lacks_ns = MAX(MAX(recent->waits_out.from_ns, sums_ns), recent->lost_ns);

	return MAX(lacks_ns ? end_after(recent, lacks_ns) : 0, recent->sums_from_ns);
}

/* Sets the time that is known until OPEN. Returns whether there is enough. */
static bool times_of(const struct path_recent *recent, const struct path_open *open, struct path_times *ret)
{
	const uint64_t from_ns = known_from(recent);

	*ret = (struct path_times){ 0 };
	for (unsigned int i = recent->n_ends; i-- > 0 && !ret->end_ns;)
		if (recent->ends[i] <= open->at_ns && recent->ends[i] + PATH_SPREAD_NS <= recent->flushed_ns)
			ret->end_ns = recent->ends[i];
	ret->begin_ns = MAX(ret->end_ns - MIN(ret->end_ns, PATH_RECENT_NS), from_ns);
	return ret->end_ns > ret->begin_ns && ret->end_ns - ret->begin_ns >= LEAST_NS;
}

/*
 * Cuts off what the waits have outside of TIMES: what others did while one lasted is looked at for all of its length,
 * and is known within TIMES alone. What is empty then counts nowhere. After the sums, which have the whole waits.
 */
static void clip(struct path_waits *waits, const struct path_times *times)
{
	for (uint32_t i = 0; i < waits->n; i++) {
		struct path_wait *wait = &waits->v[i];

		wait->row.at_ns = MIN(MAX(wait->row.at_ns, times->begin_ns), times->end_ns);
		wait->wake_ns = MIN(MAX(wait->wake_ns, times->begin_ns), times->end_ns);
		wait->free_ns = MIN(MAX(wait->free_ns, times->begin_ns), times->end_ns);
		wait->in_ns = MIN(MAX(wait->in_ns, times->begin_ns), times->end_ns);
	}
}

static void add(void *own, const struct path_piece *piece)
{
	struct path_sums *sums = own;

	path_sums_add(sums, &piece->leaf, piece->begin_ns, piece->end_ns, PATH_WHENS);
}

static int walk(struct path_recent *recent, const struct path_root *root)
{
	const struct path_process *process = path_lives_process(&recent->lives, root->life);
	autofree uint8_t *roles = path_roles_of(&recent->shorts, root);
	struct path_walk walk = { 0 };
	int res;

	if (!roles)
		return -ENOMEM;
	path_sums_init(&recent->sums);
	recent->pid = process->pid;
	recent->name = process->name;
	recent->begin_ns = root->begin_ns;
	recent->end_ns = root->end_ns;
	res = path_walk_init(&walk, &recent->shorts, roles, add, &recent->sums);
	if (res == 0)
		path_walk(&walk, root->life, root->begin_ns, root->end_ns);
	path_walk_free(&walk);
	return res < 0 ? res : path_sums_end(&recent->sums);
}

int path_recent_look(struct path_recent *recent)
{
	const struct path_open *open = newest_known(recent);
	struct path_root roots[PATH_ROOTS_MAX];
	struct path_times times;
	int res;

	if (!open)
		return -EAGAIN;
	forget(recent);
	res = read_all(recent, open);
	if (res < 0)
		return res;
	if (!times_of(recent, open, &times))
		return -EAGAIN;
	if (!path_roots(&recent->lives, recent->workload_pid, times, roots) ||
	    roots[0].end_ns - roots[0].begin_ns < LEAST_NS)
		return -ENODATA;
	clip(&recent->waits, &times);
	return walk(recent, &roots[0]);
}
