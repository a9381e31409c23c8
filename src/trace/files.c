/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two open-addressing tables (by identity, by path) over one array of entries. Tables start small
 * and double at half full: a large one touched at random costs more than it saves. A bitmap of hashes
 * tells which folders have never had a file below: those may be renamed without a look at all files.
 */
#include "trace/files.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "trace/field.h"

#define CHUNK 1024 /* entries never move: callers hold pointers to them */
#define TABLE_MIN 1024
#define FOLDERS_BITS (1U << 20) /* of 10 000 folders another one's name meets some bit in 1 % */

/* The hash beside the number: neither a look-up nor growing touches the entries of others. */
struct slot {
	uint32_t hash;
	uint32_t fid; /* 0: free, GONE: was taken, and the chain goes on behind it */
};
#define GONE UINT32_MAX

struct table {
	struct slot *slots;
	uint32_t size; /* a power of two */
	uint32_t used;
};

struct files {
	struct file_entry **chunks;
	uint32_t n;
	struct table by_id, by_path;
	struct file_entry *last;
	uint8_t *folders; /* a bit per hash; none is ever taken back */
	char noted[256]; /* the folder that was noted last, with those above it */
	size_t noted_len;
};

static struct file_entry *entry_at(const struct files *f, uint32_t i)
{
	return &f->chunks[i / CHUNK][i % CHUNK];
}

static uint32_t hash_id(const struct dlt_file_id *id)
{
	uint64_t h = id->ino * 0x9e3779b97f4a7c15ULL ^ ((uint64_t)id->dev << 32 | id->gen);

	return (uint32_t)((h ^ h >> 29) * 0xbf58476d1ce4e5b9ULL >> 16);
}

/* Of a folder: FNV-1a, 64 bit, since those above it come on the way. */
#define HASH_BEGIN 0xcbf29ce484222325ULL

static uint64_t hash_byte(uint64_t h, char c)
{
	return (h ^ (unsigned char)c) * 0x100000001b3ULL;
}

static uint32_t folder_bit(uint64_t h)
{
	return (uint32_t)(h ^ h >> 32) % FOLDERS_BITS;
}

/* Of a path: eight bytes at once, the last ones with some before them; mixed as in hash_id(). */
static uint32_t hash_path(const char *path, size_t len)
{
	uint64_t h = len, word = 0;

	if (len < sizeof(word)) {
		memcpy(&word, path, len);
		h ^= word;
	}
	for (size_t i = 0; len >= sizeof(word) && i < len; i += sizeof(word)) {
		memcpy(&word, path + MIN(i, len - sizeof(word)), sizeof(word));
		h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
	}
	return (uint32_t)(h * 0xbf58476d1ce4e5b9ULL >> 32);
}

static bool id_equal(const struct dlt_file_id *a, const struct dlt_file_id *b)
{
	return a->ino == b->ino && a->dev == b->dev && a->gen == b->gen;
}

struct files *files_new(void)
{
	struct files *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->by_id = (struct table){ calloc(TABLE_MIN, sizeof(struct slot)), TABLE_MIN, 0 };
	f->by_path = (struct table){ calloc(TABLE_MIN, sizeof(struct slot)), TABLE_MIN, 0 };
	f->folders = calloc(FOLDERS_BITS / 8, 1);
	if (!f->by_id.slots || !f->by_path.slots || !f->folders) {
		files_free(f);
		return NULL;
	}
	return f;
}

void files_free(struct files *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->n; i++)
		free(entry_at(f, i)->path);
	for (uint32_t i = 0; i < (f->n + CHUNK - 1) / CHUNK; i++)
		free(f->chunks[i]);
	free(f->chunks);
	free(f->by_id.slots);
	free(f->by_path.slots);
	free(f->folders);
	free(f);
}

/* Double T when it is half full. Without memory it stays, and fills up. */
static void table_grow(struct table *t)
{
	struct table bigger = { .size = t->size * 2 };

	if (t->used * 2 < t->size)
		return;
	bigger.slots = calloc(bigger.size, sizeof(*bigger.slots));
	if (!bigger.slots)
		return;
	for (uint32_t i = 0; i < t->size; i++) {
		uint32_t at = t->slots[i].hash & (bigger.size - 1);

		if (!t->slots[i].fid || t->slots[i].fid == GONE)
			continue;
		while (bigger.slots[at].fid)
			at = (at + 1) & (bigger.size - 1);
		bigger.slots[at] = t->slots[i];
		bigger.used++;
	}
	free(t->slots);
	*t = bigger;
}

static struct file_entry *entry_new(struct files *f, const struct dlt_file_id *id)
{
	struct file_entry *e;

