/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/memory/alloc_map.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/util.h"
#include "host/mapping.h"
#include "host/process.h"

#define MAPS_BYTES_MAX (32UL << 20)
#define MODULES_MAX 4096U
#define HEAD_BYTES 4096 /* of a file, with its program headers, and as a rule its build id */
#define NOTE_BYTES 1024

/* A process that is read, until it turns out to have given its memory back. */
struct process_memory {
	pid_t pid;
	bool gone;
};

struct head {
	struct process_memory *of;
	uint64_t begin;
	size_t len;
	union {
		Elf64_Ehdr elf;
		unsigned char bytes[HEAD_BYTES];
	} at;
};

static size_t memory_read(struct process_memory *of, uint64_t at, void *to, size_t len)
{
	const struct iovec local = { to, len }, remote = { (void *)(uintptr_t)at, len };
	const ssize_t n = process_vm_readv(of->pid, &local, 1, &remote, 1, 0);

	of->gone |= n < 0 && errno == ESRCH;
	return n < 0 ? 0 : (size_t)n;
}

/* --- the file of a mapping ------------------------------------------------------------------------------------ */

/* Sets the build id of MODULE from the N bytes of notes V. */
static void id_find(struct alloc_module *module, const unsigned char *v, size_t n)
{
	while (n >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		uint64_t id, end;

		memcpy(&note, v, sizeof(note));
		id = sizeof(note) + (((uint64_t)note.n_namesz + 3) & ~3ULL);
		end = id + (((uint64_t)note.n_descsz + 3) & ~3ULL);
		if (id + note.n_descsz > n)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		    !memcmp(v + sizeof(note), "GNU", sizeof("GNU")) && note.n_descsz <= sizeof(module->id)) {
			memcpy(module->id, v + id, note.n_descsz);
			module->id_len = note.n_descsz;
			return;
		}
		v += MIN(end, (uint64_t)n);
		n -= MIN(end, (uint64_t)n);
	}
}

static void notes_read(struct alloc_module *module, const struct head *head, const Elf64_Phdr *ph)
{
	const uint64_t at = module->bias + ph->p_vaddr, offset = at - head->begin;
	unsigned char notes[NOTE_BYTES];

	if (module->id_len)
		return;
	if (offset < head->len && ph->p_filesz <= head->len - offset)
		id_find(module, head->at.bytes + offset, ph->p_filesz);
	else
		id_find(module, notes, memory_read(head->of, at, notes, MIN(ph->p_filesz, (Elf64_Xword)sizeof(notes))));
}

/* Returns whether H has program header I. */
static bool header_get(const struct head *h, unsigned int i, Elf64_Phdr *ret)
{
	const uint64_t at = h->at.elf.e_phoff + i * sizeof(*ret);

	if (i >= h->at.elf.e_phnum || h->at.elf.e_phoff > h->len || at + sizeof(*ret) > h->len)
		return false;
	memcpy(ret, h->at.bytes + at, sizeof(*ret));
	return true;
}

/* Sets what the header of the file has, which MODULE's process has at its beginning. Returns whether it is a program's.
 */
static bool module_read(struct alloc_module *module, struct process_memory *of)
{
	struct head h = { .of = of, .begin = module->begin };
	bool found = false;
	Elf64_Phdr ph;

	h.len = memory_read(of, module->begin, h.at.bytes, sizeof(h.at.bytes));
	if (h.len < sizeof(h.at.elf) || memcmp(h.at.elf.e_ident, ELFMAG, SELFMAG) != 0 ||
	    h.at.elf.e_ident[EI_CLASS] != ELFCLASS64 || h.at.elf.e_phentsize != sizeof(ph))
		return false;
	for (unsigned int i = 0; !found && header_get(&h, i, &ph); i++) {
		found = ph.p_type == PT_LOAD && ph.p_offset < HEAD_BYTES;
		if (found)
			module->bias = module->begin - (ph.p_vaddr - ph.p_offset);
	}
	for (unsigned int i = 0; found && header_get(&h, i, &ph); i++)
		if (ph.p_type == PT_NOTE)
			notes_read(module, &h, &ph);
	return found;
}

/* --- mappings -------------------------------------------------------------------------------------------------- */

/* Where the beginning of a file is mapped, and the module that it is, from 1; 0: not known yet. */
struct first {
	struct mapping at;
	uint32_t module;
};

static bool is_of_file(const struct mapping *m, const struct mapping *first)
{
	return m->ino && m->ino == first->ino && m->major == first->major && m->minor == first->minor &&
	       *m->path == '/';
}

static const struct alloc_module *module_before(const struct alloc_map *before, const struct mapping *first)
{
	for (uint32_t i = 0; before && i < before->n_modules; i++) {
		const struct alloc_module *m = &before->modules[i];

		if (m->begin == first->begin && m->ino == first->ino && m->major == first->major &&
		    m->minor == first->minor && !strcmp(m->path, first->path))
			return m;
	}
	return NULL;
}

/* Returns the place of FIRST's file among the modules, from 1; 0: it is no program, or there is no room. */
static uint32_t module_add(struct alloc_map *map, struct process_memory *of, const struct mapping *first,
			   const struct alloc_map *before)
{
	const struct alloc_module *known = module_before(before, first);
	struct alloc_module m = {
		.begin = first->begin, .ino = first->ino, .major = first->major, .minor = first->minor
	};

	if (map->n_modules == MODULES_MAX || util_room(&map->modules, map->n_modules, sizeof(m)) < 0)
		return 0;
	if (known) {
		m.bias = known->bias;
		m.id_len = known->id_len;
		memcpy(m.id, known->id, sizeof(m.id));
	} else if (!module_read(&m, of)) {
		return 0;
	}
	m.path = strdup(first->path);
	if (!m.path)
		return 0;
	map->modules[map->n_modules++] = m;
	return map->n_modules;
}

/* Takes a line. Returns false when there is no memory: of ours, or of the process any more. */
static bool line_take(struct alloc_map *map, struct process_memory *of, const char *line, struct first *first,
		      const struct alloc_map *before)
{
	struct mapping m;

	if (!mapping_parse(line, &m))
		return true;
	if (!m.offset)
		*first = (struct first){ .at = m };
	if (!m.code)
		return true;
	if (util_room(&map->areas, map->n, sizeof(*map->areas)) < 0)
		return false;
	if (!first->module && is_of_file(&m, &first->at))
		first->module = module_add(map, of, &first->at, before);
	map->areas[map->n++] = (struct alloc_area){ m.begin, m.end, is_of_file(&m, &first->at) ? first->module : 0 };
	return !of->gone;
}

struct alloc_map *alloc_map_read(pid_t pid, const struct alloc_map *before)
{
	struct alloc_map *map = calloc(1, sizeof(*map));
	struct process_memory of = { .pid = pid };
	struct first first = { .at.ino = 0 };
	autofree char *maps = NULL;
	bool good = map && process_text(pid, "maps", MAPS_BYTES_MAX, &maps, NULL) == 0;

	for (char *line = maps, *next; good && line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		good = line_take(map, &of, line, &first, before);
	}
	if (!good || !map->n) {
		alloc_map_free(map);
		return NULL;
	}
	return map;
}

void alloc_map_free(struct alloc_map *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->n_modules; i++)
		free(m->modules[i].path);
	free(m->modules);
	free(m->areas);
	free(m);
}

const struct alloc_area *alloc_map_find(const struct alloc_map *map, uint64_t addr)
{
	uint32_t low = 0, high = map->n;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (map->areas[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < map->n && map->areas[low].begin <= addr ? &map->areas[low] : NULL;
}
