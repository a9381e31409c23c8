/* SPDX-License-Identifier: BSD-2-Clause */
/* See pfw.h. */
#include "report/phases/pfw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fmt.h"
#include "base/json_read.h"
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

void pfw_begin(struct pfw *p, int dirfd)
{
	unsigned int at_pid, at_inner;
	struct reader rd;
	struct reader_row row;
	const int got = reader_open(&rd, dirfd, "pids.out");

	table_init(&p->names, sizeof(struct pfw_name), NAMES_MAX);
	p->text_max_bytes = TEXT_MAX_BYTES;
	table_init(&p->processes, sizeof(uint64_t), PROCESSES_MAX);
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
		known = table_get(&p->processes, inner + 1);
		if (known)
			*known = *known && *known != pid + 1 ? UINT64_MAX : pid + 1;
	}
	reader_close(&rd);
}

/* --- lines ----------------------------------------------------------------------------------------------------- */

static int64_t number_of(const char *text, size_t len)
{
	int64_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || n > INT64_MAX / 100)
			return -1;
		n = 10 * n + (text[i] - '0');
	}
	return len ? n : -1;
}

static void take_value(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
	struct line *l = ctx;
	const struct { const char *path; char *to; size_t size; } texts[] = {
		{ "cat", l->cat, sizeof(l->cat) }, { "name", l->name, sizeof(l->name) },
		{ "args.name", l->key, sizeof(l->key) }, { "args.value", l->unit, sizeof(l->unit) },
	};
	const struct { const char *path; int64_t *to; } numbers[] = {
		{ "pid", &l->pid }, { "tid", &l->tid }, { "ts", &l->ts }, { "dur", &l->dur },
		{ "args.epoch", &l->epoch }, { "args.step", &l->step }, { "args.samples", &l->samples },
	};

	if (event == JSON_OPEN)
		return;
	if (strcmp(path, "ph") == 0)
		l->complete = len == 1 && (*text == 'X' || *text == '1');
	for (size_t i = 0; event == JSON_STRING && i < ARRAY_SIZE(texts); i++)
		if (strcmp(path, texts[i].path) == 0)
			json_read_string(texts[i].to, texts[i].size, text, len);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (strcmp(path, numbers[i].path) == 0)
			*numbers[i].to = number_of(text, len);
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
 * Makes the names those of regions.out. Of an iterator there are two: `iter', the wait for an item, and `block', the work on
 * it. A stage of the pipeline is the work, the others are the wait. Returns false for the other half, and for calls.
 */
static bool rename_region(struct line *l)
{
	static const struct { const char *cat, *name, *ours; } renamed[] = {
		{ "checkpoint", "capture", "save" }, { "checkpoint", "restart", "load" },
	};
	static const char *const calls[] = { "dftracer", "POSIX", "STDIO" };
	const bool work = strcmp(l->cat, "pipeline") == 0;

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (strcmp(l->cat, calls[i]) == 0)
			return false;
	if (cut(l->name, work ? ".iter" : ".block"))
		return false;
	cut(l->name, work ? ".block" : ".iter");
	for (size_t i = 0; i < ARRAY_SIZE(renamed); i++)
		if (strcmp(l->cat, renamed[i].cat) == 0 && strcmp(l->name, renamed[i].name) == 0)
			strcpy(l->name, renamed[i].ours);
	return l->cat[0] && l->name[0];
}

/* Returns 1 + the place of the line's names; 0: there are too many, or memory is out. */
static uint32_t name_of(struct pfw *p, const struct line *l)
{
	char key[2 * NAME_MAX_BYTES];
	size_t cat = strlen(l->cat) + 1, name = strlen(l->name);
	struct pfw_name *names;

	memcpy(key, l->cat, cat);
	memcpy(key + cat, l->name, name);
	names = table_get(&p->names, table_key(key, cat + name));
	if (!names)
		return 0;
	if (!names->cat[0]) { /* a new one: no category is empty */
		strcpy(names->cat, l->cat);
		strcpy(names->name, l->name);
	}
	return 1 + (uint32_t)(names - (const struct pfw_name *)p->names.values);
}

static void take_unit(struct file *f, const struct line *l)
{
	static const struct { const char *name; uint64_t ns; } units[] = {
		{ "NS", 1 }, { "US", 1000 }, { "MS", NSEC_PER_MSEC }, { "SEC", NSEC_PER_SEC },
	};

	for (size_t i = 0; strcmp(l->key, "time_metric") == 0 && i < ARRAY_SIZE(units); i++)
		if (strcmp(l->unit, units[i].name) == 0)
			f->unit_ns = units[i].ns;
}

static void take_region(struct file *f, const struct line *l, uint64_t pid)
{
	const uint64_t limit_ns = INT64_MAX / f->unit_ns;
	struct applog_time utc = { .clock = APPLOG_UTC };
	uint64_t begin_ns, end_ns;
	uint32_t name;
	bool before;

	if ((uint64_t)l->ts > limit_ns || (uint64_t)l->dur > limit_ns) {
		f->bad++;
		return;
	}
	utc.s = (int64_t)((uint64_t)l->ts * f->unit_ns / NSEC_PER_SEC);
	utc.ns = (uint32_t)((uint64_t)l->ts * f->unit_ns % NSEC_PER_SEC);
	begin_ns = phase_clock_in_file(&f->r->clock, &utc, f->last_ns);
	end_ns = begin_ns + (uint64_t)l->dur * f->unit_ns;
	if (!begin_ns || phase_clock_outside(&f->r->clock, begin_ns, &before) || phase_clock_outside(&f->r->clock, end_ns, &before)) {
		f->outside++;
		return;
	}
	f->last_ns = begin_ns;
	name = name_of(f->p, l);
	if (!name || f->p->n == REGIONS_MAX || util_room(&f->p->v, f->p->n, sizeof(*f->p->v)) < 0) {
		f->left_out++;
		return;
	}
	f->p->v[f->p->n++] = (struct pfw_region){
		.begin_ns = begin_ns, .end_ns = end_ns, .pid = pid, .tid = l->tid < 0 || l->tid == l->pid ? pid : (uint64_t)l->tid,
		.epoch = l->epoch, .step = l->step, .samples = (uint64_t)MAX(l->samples, 0), .name = name - 1,
		.file = f->p->n_files - 1,
	};
}

static void take_line(struct file *f, const char *text, size_t len)
{
	struct line l = { .pid = -1, .tid = -1, .ts = -1, .dur = -1, .epoch = -1, .step = -1, .samples = -1 };
	const uint64_t *process;

	if (!len || *text != '{')
		return;
	if (json_read(text, len, take_value, &l) < 0) {
		f->bad++;
		return;
	}
	take_unit(f, &l);
	if (!l.complete || !rename_region(&l))
		return;
	if (l.ts < 0 || l.dur < 0 || l.pid < 0) {
		f->bad++;
		return;
	}
	process = table_find(&f->p->processes, (uint64_t)l.pid + 1);
	if (!process || *process == UINT64_MAX)
		f->strangers++;
	else
		take_region(f, &l, *process - 1);
}

/* --- files ----------------------------------------------------------------------------------------------------- */

/* A line that is longer than the buffer is left out. Returns 0 or -errno. */
static int read_text(struct file *f, struct unpack *u)
{
	char *text = f->r->text;
	const size_t size = sizeof(f->r->text);
	size_t have = 0;
	bool skip = false;
	ssize_t got;

	while ((got = unpack_read(u, text + have, size - have)) > 0 && u->plain <= f->p->text_max_bytes) {
		char *line = text, *end = text + have + got, *newline;

		for (; (newline = memchr(line, '\n', (size_t)(end - line))); line = newline + 1) {
			if (!skip)
				take_line(f, line, (size_t)(newline - line));
			skip = false;
		}
		have = (size_t)(end - line);
		if (have == size) {
			f->bad += !skip;
			skip = true;
			have = 0;
		}
		memmove(text, line, have);
	}
	if (!got && !skip)
		take_line(f, text, have);
	return got > 0 ? -EFBIG : (int)got;
}

static int read_file(struct file *f, int fd)
{
	struct unpack_marks marks = { 0 };
	struct unpack u = { 0 };
	struct stat st;
	int res = fd < 0 ? fd : fstat(fd, &st) < 0 ? -errno : (uint64_t)st.st_size > f->p->text_max_bytes ? -EFBIG : 0;

	if (res < 0)
		util_close(&fd);
	else
		res = unpack_open(&u, fd, unpack_sniff(fd), (uint64_t)st.st_size, &marks);
	if (res == 0) {
		res = read_text(f, &u);
		f->bad += u.cut || u.damaged;
		unpack_close(&u);
	}
	unpack_marks_free(&marks);
	return res;
}

static void note_odd(const struct file *f, const char *name, int res)
{
	const struct { uint64_t n; const char *one, *others, *what; } odd[] = {
		{ f->bad, "line is", "lines are", "malformed, or cut off, and left out" },
		{ f->strangers, "region is", "regions are", "of processes that the trace does not have, and left out" },
		{ f->outside, "region is", "regions are", "outside of the trace, and left out" },
		{ f->left_out, "region is", "regions are", "left out: there are too many" },
	};

	if (res < 0)
		phase_note(f->r, "%s: cannot be read: %s", name, strerror(-res));
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		if (odd[i].n)
			phase_note(f->r, "%s: %s %s", name, FMT_N(odd[i].n, odd[i].one, odd[i].others), odd[i].what);
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

void pfw_read(struct pfw *p, struct phase_reader *r, int fd, const char *name)
{
	struct file f = { .p = p, .r = r, .unit_ns = 1000 };
	const uint32_t had = p->n;
	int res = add_file(p, name);

	if (res < 0)
		util_close(&fd);
	else
		res = read_file(&f, fd);
	note_odd(&f, name, res);
	if (res == 0 && p->n == had)
		phase_note(r, "%s: it has no region of this trace", name);
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
static void find_parts(struct table *parts, const struct pfw *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct pfw_region *v = &p->v[i];
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

void pfw_leave_out_doubtful(struct pfw *p, const struct phase_reader *r)
{
	autofree bool *doubtful = calloc(MAX(p->n_files, 1U), sizeof(*doubtful));
	struct table parts;
	uint32_t kept = 0;

	if (!doubtful)
		return;
	table_init(&parts, sizeof(struct part), PROCESSES_MAX);
	find_parts(&parts, p);
	mark_doubtful(doubtful, &parts);
	table_free(&parts);
	for (uint32_t i = 0; i < p->n; i++)
		if (!doubtful[p->v[i].file])
			p->v[kept++] = p->v[i];
	p->n = kept;
	for (uint32_t i = 0; i < p->n_files; i++)
		if (doubtful[i])
			phase_note(r, "%s: it is left out, as another .pfw has regions of its process at the same time: name the "
				   "right one with --app-log", p->files[i]);
}

/* --- regions --------------------------------------------------------------------------------------------------- */

static int by_end(const void *a, const void *b)
{
	const struct pfw_region *x = a, *y = b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return (x->begin_ns < y->begin_ns) - (x->begin_ns > y->begin_ns); /* the inner one first */
}

void pfw_end(struct pfw *p, void (*take)(void *ctx, const struct step_region *region), void *ctx)
{
	if (p->n)
		qsort(p->v, p->n, sizeof(*p->v), by_end);
	for (uint32_t i = 0; i < p->n; i++) {
		const struct pfw_region *v = &p->v[i];
		const struct pfw_name *name = table_at(&p->names, v->name);

		take(ctx, &(const struct step_region){
			.cat = name->cat, .cat_len = (uint32_t)strlen(name->cat), .name = name->name, .name_len = (uint32_t)strlen(name->name),
			.pid = v->pid, .tid = v->tid, .begin_ns = v->begin_ns, .end_ns = v->end_ns,
			.epoch = v->epoch, .number = v->step, .samples = v->samples,
		});
	}
}
