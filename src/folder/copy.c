/* SPDX-License-Identifier: BSD-2-Clause */
/* See copy.h. */
#include "folder/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fmt.h"
#include "base/json.h"
#include "base/log.h"
#include "base/util.h"
#include "os/folder.h"
#include "report/scan/manifest_counts.h"
#include "trace/outdir.h"
#include "trace/probe.h"

#define FILES_MAX 64
#define MANIFEST_BYTES_MAX (16U << 20)
#define MANIFEST "manifest.json"

struct copied {
	char name[SEGMENT_BASE_MAX];
	uint64_t rows, bytes, late, last_ns;
	uint64_t left_out;
};

struct copy {
	const char *from, *to;
	int from_fd;
	struct new_folder made_folder;
	const struct manifest_facts *m;
	const struct copy_kind *kind;
	void *ctx;
	struct copied file[FILES_MAX];
	unsigned int n;
	bool damaged;
	char *made; /* the object of kind->key */
	const struct copied *of; /* the file whose counts the manifest has next; NULL: it is not copied */
	struct manifest_counts counted; /* the counts that the manifest had */
	const struct manifest_probe *probe; /* likewise; NULL: a collector */
};

/* --- rows -------------------------------------------------------------------------------------------------------- */

static void put_row(struct copy *copy, struct copied *copied, const struct copy_file *file,
		    const struct reader_row *row, FILE *out)
{
	const struct reader_field first = reader_field(row, 1);
	uint64_t ns;

	if (copy->kind->put)
		copy->kind->put(copy->ctx, file, row, out);
	else
		fwrite(first.p, 1, (size_t)(row->text + row->stop[file->reader.n_columns] - first.p), out);
	fputc('\n', out);
	copied->rows++;
	if (!reader_u64(reader_field(row, reader_column(&file->reader, "TIMESTAMP")), &ns))
		return;
	copied->late += ns < copied->last_ns;
	copied->last_ns = MAX(copied->last_ns, ns);
}

/* Notes what is wrong with FILE, whose rows have been read with ERROR. */
static void note_damage(struct copy *copy, const struct copy_file *file, int error)
{
	const struct manifest_counts counted = manifest_counts_of(copy->m, file->name);
	const uint64_t there = counted.rows - MIN(counted.rows, counted.dropped);
	const struct reader *reader = &file->reader;
	const bool short_of = copy->m->complete && there > reader->rows,
		   odd = reader->bad_rows || reader->cut || reader->missing || reader->bad || reader->damaged;

	if (error < 0)
		log_err_r(error, "%s/%s.out: cannot be read to its end", copy->from, file->name);
	else if (odd)
		log_err("%s/%s.out: rows or segments are damaged or missing; the rest is copied", copy->from,
			file->name);
	else if (short_of)
		log_err("%s/%s.out: %s of %s rows that the manifest counts are not in the file; the rest is copied",
			copy->from, file->name, FMT_COUNT(there - reader->rows), FMT_COUNT(there));
	copy->damaged |= error < 0 || odd || short_of;
}

static int copy_rows(struct copy *copy, struct copied *copied, struct copy_file *file, FILE *out)
{
	struct reader_row row;
	int res;

	fprintf(out, "# dltraced %s %u\n%s\n", file->name, file->reader.schema, file->reader.header_line);
	if (copy->kind->file)
		copy->kind->file(copy->ctx, file);
	while ((res = reader_next(&file->reader, &row)) > 0) {
		if (copy->kind->has && !copy->kind->has(copy->ctx, file, &row))
			copied->left_out++;
		else
			put_row(copy, copied, file, &row, out);
		if (ferror(out))
			return -errno;
	}
	copied->bytes = (uint64_t)ftello(out); /* once: for each row it would be a system call */
	note_damage(copy, file, res);
	return 0;
}

static int write_file(struct copy *copy, struct copied *copied, struct copy_file *copy_file, const char *file)
{
	int fd = new_folder_create(&copy->made_folder, file), res;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out) {
		res = fd < 0 ? fd : -errno;
		util_close(&fd);
		return res;
	}
	snprintf(copied->name, sizeof(copied->name), "%s", copy_file->name);
	res = copy_rows(copy, copied, copy_file, out);
	if (fclose(out) != 0 && res == 0)
		res = -errno;
	return res;
}

