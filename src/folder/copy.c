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

static void put_row(struct copy *c, struct copied *n, const struct copy_file *f, const struct reader_row *row, FILE *out)
{
	const struct reader_field first = reader_field(row, 1);
	uint64_t ns;

	if (c->kind->put)
		c->kind->put(c->ctx, f, row, out);
	else
		fwrite(first.p, 1, (size_t)(row->text + row->stop[f->reader.n_columns] - first.p), out);
	fputc('\n', out);
	n->rows++;
	if (!reader_u64(reader_field(row, reader_column(&f->reader, "TIMESTAMP")), &ns))
		return;
	n->late += ns < n->last_ns;
	n->last_ns = MAX(n->last_ns, ns);
}

/* Notes what is wrong with F, whose rows have been read with ERROR. */
static void note_damage(struct copy *c, const struct copy_file *f, int error)
{
	const struct manifest_counts counted = manifest_counts_of(c->m, f->name);
	const uint64_t there = counted.rows - MIN(counted.rows, counted.dropped);
	const struct reader *r = &f->reader;
	const bool short_of = c->m->complete && there > r->rows, odd = r->bad_rows || r->cut || r->missing || r->bad || r->damaged;

	if (error < 0)
		log_err_r(error, "%s/%s.out: cannot be read to its end", c->from, f->name);
	else if (odd)
		log_err("%s/%s.out: rows or segments are damaged or missing; the rest is copied", c->from, f->name);
	else if (short_of)
		log_err("%s/%s.out: %s of %s rows that the manifest counts are not in the file; the rest is copied", c->from, f->name,
			FMT_COUNT(there - r->rows), FMT_COUNT(there));
	c->damaged |= error < 0 || odd || short_of;
}

static int copy_rows(struct copy *c, struct copied *n, struct copy_file *f, FILE *out)
{
	struct reader_row row;
	int res;

	fprintf(out, "# dltraced %s %u\n%s\n", f->name, f->reader.schema, f->reader.header_line);
	if (c->kind->file)
		c->kind->file(c->ctx, f);
	while ((res = reader_next(&f->reader, &row)) > 0) {
		if (c->kind->has && !c->kind->has(c->ctx, f, &row))
			n->left_out++;
		else
			put_row(c, n, f, &row, out);
		if (ferror(out))
			return -errno;
	}
	n->bytes = (uint64_t)ftello(out); /* once: for each row it would be a system call */
	note_damage(c, f, res);
	return 0;
}

static int write_file(struct copy *c, struct copied *n, struct copy_file *f, const char *file)
{
	int fd = new_folder_create(&c->made_folder, file), res;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out) {
		res = fd < 0 ? fd : -errno;
		util_close(&fd);
		return res;
	}
	snprintf(n->name, sizeof(n->name), "%s", f->name);
	res = copy_rows(c, n, f, out);
	if (fclose(out) != 0 && res == 0)
		res = -errno;
	return res;
}

