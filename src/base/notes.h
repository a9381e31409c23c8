/* SPDX-License-Identifier: BSD-2-Clause */
/* Sentences about what is missing or odd, each of them once. */
#ifndef BASE_NOTES_H
#define BASE_NOTES_H

#include <stdarg.h>

/* The caller's vector: V has room for MAX, *N are used. */
struct notes {
	char **v;
	unsigned int *n, max;
};

void notes_add(const struct notes *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void notes_vadd(const struct notes *to, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

#endif
