/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of functions in C++ and Rust as people write them: "at::native::empty_cpu" of a symbol with that, its
 * template arguments and its parameters. A frame of a stack has no room for more than the name. In linear time, with
 * bounded depth and without memory: the symbol is anybody's text.
 */
#ifndef REPORT_MEMORY_CXX_NAME_H
#define REPORT_MEMORY_CXX_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Puts the name of the function that SYMBOL is of into NAME, of SIZE bytes: its identifiers escaped as in the .out
 * files. Returns false, with no name, where SYMBOL is not of the Itanium C++ ABI, or has what is not known here.
 */
bool cxx_name(char *name, size_t size, const char *symbol);

#endif
