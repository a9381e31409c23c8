/* SPDX-License-Identifier: BSD-2-Clause */
/* See symbols.h. The file is read, not mapped: it may be cut off meanwhile. libelf checks that sections lie within it.
 */
#include "report/memory/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define SECTION_BYTES_MAX (1ULL << 29) /* larger ones are not read */
#define NOTES_BYTES_MAX (1ULL << 16)
#define BUILD_ID_MAX 64

/* Whether SCN is a section of TYPE that is not too large, and as it is in the file. */
static bool is_section(Elf_Scn *scn, GElf_Word type, uint64_t bytes_max, GElf_Shdr *ret)
{
	return scn && gelf_getshdr(scn, ret) && ret->sh_type == type && ret->sh_size <= bytes_max &&
	       !(ret->sh_flags & SHF_COMPRESSED);
}

/* --- the build id ---------------------------------------------------------------------------------------------- */

static bool is_id(const unsigned char *id, size_t len, const char *hex)
{
	char text[2 * BUILD_ID_MAX + 1];

	if (!len || len > BUILD_ID_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		sprintf(text + 2 * i, "%02x", id[i]);
	return strcmp(text, hex) == 0;
}

static bool has_id(Elf_Data *notes, const char *hex)
{
	const char *bytes = notes->d_buf;
	size_t at = 0, name, desc;
	GElf_Nhdr note;

	while (bytes && (at = gelf_getnote(notes, at, &note, &name, &desc)) > 0)
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		    !memcmp(bytes + name, "GNU", sizeof("GNU")) &&
		    is_id((const unsigned char *)bytes + desc, note.n_descsz, hex))
			return true;
	return false;
}

static bool elf_has_id(Elf *elf, const char *hex)
{
	for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
		GElf_Shdr sh;
		Elf_Data *notes = is_section(scn, SHT_NOTE, NOTES_BYTES_MAX, &sh) ? elf_getdata(scn, NULL) : NULL;

		if (notes && has_id(notes, hex))
			return true;
	}
	return false;
}

/* --- symbols ---------------------------------------------------------------------------------------------------- */

/* Returns the first of the N places at or behind AT. */
static size_t place_from(const struct symbol_place *places, size_t n, uint64_t at)
{
	size_t low = 0;

	while (low < n) {
		const size_t middle = low + (n - low) / 2;

		if (places[middle].at < at)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/* Names the places within SYM that have no nearer one. */
static void symbol_take(Elf *elf, size_t strings, const GElf_Sym *sym, struct symbol_place *places, size_t n)
{
	const unsigned char type = GELF_ST_TYPE(sym->st_info);
	const char *name;

	if (sym->st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC))
		return;
	for (size_t i = place_from(places, n, sym->st_value); i < n && places[i].at - sym->st_value < sym->st_size;
	     i++) {
		if (places[i].name && places[i].begin >= sym->st_value)
			continue;
		name = elf_strptr(elf, strings, sym->st_name);
		if (!name || !name[0])
			return;
		free(places[i].name);
		places[i].name = strndup(name, SYMBOL_NAME_MAX);
		places[i].begin = sym->st_value;
	}
}

static void table_take(Elf *elf, Elf_Scn *scn, GElf_Word type, struct symbol_place *places, size_t n)
{
	GElf_Shdr sh, strings;
	GElf_Sym sym;
	Elf_Data *data;

	if (!is_section(scn, type, SECTION_BYTES_MAX, &sh) ||
	    !is_section(elf_getscn(elf, sh.sh_link), SHT_STRTAB, SECTION_BYTES_MAX, &strings) ||
	    !(data = elf_getdata(scn, NULL)))
		return;
	for (int i = 0; gelf_getsym(data, i, &sym); i++)
		symbol_take(elf, sh.sh_link, &sym, places, n);
}

static int elf_find(Elf *elf, const char *build_id, struct symbol_place *places, size_t n)
{
	static const GElf_Word types[] = { SHT_SYMTAB, SHT_DYNSYM };

	if (elf_kind(elf) != ELF_K_ELF)
		return -EBADMSG;
	if (!elf_has_id(elf, build_id))
		return -ESTALE;
	for (size_t t = 0; t < ARRAY_SIZE(types); t++)
		for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn))
			table_take(elf, scn, types[t], places, n);
	return 0;
}

int symbols_find(const char *path, const char *build_id, struct symbol_place *places, size_t n)
{
	autoclose int fd = util_open_regular(AT_FDCWD, path, 0);
	Elf *elf;
	int res;

	if (fd < 0)
		return fd;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	res = elf ? elf_find(elf, build_id, places, n) : -EBADMSG;
	elf_end(elf);
	return res;
}