	if (f->n % CHUNK == 0) {
		struct file_entry **chunks = realloc(f->chunks, (f->n / CHUNK + 1) * sizeof(*chunks));

		if (!chunks)
			return NULL;
		f->chunks = chunks;
		chunks[f->n / CHUNK] = calloc(CHUNK, sizeof(**chunks));
		if (!chunks[f->n / CHUNK])
			return NULL;
	}
	e = entry_at(f, f->n++);
	*e = (struct file_entry){ .fid = f->n, .file.id = *id, .lost_then = FILES_NEVER };
	return e;
}

/* The slot of ID, or the free one that it would have; one is always free. */
static struct slot *id_slot(const struct files *f, const struct dlt_file_id *id, uint32_t hash)
{
	uint32_t mask = f->by_id.size - 1;

	for (uint32_t at = hash & mask;; at = (at + 1) & mask) {
		struct slot *s = &f->by_id.slots[at];

		if (!s->fid || (s->hash == hash && id_equal(&entry_at(f, s->fid - 1)->file.id, id)))
			return s;
	}
}

static struct file_entry *entry_add(struct files *f, const struct dlt_file_id *id, uint32_t hash)
{
	struct file_entry *e;

	table_grow(&f->by_id);
	if (f->by_id.used + 1 >= f->by_id.size)
		return NULL;
	e = entry_new(f, id);
	if (!e)
		return NULL;
	*id_slot(f, id, hash) = (struct slot){ hash, e->fid };
	f->by_id.used++;
	return f->last = e;
}

struct file_entry *files_get(struct files *f, const struct dlt_file_id *id)
{
	uint32_t hash, fid;

	if (f->last && id_equal(&f->last->file.id, id))
		return f->last;
	hash = hash_id(id);
	fid = id_slot(f, id, hash)->fid;
	return fid ? (f->last = entry_at(f, fid - 1)) : entry_add(f, id, hash);
}

const struct file_entry *files_find(const struct files *f, const struct dlt_file_id *id)
{
	uint32_t fid;

	if (f->last && id_equal(&f->last->file.id, id))
		return f->last;
	fid = id->ino && f->n ? id_slot(f, id, hash_id(id))->fid : 0;
	return fid ? entry_at(f, fid - 1) : NULL;
}

/* The slot of a path, or the first free one of its chain; PLACE (or NULL): where it would go. */
static struct slot *path_find(const struct files *f, uint32_t view, const char *path, size_t len, uint32_t hash,
			      struct slot **place)
{
	uint32_t mask = f->by_path.size - 1;

	for (uint32_t at = hash & mask;; at = (at + 1) & mask) {
		struct slot *s = &f->by_path.slots[at];
		const struct file_entry *e;

		if (place && !*place && (!s->fid || s->fid == GONE))
			*place = s;
		if (!s->fid)
			return s;
		if (s->hash != hash || s->fid == GONE)
			continue;
		e = entry_at(f, s->fid - 1);
		if (e->view == view && e->path_len == len && !memcmp(e->path, path, len))
			return s;
	}
}

struct file_entry *files_by_path(struct files *f, uint32_t view, const char *path, size_t len)
{
	uint32_t fid = len ? path_find(f, view, path, len, hash_path(path, len), NULL)->fid : 0;

	return fid ? entry_at(f, fid - 1) : NULL;
}

const struct file_entry *files_by_inode(const struct files *f, const char *path, size_t len, uint32_t dev, uint64_t ino)
{
	uint32_t mask = f->by_path.size - 1, hash = len ? hash_path(path, len) : 0;

	for (uint32_t at = hash & mask; len; at = (at + 1) & mask) {
		const struct slot *s = &f->by_path.slots[at];
		const struct file_entry *e;

		if (!s->fid)
			break;
		if (s->hash != hash || s->fid == GONE)
			continue;
		e = entry_at(f, s->fid - 1);
		if (e->file.id.dev == dev && (!ino || e->file.id.ino == ino) && e->path_len == len && !memcmp(e->path, path, len))
			return e;
	}
	return NULL;
}

void files_forget_path(struct files *f, uint32_t view, const char *path, size_t len)
{
	struct slot *s = path_find(f, view, path, len, hash_path(path, len), NULL);

	if (len && s->fid)
		s->fid = GONE;
}

/* E's old name leads here no longer, unless another file took it over. */
void files_forget(struct files *f, const struct file_entry *e)
{
	if (e->path_len && files_by_path(f, e->view, e->path, e->path_len) == e)
		files_forget_path(f, e->view, e->path, e->path_len);
}

static bool has_component(const char *path, size_t path_len, const char *name, size_t len)
{
	const char *end = path + path_len;

	for (const char *at = path; (at = memmem(at, (size_t)(end - at), name, len)); at++)
		if ((at == path || at[-1] == '/') && (at + len == end || at[len] == '/'))
			return true;
	return false;
}

void files_forget_name(struct files *f, const char *name, size_t len)
{
	for (uint32_t i = 0; len && i < f->n; i++) {
		struct file_entry *e = entry_at(f, i);

		if (e->path_len && has_component(e->path, e->path_len, name, len))
			files_forget(f, e);
	}
}

