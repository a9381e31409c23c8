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
	struct files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	files->by_id = (struct table){ calloc(TABLE_MIN, sizeof(struct slot)), TABLE_MIN, 0 };
	files->by_path = (struct table){ calloc(TABLE_MIN, sizeof(struct slot)), TABLE_MIN, 0 };
	files->folders = calloc(FOLDERS_BITS / 8, 1);
	if (!files->by_id.slots || !files->by_path.slots || !files->folders) {
		files_free(files);
		return NULL;
	}
	return files;
}

void files_free(struct files *files)
{
	if (!files)
		return;
	for (uint32_t i = 0; i < files->n; i++)
		free(entry_at(files, i)->path);
	for (uint32_t i = 0; i < (files->n + CHUNK - 1) / CHUNK; i++)
		free(files->chunks[i]);
	free(files->chunks);
	free(files->by_id.slots);
	free(files->by_path.slots);
	free(files->folders);
	free(files);
}

/* Double TABLE when it is half full. Without memory it stays, and fills up. */
static void table_grow(struct table *table)
{
	struct table bigger = { .size = table->size * 2 };

	if (table->used * 2 < table->size)
		return;
	bigger.slots = calloc(bigger.size, sizeof(*bigger.slots));
	if (!bigger.slots)
		return;
	for (uint32_t i = 0; i < table->size; i++) {
		uint32_t at = table->slots[i].hash & (bigger.size - 1);

		if (!table->slots[i].fid || table->slots[i].fid == GONE)
			continue;
		while (bigger.slots[at].fid)
			at = (at + 1) & (bigger.size - 1);
		bigger.slots[at] = table->slots[i];
		bigger.used++;
	}
	free(table->slots);
	*table = bigger;
}

static struct file_entry *entry_new(struct files *files, const struct dlt_file_id *id)
{
	struct file_entry *entry;

	if (files->n % CHUNK == 0) {
		struct file_entry **chunks = realloc(files->chunks, (files->n / CHUNK + 1) * sizeof(*chunks));

		if (!chunks)
			return NULL;
		files->chunks = chunks;
		chunks[files->n / CHUNK] = calloc(CHUNK, sizeof(**chunks));
		if (!chunks[files->n / CHUNK])
			return NULL;
	}
	entry = entry_at(files, files->n++);
	*entry = (struct file_entry){ .fid = files->n, .file.id = *id, .lost_then = FILES_NEVER };
	return entry;
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

static struct file_entry *entry_add(struct files *files, const struct dlt_file_id *id, uint32_t hash)
{
	struct file_entry *entry;

	table_grow(&files->by_id);
	if (files->by_id.used + 1 >= files->by_id.size)
		return NULL;
	entry = entry_new(files, id);
	if (!entry)
		return NULL;
	*id_slot(files, id, hash) = (struct slot){ hash, entry->fid };
	files->by_id.used++;
	return files->last = entry;
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
static struct slot *path_find(const struct files *files, uint32_t view, const char *path, size_t len, uint32_t hash,
			      struct slot **place)
{
	uint32_t mask = files->by_path.size - 1;

	for (uint32_t at = hash & mask;; at = (at + 1) & mask) {
		struct slot *slot = &files->by_path.slots[at];
		const struct file_entry *entry;

		if (place && !*place && (!slot->fid || slot->fid == GONE))
			*place = slot;
		if (!slot->fid)
			return slot;
		if (slot->hash != hash || slot->fid == GONE)
			continue;
		entry = entry_at(files, slot->fid - 1);
		if (entry->view == view && entry->path_len == len && !memcmp(entry->path, path, len))
			return slot;
	}
}

struct file_entry *files_by_path(struct files *f, uint32_t view, const char *path, size_t len)
{
	uint32_t fid = len ? path_find(f, view, path, len, hash_path(path, len), NULL)->fid : 0;

