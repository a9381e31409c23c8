/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/rows/names.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/util.h"
#include "dlt/create_del.h"
#include "drain/rows/decode.h"
#include "trace/field.h"
#include "trace/files.h"
#include "trace/probe.h"
#include "trace/record.h"

/* For more calls than can be between the look-up of their names and their end, but when a server does not answer. */
#define KEPT_BYTES (4U << 20)

/* The records one after the other, in the order of their coming. */
struct names {
	uint32_t used;
	uint32_t room;
	char recs[] __attribute__((aligned(8)));
};

/* --- what the kernel found -------------------------------------------------------------------------- */

static uint64_t start_of(const struct dlt_hdr *hdr)
{
	return hdr->ts_ns - hdr->lat_ns;
}

/* A record's bytes among the others. */
static uint32_t extent(const struct dlt_cd_names *rec)
{
	return (rec->hdr.size + 7) & ~7U;
}

/* Returns what is kept of thread TID, or NULL. */
static struct dlt_cd_names *kept_of(struct names *names, uint32_t tid)
{
	for (uint32_t at = 0; names && at < names->used;) {
		struct dlt_cd_names *rec = (void *)(names->recs + at);

		if (rec->hdr.tid == tid)
			return rec;
		at += extent(rec);
	}
	return NULL;
}

static void drop(struct names *names, struct dlt_cd_names *rec)
{
	const char *next = (char *)rec + extent(rec);
	size_t behind = (size_t)(names->recs + names->used - next);

	names->used -= extent(rec);
	memmove(rec, next, behind);
}

/* The state of create_del: NULL until a call's names are kept. A single allocation. */
static struct names *names_of(const struct decode *d)
{
	return d->state[DLT_create_del];
}

/* Returns whether there is room for BYTES more. */
static bool grow(struct decode *decode, uint32_t bytes)
{
	struct names *names = names_of(decode), *bigger;
	uint32_t used = names ? names->used : 0, room = names ? names->room : 0;

	if (used + bytes <= room)
		return true;
	room = MAX(2 * room, used + bytes);
	bigger = realloc(names, sizeof(*bigger) + room);
	if (!bigger)
		return false;
	bigger->used = used;
	bigger->room = room;
	decode->state[DLT_create_del] = bigger;
	return true;
}

/* Without memory it is as if it had been lost; where there are too many, the first one is that of a call that was lost.
 */
void names_keep(struct decode *decode, const struct dlt_cd_names *found)
{
	struct names *names = names_of(decode);
	struct dlt_cd_names *old = kept_of(names, found->hdr.tid);

	if (old)
		drop(names, old);
	while (names && names->used && names->used + extent(found) > KEPT_BYTES)
		drop(names, (void *)names->recs);
	if (!grow(decode, extent(found)))
		return;
	names = names_of(decode);
	memcpy(names->recs + names->used, found, found->hdr.size);
	names->used += extent(found);
}

/* One name of a call. */
struct name {
	struct dlt_file_id id;
	struct file_entry *e; /* NULL: the table does not have the file */
	bool is_dir, is_last; /* it is the file's only name */
	char path[RECORD_PATH_MAX];
	size_t len; /* 0: the path is out of the process's sight, or too long */
};

static void name_read(struct decode *decode, const struct dlt_cd_names *found, unsigned int i, struct name *name)
{
	static const struct probe shape = { .rec_size = sizeof(*found) };
	size_t len;
	const char *seg = record_seg(&shape, found, offsetof(struct dlt_cd_names, segs), i, &len);
	const struct file_entry *e = files_find(decode->ctx.files, &found->file[i].id);

	name->id = found->file[i].id;
	name->e = e ? files_at(decode->ctx.files, e->fid) : NULL;
	name->is_dir = S_ISDIR(found->file[i].mode);
	name->is_last = name->is_dir || found->file[i].links <= 1;
	name->len = seg && !found->file[i].flags ? record_path(name->path, seg, len) : 0;
}

static bool same_id(const struct name *a, const struct name *b)
{
	return a->id.ino == b->id.ino && a->id.dev == b->id.dev && a->id.gen == b->id.gen;
}

static const char *base_of(const char *path, size_t len, size_t *len_ret)
{
	const char *slash = len ? memrchr(path, '/', len) : NULL;
	const char *base = slash ? slash + 1 : path;

	*len_ret = (size_t)(path + len - base);
	return base;
}

/* Is NAME the one that its file is known by? Of several links another one may be; seen from another root it has another
 * path. */
static bool is_known_by(const struct name *name, uint32_t view)
{
	const struct file_entry *entry = name->e;
	size_t len, known_len;
	const char *base, *known;

	if (!entry || name->is_last || !entry->path_len)
		return entry;
	if (entry->view == view)
		return entry->path_len == name->len && !memcmp(entry->path, name->path, name->len);
	base = base_of(name->path, name->len, &len);
	known = base_of(entry->path, entry->path_len, &known_len);
	return len == known_len && !memcmp(base, known, len);
}

/* The file of FROM has the path of TO now, as those see it who have VIEW. */
static void file_at(struct decode *d, const struct dlt_hdr *hdr, uint32_t view, const struct name *from,
		    const struct name *to, bool known)
{
	files_forget_path(d->ctx.files, view, to->path, to->len); /* what had that name before */
	if (!known)
		return;
	from->e->file.view = view;
	from->e->file.flags = 0;
	decode_file_moved(d, hdr, from->e, to->path, to->len);
}

static void name_removed(struct decode *d, uint32_t view, const struct name *name)
{
	files_forget_path(d->ctx.files, view, name->path, name->len);
	if (name->e && name->is_last)
		files_forget(d->ctx.files, name->e);
}

