/* SPDX-License-Identifier: BSD-2-Clause */
/* See pfw.h. */
#include "report/phases/pfw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fmt.h"
#include "base/json_bind.h"
#include "base/util.h"
#include "report/phases/read_impl.h"
#include "trace/reader.h"
#include "trace/unpack.h"

#define REGIONS_MAX (1U << 20) /* 64 MiB */
#define NAMES_MAX 4096
#define NAME_MAX_BYTES 64
#define PROCESSES_MAX 65536
#define TEXT_MAX_BYTES (1ULL << 34) /* of a file, packed or not */

struct pfw_name {
	char cat[NAME_MAX_BYTES], name[NAME_MAX_BYTES];
};

struct pfw_region {
	uint64_t begin_ns, end_ns, pid, tid, samples;
	int64_t epoch, step;
	uint32_t name, file;
};

/* A line. Numbers that it does not have are -1. */
struct line {
	char cat[NAME_MAX_BYTES], name[NAME_MAX_BYTES], key[16], unit[8];
	bool complete; /* it has a begin and a duration */
	int64_t pid, tid, ts, dur, epoch, step, samples;
};

/* A file that is being read. */
struct file {
	struct pfw *p;
	struct phase_reader *r;
	uint64_t unit_ns, last_ns;
	uint64_t bad, strangers, outside, left_out;
};

bool pfw_is(const char *path)
{
	static const char *const ends[] = { ".pfw", ".pfw.gz", ".pfw.zst" };
	size_t len = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (len > strlen(ends[i]) && strcmp(path + len - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

void pfw_free(struct pfw *p)
{
	free(p->v);
	for (uint32_t i = 0; i < p->n_files; i++)
		free(p->files[i]);
	free(p->files);
	table_free(&p->names);
	table_free(&p->processes);
}

/* --- processes ---------------------------------------------------------------------------------------------- */

void pfw_begin(struct pfw *pfw, int dirfd)
{
	unsigned int at_pid, at_inner;
	struct reader rd;
	struct reader_row row;
	const int got = reader_open(&rd, dirfd, "pids.out");

	table_init(&pfw->names, sizeof(struct pfw_name), NAMES_MAX);
	pfw->text_max_bytes = TEXT_MAX_BYTES;
	table_init(&pfw->processes, sizeof(uint64_t), PROCESSES_MAX);
	if (got < 0)
		return;
	at_pid = reader_column(&rd, "PID");
	at_inner = reader_column(&rd, "NSPID");
	while (reader_next(&rd, &row) > 0) {
		uint64_t pid, inner, *known;

		if (!reader_u64(reader_field(&row, at_pid), &pid))
			continue;
		if (!reader_u64(reader_field(&row, at_inner), &inner))
			inner = pid;
		known = table_get(&pfw->processes, inner + 1);
		if (known)
			*known = *known && *known != pid + 1 ? UINT64_MAX : pid + 1;
	}
	reader_close(&rd);
}

/* --- lines ----------------------------------------------------------------------------------------------------- */

static const struct json_member members[] = {
	JSON_MEMBER("cat", JSON_TEXT, line, cat),
	JSON_MEMBER("name", JSON_TEXT, line, name),
	JSON_MEMBER("args.name", JSON_TEXT, line, key),
	JSON_MEMBER("args.value", JSON_TEXT, line, unit),
	JSON_MEMBER("pid", JSON_S64, line, pid),
	JSON_MEMBER("tid", JSON_S64, line, tid),
	JSON_MEMBER("ts", JSON_S64, line, ts),
	JSON_MEMBER("dur", JSON_S64, line, dur),
	JSON_MEMBER("args.epoch", JSON_S64, line, epoch),
	JSON_MEMBER("args.step", JSON_S64, line, step),
	JSON_MEMBER("args.samples", JSON_S64, line, samples),
	{ 0 },
};

static void take_value(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
	struct line *line = ctx;

	if (event != JSON_OPEN && strcmp(path, "ph") == 0)
		line->complete = len == 1 && (*text == 'X' || *text == '1');
	json_bind(members, line, path, event, text, len);
}

/* Cuts END from NAME. Returns whether it was there. */
static bool cut(char *name, const char *end)
{
	size_t len = strlen(name), n = strlen(end);

	if (len <= n || strcmp(name + len - n, end) != 0)
		return false;
	name[len - n] = '\0';
	return true;
}

/*
 * Makes the names those of regions.out. Of an iterator there are two: `iter', the wait for an item, and `block', the
 * work on it. A stage of the pipeline is the work, the others are the wait. Returns false for the other half, and for
 * calls.
 */
static bool rename_region(struct line *line)
{
	static const struct {
		const char *cat, *name, *ours;
	} renamed[] = {
		{ "checkpoint", "capture", "save" },
		{ "checkpoint", "restart", "load" },
	};
	static const char *const calls[] = { "dftracer", "POSIX", "STDIO" };
	const bool work = strcmp(line->cat, "pipeline") == 0;

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (strcmp(line->cat, calls[i]) == 0)
			return false;
	if (cut(line->name, work ? ".iter" : ".block"))
		return false;
	cut(line->name, work ? ".block" : ".iter");
	for (size_t i = 0; i < ARRAY_SIZE(renamed); i++)
		if (strcmp(line->cat, renamed[i].cat) == 0 && strcmp(line->name, renamed[i].name) == 0)
			strcpy(line->name, renamed[i].ours);
	return line->cat[0] && line->name[0];
}

/* Returns 1 + the place of the line's names; 0: there are too many, or memory is out. */
static uint32_t name_of(struct pfw *pfw, const struct line *line)
{
	char key[2 * NAME_MAX_BYTES];
	size_t cat = strlen(line->cat) + 1, name = strlen(line->name);
	struct pfw_name *names;

	memcpy(key, line->cat, cat);
	memcpy(key + cat, line->name, name);
	names = table_get(&pfw->names, table_key(key, cat + name));
	if (!names)
		return 0;
	if (!names->cat[0]) { /* a new one: no category is empty */
		strcpy(names->cat, line->cat);
		strcpy(names->name, line->name);
	}
	return 1 + (uint32_t)(names - (const struct pfw_name *)pfw->names.values);
}

static void take_unit(struct file *f, const struct line *l)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "NS", 1 },
		{ "US", 1000 },
		{ "MS", NSEC_PER_MSEC },
		{ "SEC", NSEC_PER_SEC },
	};

	for (size_t i = 0; strcmp(l->key, "time_metric") == 0 && i < ARRAY_SIZE(units); i++)
		if (strcmp(l->unit, units[i].name) == 0)
			f->unit_ns = units[i].ns;
}