/* Copies the file NAME, if FROM has it. */
static int copy_file(struct copy *copy, const char *name)
{
	struct copy_file f = { .probe = probes[probe_find(name)] };
	autofree char *file = util_fmt("%s.out", name);
	int res = file ? reader_open(&f.reader, copy->from_fd, file) : -ENOMEM;

	if (res == -ENOENT || res == -ENODATA)
		return 0;
	if (res < 0) {
		log_err_r(res, "%s/%s: cannot be read", copy->from, file ? file : name);
		copy->damaged = true;
		return 0;
	}
	snprintf(f.name, sizeof(f.name), "%s", name);
	if (copy->n == FILES_MAX) {
		res = -E2BIG;
		log_err("%s: it has more than %u files with rows, and cannot be copied", copy->from, FILES_MAX);
	} else {
		res = write_file(copy, &copy->file[copy->n++], &f, file);
		if (res < 0)
			log_err_r(res, "%s/%s: cannot be written", copy->to, file);
	}
	reader_close(&f.reader);
	return res;
}

/* --- files ------------------------------------------------------------------------------------------------------- */

static bool is_copied(const struct copy *c, const char *name)
{
	for (unsigned int i = 0; i < c->n; i++)
		if (!strcmp(c->file[i].name, name))
			return true;
	return false;
}

