/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code that a process has mapped: the lines of /proc/PID/maps, whose names are the program's, up to an empty line,
 * and its memory from BEGIN on, which is all the program's.
 */
#define process_text maps_text
#define process_vm_readv memory_readv
#include "drain/memory/alloc_map.c"
#undef process_text
#undef process_vm_readv

#include "fuzz.h"

#define BEGIN 0x1000

static const char *maps;
static const uint8_t *memory;
static size_t memory_size;

int maps_text(pid_t pid, const char *name, size_t max, char **ret, size_t *len_ret)
{
	*ret = strdup(maps);
	EXPECT(*ret && pid == 1 && !strcmp(name, "maps"));
	return 0;
}

ssize_t memory_readv(pid_t pid, const struct iovec *local, unsigned long n, const struct iovec *remote,
		     unsigned long n_remote, unsigned long flags)
{
	const uint64_t at = (uintptr_t)remote->iov_base - BEGIN;
	size_t len = at < memory_size ? MIN(remote->iov_len, memory_size - at) : 0;

	EXPECT(n == 1 && n_remote == 1 && local->iov_len == remote->iov_len && len <= local->iov_len);
	errno = memory_size ? EFAULT : ESRCH;
	if (!len)
		return -1;
	memcpy(local->iov_base, memory + at, len);
	return (ssize_t)len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *lines = fuzz_piece(&data, &size, "\n\n");
	autofree uint8_t *own = malloc(size + 1);
	struct alloc_map *map, *again;

	EXPECT(own);
	if (size)
		memcpy(own, data, size);
	maps = lines;
	memory = own;
	memory_size = size;
	map = alloc_map_read(1, NULL);
	again = alloc_map_read(1, map);
	EXPECT(!map == !again);
	for (uint32_t i = 0; map && i < map->n; i++) {
		EXPECT(map->areas[i].module <= map->n_modules && again->areas[i].module == map->areas[i].module);
		alloc_map_find(map, map->areas[i].begin);
	}
	for (uint32_t i = 0; map && i < map->n_modules; i++) {
		const struct alloc_module *m = &map->modules[i], *b = &again->modules[i];

		EXPECT(m->id_len <= sizeof(m->id) && !strcmp(m->path, b->path) && m->bias == b->bias &&
		       m->id_len == b->id_len);
	}
	alloc_map_free(map);
	alloc_map_free(again);
	return 0;
}