static void take_region(struct file *file, const struct line *line, uint64_t pid)
{
	const uint64_t limit_ns = INT64_MAX / file->unit_ns;
	struct applog_time utc = { .clock = APPLOG_UTC };
	uint64_t begin_ns, end_ns;
	uint32_t name;
	bool before;

	if ((uint64_t)line->ts > limit_ns || (uint64_t)line->dur > limit_ns) {
		file->bad++;
		return;
	}
	utc.s = (int64_t)((uint64_t)line->ts * file->unit_ns / NSEC_PER_SEC);
	utc.ns = (uint32_t)((uint64_t)line->ts * file->unit_ns % NSEC_PER_SEC);
	begin_ns = phase_clock_in_file(&file->r->clock, &utc, file->last_ns);
	end_ns = begin_ns + (uint64_t)line->dur * file->unit_ns;
	if (!begin_ns || phase_clock_outside(&file->r->clock, begin_ns, &before) ||
	    phase_clock_outside(&file->r->clock, end_ns, &before)) {
		file->outside++;
		return;
	}
	file->last_ns = begin_ns;
	name = name_of(file->p, line);
	if (!name || file->p->n == REGIONS_MAX || util_room(&file->p->v, file->p->n, sizeof(*file->p->v)) < 0) {
		file->left_out++;
		return;
	}
	file->p->v[file->p->n++] = (struct pfw_region){
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.pid = pid,
		.tid = line->tid < 0 || line->tid == line->pid ? pid : (uint64_t)line->tid,
		.epoch = MAX(line->epoch, -1),
		.step = MAX(line->step, -1),
		.samples = (uint64_t)MAX(line->samples, 0),
		.name = name - 1,
		.file = file->p->n_files - 1,
	};
}