	return fid ? entry_at(f, fid - 1) : NULL;
}

const struct file_entry *files_by_inode(const struct files *files, const char *path, size_t len, uint32_t dev,
					uint64_t ino)
{
	uint32_t mask = files->by_path.size - 1, hash = len ? hash_path(path, len) : 0;

	for (uint32_t at = hash & mask; len; at = (at + 1) & mask) {
		const struct slot *s = &files->by_path.slots[at];
		const struct file_entry *e;

		if (!s->fid)
			break;
		if (s->hash != hash || s->fid == GONE)
			continue;
		e = entry_at(files, s->fid - 1);
		if (e->file.id.dev == dev && (!ino || e->file.id.ino == ino) && e->path_len == len &&
		    !memcmp(e->path, path, len))
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
static void note_folders(struct files *files, const char *path, size_t len)
{
	uint64_t h = HASH_BEGIN;

	if (len && len == files->noted_len && !memcmp(files->noted, path, len))
		return;
	for (size_t i = 0; i < len; i++) {
		if (path[i] == '/')
			files->folders[folder_bit(h) / 8] |= 1U << folder_bit(h) % 8;
		h = hash_byte(h, path[i]);
	}
	files->noted_len = len <= sizeof(files->noted) ? len : 0;
	memcpy(files->noted, path, files->noted_len);
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
static bool name_copy(struct file_entry *entry, const char *path, size_t len, size_t base)
{
	/* of one byte it may be one that stands for no name */
	bool plain = len - base > 1 && text_is_plain(path, len);
	char *copy = malloc(plain ? len : len + TEXT_ESCAPED_MAX(len - base));

	if (!copy)
		return false;
	memcpy(copy, path, len);
	entry->path = copy;
	entry->path_len = (uint32_t)len;
	entry->plain = plain;
	entry->text = copy + (plain ? base : len);
	entry->text_len = (uint16_t)(plain ? len - base :
					     (size_t)(text_put_str(copy + len, path + base, len - base) - entry->text));
	return true;
}

/* By its path, ENTRY is who is meant from here on; without memory nobody is. */
static void path_enter(struct files *files, const struct file_entry *entry)
{
	uint32_t hash = hash_path(entry->path, entry->path_len);
	struct slot *at, *place = NULL;

	table_grow(&files->by_path);
	if (files->by_path.used + 1 >= files->by_path.size)
		return;
	/* a name that comes and goes, as locks do, takes the place that it left: its chain does not grow */
	at = path_find(files, entry->view, entry->path, entry->path_len, hash, &place);
	if (!at->fid)
		at = place;
	if (!at->fid)
		files->by_path.used++;
	*at = (struct slot){ hash, entry->fid };
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
static void move(struct files *files, uint32_t view, struct file_entry *entry, const char *from, size_t from_len,
		 const char *to, size_t to_len)
{
	char path[RECORD_PATH_MAX];
	size_t rest = entry->path_len - from_len;

	if (entry->path_len <= from_len || entry->path[from_len] != '/' || memcmp(entry->path, from, from_len) ||
	    entry->file.flags || to_len + rest > sizeof(path) ||
	    files_by_path(files, view, entry->path, entry->path_len) != entry)
		return;
	memcpy(mempcpy(path, to, to_len), entry->path + from_len, rest);
	if (files_name(files, entry, path, to_len + rest))
		entry->lost_then = FILES_NEVER;
}

void files_move_below(struct files *files, uint32_t view, const char *from, size_t from_len, const char *to,
		      size_t to_len, bool swapped)
{
	static const char aside[] = "//"; /* where no path begins: two files of one name must not meet */

	if (swapped) {
		files_move_below(files, view, from, from_len, aside, strlen(aside), false);
		files_move_below(files, view, to, to_len, from, from_len, false);
		from = aside;
		from_len = strlen(aside);
	}
	for (uint32_t i = 0, n = had_files(files, from, from_len) ? files->n : 0; i < n; i++)
		move(files, view, entry_at(files, i), from, from_len, to, to_len);
}

struct file_entry *files_at(struct files *f, uint32_t fid)
{
	return entry_at(f, fid - 1);
}

size_t files_count(const struct files *f)
{
	return f->n;
}
