/* SPDX-License-Identifier: BSD-2-Clause */
#include "module.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "numbers.h"
#include "thread.h"

#define MODULES 1024

/* The process's modules by where they are; the number is the place, from 1. A forked child has them, too. */
static struct module {
	uint64_t key; /* of where it is, and what; 0: free */
	uint8_t defined;
} modules[MODULES];

struct search {
	const uintptr_t *ip;
	unsigned int n;
	uint64_t *frames;
};

static const void *build_id(const struct dl_phdr_info *info, size_t *len_ret)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const char *at = (const char *)info->dlpi_addr + ph->p_vaddr, *end = at + ph->p_memsz;

		if (ph->p_type != PT_NOTE)
			continue;
		while (at + sizeof(ElfW(Nhdr)) <= end) {
			const ElfW(Nhdr) *note = (const void *)at;
			const char *name = (const char *)(note + 1), *desc = name + ((note->n_namesz + 3) & ~3U);

			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(name, "GNU", 4) &&
			    note->n_descsz <= DLT_ALLOC_BUILD_ID) {
				*len_ret = note->n_descsz;
				return desc;
			}
			at = desc + ((note->n_descsz + 3) & ~3U);
		}
	}
	*len_ret = 0;
	return NULL;
}

/* The path of a file that the program has loaded by NAME, perhaps as seen from its folder; returns its length. */
static size_t path_of(const char *name, char path[DLT_ALLOC_PATH])
{
	size_t len = strlen(name), at = 0;

	if (name[0] != '/' && strchr(name, '/') && getcwd(path, DLT_ALLOC_PATH - 1)) {
		at = strlen(path);
		path[at++] = '/';
		name += strncmp(name, "./", 2) ? 0 : 2;
		len = strlen(name);
	}
	len = len < DLT_ALLOC_PATH - at ? len : DLT_ALLOC_PATH - 1 - at;
	memcpy(path + at, name, len);
	path[at + len] = '\0';
	return at + len;
}

static void define(const struct dl_phdr_info *info, uint32_t number)
{
	struct {
		char id[sizeof(struct dlt_alloc_event)], path[DLT_ALLOC_PATH];
	} module = { "", "" };
	size_t len, id_len;
	const void *id = build_id(info, &id_len);

	if (id_len)
		memcpy(module.id, id, id_len);
	if (info->dlpi_name[0]) {
		len = path_of(info->dlpi_name, module.path);
	} else { /* the program itself */
		ssize_t got = readlink("/proc/self/exe", module.path, sizeof(module.path) - 1);

		len = got < 0 ? 0 : (size_t)got;
	}
	thread_define(DLT_ALLOC_MODULE, number, id_len, &module, offsetof(typeof(module), path) + len + 1);
}

/* A file that is loaded where another was is another module; one that is loaded there again is the same. */
static uint64_t key_of(const struct dl_phdr_info *info)
{
	size_t len;
	const unsigned char *id = build_id(info, &len);
	uint64_t key = numbers_mix(info->dlpi_addr);

	for (size_t i = 0; i < len; i++)
		key = numbers_mix(key ^ id[i]);
	for (const char *c = info->dlpi_name; *c; c++)
		key = numbers_mix(key ^ (unsigned char)*c);
	return key | 1;
}

/* Returns the number of the module, 0: there are too many. */
static uint32_t number_of(const struct dl_phdr_info *info)
{
	const uint64_t key = key_of(info);
	unsigned int i;

	for (i = 0; i < MODULES; i++) {
		uint64_t have = __atomic_load_n(&modules[i].key, __ATOMIC_ACQUIRE);

		if (!have &&
		    __atomic_compare_exchange_n(&modules[i].key, &have, key, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			have = key;
		if (have == key)
			break;
	}
	if (i == MODULES)
		return 0;
	if (!__atomic_load_n(&modules[i].defined, __ATOMIC_ACQUIRE)) {
		define(info, i + 1);
		__atomic_store_n(&modules[i].defined, 1, __ATOMIC_RELEASE);
	}
	return i + 1;
}

static int look(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct search *search = ctx;
	uint32_t number = 0;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		for (unsigned int k = 0; k < search->n; k++) {
			if (search->ip[k] < at || search->ip[k] - at >= ph->p_memsz)
				continue;
			number = number ?: number_of(info);
			if (number)
				search->frames[k] =
					(uint64_t)number << DLT_ALLOC_MODULE_SHIFT | (search->ip[k] - info->dlpi_addr);
		}
	}
	return 0;
}

void module_frames(const uintptr_t *ip, unsigned int n, uint64_t *frames)
{
	struct search s = { ip, n, frames };

	for (unsigned int k = 0; k < n; k++)
		frames[k] = ip[k] & ((1ULL << DLT_ALLOC_MODULE_SHIFT) - 1);
	dl_iterate_phdr(look, &s);
}
