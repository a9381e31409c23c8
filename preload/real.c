/* SPDX-License-Identifier: BSD-2-Clause */
#include "real.h"

#include <dlfcn.h>

#define BOOT_BYTES (64 << 10)

struct real real;

static _Alignas(16) char boot[BOOT_BYTES];
static size_t boot_used;

void *real_boot_alloc(size_t size)
{
	size_t rounded = (size + 15) & ~(size_t)15, at;

	if (rounded < size || rounded > BOOT_BYTES)
		return NULL;
	at = __atomic_fetch_add(&boot_used, rounded, __ATOMIC_RELAXED);
	return at + rounded <= BOOT_BYTES ? boot + at : NULL;
}

bool real_is_boot(const void *block)
{
	return (const char *)block >= boot && (const char *)block < boot + BOOT_BYTES;
}

const struct real *real_look(void)
{
	struct real found;

	/* several threads may do so at once, and find the same */
#define LOOK(name) *(void **)&found.name = dlsym(RTLD_NEXT, #name)
	LOOK(malloc);
	LOOK(calloc);
	LOOK(realloc);
	LOOK(posix_memalign);
	LOOK(aligned_alloc);
	LOOK(memalign);
	LOOK(valloc);
	LOOK(pvalloc);
	LOOK(malloc_usable_size);
	LOOK(free);
	LOOK(dlclose);
	LOOK(pthread_getattr_np);
#undef LOOK
	real = found;
	return &real;
}
