/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of functions in C++ and Rust as people write them: "at::native::empty_cpu" of a symbol with that, its
 * template arguments and its parameters. A frame of a stack has no room for more than the name.
 */
#ifndef REPORT_MEMORY_CXX_NAME_H
#define REPORT_MEMORY_CXX_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

#define CXX_NAME_MAX 256 /* bytes of a name; longer symbols are cut */

/*
 * Replaces each of the N symbols, which were allocated, by its text in a stack: the name of a function of C++, other
 * symbols as they are, both escaped as in the .out files (but for spaces and number signs of a name). Symbols are
 * anybody's text: a process of its own, with little time and memory, demangles them.
 */
void cxx_names(char **const *symbols, size_t n);

/*
 * Puts the name of the function that DEMANGLED declares, without its return type, template arguments and parameters.
 * Returns false where it finds none, or a longer one. In linear time, for any text.
 */
bool cxx_name_plain(char name[TEXT_ESCAPED_MAX(CXX_NAME_MAX)], const char *demangled);

#endif