static void take_line(struct file *file, const char *text, size_t len)
{
	struct line l = { .pid = -1, .tid = -1, .ts = -1, .dur = -1, .epoch = -1, .step = -1, .samples = -1 };
	const uint64_t *process;

	if (!len || *text != '{')
		return;
	if (json_read(text, len, take_value, &l) < 0) {
		file->bad++;
		return;
	}
	take_unit(file, &l);
	if (!l.complete || !rename_region(&l))
		return;
	if (l.ts < 0 || l.dur < 0 || l.pid < 0) {
		file->bad++;
		return;
	}
	process = table_find(&file->p->processes, (uint64_t)l.pid + 1);
	if (!process || *process == UINT64_MAX)
		file->strangers++;
	else
		take_region(file, &l, *process - 1);
}

/* --- files ----------------------------------------------------------------------------------------------------- */

/* A line that is longer than the buffer is left out. Returns 0 or -errno. */
static int read_text(struct file *file, struct unpack *unpack)
{
	char *text = file->r->text;
	const size_t size = sizeof(file->r->text);
	size_t have = 0;
	bool skip = false;
	ssize_t got;

	while ((got = unpack_read(unpack, text + have, size - have)) > 0 && unpack->plain <= file->p->text_max_bytes) {
		char *line = text, *end = text + have + got, *newline;

		for (; (newline = memchr(line, '\n', (size_t)(end - line))); line = newline + 1) {
			if (!skip)
				take_line(file, line, (size_t)(newline - line));
			skip = false;
		}
		have = (size_t)(end - line);
		if (have == size) {
			file->bad += !skip;
			skip = true;
			have = 0;
		}
		memmove(text, line, have);
	}
	if (!got && !skip)
		take_line(file, text, have);
	return got > 0 ? -EFBIG : (int)got;
}

static int read_file(struct file *file, int fd)
{
	struct unpack_marks marks = { 0 };
	struct unpack u = { 0 };
	struct stat st;
	int res = 0;

	if (fd < 0)
		res = fd;
	else if (fstat(fd, &st) < 0)
		res = -errno;
	else if ((uint64_t)st.st_size > file->p->text_max_bytes)
		res = -EFBIG;
	if (res < 0)
		util_close(&fd);
	else
		res = unpack_open(&u, fd, unpack_sniff(fd), (uint64_t)st.st_size, &marks);
	if (res == 0) {
		res = read_text(file, &u);
		file->bad += u.cut || u.damaged;
		unpack_close(&u);
	}
	unpack_marks_free(&marks);
	return res;
}

static void note_odd(const struct file *file, const char *name, int res)
{
	const struct {
		uint64_t n;
		const char *one, *others, *what;
	} odd[] = {
		{ file->bad, "line is", "lines are", "malformed, or cut off, and left out" },
		{ file->strangers, "region is", "regions are",
		  "of processes that the trace does not have, and left out" },
		{ file->outside, "region is", "regions are", "outside of the trace, and left out" },
		{ file->left_out, "region is", "regions are", "left out: there are too many" },
	};

	if (res < 0)
		phase_note(file->r, "%s: cannot be read: %s", name, strerror(-res));
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		if (odd[i].n)
			phase_note(file->r, "%s: %s %s", name, FMT_N(odd[i].n, odd[i].one, odd[i].others), odd[i].what);
}

/* Returns 0 or -ENOMEM. */
static int add_file(struct pfw *p, const char *name)
{
	if (util_room(&p->files, p->n_files, sizeof(*p->files)) < 0)
		return -ENOMEM;
	p->files[p->n_files] = strdup(name);
	if (!p->files[p->n_files])
		return -ENOMEM;
	p->n_files++;
	return 0;
}

