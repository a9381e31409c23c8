/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two open-addressing tables (by identity, by path) over one array of entries. Tables start small
 * and double at half full: a large one touched at random costs more than it saves. A bitmap of hashes
 * tells which folders have never had a file below: those may be renamed without a look at all files.
 */
#include "files.h"

#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "text.h"
#include "util.h"

#define CHUNK 1024 /* entries never move: callers hold pointers to them */
#define TABLE_MIN 1024
#define FOLDERS_BITS (1U << 20) /* of 10 000 folders another one's name meets some bit in 1 % */

struct table {
	uint32_t *slots; /* index + 1, 0 free */
	uint32_t size;	 /* a power of two */
	uint32_t used;
};

struct files {
	struct file_entry **chunks;
	uint32_t n;
	struct table by_id, by_path;
	struct file_entry *last;
	uint8_t *folders; /* a bit per hash; none is ever taken back */
};

static struct file_entry *entry_at(const struct files *f, uint32_t i)
{
	return &f->chunks[i / CHUNK][i % CHUNK];
}

static uint64_t hash_id(const struct dlt_file_id *id)
{
	uint64_t h = id->ino * 0x9e3779b97f4a7c15ULL ^ ((uint64_t)id->dev << 32 | id->gen);

	return (h ^ h >> 29) * 0xbf58476d1ce4e5b9ULL >> 16;
}

/* FNV-1a, 64 bit. */
#define HASH_BEGIN 0xcbf29ce484222325ULL

static uint64_t hash_byte(uint64_t h, char c)
{
	return (h ^ (unsigned char)c) * 0x100000001b3ULL;
}

static uint64_t hash_end(uint64_t h)
{
	return h ^ h >> 32;
}

