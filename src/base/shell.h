/* SPDX-License-Identifier: BSD-2-Clause */
/* Words of a command line, quoted for a shell. Pure. */
#ifndef BASE_SHELL_H
#define BASE_SHELL_H

#include <stddef.h>

/* Appends WORD to DST, behind a blank where it is not the first, quoted where a shell would need it; cut at SIZE. */
void shell_append(char *dst, size_t size, const char *word);

#endif