/* Copies the file NAME, if FROM has it. */
static int copy_file(struct copy *c, const char *name)
{
	struct copy_file f = { .probe = probes[probe_find(name)] };
	autofree char *file = util_fmt("%s.out", name);
	int res = file ? reader_open(&f.reader, c->from_fd, file) : -ENOMEM;

	if (res == -ENOENT || res == -ENODATA)
		return 0;
	if (res < 0) {
		log_err_r(res, "%s/%s: cannot be read", c->from, file ? file : name);
		c->damaged = true;
		return 0;
	}
	snprintf(f.name, sizeof(f.name), "%s", name);
	if (c->n == FILES_MAX) {
		res = -E2BIG;
		log_err("%s: it has more than %u files with rows, and cannot be copied", c->from, FILES_MAX);
	} else {
		res = write_file(c, &c->file[c->n++], &f, file);
		if (res < 0)
			log_err_r(res, "%s/%s: cannot be written", c->to, file);
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
	autoclose int in = util_open_regular(c->from_fd, name, O_NOFOLLOW), out = in < 0 ? in : new_folder_create(&c->made_folder, name);
	char buf[1 << 14];
	ssize_t n = 0;

	while (out >= 0 && (n = read(in, buf, sizeof(buf))) > 0)
		if (util_write_all(out, buf, (size_t)n) < 0)
			return log_err_r(-errno, "%s/%s: cannot be written", c->to, name);
	return out < 0 || n < 0 ? log_err_r(out < 0 ? out : -errno, "%s/%s: cannot be copied", c->from, name) : 0;
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
static bool count_of(const struct copy *c, const char *key, uint64_t *n)
{
	const struct copied *of = c->of;

	if (!strcmp(key, "bytes")) {
		if (!c->kind->fewer && of->rows != c->counted.rows - MIN(c->counted.rows, c->counted.dropped))
			return false; /* rows are missing, and both counts show how many */
		*n = of->bytes + (c->kind->fewer ? 0 : c->counted.dropped_bytes);
		return true;
	}
	if (!c->kind->fewer)
		return false;
	const uint64_t dropped = c->kind->dropped ? MIN(c->kind->dropped(c->ctx, of->name), c->counted.dropped) : 0;

	*n = 0;
	if (!strcmp(key, "rows"))
		*n = of->rows + dropped;
	else if (!strcmp(key, "dropped"))
		*n = dropped;
	else if (!c->probe && strncmp(key, "dropped", 7))
		return false;
	else if (!strcmp(key, "calls"))
		*n = MIN(c->probe->calls, of->rows + dropped + c->probe->lost);
	else if (!strcmp(key, "late"))
		*n = of->late;
	else if (!strcmp(key, "unsure"))
		*n = MIN(c->probe->unsure, of->rows);
	else if (strcmp(key, "dropped_bytes") && strcmp(key, "summed") && strcmp(key, "filtered"))
		return false;
	return true;
}

/* A file's entry begins in the manifest's list of probes or collectors. */
static void begin_entry(struct copy *c, const char *text, size_t len)
{
	char name[SEGMENT_BASE_MAX];

	json_read_string(name, sizeof(name), text, len);
	c->counted = manifest_counts_of(c->m, name);
	c->probe = manifest_probe(c->m, name);
	c->of = NULL;
	for (unsigned int i = 0; i < c->n; i++)
		if (!strcmp(c->file[i].name, name))
			c->of = &c->file[i];
}

static char *edit(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
	static const struct {
		const char *path, *value;
	} fixed[] = {
		{ "segments", "[]" }, { "storage.compress", "null" }, { "storage.rotate_bytes", "0" }, { "storage.rotate_ns", "0" },
		{ "storage.keep_bytes", "0" },
	};
	struct copy *c = ctx;
	const char *count = !strncmp(path, "probes[].", 9) ? path + 9 : !strncmp(path, "collectors[].", 13) ? path + 13 : NULL;
	uint64_t n;

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		if (!strcmp(path, fixed[i].path))
			return strdup(fixed[i].value);
	if (!strcmp(path, c->kind->key))
		return strdup(c->made);
	if (count && !strcmp(count, "name") && event == JSON_STRING)
		begin_entry(c, text, len);
	if (count && event == JSON_WORD && c->of && count_of(c, count, &n))
		return util_fmt("%" PRIu64, n);
	return c->kind->value ? c->kind->value(c->ctx, path, event, text, len) : NULL;
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

static int describe(struct copy *c)
{
	struct json j = { .flat = true };
	uint64_t rows = 0, left_out = 0;

	for (unsigned int i = 0; i < c->n; i++) {
		rows += c->file[i].rows;
		left_out += c->file[i].left_out;
	}
	json_object(&j, NULL);
	c->kind->describe(c->ctx, &j, rows, left_out);
	json_end(&j);
	c->made = json_text(&j);
	return c->made ? 0 : -ENOMEM;
}

static int write_manifest(struct copy *c)
{
	autoclose int in = util_open_regular(c->from_fd, MANIFEST, 0), out = -1;
	autofree char *text = NULL, *edited = NULL, *first = NULL;
	struct look look = { .key = c->kind->key };
	size_t len;
	int res = in < 0 ? in : util_read_fd(in, MANIFEST_BYTES_MAX, &text, &len);

	if (res == 0)
		res = describe(c);
	if (res < 0)
		return res;
	json_read(text, len, look_for, &look);
	first = look.found ? strdup("") : util_fmt("\n  \"%s\": %s,", c->kind->key, c->made);
	res = first ? manifest_edit(text, len, first, edit, c, &edited) : -ENOMEM;
	if (res < 0)
		return res;
	out = new_folder_create(&c->made_folder, MANIFEST);
	return out < 0 ? out : util_write_all(out, edited, strlen(edited));
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

int copy_open(const char *dir, struct manifest_facts *m)
{
	autoclose int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int res = fd < 0 ? -errno : manifest_read_at(m, fd);

	if (fd < 0)
		return log_err_r(res, "%s: cannot be read: name a trace folder", dir);
	if (res == -ENOENT || (res == 0 && strcmp(m->tool, "dltraced"))) {
		log_err("%s is not a trace folder: it has no manifest.json of dltraced", dir);
		return -ENODATA;
	}
	if (res < 0)
		return log_err_r(res, "%s/manifest.json: cannot be read", dir);
	return TAKE_FD(fd);
}

static int make_folder(struct copy *c)
{
	int res = new_folder_make(&c->made_folder, c->to);

	if (res == -EEXIST)
		log_err("%s exists: name a new folder with -o", c->to);
	else if (res == -EAGAIN)
		log_err("%s: something else took this name while the folder was made; name one with -o where no other user may write",
			c->to);
	else if (res < 0)
		log_err_r(res, "%s: cannot be made", c->to);
	return res;
}

/* A copy that is not whole is none: what there is of it is removed, and nothing else. */
static void remove_folder(struct copy *c)
{
	int res = new_folder_remove(&c->made_folder);

	if (res < 0)
		log_err_r(res, "%s: this folder, of which nothing is a whole copy, could not be removed", c->to);
}

int copy_folder(const char *from, const char *to, const struct manifest_facts *m, const struct copy_kind *kind, void *ctx)
{
	struct copy c = { .from = from, .to = to, .from_fd = -1, .made_folder = NEW_FOLDER_NONE, .m = m, .kind = kind, .ctx = ctx };
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
