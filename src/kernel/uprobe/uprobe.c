/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/uprobe/uprobe.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/util.h"

/* What a hostile file may make us read at once. */
#define FILE_BYTES_MAX (1LL << 32)
#define TABLE_BYTES_MAX (64ULL << 20)

/* libelf believes a file about how many sections it has. */
static bool is_program(int fd)
{
	Elf64_Ehdr head;
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= FILE_BYTES_MAX &&
	       pread(fd, &head, sizeof(head), 0) == sizeof(head) && !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
	       head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_shnum && head.e_phnum != PN_XNUM;
}

/* A program has one table of each type; of a file that claims more, only the first one is read. */
static Elf_Scn *section_of(Elf *elf, GElf_Word type, GElf_Shdr *ret)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, ret) && ret->sh_type == type)
			break;
	return scn;
}

/* Returns what section SCN has in the file; NULL: there is none, or it is too large to be believed. */
static Elf_Data *section_read(Elf_Scn *scn)
{
	GElf_Shdr sh;

	return gelf_getshdr(scn, &sh) && sh.sh_size <= TABLE_BYTES_MAX ? elf_getdata(scn, NULL) : NULL;
}

/* Finds SYMBOL in the table of TYPE. */
static bool symbol_find(Elf *elf, GElf_Word type, const char *symbol, GElf_Sym *ret)
{
	const size_t len = strlen(symbol) + 1;
	GElf_Shdr sh;
	Elf_Scn *scn = section_of(elf, type, &sh);
	Elf_Data *data = section_read(scn), *names = data ? section_read(elf_getscn(elf, sh.sh_link)) : NULL;

	/* not elf_strptr(): in a table without an end it looks for one at each call */
	for (int i = 0; names && names->d_buf && gelf_getsym(data, i, ret); i++)
		if (ret->st_shndx != SHN_UNDEF && ret->st_name < names->d_size && len <= names->d_size - ret->st_name &&
		    !memcmp((const char *)names->d_buf + ret->st_name, symbol, len))
			return true;
	return false;
}

/* The place in the file of what will be at address AT, and how many bytes come from the file there. */
static bool place_find(Elf *elf, uint64_t at, uint64_t *offset_ret, uint64_t *left_ret)
{
	GElf_Phdr ph;

	for (int i = 0; gelf_getphdr(elf, i, &ph); i++) {
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) || at < ph.p_vaddr || at - ph.p_vaddr >= ph.p_filesz)
			continue;
		*offset_ret = at - ph.p_vaddr + ph.p_offset;
		*left_ret = ph.p_filesz - (at - ph.p_vaddr);
		return true;
	}
	return false;
}

static int refused(struct uprobe_point *p, const char *why)
{
	snprintf(p->why, sizeof(p->why), "%s", why);
	return -ENOTSUP;
}

/* The function at OFFSET has OWN bytes, and there is code up to LEN. */
static int point_find(int fd, uint64_t offset, uint64_t len, uint64_t own, const struct prologue_need *need,
		      struct uprobe_point *ret)
{
	unsigned char code[PROLOGUE_MAX];
	struct prologue_point point;
	const char *why;
	ssize_t n = pread(fd, code, MIN(len, sizeof(code)), (off_t)offset);

	if (n < 0)
		return -errno;
	if (prologue_find(code, (size_t)n, own, need, &point, &why) < 0)
		return refused(ret, why);
	ret->offset = offset + point.at;
	ret->not_zero = point.not_zero;
	return 0;
}

static int symbol_point(int fd, Elf *elf, const char *symbol, const struct prologue_need *need,
			struct uprobe_point *ret)
{
	uint64_t offset = 0, len = 0;
	GElf_Sym sym;

	/* what other modules call, else what only debuggers know */
	if (!symbol_find(elf, SHT_DYNSYM, symbol, &sym) && !symbol_find(elf, SHT_SYMTAB, symbol, &sym))
		return -ENOENT;
	if (GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC)
		return refused(ret, "it is not the function, but code that chooses one (an indirect function)");
	if (!place_find(elf, sym.st_value, &offset, &len))
		return refused(ret, "it is not within the code of the file");
	return point_find(fd, offset, len, sym.st_size ?: len, need, ret);
}

int uprobe_find(int fd, const char *symbol, const struct prologue_need *need, struct uprobe_point *ret)
{
	Elf *elf;
	int r;

	if (!is_program(fd))
		return -ENOEXEC;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	r = elf ? symbol_point(fd, elf, symbol, need, ret) : -ENOEXEC;
	elf_end(elf);
	return r;
}

struct bpf_link *uprobe_attach(const struct bpf_program *prog, const struct uprobe_on *on)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", on->fd);
	return bpf_program__attach_uprobe(prog, on->returns, on->pid, path, on->offset);
}
