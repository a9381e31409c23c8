/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of functions in a program or a library, by address; trusts no byte of it. */
#ifndef REPORT_MEMORY_SYMBOLS_H
#define REPORT_MEMORY_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#define SYMBOL_NAME_MAX 1024

/* A place in the code. */
struct symbol_place {
	uint64_t at; /* its address in the file, as addr2line takes it */
	uint64_t begin; /* of its function */
	char *name; /* likewise, as the file has it, cut at SYMBOL_NAME_MAX; NULL: not known. To be freed */
};

/*
 * Finds the names of the N places, ascending by AT, in the file PATH, by .symtab and .dynsym. Returns 0; -ESTALE when
 * its build id is not BUILD_ID, in hex; -EBADMSG when it is no ELF file; or -errno.
 */
int symbols_find(const char *path, const char *build_id, struct symbol_place *places, size_t n);

#endif
