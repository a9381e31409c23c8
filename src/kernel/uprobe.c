/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/uprobe.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "base/util.h"

/* Finds SYMBOL's value among the symbols that programs link with. */
static bool symbol_find(Elf *elf, const char *symbol, uint64_t *value_ret)
{
	for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
		GElf_Shdr sh;
		GElf_Sym sym;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_DYNSYM || !(data = elf_getdata(scn, NULL)))
			continue;
		for (int i = 0; gelf_getsym(data, i, &sym); i++) {
			const char *name = elf_strptr(elf, sh.sh_link, sym.st_name);

			if (!name || strcmp(name, symbol) || sym.st_shndx == SHN_UNDEF)
				continue;
			*value_ret = sym.st_value;
			return true;
		}
	}
	return false;
}

/* The place in the file of what will be at address AT. */
static bool place_find(Elf *elf, uint64_t at, uint64_t *offset_ret)
{
	GElf_Phdr ph;

	for (int i = 0; gelf_getphdr(elf, i, &ph); i++) {
		if (ph.p_type != PT_LOAD || at < ph.p_vaddr || at - ph.p_vaddr >= ph.p_filesz)
			continue;
		*offset_ret = at - ph.p_vaddr + ph.p_offset;
		return true;
	}
	return false;
}

static int instruction_check(int fd, uint64_t offset, char *why, size_t size)
{
	static const unsigned char nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	unsigned char code[sizeof(nop5)] = { 0 };

	if (pread(fd, code, sizeof(code), (off_t)offset) < 0)
		return -errno;
	if (memcmp(code, nop5, sizeof(nop5)))
		return 0;
	snprintf(why, size, "it is a nop of five bytes, at which some kernels end forked children");
	return -ENOTSUP;
}

int uprobe_find(const char *path, const char *symbol, uint64_t *offset_ret, char *why, size_t size)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t at = 0;
	bool found;
	Elf *elf;

	if (fd < 0)
		return -errno;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	found = elf && symbol_find(elf, symbol, &at) && place_find(elf, at, offset_ret);
	elf_end(elf);
	return found ? instruction_check(fd, *offset_ret, why, size) : -ENOENT;
}

struct bpf_link *uprobe_attach(const struct bpf_program *prog, const char *path, uint64_t offset)
{
	return bpf_program__attach_uprobe(prog, false, -1, path, offset);
}