static uint64_t hash_path(const char *path, size_t len)
{
	uint64_t h = HASH_BEGIN;

	for (size_t i = 0; i < len; i++)
		h = hash_byte(h, path[i]);
	return hash_end(h);
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
	f->by_id = (struct table){ calloc(TABLE_MIN, sizeof(uint32_t)), TABLE_MIN, 0 };
	f->by_path = (struct table){ calloc(TABLE_MIN, sizeof(uint32_t)), TABLE_MIN, 0 };
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

/* Double T when it is half full; HASH gives an entry's hash. Without memory it stays, and fills up. */
static void table_grow(struct files *f, struct table *t, uint64_t (*hash)(const struct file_entry *))
{
	struct table bigger = { .size = t->size * 2 };

	if (t->used * 2 < t->size)
		return;
	bigger.slots = calloc(bigger.size, sizeof(uint32_t));
	if (!bigger.slots)
		return;
	for (uint32_t i = 0; i < t->size; i++) {
		uint32_t at;

		if (!t->slots[i] || t->slots[i] > f->n) /* a tombstone */
			continue;
		at = (uint32_t)hash(entry_at(f, t->slots[i] - 1)) & (bigger.size - 1);
		while (bigger.slots[at])
			at = (at + 1) & (bigger.size - 1);
		bigger.slots[at] = t->slots[i];
		bigger.used++;
	}
	free(t->slots);
	*t = bigger;
}

static uint64_t entry_hash_id(const struct file_entry *e)
{
	return hash_id(&e->id);
}

static uint64_t entry_hash_path(const struct file_entry *e)
{
	return hash_path(e->path, e->path_len);
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
	*e = (struct file_entry){ .id = *id, .fid = f->n, .file.id = *id, .told = FILES_NEVER };
	return e;
}

/* The slot of ID, or the free one that it would have; one is always free. */
static uint32_t id_slot(const struct files *f, const struct dlt_file_id *id)
{
	uint32_t mask = f->by_id.size - 1, at = (uint32_t)hash_id(id) & mask;

	while (f->by_id.slots[at] && !id_equal(&entry_at(f, f->by_id.slots[at] - 1)->id, id))
		at = (at + 1) & mask;
	return at;
}

static struct file_entry *entry_add(struct files *f, const struct dlt_file_id *id)
{
	struct file_entry *e;

	table_grow(f, &f->by_id, entry_hash_id);
	if (f->by_id.used + 1 >= f->by_id.size)
		return NULL;
	e = entry_new(f, id);
	if (!e)
		return NULL;
	f->by_id.slots[id_slot(f, id)] = e->fid;
	f->by_id.used++;
	return f->last = e;
}

struct file_entry *files_get(struct files *f, const struct dlt_file_id *id)
{
	uint32_t fid;

	if (f->last && id_equal(&f->last->id, id))
		return f->last;
	fid = f->by_id.slots[id_slot(f, id)];
	return fid ? (f->last = entry_at(f, fid - 1)) : entry_add(f, id);
}

/* The slot of a path, or the first free one of its chain. */
static uint32_t path_slot(struct files *f, const char *path, size_t len)
{
	uint32_t mask = f->by_path.size - 1, at = (uint32_t)hash_path(path, len) & mask;

	for (; f->by_path.slots[at]; at = (at + 1) & mask) {
		struct file_entry *e;

		if (f->by_path.slots[at] == UINT32_MAX)
			continue;
		e = entry_at(f, f->by_path.slots[at] - 1);
		if (e->path_len == len && !memcmp(e->path, path, len))
			break;
	}
	return at;
}

struct file_entry *files_by_path(struct files *f, const char *path, size_t len)
{
	uint32_t slot = len ? f->by_path.slots[path_slot(f, path, len)] : 0;

	return slot ? entry_at(f, slot - 1) : NULL;
}

void files_forget_path(struct files *f, const char *path, size_t len)
{
	uint32_t at = path_slot(f, path, len);

	if (len && f->by_path.slots[at])
		f->by_path.slots[at] = UINT32_MAX; /* a tombstone: the chain goes on behind it */
}

static void note_folders(struct files *f, const char *path, size_t len)
{
	uint64_t h = HASH_BEGIN;

	for (size_t i = 0; i < len; i++) {
		uint64_t bit = hash_end(h) % FOLDERS_BITS;

		if (path[i] == '/')
			f->folders[bit / 8] |= 1U << bit % 8;
		h = hash_byte(h, path[i]);
	}
}

static bool had_files(const struct files *f, const char *path, size_t len)
{
	uint64_t bit = hash_path(path, len) % FOLDERS_BITS;

	return f->folders[bit / 8] >> bit % 8 & 1;
}

bool files_name(struct files *f, struct file_entry *e, const char *path, size_t len)
{
	const char *slash;
	char *copy, *end;
	size_t base;
	uint32_t at;

	if (!len || (e->path_len == len && !memcmp(e->path, path, len)))
		return false;
	slash = memrchr(path, '/', len);
	base = slash && slash + 1 < path + len ? (size_t)(slash + 1 - path) : 0;
	copy = malloc(len + TEXT_ESCAPED_MAX(len - base));
	if (!copy)
		return false;
	memcpy(copy, path, len);
	end = text_put_str(copy + len, path + base, len - base);
	/* the old name leads here no longer, unless another file took it over */
	if (e->path && files_by_path(f, e->path, e->path_len) == e)
		files_forget_path(f, e->path, e->path_len);
	free(e->path);
	e->path = copy;
	e->path_len = (uint32_t)len;
	e->text = copy + len;
	e->text_len = (uint16_t)(end - e->text);
	/* nobody can mean a file by the path that it had, or that is not the whole of it */
	if (e->file.flags)
		return true;
	note_folders(f, path, len);
	table_grow(f, &f->by_path, entry_hash_path);
	if (f->by_path.used + 1 >= f->by_path.size)
		return true;
	at = path_slot(f, path, len);
	if (!f->by_path.slots[at])
		f->by_path.used++;
	f->by_path.slots[at] = e->fid;
	return true;
}

/* A deleted file keeps its last path, and one whose path becomes too long. */
static void move(struct files *f, struct file_entry *e, const char *from, size_t from_len, const char *to,
		 size_t to_len)
{
	char path[RECORD_PATH_MAX];
	size_t rest = e->path_len - from_len;

	if (e->path_len <= from_len || e->path[from_len] != '/' || memcmp(e->path, from, from_len) ||
	    e->file.flags || to_len + rest > sizeof(path) || files_by_path(f, e->path, e->path_len) != e)
		return;
	memcpy(mempcpy(path, to, to_len), e->path + from_len, rest);
	if (files_name(f, e, path, to_len + rest))
		e->told = FILES_NEVER;
}

void files_move_below(struct files *f, const char *from, size_t from_len, const char *to, size_t to_len,
		      bool swapped)
{
	static const char aside[] = "//"; /* where no path begins: two files of one name must not meet */

	if (swapped) {
		files_move_below(f, from, from_len, aside, strlen(aside), false);
		files_move_below(f, to, to_len, from, from_len, false);
		from = aside;
		from_len = strlen(aside);
	}
	for (uint32_t i = 0, n = had_files(f, from, from_len) ? f->n : 0; i < n; i++)
		move(f, entry_at(f, i), from, from_len, to, to_len);
}

struct file_entry *files_at(struct files *f, uint32_t fid)
{
	return entry_at(f, fid - 1);
}

size_t files_count(const struct files *f)
{
	return f->n;
}