/* The folders that PATH, of LEN bytes with its last slash, is below: mostly those of the file before. */
static void note_folders(struct files *f, const char *path, size_t len)
{
	uint64_t h = HASH_BEGIN;

	if (len && len == f->noted_len && !memcmp(f->noted, path, len))
		return;
	for (size_t i = 0; i < len; i++) {
		if (path[i] == '/')
			f->folders[folder_bit(h) / 8] |= 1U << folder_bit(h) % 8;
		h = hash_byte(h, path[i]);
	}
	f->noted_len = len <= sizeof(f->noted) ? len : 0;
	memcpy(f->noted, path, f->noted_len);
}

static bool had_files(const struct files *f, const char *path, size_t len)
{
	uint64_t h = HASH_BEGIN;

	for (size_t i = 0; i < len; i++)
		h = hash_byte(h, path[i]);
	return f->folders[folder_bit(h) / 8] >> folder_bit(h) % 8 & 1;
}

static void name_free(struct file_entry *e)
{
	free(TAKE_PTR(e->path));
	e->path_len = 0;
}

/* In a copy of PATH, where it is to be its own text it is its end; else it lies behind. */
static bool name_copy(struct file_entry *e, const char *path, size_t len, size_t base)
{
	/* of one byte it may be one that stands for no name */
	bool plain = len - base > 1 && text_is_plain(path, len);
	char *copy = malloc(plain ? len : len + TEXT_ESCAPED_MAX(len - base));

	if (!copy)
		return false;
	memcpy(copy, path, len);
	e->path = copy;
	e->path_len = (uint32_t)len;
	e->plain = plain;
	e->text = copy + (plain ? base : len);
	e->text_len = (uint16_t)(plain ? len - base : (size_t)(text_put_str(copy + len, path + base, len - base) - e->text));
	return true;
}

/* By its path, E is who is meant from here on; without memory nobody is. */
static void path_enter(struct files *f, const struct file_entry *e)
{
	uint32_t hash = hash_path(e->path, e->path_len);
	struct slot *at, *place = NULL;

	table_grow(&f->by_path);
	if (f->by_path.used + 1 >= f->by_path.size)
		return;
	/* a name that comes and goes, as locks do, takes the place that it left: its chain does not grow */
	at = path_find(f, e->view, e->path, e->path_len, hash, &place);
	if (!at->fid)
		at = place;
	if (!at->fid)
		f->by_path.used++;
	*at = (struct slot){ hash, e->fid };
}

bool files_name(struct files *f, struct file_entry *e, const char *path, size_t len)
{
	bool same = len && e->path_len == len && !memcmp(e->path, path, len);
	const char *slash = len ? memrchr(path, '/', len) : NULL;
	size_t base = slash ? (size_t)(slash + 1 - path) : 0;

	if (!len)
		return false;
	if (!same || e->view != e->file.view)
		files_forget(f, e);
	e->view = e->file.view;
	if (!same) {
		name_free(e);
		if (!name_copy(e, path, len, base < len ? base : 0))
			return false;
	}
	/* nobody can mean a file by the path that it had, or that is not the whole of it */
	if (!e->file.flags) {
		note_folders(f, path, base);
		path_enter(f, e); /* also the same one: it may have been another file's meanwhile */
	}
	return !same;
}

/* A deleted file keeps its last path, and one whose path becomes too long. */
static void move(struct files *f, uint32_t view, struct file_entry *e, const char *from, size_t from_len, const char *to,
		 size_t to_len)
{
	char path[RECORD_PATH_MAX];
	size_t rest = e->path_len - from_len;

	if (e->path_len <= from_len || e->path[from_len] != '/' || memcmp(e->path, from, from_len) ||
	    e->file.flags || to_len + rest > sizeof(path) || files_by_path(f, view, e->path, e->path_len) != e)
		return;
	memcpy(mempcpy(path, to, to_len), e->path + from_len, rest);
	if (files_name(f, e, path, to_len + rest))
		e->lost_then = FILES_NEVER;
}

void files_move_below(struct files *f, uint32_t view, const char *from, size_t from_len, const char *to, size_t to_len,
		      bool swapped)
{
	static const char aside[] = "//"; /* where no path begins: two files of one name must not meet */

	if (swapped) {
		files_move_below(f, view, from, from_len, aside, strlen(aside), false);
		files_move_below(f, view, to, to_len, from, from_len, false);
		from = aside;
		from_len = strlen(aside);
	}
	for (uint32_t i = 0, n = had_files(f, from, from_len) ? f->n : 0; i < n; i++)
		move(f, view, entry_at(f, i), from, from_len, to, to_len);
}

struct file_entry *files_at(struct files *f, uint32_t fid)
{
	return entry_at(f, fid - 1);
}

size_t files_count(const struct files *f)
{
	return f->n;
}