/* Whether NAME is a file without rows that is a part of the trace. */
static bool is_other(const char *name)
{
	static const char *const names[] = { OUTDIR_LOG, OUTDIR_OWN_LOG };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static int copy_other(struct copy *c, const char *name)
{
	autoclose int in = util_open_regular(c->from_fd, name, O_NOFOLLOW),
		      out = in < 0 ? in : new_folder_create(&c->made_folder, name);
	char buf[1 << 14];
	ssize_t n = 0;

	while (out >= 0 && (n = read(in, buf, sizeof(buf))) > 0)
		if (util_write_all(out, buf, (size_t)n) < 0)
			return log_err_r(-errno, "%s/%s: cannot be written", c->to, name);
	if (out >= 0 && n >= 0)
		return 0;
	return log_err_r(out < 0 ? out : -errno, "%s/%s: cannot be copied", c->from, name);
}

/* Copies the collectors' files, which no table lists, and other files. */
static int copy_entry(void *ctx, const char *entry)
{
	struct copy *c = ctx;
	struct segment_name s;

	if (segment_parse(entry, &s))
		return is_copied(c, s.base) ? 0 : copy_file(c, s.base);
	return c->kind->others && is_other(entry) ? copy_other(c, entry) : 0;
}

static int copy_files(struct copy *c)
{
	int res = 0;

	for (unsigned int i = 1; i < DLT_PROBES && res == 0; i++)
		res = copy_file(c, probes[i]->name);
	return res < 0 ? res : segment_each_entry(c->from_fd, copy_entry, c);
}

/* --- the manifest ------------------------------------------------------------------------------------------------ */

/* Returns the new count of KEY for the current file; false: it stays. */
static bool count_of(const struct copy *copy, const char *key, uint64_t *n)
{
	const struct copied *of = copy->of;

	if (!strcmp(key, "bytes")) {
		if (!copy->kind->fewer &&
		    of->rows != copy->counted.rows - MIN(copy->counted.rows, copy->counted.dropped))
			return false; /* rows are missing, and both counts show how many */
		*n = of->bytes + (copy->kind->fewer ? 0 : copy->counted.dropped_bytes);
		return true;
	}
	if (!copy->kind->fewer)
		return false;
	const uint64_t dropped =
		copy->kind->dropped ? MIN(copy->kind->dropped(copy->ctx, of->name), copy->counted.dropped) : 0;

	*n = 0;
	if (!strcmp(key, "rows"))
		*n = of->rows + dropped;
	else if (!strcmp(key, "dropped"))
		*n = dropped;
	else if (!copy->probe && strncmp(key, "dropped", 7))
		return false;
	else if (!strcmp(key, "calls"))
		*n = MIN(copy->probe->calls, of->rows + dropped + copy->probe->lost);
	else if (!strcmp(key, "late"))
		*n = of->late;
	else if (!strcmp(key, "unsure"))
		*n = MIN(copy->probe->unsure, of->rows);
	else if (strcmp(key, "dropped_bytes") && strcmp(key, "summed") && strcmp(key, "brief") &&
		 strcmp(key, "filtered"))
		return false;
	return true;
}

/* A file's entry begins in the manifest's list of probes or collectors. */
static void begin_entry(struct copy *copy, const char *text, size_t len)
{
	char name[SEGMENT_BASE_MAX];

	json_read_string(name, sizeof(name), text, len);
	copy->counted = manifest_counts_of(copy->m, name);
	copy->probe = manifest_probe(copy->m, name);
	copy->of = NULL;
	for (unsigned int i = 0; i < copy->n; i++)
		if (!strcmp(copy->file[i].name, name))
			copy->of = &copy->file[i];
}

static char *edit(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
	static const struct {
		const char *path, *value;
	} fixed[] = {
		{ "segments", "[]" },         { "storage.compress", "null" }, { "storage.rotate_bytes", "0" },
		{ "storage.rotate_ns", "0" }, { "storage.keep_bytes", "0" },
	};
	struct copy *copy = ctx;
	const char *count = NULL;
	uint64_t n;

	if (!strncmp(path, "probes[].", 9))
		count = path + 9;
	else if (!strncmp(path, "collectors[].", 13))
		count = path + 13;

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		if (!strcmp(path, fixed[i].path))
			return strdup(fixed[i].value);
	if (!strcmp(path, copy->kind->key))
		return strdup(copy->made);
	if (count && !strcmp(count, "name") && event == JSON_STRING)
		begin_entry(copy, text, len);
	if (count && event == JSON_WORD && copy->of && count_of(copy, count, &n))
		return util_fmt("%" PRIu64, n);
	return copy->kind->value ? copy->kind->value(copy->ctx, path, event, text, len) : NULL;
}

struct look {
	const char *key;
	bool found;
};

static void look_for(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
	struct look *l = ctx;

	l->found |= !strcmp(path, l->key);
}

static int describe(struct copy *copy)
{
	struct json j = { .flat = true };
	uint64_t rows = 0, left_out = 0;

	for (unsigned int i = 0; i < copy->n; i++) {
		rows += copy->file[i].rows;
		left_out += copy->file[i].left_out;
	}
	json_object(&j, NULL);
	copy->kind->describe(copy->ctx, &j, rows, left_out);
	json_end(&j);
	copy->made = json_text(&j);
	return copy->made ? 0 : -ENOMEM;
}

static int write_manifest(struct copy *copy)
{
	autoclose int in = util_open_regular(copy->from_fd, MANIFEST, 0), out = -1;
	autofree char *text = NULL, *edited = NULL, *first = NULL;
	struct look look = { .key = copy->kind->key };
	size_t len;
	int res = in < 0 ? in : util_read_fd(in, MANIFEST_BYTES_MAX, &text, &len);

	if (res == 0)
		res = describe(copy);
	if (res < 0)
		return res;
	json_read(text, len, look_for, &look);
	first = look.found ? strdup("") : util_fmt("\n  \"%s\": %s,", copy->kind->key, copy->made);
	res = first ? manifest_edit(text, len, first, edit, copy, &edited) : -ENOMEM;
	if (res < 0)
		return res;
	out = new_folder_create(&copy->made_folder, MANIFEST);
	return out < 0 ? out : util_write_all(out, edited, strlen(edited));
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

int copy_open(const char *dir, struct manifest_facts *facts)
{
	autoclose int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int res = fd < 0 ? -errno : manifest_read_at(facts, fd);

	if (fd < 0)
		return log_err_r(res, "%s: cannot be read: name a trace folder", dir);
	if (res == -ENOENT || (res == 0 && strcmp(facts->tool, "dltraced"))) {
		log_err("%s is not a trace folder: it has no manifest.json of dltraced", dir);
		return -ENODATA;
	}
	if (res < 0)
		return log_err_r(res, "%s/manifest.json: cannot be read", dir);
	return TAKE_FD(fd);
}

static int make_folder(struct copy *copy)
{
	int res = new_folder_make(&copy->made_folder, copy->to);

	if (res == -EEXIST)
		log_err("%s exists: name a new folder with -o", copy->to);
	else if (res == -EAGAIN)
		log_err("%s: something else took this name while the folder was made; name one with -o where no other "
			"user may write",
			copy->to);
	else if (res < 0)
		log_err_r(res, "%s: cannot be made", copy->to);
	return res;
}

/* A copy that is not whole is none: what there is of it is removed, and nothing else. */
static void remove_folder(struct copy *c)
{
	int res = new_folder_remove(&c->made_folder);

	if (res < 0)
		log_err_r(res, "%s: this folder, of which nothing is a whole copy, could not be removed", c->to);
}

int copy_folder(const char *from, const char *to, const struct manifest_facts *facts, const struct copy_kind *kind,
		void *ctx)
{
	struct copy c = { .from = from,
			  .to = to,
			  .from_fd = -1,
			  .made_folder = NEW_FOLDER_NONE,
			  .m = facts,
			  .kind = kind,
			  .ctx = ctx };
	int res;

	c.from_fd = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	res = c.from_fd < 0 ? log_err_r(-errno, "%s: cannot be read", from) : make_folder(&c);
	if (res == 0)
		res = copy_files(&c);
	if (res == 0) {
		res = write_manifest(&c);
		if (res < 0)
			log_err_r(res, "%s/" MANIFEST ": cannot be written", to);
	}
	if (res < 0 && c.made_folder.fd >= 0)
		remove_folder(&c);
	free(c.made);
	util_close(&c.from_fd);
	new_folder_close(&c.made_folder);
	return res < 0 ? res : c.damaged;
}
