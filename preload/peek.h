/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads of memory that is not ours. */
#ifndef PRELOAD_PEEK_H
#define PRELOAD_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PEEK_LOW 4096UL
/* Of user space, where addresses have 48 bits, half of them the kernel's on x86-64. What is above is not read. */
#ifdef __x86_64__
#define PEEK_HIGH (1UL << 47)
#else
#define PEEK_HIGH (1UL << 48)
#endif

struct peek_word {
	const char *at;
	uint64_t value;
};

/* By a system call, which fails where there is no memory. 1200 ns and more. */
bool peek_careful(void *to, const void *from, size_t n);
/* Whether each of the N words is what it was. */
bool peek_same_careful(const struct peek_word *words, unsigned int n);

/* SAFE: the memory is there, by what else is known. Returns false where it is not. */
static inline bool peek(bool safe, void *to, const void *from, size_t n)
{
	if ((uintptr_t)from < PEEK_LOW || (uintptr_t)from > PEEK_HIGH - n)
		return false;
	if (!safe)
		return peek_careful(to, from, n);
	memcpy(to, from, n);
	return true;
}

/* In their order: a word that lies where an earlier one points is not read where that one differs, if SAFE. */
static inline bool peek_same(bool safe, const struct peek_word *words, unsigned int n)
{
	if (!safe)
		return peek_same_careful(words, n);
	for (unsigned int i = 0; i < n; i++) {
		uint64_t value;

		memcpy(&value, words[i].at, sizeof(value));
		if (value != words[i].value)
			return false;
	}
	return true;
}

#endif