static void name_moved(struct decode *decode, const struct dlt_hdr *hdr, uint32_t view, const struct name *from,
		       const struct name *to, bool swapped)
{
	bool known = is_known_by(from, view), known_too = swapped && is_known_by(to, view);

	if (same_id(from, to))
		return; /* two names of one file: it does nothing */
	if (!from->len || !to->len) {
		for (int i = 0; i < 2; i++)
			if ((i ? to : from)->e)
				files_forget(decode->ctx.files, (i ? to : from)->e);
		return;
	}
	if (!swapped)
		name_removed(decode, view, to);
	files_forget_path(decode->ctx.files, view, from->path, from->len);
	file_at(decode, hdr, view, from, to, known);
	if (swapped)
		file_at(decode, hdr, view, to, from, known_too);
	if (from->is_dir || (swapped && to->is_dir))
		files_move_below(decode->ctx.files, view, from->path, from->len, to->path, to->len, swapped);
}

/* A file without a name, as one of O_TMPFILE, has one now. */
static void name_linked(struct decode *d, const struct dlt_hdr *hdr, uint32_t view, const struct name *from,
			const struct name *to)
{
	if (to->len)
		file_at(d, hdr, view, from, to, from->e && from->e->file.flags & DLT_PATH_DELETED);
}

/* Paths with the last component of PATH lead to no file. */
static void forget_base(struct decode *d, const char *path, size_t len)
{
	const char *base;
	size_t base_len;

	while (len && path[len - 1] == '/')
		len--;
	base = base_of(path, len, &base_len);
	files_forget_name(d->ctx.files, base, base_len);
}

/* What was found did not come: whatever the passed paths may mean is not known by path. */
static void names_lost(struct decode *d, const struct dlt_create_del *rec)
{
	char path[RECORD_PATH_MAX];

	for (unsigned int i = 0; i < 2; i++) {
		size_t len =
			record_abs_seg(path, &create_del_probe, rec, offsetof(struct dlt_create_del, segs), i, 2 + i);

		if (len)
			forget_base(d, path, len);
	}
}

/* Does what DEED has done; returns the identity of the first path's file. */
static struct dlt_file_id apply(struct decode *decode, const struct dlt_create_del *rec,
				const struct dlt_cd_names *found, enum names_deed deed)
{
	struct name from, to;

	name_read(decode, found, 0, &from);
	name_read(decode, found, 1, &to);
	if (deed == NAMES_REMOVED)
		name_removed(decode, rec->view, &from);
	else if (deed == NAMES_MOVED || deed == NAMES_SWAPPED)
		name_moved(decode, &rec->hdr, rec->view, &from, &to, deed == NAMES_SWAPPED);
	else if (deed == NAMES_LINKED)
		name_linked(decode, &rec->hdr, rec->view, &from, &to);
	return from.e ? from.id : (struct dlt_file_id){};
}

struct dlt_file_id names_found(struct decode *decode, const struct dlt_create_del *rec, enum names_deed deed)
{
	struct dlt_cd_names *found = kept_of(names_of(decode), rec->hdr.tid);
	struct dlt_file_id id = {};

	/* else of an earlier call, whose record was lost */
	if (found && rec->named == DLT_CD_NAMED_SENT && start_of(&found->hdr) == start_of(&rec->hdr))
		id = apply(decode, rec, found, deed);
	else if (deed != NAMES_NONE)
		names_lost(decode, rec);
	if (found)
		drop(names_of(decode), found);
	return id;
}

/* --- by the path as passed ---------------------------------------------------------------------------- */

/* Which folder PATH goes through cannot be read off it: before ".." there may be a link, or its base is not known. */
static bool is_ambiguous(const char *path, size_t len)
{
	for (size_t at = 0; at + 2 <= len; at++)
		if ((!at || path[at - 1] == '/') && path[at] == '.' && path[at + 1] == '.' &&
		    (at + 2 == len || path[at + 2] == '/'))
			return true;
	return len && path[0] != '/';
}

/* By PATH something was moved, removed or replaced: where that may be anywhere, paths with its name lead to no file. */
static void forget_ambiguous(struct decode *d, const char *path, size_t len)
{
	if (is_ambiguous(path, len))
		forget_base(d, path, len);
}

struct dlt_file_id names_by_path(struct decode *decode, const struct dlt_hdr *hdr, uint32_t view, const char *path,
				 size_t len, const char *new_path, size_t new_len, bool swapped)
{
	struct file_entry *entry = files_by_path(decode->ctx.files, view, path, len);
	struct file_entry *other = swapped ? files_by_path(decode->ctx.files, view, new_path, new_len) : NULL;

	if (entry && !new_path)
		files_forget_path(decode->ctx.files, view, path, len);
	else if (entry)
		decode_file_moved(decode, hdr, entry, new_path, new_len);
	else if (new_path && !swapped)
		files_forget_path(decode->ctx.files, view, new_path,
				  new_len); /* a file that is known by another link, or not at all */
	if (other)
		decode_file_moved(decode, hdr, other, path, len);
	/* a folder can be renamed without being opened, so an unknown file may be one */
	if (new_path && (new_len != len || memcmp(path, new_path, len)) &&
	    (!entry || S_ISDIR(entry->file.mode) || (swapped && (!other || S_ISDIR(other->file.mode)))))
		files_move_below(decode->ctx.files, view, path, len, new_path, new_len, swapped);
	if (new_path != path) {
		forget_ambiguous(decode, path, len);
		if (new_path)
			forget_ambiguous(decode, new_path, new_len);
	}
	return entry ? entry->file.id : (struct dlt_file_id){};
}