void pfw_read(struct pfw *pfw, struct phase_reader *reader, int fd, const char *name)
{
	struct file f = { .p = pfw, .r = reader, .unit_ns = 1000 };
	const uint32_t had = pfw->n;
	int res = add_file(pfw, name);

	if (res < 0)
		util_close(&fd);
	else
		res = read_file(&f, fd);
	note_odd(&f, name, res);
	if (res == 0 && pfw->n == had)
		phase_note(reader, "%s: it has no region of this trace", name);
}

/* --- files of the same processes ------------------------------------------------------------------------------ */

/* The time that a file's regions of a process take. */
struct part {
	uint64_t pid, begin_ns, end_ns;
	uint32_t file;
};

static int by_pid_and_begin(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Puts what each file has of each process into PARTS, as far as there is room. */
static void find_parts(struct table *parts, const struct pfw *pfw)
{
	for (uint32_t i = 0; i < pfw->n; i++) {
		const struct pfw_region *v = &pfw->v[i];
		const uint64_t key[2] = { v->pid, v->file };
		struct part *part = table_get(parts, table_key((const char *)key, sizeof(key)));

		if (!part)
			return;
		if (!part->end_ns)
			*part = (struct part){ v->pid, v->begin_ns, v->end_ns, v->file };
		part->begin_ns = MIN(part->begin_ns, v->begin_ns);
		part->end_ns = MAX(part->end_ns, v->end_ns);
	}
}

/* Marks the files that have a time of a process in common with another one. */
static void mark_doubtful(bool *doubtful, struct table *parts)
{
	const struct part *longest = NULL; /* the one of this process that ends last so far */

	if (parts->n)
		qsort(parts->values, parts->n, sizeof(struct part), by_pid_and_begin);
	for (uint32_t i = 0; i < parts->n; i++) {
		const struct part *part = table_at(parts, i);

		if (longest && longest->pid == part->pid && part->begin_ns < longest->end_ns)
			doubtful[longest->file] = doubtful[part->file] = true;
		if (!longest || longest->pid != part->pid || part->end_ns > longest->end_ns)
			longest = part;
	}
}

void pfw_leave_out_doubtful(struct pfw *pfw, const struct phase_reader *reader)
{
	autofree bool *doubtful = calloc(MAX(pfw->n_files, 1U), sizeof(*doubtful));
	struct table parts;
	uint32_t kept = 0;

	if (!doubtful)
		return;
	table_init(&parts, sizeof(struct part), PROCESSES_MAX);
	find_parts(&parts, pfw);
	mark_doubtful(doubtful, &parts);
	table_free(&parts);
	for (uint32_t i = 0; i < pfw->n; i++)
		if (!doubtful[pfw->v[i].file])
			pfw->v[kept++] = pfw->v[i];
	pfw->n = kept;
	for (uint32_t i = 0; i < pfw->n_files; i++)
		if (doubtful[i])
			phase_note(reader,
				   "%s: it is left out, as another .pfw has regions of its process at the same time: "
				   "name the right one with --app-log",
				   pfw->files[i]);
}

/* --- regions --------------------------------------------------------------------------------------------------- */

static int by_end(const void *a, const void *b)
{
	const struct pfw_region *x = a, *y = b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return (x->begin_ns < y->begin_ns) - (x->begin_ns > y->begin_ns); /* the inner one first */
}

void pfw_end(struct pfw *pfw, void (*take)(void *ctx, const struct step_region *region), void *ctx)
{
	if (pfw->n)
		qsort(pfw->v, pfw->n, sizeof(*pfw->v), by_end);
	for (uint32_t i = 0; i < pfw->n; i++) {
		const struct pfw_region *v = &pfw->v[i];
		const struct pfw_name *name = table_at(&pfw->names, v->name);

		take(ctx, &(const struct step_region){
				  .cat = name->cat,
				  .cat_len = (uint32_t)strlen(name->cat),
				  .name = name->name,
				  .name_len = (uint32_t)strlen(name->name),
				  .pid = v->pid,
				  .tid = v->tid,
				  .begin_ns = v->begin_ns,
				  .end_ns = v->end_ns,
				  .epoch = v->epoch,
				  .number = v->step,
				  .samples = v->samples,
				  .bytes = -1,
			  });
	}
}
